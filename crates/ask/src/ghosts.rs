//! Sessions of which only prompts are left: the history names them, and neither a Claude folder
//! nor the store has their transcript.

use std::collections::HashSet;

use report::history::{self, Filter, Ghost, Typed};
use transcript::id::SessionId;
use transcript::layout::{FileKind, Problem};
use transcript::library::Library;
use transcript::side::history::{self as file, Prompt};

use crate::error::HistoryError;
use crate::name::{NameError, Noun, SessionName, pick};
use crate::read::{self, Input};
use crate::recount::Recount;

impl Recount {
    /// The sessions that the history remembers and `library` does not have.
    pub fn find_ghosts(&mut self, library: &Library) -> Result<Vec<Ghost>, HistoryError> {
        let history = self.typed_prompts()?;
        let mut known: HashSet<SessionId> =
            library.sessions.iter().map(|session| session.id.clone()).collect();
        known.extend(self.set_aside().iter().cloned());
        Ok(history::ghosts(&history, &known, &Filter::default()).sessions)
    }

    /// What was typed, in all Claude folders; from the store where the history itself is gone.
    pub fn typed_prompts(&mut self) -> Result<Vec<Typed>, HistoryError> {
        let mut homes = Vec::new();
        for root in self.claude_roots()? {
            let path = root.join("history.jsonl");
            let mut prompts = Vec::new();
            match path.is_file() {
                true => self.read_prompts(Input::Path(&path), &mut prompts),
                false => {
                    for found in
                        self.archived_files(&root, &[], |kind| *kind == FileKind::History)?
                    {
                        self.read_prompts(Input::Found(&found), &mut prompts);
                    }
                }
            }
            homes.push(prompts);
        }
        Ok(history::merge(homes))
    }

    /// Adds the prompts of one history; what is damaged in it is counted.
    pub fn read_prompts(&mut self, input: Input<'_>, prompts: &mut Vec<Prompt>) {
        let mut odd = Vec::new();
        let read = read::blocks(input, |_, block| {
            let (part, part_odd) = file::parse(block);
            prompts.extend(part);
            odd.extend(part_odd);
            Ok::<(), Problem>(())
        });
        self.or_skip(read);
        self.observed.count_damage(&odd);
    }

    /// What is wrong with a name that stands for no session: perhaps only its transcript is gone.
    pub fn no_such_session(
        &mut self,
        error: NameError,
        name: &SessionName,
        library: &Library,
    ) -> HistoryError {
        let (SessionName::Id(text), NameError::Unknown { .. }) = (name, &error) else {
            return error.into();
        };
        let ghosts = self.find_ghosts(library).unwrap_or_default();
        let ids: Vec<&str> =
            ghosts.iter().filter_map(|ghost| Some(ghost.session.as_ref()?.as_str())).collect();
        match pick(Noun::Session, text, &ids) {
            Ok(id) => {
                let is_it =
                    |ghost: &&Ghost| ghost.session.as_ref().is_some_and(|s| s.as_str() == id);
                let prompts = ghosts.iter().find(is_it).map_or(0, |ghost| ghost.prompts);
                NameError::Ghost { id: id.into(), prompts }.into()
            }
            Err(NameError::Ambiguous { noun, name, matches }) => {
                NameError::Ambiguous { noun, name, matches }.into()
            }
            Err(_) => error.into(),
        }
    }
}
