//! Databases in files that a process has open, each shared by all engines on its file.

use crate::{EngineError, ErrorKind, Result, locked};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

/// Open databases by their paths, with the settings that each was opened with.
#[derive(Debug)]
pub struct OpenFiles<S, D>(Mutex<Vec<(PathBuf, S, Weak<D>)>>);

impl<S: PartialEq + Clone, D> OpenFiles<S, D> {
    /// No databases.
    #[expect(clippy::new_without_default, reason = "a constant for statics")]
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The open database of a file; opens it with `open` if it is not. Other threads wait meanwhile.
    ///
    /// # Errors
    /// Those of `open`; [`Conflict`](ErrorKind::Conflict) if it is open with other settings.
    pub fn get(&self, path: &Path, settings: &S, open: impl FnOnce() -> Result<Arc<D>>) -> Result<Arc<D>> {
        let mut all = locked(&self.0);
        all.retain(|(_, _, database)| database.strong_count() > 0);
        let known = all.iter().find(|(known, _, _)| known == path);
        let known = known.and_then(|(_, with, database)| Some((with == settings, database.upgrade()?)));
        let Some((is_alike, database)) = known else {
            let database = open()?;
            all.push((path.to_owned(), settings.clone(), Arc::downgrade(&database)));
            return Ok(database);
        };
        if is_alike {
            return Ok(database);
        }
        let text = format!("{} is open in this process with other settings", path.display());
        Err(EngineError::new(ErrorKind::Conflict, text))
    }
}
