//! Traces: what an engine asked of the file system, in order.

use crate::image::{BLOCK_BYTES, Directory, FileImage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A file, whatever it is called: its place in [`Trace::base`], or behind those the order of creation.
pub type FileId = u32;

/// One operation on the files of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// A new, empty file gets a name.
    Create {
        /// The name.
        name: String,
        /// The file.
        file: FileId,
    },
    /// Bytes are written.
    Write {
        /// The file.
        file: FileId,
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The file is cut, or extended by zeros.
    Truncate {
        /// The file.
        file: FileId,
        /// Its new size.
        size: u64,
    },
    /// `fsync` of a file: its data and its size.
    Sync {
        /// The file.
        file: FileId,
    },
    /// `fsync` of the directory: the names.
    SyncDirectory,
    /// A name is removed.
    Unlink {
        /// The name.
        name: String,
    },
    /// A file gets another name, whose file is removed.
    Rename {
        /// The name that goes.
        from: String,
        /// The name that stays.
        to: String,
        /// The file.
        file: FileId,
    },
    /// The engine said that its n-th commit is done.
    Acknowledged(u64),
}

/// The files at the start, and what was done with them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The files at the start, all durable. Their numbers follow the order of their names.
    pub base: Directory,
    /// The operations in order.
    pub operations: Vec<Operation>,
}

/// A stored trace that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError(String);

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a trace of this version: {}", self.0)
    }
}

impl std::error::Error for TraceError {}

/// What a stored trace begins with; the digit is the version of the form.
const MAGIC: &[u8] = b"bourse trace 1\n";

/// A trace as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    base: BTreeMap<String, Vec<u8>>,
    operations: Vec<Operation>,
}

impl Trace {
    /// How many syncs of files and of the directory there are.
    pub fn syncs(&self) -> usize {
        let is_sync = |it: &&Operation| matches!(it, Operation::Sync { .. } | Operation::SyncDirectory);
        self.operations.iter().filter(is_sync).count()
    }

    /// Blocks of a file of this size at the start that the operations change, by number: their bytes at the start are all
    /// that the states of the trace depend on.
    pub fn blocks_changed(&self, of: FileId, size: u64) -> BTreeSet<u64> {
        let block = BLOCK_BYTES as u64;
        let mut blocks = BTreeSet::new();
        for operation in &self.operations {
            match operation {
                Operation::Write { file, offset, bytes } if *file == of => {
                    blocks.extend(offset / block..(offset + bytes.len() as u64).div_ceil(block));
                }
                // What is cut off and grows again is zeros.
                Operation::Truncate { file, size: cut } if *file == of => {
                    blocks.extend(cut / block..size.div_ceil(block));
                }
                _ => {}
            }
        }
        blocks
    }

    /// Bytes to store.
    pub fn to_bytes(&self) -> Vec<u8> {
        let base = self.base.files.iter().map(|(name, file)| (name.clone(), file.to_bytes())).collect();
        let stored = Stored { base, operations: self.operations.clone() };
        postcard::to_extend(&stored, MAGIC.to_vec()).expect("a vector takes everything")
    }

    /// Reads what [`Trace::to_bytes`] made.
    ///
    /// # Errors
    /// If it is something else, or cut off.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TraceError> {
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| TraceError("it begins differently".to_owned()))?;
        let stored: Stored = postcard::from_bytes(body).map_err(|error| TraceError(error.to_string()))?;
        check(&stored).map_err(TraceError)?;
        let files = stored.base.into_iter().map(|(name, bytes)| (name, FileImage::from(&bytes[..]))).collect();
        Ok(Self { base: Directory { files }, operations: stored.operations })
    }
}

/// The largest file of a stored trace: 1 TiB.
const LARGEST_FILE: u64 = 1 << 40;

/// Refuses operations that no recording has: on files that were not created, or of absurd sizes.
fn check(stored: &Stored) -> Result<(), String> {
    let mut files = stored.base.len() as u64;
    for (place, operation) in stored.operations.iter().enumerate() {
        let (file, end) = match operation {
            Operation::Create { file, .. } => {
                files += u64::from(u64::from(*file) == files);
                (*file, 0)
            }
            Operation::Write { file, offset, bytes } => (*file, offset.saturating_add(bytes.len() as u64)),
            Operation::Truncate { file, size } => (*file, *size),
            Operation::Sync { file } | Operation::Rename { file, .. } => (*file, 0),
            Operation::SyncDirectory | Operation::Unlink { .. } | Operation::Acknowledged(_) => continue,
        };
        if u64::from(file) >= files {
            return Err(format!("operation {place} is on file {file}, which was not created"));
        }
        if end > LARGEST_FILE {
            return Err(format!("operation {place} makes a file of {end} bytes"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_trace_is_read_back() {
        let base = Directory { files: [("db".to_owned(), FileImage::from(&b"base"[..]))].into() };
        let operations = vec![
            Operation::Create { name: "db-journal".to_owned(), file: 1 },
            Operation::Write { file: 1, offset: 3, bytes: b"new".to_vec() },
            Operation::Sync { file: 1 },
            Operation::SyncDirectory,
            Operation::Acknowledged(1),
        ];
        let trace = Trace { base, operations };
        assert_eq!(trace.syncs(), 2);
        let bytes = trace.to_bytes();
        assert_eq!(Trace::from_bytes(&bytes), Ok(trace));
        assert!(Trace::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        assert!(Trace::from_bytes(b"something else").unwrap_err().to_string().contains("begins differently"));
    }

    #[test]
    fn operations_that_no_recording_has_are_refused() {
        let refused = |operation: Operation| {
            let trace = Trace { base: Directory::default(), operations: vec![operation] };
            Trace::from_bytes(&trace.to_bytes()).unwrap_err().to_string()
        };
        assert!(refused(Operation::Sync { file: 0 }).contains("file 0, which was not created"));
        assert!(refused(Operation::Create { name: "db".to_owned(), file: 9 }).contains("file 9"));
        let base = Directory { files: [("db".to_owned(), FileImage::default())].into() };
        let huge = Trace { base, operations: vec![Operation::Truncate { file: 0, size: u64::MAX }] };
        assert!(Trace::from_bytes(&huge.to_bytes()).unwrap_err().to_string().contains("makes a file of"));
    }

    #[test]
    fn a_state_depends_on_the_blocks_that_are_changed() {
        let write = |offset, length| Operation::Write { file: 0, offset, bytes: vec![1; length] };
        let changed = |operations: Vec<Operation>| {
            let trace = Trace { base: Directory::default(), operations };
            trace.blocks_changed(0, 20_000).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(changed(vec![write(4_095, 2), write(12_288, 4_096)]), [0, 1, 3]);
        assert_eq!(changed(vec![Operation::Truncate { file: 0, size: 12_300 }]), [3, 4]);
        assert!(changed(vec![Operation::Write { file: 1, offset: 0, bytes: vec![1] }]).is_empty());
    }
}
