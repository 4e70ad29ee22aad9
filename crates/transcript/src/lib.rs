//! Claude Code's files: bytes, lines, entries, sessions.
//!
//! Claude Code writes each session as JSON lines, in a format of its own that changes with every
//! release. This crate reads all of it without losing a byte. Content never makes it fail: odd
//! bytes give a value and [diagnostics](diagnostic), unknown types and members are kept.
//!
//! - [`mod@line`]: bytes into lines, each named by its offset
//! - [`entry`]: lines into entries
//! - [`session`]: the entries of one file into a session
//! - [`dialect`]: the formats of assistants behind one trait
//! - [`record`]: what a reader sees of an entry, the way to its words
//! - [`reading`]: one entry, read as far as it is asked
//! - [`call`]: inputs of calls as typed values
//! - [`words`]: the texts of an entry, to be searched or by their place
//! - [`bulk`]: what can be left out of a line
//! - [`tool`]: what the tools do, as data
//! - [`library`]: all files of a Claude folder joined
//! - [`layout`]: which file is what
//! - [`request`]: what was sent to the model, as the client recorded it
//! - [`usage`]: what the responses in one file cost in tokens
//! - [`side`]: everything beside the transcripts
//!
//! There is no clock, environment, terminal or network here, and files are only read.

pub mod bulk;
pub mod call;
pub mod catalog;
pub mod diagnostic;
pub mod dialect;
pub mod doctor;
pub mod entry;
pub mod event;
pub mod file_text;
mod firsts;
pub mod id;
pub mod json;
pub mod kept;
pub mod layout;
pub mod library;
pub mod line;
pub mod parallel;
pub mod path;
pub mod phrase;
pub mod prompt;
pub mod reading;
pub mod record;
pub mod request;
pub mod session;
pub mod side;
pub mod source;
pub mod storage;
pub mod time;
pub mod tool;
pub mod usage;
pub mod words;
