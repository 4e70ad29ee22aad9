//! Packs: raw bytes of one or more pieces, stripped and compressed together.
//!
//! Pure functions without a database, so that many packs can be encoded at once. An encoded pack
//! is a format byte, the raw size and the streams of `strip`, each compressed or
//! as it is. Encoding decodes again and compares: what is written here is all that remains of a
//! file one day, and a wrong byte found then would be found too late.

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use super::Hash;
use super::strip::{Broken, Streams, join, read_varint, strip, write_varint};

/// The largest pack that is written or read.
pub const MAX_RAW: usize = 64 << 20;

/// Stripped streams.
const STRIPPED: u8 = 1;
/// The raw bytes as they are.
const PLAIN: u8 = 2;

/// Below this, the frame of zstd is larger than what it saves.
const MIN_COMPRESSED: usize = 32;

/// Long-distance matching finds nothing in less than this that the match finder doesn't.
const MIN_LONG_DISTANCE: usize = 1 << 20;

/// From this level on, zstd would take 64 MB for its tree; half of it costs 0.1 % of size.
const HIGH_LEVEL: i32 = 16;
/// The logarithm of that half.
const HIGH_CHAIN: u32 = 23;

/// Why encoded bytes can't be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A format that this version doesn't know.
    #[error("unknown format {0}")]
    Format(u8),
    /// Sizes that can't be, or bytes that end too early.
    #[error("the encoded bytes are cut or their sizes are wrong")]
    Sizes,
    /// zstd refused.
    #[error("a compressed stream is damaged")]
    Compressed,
    /// The streams don't give a text.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Decoded base64 that is kept once for the whole archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Its hash.
    pub hash: Hash,
    /// How many bytes it has.
    pub raw: usize,
    /// Its bytes, compressed if that is worth it.
    pub data: Vec<u8>,
}

/// A pack's raw bytes, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The pack itself.
    pub data: Vec<u8>,
    /// What has to be kept beside it; each once.
    pub payloads: Vec<Payload>,
}

/// Memory for encoding, used again from pack to pack: the system has to clear what is taken anew.
#[derive(Default)]
pub struct Room {
    streams: Streams,
    joined: Vec<u8>,
    packed: Vec<u8>,
    /// Compressors without and with long-distance matching.
    compressors: [Option<Compressor<'static>>; 2],
}

/// Encodes at most [`MAX_RAW`] bytes at a level of zstd.
///
/// # Panics
/// If `raw` is longer.
pub fn encode(raw: &[u8], level: i32, room: &mut Room) -> Encoded {
    assert!(raw.len() <= MAX_RAW, "packs are cut before they are this large");
    let mut found: Vec<(Hash, Vec<u8>)> = Vec::new();
    let streams = strip(raw, std::mem::take(&mut room.streams), |bytes| {
        let hash = Hash::of(&bytes);
        if found.iter().all(|(known, _)| *known != hash) {
            found.push((hash, bytes));
        }
        hash
    });
    let bytes_of = |hash: &Hash| found.iter().find(|(h, _)| h == hash).map(|(_, b)| b.clone());
    room.joined = match join(&streams, raw.len(), std::mem::take(&mut room.joined), bytes_of) {
        Ok(joined) if joined == raw => joined,
        _ => return Encoded { data: encode_plain(raw, level, room), payloads: Vec::new() },
    };
    let mut data = vec![STRIPPED];
    write_varint(raw.len() as u64, &mut data);
    for stream in streams.parts() {
        write_part(stream, level, room, &mut data);
    }
    room.streams = streams;
    let payloads = found.into_iter();
    let payloads = payloads.map(|(hash, bytes)| payload(hash, &bytes, level, room)).collect();
    Encoded { data, payloads }
}

fn encode_plain(raw: &[u8], level: i32, room: &mut Room) -> Vec<u8> {
    let mut data = vec![PLAIN];
    write_varint(raw.len() as u64, &mut data);
    write_part(raw, level, room, &mut data);
    data
}

/// The raw bytes of an encoded pack; `payload` gives what is kept beside it. The memory of
/// `streams` and `out` is used, and what is in them is lost.
pub fn decode(
    mut data: &[u8],
    streams: &mut Streams,
    mut out: Vec<u8>,
    payload: impl FnMut(&Hash) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, DecodeError> {
    let (&format, rest) = data.split_first().ok_or(DecodeError::Sizes)?;
    data = rest;
    let size = read_size(&mut data, MAX_RAW)?;
    match format {
        PLAIN => match read_part(&mut data, size, &mut out)? {
            () if out.len() == size => Ok(out),
            () => Err(DecodeError::Sizes),
        },
        STRIPPED => {
            // An escape doubles a byte, every other token takes less than it stands for.
            let mut room = 2 * size;
            for part in streams.parts_mut() {
                read_part(&mut data, room, part)?;
                room -= part.len();
            }
            Ok(join(streams, size, out, payload)?)
        }
        other => Err(DecodeError::Format(other)),
    }
}

/// The hashes of the payloads that a pack needs.
pub fn payloads_of(mut data: &[u8]) -> Result<Vec<Hash>, DecodeError> {
    if data.first() != Some(&STRIPPED) {
        return Ok(Vec::new());
    }
    data = &data[1..];
    read_size(&mut data, MAX_RAW)?;
    for _ in 1..Streams::COUNT {
        let head = read_head(&mut data, 2 * MAX_RAW)?;
        data = data.get(head.stored..).ok_or(DecodeError::Sizes)?;
    }
    let mut hashes = Vec::new();
    read_part(&mut data, MAX_RAW, &mut hashes)?;
    Ok(hashes.as_chunks().0.iter().map(|hash| Hash(*hash)).collect())
}

fn payload(hash: Hash, bytes: &[u8], level: i32, room: &mut Room) -> Payload {
    let mut data = Vec::new();
    write_part(bytes, level, room, &mut data);
    Payload { hash, raw: bytes.len(), data }
}

/// The bytes of a stored payload.
pub fn decode_payload(mut data: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    read_part(&mut data, MAX_RAW, &mut bytes)?;
    Ok(bytes)
}

/// Sizes in front of a stream. Equal sizes mean that it is not compressed.
struct Head {
    raw: usize,
    stored: usize,
}

fn write_part(bytes: &[u8], level: i32, room: &mut Room, out: &mut Vec<u8>) {
    let compressed = compress(bytes, level, room);
    // What hardly shrinks is faster to read as it is: images, ids, signatures.
    let worth = compressed.filter(|c| c.len() < bytes.len() - bytes.len() / 50);
    let stored = worth.unwrap_or(bytes);
    write_varint(bytes.len() as u64, out);
    write_varint(stored.len() as u64, out);
    out.extend_from_slice(stored);
}

fn read_head(data: &mut &[u8], most: usize) -> Result<Head, DecodeError> {
    let raw = read_size(data, most)?;
    let stored = read_size(data, data.len())?;
    Ok(Head { raw, stored })
}

/// Reads a stream to `out` instead of what is there.
fn read_part(data: &mut &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let head = read_head(data, most)?;
    let (stored, rest) = data.split_at_checked(head.stored).ok_or(DecodeError::Sizes)?;
    *data = rest;
    out.clear();
    out.reserve_exact(head.raw);
    if head.raw == head.stored {
        out.extend_from_slice(stored);
        return Ok(());
    }
    let mut reader = Decompressor::new().map_err(|_| DecodeError::Compressed)?;
    reader.decompress_to_buffer(stored, out).map_err(|_| DecodeError::Compressed)?;
    if out.len() == head.raw { Ok(()) } else { Err(DecodeError::Sizes) }
}

fn read_size(data: &mut &[u8], most: usize) -> Result<usize, DecodeError> {
    let size = read_varint(data).and_then(|size| usize::try_from(size).ok());
    size.filter(|size| *size <= most).ok_or(DecodeError::Sizes)
}

/// `None` if zstd can't (no memory): the bytes are kept as they are then.
fn compress<'r>(bytes: &[u8], level: i32, room: &'r mut Room) -> Option<&'r [u8]> {
    if bytes.len() < MIN_COMPRESSED {
        return None;
    }
    let is_long = bytes.len() >= MIN_LONG_DISTANCE;
    let writer = match &mut room.compressors[usize::from(is_long)] {
        Some(writer) => writer,
        none => none.insert(Compressor::new(level).ok()?),
    };
    writer.set_compression_level(level).ok()?;
    writer.set_parameter(CParameter::ChecksumFlag(false)).ok()?;
    writer.set_parameter(CParameter::ContentSizeFlag(true)).ok()?;
    if is_long {
        let window = bytes.len().next_power_of_two().ilog2();
        writer.set_parameter(CParameter::WindowLog(window)).ok()?;
        writer.set_parameter(CParameter::EnableLongDistanceMatching(true)).ok()?;
        if level >= HIGH_LEVEL {
            writer.set_parameter(CParameter::ChainLog(HIGH_CHAIN)).ok()?;
        }
    }
    room.packed.clear();
    room.packed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
    writer.compress_to_buffer(bytes, &mut room.packed).ok()?;
    Some(&room.packed)
}

#[cfg(test)]
mod tests;
