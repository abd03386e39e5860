//! Loaders of embedded engines: rows on a connection of their own, and a last step that makes them visible.

use crate::{Batch, EachRow, Loader, Result};

/// Rows being loaded through a connection to a new database.
pub trait IncomingRows {
    /// Runs a statement, after the rows before it: see [`Loader::run`].
    ///
    /// # Errors
    /// The engine's.
    fn run(&mut self, sql: &str) -> Result<()>;

    /// Adds rows: see [`Loader::insert`].
    ///
    /// # Errors
    /// The engine's.
    fn insert(&mut self, batch: &dyn Batch) -> Result<()>;

    /// Runs a query, after the rows before it: see [`Loader::query`].
    ///
    /// # Errors
    /// The engine's.
    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()>;
}

/// Loader of rows with a last step, dropped in this order: what the step has captured removes an unfinished load.
struct RowsLoader<R, F> {
    rows: R,
    finish: F,
}

/// Loader whose rows are made visible by `finish`; what `finish` captures is dropped after the rows of a load that ends early.
pub fn rows_loader<R: IncomingRows + 'static>(
    rows: R,
    finish: impl FnOnce(R) -> Result<()> + 'static,
) -> Box<dyn Loader> {
    Box::new(RowsLoader { rows, finish })
}

impl<R: IncomingRows, F: FnOnce(R) -> Result<()>> Loader for RowsLoader<R, F> {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.rows.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        self.rows.insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.rows.query(sql, each)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Self { rows, finish } = *self;
        finish(rows)
    }
}
