//! Bourse's library below an engine's calls on files: it counts them, makes one of them fail, simulates a disk that loses its
//! power, and records them as a [`Trace`](crate::Trace).
//!
//! The library (`files/` of `bourse-preload`, in C) is preloaded into the process of an engine, or into all processes of a server,
//! which share one control file. It watches the files below one folder.
//!
//! | module | what |
//! |---|---|
//! | `control` | the file that gives a process its fault and receives the counts |
//! | `power` | the simulated disk: an image that follows the syncs, and files after a loss of power |
//! | `recording` | the file operations of a process, as a trace |

mod control;
mod power;
mod recording;

pub use control::{Call, CallCounts, CallEffect, ControlFile, Spec};
pub use power::{Survival, copy_folder, lose_power, remove_others};
pub use recording::{FileRecorder, read_recording};

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of the library's environment variables.
const CONTROL: &str = "BOURSE_PRELOAD_CONTROL";
const FILES: &str = "BOURSE_PRELOAD_FILES";
const IMAGE: &str = "BOURSE_PRELOAD_IMAGE";
const RECORDING: &str = "BOURSE_PRELOAD_RECORDING";

/// Bytes of the library.
///
/// # Errors
/// The reason that this program has none.
pub fn library() -> Result<&'static [u8], &'static str> {
    bourse_preload::FILE_CALLS.bytes()
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
pub struct ProcessFiles {
    /// Control file.
    pub control: PathBuf,
    /// Folder whose files are watched.
    pub files: PathBuf,
    /// Folder with the image of these files on the disk; `None` if there is no image.
    pub image: Option<PathBuf>,
    /// File that operations are recorded in; `None` if they are not recorded.
    pub recording: Option<PathBuf>,
}

impl ProcessFiles {
    /// Environment variables of a process, without the preloading itself.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let all = [
            (CONTROL, Some(&self.control)),
            (FILES, Some(&self.files)),
            (IMAGE, self.image.as_ref()),
            (RECORDING, self.recording.as_ref()),
        ];
        all.into_iter().filter_map(|(name, path)| Some((name.into(), path?.into()))).collect()
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
        Some(Self { control: path(CONTROL)?, files: path(FILES)?, image: path(IMAGE), recording: path(RECORDING) })
    }
}
