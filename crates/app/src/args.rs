//! The command line: the flags that every command has, and the commands.
//!
//! A command's own flags stand in its file below `commands/`. Every help ends in examples, which
//! a test holds.

use std::ffi::OsString;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use report::filter::{Period, ProjectFilter};

use crate::browse::BrowseArgs;
use crate::commands;
use crate::error::CliError;
use crate::run::Run;
use ask::time_arg::TimeArg;

/// Read, find, count and show everything Claude Code leaves behind.
#[derive(Debug, Parser)]
#[command(
    name = "recount",
    version,
    after_help = "\
Examples:
  recount                       browse all sessions in the terminal
  recount list                  your sessions, last active first
  recount serve --open          all of it in the browser
  recount sync                  keep everything, also what Claude Code will delete
  recount search port in use    where that was said, done or printed
  recount recall why redis      the evidence for a question, quoted
  recount install claude        make it your agent's memory
  recount errors --summary      what fails, and how often
  recount sql --tables          everything as tables, to be asked in SQL
  recount export latest --to session.html   a page to hand on, without secrets
  recount todos --open          what is still to do, over all sessions
  recount history --ghosts      sessions whose transcripts are gone
  recount --demo list           any command on a built-in sample

Exit codes: 0 found, 1 nothing found, 2 error or files that could not be read, 6 answered from a
store that is not up to date (`--wait` prevents that); `wait` has more."
)]
pub struct Args {
    #[command(flatten)]
    pub browse: BrowseArgs,
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The command of a line that was not typed at a terminal.
pub fn command_of<T: Into<OsString> + Clone>(
    line: impl IntoIterator<Item = T>,
) -> Result<Command, clap::Error> {
    let args = Args::try_parse_from(line)?;
    let none = || Args::command().error(ErrorKind::MissingSubcommand, "there is no command");
    args.command.ok_or_else(none)
}

/// Why a command line is none, in one line.
pub fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// The flags of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// A Claude folder; several with commas or by repeating
    /// [default: CLAUDE_CONFIG_DIR, else ~/.claude and ~/.config/claude]
    #[arg(long, global = true, value_name = "DIR", value_delimiter = ',')]
    pub claude_dir: Vec<PathBuf>,

    /// Where recount keeps what it has read
    /// [default: RECOUNT_STORE, else ~/.local/share/recount]
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,

    /// Use a built-in sample in place of your own Claude folder
    #[arg(long, global = true)]
    pub demo: bool,

    /// Print JSON lines
    #[arg(long, global = true)]
    pub json: bool,

    /// When to use colours; `auto` honours NO_COLOR
    /// [default: auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<Color>,

    /// Do not use a pager
    #[arg(long, global = true)]
    pub no_pager: bool,

    /// Replace secrets in what is printed; an export does so by itself
    #[arg(long, global = true)]
    pub redact: bool,

    /// No progress bar and no notes
    #[arg(long, global = true)]
    pub quiet: bool,

    /// Say which folders and how many files were read
    #[arg(long, global = true)]
    pub verbose: bool,

    /// Say how long each step took
    #[arg(long, global = true)]
    pub timings: bool,
}

impl Global {
    /// When to use colours.
    pub fn color(&self) -> ColorChoice {
        self.color.unwrap_or(Color::Auto).into()
    }
}

/// Which projects and which time, for every command that asks for them.
#[derive(Debug, clap::Args)]
pub struct Scope {
    /// Only projects whose path contains this; `.` for this folder
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,

    /// Only since then: a date, `yesterday`, `7d`, `last week`
    #[arg(long, value_name = "TIME")]
    since: Option<TimeArg>,

    /// Only until then
    #[arg(long, value_name = "TIME")]
    until: Option<TimeArg>,
}

impl Scope {
    /// The span of time.
    pub fn period(&self, run: &Run) -> Period {
        run.recount.period_between(self.since.as_ref(), self.until.as_ref())
    }

    /// The projects.
    pub fn project(&self, run: &Run) -> Result<Option<ProjectFilter>, CliError> {
        Ok(run.recount.project_filter(self.project.as_deref())?)
    }
}

/// Whether to wait for a sync, for commands that ask the index.
#[derive(Debug, clap::Args)]
pub struct SyncWait {
    /// Wait until the store is up to date, however long that takes
    #[arg(long)]
    wait: bool,
}

impl SyncWait {
    /// Tells the history whether to wait.
    pub fn apply(&self, run: &mut Run) {
        run.recount.waits_for_sync = self.wait;
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// What a word stands for.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Auto, Self::Always, Self::Never].into_iter().find(|color| color.name() == word)
    }
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::AlwaysAnsi,
            Color::Never => Self::Never,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    List(commands::list::ListArgs),
    Show(commands::show::ShowArgs),
    Context(commands::context::ContextArgs),
    Request(commands::request::RequestArgs),
    Errors(commands::errors::ErrorsArgs),
    Export(commands::export::ExportArgs),
    Doctor(commands::doctor::DoctorArgs),
    Todos(commands::todos::TodosArgs),
    Plans(commands::plans::PlansArgs),
    Log(commands::log::LogArgs),
    History(commands::history::HistoryArgs),
    Tree(commands::tree::TreeArgs),
    Segments(commands::segments::SegmentsArgs),
    File(commands::file::FileArgs),
    Sync(commands::sync::SyncArgs),
    Search(commands::search::SearchArgs),
    Recall(commands::recall::RecallArgs),
    Model(commands::model::ModelArgs),
    Mcp(commands::mcp::McpArgs),
    Hook(commands::hook::HookArgs),
    Note(commands::note::NoteArgs),
    Learn(commands::learn::LearnArgs),
    #[cfg(feature = "lake")]
    Lake(commands::lake::LakeArgs),
    Install(commands::install::InstallArgs),
    Uninstall(commands::install::UninstallArgs),
    Archive(commands::archive::ArchiveArgs),
    Restore(commands::restore::RestoreArgs),
    Find(commands::find::FindArgs),
    Related(commands::related::RelatedArgs),
    Watch(commands::watch::WatchArgs),
    Serve(commands::serve::ServeArgs),
    Usage(commands::usage::UsageArgs),
    Prices(commands::prices::PricesArgs),
    Sql(commands::sql::SqlArgs),
    Storage(commands::storage::StorageArgs),
    Clean(commands::clean::CleanArgs),
    Statusline(commands::statusline::StatuslineArgs),
    Time(commands::time::TimeArgs),
    Tools(commands::tools::ToolsArgs),
    Wait(commands::wait::WaitArgs),
    Rename(commands::rename::RenameArgs),
    Tag(commands::rename::TagArgs),
    Config(commands::config::ConfigArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }
}
