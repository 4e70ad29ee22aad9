//! Records out of the bytes of a session's files.

use super::{Body, Detail, LARGEST, Media, Record};
use crate::dialect::{ClaudeCode, Dialect, RecordContent};
use crate::layout::Problem;
use crate::session::Session;
use crate::source::Source;

/// A session with the files its entries stand in.
#[derive(Debug)]
pub struct Opened<'a> {
    session: &'a Session,
    sources: &'a [Source],
    is_tail: bool,
    /// Nodes of results with their calls, sorted.
    results: Vec<(usize, usize)>,
}

impl<'a> Opened<'a> {
    /// `sources` are counted by [`crate::session::Node::source`]; of a tail the numbers of
    /// entries are not known.
    pub fn new(session: &'a Session, sources: &'a [Source], is_tail: bool) -> Self {
        let calls = session.calls().iter().enumerate();
        let mut results: Vec<_> = calls.filter_map(|(i, c)| Some((c.result()?, i))).collect();
        results.sort_unstable();
        Self { session, sources, is_tail, results }
    }

    /// The session.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// The bytes of an entry.
    pub fn bytes(&self, node: usize) -> Result<Vec<u8>, Problem> {
        let node = &self.session.nodes()[node];
        let last = self.sources.len() - 1;
        self.sources[usize::from(node.source).min(last)].entry(node)
    }

    /// The record of a node; `None` for a result that is shown with its call.
    pub fn record(&self, node: usize) -> Result<Option<Record>, Problem> {
        if self.is_shown_elsewhere(node) {
            return Ok(None);
        }
        if self.session.nodes()[node].length > LARGEST {
            return Ok(Some(self.frame(node, Body::TooLarge)));
        }
        let content = ClaudeCode::read_content(self, node, &self.bytes(node)?)?;
        let RecordContent { body, model, permission_mode, tokens } = content;
        Ok(Some(Record { model, permission_mode, tokens, ..self.frame(node, body) }))
    }

    /// The model that an entry names.
    pub fn model(&self, node: usize) -> Result<Option<String>, Problem> {
        self.fact(node, ClaudeCode::model_of)
    }

    /// What was permitted when an entry was written, where it says so.
    pub fn permission_mode(&self, node: usize) -> Result<Option<String>, Problem> {
        self.fact(node, ClaudeCode::permission_mode_of)
    }

    fn fact(
        &self,
        node: usize,
        of: impl Fn(&[u8]) -> Option<String>,
    ) -> Result<Option<String>, Problem> {
        if self.session.nodes()[node].length > LARGEST {
            return Ok(None);
        }
        Ok(of(&self.bytes(node)?))
    }

    /// A picture or document of an entry, or of the result of a call in it, by its place in the
    /// list of what is described there. `None` for one whose bytes are not in the entry.
    pub fn media(
        &self,
        node: usize,
        call: Option<&str>,
        at: usize,
    ) -> Result<Option<Media>, Problem> {
        Ok(ClaudeCode::media_at(&self.bytes(node)?, call, at))
    }

    /// The record of a node without what it says, which is not read.
    pub fn bare(&self, node: usize) -> Record {
        self.frame(node, Body::TooLarge)
    }

    /// Whether a result's call is in the session, so that the call's record shows it.
    pub fn is_shown_elsewhere(&self, node: usize) -> bool {
        self.results.binary_search_by_key(&node, |p| p.0).is_ok()
    }

    /// The node whose record shows a node: of a result its call, else itself.
    pub fn shown_at(&self, node: usize) -> usize {
        let found = self.results.binary_search_by_key(&node, |p| p.0).ok();
        found.map_or(node, |at| self.session.calls()[self.results[at].1].node())
    }

    /// An entry as it stands in the file; of one too long to be held, how long it is.
    pub fn line(&self, node: usize) -> Result<String, Problem> {
        let length = self.session.nodes()[node].length;
        if length > LARGEST {
            return Ok(format!("{{\"left_out\":\"{length} bytes\"}}"));
        }
        Ok(String::from_utf8_lossy(&self.bytes(node)?).trim_end().to_owned())
    }

    /// The first level that shows a node.
    pub fn detail(&self, node: usize) -> Detail {
        Detail::of_role(self.session.nodes()[node].role)
    }

    fn frame(&self, index: usize, body: Body) -> Record {
        let node = &self.session.nodes()[index];
        let above = self.session.parent(index).and_then(|above| self.session.nodes()[above].time());
        let after = node.time().zip(above).map(|(time, above)| time.since(above));
        Record {
            node: index,
            number: self.number(index),
            offset: node.offset,
            length: node.length,
            source: node.source,
            time: node.time(),
            after_ms: after.filter(|&ms| ms >= 0),
            role: node.role,
            state: self.session.state(index),
            turn: self.session.turn_of(index).filter(|_| !self.is_tail),
            segment: self.session.segment_of(index).filter(|_| !self.is_tail),
            model: None,
            permission_mode: None,
            tokens: None,
            detail: self.detail(index),
            body,
        }
    }

    /// The number of an entry in its file; of a tail it is not known.
    pub fn number(&self, node: usize) -> Option<u32> {
        (!self.is_tail).then(|| self.session.nodes()[node].number)
    }
}

/// What the result of a call says, out of its entry.
pub fn output(entry: &[u8], call: &str) -> Option<String> {
    ClaudeCode::result_text(entry, call)
}

/// An entry's picture or document, counted as the records count media.
pub fn picture(entry: &[u8], at: usize) -> Option<Media> {
    ClaudeCode::picture_at(entry, at)
}
