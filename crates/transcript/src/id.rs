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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    let is_dashed = [8, 13, 18, 23].iter().all(|&i| text[i] == b'-');
    let parts = [&text[..8], &text[9..13], &text[14..18], &text[19..23], &text[24..]];
    let (mut number, mut odd) = (0u128, 0);
    for part in parts {
        let value = part.iter().fold(0u64, |value, &b| {
            let digit = HEX[usize::from(b)];
            odd |= digit;
            value << 4 | u64::from(digit & 0xF)
        });
        number = number << (4 * part.len()) | u128::from(value);
    }
    (is_dashed && odd & NO_DIGIT == 0).then_some(number)
}

/// Marks bytes that are no digit of a number in base 16.
const NO_DIGIT: u8 = 0x80;

/// The digit of each byte. Upper case is none: it would make two texts one number.
const HEX: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

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
    }
}
