//! Whole numbers as people write and read them.

/// Number with commas between its thousands.
///
/// ```
/// assert_eq!(bourse_record::grouped(1_234_567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Parses a whole number; `5k` and `1M` are thousands and millions, and digits may be separated by `_`.
///
/// ```
/// use bourse_record::whole_number;
/// assert_eq!(["5k", "1_000", "_1", "5x"].map(whole_number), [Some(5_000), Some(1_000), None, None]);
/// ```
pub fn whole_number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let is_plain = digits.starts_with(|first: char| first.is_ascii_digit());
    let digits = digits.replace('_', "");
    if is_plain { digits.parse::<u64>().ok()?.checked_mul(unit) } else { None }
}
