//! Encrypted databases, of libraries that support them: the source of the key, and the ownership of a database, which
//! only the key reveals.

use crate::connection::Connection;
use crate::ffi::Library;
use crate::loaded::interned;
use crate::mark::{APPLICATION_ID, COMPANIONS, Found, is_plain};
use crate::options::Options;
use crate::reading::Copy;
use crate::source::Source;
use bourse_engine::{EngineError, ErrorKind, FileUse, TargetFile};
use std::path::Path;
use std::sync::Arc;

/// Source of the key. A target never contains the key itself, so that no run file, list of processes or message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Environment variable of that name.
    Variable(&'static str),
    /// File at that path, whose last line break is ignored.
    File(&'static str),
}

impl Key {
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
    pub(crate) fn read(self) -> Result<Vec<u8>, EngineError> {
        let cannot = |why: String| {
            EngineError::new(ErrorKind::Other, format!("cannot read the key, key={}: {why}", self.written()))
        };
        let key = match self {
            Self::Variable(name) => match std::env::var_os(name) {
                Some(key) => key.into_encoded_bytes(),
                None => return Err(cannot("the environment variable is not set".to_owned())),
            },
            Self::File(path) => {
                let mut key = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
                while matches!(key.last(), Some(b'\n' | b'\r')) {
                    key.pop();
                }
                key
            }
        };
        if key.is_empty() { Err(cannot("it is empty".to_owned())) } else { Ok(key) }
    }
}

/// Finds the owner of an encrypted database, like [`look`](crate::mark::look): the key is needed to read its header.
pub(crate) fn look(library: Library, path: &Path, options: &Options) -> Result<Found, EngineError> {
    let foreign = |why: &str| Ok(Found::Foreign(format!("{} {why}", path.display())));
    let examined = FileUse::unless_used(path, || {
        let file = TargetFile::at(path)?;
        let start = file.start(16)?;
        if start.is_empty() {
            file.refuse_neighbours(&COMPANIONS)?;
        }
        Ok::<_, EngineError>(start)
    });
    let start = match examined {
        None => return Ok(Found::Ours { has_log: true }),
        Some(Err(e)) if e.kind() == ErrorKind::Refused => return Ok(Found::Foreign(e.message().to_owned())),
        Some(start) => start?,
    };
    if start.is_empty() {
        return Ok(Found::Nothing);
    }
    if is_plain(&start) {
        return foreign("is a SQLite database that is not encrypted: leave `key=` out");
    }
    match mark(library, path, options)?.map(|mark| mark.parse::<u32>().is_ok_and(|mark| mark == APPLICATION_ID)) {
        Ok(true) => Ok(Found::Ours { has_log: true }),
        Ok(false) => foreign("is an encrypted database without Bourse's mark (its application_id)"),
        Err(e) => foreign(&format!(
            "cannot be read with this key: it is another database's, or the file is no encrypted database, or one of another \
             version of the library ({})",
            e.message()
        )),
    }
}

/// Application's number in a database's first page.
///
/// # Errors
/// The system's; within, the library's.
fn mark(library: Library, path: &Path, options: &Options) -> Result<Result<String, EngineError>, EngineError> {
    let read = |source: &Source| {
        Connection::open(source, options, &Arc::default())
            .and_then(|connection| connection.text_of("PRAGMA application_id"))
    };
    // Immutable: nothing is locked, rolled back or made.
    let found = read(&Source::read_only(library, path, true)?);
    // A crash may leave a part of a page written, which then is not what was encrypted. The whole page is in the log or the
    // journal, from where the library gets it; what it writes for that goes to a copy.
    if found.is_err() && COMPANIONS.iter().any(|suffix| std::fs::metadata(bourse_engine::beside(path, suffix)).is_ok())
    {
        let copy = Copy::of(path)?;
        return Ok(read(&Source::file(library, copy.path(), false)?));
    }
    Ok(found)
}
