//! A generator of our own, so that a seed means the same home in every release.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";

impl Random {
    /// A generator that will always give the same numbers for `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A generator that depends on `name` as well, so that adding one case
    /// does not change the ids of all others.
    pub fn named(seed: u64, name: &str) -> Random {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut random = Random(seed ^ hash);
        random.next();
        random
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `0` up to and without `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `items`.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }

    /// `n` lower-case hexadecimal digits.
    pub fn hex(&mut self, n: usize) -> String {
        self.letters(HEX, n)
    }

    /// A version 4 uuid.
    pub fn uuid(&mut self) -> String {
        let a = self.next() & 0xffff_ffff_ffff_0fff | 0x4000;
        let b = self.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        // Digits by hand: `format!` was a third of the time of a big corpus.
        let mut out = String::with_capacity(36);
        for i in 0..32 {
            if matches!(i, 8 | 12 | 16 | 20) {
                out.push('-');
            }
            let word = if i < 16 { a } else { b };
            out.push(HEX[(word >> (60 - i % 16 * 4)) as usize & 15] as char);
        }
        out
    }

    /// An id such as `msg_01…`, `toolu_01…`, `req_011…`: `prefix` and 22 letters.
    pub fn id(&mut self, prefix: &str) -> String {
        let mut id = String::from(prefix);
        id.push_str(&self.letters(BASE58, 22));
        id
    }

    fn letters(&mut self, alphabet: &[u8], n: usize) -> String {
        let mut out = String::with_capacity(n);
        let (mut word, mut left) = (0, 0);
        for _ in 0..n {
            if left == 0 {
                (word, left) = (self.next(), 8);
            }
            out.push(alphabet[(word & 0xff) as usize % alphabet.len()] as char);
            word >>= 8;
            left -= 1;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut random = Random::new(1);
        assert_eq!(random.next(), 0x910a_2dec_8902_5cc1);
        assert_eq!(Random::new(7).uuid().len(), 36);
        assert_eq!(Random::new(7).uuid().as_bytes()[14], b'4');
    }
}
