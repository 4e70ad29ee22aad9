//! `model status --json`.

use serde::Serialize;

/// One line: the model, and what has been made with it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "model")]
pub struct ModelStatus {
    /// The model's name.
    pub name: &'static str,
    /// Whether it is installed.
    pub installed: bool,
    /// Where it is, or would be.
    pub folder: String,
    /// What it takes on disk, in bytes.
    pub bytes: u64,
    /// How many vectors there are.
    pub vectors: u64,
    /// Of how many transcripts.
    pub transcripts: u64,
}
