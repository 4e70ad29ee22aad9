//! Sessions as HTML: the same for the served page and for exported files.
//!
//! A session is a document with margins, not a chat. Everything folds with `details`, so that it
//! works without code, and the browser's own search opens what it finds.

pub mod ansi;
pub mod call;
pub mod chart;
pub mod code;
pub mod diff;
pub mod document;
pub mod frame;
pub mod highlight;
mod listing;
pub mod outline;
pub mod record;
pub mod session;
mod todos;
mod work;

use jiff::tz::TimeZone;
use transcript::time::Time;
use transcript::tool::Action;

pub use frame::Place;

use crate::html::{Html, Open};
use transcript::record::{Detail, Record};

/// How records are shown.
#[derive(Debug, Clone)]
pub struct Style {
    /// How much.
    pub detail: Detail,
    /// In which zone times are shown.
    pub zone: TimeZone,
    /// The folder that the session works in: paths in it are shown without it.
    pub cwd: Option<String>,
    /// What stands before the numbers of entries in the page: entries of subagents have the same
    /// numbers as those of the session.
    pub prefix: String,
    /// Where pictures and raw entries are had from.
    pub source: Source,
}

/// Where the page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Served: more can be asked for.
    Served {
        /// The session.
        session: String,
        /// The subagent of it.
        agent: Option<String>,
    },
    /// In a file: what is not in it is not to be had.
    File {
        /// Whether pictures are in it.
        has_pictures: bool,
    },
}

impl Style {
    /// The id of an entry in the page.
    pub fn id(&self, number: Option<u32>, offset: u64) -> String {
        match number {
            Some(number) => format!("{}e{number}", self.prefix),
            None => format!("{}b{offset}", self.prefix),
        }
    }

    /// Says whose element it is: the id that links lead to, the number of the entry, and the
    /// subagent, in whose file entries are numbered anew.
    fn identify<'h>(&self, open: Open<'h>, record: &Record) -> Open<'h> {
        let open = open.attr("id", &self.id(record.number, record.offset));
        let open = match record.number {
            Some(number) => open.show("data-entry", number),
            None => open,
        };
        match self.prefix.strip_suffix('-') {
            Some(agent) => open.attr("data-agent", agent),
            None => open,
        }
    }

    /// A path without the folder that the session works in.
    pub fn short<'a>(&self, path: &'a str) -> &'a str {
        let inside = |cwd: &String| path.strip_prefix(cwd.as_str())?.strip_prefix(['/', '\\']);
        self.cwd.as_ref().and_then(inside).filter(|rest| !rest.is_empty()).unwrap_or(path)
    }

    /// Hour and minute.
    pub fn time(&self, html: &mut Html, time: Option<Time>) {
        let Some(at) = time.and_then(|time| jiff::Timestamp::from_millisecond(time.0).ok()) else {
            return;
        };
        let here = at.to_zoned(self.zone.clone());
        let open = html.tag("time");
        let open = match self.source {
            Source::Served { .. } => open.attr("datetime", &format!("{at:.3}")),
            Source::File { .. } => open,
        };
        let open = open.attr("title", &here.strftime("%Y-%m-%d %H:%M:%S").to_string());
        open.text(&here.strftime("%H:%M").to_string());
    }

    /// The day of a time.
    pub fn day(&self, time: Time) -> Option<String> {
        let at = jiff::Timestamp::from_millisecond(time.0).ok()?;
        Some(at.to_zoned(self.zone.clone()).strftime("%A, %e %B %Y").to_string())
    }
}

/// The class of a kind of action.
pub fn class(action: Action) -> &'static str {
    match action {
        Action::Read => "read",
        Action::Edit => "edit",
        Action::Run => "run",
        Action::Agent => "agent",
        Action::Web => "web",
        Action::Plan => "plan",
        Action::Other => "other",
    }
}

/// The glyph of a kind of action: colour is never alone.
pub fn glyph(html: &mut Html, action: Action) {
    html.asset(match action {
        Action::Read => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><path d="M1 8s3-5 7-5 7 5 7 5-3 5-7 5-7-5-7-5z"/><circle cx="8" cy="8" r="2"/></svg>"#,
        Action::Edit => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 14l1-4 8-8 3 3-8 8z"/></svg>"#,
        Action::Run => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4l4 4-4 4M8 12h6"/></svg>"#,
        Action::Agent => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="4" r="2"/><circle cx="4" cy="12" r="2"/><circle cx="12" cy="12" r="2"/><path d="M8 6v2M8 8l-3 2M8 8l3 2"/></svg>"#,
        Action::Web => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c3 4 3 8 0 12M8 2c-3 4-3 8 0 12"/></svg>"#,
        Action::Plan => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4l1 1 2-2M2 9l1 1 2-2M7 4h7M7 9h7M7 13h7"/></svg>"#,
        Action::Other => r#"<svg class="g" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5"/></svg>"#,
    });
}

/// The word for a language, from a fence or the end of a file's name: one of those that are known,
/// or none.
pub fn language(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "rs" | "rust" => "rust",
        "py" | "python" | "pyi" => "python",
        "js" | "mjs" | "cjs" | "jsx" | "javascript" => "javascript",
        "ts" | "tsx" | "mts" | "typescript" => "typescript",
        "sh" | "bash" | "zsh" | "fish" | "shell" | "console" => "shell",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" | "c++" => "cpp",
        "cs" | "csharp" => "csharp",
        "css" | "scss" | "less" => "css",
        "dart" => "dart",
        "dockerfile" => "dockerfile",
        "ex" | "exs" | "elixir" => "elixir",
        "go" => "go",
        "hs" | "haskell" => "haskell",
        "html" | "htm" => "html",
        "java" => "java",
        "json" | "jsonl" | "json5" => "json",
        "kt" | "kts" | "kotlin" => "kotlin",
        "lua" => "lua",
        "make" | "makefile" | "mk" => "make",
        "nix" => "nix",
        "php" => "php",
        "pl" | "perl" => "perl",
        "r" => "r",
        "rb" | "ruby" => "ruby",
        "scala" => "scala",
        "sql" => "sql",
        "svelte" => "svelte",
        "swift" => "swift",
        "toml" => "toml",
        "vue" => "vue",
        "xml" | "svg" => "xml",
        "yaml" | "yml" => "yaml",
        "zig" => "zig",
        _ => "",
    }
}

/// The language of a file by its name.
pub fn language_of(path: &str) -> &'static str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, end)) => language(end),
        None => language(name),
    }
}

#[cfg(test)]
mod tests;
