//! `install --json` and `uninstall --json`.

use serde::Serialize;

/// One line: a file of Claude Code's settings.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "installed_file")]
pub struct InstalledFile {
    /// The file.
    pub path: String,
    /// `created`, `changed`, `removed`, `same` (nothing was to be done) or `planned` (with `--dry-run`).
    pub outcome: &'static str,
    /// Where the file is kept as it was; `null` where nothing was written over.
    pub backup: Option<String>,
    /// What changed, as a unified diff.
    pub diff: String,
}
