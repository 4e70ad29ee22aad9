//! How a person names a session, and which one that is, in every command.
//!
//! An id or the unique beginning of one in any case, `latest` (the first that `recount list`
//! shows), `.` (the first that it shows of this folder), a path, `-`.

use std::collections::HashSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use report::filter::ProjectFilter;
use report::list::{self, ListFilter, ListOrder, ListRow, Pulse};
use transcript::id::SessionId;
use transcript::library::{Library, SessionItem, Standing};
use transcript::path::slug_matches;

const MAX_SUGGESTIONS: usize = 3;

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

/// The sessions that can be named, in the order of `recount list`.
#[derive(Debug, Default)]
pub struct SessionNames(Vec<NamedSession>);

/// A session that can be named.
#[derive(Debug)]
struct NamedSession {
    id: SessionId,
    project: Option<String>,
    /// For suggestions.
    title: Option<String>,
    /// Whether `recount list` shows it: not a copy, a stub, or known by a side file alone.
    is_listed: bool,
}

impl NamedSession {
    fn new(row: &ListRow<'_>, is_listed: bool) -> Self {
        Self {
            id: row.item.id.clone(),
            project: row.project.clone(),
            title: row.item.title.as_ref().map(|(title, _)| title.to_string()),
            is_listed,
        }
    }

    fn is_of(&self, folder: &str) -> bool {
        let is_inside = |project: &str| ProjectFilter::Folder(folder.into()).matches(project);
        // Without a recorded folder the project is the name of the project folder.
        self.project.as_deref().is_some_and(|p| is_inside(p) || slug_matches(p, folder))
    }
}

impl SessionNames {
    /// The sessions of a library, and those of which only prompts are left.
    pub fn of(library: &Library, prompts_only: &[SessionItem]) -> Self {
        let rows = |filter: ListFilter| {
            list::list(library, prompts_only, &Pulse::default(), &filter, ListOrder::Time).rows
        };
        let listed = rows(ListFilter::default());
        let mut names: Vec<_> = listed.iter().map(|row| NamedSession::new(row, true)).collect();
        let all = rows(ListFilter { all: true, ..ListFilter::default() });
        let others = all.iter().filter(|row| row.item.standing != Standing::Whole);
        names.extend(others.map(|row| NamedSession::new(row, false)));
        Self(names)
    }

    /// Adds sessions of which only something beside a transcript is known.
    pub fn and(mut self, ids: impl IntoIterator<Item = SessionId>) -> Self {
        let known: HashSet<SessionId> = self.0.iter().map(|named| named.id.clone()).collect();
        let mut new: Vec<SessionId> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        new.sort_unstable();
        new.dedup();
        let named = |id| NamedSession { id, project: None, title: None, is_listed: false };
        self.0.extend(new.into_iter().map(named));
        self
    }

    /// The session that a name stands for. A path names the session of its file.
    pub fn resolve(
        &self,
        noun: Noun,
        name: &SessionName,
        here: &Path,
    ) -> Result<SessionId, NameError> {
        let mut listed = self.0.iter().filter(|named| named.is_listed);
        let folder = here.to_string_lossy();
        let found = match name {
            SessionName::Stdin => return Err(NameError::NoStdin),
            SessionName::Path(path) => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
                return Ok(SessionId::new(&*stem));
            }
            SessionName::Latest => listed.next().ok_or(NameError::NoneAtAll(noun))?,
            SessionName::Here => listed
                .find(|named| named.is_of(&folder))
                .ok_or_else(|| NameError::NoneHere { noun, folder: here.into() })?,
            SessionName::Id(text) => return self.by_id(noun, text),
        };
        Ok(found.id.clone())
    }

    fn by_id(&self, noun: Noun, text: &str) -> Result<SessionId, NameError> {
        let ids: Vec<&str> = self.0.iter().map(|named| named.id.as_str()).collect();
        let id = pick(noun, text, &ids).map_err(|error| self.with_titles(error))?;
        Ok(SessionId::new(id))
    }

    /// Suggests the sessions that have the name in their title.
    fn with_titles(&self, error: NameError) -> NameError {
        let NameError::Unknown { noun, name, mut nearest } = error else {
            return error;
        };
        let wanted = name.to_lowercase();
        let has_it = |named: &&NamedSession| {
            named.title.as_ref().is_some_and(|title| title.to_lowercase().contains(&wanted))
        };
        let titled = self.0.iter().filter(has_it).map(|named| named.id.as_str());
        let room = MAX_SUGGESTIONS - nearest.len().min(MAX_SUGGESTIONS);
        nearest.extend(short(titled.take(room).collect()));
        NameError::Unknown { noun, name, nearest }
    }
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

/// The one of `ids` that `name` is, or is the beginning of, whatever the case.
pub fn pick<'a>(noun: Noun, name: &str, ids: &[&'a str]) -> Result<&'a str, NameError> {
    if let Some(id) = ids.iter().find(|id| id.eq_ignore_ascii_case(name)) {
        return Ok(id);
    }
    let begins =
        |id: &&str| id.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    let mut matches: Vec<&str> = ids.iter().copied().filter(begins).collect();
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
    short(near.into_iter().take(MAX_SUGGESTIONS).map(|(_, id)| id).collect())
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
    const D: &str = "99000000-0000-4000-8000-000000000004";

    /// In the order of `recount list`: B, C, A; D is a copy.
    fn names() -> SessionNames {
        let named =
            |id: &str, project: Option<&str>, title: Option<&str>, is_listed| NamedSession {
                id: SessionId::new(id),
                project: project.map(Into::into),
                title: title.map(Into::into),
                is_listed,
            };
        SessionNames(vec![
            named(B, None, Some("Fix the Parser"), true),
            named(C, Some("-home-x-app"), None, true),
            named(A, Some("/home/x/app"), None, true),
            named(D, Some("/home/x/app"), None, false),
        ])
    }

    fn check(name: &str, want: &str) {
        let name: SessionName = name.parse().expect("any text is a name");
        let got = match names().resolve(Noun::Session, &name, Path::new("/home/x/app")) {
            Ok(id) => id.to_string(),
            Err(NameError::Ambiguous { matches, .. }) => format!("ambiguous {}", matches.join(" ")),
            Err(NameError::Unknown { nearest, .. }) => format!("unknown {}", nearest.join(" ")),
            Err(other) => format!("{other:?}"),
        };
        assert_eq!(got, want, "{name:?}");
    }

    #[test]
    fn a_name_stands_for_one_session() {
        check(B, B);
        check("77c", C);
        check("77C0", C);
        check("3F2A9", A);
        check("99", D);
        check("latest", B);
        check(".", C);
        check("-", "NoStdin");
        check("./x.jsonl", "x");
        check("x.jsonl", "x");
    }

    #[test]
    fn errors_say_what_could_be_meant() {
        check("3f2a", "ambiguous 3f2a91c0 3f2ab774");
        check("77c0ffe0", "unknown 77c0ffee");
        check("parser", "unknown 3f2ab774");
        check("zzzz", "unknown ");
    }

    #[test]
    fn nothing_to_choose_from() {
        let none = |name| SessionNames::default().resolve(Noun::Log, name, Path::new("/x"));
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
