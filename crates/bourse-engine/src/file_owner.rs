//! Whose the file or the folder at a target's path is.

use crate::{EngineError, ErrorKind};
use std::path::PathBuf;

/// Owner of the file or the folder at a database's path, by the mark that a database of ours bears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOwner {
    /// Nothing, or an empty file or folder: a database may be made there.
    Nobody(PathBuf),
    /// A database of ours; its path with links followed.
    Ours(PathBuf),
    /// Something else, in words.
    Foreign(String),
}

impl FileOwner {
    /// A file that was [refused](ErrorKind::Refused) is foreign.
    ///
    /// # Errors
    /// Any other error, as it was.
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

    /// Why it is not ours; `None` if it may be used.
    pub fn foreign(self) -> Option<String> {
        match self {
            Self::Foreign(why) => Some(why),
            Self::Nobody(_) | Self::Ours(_) => None,
        }
    }
}
