use crate::{Date, Timestamp};
use std::fmt;

/// A value sent to or received from an engine, in the terms of the specification's domains.
///
/// Engines store values in their own physical types (SQLite stores a [`Value::Decimal`] as an integer of its smallest
/// units) and may return the plain form: readers accept both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// An exact decimal: `units` of `10^-scale`.
    Decimal {
        /// Number of smallest units.
        units: i64,
        /// Digits after the point.
        scale: u8,
    },
    /// A binary floating-point number; no TPC-E column has this type, the classic workloads use it.
    Real(f64),
    /// A calendar day.
    Date(Date),
    /// A day and time in milliseconds, without zone.
    Timestamp(Timestamp),
    /// Text.
    Text(&'a str),
    /// Bytes, including large objects.
    Blob(&'a [u8]),
}

/// Text for display: numbers in digits, decimals with their point, texts unchanged, the length of bytes.
///
/// ```
/// use bourse_schema::Value;
/// let shown = |value: Value<'_>| value.to_string();
/// assert_eq!(shown(Value::Decimal { units: -5, scale: 2 }), "-0.05");
/// assert_eq!(shown(Value::Decimal { units: 12, scale: 0 }), "12");
/// assert_eq!([shown(Value::Null), shown(Value::Text("a b")), shown(Value::Blob(&[0; 3]))], ["NULL", "a b", "3 bytes"]);
/// ```
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Null => f.write_str("NULL"),
            Self::Int(number) | Self::Decimal { units: number, scale: 0 } => write!(f, "{number}"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Decimal { units, scale } => {
                let sign = if units < 0 { "-" } else { "" };
                let (digits, scale) = (units.unsigned_abs().to_string(), usize::from(scale));
                let digits = format!("{digits:0>width$}", width = scale + 1);
                let (whole, fraction) = digits.split_at(digits.len() - scale);
                write!(f, "{sign}{whole}.{fraction}")
            }
            Self::Real(number) => write!(f, "{number}"),
            Self::Date(date) => write!(f, "{date}"),
            Self::Timestamp(moment) => write!(f, "{moment}"),
            Self::Text(text) => f.write_str(text),
            Self::Blob(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}
