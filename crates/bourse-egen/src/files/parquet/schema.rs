//! Columns, and their description in Parquet.

use bourse_schema::ColumnType;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParquetKind {
    /// Whole number of 64 bits.
    Int64,
    /// Whole number of 32 bits.
    Int32,
    /// Binary floating-point number of 64 bits.
    Real,
    /// Exact decimal of at most 18 digits.
    Decimal {
        /// Total number of digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// True or false.
    Bool,
    /// Calendar day.
    Date,
    /// Day and time in milliseconds, without zone.
    Timestamp,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParquetColumn {
    pub(crate) name: String,
    pub(crate) kind: ParquetKind,
    pub(crate) is_nullable: bool,
}

impl ParquetColumn {
    /// A column that has a value in every row.
    pub fn new(name: impl Into<String>, kind: ParquetKind) -> Self {
        Self { name: name.into(), kind, is_nullable: false }
    }

    /// Permits rows without a value.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }
}

/// Column of a declared table, with the kind of its domain.
impl From<&bourse_schema::Column> for ParquetColumn {
    fn from(column: &bourse_schema::Column) -> Self {
        let kind = match column.column_type {
            ColumnType::Ident | ColumnType::Count => ParquetKind::Int64,
            ColumnType::Integer | ColumnType::Small => ParquetKind::Int32,
            ColumnType::Decimal { precision, scale } => ParquetKind::Decimal { precision, scale },
            ColumnType::Real => ParquetKind::Real,
            ColumnType::Bool => ParquetKind::Bool,
            ColumnType::Date => ParquetKind::Date,
            ColumnType::Timestamp => ParquetKind::Timestamp,
            ColumnType::Text(_) => ParquetKind::Text,
            ColumnType::Lob(_) => ParquetKind::Bytes,
        };
        Self { name: column.name.to_owned(), kind, is_nullable: column.nullable }
    }
}

/// Description of a table in Parquet's terms.
pub(crate) fn described(table: &str, columns: &[ParquetColumn]) -> Result<TypePtr> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder(table).with_fields(fields).build()?))
}

fn field(column: &ParquetColumn) -> Result<Type> {
    let (physical, logical) = match column.kind {
        ParquetKind::Int64 => (Physical::INT64, None),
        ParquetKind::Int32 => (Physical::INT32, None),
        ParquetKind::Real => (Physical::DOUBLE, None),
        ParquetKind::Decimal { precision, scale } => {
            (Physical::INT64, Some(LogicalType::decimal(scale.into(), precision.into())))
        }
        ParquetKind::Bool => (Physical::BOOLEAN, None),
        ParquetKind::Date => (Physical::INT32, Some(LogicalType::Date)),
        ParquetKind::Timestamp => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MILLIS))),
        ParquetKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ParquetKind::Bytes => (Physical::BYTE_ARRAY, None),
    };
    let repetition = if column.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let mut builder =
        Type::primitive_type_builder(&column.name, physical).with_repetition(repetition).with_logical_type(logical);
    if let ParquetKind::Decimal { precision, scale } = column.kind {
        builder = builder.with_precision(precision.into()).with_scale(scale.into());
    }
    builder.build()
}
