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

use ndarray::{Array1, Array2, Axis};

use forward::Network;
pub use forward::WIDTH;
pub use install::{InstallError, Installed, SOURCE, install, installed, remove};
pub use keep::{Progress, update};
use piece::Pieces;
pub(crate) use scan::vectors_name;
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

/// A text, and the end of what was said before it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// What is read first, but is not meant.
    pub before: &'a str,
    /// What is meant.
    pub text: &'a str,
}

impl<'a> From<&'a str> for Said<'a> {
    fn from(text: &'a str) -> Self {
        Self { before: "", text }
    }
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
    /// not count. Each is read behind what was said before it, as far as there is room, and is
    /// the mean of its own pieces only. `None` if the model's files can't be read any more.
    pub fn vectors(&self, texts: &[Said<'_>]) -> Option<Vec<Vec<f32>>> {
        let pieces = |said: &Said<'_>| self.pieces.of_text_after(said.before, said.text, LONGEST);
        let (texts, before): (Vec<_>, Vec<_>) = texts.iter().map(pieces).unzip();
        self.network.vectors(&texts, &before)
    }

    /// The vector of a question in parts, each with a weight: the mean of its pieces, weighed so.
    /// Where none has a weight all count alike. `None` if the model's files can't be read any more.
    pub fn question(&self, asked: &[(&str, f32)]) -> Option<Vec<f32>> {
        let (pieces, mut weights) = self.pieces.of_weighed(asked, LONGEST);
        if weights.iter().all(|weight| *weight == 0.0) {
            weights.fill(1.0);
        }
        let units = self.network.units(&[pieces])?.pop()?;
        Some(forward::unit(Array1::from(weights).dot(&units)).to_vec())
    }

    /// How closely each text speaks of what was asked, at most 1: for each word of the question
    /// how near the nearest word of the text is, both as they stand among others, weighed as
    /// given. A vector of a whole text is a mean of these; here a single word can tell. `None` if
    /// the model's files can't be read any more.
    pub fn closeness(&self, asked: &[(&str, f32)], texts: &[&str]) -> Option<Vec<f32>> {
        let (pieces, weights) = self.pieces.of_weighed(asked, LONGEST);
        let texts = texts.iter().map(|text| self.pieces.of_text(text, LONGEST));
        let all: Vec<Vec<u32>> = [pieces].into_iter().chain(texts).collect();
        let units = self.network.units(&all)?;
        let (asked, texts) = units.split_first()?;
        let close = |text: &Array2<f32>| {
            let cosines = asked.dot(&text.t());
            let most = cosines.axis_iter(Axis(0)).map(|row| row.fold(-1.0, |a: f32, b| a.max(*b)));
            most.zip(&weights).map(|(cosine, weight)| cosine * weight).sum()
        };
        Some(texts.iter().map(close).collect())
    }
}

#[cfg(test)]
mod tests;
