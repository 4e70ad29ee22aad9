//! The values of `--since` and `--until`.
//!
//! A day is the day of this computer's zone, and `--until` takes in the whole of the day or week
//! it names: `--since yesterday --until yesterday` is one day.

use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, ToSpan, Zoned};
use transcript::time::Time;

use report::format::Clock;

/// A time as a person gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeArg {
    /// With its own zone: `2026-04-20T14:30:00Z`.
    Moment(Timestamp),
    /// Of this computer's zone: `2026-04-20T14:30`.
    Local(DateTime),
    /// `2026-04-20`.
    Day(Date),
    /// `today` is 0, `yesterday` is 1.
    DaysAgo(i64),
    /// `last week`: from Monday to Sunday.
    LastWeek,
    /// `3h`.
    HoursBack(i64),
    /// `7d`, `2w`: the same time of day, so many days ago.
    DaysBack(i64),
}

/// Why a text is not a valid time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTime;

impl std::fmt::Display for NoTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "give a date (2026-04-20), a date and time (2026-04-20T14:30), \
             today, yesterday, last week, or an age (3h, 7d, 2w)",
        )
    }
}

impl std::error::Error for NoTime {}

impl FromStr for TimeArg {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, NoTime> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "today" => return Ok(Self::DaysAgo(0)),
            "yesterday" => return Ok(Self::DaysAgo(1)),
            "last week" | "last-week" => return Ok(Self::LastWeek),
            _ => {}
        }
        age(&text).or_else(|| date(&text)).ok_or(NoTime)
    }
}

/// `3h`, `7d`, `2w`.
fn age(text: &str) -> Option<TimeArg> {
    let unit = text.chars().last().filter(char::is_ascii)?;
    // Past a million of anything the calendar ends.
    let number: i64 = text[..text.len() - 1].parse().ok().filter(|n| (0..1_000_000).contains(n))?;
    match unit {
        'h' => Some(TimeArg::HoursBack(number)),
        'd' => Some(TimeArg::DaysBack(number)),
        'w' => Some(TimeArg::DaysBack(number * 7)),
        _ => None,
    }
}

fn date(text: &str) -> Option<TimeArg> {
    // A date-time parser of dates takes the time away in silence.
    if text.len() <= "2026-04-20".len() {
        return text.parse().ok().map(TimeArg::Day);
    }
    let moment = || text.parse().ok().map(TimeArg::Moment);
    moment().or_else(|| text.parse().ok().map(TimeArg::Local))
}

impl TimeArg {
    /// The first moment of it: what `--since` begins with.
    pub fn start(&self, clock: &Clock) -> Time {
        let now = &clock.now;
        let day = |date: Date| date.to_zoned(now.time_zone().clone()).ok();
        let start = match self {
            Self::Moment(moment) => return Time(moment.as_millisecond()),
            Self::Local(local) => local.to_zoned(now.time_zone().clone()).ok(),
            Self::Day(date) => day(*date),
            Self::DaysAgo(days) => back(now, days.days()).and_then(|then| day(then.date())),
            Self::LastWeek => monday(now).and_then(|this| day(this.checked_sub(7.days()).ok()?)),
            Self::HoursBack(hours) => back(now, hours.hours()),
            Self::DaysBack(days) => back(now, days.days()),
        };
        // What lies before the calendar lies before everything.
        start.map_or(Time(i64::MIN), |start| Time(start.timestamp().as_millisecond()))
    }

    /// The first moment after it: what `--until` ends before.
    pub fn end(&self, clock: &Clock) -> Time {
        let next = match self {
            Self::Day(date) => date.tomorrow().ok().map(Self::Day),
            Self::DaysAgo(days) => Some(Self::DaysAgo(days - 1)),
            Self::LastWeek => monday(&clock.now).map(Self::Day),
            _ => Some(self.clone()),
        };
        next.map_or(Time(i64::MAX), |next| next.start(clock))
    }
}

fn back(now: &Zoned, span: Span) -> Option<Zoned> {
    now.checked_sub(span).ok()
}

/// The Monday of this week.
fn monday(now: &Zoned) -> Option<Date> {
    let days = i64::from(now.weekday().to_monday_zero_offset());
    now.date().checked_sub(days.days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday 2026-05-06 14:20 in a zone two hours east of Greenwich.
    fn clock() -> Clock {
        let now: jiff::Timestamp = "2026-05-06T12:20:00Z".parse().expect("a time");
        Clock { now: now.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(2))) }
    }

    /// The range in the clock's zone.
    fn range(text: &str) -> String {
        let clock = clock();
        match text.parse::<TimeArg>() {
            Ok(time) => {
                format!("{} .. {}", clock.milli(time.start(&clock)), clock.milli(time.end(&clock)))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn days_are_whole_and_ages_are_moments() {
        let cases = [
            ("today", "2026-05-06 00:00:00.000 .. 2026-05-07 00:00:00.000"),
            ("Yesterday", "2026-05-05 00:00:00.000 .. 2026-05-06 00:00:00.000"),
            ("last week", "2026-04-27 00:00:00.000 .. 2026-05-04 00:00:00.000"),
            ("2026-04-20", "2026-04-20 00:00:00.000 .. 2026-04-21 00:00:00.000"),
            ("2026-04-20T14:30", "2026-04-20 14:30:00.000 .. 2026-04-20 14:30:00.000"),
            ("2026-04-20 14:30:05", "2026-04-20 14:30:05.000 .. 2026-04-20 14:30:05.000"),
            ("2026-04-20T14:30:00Z", "2026-04-20 16:30:00.000 .. 2026-04-20 16:30:00.000"),
            ("3h", "2026-05-06 11:20:00.000 .. 2026-05-06 11:20:00.000"),
            ("7d", "2026-04-29 14:20:00.000 .. 2026-04-29 14:20:00.000"),
            ("2w", "2026-04-22 14:20:00.000 .. 2026-04-22 14:20:00.000"),
        ];
        for (text, want) in cases {
            assert_eq!(range(text), want, "{text}");
        }
    }

    #[test]
    fn other_text_is_no_time() {
        for text in ["", "soon", "7", "d", "-3d", "7é", "2026-13-01", "2026-04", "9999999999d"] {
            assert_eq!(text.parse::<TimeArg>(), Err(NoTime), "{text}");
        }
    }
}
