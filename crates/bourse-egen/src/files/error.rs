use std::io;
use std::path::{Path, PathBuf};

use crate::InputError;

/// Error of generating data.
#[derive(Debug, thiserror::Error)]
pub enum GenError {
    /// A file cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        /// Action that failed: `read`, `write`, ...
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// An input file exists but is invalid.
    #[error("the input data in {folder} cannot be used")]
    Input {
        /// Folder that the file was read from.
        folder: PathBuf,
        /// File, line, expected and actual content.
        source: InputError,
    },
    /// The caller cancelled the generation.
    #[error("generation was cancelled")]
    Cancelled,
}

impl GenError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
