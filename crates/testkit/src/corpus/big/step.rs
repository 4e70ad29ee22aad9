//! Calls of the big shapes: their results are cut from the pool as text that
//! is escaped already.

use super::Author;
use crate::corpus::pool::{Cut, sentence};
use crate::entry;
use crate::json::{Raw, ToJson};
use crate::scribe::Call;
use crate::{arr, obj};

impl<'a> Author<'a> {
    fn cut(&mut self, low: u64, high: u64) -> Cut<'a> {
        let bytes = self.random.between(low, high) as usize;
        self.pool.cut_bytes(&mut self.random, bytes)
    }

    pub(super) fn read(&mut self, low: u64, high: u64) {
        let path = self.path();
        let cut = self.cut(low, high);
        let call = self.scribe.call("Read", obj! { "file_path": path });
        self.scribe.wait(30);
        let file = obj! {
            "filePath": path, "content": quoted(cut.escaped()), "numLines": cut.n,
            "startLine": 1, "totalLines": cut.n,
        };
        let shape = obj! { "type": "text", "file": file };
        self.scribe.result(&call, &quoted(&cut.numbered()), &shape);
    }

    /// An edit; five sixths of its bytes are the whole file before it.
    pub(super) fn edit(&mut self, low: u64, high: u64) {
        let path = self.path();
        let cut = self.cut(low, high);
        let (at, n) = (cut.n / 3, (cut.n / 20).max(1));
        let old: Vec<&str> = (at..at + n).map(|i| cut.line(i)).collect();
        let new: Vec<String> = old.iter().map(|line| format!("{line} // checked")).collect();
        let (old_text, new_text) = (quoted(&old.join("\\n")), quoted(&new.join("\\n")));
        let input = obj! { "file_path": path, "old_string": old_text, "new_string": new_text };
        let call = self.scribe.call("Edit", input);
        self.scribe.wait(50);
        let removed = old.iter().map(|line| quoted(&format!("-{line}")));
        let added = new.iter().map(|line| quoted(&format!("+{line}")));
        let hunk = obj! {
            "oldStart": at + 1, "oldLines": n, "newStart": at + 1, "newLines": n,
            "lines": removed.chain(added).collect::<Vec<Raw>>(),
        };
        let shape = obj! {
            "filePath": path, "oldString": old_text, "newString": new_text,
            "originalFile": quoted(cut.escaped()), "structuredPatch": arr![hunk],
            "userModified": false, "replaceAll": false,
        };
        let said = format!("The file {path} has been updated successfully.");
        self.scribe.result(&call, &said.raw(), &shape);
        self.scribe.touch(&path, n as u64, n as u64);
    }

    pub(super) fn bash(&mut self, low: u64, high: u64) {
        let call = self.bash_call();
        self.bash_result(&call, low, high);
    }

    fn bash_call(&mut self) -> Call {
        let word = sentence(&mut self.random, 3);
        self.scribe.call(
            "Bash",
            obj! { "command": format!("cargo test {word}"), "description": "Run the tests" },
        )
    }

    fn bash_result(&mut self, call: &Call, low: u64, high: u64) {
        let cut = self.cut(low, high);
        let stdout = quoted(cut.escaped());
        let shape = obj! {
            "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false,
        };
        self.scribe.wait(1_500);
        self.scribe.result(call, &stdout, &shape);
    }

    pub(super) fn search(&mut self) {
        let word = sentence(&mut self.random, 1);
        let files: Vec<String> = (0..self.random.between(3, 25)).map(|_| self.path()).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        self.scribe.grep(&word, &files);
    }

    /// A document or an image, in the result and again in `toolUseResult`.
    pub(super) fn media(&mut self, room: u64) {
        let (kind, media_type, top) = match self.random.below(100) {
            0..48 => ("document", "application/pdf", 900_000),
            48..92 => ("image", "image/png", 1_000_000),
            _ => ("image", "image/jpeg", 330_000),
        };
        let len = self.random.between(20_000, top).min(room / 2 + 20_000) as usize;
        let data = self.pool.media(&mut self.random, media_type, len);
        let name = media_type.rsplit('/').next().expect("a media type has two parts");
        let path = format!("{}/docs/page.{name}", self.scribe.envelope.cwd);
        let call = self.scribe.call("Read", obj! { "file_path": path });
        if kind == "document" {
            self.pdf(&call, &path, &data);
        } else {
            let content = arr![entry::media(kind, media_type, &data)];
            let file =
                obj! { "base64": plain(&data), "type": media_type, "originalSize": len / 4 * 3 };
            self.scribe.result(&call, &content, &obj! { "type": "image", "file": file });
        }
    }

    /// A PDF's pages follow in an entry of their own.
    fn pdf(&mut self, call: &Call, path: &str, data: &str) {
        let size = data.len() / 4 * 3;
        let file = obj! { "filePath": path, "base64": plain(data), "originalSize": size };
        let said = format!("PDF file read: {path} ({}KB)", size / 1024);
        self.scribe.result(call, &said.raw(), &obj! { "type": "pdf", "file": file });
        let document = arr![entry::media("document", "application/pdf", data)];
        let leaf = self.scribe.truth.leaf.clone();
        let place = self.scribe.place();
        self.scribe.user_at(place, &document, "\"isMeta\":true", "");
        self.scribe.truth.leaf = leaf;
    }

    pub(super) fn bash_with_progress(&mut self) {
        let call = self.bash_call();
        let n = self.random.between(4, 14);
        let cut = self.cut(300, 2_000);
        for i in 0..n {
            let shown = obj! {
                "type": "bash_progress", "output": quoted(cut.line(0)),
                "fullOutput": quoted(cut.escaped()), "elapsedTimeSeconds": i + 2,
                "totalLines": cut.n,
            };
            let id = format!("bash-progress-{i}");
            self.scribe.wait(1_000);
            self.scribe.progress("bash_progress", &shown, &id, &call.id);
        }
        self.bash_result(&call, 500, 4_000);
    }

    pub(super) fn hooked_edit(&mut self) {
        let path = self.path();
        let call = self.scribe.call("Read", obj! { "file_path": path });
        for (event, command) in [("PreToolUse", "scripts/guard.sh"), ("PostToolUse", "callback")] {
            let data = obj! {
                "type": "hook_progress", "hookEvent": event,
                "hookName": format!("{event}:Read"), "command": command,
            };
            self.scribe.progress("hook_progress", &data, &call.id, &call.id);
        }
        let cut = self.cut(500, 3_000);
        let file = obj! {
            "filePath": path, "content": quoted(cut.escaped()), "numLines": cut.n,
            "startLine": 1, "totalLines": cut.n,
        };
        let shape = obj! { "type": "text", "file": file };
        self.scribe.result(&call, &quoted(&cut.numbered()), &shape);
        self.edit(1_000, 5_000);
    }

    pub(super) fn agent_with_progress(&mut self) {
        let prompt = sentence(&mut self.random, 40);
        let agent = self.random.hex(7);
        let input = obj! {
            "description": "Explore the code", "prompt": prompt, "subagent_type": "Explore",
        };
        let call = self.scribe.call("Task", input);
        let id = self.random.id("agent_msg_01");
        for _ in 0..self.random.between(5, 20) {
            let cut = self.cut(200, 1_500);
            let message = obj! {
                "type": "assistant",
                "message": obj! { "role": "assistant", "content": arr![
                    obj! { "type": "text", "text": quoted(cut.escaped()) }
                ] },
                "uuid": self.random.uuid(), "timestamp": crate::clock::iso(self.scribe.now),
            };
            let data = obj! {
                "message": message, "normalizedMessages": Raw("[]".into()),
                "type": "agent_progress", "prompt": prompt, "agentId": agent,
            };
            self.scribe.wait(2_000);
            self.scribe.progress("agent_progress", &data, &id, &call.id);
        }
        let answer = sentence(&mut self.random, 60);
        let content = arr![entry::text(&answer)];
        let shape = obj! {
            "status": "completed", "prompt": prompt, "agentId": agent, "content": content,
            "totalDurationMs": 59_927, "totalTokens": 41_300, "totalToolUseCount": 9,
        };
        self.scribe.result(&call, &content, &shape);
    }
}

/// A JSON string of text that is escaped already.
fn quoted(escaped: &str) -> Raw {
    let mut out = String::with_capacity(escaped.len() + 2);
    out.push('"');
    out.push_str(escaped);
    out.push('"');
    Raw(out)
}

/// Base64 needs no escaping.
fn plain(data: &str) -> Raw {
    quoted(data)
}
