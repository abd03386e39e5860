//! The trace of a load as a file: a line of JSON that describes it, then the operations.
//!
//! The database that the load began with is not in it, but its SHA-256 is. The states depend only on those blocks of that
//! database that the operations change; they are read from it again. SQLite's file header is stored, since merely opening the
//! database in another journal mode changes it.

use crate::acknowledged::Acknowledgement;
use crate::test_bed::{AcidError, new_folder};
use bourse_crash::{BLOCK_BYTES, Directory, FileImage, FileOperation, Trace};
use bourse_schema::TradeId;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Name of the format, in the first line; the digit is its version.
const FORMAT: &str = "bourse load trace 1";
/// Size of SQLite's file header in bytes.
const HEADER_BYTES: u64 = 100;
/// Name of a database in a trace of it alone; the names of its other files begin so too.
pub(super) const DATABASE: &str = "db";
/// Number of the database file in a trace: its name comes first.
const MAIN: u32 = 0;
/// Size limit of the database of a stored trace: 1 TiB.
const MAX_DATABASE_BYTES: u64 = 1 << 40;

/// Name in a trace of a file in the folder of a database that has that name.
pub(super) fn name_in_trace(database: &str, path: &str) -> Option<String> {
    // The index of SQLite's log is made anew when the database is opened; Bourse's mark is no part of the database.
    if path.contains('/') || path.ends_with("-shm") || path.ends_with(".bourse-mark") {
        return None;
    }
    Some(path.strip_prefix(database).map_or_else(|| path.to_owned(), |ending| format!("{DATABASE}{ending}")))
}

/// Other files in the folder of a database, which has the folder alone, with their names in a trace.
pub(super) fn files_beside(copy: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let database = copy.file_name().unwrap_or_default().to_string_lossy();
    let mut all = Vec::new();
    for entry in fs::read_dir(copy.parent().unwrap_or(copy))? {
        let entry = entry?;
        let named = name_in_trace(&database, &entry.file_name().to_string_lossy()).filter(|name| name != DATABASE);
        if entry.file_type()?.is_file() {
            all.extend(named.map(|name| (name, entry.path())));
        }
    }
    Ok(all)
}

/// Path of a file in the folder of a database, by its name in a trace.
fn path_of(name: &str, copy: &Path) -> PathBuf {
    let database = copy.file_name().unwrap_or_default().to_string_lossy();
    copy.with_file_name(
        name.strip_prefix(DATABASE).map_or_else(|| name.to_owned(), |ending| format!("{database}{ending}")),
    )
}

/// Database that a load began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) bytes: u64,
    sha256: String,
    /// File header: the first bytes.
    header: Vec<u8>,
}

impl Base {
    /// Reads the base from a database file.
    pub(super) fn of(path: &Path) -> Result<Self, AcidError> {
        Self::read(path).map_err(|error| AcidError::Machinery(format!("{} cannot be read: {error}", path.display())))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut header = Vec::new();
        (&file).take(HEADER_BYTES).read_to_end(&mut header)?;
        let mut hash = Sha256::new();
        hash.update(&header);
        let bytes = header.len() as u64 + io::copy(&mut file, &mut hash)?;
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, sha256, header })
    }
}

/// First line of the file.
#[derive(Serialize, Deserialize)]
struct FileHead {
    format: String,
    target: String,
    seed: u64,
    base: Base,
    last_trade: i64,
    ended: String,
    acknowledged: Vec<String>,
}

/// Error for a file that is not the trace of a load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no trace of a load that this version can read: {0}")]
pub struct LoadTraceError(String);

/// Trace of a load on a copy of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadTrace {
    target: String,
    seed: u64,
    base: Base,
    last_trade: TradeId,
    acknowledged: Vec<Acknowledgement>,
    ended: String,
    trace: Trace,
}

impl LoadTrace {
    pub(super) fn new(
        target: String,
        seed: u64,
        base: Base,
        last_trade: TradeId,
        acknowledged: Vec<Acknowledgement>,
        ended: String,
        trace: Trace,
    ) -> Self {
        Self { target, seed, base, last_trade, acknowledged, ended, trace }
    }

    /// Target, with its options, whose copy the load worked on.
    pub fn target(&self) -> &str {
        &self.target
    }
    /// Seed of the load and of the drawn states.
    pub fn seed(&self) -> u64 {
        self.seed
    }
    /// Recorded operations.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
    /// Recorded operations, mutable so that a fault can be planted.
    pub fn trace_mut(&mut self) -> &mut Trace {
        &mut self.trace
    }
    pub(super) fn base_bytes(&self) -> u64 {
        self.base.bytes
    }
    pub(super) fn base_sha256(&self) -> &str {
        &self.base.sha256
    }
    pub(super) fn ended(&self) -> &str {
        &self.ended
    }
    /// Largest trade number before the load.
    pub(super) fn last_trade(&self) -> TradeId {
        self.last_trade
    }
    /// Acknowledged trades, in the order of the trace's acknowledgements.
    pub(super) fn acknowledged(&self) -> &[Acknowledgement] {
        &self.acknowledged
    }

    /// Encodes the trace as a file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = FileHead {
            format: FORMAT.to_owned(),
            target: self.target.clone(),
            seed: self.seed,
            base: self.base.clone(),
            last_trade: self.last_trade.0,
            ended: self.ended.clone(),
            acknowledged: self.acknowledged.iter().map(ToString::to_string).collect(),
        };
        let mut base = self.trace.base.clone();
        base.files.insert(DATABASE.to_owned(), FileImage::default());
        let mut bytes = serde_json::to_vec(&head).expect("the line has names for keys");
        bytes.push(b'\n');
        bytes.extend(Trace { base, operations: self.trace.operations.clone() }.to_bytes());
        bytes
    }

    /// Decodes the bytes made by [`LoadTrace::to_bytes`].
    ///
    /// # Errors
    /// If the bytes are something else, or cut off.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadTraceError> {
        let refused = |why: &str| LoadTraceError(why.to_owned());
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| refused("it has no first line"))?;
        let (line, rest) = bytes.split_at(end);
        let head: FileHead = serde_json::from_slice(line).map_err(|error| LoadTraceError(error.to_string()))?;
        if head.format != FORMAT {
            return Err(LoadTraceError(format!("its form is `{}`, not `{FORMAT}`", head.format)));
        }
        if head.base.bytes > MAX_DATABASE_BYTES || head.base.header.len() as u64 != HEADER_BYTES.min(head.base.bytes) {
            return Err(refused("its database has an absurd size"));
        }
        let parse = |line: &String| line.parse().map_err(|()| LoadTraceError(format!("`{line}` acknowledges nothing")));
        let acknowledged = head.acknowledged.iter().map(parse).collect::<Result<_, _>>()?;
        let mut trace = Trace::from_bytes(&rest[1..]).map_err(|error| LoadTraceError(error.to_string()))?;
        if trace.base.files.keys().next().map(String::as_str) != Some(DATABASE) {
            return Err(refused("its operations are not on a database"));
        }
        let renames_database = |operation: &FileOperation| match operation {
            FileOperation::Create { name, .. } | FileOperation::Unlink { name } => name == DATABASE,
            FileOperation::Rename { from, to, .. } => from == DATABASE || to == DATABASE,
            _ => false,
        };
        if trace.operations.iter().any(renames_database) {
            return Err(refused("the database file itself is replaced in it"));
        }
        // The states of a trace are written to files of these names.
        let is_plain = |name: &String| !name.contains('/') && !matches!(name.as_str(), "" | "." | "..");
        let named = trace.operations.iter().filter_map(|operation| match operation {
            FileOperation::Create { name, .. } | FileOperation::Rename { to: name, .. } => Some(name),
            _ => None,
        });
        if !trace.base.files.keys().chain(named).all(is_plain) {
            return Err(refused("it names a file in another folder"));
        }
        let mut main = FileImage::default();
        main.set_size(head.base.bytes);
        trace.base.files.insert(DATABASE.to_owned(), main);
        let last_trade = TradeId(head.last_trade);
        Ok(Self::new(head.target, head.seed, head.base, last_trade, acknowledged, head.ended, trace))
    }

    /// Reads the blocks that the states need from a copy of the database that the load began with.
    ///
    /// # Errors
    /// If it is another database, or cannot be read.
    pub(super) fn complete(&mut self, copy: &Path) -> Result<(), AcidError> {
        let cannot = |error: io::Error| AcidError::Machinery(format!("{} cannot be read: {error}", copy.display()));
        self.restore_header(copy).map_err(cannot)?;
        let found = Base::of(copy)?;
        if found != self.base {
            return Err(AcidError::Machinery(format!(
                "the database of {} is not as it was when the load was recorded: it has {} bytes with SHA-256 {}, and had {} with {}; a fresh database is made again by loading it with the same options",
                self.target, found.bytes, found.sha256, self.base.bytes, self.base.sha256
            )));
        }
        let mut file = File::open(copy).map_err(cannot)?;
        let mut main = FileImage::default();
        main.set_size(self.base.bytes);
        for block in self.trace.blocks_changed(MAIN, self.base.bytes) {
            let start = block * BLOCK_BYTES as u64;
            if start >= self.base.bytes {
                break;
            }
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(start)).map_err(cannot)?;
            (&file).take(BLOCK_BYTES as u64).read_to_end(&mut bytes).map_err(cannot)?;
            main.write(start, &bytes);
        }
        self.trace.base.files.insert(DATABASE.to_owned(), main);
        Ok(())
    }

    fn restore_header(&self, copy: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(copy)?;
        match file.metadata()?.len() >= self.base.header.len() as u64 {
            true => file.write_all(&self.base.header),
            false => Ok(()),
        }
    }

    /// Writes a state of a completed trace to a fresh copy of the database.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn put(&self, state: &Directory, copy: &Path) -> Result<(), AcidError> {
        self.write(state, copy)
            .map_err(|error| AcidError::Machinery(format!("a state cannot be written to {}: {error}", copy.display())))
    }

    fn write(&self, state: &Directory, copy: &Path) -> io::Result<()> {
        for (_, path) in files_beside(copy)? {
            fs::remove_file(path)?;
        }
        for (name, file) in state.files.iter().filter(|(name, _)| *name != DATABASE) {
            fs::write(path_of(name, copy), file.to_bytes())?;
        }
        self.restore_header(copy)?;
        let main = state.files.get(DATABASE).ok_or_else(|| io::Error::other("the database file is missing"))?;
        let mut file = OpenOptions::new().write(true).open(copy)?;
        file.set_len(main.size())?;
        let mut block_bytes = [0; BLOCK_BYTES];
        for block in self.trace.blocks_changed(MAIN, self.base.bytes) {
            let start = block * BLOCK_BYTES as u64;
            let there = main.read(start, &mut block_bytes);
            if there > 0 {
                file.seek(SeekFrom::Start(start))?;
                file.write_all(&block_bytes[..there])?;
            }
        }
        Ok(())
    }
}

/// Copies a database with its other files into a folder, under their names in a trace.
pub(super) fn keep(copy: &Path, folder: &Path) -> Result<(), AcidError> {
    let file_error = |error: io::Error| AcidError::Machinery(format!("{}: {error}", folder.display()));
    new_folder(folder).map_err(file_error)?;
    let others = files_beside(copy).map_err(file_error)?;
    for (name, path) in std::iter::once((DATABASE.to_owned(), copy.to_owned())).chain(others) {
        fs::copy(path, folder.join(name)).map_err(file_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_crash::{Device, Disk};

    /// Trace of a database of three blocks that is truncated, grows again, and has a journal.
    fn recorded(base: &Path) -> LoadTrace {
        let mut files = Directory::default();
        let mut main = FileImage::default();
        main.set_size(fs::metadata(base).expect("it is there").len());
        files.files.insert(DATABASE.to_owned(), main);
        let operations = vec![
            FileOperation::Write { file: MAIN, offset: 5_000, bytes: vec![2; 10] },
            FileOperation::Create { name: format!("{DATABASE}-journal"), file: 1 },
            FileOperation::Write { file: 1, offset: 0, bytes: b"journal".to_vec() },
            FileOperation::Truncate { file: MAIN, size: 8_200 },
            FileOperation::Write { file: MAIN, offset: 20_000, bytes: vec![3; 10] },
            FileOperation::Acknowledged(1),
            FileOperation::Sync { file: MAIN },
            FileOperation::Sync { file: 1 },
            FileOperation::SyncDirectory { folder: String::new() },
        ];
        let trace = Trace { base: files, operations };
        let acknowledged = vec![Acknowledgement { word: "result".to_owned(), key: vec![7] }];
        let base = Base::of(base).expect("it can be read");
        LoadTrace::new("sqlite:x.db".to_owned(), 1, base, TradeId(6), acknowledged, "enough".to_owned(), trace)
    }

    #[test]
    fn a_stored_trace_and_its_database_make_a_state_byte_for_byte() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let (base, copy) = (folder.path().join("x.db"), folder.path().join("copies/copy"));
        fs::create_dir(folder.path().join("copies")).expect("can be made");
        let beside = |ending: &str| folder.path().join(format!("copies/copy{ending}"));
        let before: Vec<u8> = (0..10_000_u32).map(|number| number as u8).collect();
        fs::write(&base, &before).expect("written");
        let recorded = recorded(&base);
        let mut trace = LoadTrace::from_bytes(&recorded.to_bytes()).expect("it was just made");
        assert_eq!(trace, recorded);

        let mut other_header = before.clone();
        other_header[18] = 99;
        fs::write(&copy, &other_header).expect("written");
        trace.complete(&copy).expect("the header does not matter");
        fs::write(beside("-wal"), b"of another state").expect("written");
        let mut disk = Disk::new(trace.trace(), Device::POWERSAFE);
        trace.trace().operations.iter().for_each(|operation| disk.apply(operation));
        fs::write(&copy, &other_header).expect("written");
        trace.put(&disk.state(&[], &[]), &copy).expect("it can be written");

        let mut after = before.clone();
        after[5_000..5_010].fill(2);
        after.truncate(8_200);
        after.resize(20_000, 0);
        after.extend([3; 10]);
        assert!(fs::read(&copy).expect("it is there") == after);
        assert_eq!(fs::read(beside("-journal")).expect("it is there"), b"journal");
        assert!(!beside("-wal").exists());

        let mut other = before;
        other[9_000] ^= 1;
        fs::write(&copy, &other).expect("written");
        let error = trace.complete(&copy).unwrap_err().to_string();
        assert!(error.contains("is not as it was when the load was recorded"), "{error}");
    }

    #[test]
    fn what_is_no_trace_of_a_load_is_refused() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let base = folder.path().join("x.db");
        fs::write(&base, [1; 300]).expect("written");
        let mut trace = recorded(&base);
        let bytes = trace.to_bytes();
        let refused = |bytes: &[u8]| LoadTrace::from_bytes(bytes).unwrap_err().to_string();
        assert!(refused(b"{}").contains("no first line"));
        assert!(refused(b"{}\n").contains("missing field"));
        assert!(refused(&bytes[..bytes.len() - 1]).contains("not a trace"));
        let operations = trace.trace().operations.clone();
        for (operation, why) in [
            (FileOperation::Unlink { name: DATABASE.to_owned() }, "itself is replaced"),
            (FileOperation::Create { name: "../x".to_owned(), file: 2 }, "in another folder"),
            (
                FileOperation::Rename { from: "db-journal".to_owned(), to: "..".to_owned(), file: 1 },
                "in another folder",
            ),
        ] {
            trace.trace_mut().operations = [operations.clone(), vec![operation]].concat();
            assert!(refused(&trace.to_bytes()).contains(why));
        }
    }
}
