//! The questions that can be asked about a history, for every door: the command line, the page,
//! the terminal browser, MCP and hooks.
//!
//! [`Recount`] holds what questions are asked of: Claude folders, the store and the clock. It
//! prints nothing and reads no environment variable; the doors pass those in. What happens while a
//! question is answered (files that could not be read, a store that is behind) is kept as data in
//! [`Observed`].

pub mod error;
pub mod errors;
pub mod file;
mod ghosts;
pub mod home;
pub mod imported;
pub mod ledger;
pub mod list;
pub mod name;
pub mod observed;
pub mod process;
pub mod progress;
pub mod read;
pub mod recall;
mod recount;
pub mod retention;
pub mod running;
pub mod search;
pub mod sessions;
pub mod stored;
pub mod tables;
pub mod time_arg;
pub mod tools;
pub mod usage;

pub use error::{HistoryError, StoreError};
pub use observed::{Freshness, Observed};
pub use recount::{Home, Locations, Recount};
