//! Base64 of the standard alphabet, both ways, with the check that it is written canonically.
//!
//! Own code, since what is wanted is not a decoder that refuses: the longest part of a run that
//! comes back the same is taken, the rest stays text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Not a character of the alphabet.
const NONE: u8 = 0xff;

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < 64 {
        values[ALPHABET[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// How many characters [`is_likely`] looks at.
pub const LOOK: usize = 16;

/// Whether base64 may go on here: a cheap look at a few characters.
pub fn is_likely(text: &[u8]) -> bool {
    text.iter().take(LOOK).all(|b| VALUES[*b as usize] != NONE)
}

/// The run of the alphabet around `at`, with up to two `=`, not before `least`.
pub fn run_around(text: &[u8], least: usize, at: usize) -> (usize, usize) {
    let inside = |b: &&u8| VALUES[**b as usize] != NONE;
    let before = text[least..at].iter().rev().take_while(inside).count();
    let end = at + text[at..].iter().take_while(inside).count();
    let padding = text[end..].iter().take(2).take_while(|b| **b == b'=').count();
    (at - before, end + padding)
}

/// Decodes as much of a run as comes back the same; gives how many characters that is.
pub fn decode(run: &[u8]) -> (usize, Vec<u8>) {
    let padding = run.iter().rev().take(2).take_while(|b| **b == b'=').count();
    let letters = run.len() - padding;
    let whole = letters - letters % 4;
    let mut out = Vec::with_capacity(whole / 4 * 3 + 2);
    for four in run[..whole].chunks_exact(4) {
        let value = four.iter().fold(0, |sum, b| sum << 6 | u32::from(VALUES[*b as usize]));
        out.extend_from_slice(&value.to_be_bytes()[1..]);
    }
    let end = &run[whole..];
    if padding > 0 && end.len() == 4 && decode_last(end, padding, &mut out) {
        return (run.len(), out);
    }
    (whole, out)
}

/// The last four characters, if the bits that belong to no byte are zero.
fn decode_last(four: &[u8], padding: usize, out: &mut Vec<u8>) -> bool {
    let letters = &four[..4 - padding];
    let value = letters.iter().fold(0, |sum, b| sum << 6 | u32::from(VALUES[*b as usize]));
    let value = value << (6 * padding);
    let kept = 3 - padding;
    if value.trailing_zeros() < 8 * padding as u32 {
        return false;
    }
    out.extend_from_slice(&value.to_be_bytes()[1..=kept]);
    true
}

/// Writes `bytes` as base64.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let threes = bytes.chunks_exact(3);
    let rest = threes.remainder();
    for three in threes {
        let value = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        out.extend_from_slice(&letters(value));
    }
    if !rest.is_empty() {
        let value = u32::from_be_bytes([0, rest[0], *rest.get(1).unwrap_or(&0), 0]);
        let mut four = letters(value);
        four[rest.len() + 1..].fill(b'=');
        out.extend_from_slice(&four);
    }
}

fn letters(value: u32) -> [u8; 4] {
    let letter = |shift: u32| ALPHABET[(value >> shift & 63) as usize];
    [letter(18), letter(12), letter(6), letter(0)]
}
