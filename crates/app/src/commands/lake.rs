//! `recount lake`: the tables of many computers as Parquet, in a folder or an object store.

mod dress;
mod read;
mod rows;
mod write;

use lake::Schema;
use lake::compact::Leftovers;
use lake::manifest::{Manifest, Manifests};
use lake::place::{Intent, Place};
use lake::verify::{Verdict, verify};
use store::table::schema::{TABLES, VERSION};
use transcript::time::Time;

use crate::error::{Answer, CliError, LakeError};
use crate::run::Run;
use crate::terminal::format::{count, counted, size};
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::terminal::table::{Cell, Column, Table};
use crate::wire::lake as wire;

/// The tables that we write and read.
const SCHEMA: Schema = Schema { version: VERSION, tables: TABLES };
/// So many objects are named, the others counted.
const NAMED_MOST: usize = 20;

/// A team's history: the tables of many computers as Parquet, for Spark, DuckDB and others.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  recount lake write s3://team/lake       write what is new, without texts and secrets
  recount lake status s3://team/lake      who has written what
  recount lake verify /srv/lake           read and compare everything
  recount lake read /srv/lake --store team   then `recount sql --store team` asks all of it

A URL is a folder, `s3://`, `gs://` or `az://`. Credentials come from the usual variables:
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL,
GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY."
)]
pub struct LakeArgs {
    #[command(subcommand)]
    command: LakeCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LakeCommand {
    Write(write::WriteArgs),
    Status(StatusArgs),
    Verify(VerifyArgs),
    Compact(CompactArgs),
    Rows(rows::RowsArgs),
    Read(read::ReadArgs),
}

/// Who has written what to a lake.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount lake status /srv/lake           hosts, users, and how much of each
  recount lake status /srv/lake --json    one JSON line for each of them")]
struct StatusArgs {
    /// The lake: a folder or a URL
    url: String,
}

/// Read every file of a lake and compare it with what was written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount lake verify /srv/lake           what is missing or damaged
  recount lake verify /srv/lake --json    one JSON line per fault, then the counts

Nothing is changed. Exit code 2 if anything is wrong; the next `recount lake write` of that
host writes again what is missing or cut off.")]
struct VerifyArgs {
    /// The lake: a folder or a URL
    url: String,
}

/// Take away old manifests, the files that only they name, and what stopped writes have left.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount lake compact /srv/lake --dry-run    what would go
  recount lake compact /srv/lake              take it away

Two manifests of each host stay, and every file that they name; of the others none goes that
is younger than a day, since somebody may be writing or reading it.")]
struct CompactArgs {
    /// The lake: a folder or a URL
    url: String,

    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

/// What goes into a lake.
#[derive(Debug, clap::Args)]
struct ContentArgs {
    /// The name of this computer [default: RECOUNT_HOST, else the system's]
    #[arg(long, value_name = "NAME")]
    host: Option<String>,

    /// Who works on it [default: RECOUNT_USER, else the system's]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// With texts: prompts, answers, inputs and outputs of tools
    #[arg(long)]
    texts: bool,

    /// With all secrets in it
    #[arg(long)]
    no_redact: bool,
}

/// Does what was asked for.
pub fn run(args: &LakeArgs, run: &mut Run) -> Result<Answer, CliError> {
    match &args.command {
        LakeCommand::Write(args) => write::run(args, run),
        LakeCommand::Status(args) => status(args, run),
        LakeCommand::Verify(args) => check(args, run),
        LakeCommand::Compact(args) => compact(args, run),
        LakeCommand::Rows(args) => rows::run(args, run),
        LakeCommand::Read(args) => read::run(args, run),
    }
}

/// The lake at a URL.
fn open(url: &str, intent: Intent) -> Result<Place, CliError> {
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(Place::open(url, &variables, intent).map_err(LakeError::Open)?)
}

/// The manifests of a lake that is one; those that are not whole are warned of.
fn manifests(url: &str, place: &Place, run: &mut Run) -> Result<Manifests, CliError> {
    let manifests = Manifests::read(place, None).map_err(LakeError::Lake)?;
    for (path, _) in &manifests.damaged {
        run.talk.note(format!("{path} is not whole; the manifest before it counts"));
    }
    match manifests.whole.is_empty() {
        true => Err(LakeError::None(url.into()).into()),
        false => Ok(manifests),
    }
}

fn status(args: &StatusArgs, run: &mut Run) -> Result<Answer, CliError> {
    let place = open(&args.url, Intent::Read)?;
    let manifests = manifests(&args.url, &place, run)?;
    if run.json {
        let lines = manifests.newest().map(wire::LakeWriter::from);
        lines.into_iter().try_for_each(|line| run.out.json(&line))?;
        return Ok(Answer::Found);
    }
    let mut table = Table::new(&[
        Column::Left("HOST"),
        Column::Left("USER"),
        Column::Left("WRITTEN"),
        Column::Left("MONTHS"),
        Column::Right("ROWS"),
        Column::Right("SIZE"),
        Column::Left("WHAT"),
    ]);
    for manifest in manifests.newest() {
        table.push([
            Cell::new(style::NAME, &manifest.host),
            Cell::from(&*manifest.user),
            Cell::from(run.recount.clock.near(Time(manifest.written))),
            Cell::from(months(manifest)),
            Cell::from(count(manifest.rows())),
            Cell::from(size(manifest.bytes())),
            Cell::new(style::DIM, &what(manifest)),
        ]);
    }
    run.out.table(&table)?;
    Ok(Answer::Found)
}

fn months(manifest: &Manifest) -> String {
    let months = || manifest.partitions.iter().map(|partition| &*partition.month);
    match (months().min(), months().max()) {
        (Some(first), Some(last)) if first == last => first.into(),
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => String::new(),
    }
}

fn what(manifest: &Manifest) -> String {
    let content = &manifest.content;
    let texts = if content.texts { "with texts" } else { "without texts" };
    let secrets = if content.redacted { "without secrets" } else { "with secrets" };
    let version = match content.schema == VERSION {
        true => String::new(),
        false => format!(", version {} of the tables", content.schema),
    };
    format!("{texts}, {secrets}{version}")
}

fn check(args: &VerifyArgs, run: &mut Run) -> Result<Answer, CliError> {
    let place = open(&args.url, Intent::Read)?;
    let verdict = verify(&place, &SCHEMA).map_err(LakeError::Lake)?;
    if verdict.manifests == 0 && verdict.faults.is_empty() {
        return Err(LakeError::None(args.url.clone()).into());
    }
    match run.json {
        true => {
            for fault in &verdict.faults {
                run.out.json(&wire::LakeFault::from(fault))?;
            }
            run.out.json(&wire::LakeVerified::from(&verdict))?;
        }
        false => show_verdict(&verdict, run)?,
    }
    match verdict.faults.len() {
        0 => Ok(Answer::Found),
        faults => Err(LakeError::Faults { url: args.url.clone(), faults }.into()),
    }
}

fn show_verdict(verdict: &Verdict, run: &mut Run) -> Result<(), CliError> {
    for fault in &verdict.faults {
        let (head, path) = (paint(style::BAD, "fault"), safe::line(&fault.path));
        run.out.line(&format!("{head}  {path} {}", safe::line(&fault.what)))?;
    }
    let foreign = verdict.foreign.iter().take(NAMED_MOST);
    for object in foreign {
        let head = paint(style::DIM, "other");
        run.out.line(&format!("{head}  {} is named by no manifest", safe::line(&object.path)))?;
    }
    let more = verdict.foreign.len().saturating_sub(NAMED_MOST);
    if more > 0 {
        run.out
            .line(&format!("       and {} that no manifest names", counted(more, "more file")))?;
    }
    let well = match verdict.faults.is_empty() {
        true => "all of it as it was written",
        false => "the rest as it was written",
    };
    Ok(run.out.line(&format!(
        "{}, {}, {}, {} read: {well}",
        counted(verdict.manifests, "manifest"),
        counted(verdict.files, "file"),
        counted(verdict.rows as usize, "row"),
        size(verdict.bytes)
    ))?)
}

fn compact(args: &CompactArgs, run: &mut Run) -> Result<Answer, CliError> {
    let place = open(&args.url, Intent::Read)?;
    manifests(&args.url, &place, run)?;
    let left =
        Leftovers::find(&place, &SCHEMA, run.recount.clock.time().0).map_err(LakeError::Lake)?;
    if !args.dry_run {
        left.remove(&place).map_err(LakeError::Lake)?;
    }
    if run.json {
        run.out.json(&wire::LakeCompacted::new(&left, args.dry_run))?;
        return Ok(Answer::Found);
    }
    if left == Leftovers::default() {
        run.out.line("Nothing to take away")?;
        return Ok(Answer::Found);
    }
    let bytes = left.files.iter().map(|file| file.bytes).sum();
    let (would, files) = (if args.dry_run { "would go" } else { "gone" }, left.files.len());
    let manifests = counted(left.manifests.len(), "old manifest");
    let files = counted(files, "file");
    run.out.line(&format!("{manifests} and {files} of {} {would}", size(bytes)))?;
    Ok(Answer::Found)
}
