//! Entries into claims.

use std::io;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use super::{Claim, Claims, Iteration, Mode, NONE, Oddity, Place, Tokens};
use crate::diagnostic::Diagnostic;
use crate::entry::message::{Block, BlockKind, Content, Message};
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::json::{Raw, Str};
use crate::line::{Batch, Line, LineReader};
use crate::time::Time;

/// Stands in every line with a response, in both dialects, at the top or inside a progress entry.
const MARK: &[u8] = b"\"assistant\"";

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));

/// More tokens than this in one response are a slip of the writer.
const MOST: u64 = 1_000_000_000_000;

/// Whether there may be a response in a line.
pub fn is_marked(line: &[u8]) -> bool {
    FINDER.find(line).is_some()
}

/// A line of a response, wherever it stands.
struct Told<'e, 'a> {
    message: &'e Message<'a>,
    request: Option<Str<'a>>,
    uuid: Option<Str<'a>>,
    time: Option<Time>,
    agent: Option<Str<'a>>,
    is_sidechain: bool,
    is_progress: bool,
}

/// What a usage says.
struct Seen {
    tokens: Tokens,
    mode: Mode,
    web_searches: u32,
    iterations: Vec<Iteration>,
    has_dropped: bool,
}

impl Claims {
    /// Everything in a file, from its beginning.
    pub fn read(input: impl io::Read) -> io::Result<Self> {
        let mut claims = Self::default();
        let (mut lines, mut batch) = (LineReader::new(input, 0), Batch::default());
        let mut odd: Vec<Diagnostic> = Vec::new();
        while lines.next_batch(&mut batch)? {
            for line in batch.lines_with(&FINDER) {
                Entry::read(line, &mut odd, |entry| claims.entry(&entry));
            }
            odd.clear();
        }
        Ok(claims)
    }

    /// Takes a line; one that comes again changes nothing.
    pub fn line(&mut self, line: Line<'_>) {
        if is_marked(line.bytes) {
            let mut odd: Vec<Diagnostic> = Vec::new();
            Entry::read(line, &mut odd, |entry| self.entry(&entry));
        }
    }

    /// Takes an entry of a line for which [`is_marked`] holds.
    pub fn entry(&mut self, entry: &Entry<'_>) {
        match entry.kind {
            Kind::Assistant => {
                let Some(message) = &entry.message else { return };
                let told = Told {
                    message,
                    request: entry.request,
                    uuid: entry.uuid,
                    time: entry.time,
                    agent: entry.agent,
                    is_sidechain: entry.is_sidechain,
                    is_progress: false,
                };
                self.told(entry, &told);
            }
            Kind::Progress if entry.inner_type().is_some_and(|t| t.is("agent_progress")) => {
                self.progress(entry);
            }
            _ => {}
        }
    }

    /// Older versions told what a subagent said in the progress of its call.
    fn progress(&mut self, entry: &Entry<'_>) {
        let Some(data) = entry.field("data") else { return };
        let Some(inner) = data.get("message") else { return };
        if !inner.get("type").and_then(Raw::str).is_some_and(|t| t.is("assistant")) {
            return;
        }
        let Some(message) = inner.get("message").and_then(Message::of) else { return };
        let string = |key: &str| inner.get(key).and_then(Raw::str);
        let told = Told {
            message: &message,
            request: string("requestId"),
            uuid: string("uuid"),
            time: string("timestamp").and_then(|s| Time::parse(s.raw())).or(entry.time),
            agent: data.get("agentId").and_then(Raw::str),
            is_sidechain: true,
            is_progress: true,
        };
        self.told(entry, &told);
    }

    fn told(&mut self, entry: &Entry<'_>, told: &Told<'_, '_>) {
        let message = told.message;
        // An error of the API or a notice of Claude Code: no response of a model.
        if message.model.is_some_and(|model| model.is("<synthetic>")) {
            return;
        }
        let named = [message.id, told.request, told.uuid].into_iter().flatten();
        let Some(id) = { named }.find(|id| !id.is_empty()) else { return };
        let key = Key::of_str(id);
        let place = Place { offset: entry.offset, time: told.time };
        let usage = message.usage.filter(|usage| usage.is_object());
        let seen = usage.map(|usage| self.usage(usage, entry.offset));
        let at = self.place_of(key);
        if at == self.list.len() {
            let claim = self.claim(key, place, entry, told);
            self.list.push(claim);
        }
        self.fill(at, entry, told);
        self.tools(at, message);
        let claim = &mut self.list[at];
        claim.has_stopped = message.stop_reason.is_some();
        claim.is_progress &= told.is_progress;
        if let Some(cost) = entry.field("costUSD").and_then(Raw::f64).filter(|c| *c > 0.0) {
            claim.claimed_cost = Some((cost * 1e6).round() as u64);
        }
        let Some(seen) = seen else { return };
        let size = |tokens: &Tokens| (tokens.output, tokens.total());
        let is_more = !claim.has_usage || size(&seen.tokens) >= size(&claim.tokens);
        claim.has_usage = true;
        // What a line lacks may be more than what another line has.
        claim.has_dropped = seen.has_dropped || (claim.has_dropped && !is_more);
        if is_more {
            claim.place = place;
            claim.tokens = seen.tokens;
            claim.mode = seen.mode;
            claim.web_searches = seen.web_searches;
            claim.iterations = seen.iterations;
        }
    }

    /// Where the claim of a response is, or will be; most often it is the last one.
    fn place_of(&mut self, key: Key) -> usize {
        let list = &self.list;
        if list.last().is_some_and(|last| last.key == key) {
            return list.len() - 1;
        }
        let key_of = |at: usize| list[at].key;
        if self.firsts.is_empty() {
            for (claim, next) in list.iter().zip(0..) {
                self.firsts.add(claim.key, next, key_of);
            }
        }
        self.firsts.add(key, list.len() as u32, key_of) as usize
    }

    fn claim(&mut self, key: Key, place: Place, entry: &Entry<'_>, told: &Told<'_, '_>) -> Claim {
        let is_other = |root: Str<'_>| entry.session.is_some_and(|own| own.raw() != root.raw());
        self.is_marked_copy |= entry.field("forkedFrom").is_some_and(Raw::is_object)
            || entry.lineage.is_some_and(is_other)
            || entry.field("sessionKind").is_some_and(|kind| kind.bytes() == b"\"bg\"");
        Claim {
            key,
            first: place,
            place,
            tokens: Tokens::default(),
            mode: Mode::default(),
            web_searches: 0,
            iterations: Vec::new(),
            tools: SmallVec::new(),
            model: NONE,
            session: NONE,
            project: NONE,
            branch: NONE,
            version: NONE,
            agent: told.agent.map_or(NONE, |agent| self.names.add(agent)),
            claimed_cost: None,
            has_stopped: false,
            has_usage: false,
            has_dropped: false,
            is_sidechain: told.is_sidechain,
            is_progress: told.is_progress,
        }
    }

    /// Takes what the lines before left out: anything may be null, and not on every line.
    fn fill(&mut self, at: usize, entry: &Entry<'_>, told: &Told<'_, '_>) {
        let claim = &mut self.list[at];
        claim.first.time = claim.first.time.or(told.time);
        for (name, text) in [
            (&mut claim.model, told.message.model),
            (&mut claim.session, entry.session),
            (&mut claim.project, entry.cwd),
            (&mut claim.branch, entry.git_branch.filter(|branch| !branch.is_empty())),
            (&mut claim.version, entry.version),
        ] {
            if *name == NONE {
                *name = text.map_or(NONE, |text| self.names.add(text));
            }
        }
    }

    /// Each line has some of the blocks; none of them is lost and none counts twice.
    fn tools(&mut self, at: usize, message: &Message<'_>) {
        let Content::Blocks(blocks) = &message.content else { return };
        for block in blocks.iter().filter(|block: &&Block<'_>| block.kind == BlockKind::ToolUse) {
            let Some(name) = block.name else { continue };
            let name = self.names.add(name);
            let tools = &mut self.list[at].tools;
            // A call without an id can only be told by its name.
            let call = block.id.map_or(0, |id| Key::of_str(id).short());
            if !tools.contains(&(name, call)) {
                tools.push((name, call));
            }
        }
    }

    fn usage(&mut self, usage: Raw<'_>, at: u64) -> Seen {
        let [speed, geo, tier, server, made_of] = usage.get_all([
            "speed",
            "inference_geo",
            "service_tier",
            "server_tool_use",
            "iterations",
        ]);
        let word =
            |raw: Option<Raw<'_>>, is: &str| raw.and_then(Raw::str).is_some_and(|w| w.is(is));
        let mode = Mode {
            is_fast: word(speed, "fast"),
            is_us: word(geo, "us"),
            is_batch: word(tier, "batch"),
            is_priority: word(tier, "priority"),
        };
        let searches = server.and_then(|t| t.get("web_search_requests"));
        let web_searches = self.count(searches, at).min(u64::from(u32::MAX)) as u32;
        let tokens = self.tokens(usage, at);
        let mut iterations = Vec::new();
        for item in made_of.into_iter().flat_map(Raw::items) {
            let kind = item.get("type").and_then(Raw::str);
            let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
            let advisor = match is("advisor_message") {
                true => {
                    let model = item.get("model").and_then(Raw::str);
                    Some(model.map_or(NONE, |model| self.names.add(model)))
                }
                false if is("message") => None,
                false => continue,
            };
            iterations.push(Iteration { advisor, tokens: self.tokens(item, at) });
        }
        let has_dropped = self.odd_at(at).next().is_some();
        Seen { tokens, mode, web_searches, iterations, has_dropped }
    }

    fn tokens(&mut self, usage: Raw<'_>, at: u64) -> Tokens {
        let mut count = |raw: Option<Raw<'_>>| self.count(raw, at);
        let [parts, written, input, output, read] = usage.get_all([
            "cache_creation",
            "cache_creation_input_tokens",
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
        ]);
        let [short, long] = parts.map_or([None; 2], |parts| {
            parts.get_all(["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"])
        });
        let (short, long) = (count(short), count(long));
        // Either may be missing or zero while the other is right.
        let written = count(written).max(short + long);
        let long = long.min(written);
        Tokens {
            input: count(input),
            output: count(output),
            cache_read: count(read),
            cache_write_5m: written - long,
            cache_write_1h: long,
        }
    }

    fn count(&mut self, raw: Option<Raw<'_>>, at: u64) -> u64 {
        let Some(raw) = raw.filter(|raw| !raw.is_null()) else { return 0 };
        let number = raw.f64();
        let whole = raw.u64().or_else(|| {
            let number = number?;
            (number >= 0.0 && number.fract() == 0.0 && number < MOST as f64)
                .then_some(number as u64)
        });
        let odd = match whole {
            Some(number) if number <= MOST => return number,
            None if number.is_some_and(|number| number < 0.0) => Oddity::Negative,
            None if number.is_none_or(|number| number < MOST as f64) => Oddity::NotANumber,
            _ => Oddity::Huge,
        };
        if !self.odd_at(at).any(|known| known == odd) {
            self.odd.push((at, odd));
        }
        0
    }

    /// What was wrong with a line. Lines come in the order of the file.
    fn odd_at(&self, at: u64) -> impl Iterator<Item = Oddity> {
        let last = self.odd.iter().rev().take_while(move |(line, _)| *line >= at);
        last.filter(move |(line, _)| *line == at).map(|(_, odd)| *odd)
    }
}
