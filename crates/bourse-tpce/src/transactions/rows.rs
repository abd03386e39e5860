//! Shorter ways to run a statement: typed rows, and row counts that are checked.

use super::FrameError;
use bourse_engine::{EngineError, FromValue, Row, RowExt as _, Session, SessionExt as _, Sql, Value};

/// A type that can be read from a row of a result.
pub(super) trait FromRow: Sized {
    fn from_row(row: &dyn Row) -> Result<Self, EngineError>;
}

/// Columns of a row from left to right.
pub(super) struct Columns<'r> {
    row: &'r dyn Row,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn of(row: &'r dyn Row) -> Self {
        Self { row, next: 0 }
    }

    pub(super) fn take<T: FromValue>(&mut self) -> Result<T, EngineError> {
        self.next += 1;
        self.row.get(self.next - 1)
    }
}

/// Declares structs that are read from the columns of a row in the order of their fields.
macro_rules! rows {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident { $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty,)+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name { $($(#[$doc])* $field_vis $field: $type,)+ }

        impl $crate::transactions::rows::FromRow for $name {
            fn from_row(row: &dyn bourse_engine::Row) -> Result<Self, bourse_engine::EngineError> {
                let mut columns = $crate::transactions::rows::Columns::of(row);
                Ok(Self { $($field: columns.take()?),+ })
            }
        }
    )+};
}
pub(super) use rows;

macro_rules! tuple {
    ($($type:ident),+) => {
        impl<$($type: FromValue),+> FromRow for ($($type,)+) {
            fn from_row(row: &dyn Row) -> Result<Self, EngineError> {
                let mut columns = Columns::of(row);
                Ok(($(columns.take::<$type>()?,)+))
            }
        }
    };
}
tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// All rows.
pub(super) fn all<T: FromRow>(
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
) -> Result<Vec<T>, FrameError> {
    Ok(db.all(sql, params, |row| T::from_row(row))?)
}

/// The first row, if there is one.
pub(super) fn first<T: FromRow>(
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
) -> Result<Option<T>, FrameError> {
    Ok(db.first(sql, params, |row| T::from_row(row))?)
}

/// The one row there must be.
pub(super) fn one<T: FromRow>(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<T, FrameError> {
    let mut found = 0;
    let mut kept = None;
    db.query(sql, params, &mut |row| {
        found += 1;
        if found == 1 {
            kept = Some(T::from_row(row)?);
        }
        Ok(())
    })?;
    kept.filter(|_| found == 1).ok_or_else(|| FrameError::rows(sql, 1, found))
}

/// A change of exactly one row.
pub(super) fn change_one(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<(), FrameError> {
    match db.execute(sql, params)? {
        1 => Ok(()),
        found => Err(FrameError::rows(sql, 1, found)),
    }
}

/// A change of any number of rows, which is returned.
pub(super) fn change(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, FrameError> {
    Ok(db.execute(sql, params)?)
}

/// Parameters for a statement with a list of `N` values: what is not used is NULL, which equals nothing.
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
