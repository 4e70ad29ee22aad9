//! Whole homes made from a seed.
//!
//! The same [`Spec`] gives the same bytes for ever; the big shapes are written
//! as they are made and never held in memory.

use std::io;
use std::path::Path;

use crate::truth::Truth;

mod big;
pub mod book;
mod demo;
mod hard;
mod pool;

/// What kind of home to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Half the bytes like a home full of screenshots and documents, half like
    /// one full of progress lines.
    Seeds,
    /// Much text, small lines, no base64.
    Lean,
    /// Very many very small sessions.
    ManySmall,
    /// One session of nearly all the bytes.
    OneHuge,
    /// Every hard case once; its size does not follow `bytes`.
    Hard,
    /// A pleasant small sample; its size does not follow `bytes`.
    Demo,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 6] =
        [Shape::Seeds, Shape::Lean, Shape::ManySmall, Shape::OneHuge, Shape::Hard, Shape::Demo];

    /// The word used for it on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Seeds => "seeds",
            Shape::Lean => "lean",
            Shape::ManySmall => "many",
            Shape::OneHuge => "huge",
            Shape::Hard => "hard",
            Shape::Demo => "demo",
        }
    }

    /// The shape of that name.
    pub fn parse(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.name() == name)
    }
}

/// Everything that decides about the bytes of a home.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Begins the generator.
    pub seed: u64,
    /// Kind of home.
    pub shape: Shape,
    /// Wanted size; within 10 % for the big shapes of at least some megabytes.
    pub bytes: u64,
}

/// Makes a home in `dir` (which should be empty) and says what is in it.
pub fn make(spec: &Spec, dir: &Path) -> io::Result<Truth> {
    let mut book = book::Book::new(dir, spec.seed, spec.shape.name());
    match spec.shape {
        Shape::Seeds => big::seeds(&mut book, spec.bytes)?,
        Shape::Lean => big::lean(&mut book, spec.bytes)?,
        Shape::ManySmall => big::many_small(&mut book, spec.bytes)?,
        Shape::OneHuge => big::one_huge(&mut book, spec.bytes)?,
        Shape::Hard => hard::make(&mut book)?,
        Shape::Demo => demo::make(&mut book)?,
    }
    Ok(book.close())
}
