//! Any database in a file: copied while others use it, read whole, its values replaced by others, for copies that are passed on
//! without what they hold.

use crate::connection::SqliteConnection;
use crate::ffi::SqliteLibrary;
use crate::options::SqliteOptions;
use crate::snapshot::copy_pages;
use crate::source::SqliteSource;
use crate::statement::SqliteStatement;
use bourse_engine::{EngineError, ErrorKind, Result, Row, RowExt as _, Value, open_named, path_with_suffix};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fs, io};

/// A value of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredValue {
    /// SQL NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl StoredValue {
    /// The value with content of its own.
    pub fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Int(number) => Self::Int(*number),
            Value::Real(number) => Self::Real(*number),
            Value::Text(text) => Self::Text((*text).to_owned()),
            Value::Blob(bytes) => Self::Blob(bytes.to_vec()),
            // SQLite stores no other types.
            _ => Self::Null,
        }
    }

    /// The value as a parameter.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Text(text) => Value::Text(text),
            Self::Blob(bytes) => Value::Blob(bytes),
        }
    }
}

/// An object of a schema.
#[derive(Debug, Clone)]
pub struct StoredObject {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Statement that makes it.
    pub sql: String,
    /// Table that it belongs to; of a table or a view its own name.
    pub table: String,
    /// Whether it is a virtual table.
    pub is_virtual: bool,
    without_rowid: bool,
}

/// A table with its columns.
#[derive(Debug, Clone)]
pub struct StoredTable {
    /// Name, quoted.
    name: String,
    /// Names of its stored columns, quoted.
    columns: Vec<String>,
    /// Name of the rowid, if the table has one that is not one of its columns.
    row_number: Option<&'static str>,
}

impl StoredTable {
    /// Name, quoted.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of the rowid, if the table has one that is not one of its columns and has a name that no column has.
    pub fn row_number(&self) -> Option<&'static str> {
        self.row_number
    }

    /// Names of its values, quoted: row numbers, unless a column has them, and stored columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.row_number.into_iter().chain(self.columns.iter().map(String::as_str))
    }

    /// Query for these values of all rows.
    pub fn query(&self) -> String {
        format!("SELECT {} FROM {}", self.columns().collect::<Vec<_>>().join(", "), self.name)
    }
}

/// A database, only read.
#[derive(Debug)]
pub struct StoredDatabase(SqliteConnection);

impl StoredDatabase {
    /// Opens a file that no process changes.
    ///
    /// # Errors
    /// SQLite's.
    pub fn open(path: &Path) -> Result<Self> {
        let source = SqliteSource::read_only(SqliteLibrary, path, true)?;
        SqliteConnection::open(&source, &SqliteOptions::FILE, &Default::default()).map(Self)
    }

    /// Objects of the schema in the order in which they were made, without those that SQLite makes itself.
    ///
    /// # Errors
    /// SQLite's.
    pub fn objects(&self) -> Result<Vec<StoredObject>> {
        objects(&self.0)
    }

    /// A table's columns.
    ///
    /// # Errors
    /// SQLite's.
    pub fn table(&self, object: &StoredObject) -> Result<StoredTable> {
        table(&self.0, object)
    }

    /// Passes each row of a query.
    ///
    /// # Errors
    /// SQLite's, and those of `each`.
    pub fn rows(&self, query: &str, each: &mut dyn FnMut(&[Value<'_>]) -> Result<()>) -> Result<()> {
        let mut columns = 0;
        self.0.query(query, |row| {
            if columns == 0 {
                columns = (row as &dyn Row).columns();
            }
            each(&(0..columns).map(|column| row.value(column)).collect::<Vec<_>>())
        })
    }
}

/// Copies a database that other processes may read and write meanwhile into a new file, by SQLite's backup interface: one committed
/// state, with what a write-ahead log has of it. The database and its logs are only read.
///
/// # Errors
/// SQLite's and the system's; [`ErrorKind::Conflict`] if the database is locked for longer than `patience`.
pub fn copy_database(from: &Path, to: &Path, patience: Duration) -> Result<()> {
    const ATTEMPTS: u32 = 5;
    let options = SqliteOptions { busy_timeout: patience, ..SqliteOptions::FILE };
    let open = |source: &SqliteSource| SqliteConnection::open(source, &options, &Default::default());
    let failed = |error: io::Error| EngineError::new(ErrorKind::Other, error.to_string());
    let log = path_with_suffix(from, "-wal");
    for _ in 0..ATTEMPTS {
        let before = file_state(from).map_err(failed)?;
        // SQLite would make a log that was removed anew, and leave it there: such a file is read without one and without locks, and
        // again if it was changed meanwhile.
        let is_at_rest = before.has_log && !log.exists();
        let source = open(&SqliteSource::read_only(SqliteLibrary, from, is_at_rest)?)?;
        if to.exists() {
            fs::remove_file(to).map_err(failed)?;
        }
        copy_pages(&source, &open(&SqliteSource::file(SqliteLibrary, to, true)?)?)?;
        if !is_at_rest || (file_state(from).map_err(failed)? == before && !log.exists()) {
            return Ok(());
        }
    }
    Err(EngineError::new(ErrorKind::Conflict, "another program changed it each time that it was copied"))
}

/// State of a file by which a change is noticed.
#[derive(PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: SystemTime,
    /// Whether the database has a write-ahead log while it is in use.
    has_log: bool,
}

fn file_state(path: &Path) -> io::Result<FileState> {
    let (mut file, mut header) = (open_named(path)?, Vec::new());
    file.by_ref().take(20).read_to_end(&mut header)?;
    let found = file.metadata()?;
    Ok(FileState { bytes: found.len(), modified: found.modified()?, has_log: header.get(18..) == Some(&[2, 2]) })
}

/// Executes a statement in a file that no other process has open, with foreign keys enforced, and undoes it.
///
/// # Errors
/// SQLite's.
pub fn try_statement(path: &Path, sql: &str) -> Result<()> {
    let connection = open(path)?;
    connection.run("PRAGMA foreign_keys = ON; BEGIN")?;
    // Closing the connection undoes it.
    connection.run(sql)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn open(path: &Path) -> Result<SqliteConnection> {
    let source = SqliteSource::file(SqliteLibrary, path, false)?;
    SqliteConnection::open(&source, &SqliteOptions::FILE, &Default::default())
}

fn objects(connection: &SqliteConnection) -> Result<Vec<StoredObject>> {
    let listed = "SELECT s.type, s.name, s.sql, s.tbl_name, coalesce(l.type, '') = 'virtual', coalesce(l.wr, 0) \
                  FROM sqlite_schema s LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name \
                  WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND coalesce(l.type, '') <> 'shadow' \
                  ORDER BY s.rowid";
    let mut objects = Vec::new();
    connection.query(listed, |row| {
        let text = |column| row.value(column).to_string();
        let is = |column| row.value(column) == Value::Int(1);
        objects.push(StoredObject {
            kind: text(0),
            name: text(1),
            sql: text(2),
            table: text(3),
            is_virtual: is(4),
            without_rowid: is(5),
        });
        Ok(())
    })?;
    Ok(objects)
}

fn table(connection: &SqliteConnection, object: &StoredObject) -> Result<StoredTable> {
    let (mut columns, mut keys, mut key_is_integer) = (Vec::new(), 0, false);
    let literal = object.name.replace('\'', "''");
    let sql = format!("SELECT name, pk, upper(type) FROM pragma_table_xinfo('{literal}') WHERE hidden = 0");
    connection.query(&sql, |row| {
        columns.push(quoted(&row.value(0).to_string()));
        if row.value(1) != Value::Int(0) {
            keys += 1;
            key_is_integer = row.value(2) == Value::Text("INTEGER");
        }
        Ok(())
    })?;
    let is_row_number = keys == 1 && key_is_integer;
    // A column of that name hides the rowid.
    let is_hidden = |name: &str| columns.iter().any(|column| column.trim_matches('"').eq_ignore_ascii_case(name));
    let mut names = ["rowid", "_rowid_", "oid"].into_iter().filter(|_| !object.without_rowid && !is_row_number);
    let row_number = names.find(|name| !is_hidden(name));
    Ok(StoredTable { name: quoted(&object.name), columns, row_number })
}

/// The ordinary tables.
///
/// # Errors
/// Refused if there are virtual tables: their own tables hold values in forms that only they know.
fn tables(connection: &SqliteConnection) -> Result<Vec<StoredTable>> {
    let objects = objects(connection)?;
    let described = |object: &StoredObject| match object.is_virtual {
        true => Err(EngineError::refused(format!("it has the virtual table {}", object.name))),
        false => table(connection, object),
    };
    objects.iter().filter(|it| it.kind == "table").map(described).collect()
}

/// Passes the text of each object of the schema, and each value of its tables.
///
/// # Errors
/// SQLite's; refused if there are virtual tables.
pub fn stored_values(path: &Path, text: &mut dyn FnMut(&str), each: &mut dyn FnMut(StoredValue)) -> Result<()> {
    let connection = open(path)?;
    connection.lines_of("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?.iter().for_each(|sql| text(sql));
    for table in tables(&connection)? {
        connection.query(&format!("SELECT {} FROM {}", table.columns.join(", "), table.name), |row| {
            (0..table.columns.len()).for_each(|column| each(StoredValue::of(&row.value(column))));
            Ok(())
        })?;
    }
    Ok(())
}

/// Replaces each value of a database's tables, and removes what is left of the old ones from the file. Constraints other than
/// those of keys are not checked, and triggers do not fire.
///
/// # Errors
/// SQLite's; refused if there are virtual tables. The file is then as it was, or unfinished.
pub fn replace_values(path: &Path, replace: &dyn Fn(StoredValue) -> StoredValue) -> Result<()> {
    let connection = open(path)?;
    let tables = tables(&connection)?;
    connection.run("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN IMMEDIATE")?;
    let mut triggers = Vec::new();
    connection.query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", |row| {
        triggers.push((quoted(&row.value(0).to_string()), row.value(1).to_string()));
        Ok(())
    })?;
    triggers.iter().try_for_each(|(name, _)| connection.run(&format!("DROP TRIGGER {name}")))?;
    for table in &tables {
        let StoredTable { name, row_number, .. } = table;
        let places = table.columns().count();
        let held: Vec<_> = (0..places).map(|place| format!("c{place}")).collect();
        connection.run(&format!("CREATE TEMP TABLE bourse_replaced({})", held.join(", ")))?;
        let insert = format!("INSERT INTO temp.bourse_replaced VALUES ({})", vec!["?"; places].join(", "));
        let (statement, _) = SqliteStatement::prepare(&connection, &insert, false)?;
        let statement = statement.expect("an INSERT is not blank");
        connection.query(&table.query(), |row| {
            let of = |place: usize| match StoredValue::of(&row.value(place)) {
                number if row_number.is_some() && place == 0 => number,
                value => replace(value),
            };
            let values: Vec<_> = (0..places).map(of).collect();
            let values: Vec<_> = values.iter().map(StoredValue::borrowed).collect();
            statement.run_with_each(&connection, &values, places)
        })?;
        drop(statement);
        connection.run(&format!(
            "DELETE FROM {name}; INSERT INTO {name}({}) SELECT {} FROM temp.bourse_replaced ORDER BY 1; \
             DROP TABLE temp.bourse_replaced",
            table.columns().collect::<Vec<_>>().join(", "),
            held.join(", ")
        ))?;
    }
    triggers.iter().try_for_each(|(_, sql)| connection.run(sql))?;
    // Samples of values for the planner.
    let samples =
        connection.lines_of("SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat3', 'sqlite_stat4')")?;
    samples.iter().try_for_each(|table| connection.run(&format!("DELETE FROM {table}")))?;
    connection.run("COMMIT; VACUUM")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_replaced_with_their_keys_and_indexes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let source = SqliteSource::file(SqliteLibrary, &path, true).unwrap();
        let connection = SqliteConnection::open(&source, &SqliteOptions::FILE, &Default::default()).unwrap();
        let schema = "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
            CREATE TABLE a(id INTEGER PRIMARY KEY, n TEXT UNIQUE, twice AS (n || n));
            CREATE TABLE \"b'\"\"c\"(k TEXT, v, PRIMARY KEY (k, v)) WITHOUT ROWID;
            CREATE TABLE r(a INTEGER REFERENCES a ON DELETE CASCADE, s CHECK (s < 100));
            CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO r VALUES (new.id, 50); END;
            INSERT INTO a(id, n) VALUES (1, 'secret'), (2, 'secrets');
            INSERT INTO \"b'\"\"c\" VALUES ('x', x'00ff'), ('y', 1.5)";
        connection.run(schema).unwrap();
        drop(connection);
        let (mut texts, mut values) = (Vec::new(), Vec::new());
        stored_values(&path, &mut |sql| texts.push(sql.to_owned()), &mut |value| values.push(value)).unwrap();
        assert_eq!((texts.len(), values.len()), (4, 12), "{values:?}");
        let replaced = |value| match value {
            StoredValue::Int(number) => StoredValue::Int(3 - number % 3),
            StoredValue::Text(text) => StoredValue::Text(text.replace("secret", "hidden")),
            other => other,
        };
        replace_values(&path, &replaced).unwrap();
        let connection = open(&path).unwrap();
        assert_eq!(
            connection.lines_of("SELECT id || twice FROM a ORDER BY n").unwrap(),
            ["2hiddenhidden", "1hiddenshiddens"]
        );
        assert_eq!(connection.lines_of("SELECT a || ',' || s FROM r").unwrap(), ["2,1", "1,1"]);
        assert_eq!(connection.text_of("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").unwrap(), "1");
        assert_eq!(connection.text_of("PRAGMA integrity_check").unwrap(), "ok");
        assert_eq!(connection.lines_of("PRAGMA foreign_key_check").unwrap(), Vec::<String>::new());
        connection.run("CREATE VIRTUAL TABLE f USING fts5(x)").unwrap();
        drop(connection);
        assert!(!std::fs::read(&path).unwrap().windows(6).any(|bytes| bytes == b"secret"));
        let refused = replace_values(&path, &replaced).unwrap_err();
        assert!(refused.message().contains("the virtual table f"), "{refused}");
    }
}
