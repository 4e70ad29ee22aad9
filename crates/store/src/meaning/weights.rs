//! The numbers of the model, from a `safetensors` file: a header of JSON that says where each
//! tensor stands, and the tensors.

use std::path::Path;

use hashbrown::HashMap;
use ndarray::Array2;
use serde::Deserialize;
use transcript::source::Source;

/// No header is longer.
const HEADER_MOST: u64 = 1 << 20;

#[derive(Deserialize)]
struct Place {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// An open file of tensors.
pub(super) struct Weights {
    source: Source,
    places: HashMap<String, Place>,
    /// Where the tensors begin.
    begin: u64,
}

impl Weights {
    /// `None` if it is no such file.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let source = Source::open(path).ok()?;
        let length = u64::from_le_bytes(source.bytes(0, 8).ok()?.try_into().ok()?);
        let header = source.bytes(8, length.min(HEADER_MOST) as usize).ok()?;
        let all: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&header).ok()?;
        let places = all
            .into_iter()
            .filter_map(|(name, value)| Some((name, serde_json::from_value::<Place>(value).ok()?)));
        Some(Self { places: places.collect(), source, begin: 8 + length })
    }

    fn place(&self, name: &str, shape: &[usize]) -> Option<u64> {
        let place = self.places.get(name)?;
        let bytes = 4 * shape.iter().product::<usize>() as u64;
        let (start, end) = place.data_offsets;
        let is_whole = end.checked_sub(start) == Some(bytes);
        let is_right = place.dtype == "F32" && place.shape == shape && is_whole;
        is_right.then_some(self.begin + start)
    }

    /// A list of numbers.
    pub(super) fn list(&self, name: &str, length: usize) -> Option<Vec<f32>> {
        numbers(&self.source, self.place(name, &[length])?, length)
    }

    /// A matrix.
    pub(super) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Option<Array2<f32>> {
        let place = self.place(name, &[rows, columns])?;
        let all = numbers(&self.source, place, rows * columns)?;
        Array2::from_shape_vec((rows, columns), all).ok()
    }

    /// One row of a matrix that is too large to be read for it.
    pub(super) fn row(
        &self,
        name: &str,
        (rows, columns): (usize, usize),
        row: usize,
    ) -> Option<Vec<f32>> {
        let place = self.place(name, &[rows, columns])?;
        let offset = place + 4 * (row * columns) as u64;
        numbers(&self.source, offset, columns).filter(|_| row < rows)
    }
}

fn numbers(source: &Source, offset: u64, length: usize) -> Option<Vec<f32>> {
    let bytes = source.bytes(offset, 4 * length).ok()?;
    let (all, _) = bytes.as_chunks::<4>();
    (all.len() == length).then(|| all.iter().map(|number| f32::from_le_bytes(*number)).collect())
}
