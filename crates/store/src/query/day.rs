//! The days that a question names: `in July`, `on 5 May 2026`, `2026-05-05`.
//!
//! What was said then is looked at first; nothing is left out, since a person remembers days
//! worse than words. Days are those of UTC.

use transcript::time::Time;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words before a date. `may` and `march`, and a number alone, are dates only behind one of them.
const BEFORE: [&str; 15] = [
    "in", "on", "of", "since", "during", "by", "until", "before", "after", "from", "last", "early",
    "mid", "late", "around",
];

/// In milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// A day, a month or a year; what is not said may be any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
}

impl Day {
    /// How much it says that something was said at this time: a day says more than a month, and
    /// that more than a year.
    pub fn told(&self, time: Time) -> f32 {
        match self {
            _ if !self.is(time) => 0.0,
            Self { day: Some(_), .. } => 1.0,
            Self { month: Some(_), .. } => 0.5,
            _ => 0.2,
        }
    }

    /// The same within a week of it, half as much: for where nothing was said then. Things are
    /// planned before they happen and told afterwards, and a day is easily remembered as the next
    /// one.
    pub fn told_about(&self, time: Time) -> f32 {
        let week = (-6..=6).map(|days| Time(time.0.saturating_add(days * DAY)));
        week.map(|time| self.told(time) / 2.0).fold(0.0, f32::max)
    }

    fn is(&self, time: Time) -> bool {
        let (year, month, day) = time.date();
        let is = |said: Option<i64>, was: i64| said.is_none_or(|said| said == was);
        is(self.year, year) && is(self.month, month) && is(self.day, day)
    }

    /// The days that a text names.
    pub fn named(text: &str) -> Vec<Self> {
        let words: Vec<String> = text.split_whitespace().map(bare).collect();
        (0..words.len()).filter_map(|at| Self::at(&words, at)).collect()
    }

    /// The day whose month, or whose whole, stands at `at`.
    fn at(words: &[String], at: usize) -> Option<Self> {
        let word = words[at].as_str();
        let back = |by: usize| at.checked_sub(by).map(|at| words[at].as_str());
        let on = |by: usize| words.get(at + by).map(String::as_str);
        if let Some(day) = written(word) {
            return Some(day);
        }
        let is_led = back(1).is_some_and(|word| BEFORE.contains(&word));
        let Some(month) = month(word) else {
            let is_of_month = |word: Option<&str>| word.and_then(month).is_some();
            let is_alone = is_led && !is_of_month(back(2)) && !is_of_month(back(1));
            return year(word)
                .filter(|_| is_alone)
                .map(|y| Self { year: Some(y), ..Self::default() });
        };
        let ahead = back(1).filter(|word| *word != "of").or(back(2)).and_then(day);
        let behind = on(1).and_then(day);
        let year =
            on(1).and_then(year).or_else(|| on(2).filter(|_| behind.is_some()).and_then(year));
        let day = Self { year, month: Some(month), day: ahead.or(behind) };
        // Short names are words too: `may`, `dec`.
        let is_name = word.len() > 3 && word != "march";
        let is_led = is_led && matches!(word, "may" | "march");
        (is_name || is_led || day.year.is_some() || day.day.is_some()).then_some(day)
    }
}

/// A word in small letters, without what stands around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The month of a name, or of its first three letters.
fn month(word: &str) -> Option<i64> {
    let is = |name: &str| {
        word == name
            || word.len() == 3 && name.starts_with(word)
            || word == "sept" && name == "september"
    };
    MONTHS.iter().position(|name| is(name)).map(|at| at as i64 + 1)
}

/// `5` or `5th`.
fn day(word: &str) -> Option<i64> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
    let digits = digits.unwrap_or(word);
    let is_short = digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|day| is_short && (1..=31).contains(day))
}

/// `2026`.
fn year(word: &str) -> Option<i64> {
    let is_one = word.len() == 4 && word.starts_with("20");
    word.parse().ok().filter(|_| is_one)
}

/// `2026-05-05` or `2026-05`.
fn written(word: &str) -> Option<Day> {
    let mut parts = word.split('-');
    let year = parts.next().and_then(year)?;
    let two = |part: Option<&str>| part.filter(|part| part.len() == 2)?.parse::<i64>().ok();
    let month = two(parts.next()).filter(|month| (1..=12).contains(month))?;
    let last = parts.next();
    let day = two(last).filter(|day| (1..=31).contains(day));
    let is_whole = parts.next().is_none() && last.is_some() == day.is_some();
    is_whole.then_some(Day { year: Some(year), month: Some(month), day })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<(Option<i64>, Option<i64>, Option<i64>)> {
        Day::named(text).into_iter().map(|day| (day.year, day.month, day.day)).collect()
    }

    #[test]
    fn days_are_found_as_people_write_them() {
        let (july, may) = ((None, Some(7), None), (None, Some(5), None));
        let whole = (Some(2026), Some(5), Some(5));
        for (text, want) in [
            ("what broke in July?", vec![july]),
            ("what did we decide in May", vec![may]),
            ("the deploy of 5 May 2026", vec![whole]),
            ("the deploy on the 5th of May, 2026", vec![whole]),
            ("on May 5th, 2026 it failed", vec![whole]),
            ("since 2026-05-05.", vec![whole]),
            ("errors of 2026-05", vec![(Some(2026), Some(5), None)]),
            ("releases in 2026", vec![(Some(2026), None, None)]),
            (
                "between June 2025 and Sept 2026",
                vec![(Some(2025), Some(6), None), (Some(2026), Some(9), None)],
            ),
            ("on 3 Dec", vec![(None, Some(12), Some(3))]),
        ] {
            assert_eq!(named(text), want, "{text}");
        }
    }

    #[test]
    fn words_are_no_days() {
        for text in [
            "may I delete this?",
            "this may fail",
            "march over the list",
            "the decimal dec and the matrix mar",
            "port 2048 is taken",
            "error 2026",
            "1-2-3 and 2026-13 and 20265-01",
            "",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }

    #[test]
    fn a_day_tells_more_than_a_month() {
        let time = Time::parse(b"2026-05-05T23:00:00Z").unwrap();
        let told = |text: &str| Day::named(text)[0].told(time);
        assert_eq!(told("5 May"), 1.0);
        assert_eq!(told("in May"), 0.5);
        assert_eq!(told("in 2026"), 0.2);
        assert_eq!(told("6 May"), 0.0);
        assert_eq!(told("5 May 2025"), 0.0);
        let about = |text: &str| Day::named(text)[0].told_about(time);
        assert_eq!((about("29 April"), about("11 May"), about("in April")), (0.5, 0.5, 0.25));
        assert_eq!((about("28 April"), about("12 May"), about("in March")), (0.0, 0.0, 0.0));
    }
}
