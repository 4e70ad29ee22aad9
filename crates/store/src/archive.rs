//! The archive.
mod hash;
pub mod pack;
mod strip;

pub use hash::Hash;
