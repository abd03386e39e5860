//! Helpers that the driver's tests share.

use bourse_schema::{Date, Timestamp};
use serde_json::{Value, json};

/// Moment of a text like `2026-01-05 09:00:00.000`.
pub(crate) fn timestamp(text: &str) -> Timestamp {
    let part = |range: std::ops::Range<usize>| text[range].parse::<i64>().expect("digits");
    let date = Date::from_ymd(part(0..4) as i32, part(5..7) as u32, part(8..10) as u32);
    let seconds = (part(11..13) * 60 + part(14..16)) * 60 + part(17..19);
    Timestamp::at(date, seconds * 1_000 + part(20..23))
}

/// Number in the form of the golden files: a whole one without a point.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}
