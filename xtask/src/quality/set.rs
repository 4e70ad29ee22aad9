//! Conversations with questions, and the places that answer them.

use std::collections::BTreeMap;

use testkit::clock::Ms;

/// A conversation over several sessions: one home.
pub struct Dialogue {
    /// The sessions, oldest first.
    pub sessions: Vec<Session>,
    /// What is asked of it.
    pub questions: Vec<Question>,
}

/// One session.
pub struct Session {
    /// When it began.
    pub begin: Ms,
    /// What was said.
    pub lines: Vec<Line>,
}

/// Something that was said.
pub struct Line {
    /// Whether it is written as a prompt, else as an answer.
    pub is_prompt: bool,
    /// The words.
    pub text: String,
}

/// A question and where it is answered.
pub struct Question {
    /// In plain words.
    pub text: String,
    /// What kind of question it is, as the set says.
    pub kind: String,
    /// The lines that answer it: numbers of session and line, from 0.
    pub evidence: Vec<(usize, usize)>,
}

/// Which part of a set a dialogue belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Weights may be chosen by it.
    Tuning,
    /// Only looked at.
    Judging,
}

impl Part {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::Judging => "judging",
        }
    }
}

/// A set of questions.
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// The dialogues, each with its part.
    pub dialogues: Vec<(Part, Dialogue)>,
    /// The kinds that are reported apart, with the name of the row.
    pub apart: BTreeMap<&'static str, Vec<&'static str>>,
}

/// The number of a month by its English name, or by the beginning of it.
pub fn month(name: &str) -> Option<u64> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = name.to_ascii_lowercase();
    NAMES.iter().position(|known| name.starts_with(known)).map(|at| at as u64 + 1)
}

/// The runs of letters and the runs of digits of a text.
pub fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|token| !token.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_tokens() {
        assert_eq!((month("September"), month("day")), (Some(9), None));
        assert_eq!(tokens("1:56 pm on 8 May, 2023"), ["1", "56", "pm", "on", "8", "May", "2023"]);
    }
}
