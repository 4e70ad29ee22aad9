//! What changes in a text, line by line.

use similar::{ChangeTag, TextDiff};

use super::safe;
use super::style::{self, paint};

/// The lines that change, with a few around them.
pub fn lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (number, group) in diff.grouped_ops(2).iter().enumerate() {
        if number > 0 {
            lines.push("  …".to_owned());
        }
        for line in group.iter().flat_map(|op| diff.iter_changes(op)) {
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
    TextDiff::from_lines(before, after).unified_diff().to_string()
}
