//! Temporary files that Bourse makes in a database's folder: a load in progress, a copy that rounds are restored from.

use crate::copied::copy_by_pages;
use crate::target_file::{beside, open_regular, start_of};
use crate::{EngineError, ErrorKind};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// A kind of side file.
#[derive(Debug, Clone, Copy)]
pub struct SideFileKind {
    /// Suffix to the database's name, as `.bourse-loading`.
    pub suffix: &'static str,
    /// Purpose, for a person: "a load".
    pub of: &'static str,
    /// Suffixes of the engine's own files that belong to it: its log, its journal.
    pub companions: &'static [&'static str],
    /// Number of bytes at the start of the file in which the mark is sought.
    pub start: usize,
    /// Whether a file with these first bytes has Bourse's mark.
    pub has_mark: fn(&[u8]) -> bool,
}

/// A side file in use: created exclusively, locked while this lives, removed with its companions when this is dropped.
///
/// A file of that name without the mark does not belong to Bourse and is refused. A marked file without a lock was left
/// by a killed process: it is emptied and used. An empty file counts as marked.
#[derive(Debug)]
pub struct SideFile {
    path: PathBuf,
    file: File,
    kind: &'static SideFileKind,
    is_renamed: bool,
}

impl SideFile {
    /// Creates the side file of a database, empty.
    ///
    /// [`Refused`](ErrorKind::Refused) if the name is taken by a file without the mark,
    /// [`Conflict`](ErrorKind::Conflict) if another process uses the side file; the system's.
    pub fn create(database: &Path, kind: &'static SideFileKind) -> Result<Self, EngineError> {
        let path = beside(database, kind.suffix);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                let this = Self { path, file, kind, is_renamed: false };
                // One that another process has taken over since is that one's.
                if let Err(busy) = this.lock() {
                    return Err(this.forget(busy));
                }
                // The file was just made, the companion by nobody of ours.
                if let Err(refused) = this.refuse_companions() {
                    let _ = fs::remove_file(&this.path);
                    return Err(this.forget(refused));
                }
                Ok(this)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Self::take_over(path, kind),
            Err(e) => Err(EngineError::io("create", &path, &e)),
        }
    }

    /// Refuses to make a database whose side file of that kind could not be made.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if the name is taken by a foreign file; the system's.
    pub fn refuse_taken(database: &Path, kind: &SideFileKind) -> Result<(), EngineError> {
        let path = beside(database, kind.suffix);
        match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            _ => open_marked(&path, kind).map(drop),
        }
    }

    /// Empties a file that a killed process has left, and locks it.
    fn take_over(path: PathBuf, kind: &'static SideFileKind) -> Result<Self, EngineError> {
        let (file, start) = open_marked(&path, kind)?;
        let this = Self { path: path.clone(), file, kind, is_renamed: false };
        let ready = this.lock().and_then(|()| if start.is_empty() { this.refuse_companions() } else { Ok(()) });
        if let Err(refused) = ready {
            return Err(this.forget(refused));
        }
        // First what belongs to the marked file, then what bears the mark: killed in between, both are still known.
        this.remove_companions();
        this.empty()?;
        Ok(this)
    }

    /// Whether a process uses a database's side file of that kind.
    pub fn is_used(database: &Path, kind: &SideFileKind) -> bool {
        let locked = open_regular(&beside(database, kind.suffix), false).map(|file| file.try_lock());
        matches!(locked, Ok(Err(TryLockError::WouldBlock)))
    }

    /// Path of a database's side file if a killed process has left one.
    pub fn leftover(database: &Path, kind: &SideFileKind) -> Option<PathBuf> {
        let path = beside(database, kind.suffix);
        let mut file = open_regular(&path, false).ok()?;
        let start = start_of(&mut file, kind.start).ok()?;
        let is_ours = start.is_empty() || (kind.has_mark)(&start);
        (is_ours && file.try_lock_shared().is_ok()).then_some(path)
    }

    /// Removes what a killed process has left of that kind; a file without the mark, or in use, stays.
    pub fn remove_leftover(database: &Path, kind: &'static SideFileKind) {
        if Self::leftover(database, kind).is_some() {
            // Whoever has taken it since may have it.
            drop(Self::take_over(beside(database, kind.suffix), kind));
        }
    }

    fn lock(&self) -> Result<(), EngineError> {
        self.locked(self.file.try_lock())
    }

    fn locked(&self, tried: Result<(), TryLockError>) -> Result<(), EngineError> {
        let busy = || {
            let text = format!("{} is being written by another process, for {} too", self.path.display(), self.kind.of);
            EngineError::new(ErrorKind::Conflict, text)
        };
        match tried {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy()),
            Err(TryLockError::Error(e)) => return Err(EngineError::io("lock", &self.path, &e)),
        }
        // The other process may have finished between our opening and our locking, and renamed the file that we now hold.
        if self.is_at_its_path() { Ok(()) } else { Err(busy()) }
    }

    /// Shares the lock from now on with all that [join](SideFile::join): the file is in use until the last of them
    /// ends.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if another process has taken the file meanwhile; the system's.
    pub fn share(&self) -> Result<(), EngineError> {
        self.locked(self.file.try_lock_shared())
    }

    /// Joins the processes that share the lock of a database's side file; `None` if the file does not exist.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict) if a process has it that does not share it; the system's.
    pub fn join(database: &Path, kind: &'static SideFileKind) -> Result<Option<Self>, EngineError> {
        let path = beside(database, kind.suffix);
        let file = match open_regular(&path, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|e| EngineError::io("open", &path, &e))?,
        };
        let this = Self { path, file, kind, is_renamed: false };
        match this.share() {
            Ok(()) => Ok(Some(this)),
            Err(busy) => Err(this.forget(busy)),
        }
    }

    fn refuse_companions(&self) -> Result<(), EngineError> {
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
        self.kind.companions.iter().map(|suffix| beside(&self.path, suffix))
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
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

    fn empty(&self) -> Result<(), EngineError> {
        let emptied = self.file.set_len(0).and_then(|()| (&self.file).rewind());
        emptied.map_err(|e| EngineError::io("empty", &self.path, &e))
    }

    /// Replaces the content of the file by a copy of another; returns whether the two share their blocks, as some file
    /// systems allow.
    ///
    /// # Errors
    /// The system's.
    pub fn fill_from(&self, from: &Path) -> Result<bool, EngineError> {
        self.remove_companions();
        self.empty()?;
        let mut source = open_regular(from, false).map_err(|e| EngineError::io("read", from, &e))?;
        if shares_blocks(&source, &self.file) {
            return Ok(true);
        }
        copy_by_pages(&mut source, &self.file).map_err(|e| EngineError::io("copy to", &self.path, &e))?;
        Ok(false)
    }

    /// Digest of the file's present bytes (XXH3 of 128 bits: detects accidents, not forgery).
    ///
    /// # Errors
    /// The system's.
    pub fn digest(&self) -> Result<u128, EngineError> {
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
        read().map_err(|e| EngineError::io("read", &self.path, &e))?;
        Ok(hasher.finish_128())
    }

    /// Replaces a companion by a copy of another file.
    ///
    /// # Errors
    /// The system's; `NotFound` is none: the companion is then absent too.
    pub fn copy_companion(&self, suffix: &str, from: &Path) -> Result<(), EngineError> {
        let mut source = match open_regular(from, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            source => source.map_err(|e| EngineError::io("read", from, &e))?,
        };
        let path = beside(&self.path, suffix);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let copied = made.and_then(|companion| copy_by_pages(&mut source, &companion));
        copied.map_err(|e| EngineError::io("copy to", &path, &e))
    }

    /// Makes the file durable and renames it, replacing a file of that name.
    ///
    /// # Errors
    /// The system's.
    pub fn rename(mut self, to: &Path) -> Result<(), EngineError> {
        self.file.sync_all().map_err(|e| EngineError::io("sync", &self.path, &e))?;
        fs::rename(&self.path, to).map_err(|e| EngineError::io("replace", to, &e))?;
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
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(ours), Ok(named)) => (ours.dev(), ours.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    #[cfg(not(unix))]
    fn is_at_its_path(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for SideFile {
    fn drop(&mut self) {
        // Where the lock is shared, whoever ends last removes the file.
        if !self.is_renamed && self.file.try_lock().is_ok() && self.is_at_its_path() {
            self.remove_companions();
            // Left behind it is in nobody's way: it bears our mark, and the next one of its kind takes it over.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file that bears the mark of its kind, or is empty; its first bytes too.
fn open_marked(path: &Path, kind: &SideFileKind) -> Result<(File, Vec<u8>), EngineError> {
    let foreign = |why: &str| {
        EngineError::refused(format!(
            "{} is needed for {} and is there already, {why}: it is left as it is; move it away, or name another database",
            path.display(),
            kind.of
        ))
    };
    let mut file = open_regular(path, true).map_err(|e| foreign(&format!("which cannot be used ({e})")))?;
    let start = start_of(&mut file, kind.start).map_err(|e| EngineError::io("read", path, &e))?;
    if !start.is_empty() && !(kind.has_mark)(&start) {
        return Err(foreign("without the mark of a file of Bourse"));
    }
    Ok((file, start))
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
    use std::io::Write as _;

    static KIND: SideFileKind = SideFileKind {
        suffix: ".bourse-test",
        of: "a test",
        companions: &["-log"],
        start: 4,
        has_mark: |start| start == b"mark",
    };

    /// Path of a database in a folder that is removed when dropped.
    struct Database(PathBuf);

    impl Database {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("bourse-{name}-{}", std::process::id()));
            fs::create_dir(&folder).unwrap();
            Self(folder.join("x.db"))
        }

        fn side(&self) -> PathBuf {
            beside(&self.0, ".bourse-test")
        }

        fn log(&self) -> PathBuf {
            beside(&self.0, ".bourse-test-log")
        }
    }

    impl Drop for Database {
        fn drop(&mut self) {
            fs::remove_dir_all(self.0.parent().unwrap()).unwrap();
        }
    }

    #[test]
    fn it_is_made_used_and_removed() {
        let database = Database::new("side-made");
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
        side.rename(&database.0).unwrap();
        assert_eq!(fs::read(&database.0).unwrap(), b"mark");
        assert!(!database.side().exists());
    }

    #[test]
    fn a_shared_lock_lasts_until_the_last_has_ended() {
        let database = Database::new("side-shared");
        assert!(SideFile::join(&database.0, &KIND).unwrap().is_none(), "there is nothing to join");
        let first = SideFile::create(&database.0, &KIND).unwrap();
        let refused = |joined: Result<Option<SideFile>, EngineError>| joined.unwrap_err().kind();
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
        let database = Database::new("side-left");
        for content in ["mark, half written", ""] {
            fs::write(database.side(), content).unwrap();
            assert_eq!(SideFile::leftover(&database.0, &KIND), Some(database.side()));
            if !content.is_empty() {
                fs::write(database.log(), "log").unwrap();
            }
            let side = SideFile::create(&database.0, &KIND).unwrap();
            assert!(side.file().metadata().unwrap().len() == 0 && !database.log().exists());
            drop(side);
            fs::write(database.side(), content).unwrap();
            SideFile::remove_leftover(&database.0, &KIND);
            assert!(!database.side().exists());
        }
    }

    #[test]
    fn what_is_not_ours_stays_as_it_is() {
        let database = Database::new("side-foreign");
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
