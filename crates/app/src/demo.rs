//! The built-in sample home of `--demo`, unpacked into a temporary folder.
//!
//! The sample is one text: a line `//- path` begins a file; ` \noeol` behind the path drops the
//! final newline, ` base64` decodes the body. Files get the time of the last thing written in
//! them, so that `latest` means what it would in a real home.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use transcript::time::Time;

const SAMPLE: &str = include_str!("../../../fixtures/demo.home");
const HEADER: &str = "//- ";

/// The sample home, removed when dropped.
pub fn unpack() -> io::Result<TempDir> {
    let dir = tempfile::Builder::new().prefix("recount-demo-").tempdir()?;
    // What has no time of its own is as old as the sample.
    let newest = last_time(SAMPLE);
    for (path, body) in files(SAMPLE)? {
        write(&dir.path().join(path), &body, newest)?;
    }
    Ok(dir)
}

fn write(path: &Path, body: &[u8], newest: Option<Time>) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, body)?;
    let time = last_time(&String::from_utf8_lossy(body)).or(newest);
    match time.and_then(|time| u64::try_from(time.0).ok()) {
        Some(ms) => File::options().write(true).open(path)?.set_modified(system_time(ms)),
        None => Ok(()),
    }
}

fn system_time(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms)
}

/// The files of a packed home.
fn files(packed: &str) -> io::Result<Vec<(&str, Vec<u8>)>> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(packed.match_indices('\n').map(|(at, _)| at + 1))
        .filter(|&at| packed[at..].starts_with(HEADER))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([packed.len()]);
    starts.iter().zip(ends).map(|(&start, end)| file(&packed[start + HEADER.len()..end])).collect()
}

fn file(packed: &str) -> io::Result<(&str, Vec<u8>)> {
    let (header, body) = packed.split_once('\n').unwrap_or((packed, ""));
    if let Some(path) = header.strip_suffix(" base64") {
        let broken = || io::Error::new(io::ErrorKind::InvalidData, format!("no base64 in {path}"));
        return Ok((path, base64(body).ok_or_else(broken)?));
    }
    if let Some(path) = header.strip_suffix(" \\noeol") {
        return Ok((path, body.strip_suffix('\n').unwrap_or(body).into()));
    }
    Ok((header, body.into()))
}

/// Decodes base64 over any number of lines.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0);
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=') {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

/// The latest time written anywhere in a text.
fn last_time(text: &str) -> Option<Time> {
    const FORM: usize = "2026-05-06T14:20:35.120Z".len();
    let zs = text.match_indices('Z').map(|(at, _)| at + 1);
    zs.filter_map(|end| Time::parse(text.as_bytes().get(end.checked_sub(FORM)?..end)?)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_home_gives_its_files() {
        let packed =
            "//- a/b.jsonl\n{}\n{}\n//- c \\noeol\nx\n//- empty\n//- raw base64\nAP8N\nCg==\n";
        let want: [(&str, &[u8]); 4] =
            [("a/b.jsonl", b"{}\n{}\n"), ("c", b"x"), ("empty", b""), ("raw", b"\0\xff\r\n")];
        let got = files(packed).expect("well packed");
        let got: Vec<(&str, &[u8])> = got.iter().map(|(path, body)| (*path, &body[..])).collect();
        assert_eq!(got, want);
        assert!(files("//- x base64\n???\n").is_err());
    }

    #[test]
    fn the_sample_is_well_packed() {
        let dir = unpack().expect("unpacked");
        assert!(dir.path().join("projects").is_dir() && dir.path().join("history.jsonl").is_file());
    }

    #[test]
    fn the_last_time_of_a_text() {
        let text = "Z {\"timestamp\":\"2026-05-06T14:20:35.120Z\"} 2026-05-05T00:00:00.000Z Z";
        assert_eq!(last_time(text), Time::parse(b"2026-05-06T14:20:35.120Z"));
        assert_eq!(last_time("é Z"), None);
    }
}
