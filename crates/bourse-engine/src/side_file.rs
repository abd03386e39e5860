//! Temporary files that Bourse makes in a database's folder: a load in progress, a copy that rounds are restored from.

use crate::copied::copy_until;
use crate::server_wait::Interruption;
use crate::target_file::{is_no_fault_of_the_file, open_regular, path_with_suffix, start_of};
use crate::{DatabaseFiles, EngineError, ErrorKind, Result};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// A kind of side file.
#[derive(Debug)]
pub struct SideFileKind {
    /// Suffix to the database's name, as `.bourse-loading`.
    pub suffix: &'static str,
    /// Purpose, for a person: "a load".
    pub of: &'static str,
    /// Text that such a file begins with; `None` for a database, which the mark of the database next to it lists.
    pub text: Option<&'static str>,
}

impl SideFileKind {
    const fn database(suffix: &'static str, of: &'static str) -> Self {
        Self { suffix, of, text: None }
    }
}

/// Kinds of databases that Bourse makes next to a database.
pub(crate) static LOADING: SideFileKind = SideFileKind::database(".bourse-loading", "a load");
pub(crate) static SNAPSHOT: SideFileKind = SideFileKind::database(".bourse-snapshot", "a snapshot");
pub(crate) static RESTORED: SideFileKind = SideFileKind::database(".bourse-restored", "restoring a snapshot");
pub(crate) static COPY: SideFileKind = SideFileKind::database(".bourse-copy", "a copy to be checked");

/// Suffix to a side file's name of a database that an engine makes for its bytes, and of what it makes next to that.
const TEMPLATE: &str = ".new";
const OF_TEMPLATE: [&str; 2] = [TEMPLATE, ".new.wal"];

/// A side file in use: created exclusively, locked while this lives, removed with its companions when this is dropped.
///
/// A file of that name that Bourse did not make is refused. One of Bourse's without a lock was left by a killed process: it is
/// emptied and used. So is an empty file.
#[derive(Debug)]
pub struct SideFile {
    files: DatabaseFiles,
    file: File,
    kind: &'static SideFileKind,
    is_renamed: bool,
}

impl SideFile {
    /// Creates the side file of a database, empty.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if the name is taken by a file that Bourse did not make,
    /// [`Conflict`](ErrorKind::Conflict) if another process uses the side file; the system's.
    pub fn create(database: &DatabaseFiles, kind: &'static SideFileKind) -> Result<Self> {
        let files = at(database, kind);
        match OpenOptions::new().read(true).write(true).create_new(true).open(files.path()) {
            Ok(file) => {
                let this = Self { files, file, kind, is_renamed: false };
                // One that another process has taken over since is that one's.
                if let Err(busy) = this.lock() {
                    return Err(this.forget(busy));
                }
                // The file was just made, the companion not by Bourse.
                if let Err(refused) = this.refuse_companions().and_then(|()| this.list()) {
                    let _ = fs::remove_file(this.path());
                    return Err(this.forget(refused));
                }
                Ok(this)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Self::take_over(files, kind),
            Err(e) => Err(EngineError::io("create", files.path(), &e)),
        }
    }

    /// Adds the file, which is empty, to the mark.
    fn list(&self) -> Result<()> {
        match self.kind.text {
            Some(_) => Ok(()),
            None => self.files.list(&self.file.metadata().map_err(|e| EngineError::io("look at", self.path(), &e))?),
        }
    }

    /// Refuses to make a database whose side file of that kind could not be made.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if the name is taken by a foreign file; the system's.
    pub(crate) fn refuse_taken(database: &DatabaseFiles, kind: &SideFileKind) -> Result<()> {
        let files = at(database, kind);
        match fs::symlink_metadata(files.path()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            _ => open_marked(&files, kind).map(drop),
        }
    }

    /// Empties a file that a killed process has left, and locks it.
    fn take_over(files: DatabaseFiles, kind: &'static SideFileKind) -> Result<Self> {
        let (file, is_empty) = open_marked(&files, kind)?;
        let this = Self { files, file, kind, is_renamed: false };
        let ready = this.lock().and_then(|()| if is_empty { this.refuse_companions() } else { Ok(()) });
        if let Err(refused) = ready {
            return Err(this.forget(refused));
        }
        // First what belongs to the marked file: killed in between, both are still known.
        this.remove_companions();
        this.empty()?;
        this.list()?;
        Ok(this)
    }

    /// Whether a process uses a database's side file of that kind.
    pub fn is_used(database: &DatabaseFiles, kind: &SideFileKind) -> bool {
        let locked = open_regular(at(database, kind).path(), false).map(|file| file.try_lock());
        matches!(locked, Ok(Err(TryLockError::WouldBlock)))
    }

    /// Path of a database's side file if a killed process has left one.
    pub fn leftover(database: &DatabaseFiles, kind: &SideFileKind) -> Option<PathBuf> {
        let files = at(database, kind);
        let mut file = open_regular(files.path(), false).ok()?;
        let found = file.metadata().ok()?;
        let is_left = (found.len() == 0 || is_made_by_bourse(&files, kind, &mut file, &found).ok()?)
            && file.try_lock_shared().is_ok();
        is_left.then(|| files.path().to_owned())
    }

    /// Removes what a killed process has left of that kind; a file that Bourse did not make, or in use, stays.
    pub(crate) fn remove_leftover(database: &DatabaseFiles, kind: &'static SideFileKind) {
        if Self::leftover(database, kind).is_some() {
            // Another process that has taken it since may have it.
            drop(Self::take_over(at(database, kind), kind));
        }
    }

    fn lock(&self) -> Result<()> {
        self.locked(self.file.try_lock())
    }

    fn locked(&self, tried: Result<(), TryLockError>) -> Result<()> {
        let busy = || {
            let text =
                format!("{} is being written by another process, for {} too", self.path().display(), self.kind.of);
            EngineError::new(ErrorKind::Conflict, text)
        };
        match tried {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy()),
            Err(TryLockError::Error(e)) => return Err(EngineError::io("lock", self.path(), &e)),
        }
        // The other process may have finished between our opening and our locking, and renamed the file that we now hold.
        if self.is_at_its_path() { Ok(()) } else { Err(busy()) }
    }

    /// Shares the lock from now on with all that [join](SideFile::join): the file is in use until the last of them
    /// ends.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if another process has taken the file meanwhile; the system's.
    pub fn share(&self) -> Result<()> {
        self.locked(self.file.try_lock_shared())
    }

    /// Joins the processes that share the lock of a database's side file; `None` if the file does not exist.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if a process has it that does not share it; the system's.
    pub fn join(database: &DatabaseFiles, kind: &'static SideFileKind) -> Result<Option<Self>> {
        let files = at(database, kind);
        let file = match open_regular(files.path(), false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|e| EngineError::io("open", files.path(), &e))?,
        };
        let this = Self { files, file, kind, is_renamed: false };
        match this.share() {
            Ok(()) => Ok(Some(this)),
            Err(busy) => Err(this.forget(busy)),
        }
    }

    fn refuse_companions(&self) -> Result<()> {
        match self.companions().find(|path| fs::symlink_metadata(path).is_ok()) {
            None => Ok(()),
            Some(companion) => Err(EngineError::refused(format!(
                "{} is there, and the file of Bourse that it would belong to is not: move it away, or name another \
                 database",
                companion.display()
            ))),
        }
    }

    fn companions(&self) -> impl Iterator<Item = PathBuf> {
        let of_template = OF_TEMPLATE.iter().filter(|_| self.kind.text.is_none());
        self.files.companions().chain(of_template.map(|suffix| path_with_suffix(self.path(), suffix)))
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// The file as a database of its own.
    pub(crate) fn files(&self) -> &DatabaseFiles {
        &self.files
    }

    /// Leaves the lock to the engine, if that locks files in the same way.
    ///
    /// # Errors
    /// The system's.
    pub fn lend_lock(&self) -> Result<()> {
        match self.files.format().takes_the_lock {
            true => self.file.unlock().map_err(|e| EngineError::io("unlock", self.path(), &e)),
            false => Ok(()),
        }
    }

    /// Fills the file with a database that `make` makes at another path, for engines that refuse an empty file.
    ///
    /// # Errors
    /// Those of `make`; the system's.
    pub(crate) fn fill_with(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.remove_companions();
        let template = path_with_suffix(self.path(), TEMPLATE);
        make(&template)?;
        self.fill_from(&template).map(drop)
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Removes the companions that the engine has made.
    pub fn remove_companions(&self) {
        for companion in self.companions() {
            // Usually there is none.
            let _ = fs::remove_file(companion);
        }
    }

    fn empty(&self) -> Result<()> {
        let emptied = self.file.set_len(0).and_then(|()| (&self.file).rewind());
        emptied.map_err(|e| EngineError::io("empty", self.path(), &e))
    }

    /// Replaces the content of the file by a copy of another; returns whether the two share their blocks, as some file
    /// systems allow.
    ///
    /// # Errors
    /// The system's.
    pub fn fill_from(&self, from: &Path) -> Result<bool> {
        let mut source = open_regular(from, false).map_err(|e| EngineError::io("read", from, &e))?;
        self.remove_companions();
        self.empty()?;
        if shares_blocks(&source, &self.file) {
            return Ok(true);
        }
        copy_until(Interruption::from_now(), &mut source, &self.file, self.path())?;
        Ok(false)
    }

    /// Digest of the file's present bytes (XXH3 of 128 bits: detects accidents, not forgery).
    ///
    /// # Errors
    /// The system's.
    pub fn digest(&self) -> Result<u128> {
        let mut hasher = XxHash3_128::new();
        let mut bytes = vec![0; 1 << 20];
        let mut file = &self.file;
        let mut read = || -> io::Result<()> {
            file.rewind()?;
            loop {
                match file.read(&mut bytes)? {
                    0 => return Ok(()),
                    length => hasher.write(&bytes[..length]),
                }
            }
        };
        read().map_err(|e| EngineError::io("read", self.path(), &e))?;
        Ok(hasher.finish_128())
    }

    /// Replaces a companion by a copy of another file.
    ///
    /// # Errors
    /// The system's; `NotFound` is none: the companion is then absent too.
    pub fn copy_companion(&self, suffix: &str, from: &Path) -> Result<()> {
        let mut source = match open_regular(from, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            source => source.map_err(|e| EngineError::io("read", from, &e))?,
        };
        let path = path_with_suffix(self.path(), suffix);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let companion = made.map_err(|e| EngineError::io("copy to", &path, &e))?;
        copy_until(Interruption::from_now(), &mut source, &companion, &path)
    }

    /// Makes the file durable.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&self) -> Result<()> {
        // Locked again, if the engine had it.
        self.lock()?;
        self.file.sync_all().map_err(|e| EngineError::io("sync", self.path(), &e))
    }

    /// Makes the file durable and renames it, replacing a file of that name.
    ///
    /// # Errors
    /// The system's.
    pub fn rename(mut self, to: &Path) -> Result<()> {
        self.sync()?;
        fs::rename(self.path(), to).map_err(|e| EngineError::io("replace", to, &e))?;
        self.is_renamed = true;
        Ok(())
    }

    /// Gives up the side file and leaves the file on disk unchanged.
    fn forget(mut self, error: EngineError) -> EngineError {
        self.is_renamed = true;
        error
    }

    #[cfg(unix)]
    fn is_at_its_path(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        match (self.file.metadata(), fs::symlink_metadata(self.path())) {
            (Ok(ours), Ok(named)) => (ours.dev(), ours.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    #[cfg(not(unix))]
    fn is_at_its_path(&self) -> bool {
        self.path().exists()
    }
}

impl Drop for SideFile {
    fn drop(&mut self) {
        // Where the lock is shared, the last one removes the file.
        if !self.is_renamed && self.file.try_lock().is_ok() && self.is_at_its_path() {
            self.remove_companions();
            // One that stays is no obstacle: it is listed, and the next one of its kind takes it over.
            let _ = fs::remove_file(self.path());
            if self.kind.text.is_none() {
                self.files.unmark_if_gone();
            }
        }
    }
}

/// The side file of a database as files of the same format.
fn at(database: &DatabaseFiles, kind: &SideFileKind) -> DatabaseFiles {
    database.next_to(kind.suffix)
}

/// Whether Bourse made a side file that is not empty.
fn is_made_by_bourse(files: &DatabaseFiles, kind: &SideFileKind, file: &mut File, found: &Metadata) -> Result<bool> {
    let Some(text) = kind.text else { return files.lists(found) };
    let start = start_of(file, text.len()).map_err(|e| EngineError::io("read", files.path(), &e))?;
    Ok(text.as_bytes().starts_with(&start))
}

/// Opens a side file that Bourse made, or an empty one; also whether it is empty.
fn open_marked(files: &DatabaseFiles, kind: &SideFileKind) -> Result<(File, bool)> {
    let path = files.path();
    let foreign = |why: &str| {
        EngineError::refused(format!(
            "{} is needed for {} and is there already, {why}: it is left as it is; move it away, or name another database",
            path.display(),
            kind.of
        ))
    };
    let mut file = open_regular(path, true).map_err(|e| match is_no_fault_of_the_file(&e) {
        true => EngineError::io("open", path, &e),
        false => foreign(&format!("which cannot be used ({e})")),
    })?;
    let found = file.metadata().map_err(|e| EngineError::io("look at", path, &e))?;
    if found.len() > 0 && !is_made_by_bourse(files, kind, &mut file, &found)? {
        return Err(foreign("without the mark of a file of Bourse"));
    }
    Ok((file, found.len() == 0))
}

/// Makes `to` share the blocks of `from`, if the file system can.
#[cfg(target_os = "linux")]
fn shares_blocks(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileFormat;
    use std::io::Write as _;

    static KIND: SideFileKind = SideFileKind::database(".bourse-test", "a test");
    static FORMAT: FileFormat = FileFormat { name: "test", companions: &["-log"], ..FileFormat::FILE };

    /// A database in a folder that is removed when dropped.
    struct DatabaseInFolder(DatabaseFiles);

    impl DatabaseInFolder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("bourse-{name}-{}", std::process::id()));
            fs::create_dir(&folder).unwrap();
            Self(DatabaseFiles::at(folder.join("x.db"), &FORMAT))
        }

        fn side(&self) -> PathBuf {
            path_with_suffix(self.0.path(), ".bourse-test")
        }

        fn log(&self) -> PathBuf {
            path_with_suffix(self.0.path(), ".bourse-test-log")
        }
    }

    impl Drop for DatabaseInFolder {
        fn drop(&mut self) {
            fs::remove_dir_all(self.0.path().parent().unwrap()).unwrap();
        }
    }

    #[test]
    fn it_is_made_used_and_removed() {
        let database = DatabaseInFolder::new("side-made");
        let side = SideFile::create(&database.0, &KIND).unwrap();
        side.file().write_all(b"mark and more").unwrap();
        fs::write(database.log(), "log").unwrap();
        assert_eq!(SideFile::create(&database.0, &KIND).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(SideFile::leftover(&database.0, &KIND), None, "it is in use");
        let digest = side.digest().unwrap();
        assert_eq!(side.digest().unwrap(), digest);
        fs::write(database.side(), b"mark and mora").unwrap();
        assert_ne!(side.digest().unwrap(), digest);
        drop(side);
        assert!(!database.side().exists() && !database.log().exists());
        let side = SideFile::create(&database.0, &KIND).unwrap();
        side.file().write_all(b"mark").unwrap();
        side.rename(database.0.path()).unwrap();
        assert_eq!(fs::read(database.0.path()).unwrap(), b"mark");
        assert!(!database.side().exists());
    }

    #[test]
    fn a_shared_lock_lasts_until_the_last_has_ended() {
        let database = DatabaseInFolder::new("side-shared");
        assert!(SideFile::join(&database.0, &KIND).unwrap().is_none(), "there is nothing to join");
        let first = SideFile::create(&database.0, &KIND).unwrap();
        let refused = |joined: Result<Option<SideFile>>| joined.unwrap_err().kind();
        assert_eq!(refused(SideFile::join(&database.0, &KIND)), ErrorKind::Conflict, "it is not shared yet");
        first.file().write_all(b"mark").unwrap();
        first.share().unwrap();
        let second = SideFile::join(&database.0, &KIND).unwrap().unwrap();
        for left in [first, second] {
            assert_eq!(refused(SideFile::create(&database.0, &KIND).map(Some)), ErrorKind::Conflict);
            assert!(SideFile::is_used(&database.0, &KIND) && database.side().exists());
            drop(left);
        }
        assert!(!SideFile::is_used(&database.0, &KIND) && !database.side().exists());
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let database = DatabaseInFolder::new("side-left");
        for content in ["half written", ""] {
            let leave = || {
                fs::write(database.side(), content).unwrap();
                DatabaseFiles::at(database.side(), &FORMAT).mark().unwrap();
            };
            leave();
            assert_eq!(SideFile::leftover(&database.0, &KIND), Some(database.side()));
            if !content.is_empty() {
                fs::write(database.log(), "log").unwrap();
            }
            let side = SideFile::create(&database.0, &KIND).unwrap();
            assert!(side.file().metadata().unwrap().len() == 0 && !database.log().exists());
            drop(side);
            leave();
            SideFile::remove_leftover(&database.0, &KIND);
            assert!(!database.side().exists());
        }
    }

    #[test]
    fn what_is_not_ours_stays_as_it_is() {
        let database = DatabaseInFolder::new("side-foreign");
        fs::write(database.side(), "somebody's notes").unwrap();
        fs::write(database.log(), "and more").unwrap();
        let refused = |expected: &str| {
            let error = SideFile::create(&database.0, &KIND).unwrap_err();
            assert!(error.kind() == ErrorKind::Refused && error.message().contains(expected), "{error}");
        };
        refused("without the mark");
        assert_eq!(SideFile::leftover(&database.0, &KIND), None);
        SideFile::remove_leftover(&database.0, &KIND);
        assert_eq!(fs::read(database.side()).unwrap(), b"somebody's notes");
        // A log whose file is not there, or is empty, is of a file that we know nothing of.
        for content in [None, Some("")] {
            fs::remove_file(database.side()).unwrap();
            if let Some(content) = content {
                fs::write(database.side(), content).unwrap();
            }
            refused("x.db.bourse-test-log is there");
            assert_eq!(fs::read(database.log()).unwrap(), b"and more");
            assert_eq!(database.side().exists(), content.is_some());
            fs::write(database.side(), "again").unwrap();
        }
        #[cfg(unix)]
        {
            fs::remove_file(database.side()).unwrap();
            std::os::unix::fs::symlink(database.log(), database.side()).unwrap();
            refused("which cannot be used");
            assert_eq!(fs::read(database.log()).unwrap(), b"and more");
        }
    }
}
