//! `recount list`: sessions and projects.

use clap::ValueEnum;
use report::list::{self, Life, List, ListFilter, ListOrder, ListRow, ProjectRow};
use transcript::library::Standing;

use crate::commands::note::Notes;
use crate::commands::short;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, counted, duration, last_part, size};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::time_arg::TimeArg;

/// Sessions: title, project, branch, state, start, duration, turns, calls, errors, files, size.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount list                          the sessions, last active first
  recount list --projects               the folders they ran in
  recount list --project shop --errors  failed calls in one project
  recount list --since 7d --sort size   the largest of the last week
  recount list --json --all             everything, copies and stubs too

STATE is live (a running client has it; for older versions, which keep no registry of clients:
it was written within the last two minutes), ended, or
interrupted (the last turn was not answered), or ghost (only what was typed is left, in the
history). CALLS and ERRORS count subagents too.")]
pub struct ListArgs {
    /// List projects instead of sessions
    #[arg(long)]
    projects: bool,

    /// Only projects whose path contains this; `.` for this folder
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,

    /// Only git branches that contain this
    #[arg(long, value_name = "TEXT")]
    branch: Option<String>,

    /// Only sessions active since then: a date, `yesterday`, `7d`, `last week`
    #[arg(long, value_name = "TIME")]
    since: Option<TimeArg>,

    /// Only sessions that began before then
    #[arg(long, value_name = "TIME")]
    until: Option<TimeArg>,

    /// Only sessions with failed calls
    #[arg(long)]
    errors: bool,

    /// Copies, resume pointers, stubs and empty files, too
    #[arg(long)]
    all: bool,

    /// The order
    #[arg(long, value_name = "BY", default_value = "time")]
    sort: Sort,

    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// The orders of a list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    Time,
    Turns,
    Errors,
    Size,
    Duration,
    Title,
}

impl From<Sort> for ListOrder {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Time => Self::Time,
            Sort::Turns => Self::Turns,
            Sort::Errors => Self::Errors,
            Sort::Size => Self::Size,
            Sort::Duration => Self::Duration,
            Sort::Title => Self::Title,
        }
    }
}

/// Prints the list.
pub fn run(args: &ListArgs, run: &mut Run) -> Result<Answer, CliError> {
    let overview = run.recount.session_overview()?;
    let filter = ListFilter {
        project: run.recount.project_filter(args.project.as_deref())?,
        branch: args.branch.clone(),
        period: run.recount.period_between(args.since.as_ref(), args.until.as_ref()),
        errors: args.errors,
        all: args.all,
    };
    let list = overview.list(&filter, args.sort.into());
    let most = args.limit.unwrap_or(usize::MAX);
    if args.projects {
        let mut projects = list::projects(&list);
        projects.truncate(most);
        print_projects(run, &projects)?;
        return Ok(Answer::of(&projects));
    }
    let rows = &list.rows[..list.rows.len().min(most)];
    let notes = Notes::of(run);
    print_sessions(run, rows, &notes)?;
    note(run, &list, rows.len(), args.all);
    Ok(Answer::of(rows))
}

fn print_sessions(run: &mut Run, rows: &[ListRow<'_>], notes: &Notes) -> Result<(), CliError> {
    if run.json {
        return rows
            .iter()
            .try_for_each(|row| Ok(run.out.json(&wire::list::Session::new(row, notes))?));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("SESSION"),
        Column::Left("STARTED"),
        Column::Left("STATE"),
        Column::Left("PROJECT"),
        Column::Left("BRANCH"),
        Column::Right("TIME"),
        Column::Right("TURNS"),
        Column::Right("CALLS"),
        Column::Right("ERRORS"),
        Column::Right("FILES"),
        Column::Right("LINES"),
        Column::Right("SIZE"),
        Column::Left("TITLE"),
    ])
    .spare(&["LINES", "SIZE", "FILES", "BRANCH", "TIME", "CALLS", "PROJECT", "STATE"]);
    for row in rows {
        table.push(cells(run, row, notes));
    }
    Ok(run.out.table(&table)?)
}

fn cells(run: &Run, row: &ListRow<'_>, notes: &Notes) -> [Cell; 13] {
    let facts = &row.item.facts;
    let life = match row.life {
        Life::Live => style::GOOD,
        Life::Ended => style::DIM,
        Life::Interrupted => style::ACTIVE,
        Life::Ghost => style::DIM,
    };
    // Nothing else is known of a ghost: blank, not 0.
    let known = |text: String| if row.life == Life::Ghost { String::new() } else { text };
    let errors = if row.errors > 0 { style::BAD } else { style::DIM };
    let changed = match (facts.added, facts.removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{} -{}", count(added), count(removed)),
    };
    [
        Cell::new(style::NAME, &short(row.item.id.as_str())),
        Cell::from(facts.first.map_or_else(String::new, |time| run.recount.clock.near(time))),
        Cell::new(life, row.life.name()),
        Cell::from(row.project.as_deref().map_or("", last_part)),
        Cell::new(style::DIM, facts.git_branch.as_deref().unwrap_or("")),
        Cell::from(row.duration_ms().map_or_else(String::new, duration)),
        Cell::from(count(facts.turns as u64)),
        Cell::from(known(count(row.calls as u64))),
        Cell::new(errors, &known(count(row.errors as u64))),
        Cell::from(if facts.files == 0 { String::new() } else { count(facts.files as u64) }),
        Cell::from(changed),
        Cell::new(style::DIM, &known(size(row.size))),
        Cell::from(marked(row, notes)),
    ]
}

/// The title with the star and the tags that a person has given the session.
fn marked(row: &ListRow<'_>, notes: &Notes) -> String {
    let id = row.item.id.as_str();
    let star = if notes.has_star(id) { "★ " } else { "" };
    let tags: String = notes.tags(id).iter().map(|tag| format!(" #{tag}")).collect();
    format!("{star}{}{tags}", title(row))
}

/// The title, or what the file is where it has none.
fn title(row: &ListRow<'_>) -> String {
    match (&row.item.title, row.item.standing) {
        (Some((title, _)), _) => title.to_string(),
        (None, standing) if standing != Standing::Whole => format!("({})", standing.name()),
        (None, _) if row.life == Life::Ghost => "(pasted only)".into(),
        (None, _) if row.item.file.is_none() => "(transcript gone, subagents left)".into(),
        (None, _) => "(no prompt)".into(),
    }
}

fn print_projects(run: &mut Run, rows: &[ProjectRow]) -> Result<(), CliError> {
    if run.json {
        return rows
            .iter()
            .try_for_each(|row| Ok(run.out.json(&wire::list::Project::from(row))?));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("LAST"),
        Column::Right("SESSIONS"),
        Column::Right("TURNS"),
        Column::Right("CALLS"),
        Column::Right("ERRORS"),
        Column::Right("SIZE"),
        Column::Left("PROJECT"),
    ]);
    for row in rows {
        table.push([
            Cell::from(row.last.map_or_else(String::new, |time| run.recount.clock.near(time))),
            Cell::from(count(row.sessions as u64)),
            Cell::from(count(row.turns as u64)),
            Cell::from(count(row.calls as u64)),
            Cell::new(
                if row.errors > 0 { style::BAD } else { style::DIM },
                &count(row.errors as u64),
            ),
            Cell::new(style::DIM, &size(row.size)),
            Cell::new(style::NAME, &row.project),
        ]);
    }
    Ok(run.out.table(&table)?)
}

/// How many there are, and what was left out.
fn note(run: &mut Run, list: &List<'_>, shown: usize, all: bool) {
    let mut parts = vec![counted(shown, "session")];
    if list.rows.len() > shown {
        parts[0] = format!("{} of {}", count(shown as u64), counted(list.rows.len(), "session"));
    }
    let left_out = |name: &str| list.standings.get(name).copied().unwrap_or(0);
    for (name, one) in
        [("copy", "copy"), ("pointer", "resume pointer"), ("stub", "stub"), ("empty", "empty file")]
    {
        let number = if all { 0 } else { left_out(name) };
        if number > 0 {
            let words = if one == "copy" && number > 1 {
                format!("{number} copies")
            } else {
                counted(number, one)
            };
            parts.push(words);
        }
    }
    let hint = if parts.len() > 1 { " (not listed: `--all` shows them)" } else { "" };
    run.talk.note(format!("{}{hint}", parts.join(", ")));
    let ghosts = list.rows[..shown].iter().filter(|row| row.life == Life::Ghost).count();
    if ghosts > 0 {
        let (are, their) =
            if ghosts == 1 { ("is a ghost", "its") } else { ("are ghosts", "their") };
        run.talk.note(format!("{} {are}: only {their} prompts are left", count(ghosts as u64)));
    }
}
