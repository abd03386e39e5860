//! Directories in memory that SQLite can open databases in.

use super::methods;
use crate::error::{error, words};
use crate::ffi::{self, Library};
use crate::vfs::handle::Shared;
use bourse_crash::{Directory, FileImage};
use bourse_engine::{EngineError, locked};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

/// A file, shared by its handles.
#[derive(Default)]
pub(super) struct ImageFile {
    pub(super) image: Mutex<FileImage>,
    pub(super) shared: Shared,
}

/// The files of a directory by name.
pub(super) type Files = Arc<Mutex<BTreeMap<String, Arc<ImageFile>>>>;

/// Mounted directories, by number.
static MOUNTED: LazyLock<Mutex<HashMap<u64, Files>>> = LazyLock::new(Mutex::default);

/// Directory of a path `/NUMBER/NAME`, and the name in it.
pub(super) fn find(path: &str) -> Option<(Files, &str)> {
    let (number, name) = path.strip_prefix('/')?.split_once('/')?;
    let files = locked(&MOUNTED).get(&number.parse().ok()?).cloned()?;
    Some((files, name))
}

/// A directory that SQLite can open databases in until this is dropped.
pub(super) struct Mount {
    number: u64,
    files: Files,
}

impl std::fmt::Debug for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mount").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Mount {
    /// Mounts a copy of a directory, whose blocks are shared until they are changed.
    pub(super) fn new(directory: &Directory) -> Result<Self, EngineError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let code = methods::register();
        if code != ffi::SQLITE_OK {
            return Err(error(code, words(Library, code)));
        }
        let file = |(name, image): (&String, &FileImage)| {
            let file = ImageFile { image: Mutex::new(image.clone()), shared: Shared::default() };
            (name.clone(), Arc::new(file))
        };
        let files: Files = Arc::new(Mutex::new(directory.files.iter().map(file).collect()));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        locked(&MOUNTED).insert(number, Arc::clone(&files));
        Ok(Self { number, files })
    }

    /// URI by which SQLite opens a database in it.
    pub(super) fn uri(&self, name: &str) -> String {
        format!("file:/{}/{name}?vfs=bourse-images", self.number)
    }

    /// The files in their present state.
    pub(super) fn directory(&self) -> Directory {
        let files = locked(&self.files);
        let image = |(name, file): (&String, &Arc<ImageFile>)| (name.clone(), locked(&file.image).clone());
        Directory { files: files.iter().map(image).collect() }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        locked(&MOUNTED).remove(&self.number);
    }
}
