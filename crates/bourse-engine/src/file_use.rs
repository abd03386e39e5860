//! Register of the files that libraries of this process have open.
//!
//! On Unix a file's locks belong to the process: a file that one library has locked appears free to another library of
//! the same process, and when one of them closes the file the other's locks are gone. So two libraries must not have
//! one database open at the same time.

use crate::{EngineError, ErrorKind, Result, locked};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Identity of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum FileName {
    /// Its path with links followed: the only name of one that does not exist yet.
    Path(PathBuf),
    /// Its device and inode, which are the same under each of several names.
    #[cfg(unix)]
    Inode(u64, u64),
}

/// Files in use: by which library, and how often.
type Uses = BTreeMap<FileName, (&'static str, usize)>;

fn uses() -> MutexGuard<'static, Uses> {
    static USES: Mutex<Uses> = Mutex::new(BTreeMap::new());
    locked(&USES)
}

/// A library's use of a file, which ends when this is dropped.
#[derive(Debug)]
pub struct FileUse {
    names: Vec<FileName>,
}

impl FileUse {
    /// Examines a file while no library of this process has it open or can open it; `None` if one has it open.
    ///
    /// Closing a file releases every lock that the process has on it, so that a file in use must not even be examined.
    pub fn unless_used<T>(path: &Path, look: impl FnOnce() -> T) -> Option<T> {
        let uses = uses();
        if names(path).iter().any(|name| uses.contains_key(name)) {
            return None;
        }
        let found = look();
        drop(uses);
        Some(found)
    }

    /// Whether a library of this process has a file open.
    pub fn is_used(path: &Path) -> bool {
        Self::unless_used(path, || ()).is_none()
    }

    /// Refuses to replace or to copy a file that a library of this process has open.
    ///
    /// # Errors
    /// [`Conflict`](ErrorKind::Conflict).
    pub fn refuse(path: &Path) -> Result<()> {
        let text = || format!("{} is in use: a session of this process has it open", path.display());
        if Self::is_used(path) { Err(EngineError::new(ErrorKind::Conflict, text())) } else { Ok(()) }
    }

    /// Registers the use of a file, which need not exist yet. A library can use a file as often as it likes.
    ///
    /// # Errors
    /// Another library uses it.
    ///
    /// ```
    /// use bourse_engine::FileUse;
    /// let path = std::env::temp_dir().join("of-one-library.db");
    /// let _first = FileUse::begin(&path, "one").unwrap();
    /// assert!(FileUse::begin(&path, "one").is_ok());
    /// assert!(FileUse::begin(&path, "other").unwrap_err().message().contains("`one` has it open"));
    /// ```
    pub fn begin(path: &Path, library: &'static str) -> Result<Self> {
        let names = names(path);
        let mut uses = uses();
        let other = names.iter().filter_map(|name| uses.get(name)).find(|(user, _)| *user != library);
        if let Some((user, _)) = other {
            return Err(EngineError::new(
                ErrorKind::Other,
                format!(
                    "{}: `{user}` has it open in this process, and `{library}` would break its locks, which are the \
                     process's: run them one after the other, or on files of their own",
                    path.display()
                ),
            ));
        }
        for name in &names {
            uses.entry(name.clone()).or_insert((library, 0)).1 += 1;
        }
        Ok(Self { names })
    }
}

impl Drop for FileUse {
    fn drop(&mut self) {
        let mut uses = uses();
        for name in &self.names {
            if let Some((_, times)) = uses.get_mut(name) {
                *times -= 1;
                if *times == 0 {
                    uses.remove(name);
                }
            }
        }
    }
}

/// Identities of a file. It is not opened.
fn names(path: &Path) -> Vec<FileName> {
    #[cfg(unix)]
    if let Ok(found) = std::fs::metadata(path) {
        use std::os::unix::fs::MetadataExt as _;
        return vec![FileName::Path(whole(path)), FileName::Inode(found.dev(), found.ino())];
    }
    vec![FileName::Path(whole(path))]
}

/// The one path of a file that has several.
fn whole(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
