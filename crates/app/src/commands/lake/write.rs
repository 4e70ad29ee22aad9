//! `recount lake write`: what is new since the last time.

use std::ops::ControlFlow;

use lake::error::LakeError as Failed;
use lake::manifest::Content;
use lake::name::Writer;
use lake::place::Intent;
use lake::write::{Changed, Plan, Source};
use store::sync::{Options, SyncError};
use store::table::keep::{State, Tables};
use store::table::schema::VERSION;
use store::table::{Row, Table};

use super::dress::Dress;
use super::{ContentArgs, open};
use crate::error::{Answer, CliError, LakeError, StoreError};
use crate::run::Run;
use crate::terminal::format::{counted, size};
use crate::wire::lake as wire;
use ask::tables::is_imported;

/// Write what is new to a lake, without texts and without secrets unless they are asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount lake write /srv/lake               a folder, made if it is not there
  recount lake write s3://team/lake          a bucket, with AWS_ACCESS_KEY_ID and so on
  recount lake write s3://team/lake --dry-run   what would be written
  recount lake write /srv/lake --texts       what was said, too

The months of the tables that have changed are written, then a manifest that names all files:
until then a reader sees what was there before. What is missing in the lake is written again.
Every text has its secrets replaced, the titles of tools and the paths of files as well.")]
pub struct WriteArgs {
    /// The lake: a folder or a URL
    url: String,

    #[command(flatten)]
    content: ContentArgs,

    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
}

/// Writes what is new.
pub fn run(args: &WriteArgs, run: &mut Run) -> Result<Answer, CliError> {
    bring_all(run)?;
    let tables = run.recount.open_tables()?;
    let state = tables.state().map_err(StoreError::from)?;
    let intent = if args.dry_run { Intent::Read } else { Intent::Write };
    let place = open(&args.url, intent)?;
    let (writer, mut dress) = (writer(&args.content, run), Dress::new(&args.content));
    let changed = tables.changed().map_err(StoreError::from)?;
    let changed = changed.into_iter().filter(|changed| dress.has(changed.table)).map(|changed| {
        Changed { table: changed.table, month: changed.month, at: changed.at.unsigned_abs() }
    });
    let content = content(&args.content, &state);
    let plan = Plan::new(&place, writer.clone(), content, changed.collect());
    let plan = plan.map_err(LakeError::Lake)?;
    for path in &plan.missing {
        run.talk.note(format!("{path} was missing or cut off, and is written again"));
    }
    if args.dry_run || plan.is_empty() {
        return tell(&plan, args.dry_run, run);
    }
    let (fresh, kept) = (plan.fresh.len(), plan.kept.len());
    let mut source = Rows { tables: &tables, dress: &mut dress, writer: &writer };
    let manifest =
        plan.write(&place, &mut source, run.recount.clock.time().0).map_err(LakeError::Lake)?;
    if dress.replaced > 0 {
        run.talk.note(format!("{} with secrets replaced", counted(dress.replaced, "value")));
    }
    if run.json {
        run.out.json(&wire::LakeWritten::new(&manifest, fresh))?;
        return Ok(Answer::Found);
    }
    run.out.line(&format!(
        "{} written, {} carried over: {}, {}",
        counted(fresh, "month"),
        counted(kept, "month"),
        counted(manifest.rows() as usize, "row"),
        size(manifest.bytes())
    ))?;
    Ok(Answer::Found)
}

/// Everything that is new goes into the store first, however much it is: nobody waits for an answer.
fn bring_all(run: &mut Run) -> Result<(), CliError> {
    let store = run.recount.store()?;
    if is_imported(&store)? {
        return Err(LakeError::Imported(store.folder().into()).into());
    }
    match run.recount.sync_store(&store, Options::new(run.recount.clock.time()))? {
        // Another process does it, and the next write has it.
        Ok(_) | Err(SyncError::Locked) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn writer(args: &ContentArgs, run: &Run) -> Writer {
    let origin = run.recount.origin();
    Writer {
        host: args.host.clone().unwrap_or(origin.host),
        user: args.user.clone().unwrap_or(origin.user),
    }
}

fn content(args: &ContentArgs, state: &State) -> Content {
    Content {
        schema: VERSION,
        texts: args.texts,
        redacted: !args.no_redact,
        source: state.begun.to_string(),
        counter: state.count.unsigned_abs(),
    }
}

fn tell(plan: &Plan, is_dry: bool, run: &mut Run) -> Result<Answer, CliError> {
    if run.json {
        run.out.json(&wire::LakePlan::from(plan))?;
    } else if plan.is_empty() {
        run.out.line("Nothing new: the lake has everything")?;
    } else if is_dry {
        for changed in &plan.fresh {
            run.out.line(&format!("{} {}", changed.month, changed.table.name))?;
        }
        let (fresh, kept) = (counted(plan.fresh.len(), "month"), counted(plan.kept.len(), "month"));
        run.out.line(&format!("{fresh} of tables would be written, {kept} carried over"))?;
    }
    Ok(Answer::Found)
}

/// The tables of the store, as they may leave.
struct Rows<'a> {
    tables: &'a Tables,
    dress: &'a mut Dress,
    writer: &'a Writer,
}

impl Source for Rows<'_> {
    fn rows(
        &mut self,
        table: &'static Table,
        month: &str,
        each: &mut dyn FnMut(Row) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut failed = None;
        let Self { tables, dress, writer: Writer { host, user } } = self;
        let read = tables.rows(table, Some(month), dress.texts(), |row| {
            match each(dress.row(table, row, host, user)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        read.map_err(|error| Failed::Source(Box::new(error)))?;
        failed.map_or(Ok(()), Err)
    }
}
