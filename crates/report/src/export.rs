//! Sessions as files to keep and to hand on: a page in one file, pages without code, Markdown.
//!
//! Nothing is opened or written here: records and texts come in, text goes out. What can't be in
//! an export is counted, and stands in its footer.

pub mod cover;
pub mod index;
pub mod markdown;
pub mod pack;
pub mod plain;
pub mod tally;

#[cfg(test)]
mod tests;
