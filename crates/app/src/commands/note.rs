//! `recount note`: a person's own words on a session or an entry, tags and stars.

use std::collections::HashMap;
use std::str::FromStr;

use store::note::{self, Note};
use transcript::time::Time;

use super::short;
use crate::error::{Answer, CliError, StoreError};
use crate::run::Run;
use crate::terminal::safe;
use crate::terminal::style::{self, paint};
use crate::wire;
use ask::name::SessionName;

/// Write a note on a session or an entry, with tags and stars; without a text, show the notes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Notes are kept in the store, beside the archive. They are shown in lists, on pages and in exports.

Examples:
  recount note 3f2a91c0 'this is how the release went'
  recount note 3f2a91c0:120 'the fix' --tag release --star
  recount note latest --star            only a star
  recount note 3f2a91c0                 the notes on a session
  recount note                          all notes
  recount note --tag release            those with a tag
  recount note --remove 4               take one back, by its number")]
pub struct NoteArgs {
    /// The session, and the entry if it is on one: `3f2a91c0` or `3f2a91c0:120`
    place: Option<Place>,

    /// What to note
    #[arg(requires = "place")]
    text: Option<String>,

    /// A word to find it by; may be repeated
    #[arg(long, value_name = "WORD", value_parser = tag)]
    tag: Vec<String>,

    /// Mark the place with a star
    #[arg(long, requires = "place")]
    star: bool,

    /// Take the note with this number back
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["place", "tag"])]
    remove: Option<u64>,
}

/// A session, or an entry of it.
#[derive(Debug, Clone)]
struct Place {
    session: SessionName,
    entry: Option<u32>,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (session, entry) = match text.rsplit_once([':', '#']) {
            Some((session, entry)) => {
                let wrong = |_| format!("`{entry}` is no number of an entry");
                (session, Some(entry.parse().map_err(wrong)?))
            }
            None => (text, None),
        };
        match session.parse() {
            Ok(SessionName::Path(_) | SessionName::Stdin) => {
                Err("a note is on a session of a Claude folder: give its id".into())
            }
            Ok(session) => Ok(Self { session, entry }),
            Err(never) => match never {},
        }
    }
}

fn tag(text: &str) -> Result<String, String> {
    let word = text.trim_start_matches('#');
    let is_word = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_word { Ok(word.to_owned()) } else { Err("a tag is one word".into()) }
}

/// Makes a note, takes one back, or shows them.
pub fn run(args: &NoteArgs, run: &mut Run) -> Result<Answer, CliError> {
    let store = run.recount.store()?;
    if let Some(number) = args.remove {
        let is_gone = note::remove(&store, number).map_err(StoreError::Note)?;
        let said = if is_gone { "Taken back" } else { "There is no note with this number" };
        run.talk.note(said.into());
        return Ok(if is_gone { Answer::Found } else { Answer::Nothing });
    }
    let session = match &args.place {
        Some(place) => {
            let library = run.recount.all_sessions()?;
            Some((run.recount.identify_session(&place.session, &library)?, place.entry))
        }
        None => None,
    };
    let is_new = args.text.is_some() || args.star || !args.tag.is_empty();
    if let Some((session, entry)) = session.as_ref().filter(|_| is_new) {
        let new = Note {
            id: 0,
            session: session.to_string(),
            entry: *entry,
            text: args.text.clone(),
            tags: args.tag.clone(),
            star: args.star,
            time: run.recount.clock.time().0,
        };
        let made = note::add(&store, new).map_err(StoreError::Note)?;
        print(run, &made)?;
        return Ok(Answer::Found);
    }
    let mut notes = note::all(&store).map_err(StoreError::Note)?;
    notes.retain(|note| {
        let is_there = |(id, entry): &(transcript::id::SessionId, Option<u32>)| {
            note.session == id.as_str() && (entry.is_none() || note.entry == *entry)
        };
        session.as_ref().is_none_or(is_there) && args.tag.iter().all(|tag| note.tags.contains(tag))
    });
    notes.iter().try_for_each(|note| print(run, note))?;
    Ok(Answer::of(&notes))
}

fn print(run: &mut Run, note: &Note) -> Result<(), CliError> {
    if run.json {
        return Ok(run.out.json(&wire::note::NoteLine::from(note))?);
    }
    let entry = note.entry.map(|entry| format!(":{entry}")).unwrap_or_default();
    let place = format!("{}{entry}", safe::line(&short(&note.session)));
    let when = run.recount.clock.minute(Time(note.time));
    let head = format!("{:>3}  {}  {when}", note.id, paint(style::NAME, &place));
    Ok(run.out.line(&format!("{head}  {}", safe::line(&marks(note))))?)
}

/// A note's star, words and tags in one line.
fn marks(note: &Note) -> String {
    let star = note.star.then(|| "★".to_owned());
    let tags = note.tags.iter().map(|tag| format!("#{tag}"));
    star.into_iter().chain(note.text.clone()).chain(tags).collect::<Vec<_>>().join(" ")
}

/// A note in a sentence, for pages and exports.
fn sentence(note: &Note) -> String {
    match note.entry {
        Some(entry) => format!("Note on entry {entry}: {}", marks(note)),
        None => format!("Note: {}", marks(note)),
    }
}

/// All notes by their sessions.
#[derive(Debug, Default)]
pub struct Notes(HashMap<String, Vec<Note>>);

impl Notes {
    /// The notes of the store. What can't be read is said, and the rest goes on.
    pub fn of(run: &mut Run) -> Self {
        let Ok(store) = run.recount.store() else { return Self::default() };
        let mut all: HashMap<String, Vec<Note>> = HashMap::new();
        match note::all(&store) {
            Ok(notes) => {
                notes.into_iter().for_each(|note| {
                    all.entry(note.session.clone()).or_default().push(note);
                });
            }
            Err(error) => run.talk.note(format!("Notes are left out: {error}")),
        }
        Self(all)
    }

    fn on(&self, session: &str) -> &[Note] {
        self.0.get(session).map_or(&[], Vec::as_slice)
    }

    /// Each note on a session as a sentence.
    pub fn sentences(&self, session: &str) -> Vec<String> {
        self.on(session).iter().map(sentence).collect()
    }

    /// Whether a session, or something in it, has a star.
    pub fn has_star(&self, session: &str) -> bool {
        self.on(session).iter().any(|note| note.star)
    }

    /// The tags of a session, each once.
    pub fn tags(&self, session: &str) -> Vec<&str> {
        let mut tags: Vec<&str> = Vec::new();
        for tag in self.on(session).iter().flat_map(|note| &note.tags) {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
        tags
    }

    /// How many notes with words there are on a session.
    pub fn count(&self, session: &str) -> usize {
        self.on(session).iter().filter(|note| note.text.is_some()).count()
    }
}
