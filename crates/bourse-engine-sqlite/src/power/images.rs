//! Directories in memory that SQLite can open databases in.

use crate::error::{error, words};
use crate::ffi::{self, SqliteLibrary};
use crate::vfs::default_vfs;
use crate::vfs::handle::{OpenedFile, SharedFile};
use crate::vfs::memory::{MemoryFile, description};
use bourse_crash::{Directory, FileImage};
use bourse_engine::{Result, locked};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_int};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

/// A file, shared by its handles.
#[derive(Default)]
struct ImageFile {
    image: Mutex<FileImage>,
    shared: SharedFile,
}

/// The files of a directory by name.
type ImageFiles = Arc<Mutex<BTreeMap<String, Arc<ImageFile>>>>;

/// Mounted directories, by number.
static MOUNTED: LazyLock<Mutex<HashMap<u64, ImageFiles>>> = LazyLock::new(Mutex::default);

/// Name of the file system.
const NAME: &CStr = c"bourse-images";

/// Directory of a path `/NUMBER/NAME`, and the name in it. Another path is in none.
fn find(path: &CStr) -> Option<(ImageFiles, &str)> {
    let (number, name) = path.to_str().ok()?.strip_prefix('/')?.split_once('/')?;
    let files = locked(&MOUNTED).get(&number.parse().ok()?).cloned()?;
    Some((files, name))
}

impl OpenedFile for ImageFile {
    fn shared(&self) -> &SharedFile {
        &self.shared
    }
}

impl MemoryFile for ImageFile {
    const DEVICE: c_int = ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE;

    fn temporary() -> Arc<Self> {
        Arc::default()
    }

    fn find(name: &CStr, makes: bool) -> Option<Arc<Self>> {
        let (files, name) = find(name)?;
        let mut files = locked(&files);
        if makes { Some(Arc::clone(files.entry(name.to_owned()).or_default())) } else { files.get(name).cloned() }
    }

    fn remove(name: &CStr) -> bool {
        find(name).is_some_and(|(files, name)| locked(&files).remove(name).is_some())
    }

    /// Takes an empty file for none, as the unix file system does.
    fn exists(name: &CStr) -> bool {
        Self::find(name, false).is_some_and(|file| file.size() > 0)
    }

    unsafe fn read(&self, offset: u64, target: *mut u8, length: usize) -> usize {
        // SAFETY: by the caller's word.
        locked(&self.image).read(offset, unsafe { slice::from_raw_parts_mut(target, length) })
    }

    unsafe fn write(&self, offset: u64, source: *const u8, length: usize) -> bool {
        // SAFETY: by the caller's word.
        locked(&self.image).write(offset, unsafe { slice::from_raw_parts(source, length) });
        true
    }

    fn set_size(&self, size: u64) {
        locked(&self.image).set_size(size);
    }

    fn size(&self) -> u64 {
        locked(&self.image).size()
    }
}

/// A directory that SQLite can open databases in until this is dropped.
pub(super) struct MountedImages {
    number: u64,
    files: ImageFiles,
}

impl MountedImages {
    /// Mounts a copy of a directory, whose blocks are shared until they are changed.
    pub(super) fn new(directory: &Directory) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let code =
            default_vfs::register(SqliteLibrary, NAME, |default_vfs| description::<ImageFile>(NAME, default_vfs));
        if code != ffi::SQLITE_OK {
            return Err(error(code, words(SqliteLibrary, code)));
        }
        let file = |(name, image): (&String, &FileImage)| {
            let file = ImageFile { image: Mutex::new(image.clone()), shared: SharedFile::default() };
            (name.clone(), Arc::new(file))
        };
        let files: ImageFiles = Arc::new(Mutex::new(directory.files.iter().map(file).collect()));
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

impl Drop for MountedImages {
    fn drop(&mut self) {
        locked(&MOUNTED).remove(&self.number);
    }
}
