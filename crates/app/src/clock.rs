//! What time it is, and where.

use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The time on the clock of the system.
pub fn now() -> Zoned {
    Timestamp::now().to_zoned(zone())
}

/// The zone of the system.
pub fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| linked().unwrap_or_else(TimeZone::system)).clone()
}

/// The zone that `/etc/localtime` leads to, unless the environment names one. To look it up by its
/// name all the folders of zones would be listed, which takes a tenth of a short command.
fn linked() -> Option<TimeZone> {
    const LINK: &str = "/etc/localtime";
    if std::env::var_os("TZ").is_some() {
        return None;
    }
    let target = std::fs::read_link(LINK).ok()?;
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(LINK).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_zone_is_that_of_the_system() {
        let Some(linked) = linked() else { return };
        let times = ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", "1999-12-31T23:59:59Z"];
        for time in times.map(|time| time.parse::<Timestamp>().expect("a time")) {
            let system = TimeZone::system();
            assert_eq!(time.to_zoned(linked.clone()).datetime(), time.to_zoned(system).datetime());
        }
    }
}
