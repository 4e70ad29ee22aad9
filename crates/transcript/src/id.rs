//! Names of things. Ids in the files are usually UUIDs, but nothing promises it, so each is text.

use serde::{Deserialize, Serialize};

use crate::json::Str;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as it is written in the files.
            pub fn new(text: impl Into<Box<str>>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A session: the stem of its file, `sessionId` on its entries.
    SessionId
);
id!(
    /// A subagent: `agentId` on its entries, `agent-<id>.jsonl` as a file.
    AgentId
);
id!(
    /// A tool call: `tool_use.id`, `tool_result.tool_use_id`.
    ToolUseId
);

/// Any id as one number, for joining: a UUID is itself, other text is hashed. It is the same in
/// every run and can be kept.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Key(pub u128);

impl Key {
    /// The key of an id's text.
    pub fn of(id: &[u8]) -> Self {
        uuid(id).map_or_else(|| Self(hash(id)), Self)
    }

    /// The key of an id as it stands in JSON.
    pub fn of_str(id: Str<'_>) -> Self {
        match uuid(id.raw()) {
            Some(number) => Self(number),
            None if is_plain(id.raw()) => Self(hash(id.raw())),
            None => Self(hash(id.text().as_bytes())),
        }
    }

    /// Half of the key, for tables over whole homes.
    pub fn short(self) -> u64 {
        (self.0 >> 64) as u64 ^ self.0 as u64
    }
}

/// The number a UUID in its usual form stands for.
fn uuid(text: &[u8]) -> Option<u128> {
    let text: &[u8; 36] = text.try_into().ok()?;
    let is_dashed = text[8] == b'-' && text[13] == b'-' && text[18] == b'-' && text[23] == b'-';
    let eight = |a: usize, b: usize| {
        let (a, b) = (&text[a..a + 4], &text[b..b + 4]);
        eight_digits([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    };
    let (a, b, c, d) = (eight(0, 4), eight(9, 14), eight(19, 24), eight(28, 32));
    let odd = a.1 | b.1 | c.1 | d.1;
    let number = u128::from(a.0 << 32 | b.0) << 64 | u128::from(c.0 << 32 | d.0);
    (is_dashed && odd == 0).then_some(number)
}

/// The number that eight digits in base 16 stand for, and whether they are none: then it is not 0.
/// Upper case is none: it would make two texts one number.
fn eight_digits(text: [u8; 8]) -> (u64, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_be_bytes(text);
    // All at once, a byte each: letters have bit 6, and 9 more than their lower half.
    let digits = (text & (0xF * EACH)) + 9 * (text >> 6 & EACH);
    let is_letter = (digits + 6 * EACH) >> 4 & EACH;
    let again = digits + u64::from(b'0') * EACH + u64::from(b'a' - b'9' - 1) * is_letter;
    let pairs = (digits | digits >> 4) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    ((fours | fours >> 16) & 0xFFFF_FFFF, text ^ again | digits & (0xF0 * EACH))
}

/// Whether a JSON string stands for its own bytes.
fn is_plain(raw: &[u8]) -> bool {
    let (words, rest) = raw.as_chunks::<8>();
    let is_odd = |&b: &u8| b == b'\\' || !b.is_ascii();
    let odd = words.iter().any(|word| {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let word = u64::from_le_bytes(*word);
        let other = word ^ (u64::from(b'\\') * EACH);
        (word | (other.wrapping_sub(EACH) & !other)) & (0x80 * EACH) != 0
    });
    !odd && !rest.iter().any(is_odd)
}

/// Eight bytes at a time: one by one costs more than all else that is done with an id.
fn hash(text: &[u8]) -> u128 {
    const ODD: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
    let mix = |hash: u128, word: [u8; 8]| {
        let hash = (hash ^ u128::from(u64::from_le_bytes(word))).wrapping_mul(ODD);
        hash ^ hash >> 64
    };
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(words.iter().fold(ODD ^ text.len() as u128, |hash, &word| mix(hash, word)), last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_its_number_and_other_text_a_hash() {
        assert_eq!(Key::of(b"00000000-0000-0000-0000-0000000000ff"), Key(255));
        assert_ne!(Key::of(b"00000000-0000-0000-0000-0000000000FF"), Key(255));
        assert_ne!(Key::of(b"toolu_01"), Key::of(b"toolu_02"));
        assert_eq!(Key::of(b"a/b"), Key::of_str(Str::new(br"a\/b")));
        assert_ne!(Key::of(b"a"), Key::of(b"a\0"));
        assert_eq!(
            Key::of(b"01234567-89ab-cdef-fedc-ba9876543210"),
            Key(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210)
        );
        for at in 0..36 {
            for byte in 0..=u8::MAX {
                let mut id = *b"01234567-89ab-cdef-fedc-ba9876543210";
                id[at] = byte;
                let is_one = match at {
                    8 | 13 | 18 | 23 => byte == b'-',
                    _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
                };
                assert_eq!(uuid(&id).is_some(), is_one, "{byte} at {at}");
            }
        }
    }
}
