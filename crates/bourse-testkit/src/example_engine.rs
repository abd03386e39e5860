//! A key engine in memory: ordered maps, whose transactions work on a copy.
//!
//! It is the example of `docs/adding-an-engine.md`, which quotes this file part by part. A real engine has the same parts.

// --- target ---
use bourse_engine::target::{Grammar, Parsed, Scheme, TargetError};

/// Settings of a target. There are none yet: each one is a row of the grammar's `options` and a field here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {}

/// Grammar of the engine's targets: `example::memory:`.
pub static GRAMMAR: Grammar<Options> = Grammar {
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
    let target = GRAMMAR.parse(target, Options {})?;
    Ok(ExampleEngine { target, committed: Arc::default() })
}
// --- engine ---
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, Footprint, Interface, KeyEngine, Location, MemoryStore,
    Records, WriterWait,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Engine on a target; all its connections share the committed tables.
#[derive(Debug)]
pub struct ExampleEngine {
    target: Parsed<Options>,
    committed: Arc<Mutex<Arc<Tables>>>,
}

impl Engine for ExampleEngine {
    fn description(&self) -> Result<Description, EngineError> {
        Ok(Description {
            engine: "example".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: self.target.text.clone(),
            durability: Durability::Volatile,
            may_lose: None,
            durability_reason: "the database is in memory".to_owned(),
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: Some(MemoryStore::Engine),
            settings: Vec::new(),
            compile_options: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { concurrent_writers: true, ..Capabilities::OF_KEYS }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }

    fn location(&self) -> Location {
        Location::Memory
    }

    fn exists(&self) -> Result<bool, EngineError> {
        Ok(!current(&self.committed).is_empty())
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let tables = current(&self.committed);
        let record = |(key, values): (&Vec<u8>, &Vec<u8>)| key.len() + values.len();
        let bytes: usize = tables.values().flatten().map(record).sum();
        Ok(Footprint { data_bytes: bytes as u64, memory_bytes: bytes as u64, ..Footprint::default() })
    }
}

impl KeyEngine for ExampleEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        Ok(Box::new(ExampleRecords { committed: Arc::clone(&self.committed), open: None }))
    }
}
// --- tables ---
use bourse_engine::records::codec::{self, EncodedRow, KeyBytes};
use bourse_engine::{Access, Change, EachRow, ErrorKind, IndexKind, Key, RecordTable, Value};
use std::collections::BTreeMap;

/// Records of every table, by the tables' names: keys and values as the bytes of `codec`, in the order of their keys.
type Tables = BTreeMap<&'static str, BTreeMap<Vec<u8>, Vec<u8>>>;

/// Tables as of the last commit.
fn current(committed: &Mutex<Arc<Tables>>) -> Arc<Tables> {
    Arc::clone(&committed.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Connection of one user.
struct ExampleRecords {
    committed: Arc<Mutex<Arc<Tables>>>,
    open: Option<Transaction>,
}

/// Open transaction: the tables it began from, and those it sees, which are a copy once it has changed something.
struct Transaction {
    began_from: Arc<Tables>,
    sees: Arc<Tables>,
}

impl ExampleRecords {
    /// Reads a table, in the open transaction or outside of one.
    fn read<T>(
        &self,
        table: &RecordTable,
        read: impl FnOnce(&BTreeMap<Vec<u8>, Vec<u8>>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let tables = match &self.open {
            Some(transaction) => Arc::clone(&transaction.sees),
            None => current(&self.committed),
        };
        read(tables.get(table.name()).ok_or_else(|| no_table(table))?)
    }

    /// Changes a table, in the open transaction or as a transaction of its own.
    fn changing<T>(
        &mut self,
        table: &RecordTable,
        change: impl FnOnce(&mut BTreeMap<Vec<u8>, Vec<u8>>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let records = |tables: &mut Arc<Tables>| {
            change(Arc::make_mut(tables).get_mut(table.name()).ok_or_else(|| no_table(table))?)
        };
        match &mut self.open {
            Some(transaction) => records(&mut transaction.sees),
            None => records(&mut self.committed.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

fn no_table(table: &RecordTable) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("there is no table {}", table.name()))
}

fn bytes_of(key: Key<'_>) -> Vec<u8> {
    KeyBytes::of(key).as_ref().to_vec()
}

fn encoded(values: &[Value<'_>]) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::new();
    codec::encode(values, &mut bytes)?;
    Ok(bytes)
}
// --- records ---
impl Records for ExampleRecords {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<(), EngineError> {
        for table in tables {
            let is_indexed = table.fields().iter().any(|field| field.index.is_some());
            if is_indexed || table.key().index == Some(IndexKind::Hash) {
                return Err(EngineError::unsupported("records are found by the order of their keys alone"));
            }
        }
        let mut committed = self.committed.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut committed).extend(tables.iter().map(|table| (table.name(), BTreeMap::new())));
        Ok(())
    }

    fn begin(&mut self, _: Access) -> Result<(), EngineError> {
        let began_from = current(&self.committed);
        self.open = Some(Transaction { sees: Arc::clone(&began_from), began_from });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        let Some(Transaction { began_from, sees }) = self.open.take() else { return Ok(()) };
        if Arc::ptr_eq(&began_from, &sees) {
            return Ok(());
        }
        let mut committed = self.committed.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&began_from, &committed) {
            return Err(EngineError::new(
                ErrorKind::Conflict,
                "another transaction has committed since this one began",
            ));
        }
        *committed = sees;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), EngineError> {
        self.open = None;
        Ok(())
    }

    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool, EngineError> {
        self.read(table, |records| match records.get(KeyBytes::of(key).as_ref()) {
            Some(bytes) => each(&EncodedRow::new(key, bytes)).map(|()| true),
            None => Ok(false),
        })
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<(), EngineError> {
        let (key, values) = (bytes_of(key), encoded(values)?);
        self.changing(table, |records| match records.contains_key(&key) {
            true => Err(EngineError::new(ErrorKind::Constraint, "the key is there already")),
            false => {
                records.insert(key, values);
                Ok(())
            }
        })
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool, EngineError> {
        let values = encoded(values)?;
        self.changing(table, |records| match records.get_mut(KeyBytes::of(key).as_ref()) {
            Some(record) => {
                *record = values;
                Ok(true)
            }
            None => Ok(false),
        })
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: Change<'_>) -> Result<bool, EngineError> {
        self.changing(table, |records| match records.get_mut(KeyBytes::of(key).as_ref()) {
            Some(record) => codec::change(record, change).map(|()| true),
            None => Ok(false),
        })
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool, EngineError> {
        self.changing(table, |records| Ok(records.remove(KeyBytes::of(key).as_ref()).is_some()))
    }

    fn scan(
        &mut self,
        table: &'static RecordTable,
        from: Key<'_>,
        limit: u64,
        each: &mut EachRow<'_>,
    ) -> Result<u64, EngineError> {
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

    fn count(&mut self, table: &'static RecordTable) -> Result<u64, EngineError> {
        self.read(table, |records| Ok(records.len() as u64))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64, EngineError> {
        self.changing(table, |records| Ok(std::mem::take(records).len() as u64))
    }
}
// --- kind ---
use bourse_engine::{EngineKind, InProcess};

/// Engines of this crate.
pub static KINDS: &[EngineKind] = &[EngineKind {
    in_process: Some(InProcess { file_ending: None, memory: true, variant_of: None, is_asked_for: false }),
    loads_rows_s: Some(1_000_000),
    prepares_ms: 300,
    ..EngineKind::new(
        ["example", "the example of docs/adding-an-engine.md: ordered maps in memory", "example::memory:"],
        || Ok(env!("CARGO_PKG_VERSION").to_owned()),
        || GRAMMAR.help("example", &Options {}),
        |target| Ok(Box::new(open(target)?)),
    )
}];
// --- end ---
