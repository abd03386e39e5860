//! A key engine in memory: ordered maps, whose transactions work on a copy.
//!
//! It is the example of `docs/adding-an-engine.md`, which quotes this file part by part. A real engine has the same parts.

// --- target ---
use bourse_engine::target::{Grammar, Scheme, TargetError};

/// Settings of a target. There are none yet: each one is a row of the grammar's `options` and a field here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleOptions {}

/// Grammar of the engine's targets: `example::memory:`.
pub static GRAMMAR: Grammar<ExampleOptions> = Grammar {
    engine: "the example engine",
    schemes: &[Scheme::plain("example")],
    forms: "example::memory:",
    options: &[],
};

/// Parses a target, and does nothing else.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
pub fn open(target: &str) -> Result<ExampleEngine, TargetError> {
    ExampleEngine::open(target)
}
// --- engine ---
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, EngineError, FileFormat, KeyDatabase, KeyedEngine, Records, Result, locked,
};
use std::sync::{Arc, Mutex};

/// Engine on a target; all its connections share one database.
pub type ExampleEngine = KeyedEngine<ExampleDatabase>;

/// Database: the tables as of the last commit.
#[derive(Debug, Default)]
pub struct ExampleDatabase(Mutex<Arc<ExampleTables>>);

impl KeyDatabase for ExampleDatabase {
    type Options = ExampleOptions;
    const NAME: &'static str = "example";
    const FORMAT: &'static FileFormat = &FileFormat { name: "example", ..FileFormat::FILE };
    const GRAMMAR: &'static Grammar<ExampleOptions> = &GRAMMAR;

    const DEFAULTS: ExampleOptions = ExampleOptions {};

    fn found(_: &ExampleOptions) -> Result<String, String> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn open(_: &ExampleOptions, _: &DatabaseFiles) -> Result<Arc<Self>> {
        Err(EngineError::unsupported("the example has no database in files"))
    }

    fn open_in_memory(_: &ExampleOptions) -> Result<Arc<Self>> {
        Ok(Arc::default())
    }

    fn durability(&self, _: &ExampleOptions) -> (Durability, String) {
        (Durability::Volatile, "there is no log".to_owned())
    }

    fn capabilities(_: &ExampleOptions) -> Capabilities {
        Capabilities { concurrent_writers: true, ..Capabilities::OF_KEYS }
    }

    fn records(self: Arc<Self>, _: &ExampleOptions) -> Box<dyn Records> {
        Box::new(ExampleRecords { database: self, open: None })
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.current().keys().map(|&name| name.to_owned()).collect())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        let record = |(key, values): (&Vec<u8>, &Vec<u8>)| key.len() + values.len();
        (self.current().values().flatten().map(record).sum::<usize>() as u64, true)
    }
}
// --- tables ---
use bourse_engine::records::codec::{self, EncodedRow, KeyBytes};
use bourse_engine::records::refusals::{key_exists, refuse_indexes};
use bourse_engine::{Access, EachRow, ErrorKind, FieldChange, Key, RecordTable, Value};
use std::collections::BTreeMap;

/// Records of every table, by the tables' names: keys and values as the bytes of `codec`, in the order of their keys.
type ExampleTables = BTreeMap<&'static str, BTreeMap<Vec<u8>, Vec<u8>>>;

impl ExampleDatabase {
    /// Tables as of the last commit.
    fn current(&self) -> Arc<ExampleTables> {
        Arc::clone(&locked(&self.0))
    }
}

/// Connection of one user.
struct ExampleRecords {
    database: Arc<ExampleDatabase>,
    open: Option<ExampleTransaction>,
}

/// Open transaction: the tables it began from, and those it sees, which are a copy once it has changed something.
struct ExampleTransaction {
    began_from: Arc<ExampleTables>,
    sees: Arc<ExampleTables>,
}

impl ExampleRecords {
    /// Reads a table, in the open transaction or outside of one.
    fn read<T>(&self, table: &RecordTable, read: impl FnOnce(&BTreeMap<Vec<u8>, Vec<u8>>) -> Result<T>) -> Result<T> {
        let tables = match &self.open {
            Some(transaction) => Arc::clone(&transaction.sees),
            None => self.database.current(),
        };
        read(tables.get(table.name()).ok_or_else(|| no_table(table))?)
    }

    /// Changes a table, in the open transaction or as a transaction of its own.
    fn changing<T>(
        &mut self,
        table: &RecordTable,
        change: impl FnOnce(&mut BTreeMap<Vec<u8>, Vec<u8>>) -> Result<T>,
    ) -> Result<T> {
        let records = |tables: &mut Arc<ExampleTables>| {
            change(Arc::make_mut(tables).get_mut(table.name()).ok_or_else(|| no_table(table))?)
        };
        match &mut self.open {
            Some(transaction) => records(&mut transaction.sees),
            None => records(&mut locked(&self.database.0)),
        }
    }
}

fn no_table(table: &RecordTable) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("there is no table {}", table.name()))
}

fn bytes_of(key: Key<'_>) -> Vec<u8> {
    KeyBytes::of(key).as_ref().to_vec()
}

fn encoded(values: &[Value<'_>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    codec::encode(values, &mut bytes)?;
    Ok(bytes)
}
// --- records ---
impl Records for ExampleRecords {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("the example", tables, self.open.is_some())?;
        let mut committed = locked(&self.database.0);
        Arc::make_mut(&mut committed).extend(tables.iter().map(|table| (table.name(), BTreeMap::new())));
        Ok(())
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        let began_from = self.database.current();
        self.open = Some(ExampleTransaction { sees: Arc::clone(&began_from), began_from });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(ExampleTransaction { began_from, sees }) = self.open.take() else { return Ok(()) };
        if Arc::ptr_eq(&began_from, &sees) {
            return Ok(());
        }
        let mut committed = locked(&self.database.0);
        if !Arc::ptr_eq(&began_from, &committed) {
            return Err(EngineError::new(
                ErrorKind::Conflict,
                "another transaction has committed since this one began",
            ));
        }
        *committed = sees;
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        self.open = None;
        Ok(())
    }

    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.read(table, |records| match records.get(KeyBytes::of(key).as_ref()) {
            Some(bytes) => each(&EncodedRow::new(key, bytes)).map(|()| true),
            None => Ok(false),
        })
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let (bytes, values) = (bytes_of(key), encoded(values)?);
        self.changing(table, |records| match records.contains_key(&bytes) {
            true => Err(key_exists(table, key)),
            false => {
                records.insert(bytes, values);
                Ok(())
            }
        })
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let values = encoded(values)?;
        self.changing(table, |records| match records.get_mut(KeyBytes::of(key).as_ref()) {
            Some(record) => {
                *record = values;
                Ok(true)
            }
            None => Ok(false),
        })
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        self.changing(table, |records| match records.get_mut(KeyBytes::of(key).as_ref()) {
            Some(record) => codec::change(record, change).map(|()| true),
            None => Ok(false),
        })
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        self.changing(table, |records| Ok(records.remove(KeyBytes::of(key).as_ref()).is_some()))
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        self.read(table, |records| {
            let mut scanned = 0;
            let found = records.range(bytes_of(from)..).take(usize::try_from(limit).unwrap_or(usize::MAX));
            for (key, bytes) in found {
                each(&EncodedRow::new(codec::key_of(key, table.key().record_type)?, bytes))?;
                scanned += 1;
            }
            Ok(scanned)
        })
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.read(table, |records| Ok(records.len() as u64))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.changing(table, |records| Ok(std::mem::take(records).len() as u64))
    }
}
// --- kind ---
use bourse_engine::EngineKind;

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    loads_rows_s: Some(1_000_000),
    prepares_ms: 300,
    ..ExampleEngine::kind(
        ["example", "the example of docs/adding-an-engine.md: ordered maps in memory", "example::memory:"],
        None,
    )
}];
// --- end ---
