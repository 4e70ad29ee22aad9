//! What an export says of itself: its index, and what was written and replaced.

use ::report::export::index::{self, Row};
use ::report::redact::Place;

use super::target::Format;
use super::{Done, Work};
use crate::commands::short;
use crate::error::CliError;
use crate::run::Run;
use crate::terminal::format::{count, counted, percent, size};
use crate::terminal::safe;
use crate::wire::export::{ExportedSession, RedactedPlace, Redaction};

/// The list of all sessions, in the form of the export.
pub fn index(work: &Work<'_>, done: &[Done]) -> Result<(), CliError> {
    let rows: Vec<Row> = done.iter().map(|done| done.row.clone()).collect();
    let title = work.args.title.clone().unwrap_or_else(|| "Sessions".into());
    let folder = &work.target.path;
    let text = match work.format {
        Format::Html => {
            work.target.assets(folder, work.is_beside)?;
            index::html(&title, &rows, &work.clock, &work.notes).into_string()
        }
        Format::Markdown => index::markdown(&title, &rows, &work.clock, &work.notes),
        Format::Json | Format::Jsonl => {
            let mut lines = Vec::new();
            for done in done {
                crate::wire::write(&mut lines, &wire(work, done))?;
                lines.push(b'\n');
            }
            String::from_utf8_lossy(&lines).into_owned()
        }
    };
    let name = match work.format {
        Format::Html => "index.html",
        Format::Markdown => "index.md",
        Format::Json | Format::Jsonl => "index.json",
    };
    work.target.write(&folder.join(name), |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(())
}

fn wire<'a>(work: &Work<'_>, done: &'a Done) -> ExportedSession<'a> {
    ExportedSession {
        session: &done.row.id,
        title: &done.row.title,
        format: work.format.name(),
        path: Some(done.path.display().to_string()),
        bytes: done.row.bytes,
        written_bytes: Some(done.written),
        records: done.records,
        left_out: &done.left_out,
        redacted: work.redactor.is_some(),
    }
}

/// So many places are named.
const PLACES: usize = 3;

/// Says what was written, and what was replaced.
pub fn report(
    run: &mut Run,
    work: &Work<'_>,
    done: &[Done],
    ids: &[String],
) -> Result<(), CliError> {
    let found = &work.found;
    let session = |at: u64| ids[at as usize].as_str();
    let is_many = work.args.is_many();
    if run.json {
        for done in done {
            run.out.json(&wire(work, done))?;
        }
        for found in found {
            let place =
                |at: &Place| RedactedPlace { session: session(at.session), entry: at.entry };
            run.out.json(&Redaction {
                rule: &found.rule,
                family: &found.family,
                description: &found.description,
                count: found.count,
                places: found.places.iter().map(place).collect(),
            })?;
        }
        return Ok(());
    }
    let (bytes, written) = done
        .iter()
        .fold((0, 0), |(bytes, written), done| (bytes + done.row.bytes, written + done.written));
    let share = percent(written, bytes);
    let what = match (is_many, done.first()) {
        (false, Some(done)) => safe::line(&done.path.display().to_string()),
        _ => {
            let place = work.target.path.display().to_string();
            format!("{} in {}", counted(done.len(), "session"), safe::line(&place))
        }
    };
    run.out.line(&format!("{what}: {}, {share} of {}", size(written), size(bytes)))?;
    if let (false, Some(done)) = (is_many, done.first()) {
        done.left_out.iter().for_each(|line| run.talk.note(line.clone()));
    }
    for found in found {
        let mut places: Vec<String> = found
            .places
            .iter()
            .take(PLACES)
            .map(|at| format!("{} entry {}", short(session(at.session)), at.entry))
            .collect();
        if found.places.len() > PLACES {
            places.push("\u{2026}".into());
        }
        let (rule, count) = (&found.rule, count(found.count));
        run.talk.note(format!("Replaced: {rule}, {count} ({})", places.join("; ")));
    }
    Ok(())
}
