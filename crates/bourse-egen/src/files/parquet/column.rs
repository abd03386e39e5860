//! Values of a column that are not written yet.

use crate::files::parquet::{ParquetColumn, ParquetKind};
use bourse_schema::Value;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;

/// Values by the type that Parquet stores them in.
#[derive(Debug)]
enum Values {
    Int64(Vec<i64>),
    Int32(Vec<i32>),
    Real(Vec<f64>),
    Bool(Vec<bool>),
    Bytes(Vec<ByteArray>),
}

/// Values of one column for the row group in progress.
#[derive(Debug)]
pub(crate) struct PendingValues {
    kind: ParquetKind,
    values: Values,
    /// Definition levels of a nullable column: 1 for each row with a value and 0 for each without.
    levels: Option<Vec<i16>>,
}

impl PendingValues {
    pub(crate) fn new(column: &ParquetColumn) -> Self {
        let values = match column.kind {
            ParquetKind::Int64 | ParquetKind::Decimal { .. } | ParquetKind::Timestamp => Values::Int64(Vec::new()),
            ParquetKind::Int32 | ParquetKind::Date => Values::Int32(Vec::new()),
            ParquetKind::Real => Values::Real(Vec::new()),
            ParquetKind::Bool => Values::Bool(Vec::new()),
            ParquetKind::Text | ParquetKind::Bytes => Values::Bytes(Vec::new()),
        };
        Self { kind: column.kind, values, levels: column.is_nullable.then(Vec::new) }
    }

    /// Adds a value and returns its size in bytes; `None` if it is not of the column's kind.
    pub(crate) fn push(&mut self, value: &Value<'_>) -> Option<usize> {
        if *value == Value::Null {
            self.levels.as_mut()?.push(0);
            return Some(1);
        }
        let bytes = self.put(value)?;
        if let Some(levels) = &mut self.levels {
            levels.push(1);
        }
        Some(bytes)
    }

    fn put(&mut self, value: &Value<'_>) -> Option<usize> {
        match (&mut self.values, self.kind, *value) {
            (Values::Int64(all), ParquetKind::Int64, Value::Int(number)) => all.push(number),
            (Values::Int64(all), ParquetKind::Decimal { scale, .. }, Value::Decimal { units, scale: found })
                if scale == found =>
            {
                all.push(units);
            }
            (Values::Int64(all), ParquetKind::Timestamp, Value::Timestamp(moment)) => all.push(moment.millis()),
            (Values::Int32(all), ParquetKind::Int32, Value::Int(number)) => all.push(i32::try_from(number).ok()?),
            (Values::Int32(all), ParquetKind::Date, Value::Date(date)) => all.push(date.days()),
            (Values::Real(all), _, Value::Real(number)) => all.push(number),
            (Values::Bool(all), _, Value::Bool(flag)) => all.push(flag),
            (Values::Bytes(all), ParquetKind::Text, Value::Text(text)) => {
                all.push(text.as_bytes().to_vec().into());
                return Some(text.len());
            }
            (Values::Bytes(all), ParquetKind::Bytes, Value::Blob(bytes)) => {
                all.push(bytes.to_vec().into());
                return Some(bytes.len());
            }
            _ => return None,
        }
        Some(8)
    }

    /// Writes the values as a column of a row group, and clears them.
    pub(crate) fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<()> {
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Int64(all) => column.typed::<Int64Type>().write_batch(all, levels, None).map(|_| all.clear())?,
            Values::Int32(all) => column.typed::<Int32Type>().write_batch(all, levels, None).map(|_| all.clear())?,
            Values::Real(all) => column.typed::<DoubleType>().write_batch(all, levels, None).map(|_| all.clear())?,
            Values::Bool(all) => column.typed::<BoolType>().write_batch(all, levels, None).map(|_| all.clear())?,
            Values::Bytes(all) => {
                column.typed::<ByteArrayType>().write_batch(all, levels, None).map(|_| all.clear())?
            }
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        column.close()
    }
}
