//! `recount rename` and `recount tag`: a title or a tag, written as Claude Code writes it.
//!
//! Claude Code appends a line to the transcript, and reads the last one. So does this, and nothing
//! else in the file changes; a session that is running is refused, since two would write to it.
//! What is to be written is shown, and what was written is read back.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use report::list::Life;
use serde_json::json;
use transcript::id::SessionId;

use crate::error::{Answer, CliError, StampError};
use crate::run::Run;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire::rename::Stamp;
use ask::name::SessionName;

/// Give a session another title, as `/rename` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line is added to the end of the transcript, as Claude Code does it; nothing else changes. A
session that is running is refused: use `/rename` in it.

Examples:
  recount rename 3f2a91c0 'the release of May' --dry-run    what would be written
  recount rename latest 'fix the login test'")]
pub struct RenameArgs {
    /// Id, beginning of one, `latest`, or `.` for the latest of this folder
    session: SessionName,

    /// The title
    #[arg(value_parser = title)]
    title: String,

    /// Show what would be written
    #[arg(long)]
    dry_run: bool,
}

/// Give a session a tag, as `/tag` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line is added to the end of the transcript, as Claude Code does it; nothing else changes. A
session has one tag; `recount note --tag` has as many as you like, in the store.

Examples:
  recount tag 3f2a91c0 release --dry-run    what would be written
  recount tag 3f2a91c0 release
  recount tag 3f2a91c0 ''                   without a tag again")]
pub struct TagArgs {
    /// Id, beginning of one, `latest`, or `.` for the latest of this folder
    session: SessionName,

    /// The tag; empty takes it away
    #[arg(value_parser = one_line)]
    tag: String,

    /// Show what would be written
    #[arg(long)]
    dry_run: bool,
}

fn title(text: &str) -> Result<String, String> {
    let text = one_line(text)?;
    if text.is_empty() { Err("a title has words".into()) } else { Ok(text) }
}

fn one_line(text: &str) -> Result<String, String> {
    match text.contains(|c: char| c.is_control()) {
        true => Err("it is one line, without control characters".into()),
        false => Ok(text.trim().to_owned()),
    }
}

/// Writes the title.
pub fn rename(args: &RenameArgs, run: &mut Run) -> Result<Answer, CliError> {
    stamp(run, &args.session, ("custom-title", "customTitle", &args.title), args.dry_run)
}

/// Writes the tag.
pub fn tag(args: &TagArgs, run: &mut Run) -> Result<Answer, CliError> {
    stamp(run, &args.session, ("tag", "tag", &args.tag), args.dry_run)
}

fn stamp(
    run: &mut Run,
    name: &SessionName,
    (kind, key, value): (&str, &str, &str),
    is_plan: bool,
) -> Result<Answer, CliError> {
    let (id, path) = transcript(run, name)?;
    // In the order of Claude Code, which tells such lines by how they begin.
    let line = format!(
        "{{\"type\":{},{}:{},\"sessionId\":{}}}",
        json!(kind),
        json!(key),
        json!(value),
        json!(id.as_str())
    );
    if !is_plan {
        append(&path, &line)?;
    }
    let outcome = if is_plan { "planned" } else { "written" };
    if run.json {
        let path = path.display().to_string();
        run.out.json(&Stamp { session: id.as_str(), path, line: &line, outcome })?;
        return Ok(Answer::Found);
    }
    let shown = safe::line(&path.display().to_string());
    run.out.line(&format!("{}: {outcome}", paint(style::NAME, &shown)))?;
    run.out.line(&paint(style::GOOD, &format!("+{}", safe::line(&line))))?;
    if is_plan {
        run.talk.note("Nothing was written: without `--dry-run` it is".into());
    }
    Ok(Answer::Found)
}

/// The file of a session that nobody writes to.
fn transcript(run: &mut Run, name: &SessionName) -> Result<(SessionId, PathBuf), CliError> {
    let library = run.recount.all_sessions()?;
    let id = run.recount.identify_session(name, &library)?;
    let pulse = run.recount.running_sessions()?;
    let item = library.session(id.as_str());
    let file = item.and_then(|item| Some(&library.cards[item.file?].found));
    let file = file.filter(|found| found.kept.is_none());
    let (Some(item), Some(found)) = (item, file) else {
        return Err(StampError::NoFile(id.to_string()).into());
    };
    match pulse.life(&library, item) {
        Life::Live => Err(StampError::Live(id.to_string()).into()),
        _ => Ok((id, found.path.clone())),
    }
}

/// Adds a line to the end of a file, behind a whole one, and reads it back. When the file was last
/// used stays as it was: a name does not make a session the latest.
fn append(path: &Path, line: &str) -> Result<(), StampError> {
    let failed = |error| StampError::Io(path.into(), error);
    let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
    let before = file.metadata().map_err(failed)?;
    let begin = if ends_whole(&mut file).map_err(failed)? { "" } else { "\n" };
    let text = format!("{begin}{line}\n");
    file.write_all(text.as_bytes()).map_err(failed)?;
    let written = read_from(&mut file, before.len()).map_err(failed)?;
    if written != text.as_bytes() {
        return Err(StampError::Grew(path.into()));
    }
    before.modified().and_then(|time| file.set_modified(time)).map_err(failed)?;
    file.sync_all().map_err(failed)
}

fn read_from(file: &mut File, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    Ok(length == 0 || read_from(file, length - 1)? == b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_behind_a_whole_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        for (before, after) in [("", "x\n"), ("a\n", "a\nx\n"), ("a", "a\nx\n")] {
            std::fs::write(&path, before).expect("written");
            let time = path.metadata().and_then(|m| m.modified()).expect("a time");
            append(&path, "x").expect("added");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), after);
            assert_eq!(path.metadata().and_then(|m| m.modified()).expect("a time"), time);
        }
    }

    #[test]
    fn a_title_is_one_line_of_words() {
        assert_eq!(title("  the release "), Ok("the release".into()));
        for wrong in ["", "  ", "two\nlines", "\u{1b}[2J"] {
            assert!(title(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(one_line(""), Ok(String::new()));
    }
}
