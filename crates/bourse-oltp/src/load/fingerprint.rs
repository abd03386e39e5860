//! Fingerprint of a database, its parameters of generation, and the row in it that stores them.

use crate::workload::{Generator, Size, SizeColumn, Workload};
use bourse_engine::{Engine, Result, RowExt as _, Session};
use bourse_schema::{Dialect, Table, load_order};
use serde::{Deserialize, Serialize};

bourse_engine::named! {
    /// Constraints of the workload that a database declares.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    pub enum Constraints {
        /// Primary keys, foreign keys and checks.
        #[default]
        Full = "full",
        /// Primary keys only.
        KeysOnly = "keys only",
    }
}

/// Parameters that a database was generated with. Two databases of the same fingerprint were loaded with the same rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// A hash of all tables, keys, constraints and indexes in the engine's dialect.
    pub schema: String,
    /// The generator's version.
    pub generator: i64,
    /// Size of the database.
    pub size: Size,
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
    pub fn of(
        engine: &dyn Engine,
        workload: &dyn Workload,
        generator: &dyn Generator,
        size: &Size,
        constraints: Constraints,
    ) -> Result<Self> {
        let mut schema = Fnv::new();
        for statement in definitions(workload, engine.sql()?.dialect(), constraints) {
            schema.add(statement.as_bytes());
        }
        Ok(Self {
            schema: format!("{:016x}", schema.0),
            generator: generator.version(),
            size: size.clone(),
            inputs: generator.inputs(),
            constraints,
        })
    }

    /// Differences from another fingerprint of the same workload, each as a sentence.
    pub fn differences(&self, workload: &dyn Workload, other: &Self) -> Vec<String> {
        let sizes = workload.size_columns().iter().zip(&self.size.0).zip(&other.size.0);
        let sizes = sizes.map(|((column, ours), theirs)| (column.name, ours.to_string(), theirs.to_string()));
        let others = [
            ("input data", self.inputs.clone(), other.inputs.clone()),
            ("constraints", self.constraints.to_string(), other.constraints.to_string()),
            ("schema", self.schema.clone(), other.schema.clone()),
            ("generator version", self.generator.to_string(), other.generator.to_string()),
        ];
        let differs = |(_, ours, theirs): &(&str, String, String)| ours != theirs;
        let words = |(what, ours, theirs)| format!("{what}: {ours} wanted, {theirs} found");
        sizes.chain(others).filter(differs).map(words).collect()
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

fn definitions(
    workload: &dyn Workload,
    dialect: &'static Dialect,
    constraints: Constraints,
) -> impl Iterator<Item = String> {
    let full = constraints == Constraints::Full;
    let tables = load_order(workload.tables()).into_iter();
    let tables = tables.map(move |table| bourse_schema::create_table(table, dialect, full));
    tables.chain(indexes(workload, dialect).map(|(_, statement)| statement))
}

/// The statements that build each table's indexes.
pub(super) fn indexes(
    workload: &dyn Workload,
    dialect: &'static Dialect,
) -> impl Iterator<Item = (&'static Table, String)> + use<> {
    let of = move |table: &'static Table| {
        table.indexes.iter().map(move |index| (table, bourse_schema::create_index(table, index, dialect)))
    };
    load_order(workload.tables()).into_iter().flat_map(of)
}

/// Name of the table with one row, written when a load ends. It has a key for replicated databases, which refuse tables
/// without one.
pub(super) const DATABASE_TABLE: &str = "bourse_database";

pub(super) fn create_database_table(workload: &dyn Workload) -> String {
    let mut columns = vec!["schema_hash VARCHAR(32) NOT NULL".to_owned(), "generator BIGINT NOT NULL".to_owned()];
    for (at, SizeColumn { column, .. }) in workload.size_columns().iter().enumerate() {
        columns.push(format!("{column} BIGINT NOT NULL{}", if at == 0 { " PRIMARY KEY" } else { "" }));
    }
    columns.push("inputs_hash VARCHAR(32) NOT NULL".to_owned());
    columns.push("{constraints} VARCHAR(32) NOT NULL".to_owned());
    format!("CREATE TABLE {DATABASE_TABLE} (\n    {}\n)", columns.join(",\n    "))
}

pub(super) fn insert_fingerprint(fingerprint: &Fingerprint) -> String {
    let Fingerprint { schema, generator, size, inputs, constraints } = fingerprint;
    let numbers: Vec<String> = size.0.iter().map(i64::to_string).collect();
    let numbers = numbers.join(", ");
    format!("INSERT INTO {DATABASE_TABLE} VALUES ('{schema}', {generator}, {numbers}, '{inputs}', '{constraints}')")
}

/// The rows of the table: each a fingerprint, or the reason why it is invalid.
pub(crate) fn read_fingerprints(
    session: &mut dyn Session,
    workload: &dyn Workload,
) -> Result<Vec<Result<Fingerprint, String>>> {
    let mut found = Vec::new();
    let columns: Vec<&str> = workload.size_columns().iter().map(|it| it.column).collect();
    let sql = format!(
        "SELECT schema_hash, generator, {}, inputs_hash, {{constraints}} FROM {DATABASE_TABLE}",
        columns.join(", ")
    );
    let sql = session.dialect().fill(&sql);
    session.query_text(&sql, &[], &mut |row| {
        let behind = 2 + columns.len();
        let numbers: Result<Vec<i64>> = (2..behind).map(|at| row.get(at)).collect();
        let size = Size(numbers?);
        let constraints: String = row.get(behind + 1)?;
        let constraints = Constraints::ALL.into_iter().find(|one| one.name() == constraints);
        found.push(match (workload.check_size(&size), constraints) {
            (Ok(()), Some(constraints)) => {
                let inputs = row.get(behind)?;
                Ok(Fingerprint { schema: row.get(0)?, generator: row.get(1)?, size, inputs, constraints })
            }
            (Err(why), _) => Err(why),
            (_, None) => Err(format!("unknown constraints in {DATABASE_TABLE}")),
        });
        Ok(())
    })?;
    Ok(found)
}

/// Whether the table of fingerprints can be read but for the columns of the workload's size.
pub(super) fn is_of_another_workload(session: &mut dyn Session) -> bool {
    session.query_text(&format!("SELECT schema_hash FROM {DATABASE_TABLE}"), &[], &mut |_| Ok(())).is_ok()
}
