//! Bulk loading through DuckDB's appender, which takes rows as columns, some thousand at a time.

use crate::database::DuckDbConnection;
use crate::error::appender_error;
use crate::library::{DuckDbApi, LibraryHandle, RawHugeInt, SUCCESS};
use crate::row::{DuckDbType, ValueForm};
use crate::statement::text_of;
use bourse_engine::{Batch, EachToLoad, EngineError, ErrorKind, Result, Value};

/// Appender of rows to one table. It must be dropped before its connection.
pub(crate) struct Appender {
    api: &'static DuckDbApi,
    raw: LibraryHandle,
    /// Chunk with the columns of the next rows.
    chunk: LibraryHandle,
    columns: Vec<DuckDbType>,
    /// Capacity of the chunk in rows.
    room: usize,
}

// SAFETY: the library lets any thread use an appender, one at a time, and an `Appender` is used through `&mut`.
unsafe impl Send for Appender {}

impl Appender {
    /// Begins to append to a table of a catalog, or of the connection's own catalog for `None`.
    ///
    /// # Errors
    /// The library's; a column of a type that this crate does not write.
    pub(crate) fn new(connection: &DuckDbConnection, catalog: Option<&str>, table: &str) -> Result<Self> {
        let api = &connection.database().library().api;
        let (catalog, table_text) = (catalog.map(text_of).transpose()?, text_of(table)?);
        let catalog = catalog.as_ref().map_or(std::ptr::null(), |catalog| catalog.as_ptr());
        let mut raw = std::ptr::null_mut();
        // SAFETY: the connection is open, texts end in zero and live until this returns, and there is a place for the
        // appender, which is destroyed with `this` even if it could not be made.
        let is_made = unsafe {
            (api.appender_create)(connection.raw(), catalog, c"main".as_ptr(), table_text.as_ptr(), &mut raw)
        } == SUCCESS;
        let mut this = Self { api, raw, chunk: std::ptr::null_mut(), columns: Vec::new(), room: 0 };
        if !is_made {
            // SAFETY: the appender exists even if it could not be made, and has the error.
            return Err(unsafe { appender_error(api, raw) });
        }
        // SAFETY: types are this one's to destroy, once the chunk was made of them.
        unsafe {
            let mut types: Vec<LibraryHandle> =
                (0..(api.appender_columns)(raw)).map(|at| (api.appender_column_type)(raw, at)).collect();
            let known: Option<Vec<DuckDbType>> = types.iter().map(|logical| DuckDbType::of(api, *logical)).collect();
            if known.is_some() {
                this.chunk = (api.create_data_chunk)(types.as_mut_ptr(), types.len() as u64);
                this.room = (api.vector_size)() as usize;
            }
            types.iter_mut().for_each(|logical| (api.destroy_logical_type)(logical));
            let unknown =
                || EngineError::unsupported(format!("{table} has a column of a type that is not loaded here"));
            this.columns = known.ok_or_else(unknown)?;
        }
        Ok(this)
    }

    /// Appends rows, and makes the library check them.
    ///
    /// # Errors
    /// The library's, among them [`ErrorKind::Duplicate`] and [`ErrorKind::Constraint`]; a value that a column cannot hold.
    pub(crate) fn append(&mut self, batch: &dyn Batch) -> Result<()> {
        self.append_each(&mut |put| {
            for at in 0..batch.len() {
                let mut done = Ok(());
                batch.with_row(at, &mut |values| done = put(values));
                done?;
            }
            Ok(())
        })
    }

    /// Appends rows that are passed one after another, and makes the library check them.
    ///
    /// # Errors
    /// Those of [`append`](Self::append), and that of `rows`.
    pub(crate) fn append_each(&mut self, rows: &mut EachToLoad<'_>) -> Result<()> {
        let mut places = self.places();
        let mut count = 0;
        rows(&mut |values| {
            if count == self.room {
                self.append_chunk(std::mem::take(&mut count))?;
                places = self.places();
            }
            if values.len() != places.len() {
                return Err(EngineError::new(ErrorKind::Other, "a row has another number of columns"));
            }
            // SAFETY: the chunk has room for that row.
            places.iter().zip(values).try_for_each(|(place, value)| unsafe { place.put(count, *value) })?;
            count += 1;
            Ok(())
        })?;
        if count > 0 {
            self.append_chunk(count)?;
        }
        // SAFETY: the appender is there.
        match unsafe { (self.api.appender_flush)(self.raw) } {
            SUCCESS => Ok(()),
            // SAFETY: as above.
            _ => Err(unsafe { appender_error(self.api, self.raw) }),
        }
    }

    /// Columns of the chunk, emptied.
    fn places(&self) -> Vec<ChunkColumn> {
        let api = self.api;
        // SAFETY: the chunk is this one's.
        unsafe { (api.data_chunk_reset)(self.chunk) };
        let place = |(at, column): (usize, &DuckDbType)| {
            // SAFETY: the chunk has that column, whose places stay where they are until it is reset.
            unsafe {
                let vector = (api.data_chunk_vector)(self.chunk, at as u64);
                (api.vector_ensure_validity)(vector);
                let (data, validity) = ((api.vector_data)(vector).cast(), (api.vector_validity)(vector));
                ChunkColumn { api, vector, data, validity, column: *column }
            }
        };
        self.columns.iter().enumerate().map(place).collect()
    }

    /// Appends the first rows of the chunk.
    fn append_chunk(&self, rows: usize) -> Result<()> {
        // SAFETY: chunk and appender are valid, and that many rows of the chunk were filled.
        unsafe {
            (self.api.data_chunk_set_size)(self.chunk, rows as u64);
            match (self.api.appender_append)(self.raw, self.chunk) {
                SUCCESS => Ok(()),
                _ => Err(appender_error(self.api, self.raw)),
            }
        }
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: both belong to this appender alone. Rows that were not flushed are refused again, an error that is not
        // needed.
        unsafe {
            if !self.chunk.is_null() {
                (self.api.destroy_data_chunk)(&mut self.chunk);
            }
            (self.api.appender_destroy)(&mut self.raw);
        }
    }
}

/// Column of the chunk that is being filled.
struct ChunkColumn {
    api: &'static DuckDbApi,
    vector: LibraryHandle,
    data: *mut u8,
    validity: *mut u64,
    column: DuckDbType,
}

impl ChunkColumn {
    /// Puts a value into a row.
    ///
    /// # Errors
    /// The column cannot hold it.
    ///
    /// # Safety
    /// The chunk must have room for the row.
    #[inline]
    unsafe fn put(&self, at: usize, value: Value<'_>) -> Result<()> {
        let number = match value {
            Value::Int(number) if self.column.scale.is_none() => Some(number),
            Value::Decimal { units, scale } if self.column.scale == Some(scale) => Some(units),
            Value::Bool(flag) => Some(i64::from(flag)),
            Value::Date(date) => Some(date.days().into()),
            Value::Timestamp(moment) => moment.millis().checked_mul(1_000),
            _ => None,
        };
        // SAFETY: the column has room for values of that size, as its type says, and a bit for each row.
        unsafe {
            match (self.column.form, value, number) {
                (_, Value::Null, _) => *self.validity.add(at / 64) &= !(1 << (at % 64)),
                (ValueForm::Bool, Value::Bool(flag), _) => self.write(at, u8::from(flag)),
                (ValueForm::I8, _, Some(number)) => {
                    self.write(at, i8::try_from(number).map_err(|_| self.refuse(value))?)
                }
                (ValueForm::I16, _, Some(number)) => {
                    self.write(at, i16::try_from(number).map_err(|_| self.refuse(value))?)
                }
                (ValueForm::I32, _, Some(number)) => {
                    self.write(at, i32::try_from(number).map_err(|_| self.refuse(value))?)
                }
                (ValueForm::I64, _, Some(number)) => self.write(at, number),
                (ValueForm::I128, _, Some(number)) => self.write(at, RawHugeInt::of(number)),
                (ValueForm::F64, Value::Real(number), _) => self.write(at, number),
                (ValueForm::Date, Value::Date(date), _) => self.write(at, date.days()),
                (ValueForm::Time(1_000_000), Value::Timestamp(_), Some(micros)) => self.write(at, micros),
                (ValueForm::Text, Value::Text(text), _) => self.write_bytes(at, text.as_bytes()),
                (ValueForm::Bytes, Value::Blob(bytes), _) => self.write_bytes(at, bytes),
                _ => return Err(self.refuse(value)),
            }
        }
        Ok(())
    }

    /// # Safety
    /// The row must be valid as for [`ChunkColumn::put`], and the column have values of this type.
    #[inline]
    unsafe fn write<T>(&self, at: usize, value: T) {
        // SAFETY: as the caller promises.
        unsafe { self.data.cast::<T>().add(at).write(value) }
    }

    /// # Safety
    /// The row must be valid as for [`ChunkColumn::put`], in a column of texts or large objects. The library copies the bytes.
    #[inline]
    unsafe fn write_bytes(&self, at: usize, bytes: &[u8]) {
        // SAFETY: as the caller promises.
        unsafe { (self.api.vector_assign_text)(self.vector, at as u64, bytes.as_ptr().cast(), bytes.len() as u64) }
    }

    #[cold]
    fn refuse(&self, value: Value<'_>) -> EngineError {
        EngineError::new(ErrorKind::Other, format!("{value} does not fit its column ({:?})", self.column))
    }
}
