//! Lines of `recount plans --json`.

use serde::Serialize;

/// A plan.
#[derive(Serialize)]
#[serde(tag = "type", rename = "plan")]
pub struct Plan<'a> {
    /// The name of its file without `.md`.
    name: &'a str,
    /// The name without agent: the `slug` of the session's entries.
    slug: &'a str,
    /// The subagent that planned.
    agent_id: Option<&'a str>,
    /// Whether it is a `.workshop.md`.
    is_workshop: bool,
    /// The first heading.
    title: Option<&'a str>,
    /// When it was last written.
    modified: Option<String>,
    /// Bytes.
    size: u64,
    /// Where it is.
    path: String,
    /// What it says, where one plan was asked for.
    text: Option<&'a str>,
}

impl<'a> Plan<'a> {
    /// A plan as one of many.
    pub fn listed(plan: &'a report::plan::Plan) -> Self {
        Self {
            name: &plan.name,
            slug: &plan.parts.words,
            agent_id: plan.parts.agent.as_ref().map(|agent| agent.as_str()),
            is_workshop: plan.parts.is_workshop,
            title: plan.title.as_deref(),
            modified: super::time(plan.modified),
            size: plan.size,
            path: plan.path.display().to_string(),
            text: None,
        }
    }

    /// A plan with its text.
    pub fn whole(plan: &'a report::plan::Plan) -> Self {
        Self { text: Some(&plan.text), ..Self::listed(plan) }
    }
}
