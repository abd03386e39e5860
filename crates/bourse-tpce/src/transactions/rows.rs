//! Shorter ways to run a statement: typed rows, and row counts that are checked.

use super::FrameError;
use bourse_engine::{FromValue, Params, Result, Row, Session, Sql, Value};

/// A type that is read from a row of a result, in place: rows are wide, so a list of them is filled without copies of single
/// rows.
pub(super) trait FromRow: Default {
    /// Reads the columns from index `first` on.
    fn read_from(&mut self, first: usize, row: &dyn Row) -> Result<()>;

    #[inline]
    fn read(&mut self, row: &dyn Row) -> Result<()> {
        self.read_from(0, row)
    }
}

/// Declares structs that are read from the columns of a row in the order of their fields.
macro_rules! rows {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty,)+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        $vis struct $name { $($(#[$doc])* $field_vis $field: $type,)+ }

        impl $crate::transactions::rows::FromRow for $name {
            #[inline]
            fn read_from(
                &mut self,
                first: usize,
                row: &dyn bourse_engine::Row,
            ) -> bourse_engine::Result<()> {
                $crate::transactions::rows::columns!(self first row; $($field)+);
                Ok(())
            }
        }
    )+};
}
pub(super) use rows;

/// Reads columns from index `$first` on, from left to right, into the fields of `$place`.
macro_rules! columns {
    ($place:ident $first:ident $row:ident; $($field:tt)+) => {
        let mut column = $first;
        $(
            bourse_engine::RowExt::read_into($row, column, &mut $place.$field)?;
            column += 1;
        )+
        let _ = column;
    };
}
pub(super) use columns;

macro_rules! tuple {
    ($($type:ident $field:tt),+) => {
        impl<$($type: FromValue + Default),+> FromRow for ($($type,)+) {
            #[inline]
            fn read_from(&mut self, first: usize, row: &dyn Row) -> Result<()> {
                columns!(self first row; $($field)+);
                Ok(())
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

/// All rows.
pub(super) fn all<T: FromRow>(
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
) -> Result<Vec<T>, FrameError> {
    // Most lists of the transactions fit.
    about(24, db, sql, params)
}

/// All rows, with room for their usual number: a list with enough room is not moved while it grows.
pub(super) fn about<T: FromRow>(
    rows: usize,
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
) -> Result<Vec<T>, FrameError> {
    let mut found = Vec::with_capacity(rows);
    db.query(sql, Params::of(params), &mut |row| {
        let next = found.len();
        found.resize_with(next + 1, T::default);
        found[next].read(row)
    })?;
    Ok(found)
}

/// The first row, if there is one.
pub(super) fn first<T: FromRow>(
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
) -> Result<Option<T>, FrameError> {
    let mut found = None;
    db.query(sql, Params::of(params), &mut |row| match found {
        None => found.insert(T::default()).read(row),
        Some(_) => Ok(()),
    })?;
    Ok(found)
}

/// The one row there must be.
pub(super) fn one<T: FromRow>(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<T, FrameError> {
    let mut found = 0;
    let mut kept = T::default();
    db.query(sql, Params::of(params), &mut |row| {
        found += 1;
        if found == 1 { kept.read(row) } else { Ok(()) }
    })?;
    if found == 1 { Ok(kept) } else { Err(FrameError::rows(sql, 1, found)) }
}

/// Changes exactly one row.
pub(super) fn change_one(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<(), FrameError> {
    match db.change_one(sql, Params::of(params))? {
        1 => Ok(()),
        found => Err(FrameError::rows(sql, 1, found)),
    }
}

/// Changes any number of rows, which is returned.
pub(super) fn change(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, FrameError> {
    Ok(db.execute(sql, Params::of(params))?)
}

/// Parameters for a statement with a list of `N` values: unused ones are NULL, which equals nothing.
pub(super) fn list<'a, const N: usize, T>(values: impl IntoIterator<Item = T>) -> [Value<'a>; N]
where
    Value<'a>: From<T>,
{
    let mut params = [Value::Null; N];
    for (param, value) in params.iter_mut().zip(values) {
        *param = value.into();
    }
    params
}
