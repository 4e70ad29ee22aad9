//! Counts and spans of time as people read them: `18,302 prompts`, `12 m 05 s`.

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A span of milliseconds: `4 s`, `12 m 05 s`, `1 h 08 m`, `3 d 04 h`.
pub fn duration(ms: i64) -> String {
    let two = |big: i64, small: i64, (one, other): (&str, &str)| {
        format!("{} {one} {:02} {other}", ms / big, ms % big / small)
    };
    match ms {
        ..MINUTE => format!("{} s", ms.max(0) / SECOND),
        MINUTE..HOUR => two(MINUTE, SECOND, ("m", "s")),
        HOUR..DAY => two(HOUR, MINUTE, ("h", "m")),
        _ => two(DAY, HOUR, ("d", "h")),
    }
}

/// A short span of milliseconds with tenths: `1.2 s`; from ten seconds on as [`duration`].
pub fn short_duration(ms: i64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
        _ => duration(ms),
    }
}

/// A number in groups of three: `18,302`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 prompt`, `18,302 prompts`.
pub fn counted(number: usize, one: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{} {one}{many}", count(number as u64))
}
