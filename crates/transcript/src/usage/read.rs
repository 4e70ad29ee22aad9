//! Entries into claims.

use std::io;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use super::{Claim, Claims, ClientSum, Iteration, Mode, NONE, Oddity, Place, Tokens};
use crate::diagnostic::Diagnostic;
use crate::entry::message::{Block, BlockKind, Content, Message};
use crate::entry::{Entry, Kind};
use crate::id::Key;
use crate::json::{Raw, Str};
use crate::line::{Batch, Line, LineReader};
use crate::reading::EntryReading;
use crate::session::{Builder, Options};
use crate::time::Time;

/// Stands in every line with a response, in both dialects, at the top or inside a progress entry.
const MARK: &[u8] = b"\"assistant\"";

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));

/// The beginning of a line with the client's own sum.
const SUM: &[u8] = b"{\"type\":\"cost-state\"";

static SUM_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SUM));

/// More tokens than this in one response are a slip of the writer.
const MOST: u64 = 1_000_000_000_000;

/// Whether there may be a response in a line, or the client's own sum.
pub fn is_marked(line: &[u8]) -> bool {
    FINDER.find(line).is_some() || line.starts_with(SUM)
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
    /// Everything in a transcript, each response with the session whose entry it is. `session` is
    /// the id in the name of a session's file. A file in which responses carry other ids is read
    /// a second time, for its tree.
    pub fn read_transcript<R: io::Read>(
        session: Option<&str>,
        open: impl Fn() -> R,
    ) -> io::Result<Self> {
        let mut claims = Self::read(open())?;
        if session.is_some_and(|id| claims.has_other_sessions(id)) {
            let (mut builder, mut lines) = (Builder::new(), LineReader::new(open(), 0));
            while let Some(line) = lines.next_line()? {
                builder.line(line);
            }
            claims.assign_to(&builder.finish(&Options { stem: session, copies: None }));
        }
        Ok(claims)
    }

    /// Everything in a file, from its beginning.
    pub fn read(input: impl io::Read) -> io::Result<Self> {
        let mut claims = Self::default();
        let (mut lines, mut batch) = (LineReader::new(input, 0), Batch::default());
        let mut odd: Vec<Diagnostic> = Vec::new();
        while lines.next_batch(&mut batch)? {
            for line in batch.lines_with(&FINDER) {
                Entry::read(line, &mut odd, |entry| claims.entry(&entry));
            }
            for line in batch.lines_with(&SUM_FINDER) {
                Entry::read(line, &mut odd, |entry| claims.client_sum(&entry));
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

    /// Takes a reading of an entry, as [`entry`](Self::entry).
    pub fn take_reading(&mut self, reading: &EntryReading<'_>) {
        self.entry(reading.entry());
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
            _ => self.client_sum(entry),
        }
    }

    fn client_sum(&mut self, entry: &Entry<'_>) {
        if !entry.is_type("cost-state") {
            return;
        }
        let Some(session) = entry.session.map(|id| self.names.add(id)) else { return };
        let models = entry.field("modelUsage").into_iter().flat_map(Raw::fields);
        let output = models.map(|(_, model)| count(model.get("outputTokens")).unwrap_or(0));
        let output = output.fold(0, u64::saturating_add);
        match self.client_sums.iter_mut().find(|sum| sum.session == session) {
            Some(sum) => sum.output = sum.output.max(output),
            None => self.client_sums.push(ClientSum { session, output }),
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
        let mut seen = usage.map(|usage| self.usage(usage, entry.offset));
        // The client writes the count of the first moment for an answer that was cut off.
        if let Some(seen) = &mut seen {
            seen.has_dropped |= seen.tokens.output <= 1 && has_more_than_one_token(message);
        }
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
        // At equal output the line of the main conversation wins: a sidechain's copy may have
        // other cache counts.
        let size =
            |tokens: &Tokens, is_sidechain: bool| (tokens.output, !is_sidechain, tokens.total());
        let is_more = !claim.has_usage
            || size(&seen.tokens, told.is_sidechain)
                >= size(&claim.tokens, claim.is_usage_of_sidechain);
        claim.has_usage = true;
        // What a line lacks may be more than what another line has.
        claim.has_dropped = seen.has_dropped || (claim.has_dropped && !is_more);
        if is_more {
            claim.place = place;
            claim.tokens = seen.tokens;
            claim.is_usage_of_sidechain = told.is_sidechain;
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
            is_usage_of_sidechain: told.is_sidechain,
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
        Tokens::read_noting(usage, |odd| self.note(odd, at))
    }

    fn count(&mut self, raw: Option<Raw<'_>>, at: u64) -> u64 {
        count(raw).unwrap_or_else(|odd| {
            self.note(odd, at);
            0
        })
    }

    fn note(&mut self, odd: Oddity, at: u64) {
        if !self.odd_at(at).any(|known| known == odd) {
            self.odd.push((at, odd));
        }
    }

    /// What was wrong with a line. Lines come in the order of the file.
    fn odd_at(&self, at: u64) -> impl Iterator<Item = Oddity> {
        let last = self.odd.iter().rev().take_while(move |(line, _)| *line >= at);
        last.filter(move |(line, _)| *line == at).map(|(_, odd)| *odd)
    }
}

impl Tokens {
    /// Reads a `usage` object. This is the only reader of its token counts; a count that can't be
    /// one is taken as 0.
    pub fn read(usage: Raw<'_>) -> Self {
        Self::read_noting(usage, |_| {})
    }

    /// Reads a `usage` object and reports every count that was taken as 0 because it can't be one.
    pub fn read_noting(usage: Raw<'_>, mut note: impl FnMut(Oddity)) -> Self {
        let mut count = |raw: Option<Raw<'_>>| {
            count(raw).unwrap_or_else(|odd| {
                note(odd);
                0
            })
        };
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
        // Until 2.1.152 the flat sum may be 0 while the parts are given; the reverse occurs too.
        let written = count(written).max(short + long);
        let long = long.min(written);
        Self {
            input: count(input),
            output: count(output),
            cache_read: count(read),
            cache_write_5m: written - long,
            cache_write_1h: long,
        }
    }
}

/// Whether a message can't be one token: it has several words or a call.
fn has_more_than_one_token(message: &Message<'_>) -> bool {
    let Content::Blocks(blocks) = &message.content else { return false };
    let is_more = |block: &Block<'_>| {
        let words = |text: Str<'_>| text.text().split_whitespace().nth(1).is_some();
        block.kind == BlockKind::ToolUse || block.text.is_some_and(words)
    };
    blocks.iter().any(is_more)
}

/// A token count; absent and `null` are 0, and `12.0` is 12.
fn count(raw: Option<Raw<'_>>) -> Result<u64, Oddity> {
    let Some(raw) = raw.filter(|raw| !raw.is_null()) else { return Ok(0) };
    let number = raw.f64();
    let whole = raw.u64().or_else(|| {
        let number = number?;
        (number >= 0.0 && number.fract() == 0.0 && number < MOST as f64).then_some(number as u64)
    });
    match whole {
        Some(number) if number <= MOST => Ok(number),
        None if number.is_some_and(|number| number < 0.0) => Err(Oddity::Negative),
        None if number.is_none_or(|number| number < MOST as f64) => Err(Oddity::NotANumber),
        _ => Err(Oddity::Huge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str) -> Tokens {
        Tokens::read(Raw::new(json.as_bytes()).expect("JSON"))
    }

    #[test]
    fn cache_writes_are_the_larger_of_the_sum_and_its_parts() {
        let parts =
            r#""cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":4}"#;
        let split = |tokens: Tokens| (tokens.cache_write_5m, tokens.cache_write_1h);
        let only_parts = tokens(&format!(r#"{{"cache_creation_input_tokens":0,{parts}}}"#));
        assert_eq!(split(only_parts), (30, 4));
        let sum_is_more = tokens(&format!(r#"{{"cache_creation_input_tokens":50,{parts}}}"#));
        assert_eq!(split(sum_is_more), (46, 4));
        let no_parts = tokens(r#"{"cache_creation_input_tokens":34,"cache_creation":null}"#);
        assert_eq!(split(no_parts), (34, 0));
        assert_eq!(split(tokens(r#"{"cache_creation_input_tokens":null}"#)), (0, 0));
    }

    #[test]
    fn impossible_counts_are_zero_and_reported() {
        let json = r#"{"input_tokens":-3,"output_tokens":7.0,"cache_read_input_tokens":"x"}"#;
        let mut odd = Vec::new();
        let read = Tokens::read_noting(Raw::new(json.as_bytes()).expect("JSON"), |o| odd.push(o));
        assert_eq!(read, Tokens { output: 7, ..Tokens::default() });
        assert_eq!(odd, [Oddity::Negative, Oddity::NotANumber]);
    }
}
