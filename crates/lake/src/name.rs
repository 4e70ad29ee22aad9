//! Where in a lake what lies.

use std::fmt::Write;

use store::table::Table;

/// The folder of all manifests.
pub const MANIFESTS: &str = "manifest";

/// Who writes: a computer and somebody on it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Writer {
    /// The computer.
    pub host: String,
    /// Who works on it.
    pub user: String,
}

impl Writer {
    /// The folder of its manifests.
    pub fn manifests(&self) -> String {
        format!("{MANIFESTS}/{}/{}", safe(&self.host), safe(&self.user))
    }

    /// The place of one of them.
    pub fn manifest(&self, number: u64) -> String {
        format!("{}/{number:010}.json", self.manifests())
    }

    /// The place of a file with this content.
    pub fn file(&self, table: &Table, month: &str, hash: &str) -> String {
        format!("{}/month={}/host={}/{hash}.parquet", table.name, safe(month), safe(&self.host))
    }
}

/// The number of a manifest, by its place.
pub fn number(path: &str) -> Option<u64> {
    path.rsplit('/').next()?.strip_suffix(".json")?.parse().ok()
}

/// A name as a part of a path, as Hive writes it: whatever may mean something else is escaped.
pub fn safe(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_dots = name.bytes().all(|byte| byte == b'.');
    name.bytes().fold(String::new(), |mut out, byte| {
        match is_plain(byte) && !is_dots {
            true => out.push(char::from(byte)),
            // Nothing can go wrong: the text is in memory.
            false => _ = write!(out, "%{byte:02X}"),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_its_folder() {
        let names = ["anna-laptop.local", "..", "a/b", "x=y z", "größe", ""];
        let safe: Vec<String> = names.iter().map(|name| safe(name)).collect();
        assert_eq!(
            safe,
            ["anna-laptop.local", "%2E%2E", "a%2Fb", "x%3Dy%20z", "gr%C3%B6%C3%9Fe", ""]
        );
    }

    #[test]
    fn manifests_sort_by_number() {
        let writer = Writer { host: "h".into(), user: "u".into() };
        assert_eq!(writer.manifest(7), "manifest/h/u/0000000007.json");
        assert_eq!(number(&writer.manifest(12)), Some(12));
        assert_eq!(number("manifest/h/u/notes.txt"), None);
    }
}
