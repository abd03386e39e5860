//! The reference generator's calendar (EGen `CDateTime`), on top of [`Date`] and [`Timestamp`].

use bourse_schema::{Date, Timestamp};

/// Milliseconds of a calendar day.
pub const DAY_MS: i64 = 86_400_000;
/// Milliseconds of a work day: eight hours from 09:00.
pub const WORK_DAY_MS: i64 = 28_800_000;
/// Seconds of a work day.
pub const WORK_DAY_SECONDS: i64 = 28_800;

/// Start of the initial trades: Monday, 2005-01-03, 09:00.
pub const BASE: Timestamp = Timestamp::at(Date::from_ymd(2005, 1, 3), 9 * 3_600_000);
/// The first day of daily prices and of the companies' figures: Monday, 2000-01-03.
pub const MARKET_BASE: Date = Date::from_ymd(2000, 1, 3);

/// Days from 0001-01-01 to 1970-01-01: the offset of the reference's day numbers from Bourse's.
const EPOCH: i32 = 719_162;

/// The reference's day number: 0 is 0001-01-01.
pub const fn day_number(date: Date) -> i32 {
    date.days() + EPOCH
}

/// Calendar days after a Monday at which `work_days` working days have passed.
#[inline]
pub const fn calendar_days(work_days: i64) -> i64 {
    work_days / 5 * 7 + work_days % 5
}

/// `days` calendar days and `ms` milliseconds later.
#[inline]
pub const fn add(start: Timestamp, days: i64, ms: i64) -> Timestamp {
    Timestamp::from_millis(start.millis() + days * DAY_MS + ms)
}

/// `days` working days (counted from a Monday) and `ms` milliseconds later.
///
/// ```
/// use bourse_egen::dates::{BASE, add_work_days};
/// assert_eq!(BASE.to_string(), "2005-01-03 09:00:00.000");
/// assert_eq!(add_work_days(BASE, 5, 0).to_string(), "2005-01-10 09:00:00.000"); // the next Monday
/// ```
#[inline]
pub const fn add_work_days(start: Timestamp, days: i64, ms: i64) -> Timestamp {
    add(start, calendar_days(days), ms)
}

/// Time `work_ms` milliseconds of working time later; `start` is the beginning of a Monday's work day.
pub const fn add_work_ms(start: Timestamp, work_ms: i64) -> Timestamp {
    add_work_days(start, work_ms / WORK_DAY_MS, work_ms % WORK_DAY_MS)
}

/// Seconds from `start` to `end`, computed as whole days plus the rest: across midnight the sum may differ in its last
/// bit from the milliseconds divided by a thousand, and a price with it.
pub fn seconds_between(start: Timestamp, end: Timestamp) -> f64 {
    let days = i64::from(end.date().days() - start.date().days());
    (days * 86_400) as f64 + (end.ms_of_day() - start.ms_of_day()) as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_the_reference_mondays() {
        assert_eq!(day_number(MARKET_BASE), 730_121);
        assert_eq!(day_number(BASE.date()), 731_948);
        assert_eq!(day_number(Date::from_ymd(1, 1, 1)), 0);
        assert_eq!((day_number(MARKET_BASE) % 7, day_number(BASE.date()) % 7), (0, 0));
    }

    #[test]
    fn work_time_leaves_out_weekends() {
        assert_eq!(add_work_ms(BASE, 5 * WORK_DAY_MS).to_string(), "2005-01-10 09:00:00.000");
        assert_eq!(add_work_ms(BASE, 9 * WORK_DAY_MS + 1).to_string(), "2005-01-14 09:00:00.001");
    }

    #[test]
    fn seconds_cross_midnight() {
        let end = add(BASE, 1, -9 * 3_600_000 + 1);
        assert_eq!(seconds_between(BASE, end), 86_400.0 + -32_399.999);
    }
}
