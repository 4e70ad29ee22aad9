//! All tool calls, each counted once.

use report::filter::{Period, ProjectFilter};
use report::tools::{self, CallFact};

use crate::error::HistoryError;
use crate::recount::Recount;
use crate::sessions::Stray;

impl Recount {
    /// The tool calls of a period and of some projects. A call that several files hold a copy of
    /// counts once.
    pub fn tool_calls(
        &mut self,
        period: Period,
        project: Option<&ProjectFilter>,
    ) -> Result<Vec<CallFact>, HistoryError> {
        if let Some(imported) = self.open_imported()? {
            return imported.calls(period, project);
        }
        let (library, taken) =
            self.read_sessions(|_, session, source| Some(tools::calls(session, source)))?;
        let mut calls = Vec::new();
        let is_asked = |cwd: &Option<Box<str>>| {
            project.is_none_or(|project| cwd.as_deref().is_some_and(|cwd| project.matches(cwd)))
        };
        for Stray { item, taken, .. } in self.find_strays(&library, tools::calls) {
            if is_asked(&item.facts.cwd) {
                calls.extend(taken.into_iter().filter(|call| period.holds(call.time)));
            }
        }
        for (at, (card, own)) in library.cards.iter().zip(taken).enumerate() {
            if is_asked(&card.facts.cwd) {
                let own = own.unwrap_or_default().into_iter();
                calls.extend(
                    own.filter(|call| period.holds(call.time) && !library.is_copy(at, call.entry)),
                );
            }
        }
        Ok(calls)
    }
}
