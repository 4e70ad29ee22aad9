//! `recount plans`: the plans, and one of them.

use std::io;

use report::plan::{self, Plan};
use transcript::layout::{FileKind, Found};

use crate::error::{Answer, CliError};
use crate::run::Run;
use crate::terminal::format::size;
use crate::terminal::style;
use crate::terminal::table::{Cell, Column, Table};
use crate::wire;
use ask::name::{self, Noun};
use ask::read;

/// The plans of plan mode: all of them, or the text of one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount plans                          every plan, newest first
  recount plans quiet-gathering-cloud    one plan
  recount plans quiet > plan.md          the beginning of a name is enough")]
pub struct PlansArgs {
    /// A plan, or the beginning of its name
    name: Option<String>,
}

/// Prints the plans, or the one that was named.
pub fn run(args: &PlansArgs, run: &mut Run) -> Result<Answer, CliError> {
    let plans = plan::sorted(read_plans(run)?);
    match &args.name {
        Some(name) => {
            let names: Vec<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
            let name = name::pick(Noun::Plan, name.trim_end_matches(".md"), &names)?;
            plans
                .iter()
                .filter(|plan| plan.name == name)
                .take(1)
                .try_for_each(|plan| show(run, plan))?;
        }
        None if run.json => {
            plans.iter().try_for_each(|plan| run.out.json(&wire::plan::Plan::listed(plan)))?;
        }
        None => list(run, &plans)?,
    }
    Ok(Answer::of(&plans))
}

fn read_plans(run: &mut Run) -> Result<Vec<Plan>, CliError> {
    let homes = run.recount.list_homes()?;
    let is_plan = |found: &&Found| matches!(found.kind, FileKind::Plan { .. });
    let files: Vec<&Found> = homes.iter().flat_map(|home| &home.files).filter(is_plan).collect();
    let progress = run.progress(&files);
    let mut plans = Vec::new();
    for found in files {
        progress.step(found.size);
        if let Some(bytes) = run.recount.or_skip(read::whole_of(found)) {
            plans.extend(Plan::new(found.path.clone(), found.modified, &bytes));
        }
    }
    Ok(plans)
}

fn show(run: &mut Run, plan: &Plan) -> io::Result<()> {
    match run.json {
        true => run.out.json(&wire::plan::Plan::whole(plan)),
        false => run.out.text(&plan.text),
    }
}

fn list(run: &mut Run, plans: &[Plan]) -> io::Result<()> {
    if plans.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::Left("MODIFIED"),
        Column::Right("SIZE"),
        Column::Left("NAME"),
        Column::Left("TITLE"),
    ]);
    for plan in plans {
        let when = plan.modified.map_or_else(|| "-".into(), |time| run.recount.clock.near(time));
        table.push([
            Cell::new(style::DIM, &when),
            size(plan.size).into(),
            Cell::new(style::NAME, &plan.name),
            Cell::from(title(plan)),
        ]);
    }
    run.out.table(&table)
}

fn title(plan: &Plan) -> String {
    let title = plan.title.as_deref().unwrap_or("(no heading)");
    match &plan.parts.agent {
        Some(agent) => format!("{title} (by agent {agent})"),
        None => title.into(),
    }
}
