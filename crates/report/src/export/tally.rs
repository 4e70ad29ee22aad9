//! What is not in an export, counted for its footer.

use transcript::side::tool_output;

use crate::format::count;
use crate::show::{Hidden, Words};
use transcript::record::{Body, Outcome, Record};

/// What is not in an export of one session.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// What the level hides.
    pub hidden: Hidden,
    /// Records that are in it.
    pub records: usize,
    /// Pictures and documents that are not in it.
    pub media: usize,
    /// Texts of which only the beginning is in it.
    pub cut: usize,
    /// Outputs that Claude Code put into files of their own.
    pub saved: usize,
    /// Entries too large to be read.
    pub large: usize,
    /// Subagents whose files are missing.
    pub missing: usize,
    /// Subagents that are not in it.
    pub agents: usize,
    /// Branches that are not in it.
    pub branches: usize,
    /// The turns that are in it, and how many there are.
    pub turns: Option<(usize, usize, usize)>,
}

impl Tally {
    /// Counts what a record has that is never in an export of its own.
    pub fn see(&mut self, record: &Record) {
        self.records += 1;
        match &record.body {
            Body::TooLarge => self.large += 1,
            Body::Calls { calls, .. } => {
                calls.iter().filter_map(|call| call.outcome.as_ref()).for_each(|o| self.outcome(o));
            }
            Body::LoneResult { outcome, .. } => self.outcome(outcome),
            _ => {}
        }
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let name = outcome.text.as_deref().and_then(tool_output::persisted_name);
        self.saved += usize::from(name.is_some());
    }

    /// Pictures and documents of a record, where none are put into the export.
    pub fn without_media(&mut self, record: &Record) {
        self.media += match &record.body {
            Body::Prompt { media, .. } => media.len(),
            Body::Calls { calls, .. } => {
                calls.iter().filter_map(|call| call.outcome.as_ref()).map(|o| o.media.len()).sum()
            }
            _ => 0,
        };
    }

    /// A line for each kind of thing that is not there.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((first, last, all)) = self.turns {
            lines.push(format!("Only turns {first} to {last} of {all} are here"));
        }
        let mut say = |number: usize, (one, many): Words, rest: &str| {
            if number > 0 {
                let noun = if number == 1 { one } else { many };
                lines.push(format!("{} {noun} {rest}", count(number as u64)));
            }
        };
        let agents = ("subagent", "subagents");
        say(self.branches, ("abandoned attempt", "abandoned attempts"), "not here");
        say(self.media, ("picture or document", "pictures or documents"), "not here");
        say(self.cut, ("text", "texts"), "cut at 256 KB");
        say(self.saved, ("output", "outputs"), "only in part: the rest lies beside the transcript");
        say(self.large, ("entry", "entries"), "too large to be read");
        say(self.agents, agents, "not here");
        say(self.missing, agents, "of which the file is missing");
        lines
    }

    /// What the level hides, in words; empty if it hides nothing.
    pub fn hidden_words(&self) -> String {
        let one = |((one, many), number): &((&str, &str), usize)| {
            format!("{} {}", count(*number as u64), if *number == 1 { one } else { many })
        };
        self.hidden.counts().iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
