//! Which tool calls failed, and with which later success of the same tool.

use std::collections::HashSet;

use report::errors::{self, ErrorGroup, ErrorItem};
use report::filter::{Period, ProjectFilter};
use transcript::id::SessionId;
use transcript::layout::{FileKind, Found, Problem};
use transcript::library::{Library, SessionItem};
use transcript::session::Session;
use transcript::source::Source;

use crate::error::HistoryError;
use crate::name::SessionName;
use crate::recount::Recount;

/// Which failed calls to find.
#[derive(Debug, Default)]
pub struct ErrorsQuery {
    /// Only of this session and its subagents.
    pub session: Option<SessionName>,
    /// Only of these projects.
    pub project: Option<ProjectFilter>,
    /// Only of this period.
    pub period: Period,
    /// Only of this tool, in any case.
    pub tool: Option<String>,
    /// Only those whose input or error contains all of these words, in any case.
    pub words: Vec<String>,
    /// Whether to pair each error with the next success of the same tool.
    pub fixes: bool,
    /// At most this many, the latest.
    pub limit: Option<usize>,
}

/// A failed call and where it happened.
#[derive(Debug)]
pub struct FailedCall {
    /// The session.
    pub session: Option<String>,
    /// The subagent.
    pub agent: Option<String>,
    /// The transcript.
    pub file: String,
    /// What failed.
    pub item: ErrorItem,
}

/// Failed calls that are alike, the most frequent first.
pub fn group_failed_calls(calls: &[FailedCall]) -> Vec<ErrorGroup> {
    let pairs = calls.iter().map(|call| (call.session.as_deref().unwrap_or_default(), &call.item));
    errors::summary(pairs)
}

impl ErrorsQuery {
    fn is_wanted(&self, call: &FailedCall) -> bool {
        let tool = call.item.tool.as_deref();
        let is_tool = |wanted: &String| tool.is_some_and(|tool| tool.eq_ignore_ascii_case(wanted));
        self.period.holds(call.item.time)
            && self.tool.as_ref().is_none_or(is_tool)
            && self.has_words(&call.item)
    }

    fn has_words(&self, item: &ErrorItem) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let input = item.input.as_deref().unwrap_or_default();
        let text = format!("{} {input}", item.error.text()).to_lowercase();
        self.words.iter().all(|word| text.contains(&word.to_lowercase()))
    }
}

type TakenErrors = Result<Vec<ErrorItem>, Problem>;

impl Recount {
    /// The failed calls, oldest first. Each counts once, also where several files hold a copy.
    pub fn failed_calls(&mut self, query: &ErrorsQuery) -> Result<Vec<FailedCall>, HistoryError> {
        let mut calls = match &query.session {
            Some(name @ (SessionName::Path(_) | SessionName::Stdin)) => {
                self.failed_calls_of_file(name, query)?
            }
            _ => match self.open_imported()? {
                Some(imported) => {
                    imported.errors(query.session.as_ref(), query.project.as_ref())?
                }
                None => self.failed_calls_of_sessions(query)?,
            },
        };
        calls.retain(|call| query.is_wanted(call));
        calls.sort_by(|a, b| {
            let key = |call: &FailedCall| (call.item.time, call.file.clone(), call.item.offset);
            key(a).cmp(&key(b))
        });
        if let Some(limit) = query.limit {
            calls.drain(..calls.len().saturating_sub(limit));
        }
        Ok(calls)
    }

    fn failed_calls_of_file(
        &mut self,
        name: &SessionName,
        query: &ErrorsQuery,
    ) -> Result<Vec<FailedCall>, HistoryError> {
        let open = self.open_session(name)?;
        let items = errors::errors(&open.session, &open.sources[0], query.fixes)?;
        let session = open.session.id().map(|id| id.to_string());
        let file = open.sources[0].path().display().to_string();
        let call =
            |item| FailedCall { session: session.clone(), agent: None, file: file.clone(), item };
        Ok(items.into_iter().map(call).collect())
    }

    fn failed_calls_of_sessions(
        &mut self,
        query: &ErrorsQuery,
    ) -> Result<Vec<FailedCall>, HistoryError> {
        let ErrorsQuery { fixes, .. } = *query;
        let project = query.project.as_ref();
        let take = |_: &Found, session: &Session, source: &Source| -> Option<TakenErrors> {
            let items = errors::errors(session, source, fixes);
            (!matches!(&items, Ok(items) if items.is_empty())).then_some(items)
        };
        let (library, taken, only) = match &query.session {
            None => {
                let (library, taken) = self.read_sessions(take)?;
                (library, taken, None)
            }
            Some(name) => {
                let library = self.all_sessions()?;
                let only = self.resolve_session(name, &library)?;
                let is_its = |card: usize| library.cards[card].id.as_ref() == Some(&only);
                let taken = self.take_from(&library, is_its, take);
                (library, taken, Some(only))
            }
        };
        let strays =
            self.find_strays(&library, |session, source| errors::errors(session, source, fixes));
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        for (card, taken) in taken.into_iter().enumerate() {
            let Some(items) = taken.and_then(|taken| self.or_skip(taken)) else { continue };
            let session = library.cards[card].id.as_ref();
            if only.as_ref().is_some_and(|only| session != Some(only))
                || project.is_some_and(|p| !is_of_project(&library, card, p))
            {
                continue;
            }
            // A named session shows what it holds; over all sessions each error counts once.
            let mut counts = |item: &ErrorItem| match only {
                Some(_) => seen.insert(item.key),
                None => !library.is_copy(card, item.key),
            };
            let counted = items.into_iter().filter(|item| counts(item));
            all.extend(counted.map(|item| call_of_card(&library, card, item)));
        }
        for stray in strays {
            let is_asked = is_stray_asked(stray.item, only.as_ref(), project);
            let Some(items) = self.or_skip(stray.taken).filter(|_| is_asked) else { continue };
            let (session, file) = (Some(stray.item.id.to_string()), stray.file);
            all.extend(items.into_iter().map(|item| FailedCall {
                session: session.clone(),
                agent: None,
                file: file.clone(),
                item,
            }));
        }
        Ok(all)
    }
}

fn is_stray_asked(
    owner: &SessionItem,
    only: Option<&SessionId>,
    project: Option<&ProjectFilter>,
) -> bool {
    let is_session = only.is_none_or(|only| *only == owner.id);
    is_session
        && project.is_none_or(|p| owner.facts.cwd.as_deref().is_some_and(|cwd| p.matches(cwd)))
}

fn is_of_project(library: &Library, card: usize, project: &ProjectFilter) -> bool {
    library.cards[card].facts.cwd.as_deref().is_some_and(|cwd| project.matches(cwd))
}

fn call_of_card(library: &Library, card: usize, item: ErrorItem) -> FailedCall {
    let card = &library.cards[card];
    let agent = match &card.found.kind {
        FileKind::Agent { agent, .. } => Some(agent.to_string()),
        _ => None,
    };
    FailedCall {
        session: card.id.as_ref().map(|id| id.to_string()),
        agent,
        file: card.found.path.display().to_string(),
        item,
    }
}
