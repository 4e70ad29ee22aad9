//! A regular expression to look for, and where it is wrong.
//!
//! `^` and `$` are the ends of lines and `.` is no newline, as in grep; but a text is looked at
//! as a whole, so `\n` finds the end of a line and a match may go over several.

use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// A pattern that needs more memory than this is refused, and its matcher is slower rather than
/// larger.
const LARGEST: usize = 4 << 20;

/// A regular expression that makes sense.
#[derive(Debug, Clone)]
pub struct Pattern(RegexMatcher);

/// Why a regular expression makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    /// The bytes of it that are wrong.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
}

impl Pattern {
    /// Reads it as it stands: nothing in it is trimmed, quoted or folded.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let mut parser = regex_syntax::ParserBuilder::new();
        // The place of an error is lost once the matcher has made a message of it.
        if let Err(error) = parser.multi_line(true).utf8(false).build().parse(text) {
            return Err(PatternError::of(&error, text));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).size_limit(LARGEST).dfa_size_limit(LARGEST);
        let matcher = builder.build(text);
        matcher
            .map(Self)
            .map_err(|error| PatternError { at: 0..text.len(), message: error.to_string() })
    }

    /// Whether it occurs. A match of no characters is none.
    pub fn is_in(&self, text: &str) -> bool {
        let mut is_in = false;
        self.each(text, |_| {
            is_in = true;
            false
        });
        is_in
    }

    /// The first match and those up to `width` bytes behind it, each at most so long.
    pub(super) fn marks(&self, text: &str, width: usize) -> Vec<(Range<usize>, usize)> {
        let mut marks: Vec<(Range<usize>, usize)> = Vec::new();
        self.each(text, |found| {
            let start = text.floor_char_boundary(found.start);
            let end = text.ceil_char_boundary(found.end);
            let end = text.floor_char_boundary(end.min(start + width.max(4)));
            let first = marks.first().map_or(start, |(first, _)| first.start);
            let overlaps = marks.last().is_some_and(|(last, _)| start < last.end);
            if start <= first + width && !overlaps {
                marks.push((start..end, 0));
            }
            start <= first + width
        });
        marks
    }

    fn each(&self, text: &str, mut take: impl FnMut(Range<usize>) -> bool) {
        let walk = self.0.find_iter(text.as_bytes(), |found| {
            found.is_empty() || take(found.start()..found.end())
        });
        walk.expect("this matcher has no errors");
    }
}

impl PatternError {
    fn of(error: &regex_syntax::Error, text: &str) -> Self {
        let (span, message) = match error {
            regex_syntax::Error::Parse(error) => (*error.span(), error.kind().to_string()),
            regex_syntax::Error::Translate(error) => (*error.span(), error.kind().to_string()),
            error => return Self { at: 0..text.len(), message: error.to_string() },
        };
        Self { at: span.start.offset..span.end.offset, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(pattern: &str, text: &str, width: usize) -> Vec<String> {
        let marks = Pattern::new(pattern).expect("it makes sense").marks(text, width);
        marks.into_iter().map(|(mark, _)| text[mark].to_owned()).collect()
    }

    #[test]
    fn an_error_has_its_place() {
        let wrong = |text| {
            let error = Pattern::new(text).expect_err("it makes no sense");
            format!("{}..{} {}", error.at.start, error.at.end, error.message)
        };
        assert_eq!(wrong("a(b"), "1..2 unclosed group");
        assert_eq!(
            wrong("ä[z-a]"),
            "3..6 invalid character class range, the start must be <= the end"
        );
        assert!(wrong("(?:a{1000}){1000}").starts_with("0..17 "));
    }

    #[test]
    fn lines_and_texts() {
        assert_eq!(marked("^b.*$", "a\nb c\nd", 80), ["b c"]);
        assert_eq!(marked(r"a\nb", "a\nb", 80), ["a\nb"]);
        assert_eq!(marked("(?i)PORT", "a port", 80), ["port"]);
        assert!(!Pattern::new("PORT").expect("right").is_in("a port"));
    }

    #[test]
    fn matches_of_nothing_and_of_everything() {
        assert!(!Pattern::new("x*").expect("right").is_in("abc"));
        assert_eq!(marked("x*", "axxb", 80), ["xx"]);
        assert_eq!(marked("(?s).+", &"ä".repeat(100), 10), ["äääää"]);
        assert_eq!(marked(r"(?-u)\xa4", "ä", 80), ["ä"]);
        assert_eq!(marked("a", &"a ".repeat(1000), 10).len(), 6);
    }
}
