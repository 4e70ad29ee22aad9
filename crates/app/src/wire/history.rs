//! Lines of `recount history --json`.

use report::history::Ghost;
use serde::Serialize;
use transcript::side::history::Prompt;

/// A typed prompt.
#[derive(Serialize)]
#[serde(tag = "type", rename = "prompt")]
pub struct TypedPrompt<'a> {
    /// When it was sent.
    time: Option<String>,
    /// The project's path, as recorded.
    project: Option<&'a str>,
    /// The session; old lines name none.
    session_id: Option<&'a str>,
    /// The prompt as it was shown, pastes as `[Pasted text #1 +20 lines]`.
    text: Option<&'a str>,
    /// What was pasted into it.
    pastes: Vec<Paste<'a>>,
}

/// Something pasted.
#[derive(Serialize)]
pub struct Paste<'a> {
    /// Its number in the prompt.
    pub id: Option<&'a str>,
    /// `text` or `image`.
    pub kind: Option<&'a str>,
    /// The name of the text in `paste-cache/`, for a long one.
    pub hash: Option<&'a str>,
    /// Its text, with `--pastes` and where there still is one.
    pub text: Option<String>,
    /// Whether the text is known to be what was pasted: `false` for one that differs from its hash.
    pub is_genuine: Option<bool>,
}

impl<'a> TypedPrompt<'a> {
    /// A prompt with its pastes.
    pub fn new(prompt: &'a Prompt, pastes: Vec<Paste<'a>>) -> Self {
        Self {
            time: super::time(prompt.time),
            project: prompt.project.as_ref().map(|path| path.as_str()),
            session_id: prompt.session.as_ref().map(|session| session.as_str()),
            text: prompt.display.as_deref(),
            pastes,
        }
    }
}

/// A session that only the history remembers.
#[derive(Serialize)]
#[serde(tag = "type", rename = "ghost_session")]
pub struct GhostSession<'a> {
    /// The session; `null` for the old prompts of one project, which name none.
    session_id: Option<&'a str>,
    /// The project of the first prompt.
    project: Option<&'a str>,
    /// The time of the first prompt.
    first: Option<String>,
    /// The time of the last prompt.
    last: Option<String>,
    /// How many prompts.
    prompts: usize,
    /// What was typed first.
    first_prompt: Option<&'a str>,
}

impl<'a> From<&'a Ghost> for GhostSession<'a> {
    fn from(ghost: &'a Ghost) -> Self {
        Self {
            session_id: ghost.session.as_ref().map(|session| session.as_str()),
            project: ghost.project.as_ref().map(|path| path.as_str()),
            first: super::time(ghost.first),
            last: super::time(ghost.last),
            prompts: ghost.prompts,
            first_prompt: ghost.first_prompt.as_deref(),
        }
    }
}
