//! Owner of the file or folder at a target's path.

use crate::{EngineError, ErrorKind};
use std::path::PathBuf;

/// Owner of the file or folder at a database's path, determined by the mark that Bourse's databases have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOwner {
    /// None: the path does not exist, or is an empty file or folder. A database may be made there.
    Nobody(PathBuf),
    /// Bourse: a database that it made; its path with links followed.
    Ours(PathBuf),
    /// Anything else: the reason for a person.
    Foreign(String),
}

impl FileOwner {
    /// Converts a [refusal](ErrorKind::Refused) to `Foreign`.
    ///
    /// Any other error, unchanged.
    pub fn refused(error: EngineError) -> Result<Self, EngineError> {
        match error.kind() {
            ErrorKind::Refused => Ok(Self::Foreign(error.message().to_owned())),
            _ => Err(error),
        }
    }

    /// The path to open, and whether a new database is made there.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) if it is foreign.
    pub fn to_open(self) -> Result<(PathBuf, bool), EngineError> {
        match self {
            Self::Nobody(path) => Ok((path, true)),
            Self::Ours(path) => Ok((path, false)),
            Self::Foreign(why) => Err(EngineError::refused(why)),
        }
    }

    /// Reason why it must not be used; `None` if it may be.
    pub fn foreign(self) -> Option<String> {
        match self {
            Self::Foreign(why) => Some(why),
            Self::Nobody(_) | Self::Ours(_) => None,
        }
    }
}
