//! Refusals that key engines have in common.

use crate::{EngineError, ErrorKind, IndexKind, Key, RecordTable, Result};

/// Refuses to create tables in a transaction, and tables with indexes other than the order of their keys.
///
/// # Errors
/// [`Unsupported`](ErrorKind::Unsupported).
pub fn refuse_indexes(engine: &str, tables: &[&'static RecordTable], is_in_transaction: bool) -> Result<()> {
    if is_in_transaction {
        return Err(EngineError::unsupported("tables cannot be made in a transaction"));
    }
    for table in tables {
        if table.key().index == Some(IndexKind::Hash) {
            return Err(EngineError::unsupported(format!("{engine} finds keys by their order, not by hash")));
        }
        if let Some(field) = table.fields().iter().find(|field| field.index.is_some()) {
            let text = format!("{engine} has no indexes on fields, as {} of {} has", field.name, table.name());
            return Err(EngineError::unsupported(text));
        }
    }
    Ok(())
}

/// Error for a record whose key exists.
#[cold]
pub fn key_exists(table: &RecordTable, key: Key<'_>) -> EngineError {
    EngineError::new(ErrorKind::Duplicate, format!("{} has a record of key {key:?} already", table.name()))
}

/// Error for a table that does not exist.
#[cold]
pub fn no_table(table: &RecordTable) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("there is no table {}", table.name()))
}

/// Error for a key that is not of its table's type.
#[cold]
pub fn wrong_key(table: &RecordTable, key: Key<'_>) -> EngineError {
    EngineError::unsupported(format!("{key:?} is no key of {}", table.name()))
}

/// Error for a change in a transaction begun for reading.
#[cold]
pub fn only_reads() -> EngineError {
    EngineError::unsupported("a transaction begun for reading cannot write")
}
