//! The mark of a database that Bourse made: an empty table with a reserved name, made with the file.
//!
//! It is looked for read-only. A database that was not closed must be repaired before it can be read, which is done in memory:
//! nothing is written to a file before it is known to be Bourse's.

use crate::error::error;
use bourse_engine::{EngineError, FileOwner, TargetFile};
use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase as _, StorageBackend, TableDefinition,
    TableHandle as _,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Definition of the table.
const MARK: TableDefinition<'_, u64, u64> = TableDefinition::new("bourse database");

/// First bytes of a redb database.
const MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";
/// Page cache of the examination, in bytes.
const CACHE_BYTES: usize = 1 << 20;

/// Writes the mark into a new database.
pub(crate) fn mark(database: &Database) -> Result<(), EngineError> {
    let writing = database.begin_write().map_err(error)?;
    writing.open_table(MARK).map_err(error)?;
    writing.commit().map_err(error)
}

/// Names of the tables without the mark's, and whether the mark exists.
pub(crate) fn tables(reading: &ReadTransaction) -> Result<(Vec<String>, bool), EngineError> {
    let mut names: Vec<String> = reading.list_tables().map_err(error)?.map(|table| table.name().to_owned()).collect();
    let all = names.len();
    names.retain(|name| name != MARK.name());
    let is_marked = names.len() < all;
    Ok((names, is_marked))
}

/// Finds out the owner of the file at a path.
///
/// # Errors
/// The system's; that another program has the database open.
pub(crate) fn look(path: &Path) -> Result<FileOwner, EngineError> {
    let file = match TargetFile::at(path) {
        Ok(file) => file,
        Err(e) => return FileOwner::refused(e),
    };
    let start = file.start(MAGIC.len())?;
    if start.is_empty() {
        return Ok(FileOwner::Nobody(file.path().to_owned()));
    }
    let shown = path.display();
    if start != MAGIC {
        return Ok(FileOwner::Foreign(format!("{shown} is no redb database, or its header is damaged")));
    }
    let is_marked = match Builder::new().set_cache_size(CACHE_BYTES).open_read_only(file.path()) {
        Ok(database) => tables(&database.begin_read().map_err(error)?).map(|(_, is_marked)| is_marked),
        Err(DatabaseError::RepairAborted) => repaired(file.path()),
        Err(e) => Err(error(e)),
    };
    match is_marked {
        Ok(true) => Ok(FileOwner::Ours(file.path().to_owned())),
        Ok(false) => Ok(FileOwner::Foreign(format!(
            "{shown} is a redb database without Bourse's mark (a table named {:?}); if it was made by a version that \
             left no mark yet, delete it",
            MARK.name()
        ))),
        // Open elsewhere, or damaged: its owner cannot be determined.
        Err(e) => Err(EngineError::new(e.kind(), format!("cannot open {shown}: {}", e.message()))),
    }
}

/// Whether a database that was not closed has the mark; it is repaired in memory first.
fn repaired(path: &Path) -> Result<bool, EngineError> {
    let file = File::open(path).map_err(|e| EngineError::io("open", path, &e))?;
    let length = file.metadata().map_err(|e| EngineError::io("look at", path, &e))?.len();
    let overlay = Overlay(Mutex::new(Layers { file, there: length, length, written: BTreeMap::new() }));
    let database = Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(overlay).map_err(error)?;
    tables(&database.begin_read().map_err(error)?).map(|(_, is_marked)| is_marked)
}

/// Size in bytes of the blocks that are stored in memory.
const BLOCK: usize = 4_096;

/// Storage that only reads the file, and stores writes in memory.
#[derive(Debug)]
struct Overlay(Mutex<Layers>);

#[derive(Debug)]
struct Layers {
    file: File,
    /// Length up to which the file is still visible.
    there: u64,
    length: u64,
    written: BTreeMap<u64, Box<[u8; BLOCK]>>,
}

impl Overlay {
    fn layers(&self) -> MutexGuard<'_, Layers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layers {
    /// Contents of a block, filled up with zeros behind the end of the file.
    fn block(&mut self, number: u64) -> io::Result<Box<[u8; BLOCK]>> {
        if let Some(block) = self.written.get(&number) {
            return Ok(block.clone());
        }
        let mut block = Box::new([0; BLOCK]);
        let start = number * BLOCK as u64;
        let there = self.there.saturating_sub(start).min(BLOCK as u64) as usize;
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut block[..there])?;
        Ok(block)
    }

    /// Visits each block of a range, with the part of the range within it.
    fn each(
        offset: u64,
        bytes: usize,
        mut each: impl FnMut(u64, std::ops::Range<usize>, std::ops::Range<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < bytes {
            let at = offset + done as u64;
            let inside = (at % BLOCK as u64) as usize;
            let length = (BLOCK - inside).min(bytes - done);
            each(at / BLOCK as u64, inside..inside + length, done..done + length)?;
            done += length;
        }
        Ok(())
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.layers().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut layers = self.layers();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > layers.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Layers::each(offset, out.len(), |number, inside, outside| {
            out[outside].copy_from_slice(&layers.block(number)?[inside]);
            Ok(())
        })
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut layers = self.layers();
        layers.there = layers.there.min(length);
        layers.length = length;
        // A part that is cut off reads as zeros if the file grows again.
        let (last, within) = (length / BLOCK as u64, (length % BLOCK as u64) as usize);
        layers.written.retain(|number, _| *number <= last);
        if let Some(block) = layers.written.get_mut(&last) {
            block[within..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut layers = self.layers();
        layers.length = layers.length.max(offset + data.len() as u64);
        Layers::each(offset, data.len(), |number, inside, outside| {
            let mut block = layers.block(number)?;
            block[inside].copy_from_slice(&data[outside]);
            layers.written.insert(number, block);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_leaves_its_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let before: Vec<u8> = (0..10_000_u32).map(|at| at as u8).collect();
        std::fs::write(&path, &before).unwrap();
        let file = File::open(&path).unwrap();
        let overlay = Overlay(Mutex::new(Layers { file, there: 10_000, length: 10_000, written: BTreeMap::new() }));
        let mut expected = before.clone();
        let check = |expected: &[u8]| {
            let mut all = vec![1; expected.len()];
            overlay.read(0, &mut all).unwrap();
            assert!(all == expected && overlay.len().unwrap() == expected.len() as u64);
        };
        check(&expected);
        for (offset, length) in [(4_000, 200), (0, 1), (9_990, 9_000)] {
            expected.resize(expected.len().max(offset + length), 0);
            expected[offset..offset + length].fill(7);
            overlay.write(offset as u64, &vec![7; length]).unwrap();
            check(&expected);
        }
        for length in [4_100, 12_000] {
            expected.resize(length, 0);
            overlay.set_len(length as u64).unwrap();
            check(&expected);
        }
        assert!(overlay.read(11_999, &mut [0; 2]).is_err());
        assert!(std::fs::read(&path).unwrap() == before);
    }
}
