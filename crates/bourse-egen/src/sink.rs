use bourse_schema::TableRow;

/// Sink of generated rows.
///
/// Generic over the row so that a flat line is formatted, or a row stored, without a virtual call.
pub trait RowSink {
    /// Takes one row.
    fn row<R: TableRow>(&mut self, row: R);

    /// A buffer that takes ready lines of the reference's flat file instead of rows, if that is what the sink makes of
    /// them anyway. The two largest tables are printed faster than row by row.
    fn lines<R: TableRow>(&mut self) -> Option<&mut Vec<u8>> {
        None
    }

    /// Called after a bounded number of rows, so that the sink can pass on what it holds.
    ///
    /// # Errors
    /// [`Stopped`] if it wants no more rows.
    fn chunk_end(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// A sink wants no more rows: its own state says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the generator was told to stop")]
pub struct Stopped;
