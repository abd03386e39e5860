//! Conversion of values to and from the server's binary form.

use crate::wire::FieldRange;
use bourse_engine::{Row, Value};
use bourse_schema::{ColumnType, Date, Timestamp};
use bytes::{BufMut as _, BytesMut};
use std::borrow::Cow;

/// Number of a type at the server; the same in every version.
pub(crate) type Oid = u32;

/// Numbers of the types whose binary form is implemented.
pub(crate) mod oid {
    use super::Oid;
    /// Type to be inferred by the server.
    pub(crate) const INFERRED: Oid = 0;
    pub(crate) const BOOL: Oid = 16;
    pub(crate) const BYTEA: Oid = 17;
    pub(crate) const INT8: Oid = 20;
    pub(crate) const INT2: Oid = 21;
    pub(crate) const INT4: Oid = 23;
    pub(crate) const TEXT: Oid = 25;
    pub(crate) const NUMBER_OF_AN_OBJECT: Oid = 26;
    pub(crate) const FLOAT4: Oid = 700;
    pub(crate) const FLOAT8: Oid = 701;
    pub(crate) const UNKNOWN: Oid = 705;
    pub(crate) const BPCHAR: Oid = 1_042;
    pub(crate) const VARCHAR: Oid = 1_043;
    pub(crate) const DATE: Oid = 1_082;
    pub(crate) const TIMESTAMP: Oid = 1_114;
    pub(crate) const TIMESTAMPTZ: Oid = 1_184;
    pub(crate) const NUMERIC: Oid = 1_700;
}

/// Days from 1970 to 2000, the server's epoch.
const EPOCH_DAYS: i64 = 10_957;
const EPOCH_MS: i64 = EPOCH_DAYS * 86_400_000;

/// Type that holds a value exactly, if the server infers another.
pub(crate) fn exact_type(value: Value<'_>) -> Oid {
    match value {
        Value::Null => oid::INFERRED,
        Value::Int(_) => oid::INT8,
        Value::Bool(_) => oid::BOOL,
        Value::Decimal { .. } => oid::NUMERIC,
        Value::Real(_) => oid::FLOAT8,
        Value::Date(_) => oid::DATE,
        Value::Timestamp(_) => oid::TIMESTAMP,
        Value::Text(_) => oid::TEXT,
        Value::Blob(_) => oid::BYTEA,
    }
}

/// Whether a type holds a value exactly, and its form is implemented.
#[inline]
pub(crate) fn fits(value: Value<'_>, oid: Oid) -> bool {
    match value {
        Value::Null => true,
        Value::Int(number) => match oid {
            oid::INT8 | oid::NUMERIC => true,
            oid::INT4 => i32::try_from(number).is_ok(),
            oid::INT2 => i16::try_from(number).is_ok(),
            oid::BOOL => matches!(number, 0 | 1),
            oid::FLOAT8 => number.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS,
            _ => false,
        },
        Value::Bool(_) => oid == oid::BOOL,
        Value::Decimal { .. } => oid == oid::NUMERIC,
        Value::Real(_) => oid == oid::FLOAT8,
        Value::Date(_) => matches!(oid, oid::DATE | oid::TIMESTAMP),
        Value::Timestamp(_) => oid == oid::TIMESTAMP,
        Value::Text(_) => matches!(oid, oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::UNKNOWN),
        Value::Blob(_) => oid == oid::BYTEA,
    }
}

/// Appends a value that [`fits`] a type, without its length; NULL appends nothing.
#[inline]
pub(crate) fn put(value: Value<'_>, oid: Oid, out: &mut BytesMut) {
    match value {
        Value::Null => {}
        Value::Int(number) => match oid {
            oid::INT4 => out.put_i32(number as i32),
            oid::INT2 => out.put_i16(number as i16),
            oid::BOOL => out.put_u8(u8::from(number != 0)),
            oid::NUMERIC => put_numeric(number, 0, out),
            oid::FLOAT8 => out.put_f64(number as f64),
            _ => out.put_i64(number),
        },
        Value::Bool(flag) => out.put_u8(u8::from(flag)),
        Value::Decimal { units, scale } => put_numeric(units, scale, out),
        Value::Real(number) => out.put_f64(number),
        Value::Date(date) if oid == oid::TIMESTAMP => {
            out.put_i64((i64::from(date.days()) - EPOCH_DAYS) * 86_400_000_000)
        }
        Value::Date(date) => out.put_i32(date.days() - EPOCH_DAYS as i32),
        Value::Timestamp(moment) => out.put_i64((moment.millis() - EPOCH_MS) * 1_000),
        Value::Text(text) => out.put_slice(text.as_bytes()),
        Value::Blob(bytes) => out.put_slice(bytes),
    }
}

/// Appends digits of 10,000 each, the first of weight 10,000 to the power of `weight`.
fn put_numeric(units: i64, scale: u8, out: &mut BytesMut) {
    const BASE: u128 = 10_000;
    let fraction_digits = scale.div_ceil(4);
    let padding = u32::from(fraction_digits) * 4 - u32::from(scale);
    let mut rest = u128::from(units.unsigned_abs()) * 10u128.pow(padding);
    // The last digit first; at most 19 + 3 decimal digits.
    let mut digits = [0u16; 8];
    let mut count = 0;
    while rest > 0 {
        digits[count] = (rest % BASE) as u16;
        rest /= BASE;
        count += 1;
    }
    let weight = count as i16 - i16::from(fraction_digits) - 1;
    out.put_u16(count as u16);
    out.put_i16(if count == 0 { 0 } else { weight });
    out.put_u16(if units < 0 { NEGATIVE } else { 0 });
    out.put_u16(u16::from(scale));
    digits[..count].iter().rev().for_each(|digit| out.put_u16(*digit));
}

const NEGATIVE: u16 = 0x4000;

/// Parses a decimal, exactly if possible, and otherwise as the nearest binary floating-point number.
fn numeric(bytes: &[u8]) -> Option<Value<'static>> {
    /// Largest scale of stored decimals: a quotient has more digits, of which zeros are insignificant.
    const STORED_SCALE: u16 = 5;
    let word = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk::<2>()?));
    let (count, weight, sign, mut scale) = (word(0)?, word(2)? as i16, word(4)?, word(6)?);
    if sign & !NEGATIVE != 0 {
        // Not a number, and the two infinities.
        return Some(Value::Real(match sign {
            0xD000 => f64::INFINITY,
            0xF000 => f64::NEG_INFINITY,
            _ => f64::NAN,
        }));
    }
    let mut digits: i128 = 0;
    let mut nearest = 0f64;
    let mut is_exact = true;
    for at in 0..usize::from(count) {
        let digit = word(8 + 2 * at)?;
        nearest = nearest * 10_000.0 + f64::from(digit);
        match digits.checked_mul(10_000).and_then(|digits| digits.checked_add(i128::from(digit))) {
            Some(more) => digits = more,
            None => is_exact = false,
        }
    }
    // The power of ten that the last digit stands for.
    let exponent = 4 * (i32::from(weight) - i32::from(count) + 1);
    if sign == NEGATIVE {
        (digits, nearest) = (-digits, -nearest);
    }
    let inexact = || Some(Value::Real(nearest * 10f64.powi(exponent)));
    if !is_exact {
        return inexact();
    }
    let shift = exponent + i32::from(scale);
    let power = |shift: u32| 10i128.checked_pow(shift);
    let units = if digits == 0 {
        Some(0)
    } else if shift >= 0 {
        power(shift.unsigned_abs()).and_then(|power| digits.checked_mul(power))
    } else {
        power(shift.unsigned_abs()).map(|power| digits / power)
    };
    let Some(mut units) = units else { return inexact() };
    while scale > STORED_SCALE && units % 10 == 0 {
        units /= 10;
        scale -= 1;
    }
    match (i64::try_from(units), u8::try_from(scale)) {
        (Ok(units), Ok(scale)) => Some(Value::Decimal { units, scale }),
        _ => inexact(),
    }
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) struct ResultColumn {
    name: String,
    oid: Oid,
}

impl ResultColumn {
    /// Parses the columns of a description; `None` if it is truncated.
    pub(crate) fn read_all(body: &[u8]) -> Option<Vec<Self>> {
        let (count, mut rest) = body.split_first_chunk::<2>()?;
        let mut columns = Vec::with_capacity(usize::from(u16::from_be_bytes(*count)));
        for _ in 0..u16::from_be_bytes(*count) {
            let end = rest.iter().position(|byte| *byte == 0)?;
            let name = String::from_utf8_lossy(&rest[..end]).into_owned();
            // Table, number in it, type, its size, its modifier, form.
            let facts = rest.get(end + 1..)?.first_chunk::<18>()?;
            let oid = Oid::from_be_bytes([facts[6], facts[7], facts[8], facts[9]]);
            rest = &rest[end + 1 + 18..];
            columns.push(Self { name, oid });
        }
        Some(columns)
    }
}

/// A row in the server's binary form.
pub(crate) struct PostgresRow<'r> {
    pub(crate) columns: &'r [ResultColumn],
    pub(crate) body: &'r [u8],
    pub(crate) fields: &'r [FieldRange],
}

impl PostgresRow<'_> {
    /// Type and bytes of a field; `None` for NULL.
    #[inline]
    fn field(&self, index: usize) -> (Oid, Option<&[u8]>) {
        let (at, length) = self.fields[index];
        let bytes = usize::try_from(length).ok().map(|length| &self.body[at..at + length]);
        (self.columns[index].oid, bytes)
    }
}

/// Methods of [`Row`] that depend only on a field's type and bytes.
macro_rules! row_of_fields {
    () => {
        fn value(&self, index: usize) -> Value<'_> {
            match self.field(index) {
                (_, None) => Value::Null,
                (oid, Some(bytes)) => value(oid, bytes).unwrap_or_else(|| unknown(bytes)),
            }
        }

        #[inline]
        fn int(&self, index: usize) -> Option<i64> {
            match self.field(index) {
                (oid::INT8, Some(bytes)) => bytes.try_into().ok().map(i64::from_be_bytes),
                (oid::INT4, Some(bytes)) => bytes.try_into().ok().map(|bytes| i64::from(i32::from_be_bytes(bytes))),
                (oid::INT2, Some(bytes)) => bytes.try_into().ok().map(|bytes| i64::from(i16::from_be_bytes(bytes))),
                _ => None,
            }
        }

        #[inline]
        fn text_bytes(&self, index: usize) -> Option<&[u8]> {
            match self.field(index) {
                (oid::TEXT | oid::VARCHAR | oid::BPCHAR, bytes) => bytes,
                _ => None,
            }
        }
    };
}

impl Row for PostgresRow<'_> {
    row_of_fields!();

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        self.columns.get(index).map(|column| Cow::Borrowed(column.name.as_str()))
    }
}

/// A row in the form of `record_send`: each field after its type and length, without a name.
pub(crate) struct RecordRow<'r> {
    pub(crate) body: &'r [u8],
    pub(crate) fields: &'r [(Oid, FieldRange)],
}

impl<'r> RecordRow<'r> {
    /// Finds the fields; `None` if the row is truncated.
    #[inline]
    pub(crate) fn read(body: &'r [u8], fields: &'r mut Vec<(Oid, FieldRange)>) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(*body.get(at..)?.first_chunk()?));
        fields.clear();
        let mut at = 4;
        for _ in 0..number(0)? {
            let (oid, length) = (number(at)?, number(at + 4)? as i32);
            at += 8;
            fields.push((oid, (at, length)));
            at += usize::try_from(length).unwrap_or(0);
        }
        (at <= body.len()).then_some(Self { body, fields })
    }

    #[inline]
    fn field(&self, index: usize) -> (Oid, Option<&[u8]>) {
        let (oid, (at, length)) = self.fields[index];
        (oid, usize::try_from(length).ok().map(|length| &self.body[at..at + length]))
    }
}

impl Row for RecordRow<'_> {
    row_of_fields!();

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        (index < self.fields.len()).then_some(Cow::Borrowed(""))
    }
}

/// Value of a field of an unsupported type: most types are sent as text.
fn unknown(bytes: &[u8]) -> Value<'_> {
    std::str::from_utf8(bytes).map_or(Value::Blob(bytes), Value::Text)
}

fn value(oid: Oid, bytes: &[u8]) -> Option<Value<'_>> {
    let moment = |bytes: [u8; 8]| {
        let micros = i64::from_be_bytes(bytes);
        // The two infinities are the ends of the range.
        micros.div_euclid(1_000).checked_add(EPOCH_MS).map(|ms| Value::Timestamp(Timestamp::from_millis(ms)))
    };
    match oid {
        oid::INT8 => bytes.try_into().ok().map(|bytes| Value::Int(i64::from_be_bytes(bytes))),
        oid::INT4 => bytes.try_into().ok().map(|bytes| Value::Int(i32::from_be_bytes(bytes).into())),
        oid::INT2 => bytes.try_into().ok().map(|bytes| Value::Int(i16::from_be_bytes(bytes).into())),
        oid::NUMBER_OF_AN_OBJECT => bytes.try_into().ok().map(|bytes| Value::Int(u32::from_be_bytes(bytes).into())),
        oid::BOOL => bytes.first().map(|byte| Value::Bool(*byte != 0)),
        oid::NUMERIC => numeric(bytes),
        oid::FLOAT8 => bytes.try_into().ok().map(|bytes| Value::Real(f64::from_be_bytes(bytes))),
        oid::FLOAT4 => bytes.try_into().ok().map(|bytes| Value::Real(f32::from_be_bytes(bytes).into())),
        oid::DATE => {
            let days = i32::from_be_bytes(bytes.try_into().ok()?).checked_add(EPOCH_DAYS as i32)?;
            Some(Value::Date(Date::from_days(days)))
        }
        oid::TIMESTAMP | oid::TIMESTAMPTZ => bytes.try_into().ok().and_then(moment),
        oid::BYTEA => Some(Value::Blob(bytes)),
        _ => None,
    }
}

/// Type of a declared column, for rows that are copied in.
pub(crate) fn stored(domain: ColumnType) -> Oid {
    match domain {
        ColumnType::Ident | ColumnType::Count => oid::INT8,
        ColumnType::Integer => oid::INT4,
        ColumnType::Small => oid::INT2,
        ColumnType::Decimal { .. } => oid::NUMERIC,
        ColumnType::Real => oid::FLOAT8,
        ColumnType::Bool => oid::BOOL,
        ColumnType::Date => oid::DATE,
        ColumnType::Timestamp => oid::TIMESTAMP,
        ColumnType::Text(_) => oid::VARCHAR,
        ColumnType::Lob(_) => oid::BYTEA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(given: Value<'static>, oid: Oid) -> Value<'static> {
        assert!(fits(given, oid), "{given:?} as {oid}");
        let mut out = BytesMut::new();
        put(given, oid, &mut out);
        value(oid, Box::leak(out.to_vec().into_boxed_slice())).unwrap()
    }

    #[test]
    fn a_record_is_read_by_its_own_types() {
        let mut bytes = vec![0, 0, 0, 3];
        bytes.extend([0, 0, 0, 23, 0, 0, 0, 4, 0, 0, 1, 2]);
        bytes.extend([0, 0, 0, 25, 255, 255, 255, 255]);
        bytes.extend([0, 0, 4, 19, 0, 0, 0, 2, b'a', b'b']);
        let mut fields = Vec::new();
        let row = RecordRow::read(&bytes, &mut fields).unwrap();
        assert_eq!([0, 1, 2].map(|at| row.value(at)), [Value::Int(258), Value::Null, Value::Text("ab")]);
        assert_eq!((row.int(0), row.text_bytes(2)), (Some(258), Some(&b"ab"[..])));
        assert!(row.column_name(2).is_some() && row.column_name(3).is_none());
        for end in 0..bytes.len() {
            assert!(RecordRow::read(&bytes[..end], &mut fields).is_none(), "{end}");
        }
    }

    #[test]
    fn decimals_are_exact_both_ways() {
        for units in [0, 1, -1, 9_999, 10_000, -10_001, 123_456_789, 9_007_199_254_740_993, i64::MAX, i64::MIN] {
            for scale in [0, 1, 2, 3, 4, 5, 8, 15] {
                let given = Value::Decimal { units, scale };
                // Zeros behind the fifth digit are not kept: the number is the same.
                let (mut units, mut scale) = (units, scale);
                while scale > 5 && units % 10 == 0 {
                    (units, scale) = (units / 10, scale - 1);
                }
                assert_eq!(there_and_back(given, oid::NUMERIC), Value::Decimal { units, scale });
            }
        }
        assert_eq!(there_and_back(Value::Int(-70_000), oid::NUMERIC), Value::Decimal { units: -70_000, scale: 0 });
    }

    #[test]
    fn what_is_no_exact_decimal_is_the_nearest_number() {
        // 1e40, as the server sends it: one digit of weight 10.
        assert_eq!(numeric(&[0, 1, 0, 10, 0, 0, 0, 0, 0, 1]), Some(Value::Real(1e40)));
        assert!(matches!(numeric(&[0, 0, 0, 0, 0xC0, 0, 0, 0]), Some(Value::Real(it)) if it.is_nan()));
        assert_eq!(numeric(&[0, 0, 0, 0, 0xD0, 0, 0, 32]), Some(Value::Real(f64::INFINITY)));
        assert_eq!(numeric(&[0, 2, 0, 0, 0, 0, 0, 0, 0, 1]), None, "a digit is missing");
    }

    #[test]
    fn days_and_moments_count_from_2000() {
        let day = Date::from_ymd(1999, 12, 31);
        assert_eq!(there_and_back(Value::Date(day), oid::DATE), Value::Date(day));
        let moment = Timestamp::at(Date::from_ymd(1969, 12, 31), 86_399_995);
        assert_eq!(there_and_back(Value::Timestamp(moment), oid::TIMESTAMP), Value::Timestamp(moment));
        let midnight = Value::Timestamp(Timestamp::at(day, 0));
        assert_eq!(there_and_back(Value::Date(day), oid::TIMESTAMP), midnight);
        assert_eq!(value(oid::DATE, &[0, 0, 0, 1]), Some(Value::Date(Date::from_ymd(2000, 1, 2))));
    }

    #[test]
    fn whole_numbers_are_not_cut() {
        for (number, oid, expected) in [
            (32_767, oid::INT2, true),
            (32_768, oid::INT2, false),
            (-2_147_483_649, oid::INT4, false),
            (2, oid::BOOL, false),
            (1, oid::BOOL, true),
            (1, oid::TEXT, false),
            (i64::MAX, oid::FLOAT8, false),
        ] {
            assert_eq!(fits(Value::Int(number), oid), expected, "{number} as {oid}");
        }
        assert_eq!(there_and_back(Value::Int(-5), oid::INT2), Value::Int(-5));
        assert_eq!(there_and_back(Value::Int(1), oid::BOOL), Value::Bool(true));
    }
}
