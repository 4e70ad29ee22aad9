//! Writes one session (or agent) file and keeps its books.
//!
//! Lines go to the file as they are made. Blocks of one response wait until
//! the response is over, because only then its final token count is known:
//! releases since 2.1.97 write it on every line, older ones on the last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::clock::{self, Ms};
use crate::entry::{self, Envelope, Place};
use crate::json::{Raw, ToJson};
use crate::members;
use crate::random::Random;
use crate::truth::{ErrorTruth, FileTruth, RequestTruth, SegmentTruth, SessionTruth, Usage};

mod copy;
mod program;
pub mod tool;

/// A call that was made and can be answered.
#[derive(Clone, Debug)]
pub struct Call {
    /// `tool_use.id`.
    pub id: String,
    /// Uuid of the entry that holds the call.
    pub entry: String,
    /// Name of the tool.
    pub tool: String,
    /// Its input.
    pub input: Raw,
}

/// A point to go back to.
#[derive(Clone, Debug)]
pub struct Mark {
    parent: Option<String>,
    prompts: usize,
}

/// A chain entry kept for copying.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its envelope at the time.
    pub envelope: Envelope,
    /// Where it hangs.
    pub place: Place,
    /// `type`.
    pub kind: String,
    /// Second name.
    pub sub: Option<String>,
    /// Everything between the two halves of the envelope.
    pub body: String,
}

#[derive(Clone, Debug)]
struct Prompt {
    text: String,
    active: bool,
}

#[derive(Debug)]
struct Block {
    place: Place,
    block: Raw,
    extra: String,
    stop: &'static str,
}

#[derive(Debug)]
struct Request {
    id: String,
    request: String,
    output: u64,
    blocks: Vec<Block>,
}

/// The writer of one file.
#[derive(Debug)]
pub struct Scribe {
    /// Stamped on every chain entry from now on.
    pub envelope: Envelope,
    /// Source of ids.
    pub random: Random,
    /// The moment of the next entry.
    pub now: Ms,
    /// Model of the next response.
    pub model: String,
    /// The entry the next one will hang on.
    pub parent: Option<String>,
    /// What is known so far; adjusted by hand for cases out of the ordinary.
    pub truth: SessionTruth,
    /// What is known about the bytes.
    pub file: FileTruth,
    /// Second names met.
    pub kinds: BTreeMap<String, u64>,
    /// Chain entries written, when they are to be copied later.
    pub kept: Option<Vec<Kept>>,
    /// Leaves lists of prompts and requests out of the truth.
    pub brief: bool,
    /// Tokens in the context, growing with every response.
    pub context: u64,
    /// Position in the hour-cache or the five-minute one.
    pub hour_cache: bool,
    prompts: Vec<Prompt>,
    active_prompts: u64,
    rewound: BTreeSet<Option<String>>,
    request: Option<Request>,
    out: BufWriter<File>,
    failed: Option<io::Error>,
}

impl Scribe {
    /// Begins the file `dir/rel`.
    pub fn create(dir: &Path, rel: &str, envelope: Envelope, random: Random) -> io::Result<Scribe> {
        let path = crate::fixture::inside(dir, rel)?;
        let out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        let truth = SessionTruth {
            id: envelope.session.clone(),
            file: rel.to_string(),
            segments: vec![SegmentTruth::default()],
            ..SessionTruth::default()
        };
        Ok(Scribe {
            envelope,
            random,
            now: clock::at(2026, 1, 5, 9, 0),
            model: "claude-sonnet-4-5-20250929".into(),
            parent: None,
            truth,
            file: FileTruth { path: rel.to_string(), ..FileTruth::default() },
            kinds: BTreeMap::new(),
            kept: None,
            brief: false,
            context: 14_000,
            hour_cache: false,
            prompts: Vec::new(),
            active_prompts: 0,
            rewound: BTreeSet::new(),
            request: None,
            out,
            failed: None,
        })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.file.bytes
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: Ms) -> &mut Scribe {
        self.now += ms;
        self
    }

    /// The place of the next entry; a little time passes.
    pub fn place(&mut self) -> Place {
        self.now += self.random.between(40, 900);
        Place {
            uuid: self.random.uuid(),
            parent: self.parent.clone(),
            logical: None,
            at: clock::iso(self.now),
        }
    }

    // ---- lines -------------------------------------------------------------

    /// Writes a chain entry and goes on from it.
    pub fn put(&mut self, kind: &str, sub: Option<&str>, place: Place, body: String) -> String {
        self.flush();
        self.put_now(kind, sub, place, body)
    }

    fn put_now(&mut self, kind: &str, sub: Option<&str>, place: Place, body: String) -> String {
        let line = self.envelope.line(&place, kind == "user", &body);
        self.note_chain(&place, kind);
        self.write_line(&line);
        self.count(kind, sub);
        let uuid = place.uuid.clone();
        if let Some(kept) = &mut self.kept {
            let envelope = self.envelope.clone();
            let (kind, sub) = (kind.to_string(), sub.map(str::to_string));
            kept.push(Kept { envelope, place, kind, sub, body });
        }
        self.parent = Some(uuid.clone());
        uuid
    }

    fn note_chain(&mut self, place: &Place, kind: &str) {
        let truth = &mut self.truth;
        if truth.cwd.is_none() {
            truth.cwd = Some(self.envelope.cwd.clone());
        }
        if truth.first.as_ref().is_none_or(|first| place.at < *first) {
            truth.first = Some(place.at.clone());
        }
        if truth.last.as_ref().is_none_or(|last| place.at > *last) {
            truth.last = Some(place.at.clone());
        }
        if matches!(kind, "user" | "assistant") {
            truth.leaf = Some(place.uuid.clone());
        }
    }

    /// Writes a bookkeeping line (no place in the tree).
    pub fn line(&mut self, kind: &str, line: &str) {
        self.flush();
        self.write_line(line);
        self.count(kind, None);
    }

    /// Counts an entry that was written by other means.
    pub fn count(&mut self, kind: &str, sub: Option<&str>) {
        add_one(&mut self.truth.entries, kind);
        if let Some(sub) = sub {
            add_one(&mut self.kinds, &format!("{kind}/{sub}"));
        }
    }

    /// Writes bytes that are not one good line. `salvage` entries can still be
    /// read from them; `newlines` of them end a line.
    pub fn damage(&mut self, oddity: &str, bytes: &[u8], salvage: u64) {
        self.flush();
        self.write(bytes);
        self.file.lines += bytes.iter().filter(|&&b| b == b'\n').count() as u64;
        self.file.damaged += 1;
        self.file.salvageable += salvage;
        self.oddity(oddity);
    }

    /// Names an oddity of the file.
    pub fn oddity(&mut self, name: &str) {
        self.file.oddities.push(name.to_string());
    }

    /// Writes bytes without counting lines.
    pub fn write(&mut self, bytes: &[u8]) {
        self.file.bytes += bytes.len() as u64;
        if let Err(error) = self.out.write_all(bytes) {
            self.failed.get_or_insert(error);
        }
    }

    fn write_line(&mut self, line: &str) {
        self.write(line.as_bytes());
        self.write(b"\n");
        self.file.lines += 1;
    }

    // ---- the person --------------------------------------------------------

    /// A prompt typed by a person.
    pub fn prompt(&mut self, text: &str) -> String {
        self.prompt_blocks(text, &text.raw())
    }

    /// A prompt of several blocks; `text` is what the person typed.
    pub fn prompt_blocks(&mut self, text: &str, content: &Raw) -> String {
        self.note_prompt(text);
        if self.envelope.since(76) {
            self.envelope.prompt_id = Some(self.random.uuid());
        }
        let extra = self.prompt_extra();
        self.user(content, &extra)
    }

    fn prompt_extra(&self) -> String {
        if self.envelope.sidechain {
            return String::new();
        }
        if self.envelope.since(181) {
            let origin = crate::obj! { "kind": "human" };
            return members! {
                "permissionMode": "default", "origin": origin, "promptSource": "typed"
            };
        }
        if self.envelope.since(15) {
            return members! { "permissionMode": "default" };
        }
        String::new()
    }

    /// Writes down a prompt of this session's active branch.
    pub fn note_prompt(&mut self, text: &str) {
        let first = !self.truth.titles.contains_key("first-prompt");
        if first {
            let title: String = text.chars().take(200).collect();
            self.truth.titles.insert("first-prompt".into(), title);
        }
        self.active_prompts += 1;
        let kept = if self.brief { String::new() } else { text.chars().take(80).collect() };
        if !self.brief {
            self.prompts.push(Prompt { text: kept, active: true });
        }
    }

    /// A user entry that is no prompt; `extra` members follow the timestamp.
    pub fn user(&mut self, content: &Raw, extra: &str) -> String {
        let place = self.place();
        self.user_at(place, content, "", extra)
    }

    /// A user entry at a place of its own.
    pub fn user_at(&mut self, place: Place, content: &Raw, flags: &str, extra: &str) -> String {
        let mut body = String::with_capacity(content.0.len() + extra.len() + 256);
        body.push_str("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        body.push_str(&content.0);
        body.push('}');
        join(&mut body, flags);
        join(&mut body, &members! { "uuid": place.uuid, "timestamp": place.at });
        join(&mut body, extra);
        self.put("user", None, place, body)
    }

    /// Text injected by the program (`isMeta`).
    pub fn meta(&mut self, text: &str) -> String {
        let leaf = self.truth.leaf.clone();
        let place = self.place();
        let uuid = self.user_at(place, &text.raw(), "\"isMeta\":true", "");
        self.truth.leaf = leaf;
        uuid
    }

    /// A slash command typed by a person; not counted as a turn.
    pub fn command(&mut self, name: &str, args: &str) -> String {
        self.truth.commands += 1;
        let text = format!(
            "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            <command-args>{args}</command-args>"
        );
        self.user(&text.raw(), "")
    }

    /// Remembers this point.
    pub fn mark(&mut self) -> Mark {
        self.flush();
        Mark { parent: self.parent.clone(), prompts: self.prompts.len() }
    }

    /// Goes back to `mark` as `/rewind` does: nothing is written, the prompts
    /// since then are abandoned and the next entry begins a new branch.
    pub fn rewind(&mut self, mark: &Mark) {
        self.flush();
        self.truth.forks.rewind += 1;
        self.rewound.insert(mark.parent.clone());
        self.truth.forks.rewind_points = self.rewound.len() as u64;
        for prompt in self.prompts.iter_mut().skip(mark.prompts).filter(|prompt| prompt.active) {
            prompt.active = false;
            self.active_prompts -= 1;
        }
        self.parent = mark.parent.clone();
    }

    /// Says that the prompts from `from` up to `to` are (not) on the active branch.
    pub fn set_active(&mut self, from: &Mark, to: &Mark, active: bool) {
        for prompt in &mut self.prompts[from.prompts..to.prompts] {
            prompt.active = active;
        }
        self.active_prompts = self.prompts.iter().filter(|prompt| prompt.active).count() as u64;
    }

    // ---- the assistant -----------------------------------------------------

    /// A `text` block of the current response.
    pub fn say(&mut self, text: &str) -> String {
        let tokens = text.len() as u64 / 4 + 3;
        self.block(entry::text(text), tokens, "end_turn", "")
    }

    /// A `thinking` block; releases 2.1.64 to 2.1.199 store its signature only.
    pub fn think(&mut self, text: &str) -> String {
        let signature = format!("Ev{}CkYICxgCKkA{}", self.random.hex(4), self.random.hex(64));
        let hidden = self.envelope.since(64) && !self.envelope.since(200);
        let block = entry::thinking(if hidden { "" } else { text }, &signature);
        self.block(block, text.len() as u64 / 4 + 3, "end_turn", "")
    }

    /// A `tool_use` block.
    pub fn call(&mut self, tool: &str, input: Raw) -> Call {
        let id = self.random.id("toolu_01");
        let block = entry::tool_use(&self.envelope.version, &id, tool, &input);
        let tokens = input.0.len() as u64 / 4 + 30;
        let entry = self.block(block, tokens, "tool_use", "");
        self.truth.calls += 1;
        Call { id, entry, tool: tool.to_string(), input }
    }

    /// Any block; `extra` members stand after `requestId`.
    pub fn block(&mut self, block: Raw, tokens: u64, stop: &'static str, extra: &str) -> String {
        let place = self.place();
        self.parent = Some(place.uuid.clone());
        let uuid = place.uuid.clone();
        let block = Block { place, block, extra: extra.to_string(), stop };
        if self.request.is_none() {
            let (id, request) = (self.random.id("msg_01"), self.random.id("req_011C"));
            self.request = Some(Request { id, request, output: 0, blocks: Vec::new() });
        }
        let request = self.request.as_mut().expect("made above");
        request.output += tokens;
        request.blocks.push(block);
        uuid
    }

    /// Ends the current response, so that the next block begins another.
    pub fn flush(&mut self) {
        let Some(request) = self.request.take() else { return };
        let tokens = self.tokens(&request);
        let last = request.blocks.len() - 1;
        let parent = self.parent.clone();
        let stop = request.blocks[last].stop;
        let mut most = 0;
        for (i, block) in request.blocks.iter().enumerate() {
            let mut shown = tokens;
            shown.output = self.shown_output(tokens.output, i, last);
            most = most.max(shown.output);
            self.put_block(&request, block, self.stop_shown(stop), shown);
        }
        let first = request.blocks[0].place.at.clone();
        self.note_request(&request.id, first, Usage { output: most, ..tokens });
        // A rewind or a parallel result may have moved on already.
        self.parent = parent;
    }

    fn put_block(&mut self, request: &Request, block: &Block, stop: Option<&str>, usage: Usage) {
        let ids = (request.id.as_str(), self.model.as_str());
        let message = entry::message(&self.envelope.version, ids, &block.block, stop, usage);
        let mut body = String::with_capacity(message.0.len() + 256);
        body.push_str("\"message\":");
        body.push_str(&message.0);
        join(&mut body, &members! { "requestId": request.request });
        join(&mut body, &block.extra);
        let place = &block.place;
        join(
            &mut body,
            &members! { "type": "assistant", "uuid": place.uuid, "timestamp": place.at },
        );
        self.put_now("assistant", None, place.clone(), body);
    }

    fn stop_shown(&self, stop: &'static str) -> Option<&'static str> {
        self.envelope.since(64).then_some(stop)
    }

    /// Older releases write streaming placeholders on all lines but the last,
    /// and between 2.1.0 and 2.1.63 often on the last one too.
    fn shown_output(&mut self, full: u64, i: usize, last: usize) -> u64 {
        if self.envelope.since(97) {
            return full;
        }
        let streamed = self.envelope.since(0) && !self.envelope.since(64) && full % 5 < 2;
        if i < last || streamed { (1 + i as u64).min(5) } else { full }
    }

    fn tokens(&mut self, request: &Request) -> Usage {
        let written = self.random.between(120, 2_400);
        let usage = Usage {
            input: self.random.between(2, 12),
            output: request.output,
            cache_write_5m: if self.hour_cache { 0 } else { written },
            cache_write_1h: if self.hour_cache { written } else { 0 },
            cache_read: self.context,
        };
        self.context += written + request.output;
        usage
    }

    /// Writes down a request of this file.
    pub fn note_request(&mut self, id: &str, at: String, usage: Usage) {
        if self.model == "<synthetic>" {
            return;
        }
        self.truth.request_count += 1;
        self.truth.usage.add(usage);
        if !self.brief {
            self.truth.requests.push(RequestTruth {
                id: id.to_string(),
                model: self.model.clone(),
                at,
                agent: self.envelope.agent.clone(),
                replayed: false,
                usage,
            });
        }
    }

    // ---- results -----------------------------------------------------------

    /// The result of `call`, hanging on the current entry.
    pub fn result(&mut self, call: &Call, content: &Raw, shape: &Raw) -> String {
        self.result_with(call, content, None, shape)
    }

    /// The result of `call`, hanging on the call itself (calls made at once).
    pub fn result_on_call(&mut self, call: &Call, content: &Raw, shape: &Raw) -> String {
        self.flush();
        self.parent = Some(call.entry.clone());
        self.result_with(call, content, None, shape)
    }

    /// A failed call; `toolUseResult` repeats the text as a string.
    pub fn fail(&mut self, call: &Call, error: &str) -> String {
        let shape = format!("Error: {error}").raw();
        self.truth.errors.push(ErrorTruth {
            tool: call.tool.clone(),
            tool_use_id: call.id.clone(),
            error: error.to_string(),
            input: serde_json::from_str(&call.input.0).expect("inputs are made as JSON"),
        });
        self.result_with(call, &error.raw(), Some(true), &shape)
    }

    /// A result with all its parts.
    pub fn result_with(
        &mut self,
        call: &Call,
        content: &Raw,
        error: Option<bool>,
        shape: &Raw,
    ) -> String {
        let error = error.or((call.tool == "Bash").then_some(false));
        let block = entry::tool_result(&call.id, content, error);
        let mut extra = String::with_capacity(shape.0.len() + 96);
        if !(self.envelope.sidechain && self.envelope.agent.is_some()) {
            extra.push_str("\"toolUseResult\":");
            extra.push_str(&shape.0);
        }
        if self.envelope.since(1) {
            join(&mut extra, &members! { "sourceToolAssistantUUID": call.entry });
        }
        self.user(&Raw(format!("[{}]", block.0)), &extra)
    }

    /// Ends the file and gives the books up.
    pub fn finish(mut self) -> io::Result<(SessionTruth, FileTruth, BTreeMap<String, u64>)> {
        self.flush();
        self.out.flush()?;
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut truth = self.truth;
        truth.turns = self.active_prompts;
        if !self.brief {
            truth.abandoned = self.prompts.len() as u64 - self.active_prompts;
            let active = self.prompts.into_iter().filter(|prompt| prompt.active);
            truth.prompts = active.map(|prompt| prompt.text).collect();
        }
        choose_title(&mut truth);
        Ok((truth, self.file, self.kinds))
    }
}

/// The sentence every compaction summary begins with.
pub const CONTINUED: &str = "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below";

fn add_one(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(n) => *n += 1,
        None => {
            counts.insert(name.to_string(), 1);
        }
    }
}

fn choose_title(truth: &mut SessionTruth) {
    for source in ["custom", "ai", "last-prompt", "summary", "first-prompt"] {
        if let Some(title) = truth.titles.get(source) {
            truth.title = Some(title.clone());
            truth.title_source = Some(source.to_string());
            return;
        }
    }
}

/// Appends members to members.
pub fn join(body: &mut String, more: &str) {
    if !more.is_empty() {
        if !body.is_empty() {
            body.push(',');
        }
        body.push_str(more);
    }
}
