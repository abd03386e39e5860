//! Yardsticks: the same work done by a few lines of C, which separates Bourse's part of a figure from the engine's.

mod relay;
mod rows;

pub use relay::{Relay, RelayClock, RelayPlace, Side};
pub use rows::{CREATE, CSession, MOST_TOGETHER, ReadResult};

use bourse_schema::{Batch, SQLITE, Table, Value};
use std::ffi::{CString, NulError, c_char, c_int};
use std::path::Path;

// The library is linked through this crate; without a mention it would be left out.
use libsqlite3_sys as _;

#[repr(C)]
struct CTable {
    insert: *const c_char,
    rows: *const u8,
    bytes: usize,
    columns: c_int,
}

unsafe extern "C" {
    fn bourse_yardstick_load(
        path: *const c_char,
        prepare: *const c_char,
        tables: *const CTable,
        count: c_int,
        finish: *const c_char,
    ) -> c_int;
}

/// Rows of one table, created and encoded in memory before any clock starts.
#[derive(Debug)]
pub struct ReadyTable {
    table: &'static Table,
    bytes: Vec<u8>,
    /// Number of rows.
    pub rows: u64,
}

impl ReadyTable {
    /// A table without rows.
    pub fn new(table: &'static Table) -> Self {
        Self { table, bytes: Vec::new(), rows: 0 }
    }

    /// Declaration of the table.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Encodes and stores the rows of a batch.
    pub fn add(&mut self, batch: &dyn Batch) {
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                for value in values {
                    self.encode(*value);
                }
            });
            self.rows += 1;
        }
    }

    fn encode(&mut self, value: Value<'_>) {
        let number = match value {
            Value::Null => return self.bytes.push(0),
            Value::Text(text) => return self.encode_bytes(2, text.as_bytes()),
            Value::Blob(bytes) => return self.encode_bytes(3, bytes),
            Value::Int(number) => number,
            Value::Bool(flag) => i64::from(flag),
            Value::Decimal { units, .. } => units,
            Value::Date(date) => i64::from(date.days()),
            Value::Timestamp(moment) => moment.millis(),
            Value::Real(_) => unreachable!("no column of the schema is a floating-point number"),
        };
        self.bytes.push(1);
        self.bytes.extend_from_slice(&number.to_ne_bytes());
    }

    fn encode_bytes(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&(bytes.len() as i64).to_ne_bytes());
        self.bytes.extend_from_slice(bytes);
    }
}

/// Loads the tables into a new SQLite file at `path` with the C yardstick.
///
/// `prepare` contains pragmas and `CREATE TABLE`, `finish` `CREATE INDEX`; each statement ends with a semicolon.
///
/// # Errors
/// SQLite's error code.
pub fn load_in_c(path: &Path, prepare: &str, tables: &[ReadyTable], finish: &str) -> Result<(), String> {
    let nul = |error: NulError| error.to_string();
    let path = CString::new(path.to_string_lossy().as_bytes()).map_err(nul)?;
    let prepare = CString::new(prepare).map_err(nul)?;
    let finish = CString::new(finish).map_err(nul)?;
    let inserts = tables
        .iter()
        .map(|ready| CString::new(bourse_schema::insert(ready.table, &SQLITE)).map_err(nul))
        .collect::<Result<Vec<_>, _>>()?;
    let c_tables: Vec<CTable> = tables
        .iter()
        .zip(&inserts)
        .map(|(ready, insert)| CTable {
            insert: insert.as_ptr(),
            rows: ready.bytes.as_ptr(),
            bytes: ready.bytes.len(),
            columns: ready.table.columns.len() as c_int,
        })
        .collect();
    // SAFETY: all pointers are to live, NUL-ended strings and to `c_tables`, which outlive the call; each table's rows are
    // encoded as the function reads them, and nothing keeps a pointer after it returns.
    let code = unsafe {
        bourse_yardstick_load(
            path.as_ptr(),
            prepare.as_ptr(),
            c_tables.as_ptr(),
            c_tables.len() as c_int,
            finish.as_ptr(),
        )
    };
    if code == 0 { Ok(()) } else { Err(format!("SQLite's code {code}")) }
}
