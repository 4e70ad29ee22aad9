//! Which entries are in the model's context, by the last request that was recorded.
//!
//! The request decides: an entry before it that it does not have is not in the context, and one
//! that it has is, in its order. What came after the request is in the next one.

use std::collections::HashMap;

use transcript::layout::Problem;
use transcript::reading::EntryReading;
use transcript::request::sent::RecordedMessage;
use transcript::request::{MessageSource, RequestLog};
use transcript::session::Role;
use transcript::source::Source;

use super::{SentRequest, rebuild, request_ref};
use transcript::record::Opened;

/// A context as the last request has it.
#[derive(Debug)]
pub struct RecordedContext {
    /// The request.
    pub request: SentRequest,
    /// Entries that it has, in its order, then those after it.
    pub nodes: Vec<usize>,
    /// How many of them came after the request.
    pub after: usize,
}

/// The context by the last request that was answered among these entries; `None` where none is
/// recorded or a part of it is missing.
pub fn recorded_context(
    log: &RequestLog,
    source: &Source,
    opened: &Opened<'_>,
    nodes: &[usize],
) -> Result<Option<RecordedContext>, Problem> {
    let Some((index, answered)) = last_answered(log, opened, nodes)? else { return Ok(None) };
    let request = rebuild(log, index, source, opened)?;
    if !request.missing.is_empty() {
        return Ok(None);
    }
    let all = opened.session().nodes();
    let own = all.partition_point(|node| node.source == 0);
    let at = |offset: u64| all[..own].binary_search_by_key(&offset, |node| node.offset).ok();
    let (mut places, blobs) = message_places(&request, at);
    // The client writes requests and entries independently of each other: the answer may stand
    // before its request.
    let is_after = |position: usize, node: usize| {
        position >= answered || (all[node].source == 0 && all[node].offset > request.span.offset)
    };
    let of = |wanted: bool| {
        let nodes = nodes.iter().copied().enumerate();
        let chosen = nodes.filter(move |&(position, node)| is_after(position, node) == wanted);
        chosen.map(|(_, node)| node)
    };
    let mut sent: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    for node in of(false) {
        let place = match (places.remove(&node), all[node].role) {
            (Some(place), _) => Some(place),
            // Attachments are sent as messages of their own; a boundary is not sent.
            (None, Role::Attachment | Role::Boundary) => Some(last),
            (None, _) => in_blobs(opened, node, &blobs)?,
        };
        if let Some(place) = place {
            last = place;
            sent.push((place, node));
        }
    }
    let mut left: Vec<_> = places.into_iter().map(|(node, place)| (place, node)).collect();
    left.sort_unstable();
    sent.extend(left);
    // Entries of one message keep the order of the chain, which is not always that of the file.
    sent.sort_by_key(|&(place, _)| place);
    let mut in_order: Vec<usize> = sent.into_iter().map(|(_, node)| node).collect();
    let after: Vec<usize> = of(true).collect();
    let count = after.len();
    in_order.extend(after);
    Ok(Some(RecordedContext { request, nodes: in_order, after: count }))
}

/// The place in the request of each entry that it names, and the messages it has whole.
fn message_places(
    request: &SentRequest,
    node_at: impl Fn(u64) -> Option<usize>,
) -> (HashMap<usize, usize>, Vec<(usize, RecordedMessage)>) {
    let (mut places, mut blobs) = (HashMap::new(), Vec::new());
    for (place, message) in request.messages.iter().enumerate() {
        match (&message.source, &message.json) {
            (MessageSource::Entries(spans), _) => {
                places.extend(spans.iter().filter_map(|span| Some((node_at(span.offset)?, place))));
            }
            (MessageSource::Blob(_), Some(json)) => {
                blobs.push((place, RecordedMessage::from_json(json)))
            }
            _ => {}
        }
    }
    (places, blobs)
}

/// The last request that was answered, and where its answer begins among the nodes.
fn last_answered(
    log: &RequestLog,
    opened: &Opened<'_>,
    nodes: &[usize],
) -> Result<Option<(usize, usize)>, Problem> {
    if log.requests().is_empty() {
        return Ok(None);
    }
    let all = opened.session().nodes();
    let answers = nodes.iter().enumerate().rev().filter(|&(_, &node)| {
        all[node].is_by_model() && all[node].source == 0 && all[node].role != Role::ApiError
    });
    let mut last = None;
    for (position, &node) in answers {
        let index = request_ref(opened, node)?.and_then(|id| log.by_id(&id));
        match (last, index) {
            (None, Some(index)) => last = Some((index, position)),
            // An answer is written as one entry for each of its blocks.
            (Some((known, _)), Some(index)) if known == index => last = Some((index, position)),
            (Some(_), _) => break,
            (None, None) => {}
        }
    }
    Ok(last)
}

/// The message that has what an entry says, together with something else.
fn in_blobs(
    opened: &Opened<'_>,
    node: usize,
    blobs: &[(usize, RecordedMessage)],
) -> Result<Option<usize>, Problem> {
    if blobs.is_empty() {
        return Ok(None);
    }
    let bytes = opened.bytes(node)?;
    let entry = EntryReading::from_bytes(&bytes);
    Ok(blobs.iter().rev().find(|(_, message)| message.holds_entry(&entry)).map(|(place, _)| *place))
}
