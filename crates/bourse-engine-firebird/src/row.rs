//! Rows of a result, read in place from the library's memory: one row in a block.

use crate::api::{LibraryObject, LobId, RawMetadata, sql_type};
use crate::attachment::{Attachment, FirebirdTransaction};
use crate::lob;
use crate::message::{DAYS_TO_1970, UNITS_PER_DAY, UNITS_PER_MILLI};
use bourse_engine::{EngineError, Result, Row, Value};
use bourse_schema::{Date, Timestamp};
use std::borrow::Cow;
use std::ffi::{CStr, c_void};

/// Character set of binary data, and the subtype of large objects that are texts.
const OCTETS: u32 = 1;
const TEXT_LOB: i32 = 1;

/// Representation of a column's value in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnForm {
    Null,
    I16,
    I32,
    I64,
    I128,
    F32,
    F64,
    Bool,
    Date,
    Timestamp,
    /// Text of a fixed length, padded with blanks.
    Text,
    /// Text with its length in two bytes before it.
    Varying,
    Lob,
}

#[derive(Debug)]
struct MessageColumn {
    form: ColumnForm,
    /// Digits behind the point, for a decimal.
    scale: Option<u8>,
    /// Whether a text or a large object is binary.
    is_bytes: bool,
    length: usize,
    offset: usize,
    null_offset: usize,
    name: String,
    /// Number of the large object in the row, counted from 0.
    lob: usize,
}

/// Columns of a statement's rows, and the row that was read last.
pub(crate) struct StatementOutput {
    metadata: *mut RawMetadata,
    columns: Vec<MessageColumn>,
    block: Vec<u64>,
    /// Bytes of the row's large objects.
    lobs: Vec<Vec<u8>>,
}

impl StatementOutput {
    /// Reads the descriptions of the columns, and releases `metadata`.
    ///
    /// # Errors
    /// The library's; a type that this crate does not read.
    ///
    /// # Safety
    /// `metadata` must be live metadata of the library.
    pub(crate) unsafe fn new(attachment: &Attachment, metadata: *mut RawMetadata) -> Result<Self> {
        let status = attachment.status();
        let mut this = Self { metadata, columns: Vec::new(), block: Vec::new(), lobs: Vec::new() };
        // SAFETY: as the caller promises; names end in zero and live as long as the description.
        unsafe {
            let table = LibraryObject::table(metadata);
            let number = |get: unsafe extern "C" fn(*mut RawMetadata, _, u32) -> u32, at| {
                status.check(|status| get(metadata, status, at))
            };
            let count = status.check(|status| (table.count)(metadata, status))?;
            for at in 0..count {
                let name = CStr::from_ptr(status.check(|status| (table.alias)(metadata, status, at))?);
                let name = name.to_string_lossy();
                let scale = status.check(|status| (table.scale)(metadata, status, at))?;
                let data_type = number(table.data_type, at)? & !1;
                let Some(form) = form(data_type) else {
                    return Err(EngineError::unsupported(format!(
                        "column {at} of the result has a type that is not read here (number {data_type} of Firebird's types): cast it to another, as VARCHAR(100)"
                    )));
                };
                this.columns.push(MessageColumn {
                    form,
                    scale: u8::try_from(-scale).ok().filter(|scale| *scale > 0),
                    is_bytes: match form {
                        ColumnForm::Lob => status.check(|status| (table.sub_type)(metadata, status, at))? != TEXT_LOB,
                        _ => number(table.char_set, at)? == OCTETS,
                    },
                    length: number(table.length, at)? as usize,
                    offset: number(table.offset, at)? as usize,
                    null_offset: number(table.null_offset, at)? as usize,
                    name: as_written(&name),
                    lob: this.lobs.len(),
                });
                if form == ColumnForm::Lob {
                    this.lobs.push(Vec::new());
                }
            }
            let length = status.check(|status| (table.message_length)(metadata, status))? as usize;
            this.block = vec![0; length.div_ceil(size_of::<u64>())];
        }
        Ok(this)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Library's description of the block.
    pub(crate) fn metadata(&self) -> *mut RawMetadata {
        self.metadata
    }

    /// Block for the next row.
    pub(crate) fn block(&mut self) -> *mut c_void {
        self.block.as_mut_ptr().cast()
    }

    /// Row that was read last, with its large objects.
    ///
    /// # Errors
    /// The library's.
    #[inline]
    pub(crate) fn row(
        &mut self,
        attachment: &Attachment,
        transaction: &FirebirdTransaction,
    ) -> Result<FirebirdRow<'_>> {
        if !self.lobs.is_empty() {
            self.read_lobs(attachment, transaction)?;
        }
        Ok(FirebirdRow(self))
    }

    #[cold]
    fn read_lobs(&mut self, attachment: &Attachment, transaction: &FirebirdTransaction) -> Result<()> {
        for column in self.columns.iter().filter(|column| column.form == ColumnForm::Lob) {
            if !is_null(&self.block, column) {
                let id = LobId { high: read(&self.block, column.offset), low: read(&self.block, column.offset + 4) };
                lob::read(attachment, transaction, id, &mut self.lobs[column.lob])?;
            }
        }
        Ok(())
    }
}

impl Drop for StatementOutput {
    fn drop(&mut self) {
        // SAFETY: the description is this one's.
        unsafe {
            (LibraryObject::table(self.metadata).counted.release)(self.metadata);
        }
    }
}

/// Form for the library's number of a type.
const fn form(number: u32) -> Option<ColumnForm> {
    Some(match number {
        sql_type::SHORT => ColumnForm::I16,
        sql_type::LONG => ColumnForm::I32,
        sql_type::INT64 => ColumnForm::I64,
        sql_type::INT128 => ColumnForm::I128,
        sql_type::FLOAT => ColumnForm::F32,
        sql_type::DOUBLE => ColumnForm::F64,
        sql_type::BOOLEAN => ColumnForm::Bool,
        sql_type::DATE => ColumnForm::Date,
        sql_type::TIMESTAMP => ColumnForm::Timestamp,
        sql_type::TEXT => ColumnForm::Text,
        sql_type::VARYING => ColumnForm::Varying,
        sql_type::BLOB => ColumnForm::Lob,
        sql_type::NULL => ColumnForm::Null,
        _ => return None,
    })
}

/// Name as statements write it: Firebird has it in capitals, unless it was quoted.
fn as_written(name: &str) -> String {
    if name.chars().any(char::is_lowercase) { name.to_owned() } else { name.to_lowercase() }
}

/// Number at any offset of a block.
#[inline]
fn read<T: Copy>(block: &[u64], offset: usize) -> T {
    assert!(offset + size_of::<T>() <= size_of_val(block), "a column lies in its block");
    // SAFETY: these bytes are the block's, and any of them form a valid `T`: only numbers are read.
    unsafe { block.as_ptr().cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}

#[inline]
fn is_null(block: &[u64], column: &MessageColumn) -> bool {
    read::<i16>(block, column.null_offset) != 0
}

/// Row, valid until the next one is read.
pub(crate) struct FirebirdRow<'o>(&'o StatementOutput);

impl FirebirdRow<'_> {
    #[inline]
    fn read<T: Copy>(&self, column: &MessageColumn) -> T {
        read(&self.0.block, column.offset)
    }

    /// Bytes of a text.
    #[inline]
    fn bytes(&self, column: &MessageColumn) -> &[u8] {
        let (offset, length) = match column.form {
            ColumnForm::Lob => return &self.0.lobs[column.lob],
            ColumnForm::Varying => (column.offset + 2, usize::from(self.read::<u16>(column))),
            _ => (column.offset, column.length),
        };
        let block = &self.0.block;
        assert!(offset + length <= size_of_val(&**block), "a text lies in its block");
        // SAFETY: these bytes are the block's.
        let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr().cast::<u8>().add(offset), length) };
        match column.form {
            ColumnForm::Text if !column.is_bytes => bytes.trim_ascii_end(),
            _ => bytes,
        }
    }
}

impl Row for FirebirdRow<'_> {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        let column = &self.0.columns[index];
        if is_null(&self.0.block, column) {
            return Value::Null;
        }
        let units = match column.form {
            ColumnForm::Null => return Value::Null,
            ColumnForm::I16 => self.read::<i16>(column).into(),
            ColumnForm::I32 => self.read::<i32>(column).into(),
            ColumnForm::I64 => self.read::<i64>(column),
            ColumnForm::I128 => match i64::try_from(self.read::<i128>(column)) {
                Ok(units) => units,
                // One that is too large for readers comes as a floating-point number.
                Err(_) => {
                    let units = self.read::<i128>(column) as f64;
                    return Value::Real(units / 10f64.powi(column.scale.unwrap_or(0).into()));
                }
            },
            ColumnForm::F32 => return Value::Real(self.read::<f32>(column).into()),
            ColumnForm::F64 => return Value::Real(self.read(column)),
            ColumnForm::Bool => return Value::Bool(self.read::<u8>(column) != 0),
            ColumnForm::Date => return Value::Date(Date::from_days(self.read::<i32>(column) - DAYS_TO_1970)),
            ColumnForm::Timestamp => {
                let days = i64::from(self.read::<i32>(column) - DAYS_TO_1970);
                let time: u32 = read(&self.0.block, column.offset + 4);
                return Value::Timestamp(Timestamp::from_millis(
                    (days * UNITS_PER_DAY + i64::from(time)).div_euclid(UNITS_PER_MILLI),
                ));
            }
            ColumnForm::Text | ColumnForm::Varying | ColumnForm::Lob => {
                let bytes = self.bytes(column);
                // A text that is no UTF-8 comes as its bytes.
                return match std::str::from_utf8(bytes) {
                    Ok(text) if !column.is_bytes => Value::Text(text),
                    _ => Value::Blob(bytes),
                };
            }
        };
        match column.scale {
            Some(scale) => Value::Decimal { units, scale },
            None => Value::Int(units),
        }
    }

    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        let column = &self.0.columns[index];
        let is_text =
            matches!(column.form, ColumnForm::Text | ColumnForm::Varying | ColumnForm::Lob) && !column.is_bytes;
        (is_text && !is_null(&self.0.block, column)).then(|| self.bytes(column))
    }

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        self.0.columns.get(index).map(|column| Cow::Borrowed(&*column.name))
    }
}
