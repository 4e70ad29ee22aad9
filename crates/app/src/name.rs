//! How a person names a session, and which one that is.
//!
//! Full id, unique beginning of one, `latest`, `.` (latest of this folder), a path, `-`. What
//! the sessions are is not known here: each command gives its candidates.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use transcript::id::SessionId;
use transcript::layout::{FileKind, Found};
use transcript::path::{RecordedPath, slug_matches};
use transcript::time::Time;

/// At most so many are suggested.
const NEAREST_MOST: usize = 3;

/// A session as it stands in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionName {
    /// An id or the beginning of one.
    Id(String),
    /// `latest`.
    Latest,
    /// `.`: the latest of this folder.
    Here,
    /// A file.
    Path(PathBuf),
    /// `-`: standard input.
    Stdin,
}

impl FromStr for SessionName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        // Ids have no separators and no dots, so nothing is taken from them.
        let is_path = text.contains(std::path::is_separator)
            || [".jsonl", ".txt"].iter().any(|end| text.ends_with(end));
        Ok(match text {
            "latest" => Self::Latest,
            "." => Self::Here,
            "-" => Self::Stdin,
            _ if is_path => Self::Path(text.into()),
            _ => Self::Id(text.into()),
        })
    }
}

/// A session that can be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: SessionId,
    /// The file that is read for it.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: Option<Time>,
    /// Where it ran, as recorded.
    pub cwd: Option<RecordedPath>,
    /// The name of its project folder.
    pub slug: Option<Box<str>>,
    /// Its title, for suggestions.
    pub title: Option<String>,
}

impl Candidate {
    /// A session of which only a side file is known.
    pub fn new(id: SessionId, path: PathBuf, modified: Option<Time>) -> Self {
        Self { id, path, modified, cwd: None, slug: None, title: None }
    }

    fn is_of(&self, folder: &str) -> bool {
        self.cwd.as_ref().is_some_and(|cwd| cwd.as_str() == folder)
            || self.slug.as_ref().is_some_and(|slug| slug_matches(slug, folder))
    }
}

/// Gives candidates the project folders in which the transcripts of their sessions lie.
pub fn place<'a>(candidates: &mut [Candidate], files: impl Iterator<Item = &'a Found>) {
    let slugs: std::collections::HashMap<&SessionId, &str> = files
        .filter_map(|found| match &found.kind {
            FileKind::Session { project_slug, session } => Some((session, &**project_slug)),
            _ => None,
        })
        .collect();
    for candidate in candidates {
        candidate.slug = slugs.get(&candidate.id).map(|&slug| slug.into());
    }
}

/// What a name stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum Resolved<'a> {
    /// One of the candidates.
    Session(&'a Candidate),
    /// A file.
    Path(&'a Path),
    /// Standard input.
    Stdin,
}

/// What is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// A session.
    Session,
    /// A session's debug log.
    Log,
    /// A session's list of things to do.
    Todos,
    /// A plan.
    Plan,
}

/// Why a name stands for nothing.
#[derive(Debug, PartialEq, Eq)]
pub enum NameError {
    /// It is the beginning of several.
    Ambiguous {
        /// Of what.
        noun: Noun,
        /// What was given.
        name: String,
        /// What it could be, so short that each is unique.
        matches: Vec<String>,
    },
    /// It is the beginning of none.
    Unknown {
        /// Of what.
        noun: Noun,
        /// What was given.
        name: String,
        /// What is like it.
        nearest: Vec<String>,
    },
    /// It is that of a session of which only prompts are left.
    Ghost {
        /// Its id.
        id: String,
        /// How many prompts.
        prompts: usize,
    },
    /// `latest`, and there are none.
    NoneAtAll(Noun),
    /// `.`, and there are none of this folder.
    NoneHere {
        /// Of what.
        noun: Noun,
        /// The folder.
        folder: PathBuf,
    },
    /// `-`, and the command needs a session's name, not its entries.
    NoStdin,
}

/// Which of the candidates is meant. Of several files of one session it is the latest.
pub fn resolve<'a>(
    noun: Noun,
    name: &'a SessionName,
    candidates: &'a [Candidate],
    here: &Path,
) -> Result<Resolved<'a>, NameError> {
    let found = match name {
        SessionName::Stdin => return Ok(Resolved::Stdin),
        SessionName::Path(path) => return Ok(Resolved::Path(path)),
        SessionName::Latest => latest(candidates.iter()).ok_or(NameError::NoneAtAll(noun))?,
        SessionName::Here => {
            let folder = here.to_string_lossy();
            latest(candidates.iter().filter(|candidate| candidate.is_of(&folder)))
                .ok_or_else(|| NameError::NoneHere { noun, folder: here.into() })?
        }
        SessionName::Id(id) => by_id(noun, id, candidates)?,
    };
    Ok(Resolved::Session(found))
}

/// Which session is meant, where only its id is needed. A path names the session of its file.
pub fn resolve_id(
    noun: Noun,
    name: &SessionName,
    candidates: &[Candidate],
    here: &Path,
) -> Result<SessionId, NameError> {
    match resolve(noun, name, candidates, here)? {
        Resolved::Session(candidate) => Ok(candidate.id.clone()),
        Resolved::Path(path) => {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
            Ok(SessionId::new(&*stem))
        }
        Resolved::Stdin => Err(NameError::NoStdin),
    }
}

fn by_id<'a>(
    noun: Noun,
    name: &str,
    candidates: &'a [Candidate],
) -> Result<&'a Candidate, NameError> {
    let ids: Vec<&str> = candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    let id = pick(noun, name, &ids).map_err(|error| with_titles(error, candidates))?;
    let same = candidates.iter().filter(|candidate| candidate.id.as_str() == id);
    latest(same).ok_or(NameError::NoneAtAll(noun))
}

fn latest<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    candidates.max_by(|a, b| a.modified.cmp(&b.modified).then_with(|| b.id.cmp(&a.id)))
}

/// Suggests the sessions that have the name in their title.
fn with_titles(error: NameError, candidates: &[Candidate]) -> NameError {
    let NameError::Unknown { noun, name, mut nearest } = error else {
        return error;
    };
    let wanted = name.to_lowercase();
    let has_it = |candidate: &&Candidate| {
        candidate.title.as_ref().is_some_and(|title| title.to_lowercase().contains(&wanted))
    };
    let titled = candidates.iter().filter(has_it).map(|candidate| candidate.id.as_str());
    nearest.extend(short(titled.take(NEAREST_MOST - nearest.len().min(NEAREST_MOST)).collect()));
    NameError::Unknown { noun, name, nearest }
}

/// The one of `ids` that `name` is, or is the beginning of.
pub fn pick<'a>(noun: Noun, name: &str, ids: &[&'a str]) -> Result<&'a str, NameError> {
    if let Some(id) = ids.iter().find(|&&id| id == name) {
        return Ok(id);
    }
    let mut matches: Vec<&str> = ids.iter().copied().filter(|id| id.starts_with(name)).collect();
    matches.sort_unstable();
    matches.dedup();
    match matches[..] {
        [id] => Ok(id),
        [] => {
            let nearest = nearest(name, ids);
            Err(NameError::Unknown { noun, name: name.into(), nearest })
        }
        _ => Err(NameError::Ambiguous { noun, name: name.into(), matches: short(matches) }),
    }
}

/// Ids that begin almost like `name`.
fn nearest(name: &str, ids: &[&str]) -> Vec<String> {
    let length = name.chars().count();
    let slips_most = (length / 4).max(1);
    if length < 2 {
        return Vec::new();
    }
    let slips = |id: &str| {
        let same = name.chars().zip(id.chars()).filter(|(a, b)| a.eq_ignore_ascii_case(b)).count();
        length - same
    };
    let mut near: Vec<(usize, &str)> =
        ids.iter().map(|&id| (slips(id), id)).filter(|(slips, _)| *slips <= slips_most).collect();
    near.sort_unstable();
    near.dedup();
    short(near.into_iter().take(NEAREST_MOST).map(|(_, id)| id).collect())
}

/// Ids as short as they can be told apart: UUIDs at 8 characters, or as many as it needs.
fn short(ids: Vec<&str>) -> Vec<String> {
    let cut = |id: &str, length: usize| id.chars().take(length).collect::<String>();
    let is_uuid = |id: &&str| id.len() == 36 && id.as_bytes()[8] == b'-';
    let full = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0);
    let from = if ids.iter().all(is_uuid) { 8 } else { full };
    let is_unique = |length: &usize| {
        let all: std::collections::HashSet<String> =
            ids.iter().map(|id| cut(id, *length)).collect();
        all.len() == ids.len()
    };
    let length = (from..full).find(is_unique).unwrap_or(full);
    ids.iter().map(|id| cut(id, length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3f2a91c0-0000-4000-8000-000000000001";
    const B: &str = "3f2ab774-0000-4000-8000-000000000002";
    const C: &str = "77c0ffee-0000-4000-8000-000000000003";

    fn candidates() -> Vec<Candidate> {
        let new = |id: &str, path: &str, ms| {
            Candidate::new(SessionId::new(id), path.into(), Some(Time(ms)))
        };
        let mut all = vec![new(A, "old/a", 1), new(A, "new/a", 2), new(B, "b", 9), new(C, "c", 5)];
        all[0].cwd = Some(RecordedPath::new("/home/x/app"));
        all[3].slug = Some("-home-x-app".into());
        all[2].title = Some("Fix the Parser".into());
        all
    }

    fn check(name: &str, want: &str) {
        let all = candidates();
        let name: SessionName = name.parse().expect("any text is a name");
        let got = match resolve(Noun::Session, &name, &all, Path::new("/home/x/app")) {
            Ok(Resolved::Session(candidate)) => candidate.path.display().to_string(),
            Ok(other) => format!("{other:?}"),
            Err(NameError::Ambiguous { matches, .. }) => format!("ambiguous {}", matches.join(" ")),
            Err(NameError::Unknown { nearest, .. }) => format!("unknown {}", nearest.join(" ")),
            Err(other) => format!("{other:?}"),
        };
        assert_eq!(got, want, "{name:?}");
    }

    #[test]
    fn names() {
        check(B, "b");
        check("77", "c");
        check("3f2a9", "new/a");
        check("latest", "b");
        check(".", "c");
        check("-", "Stdin");
        check("./x.jsonl", "Path(\"./x.jsonl\")");
        check("x.jsonl", "Path(\"x.jsonl\")");
    }

    #[test]
    fn errors_say_what_could_be_meant() {
        check("3f2a", "ambiguous 3f2a91c0 3f2ab774");
        check("77c0ffe0", "unknown 77c0ffee");
        check("77C0", "unknown 77c0ffee");
        check("parser", "unknown 3f2ab774");
        check("zzzz", "unknown ");
    }

    #[test]
    fn nothing_to_choose_from() {
        let none = |name| resolve(Noun::Log, name, &[], Path::new("/x"));
        assert_eq!(none(&SessionName::Latest), Err(NameError::NoneAtAll(Noun::Log)));
        let here = NameError::NoneHere { noun: Noun::Log, folder: "/x".into() };
        assert_eq!(none(&SessionName::Here), Err(here));
    }

    #[test]
    fn short_ids_stay_unique() {
        let like_a = A.replace("0001", "0009");
        assert_eq!(short(vec![A, &like_a]), [A, &like_a]);
        assert_eq!(short(vec!["calm-red-fox", "calm-red-owl"]), ["calm-red-fox", "calm-red-owl"]);
    }
}
