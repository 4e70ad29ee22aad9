//! Calls of the common tools with the results they really leave.

use super::Scribe;
use crate::json::{Raw, ToJson};
use crate::truth::{CommitTruth, TouchTruth};
use crate::{arr, obj};

/// A change of a file: the lines before and after, and what surrounds them.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Absolute path.
    pub path: &'a str,
    /// The file before; its first occurrence of `old` is replaced.
    pub original: &'a str,
    /// Text to be replaced, whole lines without the last newline.
    pub old: &'a str,
    /// Text to stand there instead.
    pub new: &'a str,
}

impl Scribe {
    /// A Bash call that succeeded.
    pub fn bash(&mut self, command: &str, description: &str, stdout: &str) {
        let call = self.call("Bash", obj! { "command": command, "description": description });
        self.wait(1_800);
        self.result(&call, &stdout.raw(), &bash_shape(stdout));
    }

    /// A Bash call that failed.
    pub fn bash_fail(&mut self, command: &str, description: &str, code: u64, output: &str) {
        let call = self.call("Bash", obj! { "command": command, "description": description });
        self.wait(2_400);
        self.fail(&call, &format!("Exit code {code}\n{output}"));
    }

    /// A `git commit` by Bash.
    pub fn commit(&mut self, subject: &str, branch: &str, files: u64) {
        let hash = self.random.hex(7);
        let command = format!("git add -A && git commit -m \"{subject}\"");
        let plural = if files == 1 { "file" } else { "files" };
        let stdout = format!("[{branch} {hash}] {subject}\n {files} {plural} changed");
        self.bash(&command, "Commit the change", &stdout);
        self.truth.commits.push(CommitTruth { hash, subject: subject.to_string() });
    }

    /// A Read of a text file; its content is stored twice.
    pub fn read(&mut self, path: &str, content: &str) {
        let call = self.call("Read", obj! { "file_path": path });
        self.wait(30);
        self.result(&call, &numbered(content).raw(), &read_shape(path, content));
    }

    /// A call that failed with a plain message.
    pub fn fails(&mut self, tool: &str, input: Raw, error: &str) {
        let call = self.call(tool, input);
        self.wait(60);
        self.fail(&call, error);
    }

    /// An Edit of a file.
    pub fn edit(&mut self, change: Change<'_>) {
        let Change { path, original, old, new } = change;
        let call =
            self.call("Edit", obj! { "file_path": path, "old_string": old, "new_string": new });
        self.wait(50);
        let (patch, added, removed) = patch(original, old, new);
        // Large files are no longer repeated since 2.1.97.
        let keep = !self.envelope.since(97) || original.len() <= 10_000;
        let shape = obj! {
            "filePath": path, "oldString": old, "newString": new,
            "originalFile": keep.then_some(original), "structuredPatch": patch,
            "userModified": false, "replaceAll": false,
        };
        let said = format!("The file {path} has been updated successfully.");
        self.result(&call, &said.raw(), &shape);
        self.touch(path, added, removed);
    }

    /// A Write of a new file.
    pub fn create_file(&mut self, path: &str, content: &str) {
        let call = self.call("Write", obj! { "file_path": path, "content": content });
        self.wait(50);
        let shape = obj! {
            "type": "create", "filePath": path, "content": content,
            "structuredPatch": Raw("[]".into()), "originalFile": None::<&str>,
        };
        let said = format!("File created successfully at: {path}");
        self.result(&call, &said.raw(), &shape);
        self.touch(path, content.lines().count() as u64, 0);
    }

    /// A Grep that lists files.
    pub fn grep(&mut self, pattern: &str, files: &[&str]) {
        let call =
            self.call("Grep", obj! { "pattern": pattern, "output_mode": "files_with_matches" });
        let said = format!("Found {} files\n{}", files.len(), files.join("\n"));
        let shape = obj! {
            "mode": "files_with_matches", "filenames": files, "numFiles": files.len(),
        };
        self.result(&call, &said.raw(), &shape);
    }

    /// A Glob.
    pub fn glob(&mut self, pattern: &str, files: &[&str]) {
        let call = self.call("Glob", obj! { "pattern": pattern });
        let shape = obj! {
            "filenames": files, "durationMs": 14, "numFiles": files.len(), "truncated": false,
        };
        self.result(&call, &files.join("\n").raw(), &shape);
    }

    /// A TodoWrite replacing `old` by `new`; pairs of text and status.
    pub fn todos(&mut self, old: &[(&str, &str)], new: &[(&str, &str)]) {
        let call = self.call("TodoWrite", obj! { "todos": todo_list(new) });
        let said = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.";
        let shape = obj! { "oldTodos": todo_list(old), "newTodos": todo_list(new) };
        self.result(&call, &said.raw(), &shape);
    }

    /// Writes down that a file was changed.
    pub fn touch(&mut self, path: &str, added: u64, removed: u64) {
        let touched = &mut self.truth.touched;
        match touched.iter_mut().find(|touch| touch.path == path) {
            Some(touch) => {
                touch.added += added;
                touch.removed += removed;
            }
            None => touched.push(TouchTruth { path: path.to_string(), added, removed }),
        }
    }
}

/// `toolUseResult` of a Bash call.
pub fn bash_shape(stdout: &str) -> Raw {
    obj! { "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false }
}

/// `toolUseResult` of a Read.
pub fn read_shape(path: &str, content: &str) -> Raw {
    let lines = content.lines().count();
    let file = obj! {
        "filePath": path, "content": content, "numLines": lines, "startLine": 1,
        "totalLines": lines,
    };
    obj! { "type": "text", "file": file }
}

/// A todo list in its newer form.
pub fn todo_list(items: &[(&str, &str)]) -> Raw {
    let items: Vec<Raw> = items
        .iter()
        .map(|(content, status)| {
            let active = format!("Working on: {content}");
            obj! { "content": content, "status": status, "activeForm": active }
        })
        .collect();
    items.raw()
}

/// A file as Read shows it.
pub fn numbered(content: &str) -> String {
    let mut out = String::with_capacity(content.len() * 5 / 4);
    for (i, line) in content.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(&format!("{:>6}→{line}", i + 1));
    }
    out
}

/// One hunk with three lines around it, and its numbers of lines added and removed.
pub fn patch(original: &str, old: &str, new: &str) -> (Raw, u64, u64) {
    let at = original.find(old).unwrap_or(0);
    let before: Vec<&str> = original[..at].lines().collect();
    let after: Vec<&str> = original.get(at + old.len()..).unwrap_or("").lines().skip(1).collect();
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = &before[before.len().saturating_sub(3)..];
    let tail = &after[..after.len().min(3)];
    let mut lines: Vec<String> = head.iter().map(|line| format!(" {line}")).collect();
    lines.extend(old.iter().map(|line| format!("-{line}")));
    lines.extend(new.iter().map(|line| format!("+{line}")));
    lines.extend(tail.iter().map(|line| format!(" {line}")));
    let start = before.len() - head.len() + 1;
    let around = head.len() + tail.len();
    let hunk = obj! {
        "oldStart": start, "oldLines": old.len() + around, "newStart": start,
        "newLines": new.len() + around, "lines": lines,
    };
    (arr![hunk], new.len() as u64, old.len() as u64)
}
