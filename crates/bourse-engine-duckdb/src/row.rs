//! Rows of a result, read in place from the library's memory: as columns, some thousand rows at a time.

use crate::library::{DuckDbApi, LibraryHandle, RawHugeInt, RawResult};
use bourse_engine::{EngineError, Result, Row, Value};
use bourse_schema::{Date, Timestamp};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};

/// Representation of a column's values in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
    Null,
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    I128,
    /// Days since 1970.
    Date,
    /// Units of time since 1970, with the number of units per second.
    Time(i64),
    Text,
    Bytes,
}

/// Form for the library's number of a type (`duckdb_type`).
const fn form(number: c_int) -> Option<ValueForm> {
    Some(match number {
        1 => ValueForm::Bool,
        2 => ValueForm::I8,
        3 => ValueForm::I16,
        4 => ValueForm::I32,
        5 => ValueForm::I64,
        6 => ValueForm::U8,
        7 => ValueForm::U16,
        8 => ValueForm::U32,
        9 => ValueForm::U64,
        10 => ValueForm::F32,
        11 => ValueForm::F64,
        12 | 31 => ValueForm::Time(1_000_000),
        13 => ValueForm::Date,
        16 => ValueForm::I128,
        17 => ValueForm::Text,
        18 => ValueForm::Bytes,
        20 => ValueForm::Time(1),
        21 => ValueForm::Time(1_000),
        22 => ValueForm::Time(1_000_000_000),
        36 => ValueForm::Null,
        _ => return None,
    })
}

/// `DUCKDB_TYPE_DECIMAL`: stored as an integer with the decimal's digits.
pub(crate) const DECIMAL: c_int = 19;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DuckDbType {
    pub(crate) form: ValueForm,
    /// Digits behind the point, for a decimal.
    pub(crate) scale: Option<u8>,
}

impl DuckDbType {
    /// Type that the library describes in `logical`, which is not destroyed; `None` for a type that this crate does not read or
    /// write.
    ///
    /// # Safety
    /// `logical` must be a type of that library.
    pub(crate) unsafe fn of(api: &DuckDbApi, logical: LibraryHandle) -> Option<Self> {
        // SAFETY: as the caller promises; the last two functions are called for decimals only.
        unsafe {
            match (api.type_id)(logical) {
                DECIMAL => Some(Self {
                    form: form((api.decimal_internal_type)(logical))?,
                    scale: Some((api.decimal_scale)(logical)),
                }),
                number => Some(Self { form: form(number)?, scale: None }),
            }
        }
    }
}

/// Column of the chunk that is being read.
#[derive(Debug, Clone, Copy)]
struct Cells {
    data: *const u8,
    /// Bit for each row, set if it has a value; null if every row has one.
    validity: *const u64,
}

/// Columns of a result: their types, and the addresses of a chunk's values. Reused between results for its memory.
#[derive(Debug, Default)]
pub(crate) struct ResultColumns {
    types: Vec<DuckDbType>,
    cells: Vec<Cells>,
}

// SAFETY: the pointers are followed only while the result lives that they are of.
unsafe impl Send for ResultColumns {}

impl ResultColumns {
    /// Reads the types of a result's columns.
    ///
    /// # Errors
    /// A type that this crate does not read.
    ///
    /// # Safety
    /// `result` must be a result of that library.
    pub(crate) unsafe fn read_types(&mut self, api: &DuckDbApi, result: &mut RawResult) -> Result<()> {
        self.types.clear();
        // SAFETY: as the caller promises, for each of its columns; a logical type is this one's to destroy.
        unsafe {
            for at in 0..(api.column_count)(result) {
                let number = (api.column_type)(result, at);
                let read = match number {
                    DECIMAL => {
                        let mut logical = (api.column_logical_type)(result, at);
                        let read = DuckDbType::of(api, logical);
                        (api.destroy_logical_type)(&mut logical);
                        read
                    }
                    _ => form(number).map(|form| DuckDbType { form, scale: None }),
                };
                let Some(read) = read else {
                    return Err(EngineError::unsupported(format!(
                        "column {at} of the result has a type that is not read here (number {number} of DuckDB's types): cast it to another, as VARCHAR"
                    )));
                };
                self.types.push(read);
            }
        }
        Ok(())
    }

    /// Finds the addresses of a chunk's columns; returns its number of rows.
    ///
    /// # Safety
    /// `chunk` must be of the result whose types were read, and live as long as its rows are read.
    pub(crate) unsafe fn read_chunk(&mut self, api: &DuckDbApi, chunk: LibraryHandle) -> usize {
        self.cells.clear();
        // SAFETY: as the caller promises.
        unsafe {
            for at in 0..self.types.len() {
                let vector = (api.data_chunk_vector)(chunk, at as u64);
                self.cells
                    .push(Cells { data: (api.vector_data)(vector).cast(), validity: (api.vector_validity)(vector) });
            }
            (api.data_chunk_size)(chunk) as usize
        }
    }
}

/// Row of a chunk.
pub(crate) struct DuckRow<'r> {
    columns: &'r ResultColumns,
    at: usize,
    result: *mut RawResult,
    names: unsafe extern "C" fn(*mut RawResult, u64) -> *const std::ffi::c_char,
}

impl<'r> DuckRow<'r> {
    /// Row `at` of the chunk that was read last.
    ///
    /// # Safety
    /// The chunk and its result must outlive the row, and the chunk must have such a row.
    #[inline]
    pub(crate) unsafe fn new(columns: &'r ResultColumns, at: usize, result: *mut RawResult, api: &DuckDbApi) -> Self {
        Self { columns, at, result, names: api.column_name }
    }

    /// Value of a column in this row, in its memory.
    #[inline]
    fn cell<T>(&self, cells: Cells) -> &T {
        // SAFETY: the column has values of that size, as its type says, and there is such a row.
        unsafe { &*cells.data.cast::<T>().add(self.at) }
    }

    #[inline]
    fn is_null(&self, cells: Cells) -> bool {
        // SAFETY: there is a bit for each row of the chunk.
        !cells.validity.is_null() && unsafe { *cells.validity.add(self.at / 64) } >> (self.at % 64) & 1 == 0
    }

    /// Bytes of a text or large object: in place if they are few, else behind a pointer.
    #[inline]
    fn bytes(&self, cells: Cells) -> &[u8] {
        const IN_PLACE: usize = 12;
        // SAFETY: such a value has 16 bytes: its length in 4, then the bytes themselves or, behind 4 more, a pointer to them.
        unsafe {
            let value = cells.data.add(self.at * 16);
            let length = value.cast::<u32>().read() as usize;
            let bytes = if length <= IN_PLACE { value.add(4) } else { value.add(8).cast::<*const u8>().read() };
            std::slice::from_raw_parts(bytes, length)
        }
    }
}

/// Integer as a [`Value`]; one that exceeds 64 bits becomes a floating-point number.
#[inline]
fn whole<T: Copy>(number: T, real: impl FnOnce(T) -> f64) -> Value<'static>
where
    i64: TryFrom<T>,
{
    i64::try_from(number).map_or_else(|_| Value::Real(real(number)), Value::Int)
}

impl Row for DuckRow<'_> {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        let (column, cells) = (self.columns.types[index], self.columns.cells[index]);
        if self.is_null(cells) {
            return Value::Null;
        }
        let number = match column.form {
            ValueForm::Null => return Value::Null,
            ValueForm::Bool => return Value::Bool(*self.cell::<u8>(cells) != 0),
            ValueForm::I8 => Value::Int((*self.cell::<i8>(cells)).into()),
            ValueForm::I16 => Value::Int((*self.cell::<i16>(cells)).into()),
            ValueForm::I32 => Value::Int((*self.cell::<i32>(cells)).into()),
            ValueForm::I64 => Value::Int(*self.cell::<i64>(cells)),
            ValueForm::U8 => Value::Int((*self.cell::<u8>(cells)).into()),
            ValueForm::U16 => Value::Int((*self.cell::<u16>(cells)).into()),
            ValueForm::U32 => Value::Int((*self.cell::<u32>(cells)).into()),
            ValueForm::U64 => whole(*self.cell::<u64>(cells), |it| it as f64),
            ValueForm::F32 => return Value::Real((*self.cell::<f32>(cells)).into()),
            ValueForm::F64 => return Value::Real(*self.cell::<f64>(cells)),
            ValueForm::I128 => {
                let RawHugeInt { lower, upper } = *self.cell::<RawHugeInt>(cells);
                whole(i128::from(upper) << 64 | i128::from(lower), |it| it as f64)
            }
            ValueForm::Date => return Value::Date(Date::from_days(*self.cell::<i32>(cells))),
            ValueForm::Time(per_second) => {
                let units = i128::from(*self.cell::<i64>(cells)) * 1_000;
                let millis = units.div_euclid(per_second.into());
                return Value::Timestamp(Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)));
            }
            // The library lets no other text in; one that is there all the same comes as its bytes.
            ValueForm::Text => {
                let bytes = self.bytes(cells);
                return std::str::from_utf8(bytes).map_or(Value::Blob(bytes), Value::Text);
            }
            ValueForm::Bytes => return Value::Blob(self.bytes(cells)),
        };
        match (number, column.scale) {
            (Value::Int(units), Some(scale)) => Value::Decimal { units, scale },
            (Value::Real(units), Some(scale)) => Value::Real(units / 10f64.powi(scale.into())),
            (number, _) => number,
        }
    }

    #[inline]
    fn text_bytes(&self, index: usize) -> Option<&[u8]> {
        let cells = self.columns.cells[index];
        (self.columns.types[index].form == ValueForm::Text && !self.is_null(cells)).then(|| self.bytes(cells))
    }

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        if index >= self.columns.types.len() {
            return None;
        }
        // SAFETY: the result lives, and its names with it.
        let name = unsafe { (self.names)(self.result, index as u64) };
        // SAFETY: as above; what is not null ends in zero.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
    }
}
