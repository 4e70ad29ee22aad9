//! The reference of the tables, from the schema that they are made from.

use store::table::schema::{TABLES, VERSION};
use store::table::{Column, Kind, Table};

/// Where it is written to.
pub const PAGE: &str = "docs/reference/tables.md";

const HEAD: &str = "\
# Tables

<!-- Written by `cargo xtask docs` from crates/store/src/table/schema.rs. -->

What `recount sql` answers from, and what a lake holds.

Each row stands once, also if several files hold what it is made from. Rows of a session are joined by `session`, rows of one of its files by `session` and `agent`, rows of an entry by `entry` in addition, rows of a turn by `session` and `turn`; where the history of several computers is laid together, by `host` and `user` too. Costs are whole millionths of a dollar. Times are in UTC: in SQLite texts like `2026-11-16 21:54:37.000`, in a lake timestamps with milliseconds. True and false are 1 and 0 in SQLite.

Columns with *text* hold what somebody wrote, or an id that nothing is joined by: a lake has them only if texts are asked for.
";

/// The page.
pub fn page() -> String {
    let mut page = format!("{HEAD}\nThis is version {VERSION} of the tables.\n");
    TABLES.iter().for_each(|table| section(&mut page, table));
    page
}

fn section(page: &mut String, table: &Table) {
    let key: Vec<String> = table.key.iter().map(|name| format!("`{name}`")).collect();
    *page += &format!(
        "\n## {}\n\n{} A row is named by {}.\n\n| column | kind | what |\n|---|---|---|\n",
        table.name,
        table.about,
        key.join(", ")
    );
    for column in table.columns {
        let about = column.about.replace('|', "\\|");
        *page += &format!("| `{}` | {} | {about} |\n", column.name, kind(column));
    }
}

fn kind(column: &Column) -> String {
    let kind = match column.kind {
        Kind::Text => "text",
        Kind::Integer => "integer",
        Kind::Boolean => "boolean",
        Kind::Time => "time",
    };
    let null = if column.is_optional { " or NULL" } else { "" };
    let text = if column.is_text { ", *text*" } else { "" };
    format!("{kind}{null}{text}")
}
