//! What recount keeps of the files that Claude Code deletes.
//!
//! Three layers, each made from the one before: the **archive** holds every byte ever seen and is
//! the only one that can't be made again; the **catalog** holds what the files say, so that a
//! question does not read them again; the **index** finds words. Nothing here knows the home
//! folder, the environment or the clock; times are handed in.

pub mod archive;
pub mod catalog;
pub mod find;
pub mod folder;
pub mod history;
pub mod index;
pub mod meaning;
pub mod note;
pub mod query;
pub mod sync;
pub mod table;
pub mod text;
pub mod token;
