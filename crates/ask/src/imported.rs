//! Answers of a store that lakes were read into: it has tables and no files.

use std::ops::ControlFlow;

use hashbrown::HashMap;
use report::filter::{Period, ProjectFilter};
use report::rows::back;
use report::tools::CallFact;
use report::usage::Ledger;
use store::table::keep::Tables;
use store::table::schema::{CALLS, PRS, REQUESTS, SESSIONS, SUBAGENTS};
use store::table::{Row, Table};

use crate::error::{HistoryError, StoreError};
use crate::errors::FailedCall;
use crate::ledger::{Agents, Prs};
use crate::name::SessionName;
use crate::recount::Recount;

/// The tables of a store that lakes were read into.
pub struct Imported(Tables);

impl Recount {
    /// The tables, if the store has nothing else.
    pub fn open_imported(&mut self) -> Result<Option<Imported>, HistoryError> {
        let store = self.store()?;
        let tables = Tables::with_words(&store).map_err(StoreError::from)?;
        let Some(tables) = tables else { return Ok(None) };
        let is_imported = tables.state().map_err(StoreError::from)?.is_imported;
        Ok(is_imported.then_some(Imported(tables)))
    }
}

impl Imported {
    fn each(&self, table: &'static Table, mut take: impl FnMut(Row)) -> Result<(), HistoryError> {
        let each = |row| {
            take(row);
            ControlFlow::Continue(())
        };
        Ok(self.0.rows(table, None, true, each).map_err(StoreError::from)?)
    }

    /// Everything that was used, as it was priced when it was written.
    pub fn ledger(&self) -> Result<Ledger, HistoryError> {
        let mut ledger = Ledger::default();
        self.each(&REQUESTS, |row| back::response(&mut ledger, &row))?;
        self.each(&SESSIONS, |row| back::understated(&mut ledger, &row))?;
        ledger.responses.sort_by_key(|response| response.time);
        Ok(ledger)
    }

    /// What a view needs beside the ledger.
    pub fn links(&self) -> Result<(Agents, Prs), HistoryError> {
        let (mut agents, mut prs) = (Agents::new(), Prs::new());
        self.each(&SUBAGENTS, |row| back::kind(&row, &mut agents))?;
        self.each(&PRS, |row| back::pr(&row, &mut prs))?;
        Ok((agents, prs))
    }

    fn projects(&self) -> Result<HashMap<String, String>, HistoryError> {
        let mut projects = HashMap::new();
        self.each(&SESSIONS, |row| back::project(&row, &mut projects))?;
        Ok(projects)
    }

    /// All calls.
    pub fn calls(
        &self,
        period: Period,
        project: Option<&ProjectFilter>,
    ) -> Result<Vec<CallFact>, HistoryError> {
        let projects = self.projects()?;
        let mut calls = Vec::new();
        self.each(&CALLS, |row| {
            let (session, call) = back::call(&row);
            if is_of(project, &projects, &session) && period.holds(call.time) {
                calls.push(call);
            }
        })?;
        Ok(calls)
    }

    /// All calls that failed, of all sessions or of those whose id begins so.
    pub fn errors(
        &self,
        name: Option<&SessionName>,
        project: Option<&ProjectFilter>,
    ) -> Result<Vec<FailedCall>, HistoryError> {
        let name = match name {
            None => None,
            Some(SessionName::Id(id)) => Some(id.as_str()),
            Some(_) => return Err(StoreError::ByIdOnly.into()),
        };
        let projects = self.projects()?;
        let mut errors = Vec::new();
        self.each(&CALLS, |row| {
            let Some((session, agent, item)) = back::error(&row) else { return };
            let is_named = name.is_none_or(|name| session.starts_with(name));
            if is_named && is_of(project, &projects, &session) {
                errors.push(FailedCall {
                    session: Some(session),
                    agent,
                    file: String::new(),
                    item,
                });
            }
        })?;
        Ok(errors)
    }
}

fn is_of(
    project: Option<&ProjectFilter>,
    projects: &HashMap<String, String>,
    session: &str,
) -> bool {
    project.is_none_or(|wanted| projects.get(session).is_some_and(|own| wanted.matches(own)))
}
