//! Texts by what they mean: vectors of all-MiniLM-L6-v2, computed here and kept beside the index.
//!
//! The model is installed by the person and otherwise absent; everything works without it. Its
//! two files lie in the store as they were published and are known by their checksums, so that a
//! vector of one computer is a vector of any other.

mod chunk;
mod forward;
mod install;
mod keep;
mod piece;
mod scan;
mod weights;

use std::path::{Path, PathBuf};

use forward::Network;
pub use forward::WIDTH;
pub use install::{InstallError, Installed, SOURCE, install, installed, remove};
pub use keep::{Progress, update};
use piece::Pieces;
pub use scan::{Near, Vectors};
use weights::Weights;

/// The longest text that the model takes, in pieces of words.
const LONGEST: usize = 256;

/// The folder of the model in the store's folder.
const FOLDER: &str = "model";
/// Its files.
const WEIGHTS: &str = "model.safetensors";
const WORDS: &str = "vocab.txt";

/// The model, ready for use.
pub struct Model {
    pieces: Pieces,
    network: Network,
}

/// Where the model's files are, or would be.
pub fn folder(store: &Path) -> PathBuf {
    store.join(FOLDER)
}

impl Model {
    /// The model that is installed in the store's folder; `None` if there is none that can be
    /// read. Good for a question: its layers are read one by one as they are needed.
    pub fn open(store: &Path) -> Option<Self> {
        let folder = folder(store);
        let pieces = Pieces::of(&std::fs::read_to_string(folder.join(WORDS)).ok()?)?;
        let network = Network::read(Weights::open(&folder.join(WEIGHTS))?)?;
        Some(Self { pieces, network })
    }

    /// The same with all of it in memory: for many texts.
    pub fn open_whole(store: &Path) -> Option<Self> {
        let model = Self::open(store)?;
        Some(Self { network: model.network.whole()?, ..model })
    }

    /// The vectors of texts, each of length 1; what is behind the first 256 pieces of a text does
    /// not count. `None` if the model's files can't be read any more.
    pub fn vectors(&self, texts: &[&str]) -> Option<Vec<Vec<f32>>> {
        let texts: Vec<Vec<u32>> =
            texts.iter().map(|text| self.pieces.of_text(text, LONGEST)).collect();
        self.network.vectors(&texts)
    }
}

#[cfg(test)]
mod tests;
