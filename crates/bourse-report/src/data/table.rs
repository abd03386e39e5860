//! A table for programs, and its declaration.

bourse_record::named! {
    /// Kind of a column's values.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DataKind {
        /// Text.
        Text = "text",
        /// Whole number.
        Count = "integer",
        /// Floating-point number.
        Real = "real",
        /// True or false.
        Flag = "boolean",
    }
}

/// A column as declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataColumn {
    /// Name, with the unit last: `response_p99_ns`; never a keyword of SQL.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: DataKind,
    /// Meaning of the column, in a sentence.
    pub meaning: &'static str,
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum DataValue {
    /// No value.
    Nothing,
    /// Text as in the run file.
    Text(String),
    /// Whole number.
    Count(i64),
    /// Floating-point number; always finite.
    Real(f64),
    /// True or false.
    Flag(bool),
}

impl DataValue {
    /// Whether it may occur in a column of that kind.
    pub const fn is_of(&self, kind: DataKind) -> bool {
        matches!(
            (self, kind),
            (Self::Nothing, _)
                | (Self::Text(_), DataKind::Text)
                | (Self::Count(_), DataKind::Count)
                | (Self::Real(_), DataKind::Real)
                | (Self::Flag(_), DataKind::Flag)
        )
    }
}

macro_rules! values_from {
    ($($type:ty: |$value:ident| $made:expr;)+) => {
        $(impl From<$type> for DataValue {
            fn from($value: $type) -> Self {
                $made
            }
        })+
    };
}

values_from! {
    &str: |text| Self::Text(text.to_owned());
    String: |text| Self::Text(text);
    bool: |flag| Self::Flag(flag);
    u64: |count| Self::Count(i64::try_from(count).unwrap_or(i64::MAX));
    u32: |count| Self::Count(count.into());
    i32: |number| Self::Count(number.into());
    usize: |count| Self::from(count as u64);
    // A number that is not finite is none.
    f64: |number| if number.is_finite() { Self::Real(number) } else { Self::Nothing };
}

impl<T: Into<Self>> From<Option<T>> for DataValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// A table for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct DataTable {
    /// Name, which is also its file's, without the ending.
    pub name: &'static str,
    /// Meaning of a row, in a sentence.
    pub meaning: &'static str,
    /// Columns: first the keys, then the values.
    pub columns: Vec<DataColumn>,
    /// Rows, with a value for each column.
    pub rows: Vec<Vec<DataValue>>,
}

impl DataTable {
    pub(super) fn push(&mut self, row: Vec<DataValue>) {
        debug_assert!(
            row.len() == self.columns.len()
                && row.iter().zip(&self.columns).all(|(value, column)| value.is_of(column.kind)),
            "a row of {} has a value of its kind for each column: {row:?}",
            self.name
        );
        self.rows.push(row);
    }
}

/// Declares a table: meaning of a row, name, key columns, source of a row, and for each further column its name, kind,
/// meaning and value. Generates a type with `table()`, the empty table, and `row(…)`.
macro_rules! data_table {
    ($meaning:literal $type:ident $name:literal [$($key:expr),*] ($($arg:ident: $of:ty),+) {
        $($column:ident: $kind:ident, $what:literal => $value:expr;)+
    }) => {
        pub(super) struct $type;

        impl $type {
            pub(super) fn table() -> DataTable {
                let columns = vec![
                    $($key,)*
                    $(DataColumn { name: stringify!($column), kind: DataKind::$kind, meaning: $what },)+
                ];
                DataTable { name: $name, meaning: $meaning, columns, rows: Vec::new() }
            }

            pub(super) fn row(keys: &[DataValue], $($arg: $of),+) -> Vec<DataValue> {
                let mut row = keys.to_vec();
                row.extend([$(DataValue::from($value)),+]);
                row
            }
        }
    };
}
pub(super) use data_table;
