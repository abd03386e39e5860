//! Numbers and times that can be typed, each with its range. A refusal names the range:
//! `invalid value '0' for '--users <N>': expected a whole number from 1 to 10000`.

use bourse_tpce::users::RunOptions;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Longest time; sums of several are still far from the clock's end.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A whole number of a range.
fn whole<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
        number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}

/// Threads of one kind: users, or those that generate rows.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    whole(1, 10_000)(text)
}

/// Rounds, repeats or crashes.
pub(crate) fn rounds(text: &str) -> Result<u32, String> {
    whole(1, 10_000)(text)
}

/// A count of operations or transactions: the most is more than any machine does in a year.
pub(crate) fn counted(text: &str) -> Result<u64, String> {
    whole(1, 1_000_000_000_000_000)(text)
}

/// Transactions that may wait.
pub(crate) fn backlog(text: &str) -> Result<usize, String> {
    whole(0, 100_000_000)(text)
}

/// Days of trades. How many there can be depends on the scale factor too.
pub(crate) fn days(text: &str) -> Result<u32, String> {
    whole(1, 10_000)(text)
}

/// Customers for each Trade-Result a second. What it must divide is the generator's to say.
pub(crate) fn scale_factor(text: &str) -> Result<u32, String> {
    whole(1, 28_800_000)(text)
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(0, u64::MAX)(text)
}

/// A number of customers.
pub(crate) fn customers(text: &str) -> Result<u64, String> {
    let most = bourse_egen::MOST_CUSTOMERS.unsigned_abs();
    let number =
        text.parse().ok().filter(|number: &u64| (1_000..=most).contains(number) && number.is_multiple_of(1_000));
    number.ok_or_else(|| format!("expected a multiple of 1000 from 1000 to {most}"))
}

/// Trade-Results a second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let range = RunOptions::RATES;
    let number = text.parse().ok().filter(|number| range.contains(number));
    number
        .ok_or_else(|| format!("expected a number of Trade-Results a second from {} to {}", range.start(), range.end()))
}

/// A part of the whole, above 0.
pub(crate) fn scale(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "expected a number above 0 and up to 1".to_owned())
}

/// A share written in percent, as a part of one.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a share from 0 to 100 percent, as 5%".to_owned()),
    }
}

/// Transactions a simulated second.
pub(crate) fn requests(text: &str) -> Result<u32, String> {
    whole(1, 1_000_000)(text)
}

/// How often all tables are compared: 0 is never in between.
pub(crate) fn every(text: &str) -> Result<u64, String> {
    whole(0, 1_000_000_000_000_000)(text)
}

/// Threads of a server that work, and so sessions.
pub(crate) fn workers(text: &str) -> Result<u16, String> {
    whole(1, 4_096)(text)
}

/// Connections of a server.
pub(crate) fn connections(text: &str) -> Result<u16, String> {
    whole(2, 16_384)(text)
}

/// A length of time; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().map(|_| format!("{text}s"));
    match humantime::parse_duration(seconds.as_deref().unwrap_or(text)) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err("expected a number with its unit, as 30s, 5m or 2h, of 365d at most".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_kept_and_named() {
        assert_eq!(whole(1_u32, 5)("5"), Ok(5));
        for text in ["0", "6", "-1", "1e3", "", "99999999999999999999"] {
            assert_eq!(whole(1_u32, 5)(text), Err("expected a whole number from 1 to 5".to_owned()), "{text}");
        }
        assert_eq!(customers("200000000"), Ok(200_000_000));
        for text in ["1000000000", "1500", "0", "-1000"] {
            assert_eq!(customers(text), Err("expected a multiple of 1000 from 1000 to 200000000".to_owned()), "{text}");
        }
        assert_eq!(rate("0.5"), Ok(0.5));
        for text in ["1e300", "1e-300", "nan", "inf", "-1", "0", ""] {
            let expected = "expected a number of Trade-Results a second from 0.001 to 1000000";
            assert_eq!(rate(text), Err(expected.to_owned()), "{text}");
        }
        assert!(["0", "nan", "1.1", "-0.5", "inf"].into_iter().all(|text| scale(text).is_err()));
        assert!(
            ["nan", "inf", "1e308", "-1", "", "400d", "99999999999999999999h"].iter().all(|it| duration(it).is_err())
        );
        assert_eq!(
            duration("1 day or so"),
            Err("expected a number with its unit, as 30s, 5m or 2h, of 365d at most".to_owned())
        );
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
    }
}
