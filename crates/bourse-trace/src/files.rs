//! Files of a recording: one trace for each process, in a folder.

use crate::{TraceError, TraceReader};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Paths of a folder's traces, in the order of their names; a file is the only trace.
///
/// # Errors
/// The system's.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = vec![path.to_owned()];
    if path.is_dir() {
        paths = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "trace"));
        paths.sort();
    }
    Ok(paths)
}

/// Reader of a trace's file.
///
/// # Errors
/// The file cannot be read, is no trace, or a newer one.
pub fn reader(file: File) -> Result<TraceReader<BufReader<File>>, TraceError> {
    TraceReader::new(BufReader::with_capacity(1 << 16, file))
}
