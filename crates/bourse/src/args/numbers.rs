//! Numbers and times of the command line, each with its range. An error names the range:
//! `invalid value '0' for '--users <N>': expected an integer from 1 to 10,000`.

use super::MarketAge;
use bourse_engine::target::parse_bytes;
use bourse_record::{PageCache, ResponseLimit, grouped, whole_number};
use bourse_tpce::users::RunOptions;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Longest time; sums of several are still far from the clock's end.
const LONGEST_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Longest limit of response times: longer ones are not distinguished.
const LONGEST_LIMIT: Duration = Duration::from_secs(60 * 60);

/// Parses an integer within a range; `5k` and `1M` are thousands and millions, and digits may be separated by `_`.
fn whole<T: TryFrom<u64> + Into<u64> + Copy>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> {
    let (least, most): (u64, u64) = ((*range.start()).into(), (*range.end()).into());
    move |text: &str| {
        let number = whole_number(text).filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("expected an integer from {} to {}", grouped(least), grouped(most)))
    }
}

/// Threads of one kind: users, or those that generate rows.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    whole(1..=10_000_u32)(text).map(|number| number as usize)
}

/// Sessions of a microbenchmark.
pub(crate) fn sessions(text: &str) -> Result<u64, String> {
    whole(1..=1_024)(text)
}

/// Processes that users are distributed over.
pub(crate) fn processes(text: &str) -> Result<u32, String> {
    whole(1..=bourse_oltp::sut::Share::MOST)(text)
}

/// Rounds, repeats or crashes.
pub(crate) fn rounds(text: &str) -> Result<u32, String> {
    whole(1..=10_000)(text)
}

/// A count of operations or transactions: the most is more than any machine does in a year.
pub(crate) fn counted(text: &str) -> Result<u64, String> {
    whole(1..=1_000_000_000_000_000)(text)
}

/// Parses the number of due transactions that may wait for a user.
pub(crate) fn backlog(text: &str) -> Result<usize, String> {
    whole(0..=100_000_000_u32)(text).map(|number| number as usize)
}

/// Days of trades. The largest number depends on the scale factor too.
pub(crate) fn days(text: &str) -> Result<u32, String> {
    whole(1..=10_000)(text)
}

/// Customers for each Trade-Result a second. The generator checks its divisors.
pub(crate) fn scale_factor(text: &str) -> Result<u32, String> {
    whole(1..=28_800_000)(text)
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    whole(0..=u64::MAX)(text)
}

/// A size of a database, which its workload checks.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    whole_number(text).ok_or_else(|| "expected a whole number, as 100000 or 100k".to_owned())
}

/// A page cache.
pub(crate) fn page_cache(text: &str) -> Result<PageCache, String> {
    let known = [PageCache::Cold, PageCache::Warm];
    known.into_iter().find(|it| it.name() == text).ok_or_else(|| "expected cold or warm".to_owned())
}

/// A limit of memory; `512M` is 512 MiB.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let unit = if text.ends_with(['K', 'M', 'G', 'T']) { "iB" } else { "" };
    parse_bytes(&format!("{text}{unit}"), 8 << 20, 16 << 40).map_err(|_| "expected bytes from 8M to 16T".to_owned())
}

/// A number of customers.
pub(crate) fn customers(text: &str) -> Result<u64, String> {
    let most = bourse_egen::MOST_CUSTOMERS.unsigned_abs();
    let number = whole_number(text).filter(|number| (1_000..=most).contains(number) && number.is_multiple_of(1_000));
    number.ok_or_else(|| format!("expected a multiple of 1,000 from 1,000 to {}", grouped(most)))
}

/// Trade-Results a second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let range = RunOptions::RATES;
    let number = text.parse().ok().filter(|number| range.contains(number));
    number
        .ok_or_else(|| format!("expected a number of Trade-Results a second from {} to {}", range.start(), range.end()))
}

/// Age of the market.
pub(crate) fn market(text: &str) -> Result<MarketAge, String> {
    let (least, most) = (*RunOptions::RATES.start(), RunOptions::MOST_AGED_AT);
    match text.split_once('=') {
        None if text == "new" => Ok(MarketAge::New),
        None if text == "aged" => Ok(MarketAge::Aged),
        Some(("aged", rate)) => {
            let rate = rate.parse().ok().filter(|rate: &f64| (least..=most).contains(rate)).map(MarketAge::AgedAt);
            rate.ok_or_else(|| {
                format!("expected aged=N with a number of Trade-Results a second from {least} to {most}")
            })
        }
        _ => Err("expected new, aged, or aged=N with a number of Trade-Results a second".to_owned()),
    }
}

/// A rate of operations.
pub(crate) fn operations_a_second(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.001..=10_000_000.0).contains(number));
    number.ok_or_else(|| "expected a number of operations a second from 0.001 to 10,000,000".to_owned())
}

/// A limit of response times: `p99=10ms`, or `read:p99=10ms` of one operation.
pub(crate) fn response_limit(text: &str) -> Result<ResponseLimit, String> {
    let names = ResponseLimit::QUANTILES.map(|(name, _)| name).join(", ");
    let expected = || format!("expected QUANTILE=TIME or OPERATION:QUANTILE=TIME, as p99=10ms, with one of {names}");
    let (what, time) = text.rsplit_once('=').ok_or_else(expected)?;
    let (operation, name) = what.rsplit_once(':').map_or((None, what), |(operation, name)| (Some(operation), name));
    let known = ResponseLimit::QUANTILES.into_iter().find(|(known, _)| *known == name.trim());
    let (_, quantile) = known.ok_or_else(expected)?;
    let time = duration(time.trim())?;
    if time.is_zero() || time > LONGEST_LIMIT {
        return Err("expected a time above 0 and up to 1h, as p99=10ms".to_owned());
    }
    let limit_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Ok(ResponseLimit { operation: operation.map(|name| name.trim().to_owned()), quantile, limit_ns })
}

/// A part of the whole, above 0.
pub(crate) fn scale(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| "expected a number above 0 and up to 1".to_owned())
}

/// A share written in percent, as a part of one. A small number without the sign may be meant as a part of one.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (number, has_sign) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (text, false),
    };
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 0.5 && !has_sign => {
            let meant = (100.0 * percent * 1e9).round() / 1e9;
            Err(format!("{number} % or {meant} %? write {number}% or {meant}%"))
        }
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a share from 0 to less than 100 percent, as 5%".to_owned()),
    }
}

/// Transactions a simulated second.
pub(crate) fn requests(text: &str) -> Result<u32, String> {
    whole(1..=1_000_000)(text)
}

/// Parses the transactions between comparisons of all tables; 0 compares only at the end.
pub(crate) fn every(text: &str) -> Result<u64, String> {
    whole(0..=1_000_000_000_000_000)(text)
}

/// Worker threads of a server, and so its sessions.
pub(crate) fn workers(text: &str) -> Result<u16, String> {
    whole(1..=4_096)(text)
}

/// Connections of a server.
pub(crate) fn connections(text: &str) -> Result<u16, String> {
    whole(2..=16_384)(text)
}

/// An address to listen on: HOST:PORT with a numeric host, or a port on the loopback address.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = |port: &str| port.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let named = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let expected = "expected an address and a port such as 127.0.0.1:9464 or [::1]:9464, or a port";
    text.parse().ok().or_else(|| local(named)).ok_or_else(|| expected.to_owned())
}

/// Parses an address that is reachable from this machine alone.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = address(text)?;
    if !address.ip().is_loopback() {
        return Err("expected an address of this machine alone, such as 127.0.0.1:8000, or a port".to_owned());
    }
    Ok(address)
}

/// A length of time, as `30s` or `1m30s`; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().map(Duration::try_from_secs_f64);
    let duration = seconds.map_or_else(|| spelled(text), Result::ok);
    duration
        .filter(|duration| *duration <= LONGEST_TIME)
        .ok_or_else(|| "expected a length of time such as 500ms, 30s, 1m30s or 2h, from 0 to 365d".to_owned())
}

/// Parses the time after which a call that does not return counts as lost.
pub(crate) fn call_limit(text: &str) -> Result<Duration, String> {
    let limit = duration(text).ok().filter(|limit| *limit >= Duration::from_millis(100));
    limit.ok_or_else(|| "expected a length of time such as 30s, 5m or 2h, from 100ms to 365d".to_owned())
}

/// A length of time with its units.
fn spelled(text: &str) -> Option<Duration> {
    let span: Span = text.parse().ok()?;
    let duration: SignedDuration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_quantiles_with_a_time() {
        let limit = |operation: Option<&str>, quantile, limit_ns| {
            Ok(ResponseLimit { operation: operation.map(str::to_owned), quantile, limit_ns })
        };
        assert_eq!(response_limit("p99=10ms"), limit(None, 0.99, 10_000_000));
        assert_eq!(response_limit("max=1.5s"), limit(None, 1.0, 1_500_000_000));
        assert_eq!(
            response_limit("search by number: p99.9 = 1s"),
            limit(Some("search by number"), 0.999, 1_000_000_000)
        );
        for text in ["", "p99", "10ms", "p98=10ms", "=10ms", "read:=10ms", "p99=", "p99=0", "p99=2h", "p99=-1"] {
            assert!(response_limit(text).unwrap_err().starts_with("expected "), "{text}");
        }
    }

    #[test]
    fn numbers_have_a_range_that_errors_name() {
        assert_eq!(whole(1..=5_u32)("5"), Ok(5));
        for text in ["0", "6", "-1", "+1", "1e3", "", "k", "_1", "1kk", "99999999999999999999", "99999999999999999M"] {
            assert_eq!(whole(1..=5_u32)(text), Err("expected an integer from 1 to 5".to_owned()), "{text}");
        }
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(rounds("0"), Err("expected an integer from 1 to 10,000".to_owned()));
        assert_eq!((customers("200000000"), customers("5k")), (Ok(200_000_000), Ok(5_000)));
        assert_eq!((counted("1M"), counted("10_000")), (Ok(1_000_000), Ok(10_000)));
        for text in ["1000000000", "1500", "0", "-1000"] {
            let expected = "expected a multiple of 1,000 from 1,000 to 200,000,000";
            assert_eq!(customers(text), Err(expected.to_owned()), "{text}");
        }
        assert_eq!(rate("0.5"), Ok(0.5));
        for text in ["1e300", "1e-300", "nan", "inf", "-1", "0", ""] {
            let expected = "expected a number of Trade-Results a second from 0.001 to 1000000";
            assert_eq!(rate(text), Err(expected.to_owned()), "{text}");
        }
        assert_eq!(
            [market("new"), market("aged"), market("aged=1.5")],
            [Ok(MarketAge::New), Ok(MarketAge::Aged), Ok(MarketAge::AgedAt(1.5))]
        );
        for text in ["old", "", "new=1", "aged=", "aged=0", "aged=nan", "aged=20001", "aged 5"] {
            assert!(market(text).is_err_and(|why| why.starts_with("expected ")), "{text}");
        }
        assert!(["0", "nan", "1.1", "-0.5", "inf"].into_iter().all(|text| scale(text).is_err()));
    }

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        for (text, milliseconds) in [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1m30s", 90_000),
            ("500ms", 500),
            ("2h", 7_200_000),
            ("1h 30m", 5_400_000),
            ("1min", 60_000),
            ("10 seconds", 10_000),
            ("1d", 86_400_000),
            ("365d", 31_536_000_000),
            ("1.5s", 1_500),
            ("1.5", 1_500),
            ("30", 30_000),
            ("0s", 0),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        let refused =
            ["nan", "inf", "1e308", "-1", "-5s", "5s ago", "", "s", "366d", "99999999999999999999h", "1 day or so"];
        for text in refused {
            let expected = "expected a length of time such as 500ms, 30s, 1m30s or 2h, from 0 to 365d";
            assert_eq!(duration(text), Err(expected.to_owned()), "{text}");
        }
    }
}
