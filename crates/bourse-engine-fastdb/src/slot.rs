//! Memory that FastDB reads and writes: one value of a record, at a fixed address.

use bourse_engine::{EngineError, Key, RecordType, Value};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// Numbers of `cli_var_type`.
const INT8: c_int = 5;
const REAL8: c_int = 7;
const ASCIIZ: c_int = 9;
const ARRAY_OF_INT1: c_int = 14;
pub(crate) const INT4: c_int = 4;

/// Memory of one value. FastDB gets its address and uses it while a statement of it runs, which is only while the session that
/// owns it is in a call.
pub(crate) struct ValueSlot {
    record_type: RecordType,
    /// The length that FastDB reads and writes, followed by the value.
    words: NonNull<u64>,
    count: usize,
}

// SAFETY: the memory is this slot's alone, and FastDB touches it only in calls that the owner makes.
unsafe impl Send for ValueSlot {}

/// Reason that a value does not fit in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// The value is longer than declared.
    TooLong,
    /// The value has another type.
    Type,
    /// The text contains a zero byte.
    Zero,
}

impl Misfit {
    /// Error for the value of `name`.
    pub(crate) fn of(self, name: &str) -> EngineError {
        EngineError::unsupported(match self {
            Self::TooLong => format!("a value of {name} is longer than declared"),
            Self::Type => format!("a value of {name} is not of its declared type"),
            Self::Zero => format!("a text of {name} has a zero byte in it, where it ends for FastDB"),
        })
    }
}

impl ValueSlot {
    pub(crate) fn new(record_type: RecordType) -> Self {
        let bytes = match record_type {
            RecordType::Int | RecordType::Real => 8,
            // Up to four bytes a character, and the zero at the end.
            RecordType::Text(characters) => characters * 4 + 1,
            RecordType::Bytes(bytes) => bytes,
        };
        let words = vec![0_u64; 1 + bytes.div_ceil(8)].into_boxed_slice();
        let count = words.len();
        let words = NonNull::new(Box::into_raw(words).cast::<u64>()).expect("a box is not null");
        Self { record_type, words, count }
    }

    /// Number of the slot's `cli_var_type`.
    pub(crate) fn var_type(&self) -> c_int {
        match self.record_type {
            RecordType::Int => INT8,
            RecordType::Real => REAL8,
            RecordType::Text(_) => ASCIIZ,
            RecordType::Bytes(_) => ARRAY_OF_INT1,
        }
    }

    /// Address of the value.
    pub(crate) fn data(&self) -> *mut c_void {
        // SAFETY: there is a word behind the length, or the address is that of the end, which is allowed.
        unsafe { self.words.as_ptr().add(1) }.cast()
    }

    /// Address of the length.
    pub(crate) fn length(&self) -> *mut c_int {
        self.words.as_ptr().cast()
    }

    fn capacity(&self) -> usize {
        (self.count - 1) * 8
    }

    fn set_length(&mut self, length: usize) {
        let length = c_int::try_from(length).unwrap_or(c_int::MAX);
        // SAFETY: the first word belongs to this slot and is aligned for any integer.
        unsafe { self.length().write(length) };
    }

    /// Sets the length to the capacity, the limit of what FastDB writes in a fetch.
    #[inline]
    pub(crate) fn arm(&mut self) {
        if matches!(self.record_type, RecordType::Text(_) | RecordType::Bytes(_)) {
            self.set_length(self.capacity());
        }
    }

    fn set_word(&mut self, word: u64) {
        // SAFETY: numbers have one word behind the length.
        unsafe { self.data().cast::<u64>().write(word) };
    }

    fn set_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= self.capacity());
        // SAFETY: every caller has compared with the capacity; the source is another allocation.
        unsafe { self.data().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.set_length(bytes.len());
    }

    #[inline]
    pub(crate) fn set(&mut self, value: Value<'_>) -> Result<(), Misfit> {
        match (self.record_type, value) {
            (RecordType::Int, Value::Int(number)) => self.set_word(number as u64),
            (RecordType::Real, Value::Real(number)) => self.set_word(number.to_bits()),
            (RecordType::Text(characters), Value::Text(text)) => {
                if text.len() > characters * 4 {
                    return Err(Misfit::TooLong);
                }
                if text.as_bytes().contains(&0) {
                    return Err(Misfit::Zero);
                }
                self.set_bytes(text.as_bytes());
                // SAFETY: the capacity has room for the zero behind the longest text.
                unsafe { self.data().cast::<u8>().add(text.len()).write(0) };
            }
            (RecordType::Bytes(most), Value::Blob(bytes)) => {
                if bytes.len() > most {
                    return Err(Misfit::TooLong);
                }
                self.set_bytes(bytes);
            }
            _ => return Err(Misfit::Type),
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn set_key(&mut self, key: Key<'_>) -> Result<(), Misfit> {
        self.set(key.into())
    }

    /// Value that FastDB has written.
    #[inline]
    pub(crate) fn value(&self) -> Value<'_> {
        // SAFETY: the first word is the length, of which FastDB writes the lower half.
        let length = usize::try_from(unsafe { self.length().read() }).unwrap_or(0).min(self.capacity());
        // SAFETY: numbers have one word behind the length.
        let word = || unsafe { self.data().cast::<u64>().read() };
        // SAFETY: at most the capacity, initialised when it was allocated, and not written while `self` is borrowed.
        let bytes = |length| unsafe { std::slice::from_raw_parts(self.data().cast::<u8>(), length) };
        match self.record_type {
            RecordType::Int => Value::Int(word() as i64),
            RecordType::Real => Value::Real(f64::from_bits(word())),
            RecordType::Text(_) => {
                // FastDB counts the zero at the end.
                let bytes = bytes(length.saturating_sub(1));
                std::str::from_utf8(bytes).map_or(Value::Blob(bytes), Value::Text)
            }
            RecordType::Bytes(_) => Value::Blob(bytes(length)),
        }
    }

    /// Appends to a text.
    pub(crate) fn extend(&mut self, text: &str) -> Result<(), Misfit> {
        let Value::Text(before) = self.value() else { return Err(Misfit::Type) };
        let whole = [before, text].concat();
        self.set(Value::Text(&whole))
    }

    /// Adds to an integer.
    pub(crate) fn add(&mut self, by: i64) -> Result<(), Misfit> {
        let Value::Int(number) = self.value() else { return Err(Misfit::Type) };
        self.set_word(number.wrapping_add(by) as u64);
        Ok(())
    }
}

impl Drop for ValueSlot {
    fn drop(&mut self) {
        let words = std::ptr::slice_from_raw_parts_mut(self.words.as_ptr(), self.count);
        // SAFETY: made from a box of as many words in `new`, and only here given back.
        drop(unsafe { Box::from_raw(words) });
    }
}
