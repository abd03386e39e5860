//! Data of a recording, or of a person's own database: a copy of it, loaded into an engine's own.

use super::differing::lost_without;
use super::shape::Shape;
pub(crate) use super::translated::number;
use super::translated::{TranslatedTable, declared, undeclared};
use crate::database::{UNFINISHED, create_with};
use crate::workload::{MicroError, named};
use bourse_engine::server_wait::{check_interruption, is_interrupted};
use bourse_engine::{Batch, Dialect, Engine, EngineError, ErrorKind, Loader, Result, Value};
use bourse_engine_sqlite::{StoredDatabase, StoredObject, StoredValue};
use bourse_record::{NameValue, grouped};
use bourse_schema::{Column, ColumnType, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of rows that a loader gets at once.
const BATCH_ROWS: usize = 1_000;

/// Facts of the data that limit what can be compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataFacts {
    /// Statements that made its objects.
    pub(super) schema: Vec<String>,
    /// Objects that were left out, with the reason.
    pub(super) left_out: Vec<String>,
    /// Tables that lack what these do: rows that a trigger writes, or a key's refusals.
    pub(super) lacks: BTreeSet<String>,
}

/// Rows of a table on their way to a loader.
struct StoredRows {
    table: &'static Table,
    rows: Vec<Vec<StoredValue>>,
}

impl Batch for StoredRows {
    fn table(&self) -> &'static Table {
        self.table
    }
    fn len(&self) -> usize {
        self.rows.len()
    }
    fn with_row(&self, index: usize, f: &mut dyn FnMut(&[Value<'_>])) {
        fn value<'v>((value, column): (&'v StoredValue, &Column)) -> Value<'v> {
            match (value, column.column_type) {
                (StoredValue::Int(number), ColumnType::Real) => Value::Real(*number as f64),
                _ => value.borrowed(),
            }
        }
        f(&self.rows[index].iter().zip(self.table.columns).map(value).collect::<Vec<_>>());
    }
}

/// Whether a dialect is SQLite's own, in which a recording is executed as it is.
pub(super) fn is_sqlite(dialect: &Dialect) -> bool {
    dialect.name == bourse_schema::SQLITE.name
}

/// Kind and name of an object.
fn label(object: &StoredObject) -> String {
    format!("{}{} {}", if object.is_virtual { "virtual " } else { "" }, object.kind, object.name)
}

/// Whether a full-text table stores no texts.
fn has_no_content(sql: &str) -> bool {
    let words: String =
        sql.chars().filter(|letter| !letter.is_whitespace()).map(|it| it.to_ascii_lowercase()).collect();
    words.contains("content=''") || words.contains("content=\"\"")
}

/// Encoding of a database's texts, as `PRAGMA encoding` names it.
fn encoding_of(stored: &StoredDatabase) -> Result<String> {
    let mut encoding = String::new();
    stored.rows("PRAGMA encoding", &mut |row| {
        encoding = row.first().map(Value::to_string).unwrap_or_default();
        Ok(())
    })?;
    Ok(encoding)
}

/// The copy that is being loaded.
struct RecordedCopy<'c> {
    path: &'c Path,
    stored: StoredDatabase,
    objects: Vec<StoredObject>,
    /// Objects without a translation, and those that the engine refuses, with the reason.
    left_out: BTreeMap<String, String>,
    rows: u64,
}

/// Makes the engine's database that of the copy, or an empty one; `encoding` is the statement that chose the latter's encoding.
pub(crate) fn load(
    engine: &dyn Engine,
    copy: Option<&Path>,
    encoding: Option<&str>,
) -> Result<(DataFacts, Vec<NameValue>), MicroError> {
    let dialect = engine.sql().map_err(MicroError::engine("making the tables"))?.dialect();
    let Some(path) = copy else {
        create_with(engine, encoding.filter(|_| is_sqlite(dialect)), &mut |_| Ok(()))?;
        return Ok((DataFacts::default(), vec![named("data", "none: the database began empty")]));
    };
    // A copy that is no database is not the target's refusal.
    let reading = |error: EngineError| {
        let kind = if error.kind() == ErrorKind::Refused { ErrorKind::Other } else { error.kind() };
        MicroError::engine(format!("reading the copy {}", path.display()))(error.with_kind(kind))
    };
    let stored = StoredDatabase::open(path).map_err(reading)?;
    let objects = stored.objects().map_err(reading)?;
    let encoding = encoding_of(&stored).map_err(reading)?;
    // It decides the order of texts, and is chosen before the first table is made.
    let encoding = (is_sqlite(dialect) && encoding != "UTF-8").then(|| format!("PRAGMA encoding = '{encoding}'"));
    let mut facts = DataFacts::default();
    facts.schema.extend(objects.iter().map(|object| object.sql.clone()));
    let mut copy = RecordedCopy { path, stored, objects, left_out: BTreeMap::new(), rows: 0 };
    loop {
        // Some engines undo a whole load because of one refused statement: it begins anew without the object.
        let (known, mut refused) = (copy.left_out.len(), None);
        copy.rows = 0;
        let loaded = create_with(engine, encoding.as_deref(), &mut |loader| match is_sqlite(dialect) {
            true => copy.fill(loader),
            false => copy.fill_translated(loader, dialect, &mut refused),
        });
        copy.left_out.extend(refused);
        if copy.left_out.len() == known || loaded.is_ok() || is_interrupted() {
            loaded?;
            break;
        }
    }
    let mut found = vec![named("data", format!("{} rows, loaded anew", grouped(copy.rows)))];
    for object in &copy.objects {
        match &*object.kind {
            _ if !copy.left_out.contains_key(&label(object)) => {}
            // An index that refuses no row changes no result.
            "index" if !Shape::of(&object.sql).names.contains("unique") => {}
            "trigger" => facts.lacks.extend(lost_without(&Shape::of(&object.sql))),
            _ => facts.lacks.extend([object.table.to_lowercase()]),
        }
    }
    facts.left_out = copy.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    found.extend(facts.left_out.iter().map(|it| named("left out", it.clone())));
    Ok((facts, found))
}

impl RecordedCopy<'_> {
    fn during<T>(&self, what: &str, done: Result<T>) -> Result<T, MicroError> {
        done.map_err(MicroError::engine(format!("loading {what} of the copy {}", self.path.display())))
    }

    /// Fills SQLite's database with the objects as they are.
    fn fill(&mut self, loader: &mut dyn Loader) -> Result<(), MicroError> {
        let objects = self.objects.clone();
        for object in objects.iter().filter(|it| it.kind == "table") {
            if object.is_virtual && has_no_content(&object.sql) {
                let why = "it has an index without content, which cannot be made anew";
                self.left_out.insert(label(object), why.to_owned());
                continue;
            }
            if !self.made(loader, object)? {
                continue;
            }
            let table = self.during(&object.name, self.stored.table(object))?;
            // SQLite's columns have no types that a loader needs.
            let columns = table.columns().map(|name| (name, ColumnType::Lob(0)));
            let inserted = self.insert(loader, declared(table.name(), columns), &table.query());
            self.during(&object.name, inserted)?;
        }
        for object in objects.iter().filter(|it| it.kind != "table") {
            self.made(loader, object)?;
        }
        // Numbers that were assigned, and statistics, decide what comes next.
        for (table, columns, made) in [
            ("sqlite_sequence", &["name", "seq"][..], None),
            ("sqlite_stat1", &["tbl", "idx", "stat"][..], Some("ANALYZE")),
        ] {
            let there = format!("SELECT count(*) FROM sqlite_schema WHERE name = '{table}'");
            if self.during(table, number(&self.stored, &there))? == 0 {
                continue;
            }
            let emptied = made.map_or(Ok(()), |made| loader.run(made));
            self.during(table, emptied.and_then(|()| loader.run(&format!("DELETE FROM {table}"))))?;
            let (before, columns) = (self.rows, columns.iter().map(|name| (*name, ColumnType::Lob(0))));
            let inserted = self.insert(loader, declared(table, columns), &format!("SELECT * FROM {table}"));
            self.during(table, inserted)?;
            self.rows = before;
        }
        let version = self.during("the version", number(&self.stored, "PRAGMA user_version"))?;
        self.during("the version", loader.run(&format!("PRAGMA user_version = {version}")))
    }

    /// Makes an object; `false` if SQLite refuses it, as one that needs a function or a module of the program.
    fn made(&mut self, loader: &mut dyn Loader, object: &StoredObject) -> Result<bool, MicroError> {
        match loader.run(&object.sql) {
            Err(error) if error.code().is_some_and(|code| code.starts_with("SQLITE_ERROR")) => {
                self.left_out.insert(label(object), error.message().to_owned());
                Ok(false)
            }
            done => self.during(&object.name, done).map(|()| true),
        }
    }

    /// Fills another engine's database with the tables and indexes that it can have; `refused` is the object at which the
    /// engine ends the load.
    fn fill_translated(
        &mut self,
        loader: &mut dyn Loader,
        dialect: &Dialect,
        refused: &mut Option<(String, String)>,
    ) -> Result<(), MicroError> {
        let mut tables = Vec::new();
        for object in self.objects.clone() {
            let name = label(&object);
            match &*object.kind {
                _ if self.left_out.contains_key(&name) => {}
                "table" if !object.is_virtual => match TranslatedTable::of(&self.stored, &object, dialect) {
                    Ok(table) => {
                        let undeclared = self.during(&object.name, undeclared(&self.stored, &object))?;
                        self.left_out.extend(undeclared);
                        tables.push((name, table));
                    }
                    Err(error) => drop(self.left_out.insert(name, error.message().to_owned())),
                },
                // An index comes with its table.
                "index" => {}
                _ => drop(self.left_out.insert(name, "it is SQLite's alone".to_owned())),
            }
        }
        let mut refuse = |name: &str, error: EngineError| {
            *refused = Some((name.to_owned(), error.message().to_owned()));
            MicroError::engine(format!("making {name}"))(error)
        };
        for (name, table) in &tables {
            loader.run(&table.create).map_err(|error| refuse(name, error))?;
        }
        for (name, table) in &tables {
            self.insert(loader, table.table, &table.query).map_err(|error| refuse(name, error))?;
        }
        for (name, sql) in tables.iter().flat_map(|(_, table)| &table.behind) {
            if sql.is_empty() {
                self.left_out.insert(name.clone(), "it is of an expression or of some rows".to_owned());
            } else if !self.left_out.contains_key(name) {
                loader.run(sql).map_err(|error| refuse(name, error))?;
            }
        }
        Ok(())
    }

    /// Inserts the rows of a query.
    fn insert(&mut self, loader: &mut dyn Loader, table: &'static Table, query: &str) -> Result<()> {
        let mut batch = StoredRows { table, rows: Vec::new() };
        let mut inserted = 0;
        let read = self.stored.rows(query, &mut |values| {
            batch.rows.push(values.iter().map(StoredValue::of).collect());
            inserted += 1;
            if batch.rows.len() == BATCH_ROWS {
                check_interruption(UNFINISHED)?;
                loader.insert(&batch)?;
                batch.rows.clear();
            }
            Ok(())
        });
        self.rows += inserted;
        read.and_then(|()| loader.insert(&batch))
    }
}
