/// Declares a table: its row type and its [`Table`](crate::Table).
///
/// A column's type may be followed by `=> Parent` (a foreign key to a one-column primary key), then `| nullable` or `|
/// check "condition"`. It expands to plain items that could have been typed by hand.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $row:ident = $name:literal, file $file:literal, $section:ident $group:ident, rows $rows:expr, key($($key:ident),+) {
            $($column:ident : $type:ty $(=> $parent:ident)? $(| $flag:ident $($condition:literal)?)?,)+
        }
        $(foreign($($referring:ident),+) => $referred:ident;)*
        $(index $index:literal ($($indexed:ident),+) for $reason:literal;)*
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $row {
            $(
                #[doc = concat!("Column `", stringify!($column), "`.")]
                pub $column: $type,
            )+
        }

        impl $crate::TableRow for $row {
            const NAME: &'static str = $name;

            fn table() -> &'static $crate::Table {
                static TABLE: $crate::Table = $crate::Table {
                    name: $name,
                    file: $file,
                    doc: concat!($($doc),+),
                    section: $crate::Section::$section,
                    group: $crate::Group::$group,
                    cardinality: { #[allow(unused_imports, reason = "not every variant is used by every table")] use $crate::Cardinality::*; $rows },
                    columns: &[$($crate::Column {
                        name: stringify!($column),
                        column_type: <$type as $crate::Field>::TYPE,
                        nullable: <$type as $crate::Field>::NULLABLE $(|| $crate::table!(@nullable $flag))?,
                        check: $crate::table!(@check $($flag $($condition)?)?),
                    },)+],
                    key: &[$(stringify!($key)),+],
                    foreign_keys: &[
                        $($($crate::ForeignKey { columns: &[stringify!($column)], parent: <$parent as $crate::TableRow>::table },)?)+
                        $($crate::ForeignKey { columns: &[$(stringify!($referring)),+], parent: <$referred as $crate::TableRow>::table },)*
                    ],
                    indexes: &[$($crate::Index { name: $index, columns: &[$(stringify!($indexed)),+], reason: $reason },)*],
                };
                &TABLE
            }

            fn write_flat(&self, out: &mut Vec<u8>) {
                $($crate::Field::write_flat(&self.$column, out); out.push(b'|');)+
                if let Some(last) = out.last_mut() {
                    *last = b'\n';
                }
            }

            fn with_values<T>(&self, f: impl FnOnce(&[$crate::Value<'_>]) -> T) -> T {
                f(&[$($crate::Field::value(&self.$column)),+])
            }
        }
    };
    (@nullable nullable) => { true };
    (@nullable check) => { false };
    (@check) => { None };
    (@check nullable) => { None };
    (@check check $condition:literal) => { Some($condition) };
}
