//! Traces: the file operations of an engine, in order.

use crate::image::{BLOCK_BYTES, Directory, FileImage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of a file, independent of its name: its position in [`Trace::base`], or behind those the order of creation.
pub type FileId = u32;

/// Operation on the files of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileOperation {
    /// Creation of an empty file.
    Create {
        /// Name of the file.
        name: String,
        /// Number of the file.
        file: FileId,
    },
    /// Write of bytes.
    Write {
        /// Number of the file.
        file: FileId,
        /// Position of the first byte.
        offset: u64,
        /// Bytes written.
        bytes: Vec<u8>,
    },
    /// Truncation of a file, or extension by zeros.
    Truncate {
        /// Number of the file.
        file: FileId,
        /// New size in bytes.
        size: u64,
    },
    /// `fsync` of a file: its data and its size.
    Sync {
        /// Number of the file.
        file: FileId,
    },
    /// `fsync` of a directory: the names in it.
    SyncDirectory {
        /// Path of the directory below the watched folder; empty for that folder itself.
        folder: String,
    },
    /// Removal of a name.
    Unlink {
        /// Name that is removed.
        name: String,
    },
    /// Renaming of a file; a file that had the new name is removed.
    Rename {
        /// Old name.
        from: String,
        /// New name.
        to: String,
        /// Number of the file.
        file: FileId,
    },
    /// The engine acknowledged its n-th commit.
    Acknowledged(u64),
    /// Write to a file opened with `O_DSYNC`: these bytes and the size are synced, other bytes of the file are not.
    SyncRange {
        /// Number of the file.
        file: FileId,
        /// Position of the first byte.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

impl FileOperation {
    /// Whether the operation makes others durable.
    pub const fn is_sync(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::SyncDirectory { .. } | Self::SyncRange { .. })
    }
}

/// Files at the start, and the operations on them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Files at the start, all durable. Their numbers follow the order of their names.
    pub base: Directory,
    /// Operations in order.
    pub operations: Vec<FileOperation>,
}

/// Error for a stored trace that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError(String);

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a trace of this version: {}", self.0)
    }
}

impl std::error::Error for TraceError {}

/// First line of a stored trace; the digit is the version of the format.
const MAGIC: &[u8] = b"bourse trace 2\n";

/// Trace in its stored form.
#[derive(Serialize, Deserialize)]
struct StoredTrace {
    base: BTreeMap<String, Vec<u8>>,
    operations: Vec<FileOperation>,
}

impl Trace {
    /// Number of syncs of files and of the directory.
    pub fn syncs(&self) -> usize {
        self.operations.iter().filter(|operation| operation.is_sync()).count()
    }

    /// Numbers of those blocks of a file with this initial size that the operations change: the states of the trace depend on
    /// no other bytes of it.
    pub fn blocks_changed(&self, of: FileId, size: u64) -> BTreeSet<u64> {
        let block = BLOCK_BYTES as u64;
        let mut blocks = BTreeSet::new();
        for operation in &self.operations {
            match operation {
                FileOperation::Write { file, offset, bytes } if *file == of => {
                    blocks.extend(offset / block..(offset + bytes.len() as u64).div_ceil(block));
                }
                // A part that is cut off and grows again is zero.
                FileOperation::Truncate { file, size: cut } if *file == of => {
                    blocks.extend(cut / block..size.div_ceil(block));
                }
                _ => {}
            }
        }
        blocks
    }

    /// Encodes the trace as bytes to store.
    pub fn to_bytes(&self) -> Vec<u8> {
        let base = self.base.files.iter().map(|(name, file)| (name.clone(), file.to_bytes())).collect();
        let stored = StoredTrace { base, operations: self.operations.clone() };
        postcard::to_extend(&stored, MAGIC.to_vec()).expect("a vector takes everything")
    }

    /// Decodes the bytes made by [`Trace::to_bytes`].
    ///
    /// # Errors
    /// If the bytes are something else, or cut off.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TraceError> {
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| TraceError("it begins differently".to_owned()))?;
        let stored: StoredTrace = postcard::from_bytes(body).map_err(|error| TraceError(error.to_string()))?;
        check(&stored).map_err(TraceError)?;
        let files = stored.base.into_iter().map(|(name, bytes)| (name, FileImage::from(&bytes[..]))).collect();
        Ok(Self { base: Directory { files }, operations: stored.operations })
    }
}

/// Size limit of a file in a stored trace: 1 TiB.
const LARGEST_FILE: u64 = 1 << 40;

/// Refuses operations that no recording has: on files that were not created, or of absurd sizes.
fn check(stored: &StoredTrace) -> Result<(), String> {
    let mut files = stored.base.len() as u64;
    for (place, operation) in stored.operations.iter().enumerate() {
        let (file, end) = match operation {
            FileOperation::Create { file, .. } => {
                files += u64::from(u64::from(*file) == files);
                (*file, 0)
            }
            FileOperation::Write { file, offset, bytes } => (*file, offset.saturating_add(bytes.len() as u64)),
            FileOperation::Truncate { file, size } => (*file, *size),
            FileOperation::Sync { file }
            | FileOperation::SyncRange { file, .. }
            | FileOperation::Rename { file, .. } => (*file, 0),
            FileOperation::SyncDirectory { .. } | FileOperation::Unlink { .. } | FileOperation::Acknowledged(_) => {
                continue;
            }
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
            FileOperation::Create { name: "db-journal".to_owned(), file: 1 },
            FileOperation::Write { file: 1, offset: 3, bytes: b"new".to_vec() },
            FileOperation::Sync { file: 1 },
            FileOperation::SyncDirectory { folder: String::new() },
            FileOperation::SyncRange { file: 1, offset: 3, bytes: 3 },
            FileOperation::Acknowledged(1),
        ];
        let trace = Trace { base, operations };
        assert_eq!(trace.syncs(), 3);
        let bytes = trace.to_bytes();
        assert_eq!(Trace::from_bytes(&bytes), Ok(trace));
        assert!(Trace::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        assert!(Trace::from_bytes(b"something else").unwrap_err().to_string().contains("begins differently"));
    }

    #[test]
    fn operations_that_no_recording_has_are_refused() {
        let refused = |operation: FileOperation| {
            let trace = Trace { base: Directory::default(), operations: vec![operation] };
            Trace::from_bytes(&trace.to_bytes()).unwrap_err().to_string()
        };
        assert!(refused(FileOperation::Sync { file: 0 }).contains("file 0, which was not created"));
        assert!(refused(FileOperation::Create { name: "db".to_owned(), file: 9 }).contains("file 9"));
        let base = Directory { files: [("db".to_owned(), FileImage::default())].into() };
        let huge = Trace { base, operations: vec![FileOperation::Truncate { file: 0, size: u64::MAX }] };
        assert!(Trace::from_bytes(&huge.to_bytes()).unwrap_err().to_string().contains("makes a file of"));
    }

    #[test]
    fn a_state_depends_on_the_blocks_that_are_changed() {
        let write = |offset, length| FileOperation::Write { file: 0, offset, bytes: vec![1; length] };
        let changed = |operations: Vec<FileOperation>| {
            let trace = Trace { base: Directory::default(), operations };
            trace.blocks_changed(0, 20_000).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(changed(vec![write(4_095, 2), write(12_288, 4_096)]), [0, 1, 3]);
        assert_eq!(changed(vec![FileOperation::Truncate { file: 0, size: 12_300 }]), [3, 4]);
        assert!(changed(vec![FileOperation::Write { file: 1, offset: 0, bytes: vec![1] }]).is_empty());
    }
}
