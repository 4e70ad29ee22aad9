//! Times as Claude Code writes them: ISO 8601 with milliseconds and `Z`, or milliseconds since
//! 1970. No clock and no zone here: a [`Time`] is a number, printing it is the door's work.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// Reads `2025-12-07T04:18:24.082Z`, also with other fractions, `+hh:mm`, or a space for `T`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let number = |from: usize, to: usize| digits(text.get(from..to)?);
        let at = |i: usize, allowed: &[u8]| text.get(i).filter(|b| allowed.contains(b));
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        at(4, b"-").and(at(7, b"-")).and(at(10, b"T ")).and(at(13, b":")).and(at(16, b":"))?;
        let in_range = (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61;
        if !in_range {
            return None;
        }
        let (fraction, rest) = fraction(&text[19..])?;
        let seconds =
            days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Self((seconds - offset(rest)?) * 1000 + fraction))
    }

    /// `self` minus `earlier`, in milliseconds.
    pub fn since(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0')))
}

/// The fraction in milliseconds, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Some((0, text));
    };
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let milli = rest[..length].iter().chain(b"000").take(3);
    let value = milli.fold(0, |sum, b| sum * 10 + i64::from(b - b'0'));
    (length > 0).then_some((value, &rest[length..]))
}

/// Seconds east of Greenwich.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        b"Z" | b"z" | b"" => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, minutes) = match rest {
                [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => ([*h1, *h2], [*m1, *m2]),
                _ => return None,
            };
            let seconds = digits(&hours)? * 3600 + digits(&minutes)? * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn reads_the_written_forms() {
        // Checked with `date -u -d ... +%s`.
        let cases: [(&str, Option<i64>); 10] = [
            ("2025-12-07T04:18:24.082Z", Some(1_765_081_104_082)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-29T12:00:00.5Z", Some(1_709_208_000_500)),
            ("2026-01-01T00:00:00.123456Z", Some(1_767_225_600_123)),
            ("2026-01-01T01:00:00+01:00", Some(1_767_225_600_000)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2025-02-29T00:00:00Z", None),
            ("2025-12-07", None),
            ("2025-12-07T04:18:24.Z", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(Time::parse(text.as_bytes()), want.map(Time), "{text}");
        }
    }
}
