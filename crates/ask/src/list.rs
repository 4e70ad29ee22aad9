//! The list of all sessions, also of those of which only prompts are left.

use report::list::{self, List, ListFilter, ListOrder, Pulse};
use transcript::library::{Library, SessionItem};

use crate::error::HistoryError;
use crate::recount::Recount;

/// All sessions with their states, before they are filtered and sorted.
pub struct SessionOverview {
    library: Library,
    prompts_only: Vec<SessionItem>,
    pulse: Pulse,
}

impl SessionOverview {
    /// The sessions that pass a filter, in an order.
    pub fn list(&self, filter: &ListFilter, order: ListOrder) -> List<'_> {
        list::list(&self.library, &self.prompts_only, &self.pulse, filter, order)
    }
}

impl Recount {
    /// All sessions with their states.
    pub fn session_overview(&mut self) -> Result<SessionOverview, HistoryError> {
        let pulse = self.running_sessions()?;
        let library = self.all_sessions()?;
        let prompts_only = self.prompts_only(&library)?;
        Ok(SessionOverview { library, prompts_only, pulse })
    }
}
