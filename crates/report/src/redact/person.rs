//! What names a person without being a secret: e-mail addresses and the folder of a user.

use std::ops::Range;

use memchr::memmem::Finder;

/// Addresses of machines.
const NOBODY: [&str; 5] = ["git", "noreply", "no-reply", "root", "user"];
/// Files that are named like addresses: `icon@2x.png`.
const FILES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css"];
/// The longest name of a user or of a mailbox.
const NAME_MOST: usize = 64;
const DOMAIN_MOST: usize = 253;
/// Folders beside those of users.
const SHARED: [&str; 6] = ["shared", "public", "default", "all", "linuxbrew", "runner"];

/// The e-mail addresses of a text.
pub fn emails(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in memchr::memchr_iter(b'@', text) {
        let free = found.last().map_or(0, |last| last.end);
        if let Some(range) = email(text, at).filter(|range| range.start >= free) {
            found.push(range);
        }
    }
    found
}

fn email(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_local = |b: &&u8| b.is_ascii_alphanumeric() || b"._%+-".contains(b);
    let mut local = text[..at].iter().rev().take(NAME_MOST).take_while(is_local).count();
    // The letter of an escape is not a part of the name.
    let escape = &text[..at - local];
    if escape.ends_with(b"\\") && matches!(text[at - local..at], [b'n' | b'r' | b't', ..]) {
        local -= 1;
    }
    let name = &text[at - local..at];
    let is_domain = |b: &&u8| b.is_ascii_alphanumeric() || b".-".contains(b);
    let domain = text[at + 1..].iter().take(DOMAIN_MOST).take_while(is_domain).count();
    let domain = text[at + 1..at + 1 + domain].trim_ascii_end();
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let labels: Vec<&[u8]> = domain.split(|b| *b == b'.').collect();
    let last = labels.last()?;
    let is_file = FILES.iter().any(|file| last.eq_ignore_ascii_case(file.as_bytes()));
    let is_nobody = NOBODY.iter().any(|who| name.eq_ignore_ascii_case(who.as_bytes()));
    let is_address = labels.len() >= 2
        && labels.iter().all(|label| !label.is_empty())
        && last.len() >= 2
        && last.iter().all(u8::is_ascii_alphabetic)
        && name.first().is_some_and(u8::is_ascii_alphanumeric);
    (is_address && !is_file && !is_nobody).then(|| at - local..at + 1 + domain.len())
}

/// The folders of users in a text, with the name and without what follows.
pub fn homes(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = ["/home/", "/Users/", "\\Users\\"]
        .iter()
        .flat_map(|folder| {
            let ends: Vec<_> = Finder::new(folder).find_iter(text).collect();
            ends.into_iter().filter_map(|at| home(text, at, folder.len()))
        })
        .collect();
    found.sort_by_key(|range| range.start);
    found
}

fn home(text: &[u8], at: usize, length: usize) -> Option<Range<usize>> {
    let start = root(text, at)?;
    let from = at + length;
    // `C:\\Users\\name` in the source of something.
    let from = from + text[from..].iter().take(3).take_while(|b| **b == b'\\').count();
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"._-".contains(b) || **b >= 0x80;
    let end = from + text[from..].iter().take(NAME_MOST).take_while(is_name).count();
    let name = &text[from..end];
    let is_shared = SHARED.iter().any(|shared| name.eq_ignore_ascii_case(shared.as_bytes()));
    let is_one = name.iter().any(u8::is_ascii_alphanumeric) || name.iter().any(|b| *b >= 0x80);
    (is_one && !is_shared).then_some(start..end)
}

/// Where a path begins that goes on at `at`, if that is at its root: `/`, `C:\`, `/c/`, `/mnt/c/`.
fn root(text: &[u8], at: usize) -> Option<usize> {
    let is_windows = text[at + 1..].starts_with(b"Users");
    let start = match &text[..at] {
        _ if !is_windows => at,
        [.., drive, b':'] if drive.is_ascii_alphabetic() => at - 2,
        [.., drive, b':', b'\\'] if drive.is_ascii_alphabetic() => at - 3,
        [.., b'/', b'm', b'n', b't', b'/', drive] if drive.is_ascii_alphabetic() => at - 6,
        [.., b'/', drive] if drive.is_ascii_alphabetic() => at - 2,
        _ => at,
    };
    let is_inside = |b: &u8| b.is_ascii_alphanumeric() || b"._-~".contains(b) || *b >= 0x80;
    let is_escape = matches!(text[..start], [.., b'\\', b'n' | b'r' | b't']);
    let is_root = start == 0 || !is_inside(&text[start - 1]) || is_escape;
    is_root.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let all = |text: &str| {
            emails(text.as_bytes()).into_iter().map(|r| text[r].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            all("Ann <ann.b+x@mail.acme.io>, or bo@acme.co."),
            ["ann.b+x@mail.acme.io", "bo@acme.co"]
        );
        assert_eq!(all("\\nann@acme.io"), ["ann@acme.io"]);
        for none in ["git@github.com:a/b", "a@2x.png", "x@1.2.3", "@types/node", "a @ b.c", "a@b"] {
            assert!(all(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn folders_of_users() {
        let all = |text: &str| {
            homes(text.as_bytes()).into_iter().map(|r| text[r].to_owned()).collect::<Vec<_>>()
        };
        for (text, want) in [
            ("cd /home/ann/x", "/home/ann"),
            ("at \"/Users/ann.b\"", "/Users/ann.b"),
            (r"C:\Users\Ann\x", r"C:\Users\Ann"),
            (r"C:\\Users\\Ann\\x", r"C:\\Users\\Ann"),
            ("/mnt/c/Users/ann/x", "/mnt/c/Users/ann"),
            ("file:///home/ann", "/home/ann"),
            (r"x\n/home/ann", "/home/ann"),
        ] {
            assert_eq!(all(text), [want], "{text}");
        }
        for none in ["src/Users/List.tsx", "/home/", "/Users/Shared/x", "https://a.b/home/page"] {
            assert!(all(none).is_empty(), "{none}");
        }
    }
}
