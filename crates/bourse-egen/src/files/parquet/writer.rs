//! Rows into row groups.

use crate::files::parquet::column::PendingValues;
use crate::files::parquet::schema::described;
use crate::files::parquet::{ParquetColumn, ParquetKind};
use bourse_schema::Value;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::sync::Arc;

/// Maximum rows of a row group: readers prefer a hundred thousand or more.
const MAX_GROUP_ROWS: usize = 1 << 17;
/// Maximum bytes of a row group in memory: a row of NEWS_ITEM has a hundred thousand.
const MAX_GROUP_BYTES: usize = 32 << 20;

/// A table that is being written. Compressed with Snappy, which every reader knows.
pub struct TableWriter<W: Write + Send> {
    columns: Vec<ParquetColumn>,
    pending: Vec<PendingValues>,
    rows: usize,
    bytes: usize,
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table without rows.
    ///
    /// # Errors
    /// The columns cannot be described, such as a decimal of more than 18 digits, or `out` cannot be written to.
    pub fn new(name: &str, columns: Vec<ParquetColumn>, out: W) -> io::Result<Self> {
        let too_long = |column: &&ParquetColumn| matches!(column.kind, ParquetKind::Decimal { precision: 19.., .. });
        if let Some(column) = columns.iter().find(too_long) {
            return Err(io::Error::other(format!("column {} has more than 18 digits", column.name)));
        }
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = described(name, &columns).map_err(io_error)?;
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(io_error)?;
        let pending = columns.iter().map(PendingValues::new).collect();
        Ok(Self { columns, pending, rows: 0, bytes: 0, file })
    }

    /// Adds a row, and returns the approximate size of its values in bytes.
    ///
    /// # Errors
    /// A value is not of its column's kind, there are too many or too few, or a row group cannot be written. The table
    /// is unusable afterwards.
    pub fn push(&mut self, values: &[Value<'_>]) -> io::Result<usize> {
        if values.len() != self.columns.len() {
            let (found, expected) = (values.len(), self.columns.len());
            return Err(io::Error::other(format!("a row has {found} values, expected {expected}")));
        }
        let mut bytes = 0;
        for ((value, column), pending) in values.iter().zip(&self.columns).zip(&mut self.pending) {
            bytes += pending.push(value).ok_or_else(|| {
                io::Error::other(format!(
                    "invalid value {value:?} for column {}: expected {:?}",
                    column.name, column.kind
                ))
            })?;
        }
        self.rows += 1;
        self.bytes += bytes;
        if self.rows >= MAX_GROUP_ROWS || self.bytes >= MAX_GROUP_BYTES {
            self.write_group().map_err(io_error)?;
        }
        Ok(bytes)
    }

    /// Writes the remaining rows and the end of the file, and returns the writer.
    ///
    /// # Errors
    /// The file cannot be written to.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.file.into_inner().map_err(io_error)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for pending in &mut self.pending {
            let column = group.next_column()?;
            pending.write(column.expect("the file has as many columns as the table"))?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

/// Cause of an error, if that is one of reading or writing.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
