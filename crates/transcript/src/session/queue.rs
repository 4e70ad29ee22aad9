//! Prompts that a person typed while the model worked.
//!
//! `queue-operation` lines say what happens to them: `enqueue` with the text, then `dequeue` (it
//! becomes a prompt of its own), `remove` or `absorb` (it is put into the running turn) or `popAll`
//! (it goes back to the input). Since 2.1.92 a prompt that is put into the running turn is
//! written again as a `queued_command` attachment. Before that, the `enqueue` line is its only
//! copy, so that line is the prompt.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::build::{Builder, words_key};
use super::node::{Node, Role, flag};
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::prompt::{self, Voice};

/// What became of a queued prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    /// It is still in the queue.
    Waiting,
    /// It became a prompt of its own.
    Sent,
    /// It was put into the running turn, or taken out of the queue by the person.
    Removed,
    /// It went back to the input.
    Returned,
}

/// A line that queued a prompt.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct QueuedPrompt {
    node: u32,
    words: Key,
    fate: Fate,
}

/// The queue so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    prompts: Vec<QueuedPrompt>,
    /// No prompt before this one waits any more.
    first_waiting: usize,
}

/// A prompt that is taken out by its text is looked for among this many at most.
const MAX_NAMED_LOOKUP: usize = 1000;

impl Queue {
    /// Takes one prompt out: the one that is named, else the oldest.
    fn take(&mut self, words: Option<Key>, fate: Fate) {
        let waiting = &mut self.prompts[self.first_waiting..];
        let is_named = |p: &QueuedPrompt| p.fate == Fate::Waiting && Some(p.words) == words;
        let named = waiting.iter().take(MAX_NAMED_LOOKUP).position(is_named);
        let oldest = waiting.iter().position(|p| p.fate == Fate::Waiting);
        if let Some(at) = named.or(oldest) {
            waiting[at].fate = fate;
        }
        let done = waiting.iter().take_while(|p| p.fate != Fate::Waiting).count();
        self.first_waiting += done;
    }

    fn return_all(&mut self) {
        let waiting = self.prompts[self.first_waiting..].iter_mut();
        waiting.filter(|p| p.fate == Fate::Waiting).for_each(|p| p.fate = Fate::Returned);
        self.first_waiting = self.prompts.len();
    }
}

impl Builder {
    /// Takes a `queue-operation` line. One that queues a prompt is taken for the prompt until
    /// another entry delivers it ([`Builder::settle_queue`]).
    pub(super) fn queue_operation(&mut self, entry: &Entry<'_>, index: u32, node: &mut Node) {
        let text = prompt::typed_text(entry);
        let words = text.as_deref().map(words_key);
        match entry.string("operation").as_deref() {
            Some("enqueue") => {}
            Some("dequeue") => return self.queue.take(words, Fate::Sent),
            Some("remove" | "absorb") => return self.queue.take(words, Fate::Removed),
            Some("popAll") => return self.queue.return_all(),
            _ => return,
        }
        let Some((text, words)) = text.zip(words) else { return };
        if prompt::of_text(&text) != Voice::Prompt {
            return;
        }
        node.role = if text.trim_start().starts_with('/') { Role::Command } else { Role::Queued };
        node.mark_local_command(&text);
        self.queue.prompts.push(QueuedPrompt { node: index, words, fate: Fate::Waiting });
    }

    /// Says of each queued prompt whether its line is the prompt, and whether it was delivered.
    pub(super) fn settle_queue(&mut self) {
        let mut said: HashMap<Key, usize> = HashMap::new();
        for &(node, words) in &self.words {
            let node = &self.nodes[node as usize];
            if node.role.is_person() && !node.has(flag::REPEAT) {
                *said.entry(words).or_default() += 1;
            }
        }
        let first_attachment = self.nodes.iter().position(|n| n.kind == Kind::Attachment);
        for at in 0..self.queue.prompts.len() {
            let QueuedPrompt { node, words, fate } = self.queue.prompts[at].clone();
            let copies = said.get_mut(&words).filter(|copies| **copies > 0);
            let has_copy = copies.is_some();
            copies.into_iter().for_each(|copies| *copies -= 1);
            // Where attachments are written, one that was put into the turn has left its own.
            let leaves_copy = first_attachment.is_some_and(|first| first < node as usize);
            let node = &mut self.nodes[node as usize];
            if has_copy {
                node.role = Role::Bookkeeping;
                node.flags |= flag::DELIVERED_ELSEWHERE;
                continue;
            }
            let is_delivered = match fate {
                Fate::Sent => true,
                Fate::Removed => !leaves_copy,
                Fate::Waiting | Fate::Returned => false,
            };
            if node.role == Role::Queued && !is_delivered {
                node.role = Role::Undelivered;
            }
        }
    }
}
