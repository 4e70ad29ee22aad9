//! Which messages of a debug log are asked for.

use transcript::side::debug::DebugLine;

/// Which messages. An empty list asks for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one of these levels, case ignored.
    pub levels: Vec<String>,
    /// Of one of these categories, case ignored.
    pub categories: Vec<String>,
    /// With this text in them, case ignored.
    pub text: Option<String>,
}

impl Filter {
    /// Whether a message is asked for.
    pub fn matches(&self, line: &DebugLine<'_>) -> bool {
        is_one_of(&self.levels, line.level.as_deref())
            && is_one_of(&self.categories, line.category.as_deref())
            && self.has_text(&line.text)
    }

    fn has_text(&self, text: &str) -> bool {
        let Some(wanted) = &self.text else {
            return true;
        };
        text.contains(wanted.as_str()) || text.to_lowercase().contains(&wanted.to_lowercase())
    }
}

fn is_one_of(wanted: &[String], word: Option<&str>) -> bool {
    let is = |word: &str| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(word));
    wanted.is_empty() || word.is_some_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::side::debug;

    const LOG: &str = "\
2025-12-07T04:17:24.497Z [DEBUG] Watching for changes
2025-12-07T04:17:24.544Z [DEBUG] [LSP MANAGER] Created
2025-12-07T04:17:25.000Z [ERROR] Tool Edit failed
";

    fn check(filter: Filter, want: &[&str]) {
        let (lines, _) = debug::parse(LOG.as_bytes());
        let got: Vec<_> =
            lines.iter().filter(|line| filter.matches(line)).map(|line| &*line.text).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn filters_hold_together() {
        let all = ["Watching for changes", "Created", "Tool Edit failed"];
        check(Filter::default(), &all);
        let levels = vec!["error".to_owned()];
        check(Filter { levels: levels.clone(), ..Filter::default() }, &all[2..]);
        let categories = vec!["lsp manager".to_owned()];
        check(Filter { categories: categories.clone(), ..Filter::default() }, &all[1..2]);
        check(Filter { levels, categories, text: None }, &[]);
        check(Filter { text: Some("EDIT".into()), ..Filter::default() }, &all[2..]);
    }
}
