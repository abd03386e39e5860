use bourse_schema::TableRow;

/// Sink of generated rows.
///
/// The method is generic over the row so that a flat line is formatted, or a row stored, without a virtual call.
pub trait RowSink {
    /// Takes one row.
    fn row<R: TableRow>(&mut self, row: R);

    /// Buffer for complete lines of the reference's flat file, for a sink that would write rows as such lines anyway.
    /// The two largest tables are printed faster than row by row.
    fn lines<R: TableRow>(&mut self) -> Option<&mut Vec<u8>> {
        None
    }

    /// Marks the end of a bounded number of rows, so that the sink can pass on its buffer.
    ///
    /// # Errors
    /// [`SinkStopped`] if it accepts no more rows.
    fn chunk_end(&mut self) -> Result<(), SinkStopped> {
        Ok(())
    }
}

/// Signal that a sink accepts no more rows; its own state has the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the generator was told to stop")]
pub struct SinkStopped;
