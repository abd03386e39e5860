//! Pages of a database's files in the system's page cache: dropped or read before a round, and counted.

use bourse_engine::Location;
use bourse_engine::page_cache::{cached_bytes, drop_pages};
use bourse_record::{NameValue, PageCache, Round};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Part of the files that may stay in the page cache of a cold round.
const STAYS: f64 = 0.01;
/// Bytes that may stay: the first pages of each file, which opened sessions have read.
const STAY_BYTES: u64 = 256 << 10;

/// Files of a database, and what the page cache holds of them.
///
/// A process that closes a file loses all its locks on it, also those of the engine. So the files stay open as long as this value.
#[derive(Debug, Default)]
pub struct CachedFiles {
    files: Vec<File>,
    bytes: u64,
    cached_bytes: u64,
}

impl CachedFiles {
    /// Syncs the files, drops their pages or reads them, and counts the pages that are in the page cache then.
    ///
    /// # Errors
    /// The system's.
    pub fn set(wanted: PageCache, location: &Location) -> io::Result<Self> {
        let mut paths = Vec::new();
        for path in location.database_files().into_iter().flat_map(|files| files.all()) {
            add_files(&path, &mut paths)?;
        }
        let mut all = Self::default();
        for path in paths {
            let file = File::open(path)?;
            match wanted {
                PageCache::Cold => drop_pages(&file)?,
                PageCache::Warm => drop(io::copy(&mut &file, &mut io::sink())?),
            }
            all.files.push(file);
        }
        for file in &all.files {
            let bytes = file.metadata()?.len();
            all.bytes += bytes;
            all.cached_bytes += cached_bytes(file, bytes)?.min(bytes);
        }
        Ok(all)
    }
}

/// Adds a file, or the files of a folder, if it is there. The index of SQLite's log is memory that processes share.
fn add_files(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| add_files(&entry?.path(), files));
    }
    files.extend((path.is_file() && !path.to_string_lossy().ends_with("-shm")).then(|| path.to_owned()));
    Ok(())
}

/// Notes in a round what the page cache held as it began. A round that did not begin cold although it should have is void.
pub(crate) fn judge(round: &mut Round, wanted: PageCache, cached: io::Result<CachedFiles>) {
    let CachedFiles { bytes, cached_bytes, .. } = match cached {
        Ok(cached) => cached,
        Err(error) => return round.make_void(format!("the page cache of the database's files is unknown: {error}")),
    };
    let part = cached_bytes as f64 / bytes.max(1) as f64;
    let held = format!("{:.1} % of {:.1} MiB of the database's files", 100.0 * part, bytes as f64 / f64::from(1 << 20));
    if wanted == PageCache::Cold && part > STAYS && cached_bytes > STAY_BYTES {
        round.make_void(format!(
            "the round did not begin cold: {held} stayed in the page cache; another process uses them"
        ));
    }
    let value = format!("{}: {held} were in it when the round began", wanted.name());
    round.facts.push(NameValue::new("page cache", value));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use bourse_engine::FileFormat;

    #[test]
    fn pages_are_dropped_and_read_and_counted() {
        // Beside this program: the folder for temporary files may be in memory.
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let path = folder.path().join("x.db");
        fs::write(&path, vec![7; 4 << 20]).unwrap();
        let location = Location::files(&path, &FileFormat::FILE);
        for (wanted, expected) in [(PageCache::Cold, 0), (PageCache::Warm, 4 << 20), (PageCache::Cold, 0)] {
            let found = CachedFiles::set(wanted, &location).unwrap();
            assert_eq!((found.bytes, found.cached_bytes, found.files.len()), (4 << 20, expected, 1));
        }
        let folder = Location::files(folder.path(), &FileFormat::FOLDER);
        assert_eq!(CachedFiles::set(PageCache::Warm, &folder).unwrap().cached_bytes, 4 << 20);
        let nothing = CachedFiles::set(PageCache::Cold, &Location::Memory).unwrap();
        assert_eq!((nothing.bytes, nothing.cached_bytes), (0, 0));
    }
}
