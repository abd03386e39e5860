//! Databases in files and folders: their names, and their owner by the [mark](FileMark) next to each.

use crate::file_mark::{FileMark, database_of};
use crate::side_file::{COPY, LOADING, RESTORED, SNAPSHOT};
use crate::{EngineError, ErrorKind, Result, TargetFile, copy_file, other_files, path_with_suffix};
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Form of an engine's databases in files.
#[derive(Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// Name of the format in marks. Engines that can open each other's databases share it.
    pub name: &'static str,
    /// Whether a database is a folder, rather than a file.
    pub is_folder: bool,
    /// Suffixes of the engine's other files next to a database file, as `-wal`.
    pub companions: &'static [&'static str],
    /// Companions that the engine would overwrite or remove if there were no database: they must not be there then.
    pub exclusive: &'static [&'static str],
    /// Companions that hold a part of the data: a copy of the database file alone is complete if they are empty.
    pub logs: &'static [&'static str],
    /// Patterns of the files that the engine makes in a folder, as [`other_files`] takes them.
    pub own: &'static [&'static str],
    /// Whether the engine locks a file as Bourse locks its side files, so that one is left to it without a lock.
    pub takes_the_lock: bool,
}

impl FileFormat {
    /// A file without companions.
    pub const FILE: Self = Self {
        name: "",
        is_folder: false,
        companions: &[],
        exclusive: &[],
        logs: &[],
        own: &[],
        takes_the_lock: false,
    };
    /// A folder.
    pub const FOLDER: Self = Self { is_folder: true, ..Self::FILE };
}

/// Owner of the file or folder at a database's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOwner {
    /// None: the path does not exist, or is an empty file or folder. A database may be made there.
    Nobody,
    /// Bourse: a database that it made.
    Bourse,
    /// Anything else: the reason for a person.
    Foreign(String),
}

/// The files of a database: the main file or the folder, and companions such as a log or a journal.
///
/// ```
/// use bourse_engine::{DatabaseFiles, FileFormat, FileOwner};
///
/// static FORMAT: FileFormat = FileFormat { name: "example", ..FileFormat::FILE };
/// let folder = std::env::temp_dir().join(format!("database-files-{}", std::process::id()));
/// std::fs::create_dir(&folder)?;
/// let files = DatabaseFiles::at(&folder.join("x.db"), &FORMAT);
/// assert_eq!(files.owner()?, FileOwner::Nobody);
/// std::fs::write(files.open_or_make()?, "content")?;
/// assert_eq!(files.owner()?, FileOwner::Bourse);
/// std::fs::remove_file(files.path())?;
/// std::fs::write(files.path(), "a person's")?;
/// assert!(matches!(files.owner()?, FileOwner::Foreign(_)));
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFiles {
    path: PathBuf,
    format: &'static FileFormat,
}

impl DatabaseFiles {
    /// The files of a database at a path, whose links are followed if it exists. Touches nothing.
    pub fn at(path: impl AsRef<Path>, format: &'static FileFormat) -> Self {
        let path = path.as_ref();
        let path = match format.is_folder {
            true => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
            false => TargetFile::resolved(path),
        };
        Self { path, format }
    }

    /// Whether a path has a name that is made next to a database: by Bourse, or of SQLite's log, its index or a journal.
    ///
    /// ```
    /// use bourse_engine::DatabaseFiles;
    /// let is_side = |name: &str| DatabaseFiles::is_side_name(name.as_ref());
    /// assert!(["x.db.bourse-lock", "x.db-wal", "x.db-shm", "x.db-journal"].into_iter().all(is_side));
    /// assert!(!["x.db", "wal", "-wal", ".bourse-lock", "bourse-data/x.db"].into_iter().any(is_side));
    /// ```
    pub fn is_side_name(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut of_sqlite = ["-wal", "-shm", "-journal"].iter().filter_map(|suffix| name.strip_suffix(suffix));
        of_sqlite.any(|database| !database.is_empty()) || database_of(path) != path
    }

    /// The path of the main file, or of the database's own folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Form of the files.
    pub fn format(&self) -> &'static FileFormat {
        self.format
    }

    /// Every path that the database may have a file at, the main file first.
    pub fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        std::iter::once(self.path.clone()).chain(self.companions())
    }

    /// Paths of the companions, which need not exist.
    pub fn companions(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.format.companions.iter().map(|suffix| path_with_suffix(&self.path, suffix))
    }

    /// Removes the companions that would be taken for those of another database at the path.
    ///
    /// # Errors
    /// The system's.
    pub fn remove_exclusive(&self) -> Result<()> {
        self.exclusive().try_for_each(|path| match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(EngineError::io("remove", &path, &e)),
            _ => Ok(()),
        })
    }

    /// Files in a database that is a folder which the engine did not make, by their paths in it.
    ///
    /// # Errors
    /// The system's.
    pub fn others(&self) -> io::Result<Vec<String>> {
        if self.path.is_dir() { other_files(&self.path, self.format.own) } else { Ok(Vec::new()) }
    }

    /// Finds the owner of what is at the path. Opens nothing but the mark.
    ///
    /// # Errors
    /// The system's.
    pub fn owner(&self) -> Result<FileOwner> {
        match self.examined() {
            Err(refused) if refused.kind() == ErrorKind::Refused => {
                Ok(FileOwner::Foreign(refused.message().to_owned()))
            }
            examined => Ok(if examined? { FileOwner::Bourse } else { FileOwner::Nobody }),
        }
    }

    /// Reason why what is at the path must not be used; `None` if it may be.
    ///
    /// # Errors
    /// The system's.
    pub fn foreign(&self) -> Result<Option<String>> {
        Ok(match self.owner()? {
            FileOwner::Foreign(why) => Some(why),
            FileOwner::Nobody | FileOwner::Bourse => None,
        })
    }

    /// Whether Bourse has a database at the path.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if something else is there; the system's.
    pub fn exists(&self) -> Result<bool> {
        self.examined()
    }

    fn examined(&self) -> Result<bool> {
        let shown = self.path.display();
        let found = self.found()?;
        let mark = FileMark::of(&self.path);
        // A mark's name that another file has refuses the path, whatever is at it.
        mark.lines()?;
        let Some(found) = found else {
            return match fs::metadata(&self.path) {
                // An engine may have a new database open, which stays empty until its log is written into it.
                Ok(made) if self.lists(&made)? => refuse_links(&self.path, &made).map(|()| self.log().is_some()),
                _ => self.refuse_companions().map(|()| false),
            };
        };
        refuse_links(&self.path, &found)?;
        // The engine overwrites and removes these as its own.
        for companion in self.exclusive() {
            match fs::symlink_metadata(&companion) {
                Ok(found) if found.is_symlink() => {
                    let why = format!("{} is a link, and the engine would write through it", companion.display());
                    return Err(EngineError::refused(why));
                }
                Ok(found) => refuse_links(&companion, &found)?,
                Err(_) => {}
            }
        }
        let formats = mark.formats_of(&found)?;
        if formats.iter().any(|format| format == self.format.name) {
            return Ok(true);
        }
        Err(EngineError::refused(match formats.last() {
            Some(other) => format!("{shown} is a database that Bourse made for {other}, not for {}", self.format.name),
            None => format!(
                "{shown} has no mark of Bourse's: either Bourse did not make it, or it was copied or moved here; `bourse \
                 data adopt` marks a database that lists what Bourse made"
            ),
        }))
    }

    /// Metadata of the file or folder at the path; `None` if it is absent or empty.
    fn found(&self) -> Result<Option<Metadata>> {
        if self.format.is_folder && self.path.exists() && !self.path.is_dir() {
            let shown = self.path.display();
            let why = format!("{shown} is no folder: name the path of a folder, which need not exist yet");
            return Err(EngineError::refused(why));
        }
        if !self.path.is_dir() || !self.format.is_folder {
            TargetFile::at(&self.path)?;
        }
        let cannot = |e: io::Error| EngineError::io("look at", &self.path, &e);
        let found = match fs::metadata(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(cannot)?,
        };
        let is_empty = match found.is_dir() {
            true => fs::read_dir(&self.path).map_err(cannot)?.next().is_none(),
            false => found.len() == 0,
        };
        Ok((!is_empty).then_some(found))
    }

    fn exclusive(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.format.exclusive.iter().map(|suffix| path_with_suffix(&self.path, suffix))
    }

    /// Log that holds a part of the data.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        let mut logs = self.format.logs.iter().map(|suffix| path_with_suffix(&self.path, suffix));
        logs.find(|log| fs::metadata(log).is_ok_and(|found| found.len() > 0))
    }

    /// Refuses a file with the name of a log or journal that the engine will create for a database that does not exist yet.
    fn refuse_companions(&self) -> Result<()> {
        match self.exclusive().find(|companion| fs::symlink_metadata(companion).is_ok()) {
            None => Ok(()),
            Some(companion) => Err(EngineError::refused(format!(
                "{} is there and its database {} is not, or is empty: it may hold what is left of a database; move it away, \
                 or name another path",
                companion.display(),
                self.path.display()
            ))),
        }
    }

    /// The path to open. If nothing is there, an empty file or folder is made and marked, so that a process that is killed
    /// leaves no database without its mark.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if something else is there; the system's.
    pub fn open_or_make(&self) -> Result<PathBuf> {
        if self.exists()? {
            return Ok(self.path.clone());
        }
        let made = match self.format.is_folder {
            true if self.path.is_dir() => Ok(()),
            true => fs::create_dir(&self.path),
            false => OpenOptions::new().write(true).create(true).truncate(false).open(&self.path).map(drop),
        };
        made.map_err(|e| EngineError::io("create", &self.path, &e))?;
        self.mark()?;
        // Of a folder that was just made no link has been followed yet.
        Ok(Self::at(&self.path, self.format).path)
    }

    /// Copies the database to another path, and marks the copy.
    ///
    /// # Errors
    /// The system's.
    pub fn copy_to(&self, path: &Path) -> Result<Self> {
        let copy = Self { path: path.to_owned(), format: self.format };
        if self.format.is_folder {
            crate::folder_parts::copy_into(&self.path, path)?;
        } else {
            copy_file(&self.path, path)?;
            let companions = self.exclusive().zip(copy.exclusive()).filter(|(from, _)| from.is_file());
            companions.into_iter().try_for_each(|(from, to)| copy_file(&from, &to))?;
        }
        copy.mark()?;
        Ok(copy)
    }

    /// Marks what is at the path, which Bourse made.
    ///
    /// # Errors
    /// The system's; [`Refused`](ErrorKind::Refused) if the file has hard links, or the mark's name is taken by another file.
    pub fn mark(&self) -> Result<()> {
        let found = fs::metadata(&self.path).map_err(|e| EngineError::io("look at", &self.path, &e))?;
        refuse_links(&self.path, &found)?;
        self.list(&found)
    }

    /// Adds a file that Bourse made, at the path or next to it, to the mark.
    pub(crate) fn list(&self, found: &Metadata) -> Result<()> {
        FileMark::of(&self.path).add(self.format.name, found)
    }

    /// Whether the mark lists a file.
    pub(crate) fn lists(&self, found: &Metadata) -> Result<bool> {
        Ok(FileMark::of(&self.path).formats_of(found)?.iter().any(|format| format == self.format.name))
    }

    /// The files of a database with that suffix to its name, next to this one.
    pub(crate) fn next_to(&self, suffix: &str) -> Self {
        Self { path: path_with_suffix(&self.path, suffix), format: self.format }
    }

    /// Removes the mark if nothing of what it could list is there.
    pub(crate) fn unmark_if_gone(&self) {
        let database = database_of(&self.path);
        let kinds = [&LOADING, &SNAPSHOT, &RESTORED, &COPY];
        let mut all = kinds.iter().map(|kind| path_with_suffix(&database, kind.suffix)).chain([database.clone()]);
        if all.all(|path| fs::symlink_metadata(path).is_err()) {
            self.unmark();
        }
    }

    /// Removes the mark of a database that was removed.
    pub fn unmark(&self) {
        FileMark::of(&self.path).remove();
    }
}

/// Refuses a link and a file with hard links: at its other names neither a lock of Bourse's nor an engine's log would be found.
pub(crate) fn refuse_links(path: &Path, found: &Metadata) -> Result<()> {
    if found.is_symlink() {
        return Err(EngineError::refused(format!("{}: it is a link, and Bourse makes none there", path.display())));
    }
    #[cfg(unix)]
    let links = std::os::unix::fs::MetadataExt::nlink(found);
    #[cfg(not(unix))]
    let links = 1;
    if links < 2 || found.is_dir() {
        return Ok(());
    }
    Err(EngineError::refused(format!(
        "{}: the file has several names (hard links), of which each would be held by itself: use a copy of it",
        path.display()
    )))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::file_mark::FIRST_LINE;

    static FORMAT: FileFormat =
        FileFormat { name: "test", companions: &["-log"], exclusive: &["-log"], logs: &["-log"], ..FileFormat::FILE };
    static FOLDER: FileFormat = FileFormat { name: "folders", ..FileFormat::FOLDER };

    /// Folder that is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("bourse-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn files(&self, name: &str) -> DatabaseFiles {
            DatabaseFiles::at(self.0.join(name), &FORMAT)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[track_caller]
    fn foreign(files: &DatabaseFiles, words: &str) {
        match files.owner().unwrap() {
            FileOwner::Foreign(why) => assert!(why.contains(words), "{why}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(files.exists().unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn a_mark_is_of_one_file_alone() {
        let folder = Folder::new("one-file");
        let files = folder.files("x.db");
        assert_eq!(files.owner().unwrap(), FileOwner::Nobody);
        for _ in 0..2 {
            assert_eq!(files.open_or_make().unwrap(), files.path());
            assert_eq!(files.owner().unwrap(), FileOwner::Nobody, "an empty file holds nothing");
        }
        fs::write(files.path(), "content").unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Bourse);
        foreign(
            &DatabaseFiles::at(files.path(), &FileFormat { name: "other", ..FileFormat::FILE }),
            "made for test, not for other",
        );
        // Copied, moved, and replaced by another file.
        fs::copy(files.path(), folder.0.join("copy.db")).unwrap();
        foreign(&folder.files("copy.db"), "has no mark of Bourse's");
        fs::rename(files.path(), folder.0.join("moved.db")).unwrap();
        foreign(&folder.files("moved.db"), "it was copied or moved here");
        fs::rename(folder.0.join("copy.db"), files.path()).unwrap();
        foreign(&files, "has no mark of Bourse's");
        // Moved together with its mark, it is the same file.
        fs::rename(folder.0.join("x.db.bourse-mark"), folder.0.join("moved.db.bourse-mark")).unwrap();
        assert_eq!(folder.files("moved.db").owner().unwrap(), FileOwner::Bourse);
        folder.files("moved.db").unmark();
        foreign(&folder.files("moved.db"), "has no mark of Bourse's");
    }

    /// Regression test: a new database of Turso's was refused for the empty log that its engine had made.
    #[test]
    fn a_new_database_may_have_a_log_before_it_has_anything_else() {
        let folder = Folder::new("new-log");
        let files = folder.files("x.db");
        files.open_or_make().unwrap();
        let log = folder.0.join("x.db-log");
        fs::write(&log, "").unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Nobody);
        fs::write(&log, "rows").unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Bourse, "all that it holds is in its log");
        files.unmark();
        foreign(&files, "x.db-log is there");
    }

    /// An engine that writes its log into a file with another name, or through a link, would overwrite a person's file.
    #[test]
    #[cfg(unix)]
    fn a_log_with_another_name_is_refused() {
        let folder = Folder::new("linked-log");
        let files = folder.files("x.db");
        fs::write(files.open_or_make().unwrap(), "content").unwrap();
        let (log, precious) = (folder.0.join("x.db-log"), folder.0.join("precious"));
        fs::write(&precious, "mine").unwrap();
        fs::hard_link(&precious, &log).unwrap();
        foreign(&files, "x.db-log: the file has several names (hard links)");
        fs::remove_file(&log).unwrap();
        std::os::unix::fs::symlink(&precious, &log).unwrap();
        foreign(&files, "x.db-log is a link");
        fs::remove_file(&log).unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Bourse);
    }

    /// A file system gives the inode of a deleted file to the next one.
    #[test]
    fn a_file_with_the_inode_of_a_deleted_one_is_not_listed() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = Folder::new("inode");
        let files = folder.files("x.db");
        fs::write(files.open_or_make().unwrap(), "content").unwrap();
        let before = fs::metadata(files.path()).unwrap();
        if before.created().is_err() {
            return;
        }
        let text = fs::read_to_string(FileMark::of(files.path()).path).unwrap();
        assert!(text.contains(&format!("test inode {} born ", before.ino())), "{text}");
        fs::remove_file(files.path()).unwrap();
        // A line of the same inode, as that of the deleted file would be.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(files.path(), "a person's").unwrap();
        let now = fs::metadata(files.path()).unwrap();
        fs::write(FileMark::of(files.path()).path, text.replace(&before.ino().to_string(), &now.ino().to_string()))
            .unwrap();
        foreign(&files, "has no mark of Bourse's");
    }

    #[test]
    fn a_name_that_is_taken_stays_as_it_is() {
        let folder = Folder::new("taken");
        let files = folder.files("x.db");
        let mark = FileMark::of(files.path()).path;
        fs::write(&mark, "notes of mine").unwrap();
        foreign(&files, "is needed for a mark and is there already, without one");
        assert!(files.open_or_make().is_err() && !files.path().exists());
        files.unmark();
        assert_eq!(fs::read(&mark).unwrap(), b"notes of mine");
        fs::remove_file(&mark).unwrap();
        std::os::unix::fs::symlink("nothing", &mark).unwrap();
        foreign(&files, "which cannot be used");
        fs::remove_file(&mark).unwrap();
        // A mark that a killed process has begun to write.
        fs::write(&mark, &FIRST_LINE[..7]).unwrap();
        fs::write(files.open_or_make().unwrap(), "content").unwrap();
        assert!(files.exists().unwrap());
        fs::remove_file(files.path()).unwrap();
        fs::write(folder.0.join("x.db-log"), "").unwrap();
        foreign(&files, "x.db-log is there");
    }

    #[test]
    fn a_mark_lists_what_is_next_to_its_database_and_forgets_what_is_gone() {
        let folder = Folder::new("next-to");
        let files = folder.files("x.db");
        fs::write(files.open_or_make().unwrap(), "content").unwrap();
        for _ in 0..50 {
            let passing = folder.0.join("x.db.bourse-loading");
            fs::write(&passing, "").unwrap();
            files.list(&fs::metadata(&passing).unwrap()).unwrap();
            fs::remove_file(&passing).unwrap();
        }
        let copy = files.next_to(".bourse-copy");
        fs::write(copy.path(), "content").unwrap();
        copy.mark().unwrap();
        assert!(copy.exists().unwrap() && files.exists().unwrap());
        assert!(!folder.0.join("x.db.bourse-copy.bourse-mark").exists());
        assert_eq!(FileMark::of(files.path()).lines().unwrap().len(), 2);
    }

    #[test]
    fn folders_have_their_mark_next_to_them() {
        let folder = Folder::new("folders");
        let files = DatabaseFiles::at(folder.0.join("x"), &FOLDER);
        let made = files.open_or_make().unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Nobody, "an empty folder holds nothing");
        fs::write(made.join("data"), "content").unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Bourse);
        files.unmark();
        foreign(&files, "has no mark of Bourse's");
        foreign(&DatabaseFiles::at(folder.0.join("x/data"), &FOLDER), "is no folder");
        std::os::unix::fs::symlink("nothing", folder.0.join("dangling")).unwrap();
        foreign(&DatabaseFiles::at(folder.0.join("dangling"), &FOLDER), "leads nowhere");
    }
}
