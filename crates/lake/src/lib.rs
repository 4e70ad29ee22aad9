//! A lake: the tables of many computers as Parquet files, in a folder or an object store.
//!
//! Each host writes files of its own and a manifest that names them; the manifest is written last
//! and only if there is none of its number, so a reader sees all of a write or nothing of it, and
//! hosts never wait for each other. Knows no clock and no environment: both are handed in.

pub mod compact;
pub mod error;
pub mod file;
pub mod manifest;
pub mod name;
pub mod place;
pub mod read;
pub mod verify;
pub mod write;

use store::table::Table;

/// The tables of a lake, and which version of them.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Another number, other columns.
    pub version: u32,
    /// The tables.
    pub tables: &'static [Table],
}

impl Schema {
    /// The table of a name.
    pub fn table(&self, name: &str) -> Option<&'static Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
