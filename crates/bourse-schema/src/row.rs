use crate::{Table, Value};

/// A row of a declared table.
pub trait TableRow: Clone + Send + Sync + 'static {
    /// SQL name of the table, as a constant.
    const NAME: &'static str;

    /// Declaration of the table.
    fn table() -> &'static Table;

    /// Appends the line of the reference generator's flat file: fields in order, `|` between them, a line feed at the
    /// end.
    fn write_flat(&self, out: &mut Vec<u8>);

    /// Calls `f` with the values in column order.
    fn with_values<T>(&self, f: impl FnOnce(&[Value<'_>]) -> T) -> T;
}

/// Rows of one table with the row type erased: the form in which generated rows are passed to a loader.
pub trait Batch: Send {
    /// Declaration of the rows' table.
    fn table(&self) -> &'static Table;

    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the values of row `index`, in column order.
    ///
    /// # Panics
    /// Panics if there is no such row.
    fn with_row(&self, index: usize, f: &mut dyn FnMut(&[Value<'_>]));
}

/// Rows of one type as a [`Batch`].
#[derive(Debug, Clone, Default)]
pub struct Rows<R>(pub Vec<R>);

impl<R: TableRow> Batch for Rows<R> {
    fn table(&self) -> &'static Table {
        R::table()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn with_row(&self, index: usize, f: &mut dyn FnMut(&[Value<'_>])) {
        self.0[index].with_values(|values| f(values));
    }
}
