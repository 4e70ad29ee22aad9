//! Where an export goes.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use report::page::document;

use crate::commands::restore::is_there;
use crate::error::{CliError, ExportError};
use crate::run::Run;

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A page
    Html,
    /// Markdown
    Markdown,
    /// The records, as `recount show --json` has them
    Json,
    /// The lines as they stand in the files
    Jsonl,
}

impl Format {
    /// The form that a path asks for.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Self::Html),
            "md" | "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            "jsonl" => Some(Self::Jsonl),
            _ => None,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    /// The end of its files' names.
    pub fn end(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            other => other.name(),
        }
    }
}

/// A place to write to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The file or folder.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether what is there may be replaced.
    pub force: bool,
}

impl Target {
    /// The place, if it may be written to.
    pub fn new(
        run: &mut Run,
        to: &Path,
        wants_folder: bool,
        force: bool,
    ) -> Result<Self, CliError> {
        let path = std::path::absolute(to).map_err(|error| failed(to, error))?;
        let store = run.recount.store()?;
        if run.recount.is_below_claude(&path, Some(store.folder())) {
            return Err(ExportError::Below(path).into());
        }
        let is_folder = wants_folder || path.is_dir() || ends_in_separator(to);
        let target = Self { path, is_folder, force };
        match (is_folder, wants_folder) {
            // One session goes into a folder under its own name, which is looked at later.
            (true, false) => {}
            (true, true) if force || is_free(&target.path) => {}
            (false, _) if force || !is_there(&target.path) => {}
            _ => return Err(ExportError::Exists(target.path).into()),
        }
        Ok(target)
    }

    /// Writes a file of the export, whole or not at all; how many bytes.
    pub fn write(
        &self,
        path: &Path,
        content: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
    ) -> Result<u64, CliError> {
        let fail = |error| failed(path, error);
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).map_err(fail)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".recount-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let new = builder.tempfile_in(folder).map_err(fail)?;
        let mut out = BufWriter::with_capacity(1 << 18, new);
        content(&mut out).map_err(|error| match error {
            // The only thing that is written to.
            CliError::Output(error) => failed(path, error),
            other => other,
        })?;
        let new = out.into_inner().map_err(|error| fail(error.into_error()))?;
        let length = new.as_file().metadata().map_err(fail)?.len();
        let moved = match self.force {
            true => new.persist(path).map_err(|error| error.error),
            false => new.persist_noclobber(path).map_err(|error| error.error),
        };
        match moved {
            Ok(_) => Ok(length),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ExportError::Exists(path.into()).into())
            }
            Err(error) => Err(fail(error)),
        }
    }

    /// Writes the styles, and the code where pages have any, beside pages.
    pub fn assets(&self, folder: &Path, has_code: bool) -> Result<(), CliError> {
        // The same in every export: there is nothing to lose.
        let always = Self { force: true, ..self.clone() };
        let write = |name: &str, text: &str| {
            always.write(&folder.join(name), |out| Ok(out.write_all(text.as_bytes())?))
        };
        write("page.css", document::STYLES)?;
        if has_code {
            write("page.js", document::joined_script())?;
        }
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> CliError {
    ExportError::Write { path: path.into(), error }.into()
}

fn ends_in_separator(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

/// Whether nothing is there, or an empty folder.
fn is_free(path: &Path) -> bool {
    !is_there(path) || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// A name as that of a file, whatever somebody put into it.
pub fn file_name(name: &str) -> String {
    const LONGEST: usize = 80;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String =
        name.chars().take(LONGEST).map(|c| if is_plain(c) { c } else { '_' }).collect();
    match name.trim_start_matches('.') {
        "" => "session".into(),
        name => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sessions_become_names_of_files() {
        for (name, want) in [
            ("3f2a91c0-1", "3f2a91c0-1"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("", "session"),
            ("..", "session"),
            ("a/b\\c:d\0", "a_b_c_d_"),
        ] {
            assert_eq!(file_name(name), want);
        }
    }

    #[test]
    fn the_end_of_a_path_asks_for_a_form() {
        assert_eq!(Format::of(Path::new("a/b.html")), Some(Format::Html));
        assert_eq!(Format::of(Path::new("b.md")), Some(Format::Markdown));
        assert_eq!(Format::of(Path::new("b.jsonl")), Some(Format::Jsonl));
        assert_eq!(Format::of(Path::new("folder")), None);
    }
}
