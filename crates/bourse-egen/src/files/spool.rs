//! Buffers for the bytes that a unit makes before its turn.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::PathBuf;

use crate::files::GenError;

/// Bytes of one table that wait in memory; more are written to a separate file.
const MAX_BYTES_IN_MEMORY: usize = 4 << 20;

/// Bytes of one table that wait for the bytes before them.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    file: Option<File>,
    memory: Vec<u8>,
}

impl Spool {
    /// An empty buffer; `path` is the file to use if memory does not suffice.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None, memory: Vec::new() }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), GenError> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() < MAX_BYTES_IN_MEMORY {
            return Ok(());
        }
        if self.file.is_none() {
            let create = File::options().read(true).write(true).create_new(true).open(&self.path);
            self.file = Some(create.map_err(GenError::io("create", &self.path))?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.memory).map_err(GenError::io("write", &self.path))?;
        }
        self.memory.clear();
        Ok(())
    }

    /// Appends the bytes to `out` and removes the buffer's file.
    pub(crate) fn append_to(mut self, out: &mut File) -> Result<(), GenError> {
        if let Some(mut file) = self.file.take() {
            file.rewind().and_then(|()| io::copy(&mut file, out)).map_err(GenError::io("copy", &self.path))?;
            fs::remove_file(&self.path).map_err(GenError::io("remove", &self.path))?;
        }
        out.write_all(&self.memory).map_err(GenError::io("write", &self.path))
    }
}

/// The file of a buffer that is not appended is removed.
impl Drop for Spool {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // A drop cannot report an error.
            let _ = fs::remove_file(&self.path);
        }
    }
}
