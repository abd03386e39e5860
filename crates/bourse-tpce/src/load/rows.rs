//! Rows from the generator's threads to an engine's loader.

use super::fingerprint::{
    CREATE_DATABASE_TABLE, Constraints, DATABASE_TABLE, Fingerprint, indexes, insert_fingerprint,
};
use crate::check::contents::{CREATE_DIGEST_TABLE, Digester, Reader, insert_digests, select_all};
use crate::check::counts;
use crate::planted::planted;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, EngineError, Loader, RowExt as _};
use bourse_gen::BatchOptions;
use bourse_schema::Batch;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Options of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which constraints to declare.
    pub constraints: Constraints,
    /// Threads that make rows, besides the one that writes them.
    pub threads: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { constraints: Constraints::Full, threads: 1 }
    }
}

/// Progress of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// The table it is done to.
    pub table: &'static str,
    /// Rows written so far.
    pub rows: u64,
    /// Rows that there will be, about.
    pub rows_expected: u64,
}

/// Phase of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Rows are written.
    Rows,
    /// Indexes are built.
    Indexes,
    /// Rows are counted.
    Counts,
    /// Rows are read back and compared with those that were generated.
    Contents,
    /// The database is made to last.
    Finish,
}

/// Result of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadReport {
    /// What the database is made of.
    pub fingerprint: Fingerprint,
    /// Rows of each table, in the order of loading.
    pub rows: Vec<(&'static str, u64)>,
}

impl LoadReport {
    /// Rows of all tables.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|(_, rows)| rows).sum()
    }
}

/// Why a database could not be loaded. Nothing is left of it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A table has another number of rows than it must.
    #[error("{table} has {found} rows after loading, {wanted} were due")]
    Rows {
        /// The table.
        table: &'static str,
        /// How many there must be, in words.
        wanted: String,
        /// Number of rows found.
        found: u64,
    },
    /// A table has other rows than those that were written.
    #[error("{table} has other rows after loading than those that were written")]
    Contents {
        /// The table.
        table: &'static str,
    },
    /// Whoever is told of progress asked for an end.
    #[error("loading was stopped")]
    Stopped,
}

/// Makes the rows of a part and loads them through an engine's loader, in the place of whatever is there.
///
/// `progress` is told after each batch, and can stop the load.
///
/// # Errors
/// [`LoadError`]; what was there before then still is, where the engine can keep it.
pub fn load(
    engine: &dyn Engine,
    inputs: &Inputs,
    part: Part,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    let loader = engine.loader()?;
    let mut loading = Loading { loader, rows: BTreeMap::new(), digests: BTreeMap::new(), total: 0, part, progress };
    let fingerprint = Fingerprint::of(engine, inputs, part, options.constraints)?;
    let dialect = engine.sql()?.dialect();
    // Its row comes last, so that without it the load is known to be unfinished.
    loading.loader.run(&dialect.fill(CREATE_DATABASE_TABLE))?;
    loading.loader.run(CREATE_DIGEST_TABLE)?;
    for table in bourse_schema::load_order() {
        let full = options.constraints == Constraints::Full;
        loading.loader.run(&bourse_schema::create_table(table, dialect, full))?;
    }
    let generation = BatchOptions { tables: None, threads: options.threads.max(1) };
    bourse_gen::batches(inputs, part, &generation, |batch| loading.insert(&*batch))?;
    for (table, statement) in indexes(dialect) {
        loading.tell(Phase::Indexes, table.name)?;
        loading.loader.run(&statement)?;
    }
    planted!(LoaderLosesRowEarly: loading.loader.run(crate::planted::LOSE_WATCH_ITEM)?; ());
    let rows = loading.count_rows()?;
    loading.compare_contents()?;
    planted!(LoaderLosesRowLate: loading.loader.run(crate::planted::LOSE_WATCH_ITEM)?; ());
    planted!(LoaderAltersPrices: loading.loader.run(crate::planted::ALTER_PRICES)?; ());
    loading.tell(Phase::Finish, DATABASE_TABLE)?;
    loading.loader.run(&insert_fingerprint(&fingerprint))?;
    loading.loader.finish()?;
    Ok(LoadReport { fingerprint, rows })
}

struct Loading<'p> {
    loader: Box<dyn Loader>,
    /// Rows written, by table.
    rows: BTreeMap<&'static str, u64>,
    /// Digests of the rows written, by table.
    digests: BTreeMap<&'static str, Digester>,
    total: u64,
    part: Part,
    progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Loading<'_> {
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), LoadError> {
        self.loader.insert(batch)?;
        let table = batch.table().name;
        self.digests.entry(table).or_insert_with(|| Digester::new(batch.table())).add(batch)?;
        *self.rows.entry(table).or_default() += batch.len() as u64;
        self.total += batch.len() as u64;
        self.tell(Phase::Rows, table)
    }

    fn tell(&mut self, phase: Phase, table: &'static str) -> Result<(), LoadError> {
        let progress = Progress {
            phase,
            table,
            rows: self.total,
            rows_expected: counts::expected_rows(self.part).max(self.total),
        };
        match (self.progress)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(LoadError::Stopped),
        }
    }

    /// Counts the rows that the engine has, and compares them with what was written and with what the specification says.
    fn count_rows(&mut self) -> Result<Vec<(&'static str, u64)>, LoadError> {
        let mut counted = Vec::new();
        for table in bourse_schema::load_order() {
            self.tell(Phase::Counts, table.name)?;
            let mut found: u64 = 0;
            self.loader.query(&format!("SELECT count(*) FROM {}", table.name), &mut |row| {
                found = row.get(0)?;
                Ok(())
            })?;
            let written = self.rows.get(table.name).copied().unwrap_or(0);
            let due = counts::loaded_rows(table, self.part);
            if found != written || !due.contains(&found) {
                let wanted = format!("{written} written and {} to {}", due.start(), due.end());
                return Err(LoadError::Rows { table: table.name, wanted, found });
            }
            counted.push((table.name, found));
        }
        Ok(counted)
    }

    /// Reads all rows back, compares them with those that were written, and keeps the digests in the database.
    fn compare_contents(&mut self) -> Result<(), LoadError> {
        for table in bourse_schema::load_order() {
            self.tell(Phase::Contents, table.name)?;
            let written = self.digests.remove(table.name).unwrap_or_else(|| Digester::new(table)).contents();
            let mut reader = Reader::whole(table);
            self.loader.query(&select_all(table), &mut |row| reader.add(row))?;
            if reader.digest() != written.whole {
                return Err(LoadError::Contents { table: table.name });
            }
            self.loader.run(&insert_digests(&written))?;
        }
        Ok(())
    }
}
