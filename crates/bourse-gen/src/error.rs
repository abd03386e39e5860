use std::io;
use std::path::{Path, PathBuf};

use bourse_egen::InputError;

/// What can keep data from being made.
#[derive(Debug, thiserror::Error)]
pub enum GenError {
    /// A file cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        /// What was tried: `read`, `write`, ...
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// An input file is there but is not what it should be.
    #[error("the input data in {folder} cannot be used")]
    Input {
        /// The folder it was read from.
        folder: PathBuf,
        /// File, line, what was expected and what was found.
        source: InputError,
    },
    /// The caller's flag asked for an end.
    #[error("generation was cancelled")]
    Cancelled,
}

impl GenError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
