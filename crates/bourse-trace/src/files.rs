//! Files of a recording: one trace for each process, in a folder.

use crate::{TraceError, TraceReader};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Name of a file that a folder has as long as values of its recording are to be masked.
pub const UNMASKED: &str = "values-are-not-masked";

/// Paths of a folder's traces, in the order of their names; a file is the only trace.
///
/// # Errors
/// The system's; that values are still to be masked.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mark = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) }.join(UNMASKED);
    if mark.exists() {
        let what = "the recording was to be masked, and is not: it still runs, or was killed before its end";
        return Err(io::Error::other(format!("{what}; record anew, or remove {} to use the values", mark.display())));
    }
    files_to_mask(path)
}

/// Paths of [`files`], also of a recording whose values are still to be masked.
///
/// # Errors
/// The system's.
pub fn files_to_mask(path: &Path) -> io::Result<Vec<PathBuf>> {
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
