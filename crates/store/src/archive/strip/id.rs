//! Ids: UUIDs and the short ids of the service, both 128 bits, each stored once in a pack.
//!
//! An id that comes again is written as its rank among the last ones used, since most stand
//! close to where they stood before: `parentUuid` names the entry before, `sessionId` is always
//! the same. Rarely one comes back from further away; it is named by its number then.

use hashbrown::HashMap;

use super::Streams;

/// How many ids have a rank.
const RANKS: usize = 200;
/// A new short id follows in `ids`.
const NEW_SHORT: u8 = 253;
/// A new UUID follows in `ids`.
const NEW_UUID: u8 = 254;
/// An id by its number, in three bytes.
const OLDER: u8 = 255;

/// The digits of short ids: no 0, O, I or l.
const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < 58 {
        values[DIGITS[i] as usize] = i as u8;
        i += 1;
    }
    values
};

const NONE: u8 = 0xff;

const HEX_VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < 16 {
        values[HEX[i] as usize] = i as u8;
        i += 1;
    }
    values
};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Where the dashes of a UUID stand.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// How an id is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, lower case.
    Uuid,
    /// `_01` and 22 digits of base 58; what stands before (`toolu`, `msg`, `req`) stays text.
    Short,
}

impl Form {
    /// How many characters it has.
    pub fn length(self) -> usize {
        match self {
            Self::Uuid => 36,
            Self::Short => 25,
        }
    }
}

/// The UUID at the start of `text`.
pub fn uuid(text: &[u8]) -> Option<u128> {
    let text: &[u8; 36] = text.first_chunk()?;
    let mut value = 0u128;
    let mut bad = DASHES.iter().fold(0, |bad, at| bad | text[*at] ^ b'-');
    for (from, to) in [(0, 8), (9, 13), (14, 18), (19, 23), (24, 36)] {
        let mut group = 0u64;
        for b in &text[from..to] {
            let digit = HEX_VALUES[*b as usize];
            bad |= digit & 0xf0;
            group = group << 4 | u64::from(digit);
        }
        value = value << (4 * (to - from)) | u128::from(group);
    }
    (bad == 0).then_some(value)
}

/// The short id at the start of `text`, if it fits in 128 bits.
pub fn short(text: &[u8]) -> Option<u128> {
    let text: &[u8; 25] = text.strip_prefix(b"_01").and(text.first_chunk())?;
    text[3..].iter().try_fold(0u128, |sum, b| {
        let digit = VALUES[*b as usize];
        (digit != NONE).then(|| sum.checked_mul(58)?.checked_add(u128::from(digit)))?
    })
}

/// An id as it is written.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    bytes: [u8; 36],
    length: u8,
}

impl Text {
    /// Writes `value` out.
    pub fn new(form: Form, value: u128) -> Self {
        let mut bytes = [0; 36];
        match form {
            Form::Uuid => write_uuid(value, &mut bytes),
            Form::Short => write_short(value, &mut bytes),
        }
        Self { bytes, length: form.length() as u8 }
    }

    /// Its characters.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

fn write_uuid(value: u128, out: &mut [u8; 36]) {
    let mut digits =
        value.to_be_bytes().into_iter().flat_map(|b| [b >> 4, b & 15]).map(|d| HEX[d as usize]);
    for (at, place) in out.iter_mut().enumerate() {
        *place = if DASHES.contains(&at) { b'-' } else { digits.next().unwrap_or(b'0') };
    }
}

fn write_short(mut value: u128, out: &mut [u8; 36]) {
    // Two divisions of 128 bits instead of 22: ten digits fit in 64 bits.
    const TEN: u128 = 58u128.pow(10);
    out[..3].copy_from_slice(b"_01");
    for (from, to) in [(15, 25), (5, 15), (3, 5)] {
        let mut part = (value % TEN) as u64;
        value /= TEN;
        for place in out[from..to].iter_mut().rev() {
            *place = DIGITS[(part % 58) as usize];
            part /= 58;
        }
    }
}

/// The last ids used, the last one first. Both sides keep it in the same way.
#[derive(Debug, Default)]
struct Recent(Vec<u32>);

impl Recent {
    fn rank(&self, number: u32) -> Option<usize> {
        self.0.iter().position(|n| *n == number)
    }

    fn bring_forward(&mut self, rank: usize) {
        self.0[..=rank].rotate_right(1);
    }

    fn add(&mut self, number: u32) {
        self.0.truncate(RANKS - 1);
        self.0.insert(0, number);
    }
}

/// Writes ids to the streams.
#[derive(Debug, Default)]
pub struct IdWriter {
    numbers: HashMap<(Form, u128), u32>,
    recent: Recent,
}

impl IdWriter {
    /// Writes one.
    pub fn push(&mut self, form: Form, value: u128, out: &mut Streams) {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry((form, value)).or_insert(next);
        if number == next {
            out.refs.push(if form == Form::Uuid { NEW_UUID } else { NEW_SHORT });
            out.ids.extend_from_slice(&value.to_be_bytes());
            self.recent.add(number);
        } else if let Some(rank) = self.recent.rank(number) {
            out.refs.push(rank as u8);
            self.recent.bring_forward(rank);
        } else {
            out.refs.push(OLDER);
            out.refs.extend_from_slice(&number.to_le_bytes()[..3]);
            self.recent.add(number);
        }
    }
}

/// Reads ids back from the streams.
#[derive(Debug)]
pub struct IdReader<'a> {
    ids: &'a [u8],
    refs: &'a [u8],
    texts: Vec<Text>,
    recent: Recent,
}

impl<'a> IdReader<'a> {
    /// At the start of both streams.
    pub fn new(ids: &'a [u8], refs: &'a [u8]) -> Self {
        Self { ids, refs, texts: Vec::new(), recent: Recent::default() }
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Text> {
        let (&code, rest) = self.refs.split_first()?;
        self.refs = rest;
        let number = match code {
            NEW_UUID => self.read_new(Form::Uuid)?,
            NEW_SHORT => self.read_new(Form::Short)?,
            OLDER => self.older()?,
            rank => {
                let number = *self.recent.0.get(usize::from(rank))?;
                self.recent.bring_forward(usize::from(rank));
                return self.texts.get(number as usize).copied();
            }
        };
        self.recent.add(number);
        self.texts.get(number as usize).copied()
    }

    fn read_new(&mut self, form: Form) -> Option<u32> {
        let (value, rest) = self.ids.split_first_chunk()?;
        self.ids = rest;
        let number = self.texts.len() as u32;
        self.texts.push(Text::new(form, u128::from_be_bytes(*value)));
        Some(number)
    }

    fn older(&mut self) -> Option<u32> {
        let (&[a, b, c], rest) = self.refs.split_first_chunk()?;
        self.refs = rest;
        Some(u32::from_le_bytes([a, b, c, 0]))
    }
}
