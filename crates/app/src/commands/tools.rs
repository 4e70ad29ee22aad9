//! `recount tools`: how the tools did.

use report::tools::{self, Grouping, ToolRow};

use crate::args::Scope;
use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::{count, short_duration};
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;

/// Calls, errors and latencies of each tool, MCP server or skill.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A latency is the time from the call to its result, waiting for permission included. Calls of
subagents count too; copies of a session count once.

Examples:
  recount tools --since 30d
  recount tools --by server
  recount tools --by skill --json")]
pub struct ToolsArgs {
    /// What to group by
    #[arg(long, value_name = "WHAT", default_value = "tool")]
    by: By,

    #[command(flatten)]
    scope: Scope,
}

/// What to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// The tool.
    Tool,
    /// The server of MCP.
    Server,
    /// The skill.
    Skill,
}

/// Prints the table.
pub fn run(args: &ToolsArgs, run: &mut Run) -> Result<Answer, CliError> {
    let period = args.scope.period(run);
    let project = args.scope.project(run)?;
    let calls = run.recount.tool_calls(period, project.as_ref())?;
    let by = match args.by {
        By::Tool => Grouping::Tool,
        By::Server => Grouping::Server,
        By::Skill => Grouping::Skill,
    };
    let rows = tools::tools(&calls, by);
    if run.json {
        for row in &rows {
            run.out.json(&wire::tools::ToolUse::new(by, row))?;
        }
    } else {
        table(run, args.by, &rows)?;
    }
    Ok(Answer::of(&rows))
}

fn table(run: &mut Run, by: By, rows: &[ToolRow]) -> Result<(), CliError> {
    if rows.is_empty() {
        return Ok(());
    }
    let title = match by {
        By::Tool => "TOOL",
        By::Server => "SERVER",
        By::Skill => "SKILL",
    };
    let mut table = Table::new(&[
        Column::Left(title),
        Column::Right("CALLS"),
        Column::Right("ERRORS"),
        Column::Right("RATE"),
        Column::Right("MEDIAN"),
        Column::Right("P95"),
        Column::Right("TOGETHER"),
        Column::Left(""),
    ]);
    let most = rows.iter().map(|row| row.calls).max().unwrap_or(0);
    let time = |ms: Option<i64>| ms.map_or_else(String::new, short_duration);
    for row in rows {
        let hue = if row.errors > 0 { style::BAD } else { style::DIM };
        let rate = row.errors as f64 / row.calls as f64 * 100.0;
        table.push([
            Cell::new(style::NAME, &row.name),
            Cell::from(count(row.calls)),
            Cell::new(hue, &count(row.errors)),
            Cell::new(hue, &format!("{rate:.1} %")),
            Cell::from(time(row.median)),
            Cell::from(time(row.p95)),
            Cell::from(time(Some(row.total))),
            Cell::new(style::READ, &super::usage::bar(row.calls, most)),
        ]);
    }
    Ok(run.out.table(&table)?)
}
