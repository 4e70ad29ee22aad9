//! All sessions at one moment, for pages and the terminal browser.
//!
//! The sessions are followed by [`LiveHistory`]; what is running is added here, because only this
//! crate knows processes.

use std::sync::Arc;

use report::history::Ghost;
use report::list::{self, Pulse};
use store::history::{ChangedPaths, FollowingReader, LiveHistory, LiveSnapshot, PromptedSession};
use transcript::library::{Library, SessionItem};

use crate::error::CliError;
use crate::run::Run;

/// All sessions at one moment.
#[derive(Default)]
pub struct Shelf {
    /// They themselves.
    pub library: Library,
    /// Sessions of which only prompts are left.
    pub ghosts: Arc<[SessionItem]>,
    /// What is running.
    pub pulse: Pulse,
    /// Grows with every change.
    pub number: u64,
    /// The moment of the files that this is of.
    followed: Arc<LiveSnapshot>,
}

impl Shelf {
    /// The sessions as they are after a change; `None` if they are as they were.
    pub fn refresh(
        run: &mut Run,
        before: &Self,
        live: &mut LiveHistory,
        (changed, reader): (&ChangedPaths, &FollowingReader),
    ) -> Result<Option<Self>, CliError> {
        let pulse = run.recount.running_sessions()?;
        let (_, problems) = live.refresh(changed, reader);
        problems.into_iter().for_each(|problem| run.talk.skip(problem));
        let followed = live.snapshot();
        let is_same = Arc::ptr_eq(&followed, &before.followed);
        if is_same && before.number > 0 && running(&pulse) == running(&before.pulse) {
            return Ok(None);
        }
        let ghosts = match Arc::ptr_eq(&followed.prompts_only, &before.followed.prompts_only) {
            true => before.ghosts.clone(),
            false => followed.prompts_only.iter().filter_map(list_item).collect(),
        };
        let (library, number) = (followed.library.share(), before.number + 1);
        Ok(Some(Self { library, ghosts, pulse, number, followed }))
    }

    /// A session by its id, also one of which only prompts are left.
    pub fn session(&self, id: &str) -> Option<&SessionItem> {
        let ghost = || self.ghosts.iter().find(|ghost| ghost.id.as_str() == id);
        self.library.session(id).or_else(ghost)
    }
}

/// A session of which only prompts are left, as lists show it.
fn list_item(prompted: &PromptedSession) -> Option<SessionItem> {
    list::ghost(&Ghost {
        session: Some(prompted.session.clone()),
        project: prompted.project.clone(),
        first: prompted.first,
        last: prompted.last,
        prompts: prompted.prompts,
        first_prompt: prompted.first_prompt.clone(),
    })
}

fn running(pulse: &Pulse) -> Vec<&str> {
    pulse.running.iter().filter_map(|one| Some(one.session.as_ref()?.as_str())).collect()
}
