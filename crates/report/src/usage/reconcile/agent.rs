//! What the call of a subagent says of it: the tokens of its last response.

use transcript::usage::Tokens;

use super::{Claimant, Desk, Explanation, Row, Told, Unit, Why, classes, least, less};
use crate::price::Confidence;
use crate::usage::Response;
use transcript::usage::told::AgentTotal;

impl<'a> Desk<'a> {
    /// The subagent of a call, as the result or any other link names it.
    fn agent_of<'b>(&'b self, agent: &'b AgentTotal) -> Option<&'b str> {
        let linked = || self.evidence.agents.get(&agent.call?);
        agent.agent.as_deref().or_else(|| linked().map(String::as_str))
    }

    /// What a subagent of a file's session said.
    fn agent_responses(&self, file: u32, told: &Told, agent: &AgentTotal) -> Vec<&'a Response> {
        let ledger = self.evidence.ledger;
        let name = self.agent_of(agent).and_then(|id| ledger.find(id));
        let is_its = |response: &&Response| {
            let is_inside =
                response.file == file && agent.inline.binary_search(&response.offset).is_ok();
            is_inside || (name.is_some() && response.agent == name)
        };
        self.responses(told.session.as_deref()).iter().copied().filter(is_its).collect()
    }

    pub(super) fn is_missing(&self, file: u32, told: &Told, agent: &AgentTotal) -> bool {
        self.agent_of(agent).is_some() && self.agent_responses(file, told, agent).is_empty()
    }

    /// What a call says of its subagent, beside all that the subagent said.
    pub(super) fn agent(&self, file: u32, told: &Told, agent: &AgentTotal) -> Row {
        let row = Row {
            session: told.session.clone(),
            agent: self.agent_of(agent).map(Into::into),
            place: Some((file, agent.entry)),
            time: agent.time,
            ..Row::new(Claimant::AgentCall, Unit::Tokens, agent.total)
        };
        let all = self.agent_responses(file, told, agent);
        if all.is_empty() {
            let missing = Explanation::new(Why::MissingSubagent, 1, None);
            let explanations = row.agent.is_some().then_some(missing).into_iter().collect();
            return Row { explanations, ..row };
        }
        let mut row = row.beside(all.iter().copied());
        // One that was woken up later had more to say.
        let is_said =
            |r: &&&Response| !r.is_advisor && (agent.time.is_none() || r.time <= agent.time);
        let Some(last) = all.iter().rev().find(is_said) else { return row };
        let Some(difference) = row.difference().filter(|difference| *difference != 0) else {
            return row;
        };
        let one = One { claim: agent, all: &all, last };
        match agent.usage.filter(|usage| usage.total() == agent.total) {
            Some(usage) if classes(&usage)[1..] == classes(&one.request())[1..] => {
                one.is_ours(&mut row, difference);
            }
            Some(usage) if agent.inline.is_empty() && all.iter().all(|r| r.file == file) => {
                one.is_not_ours(&mut row, &usage);
            }
            _ => {}
        }
        row.may_lack(least(&all));
        row
    }
}

/// Claude Code gives the tokens of the last response of a subagent alone.
struct One<'a> {
    claim: &'a AgentTotal,
    all: &'a [&'a Response],
    last: &'a Response,
}

impl One<'_> {
    /// The last request that we know of.
    fn request(&self) -> Tokens {
        *self.last.parts.last().unwrap_or(&self.last.tokens)
    }

    /// The claim has the prompt of that request.
    fn is_ours(&self, row: &mut Row, difference: i64) {
        let others = row.ours.unwrap_or(0).saturating_sub(self.request().total());
        if others > 0 {
            let count = self.all.len() - 1;
            row.explain(Explanation::new(Why::PartialScope, count, Some(less(0, others))));
        }
        let lacking = difference.saturating_add(less(others, 0));
        if lacking > 0 && self.last.confidence == Confidence::LowerBound {
            row.explain(Explanation::new(Why::Placeholder, 1, Some(lacking)));
        }
    }

    /// There is no file of the subagent, only what the call told while it ran. A claim with a
    /// longer prompt is of a response that came after.
    fn is_not_ours(&self, row: &mut Row, usage: &Tokens) {
        let is_later = usage.prompt() >= self.request().prompt();
        if is_later {
            let ours = less(0, row.ours.unwrap_or(0));
            row.explain(Explanation::new(Why::PartialScope, self.all.len(), Some(ours)));
        }
        let amount = is_later.then(|| less(self.claim.total, 0));
        row.explain(Explanation::new(Why::MissingSubagent, 1, amount));
    }
}
