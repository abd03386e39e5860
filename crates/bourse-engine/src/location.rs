//! Location of a database: files, this process's memory, a server.

use crate::{DatabaseFiles, FileFormat, folder_of};
use std::path::{Path, PathBuf};

/// Location of a database, known from its target without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Files on this machine that an engine in this process reads and writes.
    Files(DatabaseFiles),
    /// A folder on this machine for the files of a server that this process starts: its data directory once it has been
    /// started, before that the folder that the data directory will be made in.
    ServerFolder(PathBuf),
    /// The memory of this process.
    Memory,
    /// A server that was running already. Its files may be on another machine.
    RunningServer,
    /// No location: the engine stores no data.
    Nowhere,
}

impl Location {
    /// Files of that format.
    ///
    /// ```
    /// use bourse_engine::{FileFormat, Location};
    /// static FORMAT: FileFormat = FileFormat { name: "example", companions: &["-wal"], ..FileFormat::FILE };
    /// let location = Location::files("data/x.db", &FORMAT);
    /// let files: Vec<_> = location.database_files().into_iter().flat_map(|files| files.all()).collect();
    /// assert_eq!(files, ["data/x.db", "data/x.db-wal"].map(std::path::PathBuf::from));
    /// ```
    pub fn files(path: impl AsRef<Path>, format: &'static FileFormat) -> Self {
        Self::Files(DatabaseFiles::at(path, format))
    }

    /// The database's files, if it has files of its own.
    pub fn database_files(&self) -> Option<&DatabaseFiles> {
        match self {
            Self::Files(files) => Some(files),
            Self::ServerFolder(_) | Self::Memory | Self::RunningServer | Self::Nowhere => None,
        }
    }

    /// The path of the database's main file or of its own folder, if it has files of its own. Two targets with one path share
    /// a database.
    pub fn file(&self) -> Option<&Path> {
        self.database_files().map(DatabaseFiles::path)
    }

    /// The folder of this machine that holds the data.
    pub fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Files(files) => folder_of(files.path()),
            Self::ServerFolder(folder) => Some(folder.clone()),
            Self::Memory | Self::RunningServer | Self::Nowhere => None,
        }
    }

    /// Free space of the file system that holds the data, in bytes; `None` without a folder on this machine.
    #[cfg(unix)]
    pub fn free_bytes(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(&self.folder()?).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Free space of the file system that holds the data, in bytes: unknown on this system.
    #[cfg(not(unix))]
    pub fn free_bytes(&self) -> Option<u64> {
        None
    }
}

/// A path as it is written in a target.
pub fn path_in_target(path: &Path) -> String {
    crate::target::escape(&path.display().to_string())
}

/// The target with its database in another file, the engine and its settings the same.
///
/// ```
/// use bourse_engine::target_with_path;
/// let moved = target_with_path("sqlite:x.db?journal=wal", "copies/100%.db".as_ref());
/// assert_eq!(moved, "sqlite:copies/100%25.db?journal=wal");
/// assert_eq!(target_with_path("lmdb:x", "y".as_ref()), "lmdb:y");
/// ```
pub fn target_with_path(target: &str, path: &Path) -> String {
    let (scheme, rest) = target.split_once(':').unwrap_or((target, ""));
    let settings = rest.find('?').map_or("", |at| &rest[at..]);
    format!("{scheme}:{}{settings}", path_in_target(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_folder_and_companions() {
        static FORMAT: FileFormat = FileFormat { companions: &["-wal", "-journal"], ..FileFormat::FILE };
        let location = Location::files("data/x.db", &FORMAT);
        let all: Vec<_> = location.database_files().unwrap().all().collect();
        assert_eq!(all, ["data/x.db", "data/x.db-wal", "data/x.db-journal"].map(PathBuf::from));
        assert_eq!((location.file(), location.folder()), (Some(Path::new("data/x.db")), Some("data".into())));
        assert_eq!(Location::files("x.db", &FileFormat::FILE).folder(), Some(".".into()));
        assert!(Location::files("x.db", &FileFormat::FILE).free_bytes().is_none_or(|bytes| bytes > 0));
    }

    #[test]
    fn only_files_and_servers_of_ours_have_a_folder() {
        assert_eq!(Location::ServerFolder("/data".into()).folder(), Some("/data".into()));
        for location in [Location::Memory, Location::RunningServer, Location::Nowhere] {
            assert_eq!((location.file(), location.folder(), location.free_bytes()), (None, None, None));
        }
    }
}
