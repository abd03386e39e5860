//! Keys and records as bytes, for engines that store bytes alone.
//!
//! An integer as a key is 8 bytes, big-endian with its sign bit turned over, a text its own bytes: comparing bytes
//! compares keys. A record is its values one behind the other, each a byte for its type and then
//!
//! | type | byte | bytes behind it |
//! |---|---|---|
//! | nothing | 0 | |
//! | integer | 1 | 8, little-endian |
//! | real | 2 | 8, little-endian |
//! | text | 3 | 4 of length, little-endian, and so many |
//! | bytes | 4 | 4 of length, little-endian, and so many |

use super::refusals::wrong_key;
use crate::{EngineError, ErrorKind, FieldChange, Key, RecordTable, RecordType, Result, Row, Value};
use std::borrow::Cow;
use std::cell::Cell;

const NULL: u8 = 0;
const INT: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
/// The greatest of them.
pub(crate) const BYTES: u8 = 4;

/// A key's bytes, without allocation. They sort as the keys do.
///
/// ```
/// use bourse_engine::Key;
/// use bourse_engine::records::codec::KeyBytes;
/// assert!(KeyBytes::of(Key::Int(-1)).as_ref() < KeyBytes::of(Key::Int(1)).as_ref());
/// assert!(KeyBytes::of(Key::Text("a")).as_ref() < KeyBytes::of(Key::Text("b")).as_ref());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyBytes<'a> {
    /// Bytes of an integer.
    Int([u8; 8]),
    /// Bytes of a text.
    Text(&'a [u8]),
}

impl<'a> KeyBytes<'a> {
    /// Encodes `key`.
    #[inline]
    pub fn of(key: Key<'a>) -> Self {
        match key {
            Key::Int(number) => Self::Int((number as u64 ^ (1 << 63)).to_be_bytes()),
            Key::Text(text) => Self::Text(text.as_bytes()),
        }
    }

    /// Encodes `key`, if it is of its table's type.
    ///
    /// # Errors
    /// [`Unsupported`](ErrorKind::Unsupported) for a key of another type.
    #[inline]
    pub fn in_table(table: &RecordTable, key: Key<'a>) -> Result<Self> {
        match (key, table.key().record_type) {
            (Key::Int(_), RecordType::Int) | (Key::Text(_), RecordType::Text(_)) => Ok(Self::of(key)),
            _ => Err(wrong_key(table, key)),
        }
    }
}

impl AsRef<[u8]> for KeyBytes<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Int(bytes) => bytes,
            Self::Text(bytes) => bytes,
        }
    }
}

fn damaged(what: &str) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("damaged record: {what}"))
}

/// A key from its bytes; `key_type` is that of the table's key.
///
/// # Errors
/// The bytes are no such key.
#[inline]
pub fn key_of(bytes: &[u8], key_type: RecordType) -> Result<Key<'_>> {
    if key_type == RecordType::Int {
        let bytes = bytes.try_into().map_err(|_| damaged("a key of an integer has 8 bytes"))?;
        return Ok(Key::Int((u64::from_be_bytes(bytes) ^ (1 << 63)) as i64));
    }
    std::str::from_utf8(bytes).map(Key::Text).map_err(|_| damaged("a key is no text"))
}

/// Writes a record's values into `out`, replacing its content.
///
/// # Errors
/// [`Unsupported`](ErrorKind::Unsupported) for values that no declared field holds.
pub fn encode(values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    values.iter().try_for_each(|value| append(*value, out))
}

/// Appends a value.
#[inline]
fn append(value: Value<'_>, out: &mut Vec<u8>) -> Result<()> {
    let with_length = |out: &mut Vec<u8>, tag, bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).map_err(|_| EngineError::unsupported("a field of 4 GiB"))?;
        out.push(tag);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
        Ok::<_, EngineError>(())
    };
    match value {
        Value::Null => out.push(NULL),
        Value::Int(number) => {
            out.push(INT);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Real(number) => {
            out.push(REAL);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Text(text) => with_length(out, TEXT, text.as_bytes())?,
        Value::Blob(bytes) => with_length(out, BYTES, bytes)?,
        other => return Err(EngineError::unsupported(format!("no field of a record holds {other:?}"))),
    }
    Ok(())
}

/// The value at the start of `bytes`, its text not yet validated.
enum RawValue<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a [u8]),
    Bytes(&'a [u8]),
}

#[inline]
fn split(bytes: &[u8]) -> Option<(RawValue<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let eight = || rest.split_first_chunk::<8>();
    let long = || {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        rest.split_at_checked(u32::from_le_bytes(*length) as usize)
    };
    Some(match tag {
        NULL => (RawValue::Null, rest),
        INT => eight().map(|(number, rest)| (RawValue::Int(i64::from_le_bytes(*number)), rest))?,
        REAL => eight().map(|(number, rest)| (RawValue::Real(f64::from_le_bytes(*number)), rest))?,
        TEXT => long().map(|(text, rest)| (RawValue::Text(text), rest))?,
        BYTES => long().map(|(bytes, rest)| (RawValue::Bytes(bytes), rest))?,
        _ => return None,
    })
}

/// The bytes from field number `index` on.
#[inline]
fn field(bytes: &[u8], index: usize) -> Option<&[u8]> {
    let mut rest = bytes;
    for _ in 0..index {
        rest = split(rest)?.1;
    }
    Some(rest)
}

/// Changes a field of an encoded record. An addition wraps around, unlike in SQL engines: workloads add 1.
///
/// # Errors
/// There is no such field, or it is not an integer that could be added to, or no field holds the new value.
pub fn change(bytes: &mut Vec<u8>, change: FieldChange<'_>) -> Result<()> {
    match change {
        FieldChange::Add(index, by) => add(bytes, index, by),
        FieldChange::Set(index, value) => set(bytes, index, value),
        FieldChange::Append(index, text) => extend(bytes, index, text),
    }
}

/// Replaces a field. The new value is appended, and exchanged with the old one: without a second buffer.
fn set(bytes: &mut Vec<u8>, index: usize, value: Value<'_>) -> Result<()> {
    let absent = || damaged(&format!("field {index} is absent"));
    let from = field(bytes, index).ok_or_else(absent)?;
    let behind = split(from).ok_or_else(absent)?.1.len();
    let (length, from) = (bytes.len(), bytes.len() - from.len());
    append(value, bytes)?;
    let added = bytes.len() - length;
    bytes[from..].rotate_right(added);
    bytes.drain(from + added..length - behind + added);
    Ok(())
}

/// Appends to a text, whose length precedes it.
fn extend(bytes: &mut Vec<u8>, index: usize, text: &str) -> Result<()> {
    let not_text = || damaged(&format!("field {index} is no text"));
    let from = field(bytes, index).filter(|rest| rest.first() == Some(&TEXT)).ok_or_else(not_text)?;
    let (behind, from) = (split(from).ok_or_else(not_text)?.1.len(), bytes.len() - from.len());
    let end = bytes.len() - behind;
    let length = u32::try_from(end - from - 5 + text.len()).map_err(|_| damaged("a text of more than 4 GiB"))?;
    bytes.splice(end..end, text.bytes());
    bytes[from + 1..from + 5].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn add(bytes: &mut [u8], index: usize, by: i64) -> Result<()> {
    let at = field(bytes, index).map(|rest| bytes.len() - rest.len());
    let number = at.and_then(|at| bytes[at..].split_first_mut()).filter(|(tag, _)| **tag == INT);
    let number = number.and_then(|(_, rest)| rest.first_chunk_mut::<8>());
    let number = number.ok_or_else(|| damaged(&format!("field {index} is not an integer")))?;
    *number = i64::from_le_bytes(*number).wrapping_add(by).to_le_bytes();
    Ok(())
}

/// An encoded record with its key, as a row: column 0 is the key.
///
/// ```
/// use bourse_engine::records::codec::{EncodedRow, encode};
/// use bourse_engine::{Key, Row, RowExt, Value};
/// let mut bytes = Vec::new();
/// encode(&[Value::Text("Anna"), Value::Null], &mut bytes)?;
/// let row: &dyn Row = &EncodedRow::new(Key::Int(7), &bytes);
/// assert_eq!(row.get::<i64>(0)?, 7);
/// assert_eq!(row.get::<String>(1)?, "Anna");
/// assert_eq!(row.get::<Option<i64>>(2)?, None);
/// # Ok::<(), bourse_engine::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EncodedRow<'a> {
    key: Key<'a>,
    bytes: &'a [u8],
    /// Field that was read last and its offset: fields read in order are found in one pass.
    last: Cell<(usize, usize)>,
}

impl<'a> EncodedRow<'a> {
    /// Row of a key and its encoded values.
    #[inline]
    pub const fn new(key: Key<'a>, bytes: &'a [u8]) -> Self {
        Self { key, bytes, last: Cell::new((0, 0)) }
    }

    /// Field number `index`, counted without the key.
    #[inline]
    fn raw(&self, index: usize) -> Option<RawValue<'a>> {
        let (last, offset) = self.last.get();
        let (steps, from) = if index < last { (index, 0) } else { (index - last, offset) };
        let rest = field(self.bytes.get(from..)?, steps)?;
        self.last.set((index, self.bytes.len() - rest.len()));
        split(rest).map(|(value, _)| value)
    }
}

impl Row for EncodedRow<'_> {
    /// Returns NULL for a column that is absent or damaged.
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        match index.checked_sub(1).map(|index| self.raw(index)) {
            None => self.key.into(),
            Some(Some(RawValue::Int(number))) => Value::Int(number),
            Some(Some(RawValue::Real(number))) => Value::Real(number),
            Some(Some(RawValue::Text(text))) => std::str::from_utf8(text).map_or(Value::Null, Value::Text),
            Some(Some(RawValue::Bytes(bytes))) => Value::Blob(bytes),
            Some(Some(RawValue::Null) | None) => Value::Null,
        }
    }

    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        match (index.checked_sub(1).map(|index| self.raw(index)), self.key) {
            (None, Key::Text(text)) => Some(text.as_bytes()),
            (Some(Some(RawValue::Text(text))), _) => Some(text),
            _ => None,
        }
    }

    /// Returns `None`: the table has the names of the fields.
    fn column_name(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_their_bytes() {
        let numbers = [i64::MIN, -257, -256, -1, 0, 1, 255, 256, 65_536, i64::MAX];
        let bytes: Vec<_> = numbers.iter().map(|&number| KeyBytes::of(Key::Int(number)).as_ref().to_vec()).collect();
        assert!(bytes.is_sorted());
        for (number, bytes) in numbers.iter().zip(&bytes) {
            assert_eq!(key_of(bytes, RecordType::Int).unwrap(), Key::Int(*number));
        }
        assert_eq!(key_of(b"abc", RecordType::Text(9)).unwrap(), Key::Text("abc"));
        assert!(key_of(b"abc", RecordType::Int).unwrap_err().message().contains("8 bytes"));
    }

    #[test]
    fn records_come_back_and_fields_can_be_added_to() {
        let values =
            [Value::Text("ä"), Value::Null, Value::Int(-5), Value::Real(1.5), Value::Blob(&[0, 255]), Value::Text("")];
        let mut bytes = vec![9; 3];
        encode(&values, &mut bytes).unwrap();
        change(&mut bytes, FieldChange::Add(2, 7)).unwrap();
        let row = EncodedRow::new(Key::Int(3), &bytes);
        let found: Vec<_> = (0..8).map(|index| row.value(index)).collect();
        let any_order = [7, 3, 3, 1, 5, 0, 6, 2, 4];
        assert!(any_order.iter().all(|&index| row.value(index) == found[index]), "fields can be read in any order");
        let expected = [
            Value::Int(3),
            Value::Text("ä"),
            Value::Null,
            Value::Int(2),
            Value::Real(1.5),
            Value::Blob(&[0, 255]),
            Value::Text(""),
            Value::Null,
        ];
        assert_eq!(found, expected);
        let text = |value: &Value<'_>| matches!(value, Value::Text(_));
        for (index, value) in expected.iter().enumerate() {
            let bytes = row.text_bytes(index);
            assert_eq!(bytes.is_some(), text(value), "column {index}");
            assert!(bytes.is_none_or(|bytes| Value::Text(std::str::from_utf8(bytes).unwrap()) == *value));
        }
        assert_eq!(EncodedRow::new(Key::Text("k"), &bytes).text_bytes(0), Some(&b"k"[..]));
        change(&mut bytes, FieldChange::Append(0, "öü")).unwrap();
        change(&mut bytes, FieldChange::Append(5, "!")).unwrap();
        let row = EncodedRow::new(Key::Int(3), &bytes);
        assert_eq!([1, 3, 6].map(|at| row.value(at)), [Value::Text("äöü"), Value::Int(2), Value::Text("!")]);
        change(&mut bytes, FieldChange::Set(0, Value::Text("ä"))).unwrap();
        change(&mut bytes, FieldChange::Set(5, Value::Text(""))).unwrap();
        let numbers = [FieldChange::Add(0, 1), FieldChange::Add(6, 1), FieldChange::Append(2, "a")];
        for wrong in numbers.into_iter().chain([FieldChange::Set(6, Value::Null), FieldChange::Append(6, "a")]) {
            change(&mut bytes, wrong).unwrap_err();
        }
        let changed = [(0, Value::Text("longer")), (5, Value::Text("last")), (4, Value::Null), (2, Value::Int(9))];
        for (field, value) in changed {
            let mut bytes = bytes.clone();
            change(&mut bytes, FieldChange::Set(field, value)).unwrap();
            let row = EncodedRow::new(Key::Int(3), &bytes);
            for (index, old) in expected.iter().enumerate() {
                assert_eq!(row.value(index), if index == field + 1 { value } else { *old }, "column {index}");
            }
        }
        for cut in 0..bytes.len() {
            // Whatever is cut off reads as NULL and never panics.
            let row = EncodedRow::new(Key::Int(3), &bytes[..cut]);
            assert!((0..8).all(|index| row.value(index) == row.value(index)));
        }
    }
}
