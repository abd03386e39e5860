//! Data of a recording: the copy of its database, loaded into an engine's own.

use super::shape::Shape;
use crate::database::create_with;
use crate::workload::{MicroError, named};
use bourse_engine::{Engine, EngineError, Loader, Value};
use bourse_engine_sqlite::StoredDatabase;
use bourse_record::{NameValue, grouped};
use std::path::Path;

/// Length of an INSERT from which on no further row is added to it, in bytes.
const INSERT_BYTES: usize = 16_384;

/// Facts of the data that limit what can be compared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DataFacts {
    /// Whether a column is filled by a clock.
    pub(super) has_clock: bool,
    /// Whether triggers or foreign keys change further rows.
    pub(super) has_side_changes: bool,
}

/// Makes the engine's database that of the copy, or an empty one.
pub(super) fn load(engine: &dyn Engine, copy: Option<&Path>) -> Result<(DataFacts, Vec<NameValue>), MicroError> {
    let Some(path) = copy else {
        create_with(engine, &mut |_| Ok(()))?;
        return Ok((DataFacts::default(), vec![named("data", "none: the database began empty")]));
    };
    let reading = || MicroError::engine(format!("reading the copy {}", path.display()));
    let stored = StoredDatabase::open(path).map_err(reading())?;
    let objects = stored.objects().map_err(reading())?;
    let mut facts = DataFacts::default();
    for object in &objects {
        let shape = Shape::of(&object.sql);
        facts.has_clock |= shape.has_clock;
        facts.has_side_changes |= shape.has_side_changes;
    }
    // Those that SQLite makes itself are no objects of the schema.
    let own = |query: &str| {
        let mut found = 0;
        let read = stored.rows(query, &mut |values| {
            found = values
                .first()
                .and_then(|it| if let Value::Int(number) = it { Some(*number) } else { None })
                .unwrap_or(0);
            Ok(())
        });
        read.map(|()| found).map_err(reading())
    };
    let (mut rows, mut failed) = (0, Vec::new());
    create_with(engine, &mut |loader| {
        let during = |what: &str, done: Result<(), EngineError>| {
            done.map_err(MicroError::engine(format!("loading {what} of the recorded database")))
        };
        // A virtual table needs its module.
        for object in objects.iter().filter(|it| it.kind == "table") {
            match loader.run(&object.sql) {
                Err(error) if object.is_virtual => {
                    failed.push(format!("virtual table {}: {}", object.name, error.message()));
                    continue;
                }
                done => during(&object.name, done)?,
            }
            let table = stored.table(object).map_err(reading())?;
            during(&object.name, insert(loader, &stored, &table.with_columns(), &table.query(), &mut rows))?;
        }
        for object in objects.iter().filter(|it| it.kind != "table") {
            during(&object.name, loader.run(&object.sql))?;
        }
        // Numbers that were assigned, and statistics, decide what comes next.
        for (table, made) in [("sqlite_sequence", None), ("sqlite_stat1", Some("ANALYZE"))] {
            if own(&format!("SELECT count(*) FROM sqlite_schema WHERE name = '{table}'"))? == 0 {
                continue;
            }
            let mut put_back = || {
                made.map_or(Ok(()), |made| loader.run(made))?;
                loader.run(&format!("DELETE FROM {table}"))?;
                insert(loader, &stored, table, &format!("SELECT * FROM {table}"), &mut 0)
            };
            during(table, put_back())?;
        }
        let version = own("PRAGMA user_version")?;
        during("the version", loader.run(&format!("PRAGMA user_version = {version}")))
    })?;
    let mut found = vec![named("data", format!("{} rows, loaded anew", grouped(rows)))];
    found.extend(failed.into_iter().map(|why| named("left out", why)));
    Ok((facts, found))
}

/// Inserts the rows of a query, many by a statement.
fn insert(
    loader: &mut dyn Loader,
    stored: &StoredDatabase,
    table: &str,
    query: &str,
    rows: &mut u64,
) -> Result<(), EngineError> {
    let begin = format!("INSERT INTO {table} VALUES ");
    let mut sql = begin.clone();
    stored.rows(query, &mut |values| {
        *rows += 1;
        sql.push_str(if sql.len() == begin.len() { "(" } else { ",(" });
        for (at, value) in values.iter().enumerate() {
            sql.push_str(if at == 0 { "" } else { "," });
            push_literal(&mut sql, value);
        }
        sql.push(')');
        if sql.len() > INSERT_BYTES {
            loader.run(&sql)?;
            sql.truncate(begin.len());
        }
        Ok(())
    })?;
    if sql.len() > begin.len() { loader.run(&sql) } else { Ok(()) }
}

/// Appends a value as a literal of SQLite.
fn push_literal(sql: &mut String, value: &Value<'_>) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match *value {
        Value::Int(number) => sql.push_str(&number.to_string()),
        Value::Real(number) if number.is_infinite() => sql.push_str(if number > 0.0 { "9e999" } else { "-9e999" }),
        // Seventeen digits name each double.
        Value::Real(number) => sql.push_str(&format!("{number:.16e}")),
        Value::Text(text) if text.contains('\0') => {
            sql.push_str(&format!("CAST(x'{}' AS TEXT)", hex(text.as_bytes())));
        }
        Value::Text(text) => sql.push_str(&format!("'{}'", text.replace('\'', "''"))),
        Value::Blob(bytes) => sql.push_str(&format!("x'{}'", hex(bytes))),
        _ => sql.push_str("NULL"),
    }
}
