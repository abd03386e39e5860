//! Conversion of values: the binary protocol of prepared statements, and the text protocol of everything else.

use bourse_engine::{Row, Value};
use bourse_schema::{Date, Field as _, Timestamp};
use mysql::consts::ColumnType;
use std::borrow::Cow;

/// Number of the character set of bytes that are no text.
const BINARY: u16 = 63;

/// Converts a parameter for the client.
pub(crate) fn to_server(value: Value<'_>) -> mysql::Value {
    match value {
        Value::Null => mysql::Value::NULL,
        Value::Int(number) => mysql::Value::Int(number),
        Value::Bool(flag) => mysql::Value::Int(i64::from(flag)),
        Value::Decimal { units, scale } => mysql::Value::Bytes(decimal_text(units, scale).into_bytes()),
        Value::Real(number) => mysql::Value::Double(number),
        Value::Date(date) => match date.ymd() {
            (year @ 0..=9_999, month, day) => mysql::Value::Date(year as u16, month as u8, day as u8, 0, 0, 0, 0),
            _ => mysql::Value::Bytes(date.to_string().into_bytes()),
        },
        Value::Timestamp(moment) => match moment.date().ymd() {
            (year @ 0..=9_999, month, day) => {
                let ms = moment.ms_of_day();
                let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
                let micros = (ms % 1_000) as u32 * 1_000;
                mysql::Value::Date(year as u16, month as u8, day as u8, hour as u8, minute as u8, second as u8, micros)
            }
            _ => mysql::Value::Bytes(moment.to_string().into_bytes()),
        },
        Value::Text(text) => mysql::Value::Bytes(text.as_bytes().to_vec()),
        Value::Blob(bytes) => mysql::Value::Bytes(bytes.to_vec()),
    }
}

/// Text of a decimal, as `-0.05`.
fn decimal_text(units: i64, scale: u8) -> String {
    let digits = format!("{:0width$}", units.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    let sign = if units < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Appends a value as a literal in a statement's text, in the SQL mode that every connection has.
pub(crate) fn write_literal(out: &mut String, value: Value<'_>) {
    use std::fmt::Write as _;
    let written = match value {
        Value::Null => write!(out, "NULL"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Bool(flag) => write!(out, "{}", u8::from(flag)),
        Value::Decimal { units, scale } => write!(out, "{}", decimal_text(units, scale)),
        Value::Real(number) => write!(out, "{number:e}"),
        Value::Date(date) => write!(out, "'{date}'"),
        Value::Timestamp(moment) => write!(out, "'{moment}'"),
        // Whether a backslash escapes what follows depends on the server's mode; it is none in hexadecimal digits.
        Value::Text(text) if text.contains('\\') => {
            out.push_str("_utf8mb4 ");
            write_hex(out, text.as_bytes());
            Ok(())
        }
        Value::Text(text) => {
            out.push('\'');
            for (at, part) in text.split('\'').enumerate() {
                if at > 0 {
                    out.push_str("''");
                }
                out.push_str(part);
            }
            out.push('\'');
            Ok(())
        }
        Value::Blob(bytes) => {
            write_hex(out, bytes);
            Ok(())
        }
    };
    written.expect("a String takes all");
}

fn write_hex(out: &mut String, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push_str("x'");
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
    out.push('\'');
}

/// Appends a value to the text of `LOAD DATA`: fields end with a tab, lines with a newline, a backslash escapes.
pub(crate) fn write_field(out: &mut Vec<u8>, value: Value<'_>) {
    /// Largest scale whose power of ten fits twice into an `i64`.
    const MOST_DIGITS: u8 = 18;
    match value {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Int(number) | Value::Decimal { units: number, scale: 0 } => number.write_flat(out),
        Value::Bool(flag) => flag.write_flat(out),
        Value::Decimal { units, scale: scale @ 1..=MOST_DIGITS } => {
            let one = 10_u64.pow(u32::from(scale));
            let magnitude = units.unsigned_abs();
            if units < 0 {
                out.push(b'-');
            }
            ((magnitude / one) as i64).write_flat(out);
            // The one before the fraction keeps its zeros, and gives its place to the point.
            let point = out.len();
            ((magnitude % one + one) as i64).write_flat(out);
            out[point] = b'.';
        }
        Value::Decimal { units, scale } => out.extend_from_slice(decimal_text(units, scale).as_bytes()),
        Value::Real(number) => write_shown(out, format_args!("{number:e}")),
        Value::Date(date) if is_written_fast(date) => date.write_flat(out),
        Value::Date(date) => write_shown(out, format_args!("{date}")),
        Value::Timestamp(moment) if is_written_fast(moment.date()) => moment.write_flat(out),
        Value::Timestamp(moment) => write_shown(out, format_args!("{moment}")),
        Value::Text(text) => write_escaped(out, text.as_bytes()),
        Value::Blob(bytes) => write_escaped(out, bytes),
    }
}

/// Whether the year has four digits.
fn is_written_fast(date: Date) -> bool {
    (0..=9_999).contains(&date.ymd().0)
}

fn write_shown(out: &mut Vec<u8>, shown: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    out.write_fmt(shown).expect("a Vec takes all");
}

fn write_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\\' | 0)) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        out.extend_from_slice(match special[0] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            0 => b"\\0",
            _ => b"\\\\",
        });
        rest = &special[1..];
    }
    out.extend_from_slice(rest);
}

/// Row of the client.
pub(crate) struct MysqlRow(pub(crate) mysql::Row);

impl Row for MysqlRow {
    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        self.0.columns_ref().get(index).map(|column| column.name_str())
    }

    fn value(&self, index: usize) -> Value<'_> {
        let column = &self.0.columns_ref()[index];
        let Some(value) = self.0.as_ref(index) else { return Value::Null };
        match value {
            mysql::Value::NULL => Value::Null,
            mysql::Value::Int(number) => Value::Int(*number),
            mysql::Value::UInt(number) => i64::try_from(*number).map_or(Value::Real(*number as f64), Value::Int),
            mysql::Value::Float(number) => Value::Real(f64::from(*number)),
            mysql::Value::Double(number) => Value::Real(*number),
            &mysql::Value::Date(year, month, day, hour, minute, second, micros) => {
                let date = Date::from_ymd(i32::from(year), u32::from(month), u32::from(day));
                if matches!(column.column_type(), ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE) {
                    return Value::Date(date);
                }
                let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
                Value::Timestamp(Timestamp::at(date, seconds * 1_000 + i64::from(micros) / 1_000))
            }
            // No column of ours is a time of day; in milliseconds, as the length that it is to the server.
            &mysql::Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
                let minutes = (i64::from(days) * 24 + i64::from(hours)) * 60 + i64::from(minutes);
                let ms = (minutes * 60 + i64::from(seconds)) * 1_000 + i64::from(micros) / 1_000;
                Value::Int(if is_negative { -ms } else { ms })
            }
            mysql::Value::Bytes(bytes) => from_bytes(column.column_type(), column.character_set(), bytes),
        }
    }
}

/// Value of the text protocol, and of decimals, text and bytes in both protocols.
fn from_bytes(column_type: ColumnType, character_set: u16, bytes: &[u8]) -> Value<'_> {
    use ColumnType::*;
    let Ok(text) = std::str::from_utf8(bytes) else {
        return if column_type == MYSQL_TYPE_BIT { Value::Int(big_endian(bytes)) } else { Value::Blob(bytes) };
    };
    match column_type {
        MYSQL_TYPE_DECIMAL | MYSQL_TYPE_NEWDECIMAL => decimal(text).unwrap_or(Value::Text(text)),
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_LONG | MYSQL_TYPE_INT24 | MYSQL_TYPE_LONGLONG
        | MYSQL_TYPE_YEAR => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => text.parse().map_or(Value::Text(text), Value::Real),
        },
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => text.parse().map_or(Value::Text(text), Value::Real),
        MYSQL_TYPE_DATE | MYSQL_TYPE_NEWDATE => date(text).map_or(Value::Text(text), Value::Date),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => timestamp(text).map_or(Value::Text(text), Value::Timestamp),
        MYSQL_TYPE_BIT => Value::Int(big_endian(bytes)),
        _ if character_set == BINARY => Value::Blob(bytes),
        _ => Value::Text(text),
    }
}

fn big_endian(bytes: &[u8]) -> i64 {
    bytes.iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
}

/// Parses a decimal: `-12.340` is -12340 thousandths; `None` if the units do not fit.
fn decimal(text: &str) -> Option<Value<'static>> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    // Quotients have more digits than anybody stored; the zeros among them say nothing.
    let fraction = if fraction.len() > 5 { fraction.trim_end_matches('0') } else { fraction };
    let scale = u8::try_from(fraction.len()).ok()?;
    let mut units: i64 = 0;
    let is_negative = whole.starts_with('-');
    for digit in whole.trim_start_matches(['-', '+']).bytes().chain(fraction.bytes()) {
        let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        // Downwards, since there is one more negative number than positive ones.
        units = units.checked_mul(10)?.checked_sub(digit)?;
    }
    Some(Value::Decimal { units: if is_negative { units } else { units.checked_neg()? }, scale })
}

fn date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?.parse().ok()?;
    let month = parts.next()?.parse().ok().filter(|month| *month <= 12)?;
    let day = parts.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    Some(Date::from_ymd(year, month, day))
}

fn timestamp(text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once(' ')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = time.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let ms: i64 = if fraction.is_empty() { 0 } else { format!("{fraction:0<3}").get(..3)?.parse().ok()? };
    Some(Timestamp::at(date(day)?, ((hour * 60 + minute) * 60 + second) * 1_000 + ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_both_ways() {
        for (units, scale, text) in [
            (2_592, 2, "25.92"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MAX, 5, "92233720368547.75807"),
            (0, 2, "0.00"),
        ] {
            assert_eq!(decimal_text(units, scale), text);
            assert_eq!(decimal(text), Some(Value::Decimal { units, scale }));
        }
        assert_eq!(decimal("9223372036854775808"), None);
        assert_eq!(decimal("1.2300000000"), Some(Value::Decimal { units: 123, scale: 2 }));
        assert_eq!(decimal("1e5"), None);
    }

    #[test]
    fn texts_are_read_by_their_column() {
        use ColumnType::*;
        let read = |column_type, text: &'static str| from_bytes(column_type, 45, text.as_bytes());
        assert_eq!(read(MYSQL_TYPE_LONGLONG, "-12"), Value::Int(-12));
        assert_eq!(read(MYSQL_TYPE_DOUBLE, "1.5"), Value::Real(1.5));
        assert_eq!(read(MYSQL_TYPE_DATE, "2005-01-03"), Value::Date(Date::from_ymd(2005, 1, 3)));
        let moment = Timestamp::at(Date::from_ymd(2005, 1, 3), 32_400_000);
        assert_eq!(read(MYSQL_TYPE_DATETIME, "2005-01-03 09:00:00"), Value::Timestamp(moment));
        let moment = Timestamp::at(Date::from_ymd(2005, 1, 3), 32_400_007);
        assert_eq!(read(MYSQL_TYPE_DATETIME, "2005-01-03 09:00:00.007"), Value::Timestamp(moment));
        assert_eq!(read(MYSQL_TYPE_VAR_STRING, "a"), Value::Text("a"));
        assert_eq!(from_bytes(MYSQL_TYPE_BLOB, BINARY, b"a"), Value::Blob(b"a"));
        assert_eq!(from_bytes(MYSQL_TYPE_BIT, BINARY, &[1, 0]), Value::Int(256));
    }

    #[test]
    fn fields_of_a_file_are_escaped() {
        let field = |value| {
            let mut out = Vec::new();
            write_field(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(field(Value::Null), "\\N");
        assert_eq!(field(Value::Text("\\N")), "\\\\N");
        assert_eq!(field(Value::Text("\ta\n\n'\"\\ \0b\r")), "\\ta\\n\\n'\"\\\\ \\0b\r");
        assert_eq!(field(Value::Text("é\t")), "é\\t");
        assert_eq!(field(Value::Blob(b"\x00\x5c\x09\x0a")), "\\0\\\\\\t\\n");
        assert_eq!(field(Value::Bool(true)), "1");
        assert_eq!(field(Value::Real(-0.15)), "-1.5e-1");
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(field(Value::Int(number)), number.to_string());
            for scale in [0, 1, 2, 5, 17, 18, 19, 20, 30] {
                let decimal = Value::Decimal { units: number, scale };
                assert_eq!(field(decimal), decimal_text(number, scale), "{number} {scale}");
            }
        }
        for year in [-1, 0, 1_000, 2_005, 9_999, 10_000] {
            let date = Date::from_ymd(year, 12, 31);
            assert_eq!(field(Value::Date(date)), date.to_string());
            let moment = Timestamp::at(date, 86_399_999);
            assert_eq!(field(Value::Timestamp(moment)), moment.to_string());
        }
    }

    #[test]
    fn literals_are_quoted() {
        let literal = |value| {
            let mut out = String::new();
            write_literal(&mut out, value);
            out
        };
        assert_eq!(literal(Value::Text("it's")), "'it''s'");
        assert_eq!(literal(Value::Text("it's \\ é")), "_utf8mb4 x'69742773205c20c3a9'", "whatever a backslash means");
        assert_eq!(literal(Value::Text("''")), "''''''");
        assert_eq!(literal(Value::Blob(&[0, 255])), "x'00ff'");
        assert_eq!(literal(Value::Decimal { units: -1, scale: 5 }), "-0.00001");
        assert_eq!(literal(Value::Date(Date::from_ymd(2005, 1, 3))), "'2005-01-03'");
    }
}
