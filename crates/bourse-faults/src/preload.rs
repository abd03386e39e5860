//! The library that is preloaded, and its environment variables.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of the library; empty if the target has none.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/faults.so"));

/// Names of the library's environment variables.
const CONTROL: &str = "BOURSE_FAULTS_CONTROL";
const FILES: &str = "BOURSE_FAULTS_FILES";
const IMAGE: &str = "BOURSE_FAULTS_IMAGE";

/// Bytes of the library.
///
/// # Errors
/// The reason that this program has none.
pub fn library() -> Result<&'static [u8], &'static str> {
    if LIBRARY.is_empty() { Err(env!("BOURSE_FAULTS_NONE")) } else { Ok(LIBRARY) }
}

/// Writes the library to a file that processes can load.
///
/// # Errors
/// The system's.
pub fn write_library(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Files of a watched process, as absolute paths without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Control file.
    pub control: PathBuf,
    /// Folder whose files are watched.
    pub files: PathBuf,
    /// Folder with the image of these files on the disk; `None` if there is no image.
    pub image: Option<PathBuf>,
}

impl Places {
    /// Environment variables of a process, without the preloading itself.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let image = self.image.as_ref().map(|image| (IMAGE, image));
        let all = [(CONTROL, &self.control), (FILES, &self.files)].into_iter().chain(image);
        all.map(|(name, path)| (name.into(), path.into())).collect()
    }

    /// Environment variables of a process that loads the library from that file.
    pub fn preloading(&self, library: &Path) -> Vec<(OsString, OsString)> {
        let mut all = self.environment();
        all.push(("LD_PRELOAD".into(), library.into()));
        all
    }

    /// Places in this process's environment; `None` if it has none.
    pub fn of_this_process() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Some(Self { control: path(CONTROL)?, files: path(FILES)?, image: path(IMAGE) })
    }
}
