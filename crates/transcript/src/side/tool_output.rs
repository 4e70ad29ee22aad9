//! `tool-results/`: outputs too long for the transcript. Since 2.1.2.
//!
//! The transcript holds the path where the output was saved, on the computer that wrote it. That
//! path is never opened: only its last name counts, looked for in the session's own folder and
//! nowhere else, so that a transcript from a stranger cannot make us read another file.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder in a session's folder.
const FOLDER: &str = "tool-results";

/// The name of the saved output, if `text` is the note that stands for it.
pub fn persisted_name(text: &str) -> Option<&str> {
    let note = text.trim_start().strip_prefix("<persisted-output>")?;
    let (_, rest) = note.split_once("saved to: ")?;
    let path = rest.lines().next()?.trim_end();
    let name = path.rsplit(['/', '\\']).next()?;
    is_plain(name).then_some(name)
}

/// Whether `name` is one name of a file and nothing else, on any system.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    one && !name.contains(['/', '\\', '\0', ':']) && name != "." && name != ".."
}

/// The saved output `name` of the session whose folder is `session_dir`, if it is there.
pub fn locate(session_dir: &Path, name: &str) -> Option<PathBuf> {
    inside(session_dir, name).filter(|path| path.is_file())
}

/// The folder of the session that a transcript belongs to, a subagent's included.
pub fn session_folder(transcript: &Path) -> Option<PathBuf> {
    let subagents = transcript.ancestors().find(|folder| folder.ends_with("subagents"));
    match subagents {
        Some(folder) => folder.parent().map(Path::to_path_buf),
        None => Some(transcript.with_extension("")),
    }
}

/// Where the saved output `name` of a transcript's session lies, from the path of the transcript;
/// `None` if `name` is not one name of a file.
pub fn beside(transcript: &Path, name: &str) -> Option<PathBuf> {
    let folder = session_folder(transcript)?;
    is_plain(name).then(|| folder.join(FOLDER).join(name))
}

/// The folder with the pages of a PDF (`pdf-<uuid>`), if it is there.
pub fn locate_pages(session_dir: &Path, name: &str) -> Option<PathBuf> {
    inside(session_dir, name).filter(|path| path.is_dir())
}

/// The path of `name`, unless it or a link in it leads out of the folder.
fn inside(session_dir: &Path, name: &str) -> Option<PathBuf> {
    if !is_plain(name) {
        return None;
    }
    let path = session_dir.join(FOLDER).join(name);
    let home = fs::canonicalize(session_dir).ok()?.join(FOLDER);
    let real = fs::canonicalize(&path).ok()?;
    (real.starts_with(&home) && real != home).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_gives_a_name_only() {
        let note = |path: &str| {
            format!(
                "<persisted-output>\nOutput too large (31.9KB). Full output saved to: {path}\n\nPreview (first 2KB):\n…"
            )
        };
        let cases = [
            (
                "/Users/k/.claude/projects/-Users-k/b3a4/tool-results/b9excv8zh.txt",
                Some("b9excv8zh.txt"),
            ),
            (
                r"C:\Users\k\.claude\projects\C--k\b3a4\tool-results\toolu_01.txt",
                Some("toolu_01.txt"),
            ),
            ("/a/..", None),
            ("/a/", None),
        ];
        for (path, want) in cases {
            assert_eq!(persisted_name(&note(path)), want, "{path}");
        }
        assert_eq!(persisted_name("Full output saved to: /a/b.txt"), None);
    }

    #[test]
    fn only_the_sessions_own_folder_is_looked_into() {
        let root = tempfile::tempdir().expect("temp dir");
        let session = root.path().join("sid");
        fs::create_dir_all(session.join("tool-results/pdf-1")).expect("mkdir");
        fs::write(session.join("tool-results/a.txt"), "x").expect("write");
        fs::write(root.path().join("secret.txt"), "x").expect("write");
        assert_eq!(locate(&session, "a.txt"), Some(session.join("tool-results/a.txt")));
        assert!(locate_pages(&session, "pdf-1").is_some());
        let absolute = root.path().join("secret.txt");
        for bad in
            ["../../secret.txt", "..", ".", "", "b.txt", "pdf-1", absolute.to_str().expect("utf-8")]
        {
            assert_eq!(locate(&session, bad), None, "{bad}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused() {
        let root = tempfile::tempdir().expect("temp dir");
        let session = root.path().join("sid");
        let results = session.join("tool-results");
        fs::create_dir_all(&results).expect("mkdir");
        fs::write(root.path().join("secret.txt"), "x").expect("write");
        std::os::unix::fs::symlink(root.path().join("secret.txt"), results.join("out.txt"))
            .expect("link");
        assert_eq!(locate(&session, "out.txt"), None);

        let other = root.path().join("other");
        fs::create_dir(&other).expect("mkdir");
        std::os::unix::fs::symlink(root.path(), other.join("tool-results")).expect("link");
        assert_eq!(locate(&other, "secret.txt"), None);
    }
}
