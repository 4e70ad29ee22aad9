//! Putting the text together again. The streams may be damaged: every read is bounded and the
//! text never grows beyond what was promised.

use super::id::IdReader;
use super::time::TimeReader;
use super::{BINARY, ESCAPE, ID, PAYLOAD, Streams, TIME, base64, read_varint};
use crate::archive::Hash;

/// Why streams don't give a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A stream ends too early or says what can't be.
    #[error("the stripped text does not fit together")]
    Streams,
    /// A payload is not there.
    #[error("payload {0} is not there")]
    Payload(Hash),
}

/// The text of `size` bytes that was taken apart, in the memory of `out`.
pub fn join(
    streams: &Streams,
    size: usize,
    mut out: Vec<u8>,
    payload: impl FnMut(&Hash) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, Broken> {
    out.clear();
    out.reserve_exact(size);
    let mut joiner = Joiner {
        out,
        size,
        ids: IdReader::new(&streams.ids, &streams.refs),
        times: TimeReader::new(&streams.times),
        lengths: &streams.lengths,
        binary: &streams.binary,
        hashes: &streams.payloads,
        payload,
    };
    joiner.run(&streams.main)?;
    if joiner.out.len() == size { Ok(joiner.out) } else { Err(Broken::Streams) }
}

struct Joiner<'a, P> {
    out: Vec<u8>,
    size: usize,
    ids: IdReader<'a>,
    times: TimeReader<'a>,
    lengths: &'a [u8],
    binary: &'a [u8],
    hashes: &'a [u8],
    payload: P,
}

impl<P: FnMut(&Hash) -> Option<Vec<u8>>> Joiner<'_, P> {
    fn run(&mut self, mut main: &[u8]) -> Result<(), Broken> {
        while !main.is_empty() {
            let plain = plain_length(main);
            self.put(&main[..plain])?;
            main = &main[plain..];
            let Some((&token, rest)) = main.split_first() else { break };
            main = rest;
            match token {
                ESCAPE => {
                    let (byte, rest) = main.split_at_checked(1).ok_or(Broken::Streams)?;
                    self.put(byte)?;
                    main = rest;
                }
                TIME => {
                    let text = self.times.next().ok_or(Broken::Streams)?;
                    self.put(&text)?;
                }
                ID => {
                    let text = self.ids.next().ok_or(Broken::Streams)?;
                    self.put(text.as_bytes())?;
                }
                BINARY => self.binary()?,
                _ => self.payload()?,
            }
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.room(bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn room(&self, length: usize) -> Result<(), Broken> {
        if length <= self.size - self.out.len() { Ok(()) } else { Err(Broken::Streams) }
    }

    /// The number of bytes of the next base64; there is room for its characters.
    fn bytes(&mut self) -> Result<usize, Broken> {
        let bytes = read_varint(&mut self.lengths).ok_or(Broken::Streams)?;
        let bytes = usize::try_from(bytes).map_err(|_| Broken::Streams)?;
        self.room(bytes.div_ceil(3).checked_mul(4).ok_or(Broken::Streams)?)?;
        Ok(bytes)
    }

    fn binary(&mut self) -> Result<(), Broken> {
        let length = self.bytes()?;
        let (bytes, rest) = self.binary.split_at_checked(length).ok_or(Broken::Streams)?;
        self.binary = rest;
        base64::encode(bytes, &mut self.out);
        Ok(())
    }

    fn payload(&mut self) -> Result<(), Broken> {
        let length = self.bytes()?;
        let (hash, rest) = self.hashes.split_first_chunk().ok_or(Broken::Streams)?;
        self.hashes = rest;
        let hash = Hash(*hash);
        let bytes = (self.payload)(&hash).ok_or(Broken::Payload(hash))?;
        if bytes.len() != length {
            return Err(Broken::Streams);
        }
        base64::encode(&bytes, &mut self.out);
        Ok(())
    }
}

/// How many bytes stand before the next token.
fn plain_length(main: &[u8]) -> usize {
    main.iter().position(|b| (ESCAPE..=PAYLOAD).contains(b)).unwrap_or(main.len())
}
