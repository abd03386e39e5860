//! Values common to options of several engines: switches, words, sizes, numbers, times, paths.

use super::ExpectedValue;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Parses a switch: `on` or `off`.
///
/// # Errors
/// [`ExpectedValue::Listed`] if it is neither.
pub fn parse_switch(text: &str) -> Result<bool, ExpectedValue> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(ExpectedValue::Listed),
    }
}

/// Formats a switch.
pub fn show_switch(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// Declares an enum by its values' words in targets, with `ALL`, `word` and `parse`.
#[macro_export]
macro_rules! option_words {
    ($(#[$attribute:meta])* pub enum $type:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $($(#[$doc])* $variant),+ }

        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Word of the value in a target.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub(crate) fn parse(text: &str) -> Result<Self, $crate::target::ExpectedValue> {
                Self::ALL.iter().copied().find(|value| value.word() == text).ok_or($crate::target::ExpectedValue::Listed)
            }
        }
    };
}

/// The units of sizes, largest first.
const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// Parses a number of bytes such as `64MiB`.
///
/// ```
/// use bourse_engine::target::{ExpectedValue, parse_bytes, show_bytes};
/// assert_eq!(parse_bytes("64MiB", 4096, 1 << 40), Ok(64 << 20));
/// assert_eq!(parse_bytes("1", 4096, 1 << 40), Err(ExpectedValue::InRange));
/// assert_eq!(show_bytes(64 << 20), "64MiB");
/// ```
///
/// # Errors
/// [`ExpectedValue`]: it cannot be read, or is not within `least..=most`.
pub fn parse_bytes(text: &str, least: u64, most: u64) -> Result<u64, ExpectedValue> {
    let unit = UNITS.iter().find_map(|&(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number: u64 = digits.parse().map_err(|_| ExpectedValue::Listed)?;
    let bytes = number.checked_mul(1 << shift).ok_or(ExpectedValue::InRange)?;
    if (least..=most).contains(&bytes) { Ok(bytes) } else { Err(ExpectedValue::InRange) }
}

/// Formats a number of bytes in the largest unit that divides it.
pub fn show_bytes(bytes: u64) -> String {
    match UNITS.iter().find(|&&(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift)) {
        Some(&(unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Parses a number within `least..=most`.
///
/// # Errors
/// [`ExpectedValue`]: it cannot be read, or is not within the range.
pub fn parse_number<N: FromStr + PartialOrd>(text: &str, least: N, most: N) -> Result<N, ExpectedValue> {
    let number = text.parse().map_err(|_| ExpectedValue::Listed)?;
    if (least..=most).contains(&number) { Ok(number) } else { Err(ExpectedValue::InRange) }
}

/// Parses a time in whole seconds within `least..=most`, as `10s`.
///
/// # Errors
/// [`ExpectedValue`]: it cannot be read, or is not within the range.
pub fn parse_seconds(text: &str, least: u64, most: u64) -> Result<Duration, ExpectedValue> {
    let digits = text.strip_suffix('s').ok_or(ExpectedValue::Listed)?;
    parse_number(digits, least, most).map(Duration::from_secs)
}

/// Formats a time in whole seconds.
pub fn show_seconds(time: Duration) -> String {
    format!("{}s", time.as_secs())
}

/// Parses a time of at most `most`, as `10s` or `500ms`.
///
/// # Errors
/// [`ExpectedValue`]: it cannot be read, or is longer.
pub fn parse_time(text: &str, most: Duration) -> Result<Duration, ExpectedValue> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let found = units.into_iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, ms)));
    let (digits, ms) = found.ok_or(ExpectedValue::Listed)?;
    let number: u64 = digits.parse().map_err(|_| ExpectedValue::Listed)?;
    let time = number.checked_mul(ms).map(Duration::from_millis).ok_or(ExpectedValue::InRange)?;
    if time <= most { Ok(time) } else { Err(ExpectedValue::InRange) }
}

/// Formats a time: in seconds if it is a whole number of them, otherwise in milliseconds.
pub fn show_time(time: Duration) -> String {
    if time.subsec_millis() == 0 { show_seconds(time) } else { format!("{}ms", time.as_millis()) }
}

/// Parses the path of a file or folder, for an option that may be without one.
///
/// # Errors
/// [`ExpectedValue::Listed`] if it is empty.
pub fn parse_path(text: &str) -> Result<Option<PathBuf>, ExpectedValue> {
    if text.is_empty() { Err(ExpectedValue::Listed) } else { Ok(Some(text.into())) }
}

/// Formats a path; empty if it is unset.
pub fn show_path(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}
