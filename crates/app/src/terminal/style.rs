//! The colours: only the 16 of the terminal's own theme, and each with a meaning.

use anstyle::{AnsiColor, Style};

/// What was looked for.
pub const MATCH: Style = AnsiColor::Red.on_default().bold();
/// Text as it is.
pub const PLAIN: Style = Style::new();
/// The head of a table or of a part.
pub const HEAD: Style = Style::new().bold();
/// What may be overlooked.
pub const DIM: Style = Style::new().dimmed();
/// A session, or another thing that can be named in a command.
pub const NAME: Style = AnsiColor::Yellow.on_default();
/// A project.
pub const PROJECT: Style = AnsiColor::Cyan.on_default();
/// Done.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Under way, or a warning.
pub const ACTIVE: Style = AnsiColor::Yellow.on_default();
/// Failed.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Code in prose.
pub const CODE: Style = AnsiColor::Cyan.on_default();
/// What a person said.
pub const PERSON: Style = AnsiColor::Cyan.on_default().bold();
/// Files are looked at.
pub const READ: Style = AnsiColor::Blue.on_default();
/// A subagent works.
pub const AGENT: Style = AnsiColor::Magenta.on_default();

/// Safe text in a style.
pub fn paint(style: Style, safe: &str) -> String {
    format!("{style}{safe}{style:#}")
}
