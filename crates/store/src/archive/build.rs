//! Filling packs. Needs no database, so that packs are filled and encoded on all cores while one
//! writes.

use super::Hash;
use super::pack::{self, Encoded, MAX_RAW, Room};

/// How many raw bytes a pack of a sync holds: the smallest that beats `zstd -3 --long` over
/// everything, since reading one entry decodes a whole pack.
pub const PACK_SIZE: usize = 4 << 20;

/// The level of a sync.
pub const SYNC_LEVEL: i32 = 3;

/// How many bytes at each end of a generation are remembered by hash.
pub const EDGE: usize = 4096;

/// The first or last bytes of a generation, by their hash: cheap to check against a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edge {
    /// How many bytes; at most [`EDGE`].
    pub length: u32,
    /// Their hash.
    pub hash: Hash,
}

impl Edge {
    /// The first bytes of `bytes`.
    pub fn head(bytes: &[u8]) -> Self {
        Self::of(&bytes[..bytes.len().min(EDGE)])
    }

    /// The last bytes of `bytes`.
    pub fn tail(bytes: &[u8]) -> Self {
        Self::of(last(bytes))
    }

    /// Whether these are the bytes; they must be `length` long.
    pub fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.length as usize && Hash::of(bytes) == self.hash
    }

    fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u32, hash: Hash::of(bytes) }
    }
}

/// The last [`EDGE`] bytes.
pub(super) fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(EDGE)..]
}

/// A pack being filled.
#[derive(Debug)]
pub struct PackBuilder {
    raw: Vec<u8>,
    limit: usize,
    full: bool,
    spans: Vec<Span>,
}

#[derive(Debug)]
struct Span {
    slot: u64,
    offset: u64,
    start: usize,
    length: usize,
}

impl Default for PackBuilder {
    fn default() -> Self {
        Self::new(PACK_SIZE)
    }
}

impl PackBuilder {
    /// An empty pack for `limit` raw bytes, at most [`MAX_RAW`].
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, MAX_RAW);
        Self { raw: Vec::new(), limit, full: false, spans: Vec::new() }
    }

    /// Adds bytes of what the caller calls `slot`, from `offset` of its content on; gives how
    /// many were taken. Fewer than all means that the pack is full and the rest belongs in the
    /// next one; an empty pack always takes some.
    ///
    /// The cut falls behind a line if there is one, so that an image in base64 is not cut where
    /// it need not be: a part of it would not be found again as the same payload.
    pub fn add(&mut self, slot: u64, offset: u64, bytes: &[u8]) -> usize {
        let room = self.limit - self.raw.len();
        let taken = if bytes.len() <= room {
            bytes.len()
        } else {
            self.full = true;
            let line = memchr::memrchr(b'\n', &bytes[..room]).map(|at| at + 1);
            line.unwrap_or(if self.raw.is_empty() { room } else { 0 })
        };
        self.take(slot, offset, &bytes[..taken]);
        taken
    }

    fn take(&mut self, slot: u64, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let start = self.raw.len();
        self.raw.extend_from_slice(bytes);
        if let Some(span) = self.spans.last_mut()
            && span.slot == slot
            && span.offset + span.length as u64 == offset
        {
            span.length += bytes.len();
            return;
        }
        self.spans.push(Span { slot, offset, start, length: bytes.len() });
    }

    /// Whether no more should be added.
    pub fn is_full(&self) -> bool {
        self.full || self.raw.len() == self.limit
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// How many raw bytes are in it.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Compresses it. This is the work of a sync.
    pub fn encode(self, level: i32, room: &mut Room) -> EncodedPack {
        let piece = |span: &Span| {
            let bytes = &self.raw[span.start..span.start + span.length];
            NewPiece {
                slot: span.slot,
                offset: span.offset,
                start: span.start as u64,
                length: span.length as u64,
                hash: Hash::of(bytes),
                head: Edge::head(bytes),
                tail: last(bytes).into(),
            }
        };
        EncodedPack::new(&self.raw, level, room, self.spans.iter().map(piece).collect())
    }
}

/// A pack that is ready to be written.
#[derive(Debug)]
pub struct EncodedPack {
    pub(super) raw: usize,
    pub(super) hash: Hash,
    pub(super) level: i32,
    pub(super) encoded: Encoded,
    pub(super) pieces: Vec<NewPiece>,
}

impl EncodedPack {
    pub(super) fn new(raw: &[u8], level: i32, room: &mut Room, pieces: Vec<NewPiece>) -> Self {
        let (hash, encoded) = (Hash::of(raw), pack::encode(raw, level, room));
        Self { raw: raw.len(), hash, level, encoded, pieces }
    }

    /// How many raw bytes it holds.
    pub fn raw(&self) -> usize {
        self.raw
    }

    /// How many bytes it takes, with the payloads that are perhaps kept already.
    pub fn stored(&self) -> usize {
        let payloads: usize = self.encoded.payloads.iter().map(|p| p.data.len()).sum();
        self.encoded.data.len() + payloads
    }
}

#[derive(Debug)]
pub(super) struct NewPiece {
    pub slot: u64,
    pub offset: u64,
    pub start: u64,
    pub length: u64,
    pub hash: Hash,
    pub head: Edge,
    pub tail: Box<[u8]>,
}
