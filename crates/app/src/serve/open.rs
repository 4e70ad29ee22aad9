//! A session that somebody looks at: read once, and read on when it grows.

use std::sync::{Arc, Mutex};

use report::export::cover::Cover;
use store::history::FollowingReader;
use transcript::id::SessionId;
use transcript::layout::{Found, Problem};
use transcript::library::{Agent, Library, SessionItem};
use transcript::record::Opened;
use transcript::session::{Options, Session};
use transcript::source::Source;

use super::shelf::Shelf;
use super::words::{Of, Words};

/// A session, or a subagent of one.
pub struct Open {
    /// Its id; of a subagent that of the session it belongs to.
    pub id: SessionId,
    /// The subagent.
    pub agent: Option<String>,
    /// What its entries make.
    pub session: Session,
    /// The files they stand in.
    pub sources: Vec<Source>,
    /// The sessions that were there when it was read.
    pub shelf: Arc<Shelf>,
    /// What its records say, for whoever looks for something.
    words: Mutex<Option<Arc<Words>>>,
    sizes: Vec<u64>,
}

impl Open {
    /// Reads a session, or one of its subagents.
    pub fn read(
        shelf: &Arc<Shelf>,
        id: &SessionId,
        agent: Option<&str>,
        reader: &FollowingReader,
    ) -> Result<Option<Self>, Problem> {
        let library = &shelf.library;
        let Some(item) = library.session(id.as_str()) else { return Ok(None) };
        let (session, files) = match agent {
            Some(agent) => match agent_of(item, agent).and_then(|agent| agent.file) {
                Some(file) => alone(library, file, reader)?,
                None => return Ok(None),
            },
            None => match (item.file, item.found_in.is_empty()) {
                (Some(file), true) => alone(library, file, reader)?,
                _ => library.read(item)?,
            },
        };
        let sources: Vec<Source> = files.iter().map(Found::open).collect::<Result<_, _>>()?;
        let sizes = sources.iter().map(|source| source.size().unwrap_or(0)).collect();
        Ok(Some(Self {
            id: id.clone(),
            agent: agent.map(str::to_owned),
            session,
            sources,
            shelf: shelf.clone(),
            words: Mutex::default(),
            sizes,
        }))
    }

    /// Whether it is this one.
    pub fn is(&self, id: &str, agent: Option<&str>) -> bool {
        self.id.as_str() == id && self.agent.as_deref() == agent
    }

    /// Whether its files are as they were when it was read, and the sessions around it too.
    pub fn is_current(&self, shelf: &Arc<Shelf>) -> bool {
        let sizes = self.sources.iter().map(|source| source.size().unwrap_or(0));
        (Arc::ptr_eq(&self.shelf, shelf) || self.agent.is_some())
            && sizes.eq(self.sizes.iter().copied())
    }

    /// What is known of it beside its entries.
    pub fn item(&self) -> &SessionItem {
        self.shelf.library.session(self.id.as_str()).expect("it was read from there")
    }

    /// Its records.
    pub fn opened(&self) -> Opened<'_> {
        Opened::new(&self.session, &self.sources, false)
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// What its entries say. Made when it is first asked for, and read on when it has grown.
    pub fn words<'c>(&self, of: Of, cover: &(dyn Fn() -> Cover<'c> + Sync)) -> Arc<Words> {
        let mut held = self.words.lock().expect("nobody panics while holding it");
        if let Some(words) = held.as_ref().filter(|words| words.is_of(of, &self.session)) {
            return words.clone();
        }
        let before = held.take();
        let words = Arc::new(Words::of(&self.opened(), of, cover, before.as_deref()));
        *held = Some(words.clone());
        words
    }

    /// Takes over what was read of it when it was shorter.
    pub fn follow(&self, before: &Self) {
        let is_one = |open: &Self| open.sources.len() == 1;
        if is_one(self) && is_one(before) && self.sources[0].path() == before.sources[0].path() {
            let words = before.words.lock().expect("nobody panics while holding it").clone();
            *self.words.lock().expect("nobody panics while holding it") = words;
        }
    }

    /// Lets go of what its records say.
    pub fn forget_words(&self) {
        self.words.lock().expect("nobody panics while holding it").take();
    }
}

/// A subagent of a session.
pub fn agent_of<'a>(item: &'a SessionItem, id: &str) -> Option<&'a Agent> {
    item.agents.iter().find(|agent| agent.id.as_str() == id)
}

fn alone(
    library: &Library,
    file: usize,
    reader: &FollowingReader,
) -> Result<(Session, Vec<Found>), Problem> {
    let found = &library.cards[file].found;
    let builder = reader.read_file(found)?;
    let copies = library.copies_of(file);
    let session = builder.finish(&Options { stem: found.stem(), copies });
    Ok((session, vec![found.clone()]))
}
