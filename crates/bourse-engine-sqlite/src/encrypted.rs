//! Encrypted databases, of libraries that support them: the source of the key.

use crate::options::interned;
use bourse_engine::{EngineError, Result, open_once};
use std::io::Read as _;

/// Source of the key. A target never contains the key itself, so that no run file, list of processes or message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// Environment variable of that name.
    Variable(&'static str),
    /// File at that path, whose last line break is ignored.
    File(&'static str),
}

impl KeySource {
    /// Parses the source in a target: `env:NAME` or `file:PATH`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            (_, "") => None,
            ("env", name) => Some(Self::Variable(interned(name))),
            ("file", path) => Some(Self::File(interned(path))),
            _ => None,
        }
    }

    /// Source as written in a target.
    pub(crate) fn written(self) -> String {
        match self {
            Self::Variable(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{path}"),
        }
    }

    /// Reads the key.
    ///
    /// # Errors
    /// The key is not at its source, or is empty.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        let cannot =
            |why: String| EngineError::unsupported(format!("cannot read the key, key={}: {why}", self.written()));
        let key = match self {
            Self::Variable(name) => match std::env::var_os(name) {
                Some(key) => key.into_encoded_bytes(),
                None => return Err(cannot("the environment variable is not set".to_owned())),
            },
            Self::File(path) => {
                let mut key = Vec::new();
                let read = open_once(path.as_ref()).and_then(|mut file| file.read_to_end(&mut key));
                read.map_err(|error| cannot(error.to_string()))?;
                while matches!(key.last(), Some(b'\n' | b'\r')) {
                    key.pop();
                }
                key
            }
        };
        if key.is_empty() { Err(cannot("it is empty".to_owned())) } else { Ok(key) }
    }
}
