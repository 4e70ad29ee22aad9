//! What was typed, and the sessions that only the prompts remember.
//!
//! A ghost is a session that `history.jsonl` names and no transcript is left of: Claude Code
//! sweeps transcripts away and never the history. Old lines name no session, so nobody can say
//! which of them are ghosts; they are grouped by project and kept apart.

use std::collections::{BTreeMap, HashSet};

use transcript::id::SessionId;
use transcript::path::RecordedPath;
use transcript::side::history::Prompt;
use transcript::time::Time;

use crate::filter::{Period, ProjectFilter};

/// A prompt, and which Claude folder remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The number of the folder.
    pub home: usize,
    /// The prompt.
    pub prompt: Prompt,
}

/// The prompts of several folders as one history, newest last.
///
/// A prompt without a time stays behind the one it was written after.
pub fn merge(homes: Vec<Vec<Prompt>>) -> Vec<Typed> {
    let mut all: Vec<(Option<Time>, Typed)> = Vec::new();
    for (home, prompts) in homes.into_iter().enumerate() {
        let mut latest = None;
        for prompt in prompts {
            latest = prompt.time.or(latest);
            all.push((latest, Typed { home, prompt }));
        }
    }
    all.sort_by_key(|(time, _)| *time);
    all.into_iter().map(|(_, typed)| typed).collect()
}

/// Which prompts are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of these projects.
    pub project: Option<ProjectFilter>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this time.
    pub period: Period,
    /// The last so many.
    pub limit: Option<usize>,
}

impl Filter {
    fn is_of_project(&self, project: Option<&RecordedPath>) -> bool {
        let Some(filter) = &self.project else {
            return true;
        };
        project.is_some_and(|path| filter.matches(path.as_str()))
    }

    fn is_of_session(&self, session: Option<&SessionId>) -> bool {
        self.session.is_none() || self.session.as_ref() == session
    }

    fn last<T>(&self, mut all: Vec<T>) -> Vec<T> {
        if let Some(limit) = self.limit {
            all.drain(..all.len().saturating_sub(limit));
        }
        all
    }
}

/// The prompts asked for, newest last.
pub fn select<'a>(history: &'a [Typed], filter: &Filter) -> Vec<&'a Typed> {
    let is_wanted = |typed: &&Typed| {
        let prompt = &typed.prompt;
        filter.is_of_project(prompt.project.as_ref())
            && filter.is_of_session(prompt.session.as_ref())
            && filter.period.holds(prompt.time)
    };
    filter.last(history.iter().filter(is_wanted).collect())
}

/// Prompts of a session without a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ghost {
    /// The session; `None` for the old prompts of one project, which name none.
    pub session: Option<SessionId>,
    /// The project of the first prompt.
    pub project: Option<RecordedPath>,
    /// The time of the first prompt.
    pub first: Option<Time>,
    /// The time of the last prompt.
    pub last: Option<Time>,
    /// How many prompts.
    pub prompts: usize,
    /// What was typed first.
    pub first_prompt: Option<Box<str>>,
}

impl Ghost {
    fn new(prompt: &Prompt) -> Self {
        Self {
            session: prompt.session.clone(),
            project: prompt.project.clone(),
            first: prompt.time,
            last: prompt.time,
            prompts: 0,
            first_prompt: prompt.display.clone(),
        }
    }

    fn add(&mut self, prompt: &Prompt) {
        self.prompts += 1;
        self.first = self.first.min(prompt.time).or(self.first).or(prompt.time);
        self.last = self.last.max(prompt.time);
    }
}

/// What the history remembers and the transcripts do not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ghosts {
    /// Sessions without a transcript, the last one last.
    pub sessions: Vec<Ghost>,
    /// Prompts that name no session, for each project.
    pub unnamed: Vec<Ghost>,
}

/// The ghosts asked for, where `known` are the sessions that have a transcript.
pub fn ghosts(history: &[Typed], known: &HashSet<SessionId>, filter: &Filter) -> Ghosts {
    let mut sessions = BTreeMap::new();
    let mut unnamed = BTreeMap::new();
    for Typed { prompt, .. } in history {
        let ghost = match &prompt.session {
            Some(session) if known.contains(session) => continue,
            Some(session) => sessions.entry(session).or_insert_with(|| Ghost::new(prompt)),
            None => unnamed.entry(&prompt.project).or_insert_with(|| Ghost::new(prompt)),
        };
        ghost.add(prompt);
    }
    let wanted = |all: Vec<Ghost>| {
        let mut all: Vec<Ghost> =
            all.into_iter().filter(|ghost| is_wanted(ghost, filter)).collect();
        all.sort_by_key(|ghost| ghost.last);
        filter.last(all)
    };
    Ghosts {
        sessions: wanted(sessions.into_values().collect()),
        unnamed: wanted(unnamed.into_values().collect()),
    }
}

fn is_wanted(ghost: &Ghost, filter: &Filter) -> bool {
    filter.is_of_project(ghost.project.as_ref())
        && filter.is_of_session(ghost.session.as_ref())
        && filter.period.meets(ghost.first, ghost.last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::side::history;

    const ONE: &str = concat!(
        r#"{"display":"old","pastedContents":{},"timestamp":10,"project":"/a"}"#,
        "\n",
        r#"{"display":"gone first","pastedContents":{},"timestamp":20,"project":"/a","sessionId":"gone"}"#,
        "\n",
        r#"{"display":"no time","pastedContents":{},"project":"/a","sessionId":"gone"}"#,
        "\n",
        r#"{"display":"kept","pastedContents":{},"timestamp":40,"project":"/b","sessionId":"kept"}"#,
        "\n",
    );
    const TWO: &str = concat!(
        r#"{"display":"other folder","pastedContents":{},"timestamp":30,"project":"/b","sessionId":"gone"}"#,
        "\n",
    );

    fn all() -> Vec<Typed> {
        merge([ONE, TWO].map(|text| history::parse(text.as_bytes()).0).into())
    }

    fn texts(filter: &Filter) -> Vec<String> {
        let all = all();
        let text = |typed: &&Typed| typed.prompt.display.as_deref().map(str::to_owned);
        select(&all, filter).iter().filter_map(text).collect()
    }

    #[test]
    fn folders_are_one_history() {
        let want = ["old", "gone first", "no time", "other folder", "kept"];
        assert_eq!(texts(&Filter::default()), want);
    }

    #[test]
    fn filters_hold_together() {
        let project = Some(ProjectFilter::Folder("/b".into()));
        assert_eq!(
            texts(&Filter { project: project.clone(), ..Filter::default() }),
            ["other folder", "kept"]
        );
        let period = Period { since: Some(Time(20)), until: Some(Time(40)) };
        assert_eq!(texts(&Filter { period, ..Filter::default() }), ["gone first", "other folder"]);
        let session = Some(SessionId::new("gone"));
        assert_eq!(texts(&Filter { project, session, ..Filter::default() }), ["other folder"]);
        assert_eq!(texts(&Filter { limit: Some(1), ..Filter::default() }), ["kept"]);
    }

    #[test]
    fn a_session_without_transcript_is_a_ghost() {
        let known = HashSet::from([SessionId::new("kept")]);
        let found = ghosts(&all(), &known, &Filter::default());
        let [ghost] = &found.sessions[..] else { panic!("{found:?}") };
        assert_eq!(ghost.session, Some(SessionId::new("gone")));
        assert_eq!((ghost.first, ghost.last, ghost.prompts), (Some(Time(20)), Some(Time(30)), 3));
        assert_eq!(ghost.first_prompt.as_deref(), Some("gone first"));
        let [old] = &found.unnamed[..] else { panic!("{found:?}") };
        assert_eq!((&old.session, old.prompts), (&None, 1));
    }
}
