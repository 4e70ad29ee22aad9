//! Taking out of the text what no compressor can shrink: ids, times, base64.
//!
//! A transcript is full of random ids, each written several times, and of times that differ by
//! milliseconds. In the main stream each becomes one control byte; the ids themselves go once,
//! in binary, to a stream of their own, repetitions to a stream of ranks, times to a stream of
//! differences, base64 to binary. What is taken is only what comes back byte for byte: a date
//! like 2026-13-45 stays text. Control bytes that stand in the raw bytes are escaped, so any
//! bytes at all make the round trip.

mod base64;
mod id;
mod join;
mod time;

use memchr::memchr2;

use super::Hash;
use id::IdWriter;
pub use join::{Broken, join};
use time::TimeWriter;

/// Before a byte that is meant as it stands.
const ESCAPE: u8 = 1;
/// A time; its difference to the one before is in `times`.
const TIME: u8 = 2;
/// A UUID or another id; which one is in `refs`.
const ID: u8 = 3;
/// Base64 whose bytes are in `binary`.
const BINARY: u8 = 4;
/// Base64 whose bytes are a payload.
const PAYLOAD: u8 = 5;

/// The shortest base64 that is taken: signatures of thinking are 300 characters and more, while
/// shorter runs are mostly paths and words, which are better off as text.
const MIN_RUN: usize = 128;

/// The shortest base64 that is kept apart, once for the whole archive. A row of its own costs
/// half a page, so shorter ones (signatures, icons) are better off in the pack.
const MIN_PAYLOAD: usize = 16_384;

/// Text taken apart. The order of the streams is part of the format of packs.
#[derive(Debug, Default)]
pub struct Streams {
    /// The text with tokens in it.
    pub main: Vec<u8>,
    /// Each id once, 16 bytes each.
    pub ids: Vec<u8>,
    /// For each id token: which id.
    pub refs: Vec<u8>,
    /// For each time token: milliseconds since the time before.
    pub times: Vec<u8>,
    /// For each base64 token: the number of its bytes.
    pub lengths: Vec<u8>,
    /// The decoded bytes of short base64.
    pub binary: Vec<u8>,
    /// The hashes of the payloads.
    pub payloads: Vec<u8>,
}

impl Streams {
    /// How many streams there are.
    pub const COUNT: usize = 7;

    /// The streams in the order in which packs hold them.
    pub fn parts(&self) -> [&Vec<u8>; Self::COUNT] {
        let Self { main, ids, refs, times, lengths, binary, payloads } = self;
        [main, ids, refs, times, lengths, binary, payloads]
    }

    /// As [`Streams::parts`], to be filled.
    pub fn parts_mut(&mut self) -> [&mut Vec<u8>; Self::COUNT] {
        let Self { main, ids, refs, times, lengths, binary, payloads } = self;
        [main, ids, refs, times, lengths, binary, payloads]
    }
}

/// Takes `raw` apart, in the memory of `out`; gives the decoded bytes of long base64 to `payload`,
/// which answers with their hash.
pub fn strip(raw: &[u8], mut out: Streams, payload: impl FnMut(Vec<u8>) -> Hash) -> Streams {
    out.parts_mut().into_iter().for_each(Vec::clear);
    out.main.reserve(raw.len());
    let mut stripper = Stripper {
        raw,
        done: 0,
        has_control: has_control(raw),
        out,
        ids: IdWriter::default(),
        times: TimeWriter::default(),
        payload,
    };
    stripper.run();
    stripper.out
}

/// Whether any byte is a token's. Written so that it becomes vector code.
fn has_control(raw: &[u8]) -> bool {
    let one = |found: bool, b: &u8| found | is_control(*b);
    raw.chunks(4096).any(|chunk| chunk.iter().fold(false, one))
}

fn is_control(byte: u8) -> bool {
    (ESCAPE..=PAYLOAD).contains(&byte)
}

struct Stripper<'a, P> {
    raw: &'a [u8],
    /// How much of `raw` is already in the streams.
    done: usize,
    has_control: bool,
    out: Streams,
    ids: IdWriter,
    times: TimeWriter,
    payload: P,
}

impl<P: FnMut(Vec<u8>) -> Hash> Stripper<'_, P> {
    /// Ids and times all have a `-` or a `_` at a known place, and base64 has neither, so the
    /// search stops at those two alone.
    fn run(&mut self) {
        let mut at = 0;
        while let Some(ahead) = memchr2(b'-', b'_', &self.raw[at..]) {
            let mark = at + ahead;
            self.take_base64(at, mark);
            at = self.take_at(mark).unwrap_or(mark + 1);
        }
        self.take_base64(at, self.raw.len());
        self.literal(self.raw.len());
    }

    /// Takes the id or time that has its first mark here; gives where it ends.
    fn take_at(&mut self, mark: usize) -> Option<usize> {
        let rest = &self.raw[mark..];
        if rest[0] == b'_' {
            let value = id::short(rest)?;
            return Some(self.id(mark, id::Form::Short, value));
        }
        if rest.get(5) == Some(&b'-') {
            let start = mark.checked_sub(8).filter(|start| *start >= self.done)?;
            let value = id::uuid(&self.raw[start..])?;
            return Some(self.id(start, id::Form::Uuid, value));
        }
        if rest.get(6) == Some(&b'T') {
            let start = mark.checked_sub(4).filter(|start| *start >= self.done)?;
            let milli = time::read(&self.raw[start..])?;
            self.token(start, TIME);
            self.times.push(milli, &mut self.out.times);
            self.done = start + time::LENGTH;
            return Some(self.done);
        }
        None
    }

    fn id(&mut self, start: usize, form: id::Form, value: u128) -> usize {
        self.token(start, ID);
        self.ids.push(form, value, &mut self.out);
        self.done = start + form.length();
        self.done
    }

    /// Takes the base64 between two marks. A run of the wanted length holds at least one of the
    /// probed places, wherever it begins.
    fn take_base64(&mut self, from: usize, to: usize) {
        const STRIDE: usize = MIN_RUN - base64::LOOK;
        let mut probe = from.max(self.done) + STRIDE;
        while probe < to {
            if !base64::is_likely(&self.raw[probe..to]) {
                probe += STRIDE;
                continue;
            }
            let (start, end) = base64::run_around(&self.raw[..to], self.done, probe);
            if end - start >= MIN_RUN {
                self.base64(start, end);
            }
            probe = end + STRIDE;
        }
    }

    fn base64(&mut self, start: usize, end: usize) {
        let (characters, bytes) = base64::decode(&self.raw[start..end]);
        if characters < MIN_RUN {
            return;
        }
        write_varint(bytes.len() as u64, &mut self.out.lengths);
        if characters < MIN_PAYLOAD {
            self.token(start, BINARY);
            self.out.binary.extend_from_slice(&bytes);
        } else {
            self.token(start, PAYLOAD);
            let hash = (self.payload)(bytes);
            self.out.payloads.extend_from_slice(&hash.0);
        }
        self.done = start + characters;
    }

    /// What lies before a token, and the token.
    fn token(&mut self, start: usize, token: u8) {
        self.literal(start);
        self.out.main.push(token);
    }

    fn literal(&mut self, end: usize) {
        let text = &self.raw[self.done..end];
        self.done = end;
        if !self.has_control {
            self.out.main.extend_from_slice(text);
            return;
        }
        for &byte in text {
            if is_control(byte) {
                self.out.main.push(ESCAPE);
            }
            self.out.main.push(byte);
        }
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 128 {
        out.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what [`write_varint`] wrote and moves `bytes` on.
pub(super) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests;
