//! Fingerprint of a database, its parameters of generation, and the row in it that stores them.

use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part, PartError};
use bourse_engine::{Engine, EngineError, RowExt as _, Session};
use bourse_schema::{Dialect, Table};
use std::fmt;

/// Constraints of the specification that the database declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Constraints {
    /// Primary keys, foreign keys and checks, as the specification demands.
    #[default]
    Full,
    /// Primary keys only.
    KeysOnly,
}

impl Constraints {
    /// Name in options, reports and the database itself.
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

/// Version of the generator, raised whenever it makes other rows from the same inputs.
const GENERATOR_VERSION: i64 = 1;

/// Parameters that a database was generated with. Two databases of the same fingerprint were loaded with the same rows.
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
    /// Declared constraints.
    pub constraints: Constraints,
}

impl Fingerprint {
    /// Fingerprint of a database as it would be loaded on an engine.
    ///
    /// # Errors
    /// [`Unsupported`](bourse_engine::ErrorKind::Unsupported) without SQL.
    pub fn of(engine: &dyn Engine, inputs: &Inputs, part: Part, constraints: Constraints) -> Result<Self, EngineError> {
        let mut schema = Fnv::new();
        for statement in definitions(engine.sql()?.dialect(), constraints) {
            schema.add(statement.as_bytes());
        }
        Ok(Self {
            schema: format!("{:016x}", schema.0),
            generator: GENERATOR_VERSION,
            part,
            inputs: format!("{:032x}", inputs.fingerprint()),
            constraints,
        })
    }

    /// The database as the emulators take it.
    pub const fn database(&self) -> Database {
        Database::of(self.part.total_customers(), self.part.scale_factor(), self.part.days())
    }

    /// Differences from another fingerprint, a sentence each.
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

fn definitions(dialect: &'static Dialect, constraints: Constraints) -> impl Iterator<Item = String> {
    let full = constraints == Constraints::Full;
    let tables = bourse_schema::load_order(bourse_schema::tables::all()).into_iter();
    let tables = tables.map(move |table| bourse_schema::create_table(table, dialect, full));
    tables.chain(indexes(dialect).map(|(_, statement)| statement))
}

/// The statements that build each table's indexes.
pub(super) fn indexes(dialect: &'static Dialect) -> impl Iterator<Item = (&'static Table, String)> {
    let of = move |table: &'static Table| {
        table.indexes.iter().map(move |index| (table, bourse_schema::create_index(table, index, dialect)))
    };
    bourse_schema::load_order(bourse_schema::tables::all()).into_iter().flat_map(of)
}

/// Name of the table with one row, written when a load ends. It has a key for replicated databases, which refuse tables
/// without one.
pub(super) const DATABASE_TABLE: &str = "bourse_database";
pub(super) const CREATE_DATABASE_TABLE: &str = "CREATE TABLE bourse_database (
    schema_hash VARCHAR(32) NOT NULL,
    generator BIGINT NOT NULL,
    first_customer BIGINT NOT NULL PRIMARY KEY,
    customers BIGINT NOT NULL,
    total_customers BIGINT NOT NULL,
    scale_factor BIGINT NOT NULL,
    days BIGINT NOT NULL,
    inputs_hash VARCHAR(32) NOT NULL,
    {constraints} VARCHAR(32) NOT NULL
)";
const SELECT_FINGERPRINT: &str =
    "SELECT schema_hash, generator, first_customer, customers, total_customers, scale_factor,
    days, inputs_hash, {constraints} FROM bourse_database";

pub(super) fn insert_fingerprint(fingerprint: &Fingerprint) -> String {
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

/// The rows of the table: each a fingerprint, or the reason why it is invalid.
pub(super) fn read_fingerprints(session: &mut dyn Session) -> Result<Vec<Result<Fingerprint, String>>, EngineError> {
    let mut found = Vec::new();
    let sql = session.dialect().fill(SELECT_FINGERPRINT);
    session.query_text(&sql, &[], &mut |row| {
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
