//! Databases in files and folders: their names, and their owner by the [mark](FileMark) next to each.

use crate::copied::copy_file_until;
use crate::file_mark::{FileMark, database_of};
use crate::own_files::{find, is_own};
use crate::server_wait::Interruption;
use crate::side_file::{COPY, LOADING, RESTORED, SNAPSHOT};
use crate::target_file::{name_of, open_regular, start_of};
use crate::{
    EngineError, ErrorKind, FileUse, Result, TargetFile, foreign_among, other_files, path_with_suffix, remove_folder,
};
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Suffix to the name of a folder that is being removed.
const REMOVED: &str = ".bourse-removed";

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
    /// First bytes of companions, by suffix, of which the engine removes a file that begins otherwise as an invalid one. It may
    /// have made one of zeros, or an empty one.
    pub starts: &'static [(&'static str, &'static [u8])],
    /// Companions that hold a part of the data: a copy of the database file alone is complete if they are empty.
    pub logs: &'static [&'static str],
    /// Patterns of the files that the engine makes in a folder, as [`other_files`] takes them.
    pub own: &'static [&'static str],
    /// Greatest first byte of the engine's files in subfolders, where that tells one that another program has written over.
    pub first_byte: Option<u8>,
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
        starts: &[],
        logs: &[],
        own: &[],
        first_byte: None,
        takes_the_lock: false,
    };
    /// A folder.
    pub const FOLDER: Self = Self { is_folder: true, ..Self::FILE };

    /// Whether a file in a database's folder is the engine's, by its path there and the first byte of the file itself.
    pub(crate) fn is_intact(&self, path: &str, file: &Path) -> bool {
        let is_below = |most: u8| {
            let start = open_regular(file, false).and_then(|mut file| start_of(&mut file, 1));
            // One that cannot be read is the engine's to report.
            start.ok().and_then(|start| start.first().copied()).is_none_or(|byte| byte <= most)
        };
        is_own(self.own, path) && self.first_byte.filter(|_| path.contains('/')).is_none_or(is_below)
    }
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

    /// Path of the database that a path belongs to: its own, or that of a database which Bourse made the file next to.
    pub fn database_of(path: &Path) -> PathBuf {
        database_of(path)
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

    /// Files to be left when the folder is removed: the [others](Self::others), and those of the engine that another program has
    /// written over.
    ///
    /// # Errors
    /// The system's.
    pub fn others_and_overwritten(&self) -> io::Result<Vec<String>> {
        let mut others = Vec::new();
        if self.path.is_dir() {
            find(&self.path, "", &|path, file| self.format.is_intact(path, file), &mut others)?;
        }
        others.sort();
        Ok(others)
    }

    /// Fails if the folder holds [others'](Self::others) files among those at the given paths in it.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused); the system's.
    pub fn refuse_others(&self, is_among: impl Fn(&str) -> bool) -> Result<()> {
        let mut others = self.others().map_err(|e| EngineError::io("read", &self.path, &e))?;
        others.retain(|path| is_among(path));
        foreign_among(&others).map_or(Ok(()), |why| Err(EngineError::refused(why)))
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

    /// Reason why what is at the path must not be used, of a database in SQLite's format: as [`Self::foreign`], and numbers in
    /// the header of one without tables, which a program has set and a load would reset.
    ///
    /// # Errors
    /// The system's.
    pub fn foreign_in_sqlite(&self) -> Result<Option<String>> {
        /// First bytes, up to the number of cells in the first page (`https://sqlite.org/fileformat2.html`, sections 1.3 and 1.6).
        const BYTES: usize = 105;
        let foreign = self.foreign()?;
        if foreign.is_some() || self.format.is_folder {
            return Ok(foreign);
        }
        let start = FileUse::unless_used(&self.path, || TargetFile::at(&self.path)?.start(BYTES)).transpose()?;
        // A page without cells holds no table.
        let is_empty = |start: &Vec<u8>| start.starts_with(b"SQLite format 3\0") && start.get(103..) == Some(&[0, 0]);
        let Some(start) = start.filter(is_empty) else { return Ok(None) };
        let number = |(name, at): (&str, usize)| {
            let number = i32::from_be_bytes(start[at..].first_chunk().copied().unwrap_or_default());
            (number != 0).then(|| format!("{name} {number}"))
        };
        let numbers: Vec<_> = [("user_version", 60), ("application_id", 68)].into_iter().filter_map(number).collect();
        Ok(foreign_among(&numbers))
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
                Ok(made) if self.lists(&made)? => {
                    refuse_links(&self.path, &made)?;
                    self.refuse_odd_companions()?;
                    self.refuse_other_starts().map(|()| self.log().is_some())
                }
                _ => self.refuse_companions().map(|()| false),
            };
        };
        refuse_links(&self.path, &found)?;
        self.refuse_odd_companions()?;
        let formats = mark.formats_of(&found)?;
        if formats.iter().any(|format| format == self.format.name) {
            return self.refuse_other_starts().map(|()| true);
        }
        Err(EngineError::refused(match formats.last() {
            Some(other) => format!("{shown} is a database that Bourse made for {other}, not for {}", self.format.name),
            None => format!(
                "{shown} has no mark of Bourse's: either Bourse did not make it, or it was copied or moved here; `bourse \
                 data adopt` marks a database that lists what Bourse made"
            ),
        }))
    }

    /// Refuses a companion that is no file of its own: the engine overwrites and removes them as its own.
    fn refuse_odd_companions(&self) -> Result<()> {
        for companion in self.exclusive() {
            let Ok(found) = fs::symlink_metadata(&companion) else { continue };
            let (shown, kind) = (companion.display(), found.file_type());
            let why = match kind.is_symlink() {
                true => format!("{shown} is a link, and the engine would write through it"),
                false if kind.is_file() => {
                    refuse_links(&companion, &found)?;
                    continue;
                }
                false => format!("{shown} is a {}, and the engine needs a file there: move it away", name_of(kind)),
            };
            return Err(EngineError::refused(why));
        }
        Ok(())
    }

    /// Refuses a companion with other first bytes than the engine's.
    fn refuse_other_starts(&self) -> Result<()> {
        for (suffix, start) in self.format.starts {
            let companion = path_with_suffix(&self.path, suffix);
            // One that cannot be read is the engine's to report.
            let found = open_regular(&companion, false).and_then(|mut file| start_of(&mut file, start.len()));
            if let Ok(found) = found
                && !start.starts_with(&found)
                && found.iter().any(|byte| *byte != 0)
            {
                let (shown, name) = (companion.display(), self.format.name);
                let why = format!("{shown} is no file of {name}, which would remove it: move it away");
                return Err(EngineError::refused(why));
            }
        }
        Ok(())
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
        self.finish_removal()?;
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
    /// The system's; [`Interrupted`](ErrorKind::Interrupted) if the program is.
    pub fn copy_to(&self, path: &Path) -> Result<Self> {
        let (copy, interruption) = (Self { path: path.to_owned(), format: self.format }, Interruption::ANY);
        if self.format.is_folder {
            crate::folder_parts::copy_into(interruption, &self.path, path)?;
        } else {
            copy_file_until(interruption, &self.path, path)?;
            let companions = self.exclusive().zip(copy.exclusive()).filter(|(from, _)| from.is_file());
            companions.into_iter().try_for_each(|(from, to)| copy_file_until(interruption, &from, &to))?;
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
        let suffixes = kinds.iter().map(|kind| kind.suffix).chain(["", REMOVED]);
        let mut all = suffixes.map(|suffix| path_with_suffix(&database, suffix));
        if all.all(|path| fs::symlink_metadata(path).is_err()) {
            self.unmark();
        }
    }

    /// Removes the mark of a database that was removed.
    pub fn unmark(&self) {
        FileMark::of(&self.path).remove();
    }

    /// Removes the database with what is left beside it, the main file and then the mark last. A folder gets another name before
    /// any file in it is removed: what a killed process leaves of it is known, and the next removal or load at the path removes it.
    ///
    /// # Errors
    /// The system's; [`Refused`](ErrorKind::Refused) if the other name of a folder is taken.
    pub fn remove(&self) -> Result<()> {
        self.finish_removal()?;
        if self.format.is_folder && self.path.is_dir() {
            let removed = path_with_suffix(&self.path, REMOVED);
            fs::rename(&self.path, &removed).map_err(|e| EngineError::io("rename", &self.path, &e))?;
            self.finish_removal()?;
        } else {
            let there: Vec<_> = self.all().filter(|path| path.exists()).collect();
            there.iter().rev().try_for_each(|path| {
                let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                removed.map_err(|e| EngineError::io("remove", path, &e))
            })?;
        }
        self.remove_leftovers();
        self.unmark();
        Ok(())
    }

    /// Folder that a killed process has begun to remove; `None` if there is none.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if what is there is not Bourse's, or holds what the engine did not make; the system's.
    pub fn being_removed(&self) -> Result<Option<PathBuf>> {
        let removed = self.next_to(REMOVED);
        let found = match fs::symlink_metadata(&removed.path) {
            _ if !self.format.is_folder => return Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(|e| EngineError::io("look at", &removed.path, &e))?,
        };
        if !found.is_dir() || !self.lists(&found)? {
            let why = format!("{} is there, which Bourse did not make: move it away", removed.path.display());
            return Err(EngineError::refused(why));
        }
        let others = removed.others().map_err(|e| EngineError::io("read", &removed.path, &e))?;
        match foreign_among(&others) {
            None => Ok(Some(removed.path)),
            Some(why) => Err(EngineError::refused(format!(
                "{} is left of a removal that did not end, and {why}: move what is yours elsewhere, and try again",
                removed.path.display()
            ))),
        }
    }

    fn finish_removal(&self) -> Result<()> {
        self.being_removed()?.map_or(Ok(()), |removed| remove_folder(&removed))
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

    static FORMAT: FileFormat = FileFormat {
        name: "test",
        companions: &["-log"],
        exclusive: &["-log"],
        starts: &[("-log", b"LOG")],
        logs: &["-log"],
        ..FileFormat::FILE
    };
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
        fs::write(&log, "LOG").unwrap();
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
        fs::write(&log, "mine").unwrap();
        foreign(&files, "x.db-log is no file of test, which would remove it");
        for of_the_engine in [b"LOG of rows".as_slice(), b"LO", b"", b"\0\0\0\0 rows"] {
            fs::write(&log, of_the_engine).unwrap();
            assert_eq!(files.owner().unwrap(), FileOwner::Bourse);
        }
        fs::remove_file(&log).unwrap();
        assert_eq!(files.owner().unwrap(), FileOwner::Bourse);
    }

    /// The engine reported a folder at its log's name as a failure of its own.
    #[test]
    fn a_folder_with_the_name_of_a_log_is_refused() {
        let folder = Folder::new("folder-log");
        let files = folder.files("x.db");
        let log = folder.0.join("x.db-log");
        fs::write(files.open_or_make().unwrap(), "").unwrap();
        for content in ["", "content"] {
            fs::write(files.path(), content).unwrap();
            fs::create_dir(&log).unwrap();
            foreign(&files, "x.db-log is a directory, and the engine needs a file there: move it away");
            fs::remove_dir(&log).unwrap();
        }
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

    /// A removal that was killed left a folder without the list of its tables, which every command refused.
    #[test]
    fn a_removal_of_a_folder_that_is_killed_is_finished() {
        static OF_DATA: FileFormat = FileFormat { name: "data", own: &["data"], ..FileFormat::FOLDER };
        let folder = Folder::new("removed");
        let [at, other] = ["x", "x.bourse-removed"].map(|name| folder.0.join(name));
        let files = || DatabaseFiles::at(&at, &OF_DATA);
        let made = || fs::write(files().open_or_make().unwrap().join("data"), "content").unwrap();
        let killed = || {
            made();
            fs::rename(&at, &other).unwrap();
            assert_eq!((files().owner().unwrap(), files().leftover_files()), (FileOwner::Nobody, vec![other.clone()]));
        };
        killed();
        files().remove().unwrap();
        assert!(fs::read_dir(&folder.0).unwrap().next().is_none(), "nothing is left, and no mark");
        killed();
        made();
        assert!(at.join("data").exists() && !other.exists());
        files().remove().unwrap();
        assert!(fs::read_dir(&folder.0).unwrap().next().is_none());
        // What a person has at that name stays.
        killed();
        fs::write(other.join("notes"), "mine").unwrap();
        let refused = files().remove().unwrap_err();
        let words = "x.bourse-removed is left of a removal that did not end, and it holds what bourse did not make: notes: move";
        assert!(refused.kind() == ErrorKind::Refused && refused.message().contains(words), "{refused}");
        fs::rename(other.join("notes"), folder.0.join("notes")).unwrap();
        files().remove().unwrap();
        made();
        fs::create_dir(&other).unwrap();
        assert_eq!(files().remove().unwrap_err().kind(), ErrorKind::Refused);
        assert!(at.join("data").exists() && other.exists());
    }
}
