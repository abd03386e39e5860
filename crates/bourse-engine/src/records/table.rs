use crate::{Dialect, EngineError, Result, Sql};
use bourse_schema::ColumnType;
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordType {
    /// An integer of 64 bits.
    Int,
    /// A binary floating-point number of 64 bits.
    Real,
    /// Text of at most this many characters.
    Text(usize),
    /// Bytes, at most this many.
    Bytes(usize),
}

impl RecordType {
    /// Physical type in a SQL dialect.
    fn physical(self, dialect: &Dialect) -> String {
        (dialect.physical)(match self {
            Self::Int => ColumnType::Ident,
            Self::Real => ColumnType::Real,
            Self::Text(width) => ColumnType::Text(width),
            Self::Bytes(width) => ColumnType::Lob(width),
        })
    }
}

crate::named! {
    /// Data structure of an index.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum IndexKind {
        /// Ordered: B-tree, B+tree, T-tree.
        Tree = "tree",
        /// Hash table.
        Hash = "hash",
    }
}

/// A field of a record as declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordField {
    /// Name: lower-case letters, digits and underscores.
    pub name: &'static str,
    /// Type of its values.
    pub record_type: RecordType,
    /// Its index; a key always has one.
    pub index: Option<IndexKind>,
}

impl RecordField {
    /// A field without index.
    pub const fn new(name: &'static str, record_type: RecordType) -> Self {
        Self { name, record_type, index: None }
    }

    /// Adds an index.
    #[must_use]
    pub const fn indexed(self, kind: IndexKind) -> Self {
        Self { index: Some(kind), ..self }
    }
}

/// A set of records: its key and its fields.
///
/// ```
/// use bourse_engine::{IndexKind, RecordField, RecordTable, RecordType};
/// static WORDS: RecordTable = RecordTable::new(
///     "words",
///     RecordField::new("id", RecordType::Int).indexed(IndexKind::Tree),
///     &[RecordField::new("word", RecordType::Text(50)).indexed(IndexKind::Tree)],
/// );
/// assert_eq!(WORDS.create_sql(&bourse_schema::SQLITE), [
///     "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL)",
///     "CREATE INDEX words_by_word ON words (word)",
/// ]);
/// assert_eq!(WORDS.sql().scan.text(), "SELECT id, word FROM words WHERE id >= ?1 ORDER BY id LIMIT ?2");
/// ```
#[derive(Debug)]
pub struct RecordTable {
    name: &'static str,
    key: RecordField,
    fields: &'static [RecordField],
    assigned_keys: bool,
    /// Slot plus one; 0 before the first use.
    slot: AtomicUsize,
    sql: OnceLock<TableSql>,
}

/// The statements by which a SQL engine performs the operations of [`Records`](crate::Records) on this table.
#[derive(Debug)]
pub struct TableSql {
    /// `?1` the key.
    pub get: Sql,
    /// `?1` the key, then the fields.
    pub insert: Sql,
    /// The fields; the key is assigned.
    pub append: Sql,
    /// The fields, then the key: parameters occur in the order of their numbers, since some dialects do not number
    /// them.
    pub update: Sql,
    /// One statement for each field: `?1` the addend, `?2` the key.
    pub add: Vec<Sql>,
    /// One statement for each field: `?1` its new value, `?2` the key.
    pub set: Vec<Sql>,
    /// One statement for each field: `?1` the text that is appended, `?2` the key.
    pub extend: Vec<Sql>,
    /// `?1` the key.
    pub delete: Sql,
    /// `?1` the first key, `?2` the limit.
    pub scan: Sql,
    /// One statement for each field: `?1` its value.
    pub find: Vec<Sql>,
    /// No parameter.
    pub count: Sql,
    /// No parameter.
    pub delete_all: Sql,
}

impl RecordTable {
    /// A table of that name, key and fields.
    pub const fn new(name: &'static str, key: RecordField, fields: &'static [RecordField]) -> Self {
        Self { name, key, fields, assigned_keys: false, slot: AtomicUsize::new(0), sql: OnceLock::new() }
    }

    /// Lets the engine assign whole-number keys where none is given; no number is assigned twice.
    #[must_use]
    pub const fn with_assigned_keys(mut self) -> Self {
        self.assigned_keys = true;
        self
    }

    /// A table known only at run time. Never freed: engines hold what they prepared for it as long as they live, and a
    /// run has a handful of tables.
    pub fn leaked(name: &str, key: RecordField, fields: &[RecordField]) -> &'static Self {
        Self::owned(name, key, fields).leak()
    }

    /// A table known only at run time, to be passed to [`leak`](Self::leak); its names are never freed.
    pub fn owned(name: &str, key: RecordField, fields: &[RecordField]) -> Self {
        Self::new(Box::leak(name.into()), key, Box::leak(fields.into()))
    }

    /// Extends its life to the process's.
    pub fn leak(self) -> &'static Self {
        Box::leak(Box::new(self))
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its key.
    pub const fn key(&self) -> &RecordField {
        &self.key
    }

    /// Whether its keys are texts, and not numbers.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) if they are neither.
    pub fn has_text_keys(&self) -> Result<bool> {
        match self.key.record_type {
            RecordType::Int => Ok(false),
            RecordType::Text(_) => Ok(true),
            other => Err(EngineError::unsupported(format!("keys of {} are {other:?}", self.name))),
        }
    }

    /// Its name with the type of its keys, for an engine that stores bytes: a table with other keys is another one.
    ///
    /// # Errors
    /// Those of [`has_text_keys`](Self::has_text_keys).
    pub fn typed_name(&self) -> Result<String> {
        Ok(format!("{}:{}", self.name, if self.has_text_keys()? { "text" } else { "int" }))
    }

    /// Name of the table in a [typed one](Self::typed_name).
    pub fn name_in(typed: &str) -> String {
        typed.rsplit_once(':').map_or(typed, |(name, _)| name).to_owned()
    }

    /// Its fields, without the key.
    pub const fn fields(&self) -> &'static [RecordField] {
        self.fields
    }

    /// Whether the engine assigns its keys.
    pub const fn has_assigned_keys(&self) -> bool {
        self.assigned_keys
    }

    /// Values that a new record takes: its fields, and its key unless that is assigned.
    #[inline]
    pub const fn values_of_a_row(&self) -> usize {
        self.fields.len() + if self.assigned_keys { 0 } else { 1 }
    }

    /// Number of this table in this process; sessions index by it what they prepared for the table.
    #[inline]
    pub fn slot(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        match self.slot.load(Ordering::Relaxed) {
            0 => {
                let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
                // Where two threads come at once the first number stands and the other stays unused.
                match self.slot.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => fresh - 1,
                    Err(taken) => taken - 1,
                }
            }
            taken => taken - 1,
        }
    }

    /// `CREATE TABLE` and `CREATE INDEX` for a SQL engine.
    pub fn create_sql(&self, dialect: &Dialect) -> Vec<String> {
        let mut all = vec![self.create_table_sql(dialect)];
        all.extend(self.create_index_sql());
        all
    }

    /// `CREATE TABLE` alone.
    pub fn create_table_sql(&self, dialect: &Dialect) -> String {
        let mut text =
            format!("CREATE TABLE {} ({} {}", self.name, self.key.name, self.key.record_type.physical(dialect));
        text.push_str(match self.key.record_type {
            RecordType::Int if self.assigned_keys && !dialect.assigned_key.is_empty() => dialect.assigned_key,
            // An integer key is the row's own number in SQLite only if the column says so by itself.
            RecordType::Int => " PRIMARY KEY",
            _ => " NOT NULL PRIMARY KEY",
        });
        for field in self.fields {
            let physical = field.record_type.physical(dialect);
            write!(text, ", {} {physical} NOT NULL", field.name).expect("a String takes all");
        }
        text.push(')');
        if self.key.record_type != RecordType::Int {
            text.push_str(dialect.clustered);
        }
        text
    }

    /// `CREATE INDEX` for each indexed field.
    pub fn create_index_sql(&self) -> Vec<String> {
        let indexed = self.fields.iter().filter(|field| field.index.is_some());
        indexed.map(|field| format!("CREATE INDEX {0}_by_{1} ON {0} ({1})", self.name, field.name)).collect()
    }

    /// The statements for SQL engines, made at first use.
    #[inline]
    pub fn sql(&'static self) -> &'static TableSql {
        self.sql.get_or_init(|| TableSql::of(self))
    }
}

impl TableSql {
    fn of(table: &RecordTable) -> Self {
        // Made once for a table that lives as long as the process, so the texts may too.
        let sql = |text: String| Sql::new(Box::leak(text.into_boxed_str()));
        let (name, key) = (table.name, table.key.name);
        let names: Vec<_> = table.fields.iter().map(|field| field.name).collect();
        let columns = std::iter::once(key).chain(names.iter().copied()).collect::<Vec<_>>().join(", ");
        let numbered = |count| (1..=count).map(|number| format!("?{number}")).collect::<Vec<_>>().join(", ");
        let (parameters, fields) = (numbered(names.len() + 1), numbered(names.len()));
        let by_field = |text: &dyn Fn(&str) -> String| names.iter().map(|field| sql(text(field))).collect();
        let set = names.iter().zip(1..).map(|(field, number)| format!("{field} = ?{number}")).collect::<Vec<_>>();
        Self {
            get: sql(format!("SELECT {columns} FROM {name} WHERE {key} = ?1")),
            insert: sql(format!("INSERT INTO {name} ({columns}) VALUES ({parameters})")),
            append: sql(format!("INSERT INTO {name} ({}) VALUES ({fields})", names.join(", "))),
            update: sql(format!("UPDATE {name} SET {} WHERE {key} = ?{}", set.join(", "), names.len() + 1)),
            add: by_field(&|field| format!("UPDATE {name} SET {field} = {field} + ?1 WHERE {key} = ?2")),
            set: by_field(&|field| format!("UPDATE {name} SET {field} = ?1 WHERE {key} = ?2")),
            extend: by_field(&|field| format!("UPDATE {name} SET {field} = {field} || ?1 WHERE {key} = ?2")),
            delete: sql(format!("DELETE FROM {name} WHERE {key} = ?1")),
            scan: sql(format!("SELECT {columns} FROM {name} WHERE {key} >= ?1 ORDER BY {key} LIMIT ?2")),
            find: by_field(&|field| format!("SELECT {columns} FROM {name} WHERE {field} = ?1")),
            count: sql(format!("SELECT count(*) FROM {name}")),
            delete_all: sql(format!("DELETE FROM {name}")),
        }
    }
}
