//! `plans/<words>.md`: what was planned. The words are the `slug` of the session's entries.
//!
//! Three random words at first; since 2.1.111 the prompt's words stand before them, and those may
//! well contain `-agent-`, so the agent in a name is known by the form of its id.

use crate::id::AgentId;

/// The parts of a plan's file name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanName {
    /// The words.
    pub words: Box<str>,
    /// The agent that planned.
    pub agent: Option<AgentId>,
    /// Whether it is `<words>.workshop.md`.
    pub is_workshop: bool,
}

impl PlanName {
    /// Reads a file name.
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".md")?;
        let (stem, is_workshop) = match stem.strip_suffix(".workshop") {
            Some(stem) => (stem, true),
            None => (stem, false),
        };
        let (words, agent) = split_agent(stem);
        if words.is_empty() || words.starts_with('.') {
            return None;
        }
        Some(Self { words: words.into(), agent: agent.map(AgentId::new), is_workshop })
    }
}

fn split_agent(stem: &str) -> (&str, Option<&str>) {
    const MARK: &str = "-agent-";
    stem.match_indices(MARK)
        .map(|(at, _)| (&stem[..at], &stem[at + MARK.len()..]))
        .find(|(_, id)| is_agent_id(id))
        .map_or((stem, None), |(words, id)| (words, Some(id)))
}

/// 7 or 8 hex digits, `a` and 16 of them, or `a<name>-` and 16 of them.
fn is_agent_id(id: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let last = id.rsplit('-').next().is_some_and(|end| end.len() == 16 && is_hex(end));
    (is_hex(id) && matches!(id.len(), 7 | 8 | 17)) || (id.starts_with('a') && last)
}

/// The first heading of a plan.
pub fn title(text: &str) -> Option<&str> {
    let heading = text.lines().map(str::trim).find(|line| line.starts_with('#'))?;
    let title = heading.trim_start_matches('#').trim();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let cases = [
            ("dazzling-popping-wren.md", Some(("dazzling-popping-wren", None))),
            (
                "dazzling-popping-wren-agent-a7b0bd37.md",
                Some(("dazzling-popping-wren", Some("a7b0bd37"))),
            ),
            ("w-agent-ab1e6e141221a29ab.md", Some(("w", Some("ab1e6e141221a29ab")))),
            ("w-agent-ascout-b1e6e141221a29ab.md", Some(("w", Some("ascout-b1e6e141221a29ab")))),
            (
                "fix-the-agent-loop-dazzling-wren.md",
                Some(("fix-the-agent-loop-dazzling-wren", None)),
            ),
            ("dazzling-popping-wren.workshop.md", Some(("dazzling-popping-wren", None))),
            (".md", None),
            ("notes.txt", None),
        ];
        for (name, want) in cases {
            let got = PlanName::parse(name);
            let got = got.as_ref().map(|p| (&*p.words, p.agent.as_ref().map(AgentId::as_str)));
            assert_eq!(got, want, "{name}");
        }
    }

    #[test]
    fn the_title_is_the_first_heading() {
        assert_eq!(
            title("\n# LangGraph V3 Refactor Plan\nLast Updated"),
            Some("LangGraph V3 Refactor Plan")
        );
        assert_eq!(title("no heading"), None);
    }
}
