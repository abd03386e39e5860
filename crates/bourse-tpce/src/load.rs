//! Loading a database straight from the generator, and knowing one again.
//!
//! Rows go from the generator's threads to the engine's loader with no file between; indexes are built after the rows.
//! Along with the 33 tables a database gets one row in `bourse_database` that says what it was made of, written last: so a
//! run can tell its own database from somebody else's, from one of another size, and from one that was not finished.
//!
//! No statistics are gathered after loading: every join of the transactions is written in its order of execution and every
//! other choice is between a key and nothing, so plans are the same on every database and cannot change as it grows.

use crate::check::counts;
use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part, PartError};
use bourse_engine::{Engine, EngineError, ErrorKind, Loader, RowExt as _, Session};
use bourse_gen::BatchOptions;
use bourse_schema::{Batch, Table, TradeId, tables};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

/// Which of the specification's constraints the database declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Constraints {
    /// Primary keys, foreign keys and checks, as the specification demands.
    #[default]
    Full,
    /// Primary keys only.
    KeysOnly,
}

impl Constraints {
    /// The word for options, reports and the database itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::KeysOnly => "keys only",
        }
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Changed whenever the generator makes other rows of the same inputs.
const GENERATOR_VERSION: i64 = 1;

/// What a database was made of. Two databases of the same fingerprint were loaded with the same rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// A hash of all tables, keys, constraints and indexes in the engine's dialect.
    pub schema: String,
    /// The generator's version.
    pub generator: i64,
    /// The customers, and the days of trades.
    pub part: Part,
    /// A hash of the generator's input data.
    pub inputs: String,
    /// Which constraints are declared.
    pub constraints: Constraints,
}

impl Fingerprint {
    /// Of a database as it would be loaded on an engine.
    pub fn of(engine: &dyn Engine, inputs: &Inputs, part: Part, constraints: Constraints) -> Self {
        let mut schema = Fnv::new();
        for statement in definitions(engine, constraints) {
            schema.add(statement.as_bytes());
        }
        Self {
            schema: format!("{:016x}", schema.0),
            generator: GENERATOR_VERSION,
            part,
            inputs: format!("{:032x}", inputs.fingerprint()),
            constraints,
        }
    }

    /// The database as the emulators ask about it.
    pub const fn database(&self) -> Database {
        Database::of(self.part.total_customers(), self.part.scale_factor(), self.part.days())
    }

    /// What is different in another, in words.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let pairs = [
            ("first customer", self.part.first_customer().to_string(), other.part.first_customer().to_string()),
            ("customers", self.part.customers().to_string(), other.part.customers().to_string()),
            ("customers in all", self.part.total_customers().to_string(), other.part.total_customers().to_string()),
            ("scale factor", self.part.scale_factor().to_string(), other.part.scale_factor().to_string()),
            ("initial trade days", self.part.days().to_string(), other.part.days().to_string()),
            ("input data", self.inputs.clone(), other.inputs.clone()),
            ("constraints", self.constraints.to_string(), other.constraints.to_string()),
            ("schema", self.schema.clone(), other.schema.clone()),
            ("generator version", self.generator.to_string(), other.generator.to_string()),
        ];
        let differs = |(_, ours, theirs): &(&str, String, String)| ours != theirs;
        let words = |(what, ours, theirs)| format!("{what}: {ours} wanted, {theirs} found");
        pairs.into_iter().filter(differs).map(words).collect()
    }
}

/// FNV-1a in 64 bits: enough to notice that a schema has changed, and the same on every machine.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn definitions(engine: &dyn Engine, constraints: Constraints) -> impl Iterator<Item = String> {
    let dialect = engine.dialect();
    let full = constraints == Constraints::Full;
    let tables = bourse_schema::load_order().into_iter();
    let tables = tables.map(move |table| bourse_schema::create_table(table, dialect, full));
    tables.chain(indexes().map(|(_, statement)| statement))
}

fn indexes() -> impl Iterator<Item = (&'static Table, String)> {
    let of = |table: &'static Table| {
        table.indexes.iter().map(move |index| (table, bourse_schema::create_index(table, index)))
    };
    bourse_schema::load_order().into_iter().flat_map(of)
}

/// How to load.
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

/// How far a load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// The table it is done to.
    pub table: &'static str,
    /// Rows written so far.
    pub rows: u64,
    /// Rows that there will be, about.
    pub rows_expected: u64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Rows are written.
    Rows,
    /// Indexes are built.
    Indexes,
    /// Rows are counted.
    Counts,
    /// The database is made to last.
    Finish,
}

/// What was loaded.
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
        /// How many there are.
        found: u64,
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
    let mut loading = Loading { loader: engine.loader()?, rows: BTreeMap::new(), total: 0, part, progress };
    let fingerprint = Fingerprint::of(engine, inputs, part, options.constraints);
    let dialect = engine.dialect();
    // Its row comes last, so that without it the load is known to be unfinished.
    loading.loader.run(CREATE_DATABASE_TABLE)?;
    for table in bourse_schema::load_order() {
        let full = options.constraints == Constraints::Full;
        loading.loader.run(&bourse_schema::create_table(table, dialect, full))?;
    }
    let generation = BatchOptions { tables: None, threads: options.threads.max(1) };
    bourse_gen::batches(inputs, part, &generation, |batch| loading.insert(&*batch))?;
    for (table, statement) in indexes() {
        loading.tell(Phase::Indexes, table.name)?;
        loading.loader.run(&statement)?;
    }
    let rows = loading.count_rows()?;
    loading.tell(Phase::Finish, DATABASE_TABLE)?;
    loading.loader.run(&insert_fingerprint(&fingerprint))?;
    loading.loader.finish()?;
    Ok(LoadReport { fingerprint, rows })
}

struct Loading<'p> {
    loader: Box<dyn Loader>,
    /// Rows written, by table.
    rows: BTreeMap<&'static str, u64>,
    total: u64,
    part: Part,
    progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Loading<'_> {
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), LoadError> {
        self.loader.insert(batch)?;
        let table = batch.table().name;
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
}

const DATABASE_TABLE: &str = "bourse_database";
const CREATE_DATABASE_TABLE: &str = "CREATE TABLE bourse_database (
    schema_hash VARCHAR(32) NOT NULL,
    generator BIGINT NOT NULL,
    first_customer BIGINT NOT NULL,
    customers BIGINT NOT NULL,
    total_customers BIGINT NOT NULL,
    scale_factor BIGINT NOT NULL,
    days BIGINT NOT NULL,
    inputs_hash VARCHAR(32) NOT NULL,
    constraints VARCHAR(32) NOT NULL
)";
const SELECT_FINGERPRINT: &str =
    "SELECT schema_hash, generator, first_customer, customers, total_customers, scale_factor,
    days, inputs_hash, constraints FROM bourse_database";

fn insert_fingerprint(fingerprint: &Fingerprint) -> String {
    let Fingerprint { schema, generator, part, inputs, constraints } = fingerprint;
    format!(
        "INSERT INTO bourse_database VALUES ('{schema}', {generator}, {}, {}, {}, {}, {}, '{inputs}', '{constraints}')",
        part.first_customer(),
        part.customers(),
        part.total_customers(),
        part.scale_factor(),
        part.days()
    )
}

/// What lies at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existing {
    /// Nothing.
    Absent,
    /// Something that is not a database of ours, with the reason.
    Foreign(String),
    /// A load that did not end.
    Unfinished,
    /// A database of ours made of something else.
    Differs {
        /// What it is made of.
        found: Fingerprint,
        /// What is different, in words.
        differences: Vec<String>,
    },
    /// The database that is wanted.
    Matches(Found),
}

/// A database of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it was made of.
    pub fingerprint: Fingerprint,
    /// Trades it has now.
    pub trades: u64,
}

impl Found {
    /// Trades that were loaded.
    pub fn initial_trades(&self) -> u64 {
        let part = self.fingerprint.part;
        (part.trades_per_load_unit() * part.load_units()) as u64
    }

    /// Trades it has gained in earlier runs, canceled ones included.
    pub fn gained(&self) -> u64 {
        self.trades.saturating_sub(self.initial_trades())
    }

    /// The first number behind those of the initial trades: where new trades begin, and where Trade-Cleanup looks for
    /// unfinished ones.
    pub fn first_free_trade(&self) -> TradeId {
        self.fingerprint.database().first_free_trade()
    }
}

impl fmt::Display for Existing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "there is no database"),
            Self::Foreign(why) => write!(f, "not a database of bourse: {why}"),
            Self::Unfinished => write!(f, "a database of bourse whose loading did not end"),
            Self::Differs { differences, .. } => {
                write!(f, "a database of bourse made of something else: {}", differences.join("; "))
            }
            Self::Matches(found) => match found.gained() {
                0 => write!(f, "a fresh database"),
                gained => write!(f, "a database that earlier runs have added {gained} trades to"),
            },
        }
    }
}

/// What lies at an engine's target, compared with what is wanted.
///
/// # Errors
/// The engine's, if it cannot even be asked.
pub fn examine(engine: &dyn Engine, wanted: &Fingerprint) -> Result<Existing, EngineError> {
    Ok(match identify(engine)? {
        Existing::Matches(found) if found.fingerprint != *wanted => {
            let differences = wanted.differences(&found.fingerprint);
            Existing::Differs { found: found.fingerprint, differences }
        }
        other => other,
    })
}

/// What lies at an engine's target, whatever it is made of: never [`Existing::Differs`].
///
/// # Errors
/// The engine's, if it cannot even be asked.
pub fn identify(engine: &dyn Engine) -> Result<Existing, EngineError> {
    if !engine.exists()? {
        return Ok(Existing::Absent);
    }
    let mut session = engine.connect()?;
    let fingerprints = match read_fingerprints(&mut *session) {
        Ok(fingerprints) => fingerprints,
        // An engine says that there is no such table as it says anything that it cannot do.
        Err(error) if matches!(error.kind(), ErrorKind::Other | ErrorKind::Unsupported) => {
            return Ok(Existing::Foreign(error.message().to_owned()));
        }
        Err(error) => return Err(error),
    };
    let fingerprint = match fingerprints.into_iter().next() {
        None => return Ok(Existing::Unfinished),
        Some(Err(why)) => return Ok(Existing::Foreign(why)),
        Some(Ok(fingerprint)) => fingerprint,
    };
    let mut trades = 0;
    session.query_text(&format!("SELECT count(*) FROM {}", trade_table().name), &[], &mut |row| {
        trades = row.get(0)?;
        Ok(())
    })?;
    Ok(Existing::Matches(Found { fingerprint, trades }))
}

fn trade_table() -> &'static Table {
    use bourse_schema::TableRow as _;
    tables::Trade::table()
}

fn read_fingerprints(session: &mut dyn Session) -> Result<Vec<Result<Fingerprint, String>>, EngineError> {
    let mut found = Vec::new();
    session.query_text(SELECT_FINGERPRINT, &[], &mut |row| {
        let part: Result<Part, PartError> = Part::new(row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?);
        let constraints: String = row.get(8)?;
        let constraints = [Constraints::Full, Constraints::KeysOnly].into_iter().find(|one| one.name() == constraints);
        found.push(match (part, constraints) {
            (Ok(part), Some(constraints)) => {
                Ok(Fingerprint { schema: row.get(0)?, generator: row.get(1)?, part, inputs: row.get(7)?, constraints })
            }
            (Err(why), _) => Err(why.to_string()),
            (_, None) => Err(format!("unknown constraints in {DATABASE_TABLE}")),
        });
        Ok(())
    })?;
    Ok(found)
}
