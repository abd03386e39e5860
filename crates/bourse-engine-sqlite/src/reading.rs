//! Read-only use of a database: nothing is created, changed or removed in its folder.
//!
//! | files at the path | way of reading |
//! |---|---|
//! | a database with a rollback journal, which no crash has left | read-only, with SQLite's locks |
//! | a closed database with a write-ahead log: no `-wal` file | read-only and `immutable`: SQLite would otherwise create its log's files |
//! | a database with a log or journal, after a crash or while another process uses it | a copy with its log, in the folder for temporary files |

use crate::engine::SqliteEngine;
use crate::mark::{Found, look, side_file_kind};
use crate::target::Place;
use bourse_engine::{EngineError, ErrorKind, FileUse, ForReading, SideFile, SideFileKind, TargetFile, beside};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Access of an engine to its database.
#[derive(Debug)]
pub(crate) enum Access {
    /// Access with its own settings.
    Full,
    /// Read-only access.
    ReadOnly {
        /// Whether no process can change the file meanwhile, so that no locks are needed.
        is_immutable: bool,
    },
    /// Full access to a copy, which is removed with this.
    Copy { _copy: Copy },
}

/// The copy's name in its folder, before the suffix of its kind.
const NAME: &str = "database";
/// Prefix of the names of the copies' folders.
const FOLDERS: &str = "bourse-check-";
static KIND: SideFileKind = side_file_kind(".bourse-copy", "a copy to be checked");
/// Number of attempts to copy a database that is changed meanwhile.
const TRIES: usize = 5;

/// Opens an engine's database for reading alone; `None` for a database in memory, and if Bourse has no database at the
/// path.
pub(crate) fn open(engine: &SqliteEngine) -> Result<Option<ForReading>, EngineError> {
    let Some(path) = engine.path() else { return Ok(None) };
    let Found::Ours { has_log } = look(engine.library(), path, &engine.target().options)? else { return Ok(None) };
    let mut target = engine.target().clone();
    if let Some(left) = log_of(path)? {
        let copy = FileUse::unless_used(path, || Copy::of(path)).unwrap_or_else(|| Err(changed(path)))?;
        let copied = format!(
            "{} is there, so part of the database may be in it alone: a copy of both is read, {}",
            left.display(),
            copy.path().display()
        );
        target.place = Place::File(copy.path().to_owned());
        let engine = Box::new(SqliteEngine::with_access(engine.library(), target, Access::Copy { _copy: copy }));
        return Ok(Some(ForReading { engine, copied: Some(copied), unchanged: Box::new(|| Ok(())) }));
    }
    let (before, path) = (Stamp::of(path)?, path.to_owned());
    let engine =
        Box::new(SqliteEngine::with_access(engine.library(), target, Access::ReadOnly { is_immutable: has_log }));
    let unchanged = move || {
        // With a rollback journal SQLite's own locks keep writers out while it reads.
        let is_same = !has_log || (log_of(&path)?.is_none() && Stamp::of(&path)? == before);
        if is_same { Ok(()) } else { Err(changed(&path)) }
    };
    Ok(Some(ForReading { engine, copied: None, unchanged: Box::new(unchanged) }))
}

/// Opens an engine's database to read its catalogue before a command decides whether to use it: through the index of its log, if
/// another process has that open or a killed one has left it, and otherwise as [`open`] does. `None` if this process has
/// the database open, since its settings are made already.
pub(crate) fn open_for_a_look(engine: &SqliteEngine) -> Result<Option<ForReading>, EngineError> {
    let Some(path) = engine.path().filter(|_| engine.is_full()) else { return Ok(None) };
    if FileUse::unless_used(path, || ()).is_none() {
        return Ok(None);
    }
    let has_index = ["-wal", "-shm"].iter().all(|suffix| fs::symlink_metadata(beside(path, suffix)).is_ok());
    if !has_index || !matches!(look(engine.library(), path, &engine.target().options)?, Found::Ours { .. }) {
        return open(engine);
    }
    let access = Access::ReadOnly { is_immutable: false };
    let engine = Box::new(SqliteEngine::with_access(engine.library(), engine.target().clone(), access));
    // A log lets its readers see one state.
    Ok(Some(ForReading { engine, copied: None, unchanged: Box::new(|| Ok(())) }))
}

fn changed(path: &Path) -> EngineError {
    let text = format!("{} is being changed by another program while it is read", path.display());
    EngineError::new(ErrorKind::Conflict, text)
}

/// Log of a database, or journal that must be rolled back; `None` without either.
fn log_of(path: &Path) -> Result<Option<PathBuf>, EngineError> {
    let log = beside(path, "-wal");
    if fs::symlink_metadata(&log).is_ok() {
        return Ok(Some(log));
    }
    // One that was cut to nothing, or whose header was overwritten, has nothing to undo.
    let journal = beside(path, "-journal");
    let is_hot = TargetFile::at(&journal)?.start(1)?.first().is_some_and(|first| *first != 0);
    Ok(is_hot.then_some(journal))
}

/// Length and modification time of a file, by which a change is detected.
#[derive(Debug, PartialEq, Eq)]
struct Stamp(u64, Option<SystemTime>);

impl Stamp {
    fn of(path: &Path) -> Result<Self, EngineError> {
        match fs::metadata(path) {
            Ok(found) => Ok(Self(found.len(), found.modified().ok())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self(0, None)),
            Err(e) => Err(EngineError::io("look at", path, &e)),
        }
    }
}

/// A copy of a database with its log, in a folder of its own.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The copied file; `None` once it is removed.
    file: Option<SideFile>,
    folder: PathBuf,
}

impl Copy {
    /// Copies the database at a path.
    ///
    /// # Errors
    /// The system's; [`Conflict`](ErrorKind::Conflict) if another program changes it meanwhile.
    pub(crate) fn of(path: &Path) -> Result<Self, EngineError> {
        remove_leftovers();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("{FOLDERS}{}-{number}", std::process::id()));
        make_private(&folder).map_err(|e| EngineError::io("make", &folder, &e))?;
        let mut this = Self { file: None, folder };
        let file = this.file.insert(SideFile::create(&this.folder.join(NAME), &KIND)?);
        let stamp = |suffix| Stamp::of(&beside(path, suffix));
        let stamps = || Ok::<_, EngineError>([stamp("")?, stamp("-wal")?, stamp("-journal")?]);
        for _ in 0..TRIES {
            let before = stamps()?;
            file.fill_from(path)?;
            for suffix in ["-wal", "-journal"] {
                file.copy_companion(suffix, &beside(path, suffix))?;
            }
            if before == stamps()? {
                return Ok(this);
            }
        }
        Err(changed(path))
    }

    /// Path of the copied file.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_ref().expect("a copy that was made has its file").path()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        drop(self.file.take());
        // One that cannot be removed goes with the next copy.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Creates a folder that only this user can access, and fails if it exists.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the copies of processes that were killed.
fn remove_leftovers() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let database = entry.path().join(NAME);
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDERS));
        // An empty one may be just about to be filled.
        let is_left = |path: PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 0);
        if is_one && SideFile::leftover(&database, &KIND).is_some_and(is_left) {
            SideFile::remove_leftover(&database, &KIND);
            // Stays while there is anything in it.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::marked_header;

    #[test]
    fn copies_of_killed_processes_are_removed_and_no_other_folders() {
        let folder = |name: &str| std::env::temp_dir().join(format!("{FOLDERS}test-{name}-{}", std::process::id()));
        let (ours, theirs) = (folder("ours"), folder("theirs"));
        for (folder, content) in [(&ours, marked_header()), (&theirs, b"notes of mine".to_vec())] {
            make_private(folder).unwrap();
            assert!(make_private(folder).is_err(), "it is taken");
            fs::write(beside(&folder.join(NAME), KIND.suffix), content).unwrap();
        }
        remove_leftovers();
        assert!(!ours.exists() && theirs.exists());
        fs::remove_dir_all(theirs).unwrap();
    }
}
