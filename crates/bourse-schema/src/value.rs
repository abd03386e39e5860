use crate::{Date, Timestamp};

/// One value on its way into or out of an engine, in the terms of the specification's domains.
///
/// Engines store these in their own physical types (SQLite keeps a [`Value::Decimal`] as an integer of its smallest
/// units) and may hand the plain form back: readers accept both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// Any whole number.
    Int(i64),
    /// A two-valued flag.
    Bool(bool),
    /// An exact decimal: `units` of `10^-scale`.
    Decimal {
        /// Number of smallest units.
        units: i64,
        /// Digits after the point.
        scale: u8,
    },
    /// A binary floating-point number; no TPC-E column is one, the classic workloads use it.
    Real(f64),
    /// A calendar day.
    Date(Date),
    /// A day and time in milliseconds, without zone.
    Timestamp(Timestamp),
    /// Text.
    Text(&'a str),
    /// Bytes, also large ones.
    Blob(&'a [u8]),
}
