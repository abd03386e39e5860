//! The library that is preloaded and the environment it wants.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The library, and where there is none an empty file.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/faults.so"));

/// The names of the library's settings.
const CONTROL: &str = "BOURSE_FAULTS_CONTROL";
const FILES: &str = "BOURSE_FAULTS_FILES";
const IMAGE: &str = "BOURSE_FAULTS_IMAGE";

/// The library's bytes.
///
/// # Errors
/// Why this program has none.
pub fn library() -> Result<&'static [u8], &'static str> {
    if LIBRARY.is_empty() { Err(env!("BOURSE_FAULTS_NONE")) } else { Ok(LIBRARY) }
}

/// Writes the library to a file, for processes to load.
///
/// # Errors
/// The system's.
pub fn write_library(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Where a watched process finds what it needs; absolute paths without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The control file.
    pub control: PathBuf,
    /// The folder whose files are watched.
    pub files: PathBuf,
    /// The folder with the image of these files on the disk; `None` where none is kept.
    pub image: Option<PathBuf>,
}

impl Places {
    /// The settings of a process, without the library itself.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let image = self.image.as_ref().map(|image| (IMAGE, image));
        let all = [(CONTROL, &self.control), (FILES, &self.files)].into_iter().chain(image);
        all.map(|(name, path)| (name.into(), path.into())).collect()
    }

    /// The settings of a process that is to load the library from that file.
    pub fn preloading(&self, library: &Path) -> Vec<(OsString, OsString)> {
        let mut all = self.environment();
        all.push(("LD_PRELOAD".into(), library.into()));
        all
    }

    /// What this process was given; `None` if nothing.
    pub fn of_this_process() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Some(Self { control: path(CONTROL)?, files: path(FILES)?, image: path(IMAGE) })
    }
}
