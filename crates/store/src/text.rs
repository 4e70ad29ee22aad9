//! What can be searched: the words of an entry, and who said them.
//!
//! Each part of an entry becomes one document; which parts there are is for the format to say.

mod each;
mod own;
mod spill;
mod typed;

use std::borrow::Cow;

use transcript::reading::EntryReading;
use transcript::session::{Builder, Node};
use transcript::words::{SearchPart, SearchRole};

use crate::query::Role;

pub(crate) use each::{each_part, on_disk};
pub use own::MARK;
pub use spill::SPILL_MOST;
pub(crate) use spill::Spills;
pub(crate) use typed::typed;

/// One part of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'a> {
    /// Who said it.
    pub role: Role,
    /// The tool of a call or an output.
    pub tool: Option<Cow<'a, str>>,
    /// The file that a call is about.
    pub path: Option<Cow<'a, str>>,
    /// Whether it is the output of a call that failed.
    pub is_error: bool,
    /// The words.
    pub text: Cow<'a, str>,
}

impl<'a> Part<'a> {
    pub(crate) fn said(role: Role, text: Cow<'a, str>) -> Self {
        Self { role, tool: None, path: None, is_error: false, text }
    }
}

impl<'a> From<SearchPart<'a>> for Part<'a> {
    fn from(part: SearchPart<'a>) -> Self {
        let SearchPart { role, tool, path, is_error, text } = part;
        Self { role: role.into(), tool, path, is_error, text }
    }
}

impl From<SearchRole> for Role {
    fn from(role: SearchRole) -> Self {
        match role {
            SearchRole::Prompt => Self::Prompt,
            SearchRole::Answer => Self::Answer,
            SearchRole::Thinking => Self::Thinking,
            SearchRole::Call => Self::Call,
            SearchRole::Output => Self::Output,
            SearchRole::Summary => Self::Summary,
            SearchRole::Title => Self::Title,
        }
    }
}

impl From<Role> for SearchRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Prompt => Self::Prompt,
            Role::Answer => Self::Answer,
            Role::Thinking => Self::Thinking,
            Role::Call => Self::Call,
            Role::Output => Self::Output,
            Role::Summary => Self::Summary,
            Role::Title => Self::Title,
        }
    }
}

/// The parts of an entry that has been pushed to `builder` as `node`.
pub fn parts<'a>(builder: &Builder, node: &Node, entry: &EntryReading<'a>) -> Vec<Part<'a>> {
    let mut parts = entry.search_parts(builder, node);
    parts.retain(|part| {
        let is_ours = is_own_call(part)
            || part.role == SearchRole::Output && own::is_output(part.tool.as_deref(), &part.text);
        !is_ours && (!part.text.trim().is_empty() || part.path.is_some())
    });
    parts.into_iter().map(Part::from).collect()
}

fn is_own_call(part: &SearchPart<'_>) -> bool {
    let tool = part.tool.as_deref().filter(|_| part.role == SearchRole::Call);
    tool.is_some_and(|tool| own::is_call(tool, &part.text))
}

/// The words of an entry that are indexed under `role`.
pub fn text_of(entry: &EntryReading<'_>, role: Role) -> Option<String> {
    let parts = entry.parts_of_role(role.into()).into_iter().filter(|part| !is_own_call(part));
    let texts: Vec<String> = parts.map(|part| part.text.into_owned()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
