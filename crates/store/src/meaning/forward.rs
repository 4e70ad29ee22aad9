//! Pieces of words into a vector: a BERT of six layers, and the mean of what it says.
//!
//! The texts of a batch stand one after the other in one matrix, so that none is padded; only the
//! attention is computed for each text by itself. No engine: the whole pass is these few
//! functions, and the crates that would do it are a hundred packages.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut1, Axis, s};
use rayon::prelude::*;

use super::weights::Weights;

/// Numbers of a vector.
pub const WIDTH: usize = 384;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;
const INNER: usize = 4 * WIDTH;
const WORDS: usize = 30_522;
const PLACES: usize = 512;

/// A matrix and what is added.
struct Dense {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Dense {
    fn read(weights: &Weights, name: &str, (out, input): (usize, usize)) -> Option<Self> {
        let weight = weights.matrix(&format!("{name}.weight"), out, input)?;
        Some(Self { weight, bias: weights.list(&format!("{name}.bias"), out)?.into() })
    }

    fn of(&self, x: &Array2<f32>, out: &mut Array2<f32>) {
        out.assign(&self.bias);
        general_mat_mul(1.0, x, &self.weight.t(), 1.0, out);
    }
}

/// Brings the rows to mean 0 and variance 1, then scales and moves them.
struct Norm {
    scale: Array1<f32>,
    shift: Array1<f32>,
}

impl Norm {
    fn read(weights: &Weights, name: &str) -> Option<Self> {
        let list =
            |end| Some(Array1::from(weights.list(&format!("{name}.LayerNorm.{end}"), WIDTH)?));
        Some(Self { scale: list("weight")?, shift: list("bias")? })
    }

    fn row(&self, mut row: ArrayViewMut1<'_, f32>) {
        let mean = row.sum() / WIDTH as f32;
        row -= mean;
        let variance = row.dot(&row) / WIDTH as f32;
        row /= (variance + 1e-12).sqrt();
        row *= &self.scale;
        row += &self.shift;
    }

    fn rows(&self, x: &mut Array2<f32>) {
        x.axis_iter_mut(Axis(0)).for_each(|row| self.row(row));
    }
}

/// Texts on their way through the layers.
struct Batch {
    /// A row for each piece, text after text.
    x: Array2<f32>,
    lengths: Vec<usize>,
    room: Room,
}

/// What a layer needs on the way, kept for the next: matrices taken anew by each of them cost a
/// third of the time.
struct Room {
    query: Array2<f32>,
    key: Array2<f32>,
    value: Array2<f32>,
    out: Array2<f32>,
    inner: Array2<f32>,
}

impl Batch {
    fn new(x: Array2<f32>, lengths: Vec<usize>) -> Self {
        let rows = |width: usize| Array2::zeros((x.nrows(), width));
        let (query, key, value, out) = (rows(WIDTH), rows(WIDTH), rows(WIDTH), rows(WIDTH));
        let room = Room { query, key, value, out, inner: rows(INNER) };
        Self { x, lengths, room }
    }

    fn texts(&self) -> impl Iterator<Item = Array2<f32>> {
        let mut start = 0;
        self.lengths.iter().map(move |length| {
            start += length;
            self.x.slice(s![start - length..start, ..]).to_owned()
        })
    }
}

struct Layer {
    query: Dense,
    key: Dense,
    value: Dense,
    joined: Dense,
    after_joined: Norm,
    inner: Dense,
    outer: Dense,
    after_outer: Norm,
}

impl Layer {
    fn read(weights: &Weights, number: usize) -> Option<Self> {
        let name = |end: &str| format!("encoder.layer.{number}.{end}");
        let square = |end: &str| Dense::read(weights, &name(end), (WIDTH, WIDTH));
        Some(Self {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            joined: square("attention.output.dense")?,
            after_joined: Norm::read(weights, &name("attention.output"))?,
            inner: Dense::read(weights, &name("intermediate.dense"), (INNER, WIDTH))?,
            outer: Dense::read(weights, &name("output.dense"), (WIDTH, INNER))?,
            after_outer: Norm::read(weights, &name("output"))?,
        })
    }

    fn pass(&self, batch: &mut Batch) {
        self.attention(batch);
        let Batch { x, room, .. } = batch;
        self.joined.of(&room.out, &mut room.query);
        *x += &room.query;
        self.after_joined.rows(x);
        self.inner.of(x, &mut room.inner);
        room.inner.mapv_inplace(gelu);
        self.outer.of(&room.inner, &mut room.out);
        *x += &room.out;
        self.after_outer.rows(x);
    }

    /// What each piece takes from the others of its text.
    fn attention(&self, batch: &mut Batch) {
        let Batch { x, lengths, room } = batch;
        let Room { query, key, value, out, .. } = room;
        self.query.of(x, query);
        self.key.of(x, key);
        self.value.of(x, value);
        let mut start = 0;
        for length in lengths {
            let rows = start..start + *length;
            let mut weights = Array2::zeros((*length, *length));
            for head in 0..HEADS {
                let part = s![rows.clone(), head * HEAD..(head + 1) * HEAD];
                let scale = 1.0 / (HEAD as f32).sqrt();
                general_mat_mul(scale, &query.slice(part), &key.slice(part).t(), 0.0, &mut weights);
                weights.axis_iter_mut(Axis(0)).for_each(softmax);
                let mut out = out.slice_mut(part);
                general_mat_mul(1.0, &weights, &value.slice(part), 0.0, &mut out);
            }
            start += *length;
        }
    }
}

fn softmax(mut row: ArrayViewMut1<'_, f32>) {
    let most = row.fold(f32::MIN, |most, value| most.max(*value));
    row.mapv_inplace(|value| exp(value - most));
    let sum = row.sum();
    row /= sum;
}

/// `e^x` to seven digits, without a branch, so that the compiler takes several at once.
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0) * std::f32::consts::LOG2_E;
    let whole = (x + 0.5).floor();
    let y = (x - whole) * std::f32::consts::LN_2;
    let poly = 1.0
        + y * (1.0
            + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y / 720.0)))));
    poly * f32::from_bits(((whole as i32 + 127) << 23) as u32)
}

/// The error function to seven digits (Abramowitz and Stegun, 7.1.26).
fn erf(x: f32) -> f32 {
    const FACTORS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (1.0 - poly * exp(-x * x)).copysign(x)
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The model.
pub(super) struct Network {
    weights: Weights,
    places: Array2<f32>,
    kind: Array1<f32>,
    first: Norm,
    /// None if each is read when it is needed: forty megabytes less, for one question.
    layers: Option<Vec<Layer>>,
}

impl Network {
    /// Reads what is small; `None` if the file does not hold this model.
    pub(super) fn read(weights: Weights) -> Option<Self> {
        Some(Self {
            layers: None,
            places: weights.matrix("embeddings.position_embeddings.weight", PLACES, WIDTH)?,
            kind: weights.row("embeddings.token_type_embeddings.weight", (2, WIDTH), 0)?.into(),
            first: Norm::read(&weights, "embeddings")?,
            weights,
        })
    }

    /// Reads everything: for many texts.
    pub(super) fn whole(self) -> Option<Self> {
        let layers = (0..LAYERS).into_par_iter().map(|number| Layer::read(&self.weights, number));
        Some(Self { layers: Some(layers.collect::<Option<_>>()?), ..self })
    }

    /// The vectors of texts, each of length 1. So many pieces of each, after the first, are read
    /// but are no part of it. `None` if the file can't be read any more.
    pub(super) fn vectors(&self, texts: &[Vec<u32>], before: &[usize]) -> Option<Vec<Vec<f32>>> {
        let mean = |(rows, before): (Array2<f32>, &usize)| {
            let own = rows.slice(s![1 + before.., ..]).sum_axis(Axis(0));
            unit(&rows.row(0) + &own).to_vec()
        };
        Some(self.rows(texts, texts.len())?.into_iter().zip(before).map(mean).collect())
    }

    /// The vectors of the pieces of texts where they stand, a row of length 1 for each.
    pub(super) fn units(&self, texts: &[Vec<u32>]) -> Option<Vec<Array2<f32>>> {
        let share = texts.len().div_ceil(rayon::current_num_threads());
        let mut all = self.rows(texts, share)?;
        for mut row in all.iter_mut().flat_map(|rows| rows.axis_iter_mut(Axis(0))) {
            row /= length(row.view());
        }
        Some(all)
    }

    /// What the last layer says, of each text a row for each piece. So many texts go through the
    /// layers together, and all batches through one before the next is read.
    fn rows(&self, texts: &[Vec<u32>], batch: usize) -> Option<Vec<Array2<f32>>> {
        let batches = texts.chunks(batch.max(1)).map(|texts| self.begin(texts));
        let mut batches: Vec<Batch> = batches.collect::<Option<_>>()?;
        for number in 0..LAYERS {
            let read;
            let layer = match &self.layers {
                Some(layers) => &layers[number],
                None => {
                    read = Layer::read(&self.weights, number)?;
                    &read
                }
            };
            match &mut batches[..] {
                [one] => layer.pass(one),
                many => many.par_iter_mut().for_each(|batch| layer.pass(batch)),
            }
        }
        Some(batches.iter().flat_map(Batch::texts).collect())
    }

    /// What is known of the pieces before the first layer.
    fn begin(&self, texts: &[Vec<u32>]) -> Option<Batch> {
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut x = Array2::zeros((lengths.iter().sum(), WIDTH));
        let placed = texts.iter().flat_map(|text| text.iter().enumerate());
        for (mut row, (place, word)) in x.axis_iter_mut(Axis(0)).zip(placed) {
            // The table of words is larger than all layers, and of it only these rows are read.
            let name = "embeddings.word_embeddings.weight";
            let word = self.weights.row(name, (WORDS, WIDTH), *word as usize)?;
            row += &ArrayView1::from(&word);
            row += &self.places.row(place);
            row += &self.kind;
            self.first.row(row);
        }
        Some(Batch::new(x, lengths))
    }
}

/// A vector brought to length 1.
pub(super) fn unit(vector: Array1<f32>) -> Array1<f32> {
    let length = length(vector.view());
    vector / length
}

fn length(row: ArrayView1<'_, f32>) -> f32 {
    row.dot(&row).sqrt().max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_what_tables_say() {
        for x in [-20.0, -3.3, -0.5, 0.0, 0.7, 5.0, 20.0f32] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 2e-6, "{x}");
        }
        for (x, want) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-2.0, -0.995_322_3)]
        {
            assert!((erf(x) - want).abs() < 1e-6, "{x}");
        }
        assert!((gelu(1.0) - 0.841_344_7).abs() < 1e-6);
    }
}
