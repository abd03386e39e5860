//! Values of a column that are not written yet.

use crate::files::parquet::{Column, Kind};
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
    kind: Kind,
    values: Values,
    /// Definition levels of a nullable column: 1 for each row with a value and 0 for each without.
    levels: Option<Vec<i16>>,
}

impl PendingValues {
    pub(crate) fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Int64 | Kind::Decimal { .. } | Kind::Timestamp => Values::Int64(Vec::new()),
            Kind::Int32 | Kind::Date => Values::Int32(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Bytes(Vec::new()),
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
            (Values::Int64(all), Kind::Int64, Value::Int(number)) => all.push(number),
            (Values::Int64(all), Kind::Decimal { scale, .. }, Value::Decimal { units, scale: found })
                if scale == found =>
            {
                all.push(units);
            }
            (Values::Int64(all), Kind::Timestamp, Value::Timestamp(moment)) => all.push(moment.millis()),
            (Values::Int32(all), Kind::Int32, Value::Int(number)) => all.push(i32::try_from(number).ok()?),
            (Values::Int32(all), Kind::Date, Value::Date(date)) => all.push(date.days()),
            (Values::Real(all), _, Value::Real(number)) => all.push(number),
            (Values::Bool(all), _, Value::Bool(flag)) => all.push(flag),
            (Values::Bytes(all), Kind::Text, Value::Text(text)) => {
                all.push(text.as_bytes().to_vec().into());
                return Some(text.len());
            }
            (Values::Bytes(all), Kind::Bytes, Value::Blob(bytes)) => {
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
