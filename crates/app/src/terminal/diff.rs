//! What changes in a text, line by line.

use report::diff::{ChangeTag, Diff};

use super::safe;
use super::style::{self, paint};

/// The lines that change, with a few around them.
pub fn lines(before: &str, after: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, hunk) in Diff::of_lines(before, after).hunks(2).iter().enumerate() {
        if number > 0 {
            lines.push("  …".to_owned());
        }
        for line in hunk {
            let text = safe::text(line.value());
            let text = text.trim_end_matches('\n');
            lines.push(match line.tag() {
                ChangeTag::Insert => paint(style::GOOD, &format!("+ {text}")),
                ChangeTag::Delete => paint(style::BAD, &format!("- {text}")),
                ChangeTag::Equal => format!("  {text}"),
            });
        }
    }
    lines
}

/// The same as programs read it.
pub fn unified(before: &str, after: &str) -> String {
    Diff::of_lines(before, after).unified()
}
