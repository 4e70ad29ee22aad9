//! Paths as transcripts record them, and the names Claude Code makes out of paths.
//!
//! A recorded path belongs to the computer that wrote it, which may have been another one with
//! another system: it is text here and never opened. The slug of a project folder is lossy, so
//! there is a way from a path to its slug and none back; the path is in the entries' `cwd`.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// A slug longer than this is cut here and gets a hash.
const SLUG_MOST: usize = 200;

/// A path as it is written in a transcript: not a path of this computer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedPath(Box<str>);

impl RecordedPath {
    /// A path as it is written in the files.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part, if there is one that is a name.
    ///
    /// A backslash separates unless the path begins with `/`, where it may stand in a name.
    pub fn file_name(&self) -> Option<&str> {
        let unix = self.0.starts_with('/');
        let separator = |c: char| c == '/' || (c == '\\' && !unix);
        let path = self.0.trim_end_matches(separator);
        let name = path.rsplit(separator).next()?;
        let drive = name == path && self.is_windows();
        (!name.is_empty() && name != "." && name != ".." && !drive).then_some(name)
    }

    /// Whether the path begins at a root, of Unix (`/a`) or Windows (`C:\a`, `\\host\share`).
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with('/') || self.is_windows()
    }

    /// Whether the path begins as only Windows writes it.
    fn is_windows(&self) -> bool {
        match self.0.as_bytes() {
            [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
            [b'\\', b'\\', ..] => true,
            _ => false,
        }
    }

    /// `inner` seen from this folder; an absolute `inner` is itself.
    pub fn join(&self, inner: &str) -> Self {
        let inner_path = Self::new(inner);
        if inner_path.is_absolute() || self.0.is_empty() {
            return inner_path;
        }
        let is_separator = |c: char| c == '/' || (c == '\\' && self.is_windows());
        let base = self.0.trim_end_matches(is_separator);
        // `..` stays: a path that climbs must be seen to climb by those who write to it.
        let inner = inner.strip_prefix("./").unwrap_or(inner);
        if self.is_windows() {
            return Self::new(format!("{base}\\{}", inner.replace('/', "\\")));
        }
        Self::new(format!("{base}/{inner}"))
    }
}

impl std::fmt::Display for RecordedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of the project folder for a working directory.
pub fn project_slug(cwd: &str) -> String {
    let path: String = cwd.nfc().collect();
    let mut slug = plain_slug(&path);
    if slug.len() > SLUG_MOST {
        slug.truncate(SLUG_MOST);
        slug.push('-');
        slug.push_str(&base36(js_hash(&path).unsigned_abs()));
    }
    slug
}

/// Whether a project folder may be that of `cwd`.
///
/// The hash behind a long slug differs between releases, so only its first 200 characters count
/// and the answer is "may be": the entries' own `cwd` decides.
pub fn slug_matches(slug: &str, cwd: &str) -> bool {
    let path: String = cwd.nfc().collect();
    let plain = plain_slug(&path);
    match plain.get(..SLUG_MOST) {
        Some(head) if plain.len() > SLUG_MOST => {
            slug.strip_prefix(head).is_some_and(|hash| hash.len() > 1 && hash.starts_with('-'))
        }
        _ => slug == plain,
    }
}

/// One `-` for each UTF-16 unit that is no ASCII letter or digit, as JavaScript counts.
fn plain_slug(path: &str) -> String {
    let mut slug = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else {
            slug.extend(std::iter::repeat_n('-', c.len_utf16()));
        }
    }
    slug
}

/// The usual string hash of JavaScript code: 32 bits, over UTF-16 units.
fn js_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).expect("a rest of 36 is a digit"));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// The name of a file's backups: the first 16 hex digits of SHA-256 of its absolute path.
pub fn backup_hash(abs_path: &str) -> String {
    hash16(abs_path.as_bytes())
}

/// The name of a long paste in `paste-cache/`: the first 16 hex digits of SHA-256 of its text.
pub fn paste_hash(content: &[u8]) -> String {
    hash16(content)
}

fn hash16(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_character_but_letters_and_digits_becomes_a_dash() {
        let cases = [
            (r"C:\Users\Administrator\.local\bin", "C--Users-Administrator--local-bin"),
            ("/Users/user/workspace/site.me-next", "-Users-user-workspace-site-me-next"),
            ("/home/x/my_app v1.2", "-home-x-my-app-v1-2"),
            ("/home/jürgen", "-home-j-rgen"),
            // The same name as macOS spells it, with a combining mark.
            ("/home/ju\u{308}rgen", "-home-j-rgen"),
            ("/tmp/日本", "-tmp---"),
            // Beyond the first plane JavaScript sees two units.
            ("/tmp/😀", "-tmp---"),
        ];
        for (cwd, slug) in cases {
            assert_eq!(project_slug(cwd), slug, "{cwd}");
            assert!(slug_matches(slug, cwd), "{cwd}");
        }
    }

    #[test]
    fn a_long_slug_is_cut_and_hashed() {
        let cwd = format!("/{}", "a".repeat(300));
        let slug = project_slug(&cwd);
        // Computed with the JavaScript rule: `h = (h << 5) - h + charCode | 0` over the path.
        assert_eq!(slug, format!("-{}-{}", "a".repeat(199), LONG_HASH));
        assert!(slug_matches(&slug, &cwd));
        assert!(slug_matches(&format!("-{}-ezjn6r", "a".repeat(199)), &cwd), "another hash");
        assert!(!slug_matches(&format!("-{}", "a".repeat(199)), &cwd));
        assert_eq!(project_slug(&format!("/{}", "a".repeat(199))).len(), 200, "200 is not cut");
    }

    const LONG_HASH: &str = "vtkmfl";

    #[test]
    fn names_are_the_first_16_digits_of_sha256() {
        // Checked with `printf %s /home/x/a.txt | sha256sum`.
        assert_eq!(backup_hash("/home/x/a.txt"), "20020501d948d434");
        assert_eq!(paste_hash(b""), "e3b0c44298fc1c14");
    }

    #[test]
    fn recorded_paths_of_both_systems() {
        let name = |p: &str| RecordedPath::new(p).file_name().map(str::to_string);
        assert_eq!(name("/a/b.txt").as_deref(), Some("b.txt"));
        assert_eq!(name("/a/b\\c").as_deref(), Some("b\\c"));
        assert_eq!(name(r"C:\a\b.txt").as_deref(), Some("b.txt"));
        assert_eq!(name(r"src\b.txt").as_deref(), Some("b.txt"));
        assert_eq!(name("/a/b/").as_deref(), Some("b"));
        for nameless in ["", "/", "..", "a/..", r"C:\"] {
            assert_eq!(name(nameless), None, "{nameless}");
        }
        for absolute in ["/a", r"C:\a", "c:/a", r"\\host\share"] {
            assert!(RecordedPath::new(absolute).is_absolute(), "{absolute}");
        }
        for relative in ["a/b", "", "C:a", r"a\b"] {
            assert!(!RecordedPath::new(relative).is_absolute(), "{relative}");
        }
    }

    #[test]
    fn joining_keeps_the_system_of_the_folder() {
        let join =
            |base: &str, inner: &str| RecordedPath::new(base).join(inner).as_str().to_string();
        assert_eq!(join("/a/", "b/c"), "/a/b/c");
        assert_eq!(join("/a", "/b"), "/b");
        assert_eq!(join(r"C:\a", "b/c"), r"C:\a\b\c");
        assert_eq!(join("/", "b"), "/b");
    }

    proptest! {
        #[test]
        fn a_slug_matches_its_own_path(cwd in "\\PC{0,260}") {
            prop_assert!(slug_matches(&project_slug(&cwd), &cwd));
        }

        #[test]
        fn recorded_paths_never_panic(a in any::<String>(), b in any::<String>()) {
            let joined = RecordedPath::new(a).join(&b);
            let _ = (joined.file_name(), joined.is_absolute());
        }
    }
}
