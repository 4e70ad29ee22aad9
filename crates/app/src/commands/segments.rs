//! `recount segments`: what each compaction of a session began.

use report::tree::{self, SegmentRow};
use transcript::layout::Problem;
use transcript::record::Opened;

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, duration};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::tree::Segment;
use ask::name::SessionName;

/// The segments of a session: the stretches between compactions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount segments latest             the segments of the session last written
  recount segments 3f2a --summary 2   the whole summary that segment 2 began with
  recount segments . --json           the latest of this folder, with whole summaries")]
pub struct SegmentsArgs {
    /// Id, beginning of one, `latest`, `.` for the latest of this folder, a path, or `-`
    session: SessionName,

    /// Print the whole summary of segment N
    #[arg(long, value_name = "N")]
    summary: Option<usize>,
}

/// Prints the segments, or one summary.
pub fn run(args: &SegmentsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let open = run.recount.open_session(&args.session)?;
    let opened = Opened::new(&open.session, &open.sources, false);
    let mut rows = tree::segments(&open.session);
    if let Some(wanted) = args.summary {
        if wanted >= rows.len() {
            return Err(CliError::NoSegment { wanted, segments: rows.len() });
        }
        rows.retain(|row| row.index == wanted);
    }
    if run.json {
        for row in &rows {
            let summary = summary(&opened, row)?;
            run.out.json(&Segment::new(row, summary))?;
        }
        return Ok(Answer::of(&rows));
    }
    match args.summary {
        Some(_) => whole(run, &opened, &rows[0]),
        None => table(run, &opened, &rows),
    }
}

fn summary(opened: &Opened<'_>, row: &SegmentRow) -> Result<Option<String>, Problem> {
    row.summary.map_or(Ok(None), |node| tree::words(opened, node))
}

fn whole(run: &mut Run, opened: &Opened<'_>, row: &SegmentRow) -> Result<Answer, CliError> {
    let Some(text) = summary(opened, row)? else {
        let why = if row.index == 0 { "it is the beginning" } else { "none was recorded" };
        run.talk.note(format!("Segment {} has no summary: {why}", row.index));
        return Ok(Answer::Nothing);
    };
    run.out.text(&text)?;
    Ok(Answer::Found)
}

fn table(run: &mut Run, opened: &Opened<'_>, rows: &[SegmentRow]) -> Result<Answer, CliError> {
    let mut table = Table::new(&[
        Column::Right("SEGMENT"),
        Column::Left("TRIGGER"),
        Column::Left("KNOWN BY"),
        Column::Right("BEFORE"),
        Column::Right("AFTER"),
        Column::Right("TURNS"),
        Column::Right("ENTRIES"),
        Column::Left("BEGAN"),
        Column::Right("LASTED"),
        Column::Left("SUMMARY"),
    ])
    .spare(&["KNOWN BY", "LASTED", "ENTRIES", "BEGAN"]);
    for row in rows {
        let summary = summary(opened, row)?;
        table.push([
            count(row.index as u64).into(),
            dash(row.trigger.clone()),
            Cell::new(style::DIM, row.by.unwrap_or("-")),
            dash(row.pre_tokens.map(count)),
            dash(row.post_tokens.map(count)),
            count(row.turns as u64).into(),
            dash(span(row)),
            dash(row.first.map(|first| run.recount.clock.minute(first))),
            dash(row.first.zip(row.last).map(|(first, last)| duration(last.since(first)))),
            summary_cell(row, summary),
        ]);
    }
    run.out.table(&table)?;
    Ok(Answer::of(rows))
}

fn dash(text: Option<String>) -> Cell {
    Cell::new(style::PLAIN, text.as_deref().unwrap_or("-"))
}

/// Its entries by number, as `show --entry` takes them.
fn span(row: &SegmentRow) -> Option<String> {
    let (first, last) = row.first_entry.zip(row.last_entry)?;
    Some(format!("{first}–{last}"))
}

/// The first words of the summary. Without a terminal nothing else is cut, but a summary is pages.
fn summary_cell(row: &SegmentRow, summary: Option<String>) -> Cell {
    const MOST: usize = 160;
    let gist = summary.as_deref().map_or("-", tree::gist).trim();
    let mut words: String = gist.chars().take(MOST).collect();
    if words.len() < gist.len() {
        words.push('…');
    }
    let mark = if row.is_abandoned { "(abandoned) " } else { "" };
    Cell::new(style::PLAIN, &format!("{mark}{words}"))
}
