//! Rows from the generator's threads to an engine's loader.

use super::fingerprint::{
    Constraints, DATABASE_TABLE, Fingerprint, create_database_table, indexes, insert_fingerprint,
};
use crate::check::contents::{CREATE_DIGEST_TABLE, DigestReader, Digester, insert_digests, select_all};
use crate::workload::{Generator, Size, Workload};
use bourse_engine::{Engine, EngineError, Loader, RowExt as _};
use bourse_schema::{Batch, load_order};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Options of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Constraints to declare.
    pub constraints: Constraints,
    /// Threads that make rows, in addition to the one that writes them.
    pub threads: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { constraints: Constraints::Full, threads: 1 }
    }
}

/// Progress of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    /// The current phase.
    pub phase: LoadPhase,
    /// The table it is done to.
    pub table: &'static str,
    /// Rows written so far.
    pub rows: u64,
    /// Part of the load that is done, from 0 to 1: exact in rows, estimated in phases.
    pub done: f64,
}

/// Phase of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadPhase {
    /// Rows are written.
    Rows,
    /// Indexes are built.
    Indexes,
    /// Rows are counted.
    Counts,
    /// Rows are read back and compared with those that were generated.
    Contents,
    /// The engine's loader is finished, and the database synced.
    Finish,
}

impl LoadPhase {
    /// Part of a load's time before the phase, and in it: measured on SQLite with 1,000 customers and ten days, as nearly everywhere.
    const fn share(self) -> (f64, f64) {
        match self {
            Self::Rows => (0.0, 0.70),
            Self::Indexes => (0.70, 0.12),
            Self::Counts => (0.82, 0.03),
            Self::Contents => (0.85, 0.13),
            Self::Finish => (0.98, 0.02),
        }
    }
}

/// Result of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadReport {
    /// Parameters of the database.
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

/// Failure of a load. Nothing is left of the database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// The engine reported an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A table has another number of rows than required.
    #[error("{table} has {found} rows after loading, {wanted} were due")]
    Rows {
        /// Definition of the table.
        table: &'static str,
        /// Required number or range, as text.
        wanted: String,
        /// Number of rows found.
        found: u64,
    },
    /// A table has other rows than those that were written.
    #[error("{table} has other rows after loading than those that were written")]
    Contents {
        /// Definition of the table.
        table: &'static str,
    },
    /// The progress callback requested an end.
    #[error("loading was stopped")]
    Stopped,
}

/// Makes the rows of a part and loads them through an engine's loader, in place of any database that is there.
///
/// `progress` is called after each batch, and can stop the load.
///
/// # Errors
/// [`LoadError`]; what was there before then still is, if the engine can restore it.
pub fn load(
    engine: &dyn Engine,
    workload: &dyn Workload,
    generator: &dyn Generator,
    size: &Size,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    let loader = engine.loader()?;
    let work = workload.work(size);
    let mut loading = LoadInProgress {
        loader,
        workload,
        size,
        rows: BTreeMap::new(),
        digests: BTreeMap::new(),
        total: 0,
        work,
        done: 0.0,
        progress,
    };
    let fingerprint = Fingerprint::of(engine, workload, generator, size, options.constraints)?;
    let dialect = engine.sql()?.dialect();
    // Its row comes last, so that without it the load is known to be unfinished.
    loading.loader.run(&dialect.fill(&create_database_table(workload)))?;
    loading.loader.run(&dialect.fill(CREATE_DIGEST_TABLE))?;
    for table in load_order(workload.tables()) {
        let full = options.constraints == Constraints::Full;
        loading.loader.run(&bourse_schema::create_table(table, dialect, full))?;
    }
    generator.generate(size, options.threads.max(1), &mut |batch| loading.insert(batch))?;
    let indexes: Vec<_> = indexes(workload, dialect).collect();
    for (at, (table, statement)) in indexes.iter().enumerate() {
        loading.tell(LoadPhase::Indexes, table.name, at as f64 / indexes.len() as f64)?;
        loading.loader.run(statement)?;
    }
    workload.before_phase(LoadPhase::Counts, &mut *loading.loader)?;
    let rows = loading.count_rows()?;
    loading.compare_contents()?;
    workload.before_phase(LoadPhase::Finish, &mut *loading.loader)?;
    loading.tell(LoadPhase::Finish, DATABASE_TABLE, 0.0)?;
    loading.loader.run(&insert_fingerprint(&fingerprint))?;
    loading.loader.finish()?;
    Ok(LoadReport { fingerprint, rows })
}

struct LoadInProgress<'p> {
    loader: Box<dyn Loader>,
    workload: &'p dyn Workload,
    size: &'p Size,
    /// Rows written, by table.
    rows: BTreeMap<&'static str, u64>,
    /// Digests of the rows written, by table.
    digests: BTreeMap<&'static str, Digester>,
    total: u64,
    /// Work of the whole load, in the workload's units.
    work: f64,
    /// Part of the work that is done.
    done: f64,
    progress: &'p mut dyn FnMut(LoadProgress) -> ControlFlow<()>,
}

impl LoadInProgress<'_> {
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), LoadError> {
        self.loader.insert(batch)?;
        let table = batch.table().name;
        let lasting = self.workload.lasting(batch.table());
        self.digests.entry(table).or_insert_with(|| Digester::new(batch.table(), lasting)).add(batch)?;
        *self.rows.entry(table).or_default() += batch.len() as u64;
        self.total += batch.len() as u64;
        self.done += batch.len() as f64 * self.workload.work_of_row(batch.table()) / self.work;
        self.tell(LoadPhase::Rows, table, self.done)
    }

    /// Reports the progress of a phase: `done` of it, from 0 to 1.
    fn tell(&mut self, phase: LoadPhase, table: &'static str, done: f64) -> Result<(), LoadError> {
        let (before, share) = phase.share();
        let progress = LoadProgress { phase, table, rows: self.total, done: before + share * done.clamp(0.0, 1.0) };
        match (self.progress)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(LoadError::Stopped),
        }
    }

    /// Counts the rows in the engine, and compares them with those written and with the specification.
    fn count_rows(&mut self) -> Result<Vec<(&'static str, u64)>, LoadError> {
        let mut counted: Vec<(&'static str, u64)> = Vec::new();
        for table in load_order(self.workload.tables()) {
            let before: u64 = counted.iter().map(|(_, rows)| rows).sum();
            self.tell(LoadPhase::Counts, table.name, before as f64 / self.total as f64)?;
            let mut found: u64 = 0;
            self.loader.query(&format!("SELECT count(*) FROM {}", table.name), &mut |row| {
                found = row.get(0)?;
                Ok(())
            })?;
            let written = self.rows.get(table.name).copied().unwrap_or(0);
            let due = self.workload.rows(table, self.size).loaded;
            if found != written || !due.contains(&found) {
                let wanted = format!("{written} written and {} to {}", due.start(), due.end());
                return Err(LoadError::Rows { table: table.name, wanted, found });
            }
            counted.push((table.name, found));
        }
        Ok(counted)
    }

    /// Reads all rows back, compares them with those that were written, and stores the digests in the database.
    fn compare_contents(&mut self) -> Result<(), LoadError> {
        let mut compared = 0;
        for table in load_order(self.workload.tables()) {
            self.tell(LoadPhase::Contents, table.name, compared as f64 / self.total as f64)?;
            compared += self.rows.get(table.name).copied().unwrap_or(0);
            let written =
                self.digests.remove(table.name).unwrap_or_else(|| Digester::new(table, self.workload.lasting(table)));
            let written = written.contents();
            let mut reader = DigestReader::whole(table);
            self.loader.query(&select_all(table), &mut |row| reader.add(row))?;
            if reader.digest() != written.whole {
                return Err(LoadError::Contents { table: table.name });
            }
            self.loader.run(&insert_digests(&written))?;
        }
        Ok(())
    }
}
