//! Values that options of several engines have: switches, words, sizes.

use super::Wanted;

/// A switch: `on` or `off`.
///
/// # Errors
/// [`Wanted::Listed`] if it is neither.
pub fn parse_switch(text: &str) -> Result<bool, Wanted> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(Wanted::Listed),
    }
}

/// A switch as it is written.
pub fn show_switch(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// Gives an enum the words that its values have in targets: `ALL`, `word` and `parse`.
#[macro_export]
macro_rules! option_words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value as it is written in a target.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub(crate) fn parse(text: &str) -> Result<Self, $crate::target::Wanted> {
                Self::ALL.iter().copied().find(|value| value.word() == text).ok_or($crate::target::Wanted::Listed)
            }
        }
    };
}

/// The units of sizes, largest first.
const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// A number of bytes as people write it, as `64MiB`.
///
/// # Errors
/// [`Wanted`]: it cannot be read, or is not within `least..=most`.
pub fn parse_bytes(text: &str, least: u64, most: u64) -> Result<u64, Wanted> {
    let unit = UNITS.iter().find_map(|&(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number: u64 = digits.parse().map_err(|_| Wanted::Listed)?;
    let bytes = number.checked_mul(1 << shift).ok_or(Wanted::InRange)?;
    if (least..=most).contains(&bytes) { Ok(bytes) } else { Err(Wanted::InRange) }
}

/// A number of bytes in the largest unit that divides it.
pub fn show_bytes(bytes: u64) -> String {
    match UNITS.iter().find(|&&(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift)) {
        Some(&(unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}
