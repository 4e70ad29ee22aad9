//! Numbers and times as people read them: `1 h 08 m`, `4.1 MB`, `18,302`, `2026-04-20 14:30`.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use transcript::time::Time;

pub use transcript::phrase::{count, counted, duration, short_duration};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
/// Clocks of two computers differ; a time further ahead is an error and shown as it is.
const TOMORROW: i64 = -DAY;

/// What time it is, and where. Read once, in `main`.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Now, in the zone of this computer.
    pub now: Zoned,
}

impl Clock {
    /// Now, as transcripts count it.
    pub fn time(&self) -> Time {
        Time(self.now.timestamp().as_millisecond())
    }

    /// `2026-04-20 14:30`, or `-` for a time that no calendar has.
    pub fn minute(&self, time: Time) -> String {
        self.print(time, "%Y-%m-%d %H:%M")
    }

    /// `2026-04-20 14:30:05.250`.
    pub fn milli(&self, time: Time) -> String {
        self.print(time, "%Y-%m-%d %H:%M:%S%.3f")
    }

    /// `14:30:05`.
    pub fn time_of_day(&self, time: Time) -> String {
        self.print(time, "%H:%M:%S")
    }

    /// `2026-04-20`.
    pub fn day(&self, time: Time) -> String {
        self.print(time, "%Y-%m-%d")
    }

    /// A time of the last week as its age, `3 h ago`; others as [`minute`](Self::minute).
    pub fn near(&self, time: Time) -> String {
        let age = self.now.timestamp().as_millisecond().saturating_sub(time.0);
        match age {
            TOMORROW..MINUTE => "just now".into(),
            MINUTE..HOUR => format!("{} m ago", age / MINUTE),
            HOUR..DAY => format!("{} h ago", age / HOUR),
            DAY..WEEK => format!("{} d ago", age / DAY),
            _ => self.minute(time),
        }
    }

    fn print(&self, time: Time, form: &str) -> String {
        match Timestamp::from_millisecond(time.0) {
            Ok(stamp) => stamp.to_zoned(self.zone()).strftime(form).to_string(),
            Err(_) => "-".into(),
        }
    }

    fn zone(&self) -> TimeZone {
        self.now.time_zone().clone()
    }
}

/// Thousands in short: `840`, `11k`, `156.6k`, `1.2M`.
pub fn thousands(number: u64) -> String {
    let (value, unit) = match number {
        0..1000 => return number.to_string(),
        1000..999_950 => (number as f64 / 1e3, "k"),
        _ => (number as f64 / 1e6, "M"),
    };
    let text = format!("{value:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// Bytes: `12 B`, `4.1 MB`. A kB is 1000 bytes, as disks and `ls --si` count.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    // What would print as `1000.0` belongs to the next unit.
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A part of all: `12.3 %`; nothing where there is nothing.
pub fn percent(part: u64, all: u64) -> String {
    match all {
        0 => String::new(),
        all => format!("{:.1} %", part as f64 * 100.0 / all as f64),
    }
}

/// Micro-dollars as dollars and cents; small sums with more digits.
pub fn dollars(micro: u64) -> String {
    let cents = (micro + 5_000) / 10_000;
    match micro {
        0 => "$0".into(),
        1..100_000 => format!("$0.{:04}", (micro + 50) / 100),
        _ => format!("${}.{:02}", count(cents / 100), cents % 100),
    }
}

/// The last part of a folder's path, which is how people call it.
pub fn last_part(path: &str) -> &str {
    let end = path.trim_end_matches(['/', '\\']);
    end.rsplit(['/', '\\']).next().filter(|part| !part.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday 2026-05-06 14:20 in a zone two hours east of Greenwich.
    fn clock() -> Clock {
        let now: Timestamp = "2026-05-06T12:20:00Z".parse().expect("a time");
        Clock { now: now.to_zoned(TimeZone::fixed(jiff::tz::offset(2))) }
    }

    #[test]
    fn times_are_local() {
        let time = Time::parse(b"2026-05-05T22:59:58.250Z").expect("a time");
        assert_eq!(clock().minute(time), "2026-05-06 00:59");
        assert_eq!(clock().milli(time), "2026-05-06 00:59:58.250");
        assert_eq!(clock().minute(Time(i64::MAX)), "-");
    }

    #[test]
    fn near_times_are_ages() {
        let near = |ms: i64| clock().near(Time(clock().now.timestamp().as_millisecond() - ms));
        let cases = [
            (-2 * DAY, "2026-05-08 14:20"),
            (-HOUR, "just now"),
            (59 * SECOND, "just now"),
            (MINUTE, "1 m ago"),
            (DAY - 1, "23 h ago"),
            (WEEK - 1, "6 d ago"),
            (WEEK, "2026-04-29 14:20"),
        ];
        for (ms, want) in cases {
            assert_eq!(near(ms), want);
        }
    }

    #[test]
    fn durations() {
        let cases = [
            (-5, "0 s"),
            (999, "0 s"),
            (59_999, "59 s"),
            (60_000, "1 m 00 s"),
            (12 * MINUTE + 5 * SECOND, "12 m 05 s"),
            (HOUR + 8 * MINUTE, "1 h 08 m"),
            (3 * DAY + 4 * HOUR, "3 d 04 h"),
        ];
        for (ms, want) in cases {
            assert_eq!(duration(ms), want);
        }
    }

    #[test]
    fn short_forms() {
        let spans =
            [(0, "0.0 s"), (1_250, "1.2 s"), (9_999, "9.9 s"), (10_000, "10 s"), (-1, "0 s")];
        for (ms, want) in spans {
            assert_eq!(short_duration(ms), want);
        }
        let numbers = [(999, "999"), (11_000, "11k"), (156_612, "156.6k"), (999_950, "1M")];
        for (number, want) in numbers {
            assert_eq!(thousands(number), want);
        }
    }

    #[test]
    fn sizes_and_counts() {
        let sizes = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (4_123_456, "4.1 MB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (1_400_000_000, "1.4 GB"),
            (u64::MAX, "18446.7 PB"),
        ];
        for (bytes, want) in sizes {
            assert_eq!(size(bytes), want);
        }
        assert_eq!(
            (count(0), count(999), count(18_302)),
            ("0".into(), "999".into(), "18,302".into())
        );
        assert_eq!(
            (counted(1, "prompt"), counted(0, "prompt")),
            ("1 prompt".into(), "0 prompts".into())
        );
    }
}
