//! The format of values in the buffers that both sides share: parameters in, rows out.

use bourse_engine::{EngineError, ErrorKind, Result, Row, Value};
use bourse_schema::{Date, Timestamp};
use std::borrow::Cow;

const NULL: u8 = 0;
const INT: u8 = 1;
const BOOL: u8 = 2;
const DECIMAL: u8 = 3;
const REAL: u8 = 4;
const DATE: u8 = 5;
const TIMESTAMP: u8 = 6;
const TEXT: u8 = 7;
const BYTES: u8 = 8;

/// Appends the values of one run, in the order of the statement's parameters.
#[inline]
pub(crate) fn put_params<'v>(to: &mut Vec<u8>, count: usize, values: impl Iterator<Item = Value<'v>>) {
    to.extend((count as u32).to_ne_bytes());
    for value in values {
        match value {
            Value::Null => to.push(NULL),
            Value::Int(number) => {
                to.push(INT);
                to.extend(number.to_ne_bytes());
            }
            Value::Bool(flag) => to.extend([BOOL, u8::from(flag)]),
            Value::Decimal { units, scale } => {
                to.extend([DECIMAL, scale]);
                to.extend(units.to_ne_bytes());
            }
            Value::Real(number) => {
                to.push(REAL);
                to.extend(number.to_ne_bytes());
            }
            Value::Date(date) => {
                to.push(DATE);
                to.extend(date.days().to_ne_bytes());
            }
            Value::Timestamp(moment) => {
                to.push(TIMESTAMP);
                to.extend(moment.millis().to_ne_bytes());
            }
            Value::Text(text) => {
                to.push(TEXT);
                put_bytes(to, text.as_bytes());
            }
            Value::Blob(bytes) => {
                to.push(BYTES);
                put_bytes(to, bytes);
            }
        }
    }
}

/// Appends bytes, preceded by their length.
#[inline]
pub(crate) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u32).to_ne_bytes());
    to.extend(bytes);
}

/// Reader of a buffer, from its start.
pub(crate) struct BufferReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// Error for a buffer that ends too early.
#[cold]
fn short() -> EngineError {
    EngineError::new(ErrorKind::Other, "the Java virtual machine has answered with less than it announced")
}

impl<'b> BufferReader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..length)).ok_or_else(short)?;
        self.at += length;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()).ok_or_else(short)?;
        self.at += N;
        Ok(*taken)
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'b [u8]> {
        let length = self.number()? as usize;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Result<Cow<'b, str>> {
        self.bytes().map(String::from_utf8_lossy)
    }

    /// The next value.
    #[inline]
    fn value(&mut self) -> Result<Value<'b>> {
        Ok(match self.byte()? {
            NULL => Value::Null,
            INT => Value::Int(i64::from_ne_bytes(self.array()?)),
            BOOL => Value::Bool(self.byte()? != 0),
            DECIMAL => {
                let scale = self.byte()?;
                Value::Decimal { units: i64::from_ne_bytes(self.array()?), scale }
            }
            REAL => Value::Real(f64::from_ne_bytes(self.array()?)),
            DATE => Value::Date(Date::from_days(i32::from_ne_bytes(self.array()?))),
            TIMESTAMP => Value::Timestamp(Timestamp::from_millis(i64::from_ne_bytes(self.array()?))),
            TEXT => {
                let bytes = self.bytes()?;
                // The other side writes UTF-8 alone; half a character of its own form comes as a question mark.
                std::str::from_utf8(bytes).map_or(Value::Blob(bytes), Value::Text)
            }
            BYTES => Value::Blob(self.bytes()?),
            _ => return Err(short()),
        })
    }

    /// Records the offsets of the next row's values, and skips it.
    #[inline]
    fn pass_row(&mut self, columns: usize, starts: &mut Vec<usize>) -> Result<()> {
        starts.clear();
        for _ in 0..columns {
            starts.push(self.at);
            let length = match self.byte()? {
                NULL => 0,
                INT | REAL | TIMESTAMP => 8,
                BOOL => 1,
                DECIMAL => 9,
                DATE => 4,
                TEXT | BYTES => self.number()? as usize,
                _ => return Err(short()),
            };
            self.take(length)?;
        }
        Ok(())
    }

    /// The next row.
    #[inline]
    pub(crate) fn row<'r>(&mut self, names: &'r [String], starts: &'r mut Vec<usize>) -> Result<JdbcRow<'r>>
    where
        'b: 'r,
    {
        self.pass_row(names.len(), starts)?;
        Ok(JdbcRow { bytes: self.bytes, starts, names })
    }
}

/// A row in the buffer.
pub(crate) struct JdbcRow<'r> {
    bytes: &'r [u8],
    starts: &'r [usize],
    names: &'r [String],
}

impl JdbcRow<'_> {
    #[inline]
    fn at(&self, index: usize) -> BufferReader<'_> {
        BufferReader { bytes: self.bytes, at: self.starts[index] }
    }
}

impl Row for JdbcRow<'_> {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        self.at(index).value().expect("the whole row was passed over before")
    }

    #[inline]
    fn int(&self, index: usize) -> Option<i64> {
        let at = self.starts[index];
        match self.bytes.get(at..at + 9) {
            Some([INT, number @ ..]) => number.try_into().ok().map(i64::from_ne_bytes),
            _ => None,
        }
    }

    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        let mut reader = self.at(index);
        match reader.byte() {
            Ok(TEXT) => reader.bytes().ok(),
            _ => None,
        }
    }

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        self.names.get(index).map(|name| Cow::Borrowed(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::Bool(true),
            Value::Decimal { units: -7, scale: 2 },
            Value::Real(0.5),
            Value::Date(Date::from_days(-3)),
            Value::Timestamp(Timestamp::from_millis(-4)),
            Value::Text("é"),
            Value::Blob(&[0, 1]),
        ];
        let mut bytes = Vec::new();
        put_params(&mut bytes, values.len(), values.into_iter());
        let names: Vec<String> = (0..values.len()).map(|at| format!("c{at}")).collect();
        let mut starts = Vec::new();
        let mut reader = BufferReader::new(&bytes);
        assert_eq!(reader.number().unwrap() as usize, values.len());
        let row = reader.row(&names, &mut starts).unwrap();
        for (at, value) in values.iter().enumerate() {
            assert_eq!(row.value(at), *value);
        }
        assert_eq!((row.int(1), row.int(2), row.text_bytes(7)), (Some(-5), None, Some("é".as_bytes())));
        assert_eq!((row.column_name(1).as_deref(), row.column_name(9)), (Some("c1"), None));
        assert!(BufferReader::new(&bytes[..20]).row(&names, &mut Vec::new()).is_err());
    }
}
