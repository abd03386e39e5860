//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::attachment::{Attachment, FirebirdTransaction, Parameters, TransactionParameters, Visibility};
use crate::database::FirebirdDatabase;
use crate::dialect::DIALECT;
use crate::library::FirebirdLibrary;
use crate::options::{FirebirdOptions, FirebirdSync};
use crate::statement::FirebirdStatement;
use bourse_engine::{
    Batch, DatabaseFiles, EachRow, IncomingRows, Loader, Params, Result, RowExt as _, rows_loader, unless_in_use,
};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Makes an empty database for [`DatabaseFiles`], since Firebird refuses an empty file.
pub(crate) fn template(
    library: &'static FirebirdLibrary,
    options: &FirebirdOptions,
) -> impl FnOnce(&Path) -> Result<()> {
    let parameters = Parameters::new(library).page_size(options.page_size.bytes()).forced_writes(false);
    move |path| Attachment::create(library, path, &parameters).map(drop)
}

/// Rows being loaded: those between two statements are one transaction.
struct FirebirdRows {
    /// INSERT statements, by their tables' names; dropped before the connection.
    inserts: HashMap<&'static str, FirebirdStatement>,
    transaction: Option<FirebirdTransaction>,
    /// Statements that add the foreign keys of the new tables; run at the end, so that rows may come in any order.
    foreign_keys: Vec<String>,
    attachment: Attachment,
    /// Dropped last: it closes the file.
    _database: FirebirdDatabase,
}

impl FirebirdRows {
    /// Commits the inserted rows, so that statements see them.
    fn settle(&mut self) -> Result<&Attachment> {
        self.inserts.clear();
        if let Some(transaction) = self.transaction.take() {
            self.attachment.commit(transaction)?;
        }
        Ok(&self.attachment)
    }

    /// Adds the foreign keys, which checks the rows, and updates the statistics of all indexes: those of primary keys were
    /// computed on empty tables.
    fn complete(mut self) -> Result<()> {
        let keys = std::mem::take(&mut self.foreign_keys);
        let attachment = self.settle()?;
        keys.iter().try_for_each(|sql| attachment.run(sql, &mut |_| Ok(())).map(|_| ()))?;
        let mut indexes = Vec::new();
        let all = "SELECT trim(rdb$index_name) FROM rdb$indices WHERE coalesce(rdb$system_flag, 0) = 0";
        attachment.run(all, &mut |row| {
            indexes.push(row.get::<String>(0)?);
            Ok(())
        })?;
        indexes.iter().try_for_each(|name| {
            attachment.run(&format!("SET STATISTICS INDEX \"{name}\""), &mut |_| Ok(())).map(|_| ())
        })
    }
}

impl IncomingRows for FirebirdRows {
    fn run(&mut self, sql: &str) -> Result<()> {
        let (made, mut keys) = bourse_schema::without_foreign_keys(sql);
        self.foreign_keys.append(&mut keys);
        self.settle()?.run(&made, &mut |_| Ok(())).map(|_| ())
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        let table = batch.table();
        let sql = bourse_schema::insert(table, &DIALECT);
        let transaction = match &self.transaction {
            Some(transaction) => transaction,
            None => {
                let begin = TransactionParameters::new(Visibility::Snapshot, true, Duration::ZERO).without_undo();
                self.transaction.insert(self.attachment.begin(&begin)?)
            }
        };
        let insert = match self.inserts.entry(table.name) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(unknown) => {
                let made = FirebirdStatement::prepare(&self.attachment, transaction, &sql);
                unknown.insert(made.map_err(|e| e.with_statement(&sql))?)
            }
        };
        let mut done = Ok(0);
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                done = insert.run(&self.attachment, transaction, Params::of(values), None, &mut |_| Ok(()));
            });
            if let Err(error) = done {
                return Err(error.with_statement(&sql));
            }
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.settle()?.run(sql, each).map(|_| ())
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) fn file_loader(
    library: &'static FirebirdLibrary,
    files: &DatabaseFiles,
    options: FirebirdOptions,
) -> Result<Box<dyn Loader>> {
    let load = files.begin_load_with(template(library, &options))?;
    // The disk is waited for once, at the end.
    let database = FirebirdDatabase::alone(library, load.path(), &options, FirebirdSync::Off)?;
    let rows = FirebirdRows {
        inserts: HashMap::new(),
        transaction: None,
        foreign_keys: Vec::new(),
        attachment: database.connect()?,
        _database: database,
    };
    Ok(rows_loader(rows, move |rows| {
        // With the last connection all pages are written.
        rows.complete()?;
        // Opened for its lock.
        load.publish(|old| unless_in_use(FirebirdDatabase::in_file(library, old, &options)))
    }))
}
