//! Rows as text for `LOAD DATA LOCAL INFILE`: MySQL loads them faster than INSERT statements.

use crate::connect::version;
use crate::error::{error, warning};
use crate::link::Link;
use crate::products::PRODUCTS;
use crate::value::write_field;
use bourse_engine::{EngineError, ErrorKind, Result, locked};
use bourse_schema::{Table, Value};
use bourse_server::client::Product;
use mysql::LocalInfileHandler;
use mysql::prelude::Queryable as _;
use std::io;
use std::sync::{Arc, Mutex};

/// File name in the statement; no such file exists.
const NAME: &str = "bourse-rows";

/// Length of the text at which rows are sent, in bytes.
const SEND_BYTES: usize = 4 << 20;

/// Rows of one table, not yet sent.
pub(crate) struct LocalRows {
    text: Arc<Mutex<Vec<u8>>>,
    rows: u64,
    /// Columns in which a text is not ASCII.
    beyond_ascii: Vec<bool>,
}

impl LocalRows {
    /// Rows for a server that accepts them; `None` for MariaDB, for untested products, and if the server's
    /// `local_infile` is off.
    ///
    /// # Errors
    /// The server's.
    pub(crate) fn of(connection: &mut Link) -> Result<Option<Self>> {
        let version = version(connection);
        if version.contains("MariaDB") || Product::of(PRODUCTS, &version).is_some() {
            return Ok(None);
        }
        let is_on: Option<i64> = connection.query_first("SELECT @@global.local_infile").map_err(|e| error(&e))?;
        if is_on != Some(1) {
            return Ok(None);
        }
        // An INSERT ignores notes; here they would be counted like warnings, which are errors.
        connection.query_drop("SET SESSION sql_notes = 0").map_err(|e| error(&e))?;
        Ok(Some(Self { text: Arc::default(), rows: 0, beyond_ascii: Vec::new() }))
    }

    /// Adds a row; returns whether the rows should be sent now.
    pub(crate) fn add(&mut self, values: &[Value<'_>]) -> bool {
        self.beyond_ascii.resize(values.len(), false);
        let mut text = locked(&self.text);
        for (at, (value, is_beyond)) in values.iter().zip(&mut self.beyond_ascii).enumerate() {
            if at > 0 {
                text.push(b'\t');
            }
            *is_beyond |= matches!(value, Value::Text(text) if !text.is_ascii());
            write_field(&mut text, *value);
        }
        text.push(b'\n');
        self.rows += 1;
        text.len() >= SEND_BYTES
    }

    /// Sends the added rows and forgets them.
    ///
    /// # Errors
    /// The server's. It only warns of an invalid row, as for `INSERT IGNORE`: the first warning becomes the error.
    pub(crate) fn send(&mut self, connection: &mut Link, table: &Table) -> Result<()> {
        let sql = statement(table, &self.beyond_ascii);
        let sent = self.send_by(connection, &sql);
        locked(&self.text).clear();
        self.rows = 0;
        self.beyond_ascii.clear();
        sent.map_err(|e| e.with_statement(&sql))
    }

    fn send_by(&self, connection: &mut Link, sql: &str) -> Result<()> {
        let text = Arc::clone(&self.text);
        // A server may ask for a file at any time: nothing answers but here.
        connection.set_local_infile_handler(Some(LocalInfileHandler::new(move |name, out| {
            answer(name, &locked(&text), out)
        })));
        let sent = connection.query_drop(sql);
        connection.set_local_infile_handler(None);
        sent.map_err(|e| error(&e))?;
        let (taken, warnings) = (connection.affected_rows(), connection.warnings());
        if taken == self.rows && warnings == 0 {
            return Ok(());
        }
        let first: Option<(String, u16, String)> =
            connection.query_first("SHOW WARNINGS LIMIT 1").map_err(|e| error(&e))?;
        Err(first.map_or_else(
            || {
                let words = format!("the server took {taken} of {} rows, with {warnings} warnings", self.rows);
                EngineError::new(ErrorKind::Other, words)
            },
            |(_, code, message)| warning(code, message),
        ))
    }
}

/// Answers a server's request for a file; only the one named in the statement is sent.
fn answer(name: &[u8], rows: &[u8], out: &mut dyn io::Write) -> io::Result<()> {
    if name != NAME.as_bytes() {
        let name = String::from_utf8_lossy(name);
        return Err(io::Error::other(format!("the server asked for the file {name:?}, which it does not get")));
    }
    out.write_all(rows)
}

/// Statement for the table. Bytes are taken unchanged, which is right for large objects and for ASCII in every column;
/// other texts are read as UTF-8, as those in statements are, and converted to the column's own character set.
fn statement(table: &Table, beyond_ascii: &[bool]) -> String {
    let mut columns = Vec::with_capacity(table.columns.len());
    let mut converted = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        if beyond_ascii.get(at) == Some(&true) {
            columns.push(format!("@bourse_{at}"));
            converted.push(format!("{} = CONVERT(@bourse_{at} USING utf8mb4)", column.name));
        } else {
            columns.push(column.name.to_owned());
        }
    }
    let set = if converted.is_empty() { String::new() } else { format!(" SET {}", converted.join(", ")) };
    format!(
        "LOAD DATA LOCAL INFILE '{NAME}' INTO TABLE {} CHARACTER SET binary FIELDS TERMINATED BY x'09' ESCAPED BY x'5c' \
         LINES TERMINATED BY x'0a' ({}){set}",
        table.name,
        columns.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_schema::TableRow as _;
    use bourse_schema::tables::StatusType;

    #[test]
    fn a_server_gets_the_rows_and_no_file() {
        let mut out = Vec::new();
        for name in ["/etc/hostname", "", "bourse-rows/../x", "BOURSE-ROWS"] {
            let refused = answer(name.as_bytes(), b"a\n", &mut out).unwrap_err();
            assert!(refused.to_string().contains("does not get"), "{refused}");
            assert_eq!(out, b"", "{name}");
        }
        answer(b"bourse-rows", b"a\n", &mut out).unwrap();
        assert_eq!(out, b"a\n");
    }

    #[test]
    fn texts_beyond_ascii_are_converted() {
        let sql = |beyond_ascii: &[bool]| statement(StatusType::table(), beyond_ascii);
        assert!(sql(&[false, false]).ends_with("LINES TERMINATED BY x'0a' (st_id, st_name)"));
        assert!(sql(&[false, true]).ends_with("(st_id, @bourse_1) SET st_name = CONVERT(@bourse_1 USING utf8mb4)"));
    }
}
