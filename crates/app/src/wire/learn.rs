//! Lines of `recount learn … --json`.

use report::learn::backlog::Learning;
use serde::Serialize;

/// One learning of the backlog.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "learning")]
pub struct LearningLine<'a> {
    /// Eight letters that name it.
    id: &'a str,
    /// `open`, `applied`, `rejected`, or what a person has written.
    status: &'a str,
    /// A few words.
    title: &'a str,
    /// `error`, `correction`, `fails-first` or `mined`; `null` for one that a person has written.
    kind: Option<&'a str>,
    /// What went wrong.
    problem: Option<&'a str>,
    /// What is to be done.
    solution: Option<&'a str>,
    /// The file it belongs into.
    target: Option<&'a str>,
    /// From 0 to 1.
    confidence: Option<f64>,
    /// How often, and in how many sessions.
    seen: Option<&'a str>,
    /// The places it is from, each `SESSION#ENTRY`.
    sources: Vec<&'a str>,
    /// When it was applied.
    applied: Option<&'a str>,
}

impl<'a> From<&'a Learning> for LearningLine<'a> {
    fn from(one: &'a Learning) -> Self {
        Self {
            id: &one.id,
            status: one.status(),
            title: &one.title,
            kind: one.get("kind"),
            problem: one.get("problem"),
            solution: one.get("solution"),
            target: one.get("target"),
            confidence: one.get("confidence").and_then(|text| text.parse().ok()),
            seen: one.get("seen"),
            sources: one.get("sources").map_or_else(Vec::new, |all| all.split(' ').collect()),
            applied: one.get("applied"),
        }
    }
}

/// One line of `learn effect`: what became of an error since its learning was applied.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "learning_effect")]
pub struct LearningEffect<'a> {
    /// The learning.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// When it was applied.
    pub applied: &'a str,
    /// Calls of the tool before.
    pub calls_before: u64,
    /// How many of them failed so.
    pub errors_before: u64,
    /// Calls of the tool since.
    pub calls_after: u64,
    /// How many of them failed so.
    pub errors_after: u64,
    /// `rarer`, `no clear change`, `more often` or `too little data`.
    pub effect: &'static str,
}
