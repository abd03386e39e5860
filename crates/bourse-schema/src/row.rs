use crate::{Table, Value};

/// A row of a declared table.
///
/// ```
/// use bourse_schema::{SectorId, TableRow, Text, Value, tables::Sector};
/// let row = Sector { sc_id: SectorId::cut("EN"), sc_name: Text::cut("Energy") };
/// let mut line = Vec::new();
/// row.write_flat(&mut line);
/// assert_eq!(line, b"EN|Energy\n");
/// row.with_values(|values| assert_eq!(values, [Value::Text("EN"), Value::Text("Energy")]));
/// ```
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
///
/// ```
/// use bourse_schema::{Batch, Rows, SectorId, Text, tables::Sector};
/// let rows = Rows(vec![Sector { sc_id: SectorId::cut("EN"), sc_name: Text::cut("Energy") }]);
/// let batch: &dyn Batch = &rows;
/// assert_eq!((batch.table().name, batch.len()), ("sector", 1));
/// ```
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
