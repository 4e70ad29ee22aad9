//! Times as Claude Code writes them: ISO 8601 with milliseconds and `Z`, or milliseconds since
//! 1970. No clock and no zone here: a [`Time`] is a number, printing it is the door's work.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// Reads `2025-12-07T04:18:24.082Z`, also with other fractions, `+hh:mm`, or a space for `T`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (clock, rest) = text.split_first_chunk::<19>()?;
        let mut most = 0;
        let mut two = |at: usize| {
            let (a, b) = (clock[at].wrapping_sub(b'0'), clock[at + 1].wrapping_sub(b'0'));
            most = most.max(a).max(b);
            i64::from(a) * 10 + i64::from(b)
        };
        let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
        let (hour, minute, second) = (two(11), two(14), two(17));
        let is_clock = matches!(
            (clock[4], clock[7], clock[10], clock[13], clock[16]),
            (b'-', b'-', b'T' | b' ', b':', b':')
        );
        let in_range = is_clock
            && most <= 9
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61;
        if !in_range {
            return None;
        }
        let (fraction, rest) = fraction(rest)?;
        let seconds =
            days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Self((seconds - offset(rest)?) * 1000 + fraction))
    }

    /// Year, month and day in UTC.
    pub fn date(self) -> (i64, i64, i64) {
        civil_of_days(self.0.div_euclid(86_400_000))
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
    if let [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b'Z'] = rest {
        let digit = |b: &u8| i64::from(b - b'0');
        return Some((digit(a) * 100 + digit(b) * 10 + digit(c), b"Z"));
    }
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

/// The date so many days after 1970-01-01. The year is counted from March, so that the leap day
/// is its last.
fn civil_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
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

    #[test]
    fn a_time_has_a_date() {
        let date = |text: &str| Time::parse(text.as_bytes()).map(Time::date);
        assert_eq!(date("2024-02-29T23:59:59.999Z"), Some((2024, 2, 29)));
        assert_eq!(date("2026-01-01T00:00:00Z"), Some((2026, 1, 1)));
        assert_eq!(date("1969-12-31T12:00:00Z"), Some((1969, 12, 31)));
    }
}
