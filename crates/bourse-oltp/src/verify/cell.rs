//! Values in a form that is the same for all engines.

use bourse_engine::{FromValue as _, WrongType};
use bourse_schema::{ColumnType, Date, FinAgg, TaxRate, Timestamp, Value};
use std::fmt;

/// A column's value in canonical form: the same for every engine's storage format.
///
/// Whole numbers, flags (0 and 1), dates (days) and timestamps (milliseconds since 1970) and decimals (smallest units) are
/// [`Cell::Int`]; the column determines their meaning ([`ShownCell`]).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// SQL NULL.
    Null,
    /// A whole number of the domain's smallest units.
    Int(i64),
    /// Text.
    Text(Box<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
}

impl Cell {
    /// A value of a column, however the engine stores it.
    ///
    /// # Errors
    /// [`WrongType`] if the column cannot hold such a value.
    pub fn of(column: ColumnType, value: Value<'_>) -> Result<Self, WrongType> {
        if value == Value::Null {
            return Ok(Self::Null);
        }
        Ok(match column {
            ColumnType::Ident | ColumnType::Count | ColumnType::Integer | ColumnType::Small | ColumnType::Bool => {
                Self::Int(i64::from_value(value)?)
            }
            ColumnType::Decimal { scale: 5, .. } => Self::Int(TaxRate::from_value(value)?.units()),
            ColumnType::Decimal { .. } => Self::Int(FinAgg::from_value(value)?.units()),
            ColumnType::Date => Self::Int(i64::from(Date::from_value(value)?.days())),
            ColumnType::Timestamp => Self::Int(Timestamp::from_value(value)?.millis()),
            ColumnType::Real => Self::Text(value.to_string().into()),
            ColumnType::Text(_) => Self::Text(String::from_value(value)?.into()),
            ColumnType::Lob(_) => Self::Bytes(Vec::from_value(value)?.into()),
        })
    }

    /// The value for an engine's parameter.
    pub fn value(&self, column: ColumnType) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Blob(bytes),
            Self::Int(number) => match column {
                ColumnType::Bool => Value::Bool(*number != 0),
                ColumnType::Decimal { scale, .. } => Value::Decimal { units: *number, scale },
                ColumnType::Date => Value::Date(Date::from_days(*number as i32)),
                ColumnType::Timestamp => Value::Timestamp(Timestamp::from_millis(*number)),
                _ => Value::Int(*number),
            },
        }
    }

    /// Appends an injective encoding: different values never look alike.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(0),
            Self::Int(number) => {
                out.push(1);
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::Text(text) => write_bytes(2, text.as_bytes(), out),
            Self::Bytes(bytes) => write_bytes(3, bytes, out),
        }
    }

    /// The value in readable form, for that column.
    pub const fn shown(&self, column: ColumnType) -> ShownCell<'_> {
        ShownCell { cell: self, column }
    }
}

fn write_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// A value in readable form.
#[derive(Debug, Clone, Copy)]
pub struct ShownCell<'c> {
    cell: &'c Cell,
    column: ColumnType,
}

impl fmt::Display for ShownCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cell, self.column) {
            (Cell::Null, _) => write!(f, "NULL"),
            (Cell::Text(text), _) => write!(f, "{text:?}"),
            (Cell::Bytes(bytes), _) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
                write!(f, "{} bytes beginning {start:?}", bytes.len())
            }
            (Cell::Int(number), ColumnType::Decimal { scale: 5, .. }) => write!(f, "{}", TaxRate::from_units(*number)),
            (Cell::Int(number), ColumnType::Decimal { .. }) => write!(f, "{}", FinAgg::from_units(*number)),
            (Cell::Int(number), ColumnType::Date) => write!(f, "{}", Date::from_days(*number as i32)),
            (Cell::Int(number), ColumnType::Timestamp) => write!(f, "{}", Timestamp::from_millis(*number)),
            (Cell::Int(number), ColumnType::Bool) => write!(f, "{}", *number != 0),
            (Cell::Int(number), _) => write!(f, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_forms_of_a_value_are_one_cell() {
        let money = ColumnType::Decimal { precision: 10, scale: 2 };
        let stored =
            [Value::Int(2_500), Value::Decimal { units: 2_500, scale: 2 }, Value::Decimal { units: 25, scale: 0 }];
        for value in stored {
            assert_eq!(Cell::of(money, value), Ok(Cell::Int(2_500)));
        }
        assert_eq!(Cell::of(ColumnType::Bool, Value::Int(1)), Cell::of(ColumnType::Bool, Value::Bool(true)));
        assert!(Cell::of(ColumnType::Date, Value::Text("2005-01-03")).is_err());
        assert_eq!(Cell::Int(2_505).shown(money).to_string(), "25.05");
        assert_eq!(Cell::Int(0).shown(ColumnType::Timestamp).to_string(), "1970-01-01 00:00:00.000");
    }

    #[test]
    fn neighbouring_cells_cannot_be_taken_for_others() {
        let bytes = |cells: &[Cell]| {
            let mut out = Vec::new();
            cells.iter().for_each(|cell| cell.write(&mut out));
            out
        };
        let text = |text: &str| Cell::Text(text.into());
        assert_ne!(bytes(&[text("ab"), text("c")]), bytes(&[text("a"), text("bc")]));
        assert_ne!(bytes(&[Cell::Null]), bytes(&[text("")]));
    }
}
