//! Times of the form `2026-01-31T12:00:00.000Z`, as differences in milliseconds.

use transcript::time::Time;

use super::{read_varint, write_varint};

/// How many characters a time has.
pub const LENGTH: usize = 24;

const MILLI_PER_DAY: i64 = 86_400_000;
/// 2000-01-01 and 2100-01-01: only years that begin with 20 are taken.
const RANGE: std::ops::Range<i64> = 946_684_800_000..4_102_444_800_000;

/// The time at the start of `text`, if it is written exactly so.
pub fn read(text: &[u8]) -> Option<i64> {
    let text: &[u8; LENGTH] = text.first_chunk()?;
    if &text[..2] != b"20" || text[23] != b'Z' {
        return None;
    }
    let Time(milli) = Time::parse(text)?;
    (RANGE.contains(&milli) && write(milli) == *text).then_some(milli)
}

/// The reverse of [`read`], for times of this century.
fn write(milli: i64) -> [u8; LENGTH] {
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let (year, month, day) = Time(milli).date();
    let inside = milli.rem_euclid(MILLI_PER_DAY);
    let mut put = |at: usize, digits: usize, mut value: i64| {
        for place in text[at..at + digits].iter_mut().rev() {
            *place = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    put(0, 4, year);
    put(5, 2, month);
    put(8, 2, day);
    put(11, 2, inside / 3_600_000);
    put(14, 2, inside / 60_000 % 60);
    put(17, 2, inside / 1000 % 60);
    put(20, 3, inside % 1000);
    text
}

/// Writes times as differences.
#[derive(Debug, Default)]
pub struct TimeWriter {
    last: i64,
}

impl TimeWriter {
    /// Writes one.
    pub fn push(&mut self, milli: i64, out: &mut Vec<u8>) {
        let difference = milli - self.last;
        self.last = milli;
        write_varint((difference << 1 ^ difference >> 63) as u64, out);
    }
}

/// Reads them back.
#[derive(Debug)]
pub struct TimeReader<'a> {
    times: &'a [u8],
    last: i64,
}

impl<'a> TimeReader<'a> {
    /// At the start of the stream.
    pub fn new(times: &'a [u8]) -> Self {
        Self { times, last: 0 }
    }

    /// The next one, as text.
    pub fn next(&mut self) -> Option<[u8; LENGTH]> {
        let folded = read_varint(&mut self.times)?;
        let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        self.last = self.last.checked_add(difference).filter(|milli| RANGE.contains(milli))?;
        Some(write(self.last))
    }
}
