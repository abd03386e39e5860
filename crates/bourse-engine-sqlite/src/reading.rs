//! Read-only use of a database: nothing is created, changed or removed in its folder.
//!
//! | files at the path | way of reading |
//! |---|---|
//! | a database with a rollback journal, which no crash has left | read-only, with SQLite's locks |
//! | a closed database with a write-ahead log: no `-wal` file, or an empty one without its index | read-only and `immutable`: SQLite would otherwise create its log's files |
//! | a database with a log or journal, after a crash or while another process uses it | a copy with its log, in the folder for temporary files |

use crate::engine::SqliteEngine;
use crate::format::has_log;
use crate::target::SqlitePlace;
use bourse_engine::{
    FileOwner, FileUse, ForReading, ReadCopy, Result, TargetFile, is_changed, path_with_suffix, stamp,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Access of an engine to its database.
#[derive(Debug)]
pub(crate) enum DatabaseAccess {
    /// Access with its own settings.
    Full,
    /// Read-only access.
    ReadOnly {
        /// Whether no process can change the file meanwhile, so that no locks are needed.
        is_immutable: bool,
    },
    /// Full access to a copy, which is removed with this.
    Copy { _copy: ReadCopy },
}

/// Opens an engine's database for reading alone; `None` for a database in memory, and if Bourse has no database at the
/// path.
pub(crate) fn open(engine: &SqliteEngine) -> Result<Option<ForReading>> {
    let Some(files) = engine.files().filter(|_| engine.path().is_some()) else { return Ok(None) };
    if files.owner()? != FileOwner::Bourse {
        return Ok(None);
    }
    let path = files.path();
    let has_log = has_log(path, &engine.target().options)?;
    let mut target = engine.target().clone();
    if let Some(left) = log_of(path)? {
        let copied = FileUse::unless_used(path, || ReadCopy::of(&files, &["-wal", "-journal"]));
        let copy = copied.unwrap_or_else(|| Err(is_changed(path)))?;
        let copied = format!(
            "{} is there, so part of the database may be in it alone: a copy of both is read, {}",
            left.display(),
            copy.path().display()
        );
        target.place = SqlitePlace::File(copy.path().to_owned());
        let engine = SqliteEngine::with_access(engine.library(), target, DatabaseAccess::Copy { _copy: copy });
        return Ok(Some(ForReading { copied: Some(copied), ..ForReading::of(engine) }));
    }
    let (before, path) = (stamp(path)?, path.to_owned());
    let access = DatabaseAccess::ReadOnly { is_immutable: has_log };
    let engine = SqliteEngine::with_access(engine.library(), target, access);
    let unchanged = move || {
        // With a rollback journal SQLite's own locks keep writers out while it reads.
        let is_same = !has_log || (log_of(&path)?.is_none() && stamp(&path)? == before);
        if is_same { Ok(()) } else { Err(is_changed(&path)) }
    };
    Ok(Some(ForReading { unchanged: Box::new(unchanged), ..ForReading::of(engine) }))
}

/// Opens an engine's database to read its catalogue before a command decides whether to use it: through the index of its log, if
/// another process has that open or a killed one has left it, and otherwise as [`open`] does. `None` if this process has
/// the database open, since its settings are made already.
pub(crate) fn open_for_inspection(engine: &SqliteEngine) -> Result<Option<ForReading>> {
    let Some(path) = engine.path().filter(|_| engine.is_full()) else { return Ok(None) };
    if FileUse::unless_used(path, || ()).is_none() {
        return Ok(None);
    }
    let has_log = fs::symlink_metadata(path_with_suffix(path, "-wal")).is_ok();
    if !has_log
        || !has_index(path)
        || engine.files().is_none_or(|files| !matches!(files.owner(), Ok(FileOwner::Bourse)))
    {
        return open(engine);
    }
    let access = DatabaseAccess::ReadOnly { is_immutable: false };
    // A log lets its readers see one state.
    Ok(Some(ForReading::of(SqliteEngine::with_access(engine.library(), engine.target().clone(), access))))
}

/// Whether the index of a database's log is there. Opening a database on a full disk leaves a few bytes of one, beside an empty log.
fn has_index(path: &Path) -> bool {
    /// Least size: SQLite makes an index larger by so much at a time.
    const INDEX_PART_BYTES: u64 = 32 << 10;
    fs::symlink_metadata(path_with_suffix(path, "-shm")).is_ok_and(|found| found.len() >= INDEX_PART_BYTES)
}

/// Log of a database, or journal that must be rolled back; `None` without either.
fn log_of(path: &Path) -> Result<Option<PathBuf>> {
    let log = path_with_suffix(path, "-wal");
    if fs::symlink_metadata(&log).is_ok_and(|found| found.len() > 0 || has_index(path)) {
        return Ok(Some(log));
    }
    // One that was cut to nothing, or whose header was overwritten, has nothing to undo.
    let journal = path_with_suffix(path, "-journal");
    let is_hot = TargetFile::at(&journal)?.start(1)?.first().is_some_and(|first| *first != 0);
    Ok(is_hot.then_some(journal))
}
