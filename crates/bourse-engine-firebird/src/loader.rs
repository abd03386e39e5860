//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::attachment::{Attachment, Begin, Parameters, Sees, Transaction};
use crate::database::{Database, in_use, is_open};
use crate::dialect::DIALECT;
use crate::library::Library;
use crate::mark::{TEMPLATE, look, put, side_file_kind};
use crate::options::{Options, Sync};
use crate::statement::Statement;
use bourse_engine::{
    Batch, EachRow, EngineError, ErrorKind, Loader, Params, RowExt as _, SideFile, SideFileKind, beside, sync_names,
};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bourse's files next to a database, which a killed process leaves behind.
pub(crate) static LOADING: SideFileKind = side_file_kind(".bourse-loading", "a load");
pub(crate) static SNAPSHOT: SideFileKind = side_file_kind(".bourse-snapshot", "a snapshot");
pub(crate) static RESTORED: SideFileKind = side_file_kind(".bourse-restored", "restoring a snapshot");

static SIDE_FILES: [&SideFileKind; 3] = [&LOADING, &SNAPSHOT, &RESTORED];

/// Files that killed processes have left next to a database.
pub(crate) fn leftovers(path: &Path) -> Vec<PathBuf> {
    SIDE_FILES.iter().filter_map(|kind| SideFile::leftover(path, kind)).collect()
}

/// Makes an empty database with Bourse's mark at a free path or in place of an empty file.
///
/// # Errors
/// The library's, the system's.
pub(crate) fn create(library: &'static Library, path: &Path, options: &Options) -> Result<(), EngineError> {
    let side = SideFile::create(path, &LOADING)?;
    fill(library, &side, options)?;
    side.rename(path)
}

/// Fills a side file with an empty database that has Bourse's mark: the bytes are those of a database that Firebird makes next
/// to it.
fn fill(library: &'static Library, side: &SideFile, options: &Options) -> Result<(), EngineError> {
    let template = beside(side.path(), TEMPLATE);
    match fs::remove_file(&template) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(EngineError::io("remove", &template, &e)),
        _ => {}
    }
    let parameters = Parameters::new(library).page_size(options.page_size.bytes()).forced_writes(false);
    drop(Attachment::create(library, &template, &parameters)?);
    let mut bytes = fs::read(&template).map_err(|e| EngineError::io("read", &template, &e))?;
    put(&mut bytes)?;
    side.file().write_all(&bytes).map_err(|e| EngineError::io("write", side.path(), &e))?;
    side.remove_companions();
    Ok(())
}

/// Rows being loaded: those between two statements are one transaction.
struct Rows {
    /// INSERT statements, by their tables' names; dropped before the connection.
    inserts: HashMap<&'static str, Statement>,
    transaction: Option<Transaction>,
    /// Statements that add the foreign keys of the new tables; run at the end, so that rows may come in any order.
    foreign_keys: Vec<String>,
    attachment: Attachment,
    /// Dropped last: it closes the file.
    _database: Database,
}

impl Rows {
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        let table = batch.table();
        let sql = bourse_schema::insert(table, &DIALECT);
        let transaction = match &self.transaction {
            Some(transaction) => transaction,
            None => {
                let begin = Begin::new(Sees::Snapshot, true, Duration::ZERO).without_undo();
                self.transaction.insert(self.attachment.begin(&begin)?)
            }
        };
        let insert = match self.inserts.entry(table.name) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(unknown) => {
                let made = Statement::prepare(&self.attachment, transaction, &sql);
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

    /// Commits the inserted rows, so that statements see them.
    fn settle(&mut self) -> Result<&Attachment, EngineError> {
        self.inserts.clear();
        if let Some(transaction) = self.transaction.take() {
            self.attachment.commit(transaction)?;
        }
        Ok(&self.attachment)
    }

    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        let (made, mut keys) = bourse_schema::without_foreign_keys(sql);
        self.foreign_keys.append(&mut keys);
        self.settle()?.run(&made, &mut |_| Ok(())).map(|_| ())
    }

    /// Adds the foreign keys, which checks the rows, and updates the statistics of all indexes: those of primary keys were
    /// computed on empty tables.
    fn complete(mut self) -> Result<(), EngineError> {
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

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) struct FileLoader {
    library: &'static Library,
    options: Options,
    path: PathBuf,
    /// `None` once finished.
    rows: Option<Rows>,
    side: SideFile,
}

impl FileLoader {
    pub(crate) fn new(library: &'static Library, path: &Path, options: &Options) -> Result<Self, EngineError> {
        let (path, _) = look(path)?.to_open()?;
        for kind in SIDE_FILES {
            SideFile::remove_leftover(&path, kind);
        }
        let side = SideFile::create(&path, &LOADING)?;
        fill(library, &side, options)?;
        // Firebird locks the file as the side file is locked: it takes the lock over.
        side.file().unlock().map_err(|e| EngineError::io("unlock", side.path(), &e))?;
        // The disk is waited for once, at the end.
        let database = Database::alone(library, side.path(), options, Sync::Off)?;
        let rows = Rows {
            inserts: HashMap::new(),
            transaction: None,
            foreign_keys: Vec::new(),
            attachment: database.connect()?,
            _database: database,
        };
        Ok(Self { library, options: options.clone(), path, rows: Some(rows), side })
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }

    /// Checks that no session has the old database open.
    fn retire_old(&self) -> Result<(), EngineError> {
        if is_open(&self.path) {
            return Err(in_use(&self.path));
        }
        let (_, is_new) = look(&self.path)?.to_open()?;
        if !is_new {
            // Opened for its lock. A damaged one may be replaced, one in use not.
            match Database::in_file(self.library, &self.path, &self.options) {
                Err(e) if e.kind() == ErrorKind::Conflict => return Err(e),
                retired => drop(retired),
            }
        }
        Ok(())
    }
}

impl Loader for FileLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows().run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows().settle()?.run(sql, each).map(|_| ())
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        // With the last connection all pages are written.
        self.rows.take().expect("a finished loader is gone").complete()?;
        let taken_back = self.side.file().try_lock();
        taken_back
            .map_err(|e| EngineError::new(ErrorKind::Conflict, format!("{}: {e}", self.side.path().display())))?;
        // The slow sync happens before the old database is touched.
        self.side.file().sync_all().map_err(|e| EngineError::io("sync", self.side.path(), &e))?;
        self.retire_old()?;
        let Self { path, side, .. } = *self;
        side.rename(&path)?;
        sync_names(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    }
}
