//! Everything that knows about a terminal: safe text, tables, colours, pager, progress.

pub mod diff;
pub mod output;
pub mod pager;
pub mod progress;
pub mod prose;
pub mod redacted;
pub mod safe;
pub mod style;
pub mod table;

pub use report::format;
