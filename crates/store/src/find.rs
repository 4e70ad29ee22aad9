//! Answering a query: the index finds, the catalog knows whose it is, the file has the words.

mod like;
mod pattern;
mod recall;
mod scan;
mod sieve;
mod verbatim;

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use hashbrown::{HashMap, HashSet};
use transcript::id::SessionId;
use transcript::reading::EntryReading;
use transcript::session::State;
use transcript::source::Source;
use transcript::time::Time;

use crate::archive::{Access, Archive, FileId, FileRow};
use crate::catalog::{self, Catalog, SessionRow, Shape, Spot};
use crate::folder::Store;
use crate::index::{
    Explain, Index, IndexState, Marker, Match, Options, Rung, Scope, Snippet, WordUse, around,
};
use crate::meaning::{Model, Near, Vectors};
use crate::query::{Filters, Place, Query, Role};
use crate::sync::SyncError;
use crate::text::{self, Spills};
use sieve::Sieve;

pub use like::Alike;
pub use pattern::{Pattern, PatternError};
pub use recall::{Changed, Evidence, QUOTE, Quote, QuoteRef, Recalled, Room, SURE, question};
pub use scan::{Page, Scanned};
pub use verbatim::Extent;

/// A turn that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: SessionRow,
    /// The transcript it stands in; the history, if only prompts are left of the session.
    pub path: PathBuf,
    /// The transcript is not on disk any more.
    pub is_gone: bool,
    /// The number of the entry; of the prompt, if only prompts are left.
    pub entry: u32,
    /// The turn on the way, from 0.
    pub turn: Option<u32>,
    /// When it was written.
    pub time: Option<Time>,
    /// Who said it.
    pub role: Role,
    /// Where it stands.
    pub place: Place,
    /// The words around the match.
    pub snippet: Snippet,
    /// Why it stands where it does; nothing where it is only a matter of time.
    pub explain: Option<Explain>,
}

impl Hit {
    /// Whether only prompts are left of the session.
    pub fn is_ghost(&self) -> bool {
        self.session.standing == catalog::GHOST
    }
}

/// What a query gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How the words were found.
    pub rung: Rung,
    /// The words of the query.
    pub words: Vec<WordUse>,
    /// Whether there are more.
    pub is_more: bool,
}

/// An open store to ask.
pub struct Finder {
    store: Store,
    catalog: Catalog,
    archive: Archive,
    index: Box<Index>,
    /// The vectors and the model to compare them with, once they were asked for.
    meaning: OnceCell<Option<(Vectors, Model)>>,
    /// The files that may be answered from, where not all may.
    within: Option<HashSet<u64>>,
}

/// Of an entry longer than this no words are shown: a search stays small.
const LONGEST: usize = 16 << 20;

/// So many turns are looked at for what they mean, beside those that have the words.
const NEAREST: usize = 100;

/// How wide a snippet is, in characters.
pub const SNIPPET: usize = 160;

impl Finder {
    /// Opens the store; `None` if it has not been filled yet.
    pub fn open(store: &Store) -> Result<Option<Self>, SyncError> {
        if !store.exists() {
            return Ok(None);
        }
        let archive = store.archive(Access::Read)?;
        let Some(catalog) = Catalog::read(store.folder())? else { return Ok(None) };
        let IndexState::Ready(index) = Index::open(store.folder())? else { return Ok(None) };
        Ok(Some(Self {
            store: store.clone(),
            catalog,
            archive,
            index,
            meaning: OnceCell::new(),
            within: None,
        }))
    }

    /// Answers from these Claude folders alone, given by their real paths.
    pub fn within(mut self, roots: &[PathBuf]) -> Result<Self, SyncError> {
        let is_asked = |home: &[u8]| roots.iter().any(|r| r.as_os_str().as_encoded_bytes() == home);
        if self.archive.homes()?.iter().all(|home| is_asked(home)) {
            return Ok(self);
        }
        let rows = self.archive.files()?.into_iter().filter(|row| is_asked(&row.home));
        let mut files: HashSet<u64> = rows.map(|row| row.file.0 as u64).collect();
        for ghost in self.catalog.ghosts(false)? {
            let lines = self.catalog.typed(&ghost.session)?;
            if lines.iter().any(|line| files.contains(&(line.history as u64))) {
                files.insert(ghost.file as u64);
            }
        }
        self.within = Some(files);
        Ok(self)
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What is known of meanings; `None` where there is no model, or nothing to compare with it.
    fn meaning(&self) -> Option<&(Vectors, Model)> {
        let open = || {
            let vectors = Vectors::open(self.store.folder()).ok()??;
            Some((vectors, Model::open(self.store.folder())?))
        };
        self.meaning.get_or_init(open).as_ref()
    }

    /// Whether questions are answered by what they mean, too.
    pub fn knows_meanings(&self) -> bool {
        self.meaning().is_some()
    }

    /// The turns that a query finds.
    pub fn search(&self, query: &Query, options: Options, width: usize) -> Result<Hits, SyncError> {
        let _snapshots = (self.catalog.snapshot()?, self.archive.snapshot()?);
        let scope = FinderScope::new(self, query)?;
        let found = self.index.search(query, &scope, options)?;
        let marker = Marker::of(&found);
        let mut hits = Vec::new();
        let wants_titles = query.only.role.contains(&Role::Title);
        for one in &found.matches {
            let part = match wants_titles {
                true => Some((one.entry, one.role)),
                false => self.shown_part(one)?,
            };
            if let Some(part) = part {
                hits.extend(self.hit_of(one, part, &marker, width)?);
            }
        }
        Ok(Hits { hits, rung: found.rung, words: found.words, is_more: found.is_more })
    }

    /// A match with its words; `None` if nobody knows the file any more.
    fn hit_of(
        &self,
        found: &Match,
        (entry, role): (u32, Role),
        marker: &Marker,
        width: usize,
    ) -> Result<Option<Hit>, SyncError> {
        let file = found.file as i64;
        let Some((id, _)) = self.catalog.owner(file)? else { return Ok(None) };
        let Some(session) = self.catalog.session(&id)? else { return Ok(None) };
        let Some(words) = self.words(file, entry, role)? else { return Ok(None) };
        let spot = self.catalog.shape(file)?.and_then(|shape| shape.at(entry));
        Ok(Some(Hit {
            session,
            path: words.path,
            is_gone: words.is_gone,
            entry,
            turn: spot.and_then(|spot| spot.turn),
            time: words.time,
            role,
            place: found.place,
            snippet: snippet(found, (entry, role), marker, &words.text, width),
            explain: Some(found.explain.clone()),
        }))
    }

    /// The part of a match that is shown. A title is a field of its session, so a session of which
    /// nothing but the title matches is shown with its first prompt.
    fn shown_part(&self, one: &Match) -> Result<Option<(u32, Role)>, SyncError> {
        if one.role != Role::Title {
            return Ok(Some((one.entry, one.role)));
        }
        let first = self.catalog.shape(one.file as i64)?.and_then(|shape| shape.first_of_turn(0));
        Ok(first.map(|entry| (entry, Role::Prompt)))
    }

    /// The words of a part, and where they stand; `None` if the archive does not know the file.
    fn words(&self, file: i64, entry: u32, role: Role) -> Result<Option<Words>, SyncError> {
        if catalog::is_ghost(file) {
            return self.typed(file, entry);
        }
        let Some(row) = self.archive.file(FileId(file))? else { return Ok(None) };
        let bytes = self.entry(&row, entry)?;
        let entry = EntryReading::from_bytes(&bytes);
        let mut text = text::text_of(&entry, role).unwrap_or_default();
        if role == Role::Output
            && let Some(saved) = Spills::of(&self.archive, &row).saved(&text)
        {
            text = text + "\n" + &saved;
        }
        let (path, is_gone, time) = (row.path(), row.gone, entry.written_at());
        Ok(Some(Words { path, is_gone, time, text }))
    }

    /// The prompt of a ghost with this number, from 1.
    fn typed(&self, ghost: i64, number: u32) -> Result<Option<Words>, SyncError> {
        let Some(ghost) = self.catalog.ghost(ghost)? else { return Ok(None) };
        let lines = self.catalog.typed(&ghost.session)?;
        let Some(line) = lines.get((number as usize).wrapping_sub(1)) else { return Ok(None) };
        let Some(row) = self.archive.file(FileId(line.history))? else { return Ok(None) };
        let Some((prompt, text)) = text::typed(&self.archive, line)? else { return Ok(None) };
        let (path, is_gone, time) = (row.path(), row.gone, prompt.time);
        Ok(Some(Words { path, is_gone, time, text }))
    }

    /// The bytes of an entry: from the disk, which is fast, else as they are kept.
    fn entry(&self, row: &FileRow, number: u32) -> Result<Vec<u8>, SyncError> {
        let places = self.catalog.places(row.file.0)?;
        let Some((offset, length)) = places.and_then(|places| places.at(number)) else {
            return Ok(Vec::new());
        };
        let length = length as usize;
        if length > LONGEST {
            return Ok(Vec::new());
        }
        let on_disk = Source::open(&row.path()).and_then(|source| source.bytes(offset, length));
        match on_disk {
            Ok(bytes) if !row.gone && bytes.len() == length && bytes.starts_with(b"{") => Ok(bytes),
            _ => Ok(self.archive.read(row.generation, offset, length)?),
        }
    }
}

/// The piece of a part that tells most: around the words that were asked for, else where its
/// meaning is nearest.
fn snippet(found: &Match, part: (u32, Role), marker: &Marker, text: &str, width: usize) -> Snippet {
    let marked = marker.snippet(text, width);
    let near = found.near.filter(|near| marked.marks.is_empty() && (near.entry, near.role) == part);
    match near {
        Some(near) => {
            let start = text.floor_char_boundary(near.start as usize);
            let end =
                text[start..].char_indices().nth(width).map_or(text.len(), |(at, _)| start + at);
            around(text, &[(start..end, 0)], width).unmarked()
        }
        None => marked,
    }
}

/// What a part says, and where it stands.
struct Words {
    path: PathBuf,
    is_gone: bool,
    time: Option<Time>,
    text: String,
}

/// What the catalog knows about what the index finds; asked for what is needed only.
struct FinderScope<'a> {
    finder: &'a Finder,
    query: &'a Query,
    allowed: Option<(Vec<u64>, HashSet<u64>)>,
    cache: RefCell<Cache>,
}

#[derive(Default)]
struct Cache {
    files: HashMap<u64, FileFacts>,
    sessions: HashMap<SessionId, u64>,
}

/// What the catalog says of a file.
struct FileFacts {
    session: u64,
    is_agent: bool,
    shape: Option<Shape>,
}

impl<'a> FinderScope<'a> {
    fn new(finder: &'a Finder, query: &'a Query) -> Result<Self, SyncError> {
        let mut conditions = conditions(&query.only);
        for (sql, values) in self::conditions(&query.except) {
            // What is not known (`NULL`) is not what is left out.
            conditions.push((format!("NOT coalesce({sql}, 0)"), values));
        }
        let allowed = match conditions.is_empty() {
            true => finder.within.as_ref().map(|files| files.iter().copied().collect()),
            false => {
                let files = finder.catalog.files_where(&conditions)?;
                let is_asked =
                    |file: &u64| finder.within.as_ref().is_none_or(|files| files.contains(file));
                Some(files.into_iter().map(|file| file as u64).filter(is_asked).collect())
            }
        };
        let allowed = allowed.map(|files: Vec<u64>| (files.clone(), files.into_iter().collect()));
        Ok(Self { finder, query, allowed, cache: RefCell::default() })
    }

    fn facts<T>(&self, file: u64, take: impl FnOnce(&FileFacts) -> T) -> T {
        let Cache { files, sessions } = &mut *self.cache.borrow_mut();
        take(files.entry(file).or_insert_with(|| {
            let (owner, shape) = self.finder.catalog.standing(file as i64).unwrap_or_default();
            // A file that nobody owns is a session of its own.
            let (session, is_agent) = match owner {
                Some((id, is_agent)) => {
                    let next = sessions.len() as u64;
                    (*sessions.entry(id).or_insert(next), is_agent)
                }
                None => (u64::MAX - file, false),
            };
            FileFacts { session, is_agent, shape }
        }))
    }

    fn spot(&self, file: u64, entry: u32) -> Option<Spot> {
        self.facts(file, |facts| facts.shape.as_ref()?.at(entry))
    }
}

impl Scope for FinderScope<'_> {
    fn files(&self) -> Option<&[u64]> {
        self.allowed.as_ref().map(|(list, _)| &**list)
    }

    fn allows(&self, file: u64) -> bool {
        self.allowed.as_ref().is_none_or(|(_, set)| set.contains(&file))
    }

    fn session(&self, file: u64) -> u64 {
        self.facts(file, |facts| facts.session)
    }

    fn place(&self, file: u64, entry: u32) -> Place {
        if self.facts(file, |facts| facts.is_agent) {
            return Place::Subagent;
        }
        let state = self.spot(file, entry).map(|spot| spot.state());
        match state {
            Some(State::Abandoned | State::Repeated) => Place::Abandoned,
            Some(State::Compacted | State::Cleared) => Place::Compacted,
            Some(State::Aside) => Place::Subagent,
            Some(State::Active | State::Foreign) | None => Place::Active,
        }
    }

    fn text(&self, file: u64, entry: u32, role: Role) -> Option<String> {
        Some(self.finder.words(file as i64, entry, role).ok()??.text)
    }

    fn near(&self, words: &[WordUse], turns: &HashSet<(u64, u32)>) -> Vec<Near> {
        let Some((vectors, model)) = self.finder.meaning() else { return Vec::new() };
        let asked = recall::weighed(self.query, words, self.finder.index.documents());
        let Some(vector) = model.question(&asked) else { return Vec::new() };
        let sieve = Sieve::new(self.query);
        let allows = |near: &Near| {
            self.allows(near.file)
                && sieve.allows_said(near.role, near.time)
                && sieve.allows_place(self.place(near.file, near.entry))
                && !self.is_copy(near.file, near.entry)
        };
        // Without the vectors there are still the words.
        vectors.near(&vector, NEAREST, turns, allows).unwrap_or_default()
    }

    fn is_copy(&self, file: u64, entry: u32) -> bool {
        // The file that owns a copy may be in a folder that is not asked.
        let is_all = self.finder.within.is_none();
        let is_copy = |spot: Spot| (spot.is_copy && is_all) || spot.is_delivered_elsewhere;
        self.spot(file, entry).is_some_and(is_copy)
    }
}

/// The filters that say something of sessions, as SQL.
fn conditions(filters: &Filters) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    let mut any = |one: &str, values: &[String], value: fn(&str) -> String| {
        if !values.is_empty() {
            let sql = vec![one; values.len()].join(" OR ");
            all.push((format!("({sql})"), values.iter().map(|v| value(v)).collect()));
        }
    };
    let contains = |text: &str| format!("%{}%", escaped(text));
    let begins = |text: &str| format!("{}%", escaped(text));
    let whole = |text: &str| text.trim_start_matches('#').to_owned();
    let below = |text: &str| format!("{}/%", escaped(text.trim_end_matches('/')));
    any("s.project LIKE ? ESCAPE '\\'", &filters.project, contains);
    any("s.project || '/' LIKE ? ESCAPE '\\'", &filters.folder, below);
    any("s.id LIKE ? ESCAPE '\\'", &filters.session, begins);
    any("s.branch LIKE ? ESCAPE '\\'", &filters.branch, contains);
    any("s.models LIKE ? ESCAPE '\\'", &filters.model, contains);
    any(
        "EXISTS (SELECT 1 FROM pr p JOIN file o ON o.id = p.file
            WHERE o.session = s.id AND CAST(p.pr AS TEXT) = ?)",
        &filters.pr,
        whole,
    );
    any(
        "EXISTS (SELECT 1 FROM commit_made c JOIN file o ON o.id = c.file
            WHERE o.session = s.id AND c.hash LIKE ? ESCAPE '\\')",
        &filters.commit,
        begins,
    );
    all
}

/// A text that stands for itself in LIKE.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
