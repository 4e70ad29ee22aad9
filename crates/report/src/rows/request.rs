//! Rows of responses.

use store::table::schema::REQUESTS;
use transcript::usage::Mode;

use super::file::File;
use super::line::Head;
use super::{Maker, Visitor};
use crate::price::plain_id;
use crate::usage::{Name, Response};

impl Maker<'_> {
    /// The rows of responses that one file owns, if it is there to tell their places.
    pub(super) fn requests<'r>(
        &self,
        responses: impl Iterator<Item = &'r Response>,
        file: Option<&File<'_>>,
        each: &mut Visitor<'_>,
    ) {
        let mut last = None;
        let mut part = 0;
        for response in responses {
            // What advisors said comes after what they said it in.
            part = if response.is_advisor && last == Some(response.key) { part + 1 } else { 0 };
            last = Some(response.key);
            let (table, row) = self.request(response, part, file);
            each(table, row);
        }
    }

    fn request(
        &self,
        response: &Response,
        part: usize,
        file: Option<&File<'_>>,
    ) -> (&'static store::table::Table, store::table::Row) {
        let ledger = self.responses.ledger;
        let name = |name: Option<Name>| name.map(|name| ledger.name(name));
        let session = ledger.name(response.session);
        // An entry is named within its session: what another session's file holds has no name.
        let own = file.filter(|file| file.head.session() == session);
        let place = own.and_then(|file| file.place_of(response.offset));
        let label = own.and_then(|file| file.head.agent());
        let agent = label.or(name(response.agent));
        let model = name(response.model);
        let tokens = &response.tokens;
        let Mode { is_fast, is_us, is_batch, is_priority } = response.mode;
        Head::new(self.origin, session, agent)
            .agent_line(&REQUESTS)
            .maybe_count(place.and_then(|place| place.turn))
            .maybe_count(place.map(|place| place.entry))
            .count(part as u64)
            .time(response.time)
            .days(response.time)
            .maybe_text(name(response.project))
            .maybe_text(name(response.branch))
            .maybe_text(model.map(|model| plain_id(model).0))
            .maybe_text(model)
            .count(tokens.input)
            .count(tokens.output)
            .count(tokens.cache_read)
            .count(tokens.cache_write_5m)
            .count(tokens.cache_write_1h)
            .count(response.web_searches)
            .count(response.requests())
            .count(response.tools.len() as u64)
            .maybe_count(response.cost)
            .text(response.confidence.name())
            .maybe_text(response.cost.and_then(|_| self.price(model?, response)))
            .is(is_fast)
            .is(is_us)
            .is(is_batch)
            .is(is_priority)
            .is(response.has_source)
            .count(response.replays)
            .text(format!("{:032x}", response.key.0))
            .end()
    }

    /// The row of the table of prices: the model and the day since which it costs that.
    fn price(&self, model: &str, response: &Response) -> Option<String> {
        let (model, _) = self.responses.prices.find(model)?;
        let from = model.period(response.time)?.from;
        Some(from.map_or_else(|| model.id.clone(), |from| format!("{} {from}", model.id)))
    }
}
