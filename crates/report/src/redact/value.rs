//! What a value looks like: random, or something that is no secret at all.

/// Bits per character, by how often each byte stands in it.
pub fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|&b| counts[usize::from(b)] += 1);
    let total = value.len() as f64;
    let bits = |&count: &u32| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|&&count| count > 0).map(bits).sum()
}

/// Letters and digits both.
pub fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// How often the kind of character changes, from 0 to 1: often in what was drawn by lot, seldom in
/// names made of words.
pub fn changes(value: &[u8]) -> f64 {
    let kind = |b: u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let pairs = value.windows(2).filter(|pair| kind(pair[0]) != 3 && kind(pair[1]) != 3);
    let changed = pairs.filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    changed as f64 / value.len().max(1) as f64
}

/// The longest piece without a separator.
pub fn longest_piece(value: &[u8]) -> usize {
    value.split(|b| !b.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or(0)
}

/// Whether it is a name of a program: `CamelCase` or `CAPITALS_9`. Letters drawn by lot make no
/// such runs of small ones, and more of large ones.
pub fn is_identifier(value: &[u8]) -> bool {
    let value = value.rsplit(|b| *b == b'.').next().unwrap_or(value);
    let count = |is: fn(&u8) -> bool| value.iter().filter(|b| is(b)).count();
    let runs = |is: fn(&u8) -> bool, least: usize| {
        value.split(|b| !is(b)).filter(|run| run.len() >= least).count()
    };
    let (lower, upper) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    let is_wordy = 10 * lower >= 26 * runs(u8::is_ascii_lowercase, 1);
    let is_camel = upper > 0
        && is_wordy
        && runs(u8::is_ascii_digit, 1) <= 1
        && runs(u8::is_ascii_uppercase, 2) <= 1;
    let is_constant = lower == 0 && upper > 0 && value.contains(&b'_');
    let is_snake = upper == 0 && value.contains(&b'_') && is_wordy;
    value.iter().all(|b| b.is_ascii_alphanumeric() || b"_:.-".contains(b))
        && (is_camel || is_constant || is_snake)
}

/// Whether it is a number as programs have it: `-12i32`, `0xC000_027A`.
pub fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_tail = |b: &u8| b.is_ascii_hexdigit() || b"_uisz.xl".contains(&b.to_ascii_lowercase());
    let is_hex = digits.starts_with(b"0x");
    let decimals = digits.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    is_hex && digits.iter().all(is_tail) || decimals > 0 && digits.len() - decimals <= 4
}

/// Only hexadecimal digits, of one case.
pub fn is_hex(value: &[u8]) -> bool {
    let lower = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let upper = |b: &u8| matches!(b, b'0'..=b'9' | b'A'..=b'F');
    value.iter().all(lower) || value.iter().all(upper)
}

/// 8-4-4-4-12 hexadecimal digits.
pub fn is_uuid(value: &[u8]) -> bool {
    let digits = |(at, b): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *b == b'-',
        _ => b.is_ascii_hexdigit(),
    };
    value.len() == 36 && value.iter().enumerate().all(digits)
}

/// From this length on a short word may stand in a random value.
const LONG: usize = 40;
/// Words of people who show where a secret would stand.
const STAND_INS: [&str; 25] = [
    "example",
    "placeholder",
    "your",
    "changeme",
    "change-me",
    "change_me",
    "dummy",
    "sample",
    "fake",
    "redacted",
    "insert",
    "replace",
    "xxxx",
    "****",
    "....",
    "todo",
    "foobar",
    "foo-bar",
    "abcdef",
    "123456789",
    "0000000",
    "process.env",
    "os.environ",
    "getenv",
    "localhost",
];
/// Words that stand for a password, or are one that everybody knows.
const WORDS: [&str; 21] = [
    "password",
    "passwd",
    "pass",
    "secret",
    "pwd",
    "user",
    "username",
    "postgres",
    "root",
    "admin",
    "test",
    "guest",
    "mysql",
    "token",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
];
/// How values begin that are looked up or put in later.
const VARIABLES: [&str; 5] = ["$", "{", "<", "#{", "%("];
/// How values begin that are no secrets; the last ones are public keys.
const BEGINNINGS: [&str; 19] = [
    "@",
    "/",
    "./",
    "../",
    "~",
    "http",
    "data:",
    "sha1-",
    "sha256",
    "sha384",
    "sha512",
    "md5",
    "file:",
    "0x0000",
    "MFkwEwYHKoZIzj0",
    "MIIBIjANBgkqhkiG9w0",
    "MIICIjANBgkqhkiG9w0",
    "MCowBQYDK2Vw",
    "ssh-",
];

/// Whether a value only shows where a secret would stand.
pub fn is_stand_in(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |part: &str| memchr::memmem::find(&lower, part.as_bytes()).is_some();
    VARIABLES.iter().any(|begin| lower.starts_with(begin.as_bytes()))
        || STAND_INS.iter().any(|word| says(&lower, word))
        || ["${", "{{", "xxxxxxxx", "********"].iter().any(|part| has(part))
        || WORDS.iter().any(|word| lower == word.as_bytes())
        || is_dull(value)
}

/// Whether a word stands in a value: in a long one on its own, for there four letters may come
/// together by chance.
fn says(value: &[u8], word: &str) -> bool {
    let is_end = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
    memchr::memmem::find_iter(value, word.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| value.get(at));
        value.len() < LONG || is_end(before) && is_end(value.get(at + word.len()))
    })
}

/// Whether a value is well known to be no secret: a stand-in, a path, an address, a checksum with
/// its name, a UUID.
pub fn is_harmless(value: &[u8]) -> bool {
    let begins = |with: &&str| {
        value.get(..with.len()).is_some_and(|v| v.eq_ignore_ascii_case(with.as_bytes()))
    };
    BEGINNINGS.iter().any(begins)
        || memchr::memmem::find(value, b"://").is_some()
        || memchr::memmem::find(value, b":\\").is_some()
        || is_uuid(value)
        || is_stand_in(value)
}

/// Three different characters or fewer.
fn is_dull(value: &[u8]) -> bool {
    let mut seen: Vec<u8> = value.to_vec();
    seen.sort_unstable();
    seen.dedup();
    seen.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_of_known_texts() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abab"), 1.0);
        assert_eq!(entropy(b"abcdefgh"), 3.0);
        assert_eq!(entropy(b""), 0.0);
    }

    #[test]
    fn kinds_of_values() {
        assert!(is_hex(b"00ff") && is_hex(b"00FF") && !is_hex(b"0fF") && !is_hex(b"0g"));
        assert!(is_uuid(b"123e4567-e89b-12d3-a456-426614174000"));
        assert!(!is_uuid(b"123e4567-e89b-12d3-a456-42661417400"));
        assert!(is_mixed(b"a1") && !is_mixed(b"ab") && !is_mixed(b"12"));
        assert_eq!(longest_piece(b"ab-cdef_g"), 4);
        assert_eq!(changes(b"aA1a"), 0.75);
        assert_eq!(changes(b"snake_case"), 0.0);
    }

    #[test]
    fn names_of_programs() {
        for name in [
            "ShortBoxSliceIntoIter",
            "X509HardwareKeyUsageFlags",
            "ERRLOG2_BASE",
            "ed25519.Ed25519PrivateKey",
            "read_key_2",
        ] {
            assert!(is_identifier(name.as_bytes()), "{name}");
        }
        for number in ["0xC000027A_u32", "-2146368492i32", "1_000_000_000"] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        assert!(!is_number(b"12ab34cd"));
        for value in ["k8Xq2Lm9TzR4vB7nW1pC", "q8z2x7v5k1m9", "d41d8cd98f00b204e980"] {
            assert!(!is_identifier(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for value in [
            "<your-key>",
            "${TOKEN}",
            "$TOKEN",
            "process.env.KEY",
            "xxxxxxxxxxxx",
            "YOUR_API_KEY",
            "{{ secrets.KEY }}",
            "/etc/ssl/key1.pem",
            "https://a.b/c1",
            "sha512-abc123==",
            "aaaabbbb",
            "123e4567-e89b-12d3-a456-426614174000",
            "data:image/png;base64,iVBOR",
        ] {
            assert!(is_harmless(value.as_bytes()), "{value}");
        }
        assert!(!is_harmless(b"q8Zr2LmT5vWx"));
        let long = "k8Xq2Lm9TzfakeR4vB7nW1pCk8Xq2Lm9TzR4vB7nW1pC";
        assert!(!is_harmless(long.as_bytes()));
        assert!(is_harmless(format!("fake-{long}").as_bytes()));
    }
}
