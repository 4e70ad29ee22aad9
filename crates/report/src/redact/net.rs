//! The net for secrets without a shape of their own: what stands beside a word like `password`.
//!
//! A name that can only mean a secret lets more through than one that often means something else,
//! as `key` does. Hashes beside such a word stay: `"key": "<sha256>"` names a thing.

use std::ops::Range;

use serde::Deserialize;

use super::assigned::Assigned;
use super::value;

/// How strict to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A person may have made it up: short, but not a word.
    Password,
    /// A machine made it up, and the name says that it is secret.
    Secret,
    /// As [`Judge::Secret`], and the name says little.
    Token,
}

impl Judge {
    /// Longer values are something else.
    pub const MOST: usize = 512;

    /// Whether what is assigned is a secret.
    pub fn finds(self, text: &[u8], found: &Assigned) -> bool {
        let value = &text[found.value.clone()];
        let quoted = found.is_quoted;
        let can_be = match self {
            Self::Password => is_password(value, quoted),
            Self::Secret => is_made(value, if quoted { 12 } else { 16 }, 3.0, 0.15),
            Self::Token => {
                is_made(value, if quoted { 16 } else { 20 }, 3.3, 0.25) && !is_hash(value)
            }
        };
        can_be
            && (quoted && self != Self::Token || !value::is_identifier(value))
            && (quoted || !value::is_number(value))
            && !names_other(self, text, &found.name)
            && !value::is_harmless(value)
    }
}

/// Letters and digits, not all in one word, and nothing that a token never has.
fn is_made(value: &[u8], least: usize, entropy: f64, changes: f64) -> bool {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-+/=.~:".contains(b);
    let floor = if value::is_hex(value) { entropy.min(3.0) } else { entropy };
    (least..=Judge::MOST).contains(&value.len())
        && value.iter().all(is_plain)
        && value::longest_piece(value) >= 8
        && has_variety(value, changes)
        && value::entropy(value) >= floor
}

/// Few random texts have but one digit, and fewer have none; names seldom have both cases mixed so
/// often.
fn has_variety(value: &[u8], changes: f64) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let both_cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let changes = match digits {
        0 if both_cases && value.len() >= 20 => 0.42,
        1 if both_cases => 0.3,
        0 | 1 => return false,
        _ if !has(u8::is_ascii_alphabetic) => return false,
        _ => changes,
    };
    value::changes(value) >= changes
}

fn is_password(value: &[u8], is_quoted: bool) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let symbol = |b: &u8| b"!@#$%^&*+=?~".contains(b);
    let upper_lower_digit =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let is_varied = if is_quoted {
        value::is_mixed(value) || has(u8::is_ascii_alphabetic) && has(symbol)
    } else {
        upper_lower_digit || value::is_mixed(value) && (has(symbol) || value.len() >= 12)
    };
    (8..=100).contains(&value.len())
        && is_varied
        && value.iter().all(u8::is_ascii_graphic)
        && value::entropy(value) >= 2.8
}

/// Commits and checksums, also with words before them, as caches name what they keep.
fn is_hash(value: &[u8]) -> bool {
    let mut pieces: Vec<&[u8]> = value.split(|b| !b.is_ascii_alphanumeric()).collect();
    pieces.sort_by_key(|piece| piece.len());
    let longest = pieces.pop().unwrap_or(value);
    let is_alone = pieces.last().is_none_or(|next| next.len() < 12);
    is_alone && longest.len() >= 32 && value::is_hex(longest)
}

/// Parts of names that make them names of something else.
const OTHERS: [&str; 22] = [
    "public",
    "pubkey",
    "hash",
    "digest",
    "checksum",
    "commit",
    "sha",
    "keyboard",
    "keyword",
    "monkey",
    "tokenizer",
    "tokenid",
    "keyid",
    "key_id",
    "token_id",
    "author",
    "fingerprint",
    "cache",
    "cursor",
    "page",
    "etag",
    "secretname",
];
/// Ends of names that say what is beside the secret.
const ENDINGS: [&str; 18] = [
    "name", "_id", "-id", ".id", "type", "path", "file", "url", "uri", "arn", "length", "size",
    "count", "index", "pattern", "regex", "format", "prefix",
];

fn names_other(judge: Judge, text: &[u8], name: &Range<usize>) -> bool {
    let name = text[name.clone()].to_ascii_lowercase();
    let has = |part: &&str| memchr::memmem::find(&name, part.as_bytes()).is_some();
    let is_authorization = has(&"authoriz");
    let ends = |end: &&str| name.ends_with(end.as_bytes());
    let others = OTHERS.iter().filter(|part| !(is_authorization && **part == "author"));
    judge != Judge::Password && { others }.any(has) || ENDINGS.iter().any(ends)
}

#[cfg(test)]
mod tests {
    use super::super::assigned::{Run, assigned};
    use super::*;

    fn finds(judge: Judge, word: &str, text: &str) -> bool {
        let at = text.find(word).expect("the word");
        let bytes = text.as_bytes();
        let found = assigned(bytes, at..at + word.len(), Judge::MOST, &mut Run::default());
        found.is_some_and(|found| judge.finds(bytes, &found))
    }

    #[test]
    fn passwords() {
        let password = |text| finds(Judge::Password, "password", text);
        for text in ["password = \"hunter2!xyz\"", "password: Tr0ub4dor7x", "password='a1b2c3d4e5'"]
        {
            assert!(password(text), "{text}");
        }
        for text in [
            "password = \"password\"",
            "password: String",
            "password = read_password",
            "password = \"\"",
            "password: ${DB_PASSWORD}",
            "password = \"<your-password-1>\"",
            "password=\"two words 1\"",
        ] {
            assert!(!password(text), "{text}");
        }
    }

    #[test]
    fn hashes_beside_weak_words_stay() {
        let hash = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
        assert!(!finds(Judge::Token, "key", &format!("key = \"{hash}\"")));
        assert!(!finds(Judge::Token, "key", &format!("key: linux-x86_64-v2-{hash}")));
        assert!(finds(Judge::Secret, "secret", &format!("secret = \"{hash}\"")));
        assert!(!finds(Judge::Secret, "secret", &format!("secret_hash = \"{hash}\"")));
    }
}
