//! A fake Claude folder written from one readable string.
//!
//! A line `//- projects/-home-x/aaaa.jsonl` begins a file; all text up to the
//! next such line is its content. ` \noeol` after the path drops the final
//! newline, ` base64` decodes the body. Paths are relative to the Claude home
//! and may not leave it.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::base64;

const HEADER: &str = "//- ";
/// Width of base64 bodies, so that a packed home stays readable in a diff.
const WIDTH: usize = 100;

/// A Claude folder in a temporary directory, removed when dropped.
#[derive(Debug)]
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// An empty home.
    pub fn new() -> Home {
        Home { dir: tempfile::tempdir().expect("a temporary directory can be made") }
    }

    /// A home holding the files written in `text`.
    pub fn parse(text: &str) -> Home {
        let home = Home::new();
        unpack(text, home.path()).expect("the fixture can be written");
        home
    }

    /// The folder that stands for `~/.claude`.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, with the folders it needs.
    pub fn write(&self, rel: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write_file(self.path(), rel, bytes.as_ref()).expect("the fixture can be written")
    }

    /// Appends to a file, as Claude Code does.
    pub fn append(&self, rel: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = inside(self.path(), rel).expect("the path stays inside the home");
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .expect("the fixture can be opened");
        file.write_all(bytes.as_ref()).expect("the fixture can be written");
        path
    }
}

impl Default for Home {
    fn default() -> Home {
        Home::new()
    }
}

/// Writes the files described in `text` below `dir`.
pub fn unpack(text: &str, dir: &Path) -> io::Result<()> {
    let mut rest = text;
    let mut current: Option<(&str, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        let line = rest.split_inclusive('\n').next().unwrap_or("");
        if let Some(header) = line.strip_prefix(HEADER) {
            finish(text, current, at, dir)?;
            current = Some((header.trim_end(), at + line.len()));
        } else if current.is_none() && !line.trim().is_empty() {
            return Err(bad(format!("text before the first header: {line:?}")));
        }
        at += line.len();
        rest = &text[at..];
    }
    finish(text, current, text.len(), dir)
}

fn finish(text: &str, file: Option<(&str, usize)>, end: usize, dir: &Path) -> io::Result<()> {
    let Some((header, start)) = file else { return Ok(()) };
    let body = &text[start..end];
    if let Some(rel) = header.strip_suffix(" base64") {
        let bytes = base64::decode(body).ok_or_else(|| bad(format!("no base64 in {rel}")))?;
        write_file(dir, rel, &bytes)?;
    } else if let Some(rel) = header.strip_suffix(" \\noeol") {
        write_file(dir, rel, body.strip_suffix('\n').unwrap_or(body).as_bytes())?;
    } else {
        write_file(dir, header, body.as_bytes())?;
    }
    Ok(())
}

/// The reverse of [`unpack`], sorted by path. Files that could not be read
/// back unchanged as text (other encodings, `\r`, a line like a header) are
/// written as base64.
pub fn pack(dir: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    list(dir, &mut files)?;
    let mut named: Vec<(String, PathBuf)> =
        files.into_iter().map(|path| (relative(dir, &path), path)).collect();
    named.sort();
    let mut out = String::new();
    for (rel, path) in named {
        pack_file(&rel, &fs::read(path)?, &mut out);
    }
    Ok(out)
}

fn pack_file(rel: &str, bytes: &[u8], out: &mut String) {
    out.push_str(HEADER);
    out.push_str(rel);
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => {
            let whole = text.is_empty() || text.ends_with('\n');
            out.push_str(if whole { "\n" } else { " \\noeol\n" });
            out.push_str(text);
            if !whole {
                out.push('\n');
            }
        }
        _ => {
            out.push_str(" base64\n");
            for line in base64::encode(bytes).as_bytes().chunks(WIDTH) {
                out.extend(line.iter().map(|&b| b as char));
                out.push('\n');
            }
        }
    }
}

fn is_plain(text: &str) -> bool {
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    !text.contains(control)
        && !text.starts_with(['\u{feff}'])
        && !text.lines().any(|line| line.starts_with(HEADER))
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// `path` below `dir`, with `/` on every system.
pub(crate) fn relative(dir: &Path, path: &Path) -> String {
    let rel = path.strip_prefix(dir).expect("listed below dir");
    let parts: Vec<_> = rel.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Writes `bytes` to `dir/rel` with the folders it needs.
pub(crate) fn write_file(dir: &Path, rel: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = inside(dir, rel)?;
    fs::write(&path, bytes)?;
    Ok(path)
}

/// `dir/rel`, its parent folder made, and never outside of `dir`.
pub(crate) fn inside(dir: &Path, rel: &str) -> io::Result<PathBuf> {
    let rel = Path::new(rel);
    if !rel.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err(bad(format!("{} does not stay inside the home", rel.display())));
    }
    let path = dir.join(rel);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(path)
}

fn bad(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
//- projects/-home-x/aaaa.jsonl
{\"type\":\"user\"}
//- projects/-home-x/bbbb.jsonl \\noeol
{\"type\":\"assistant\"}
//- projects/-home-x/empty.jsonl
//- todos/raw base64
AP8NCg==
";

    #[test]
    fn headers_begin_files() {
        let home = Home::parse(TEXT);
        let read = |rel: &str| fs::read(home.path().join(rel)).unwrap();
        assert_eq!(read("projects/-home-x/aaaa.jsonl"), b"{\"type\":\"user\"}\n");
        assert_eq!(read("projects/-home-x/bbbb.jsonl"), b"{\"type\":\"assistant\"}");
        assert_eq!(read("projects/-home-x/empty.jsonl"), b"");
        assert_eq!(read("todos/raw"), b"\0\xff\r\n");
        home.append("projects/-home-x/aaaa.jsonl", "{}");
        assert_eq!(read("projects/-home-x/aaaa.jsonl"), b"{\"type\":\"user\"}\n{}");
    }

    #[test]
    fn packing_gives_the_text_back() {
        assert_eq!(pack(Home::parse(TEXT).path()).unwrap(), TEXT);
    }

    #[test]
    fn paths_may_not_leave_the_home() {
        let home = Home::new();
        assert!(unpack("//- ../x\n", home.path()).is_err());
        assert!(unpack("//- /etc/x\n", home.path()).is_err());
        assert!(unpack("stray\n", home.path()).is_err());
    }
}
