//! Milliseconds since 1970 written as Claude Code writes them.

/// Milliseconds since the epoch.
pub type Ms = u64;

/// `2026-02-11T04:43:58.521Z`.
pub fn iso(ms: Ms) -> String {
    let (year, month, day) = civil(ms / 86_400_000);
    let rest = ms % 86_400_000;
    let mut out = *b"0000-00-00T00:00:00.000Z";
    let mut put = |at: usize, width: usize, mut value: u64| {
        for i in (at..at + width).rev() {
            out[i] = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    put(0, 4, year);
    put(5, 2, month);
    put(8, 2, day);
    put(11, 2, rest / 3_600_000);
    put(14, 2, rest / 60_000 % 60);
    put(17, 2, rest / 1000 % 60);
    put(20, 3, rest % 1000);
    out.iter().map(|&b| b as char).collect()
}

/// `2026-02-11`.
pub fn date(ms: Ms) -> String {
    iso(ms)[..10].to_string()
}

/// The moment of a date and time in UTC.
pub fn at(year: u64, month: u64, day: u64, hour: u64, minute: u64) -> Ms {
    (days(year, month, day) * 24 + hour) * 3_600_000 + minute * 60_000
}

fn days(year: u64, month: u64, day: u64) -> u64 {
    let y = if month <= 2 { year - 1 } else { year };
    let (era, yoe) = (y / 400, y % 400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        assert_eq!(iso(at(2026, 2, 28, 23, 59) + 60_000 + 521), "2026-03-01T00:00:00.521Z");
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(date(at(2024, 2, 29, 0, 0)), "2024-02-29");
    }
}
