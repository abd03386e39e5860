//! Recordings of the preloaded library, and the traces that they are.

use super::{ControlFile, ProcessFiles};
use crate::image::Directory;
use crate::trace::{FileId, FileOperation, Trace};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Kinds of records: `enum operation` of `files/shared.h` of `bourse-preload`.
mod kind {
    // 1 is the creation of a file, which needs no operation of its own here.
    pub(super) const WRITTEN: u32 = 2;
    pub(super) const RESIZED: u32 = 3;
    pub(super) const SYNCED: u32 = 4;
    pub(super) const SYNCED_FOLDER: u32 = 5;
    pub(super) const REMOVED: u32 = 6;
    pub(super) const RENAMED: u32 = 7;
    /// Written by Rust code alone.
    pub(super) const ACKNOWLEDGED: u32 = 8;
    pub(super) const WRITTEN_THROUGH: u32 = 9;
}

/// Bytes of a record's head: `struct head` of `files/record.c` of `bourse-preload`.
const HEAD_BYTES: usize = 24;

/// Recording of this process, from within it: the preloaded library appends the operations, this appends acknowledgements.
#[derive(Debug)]
pub struct FileRecorder {
    file: File,
    path: PathBuf,
    control: PathBuf,
}

impl FileRecorder {
    /// Recording of this process; an error if it is not recorded.
    ///
    /// # Errors
    /// The system's, or that the library was not loaded.
    pub fn of_this_process() -> io::Result<Self> {
        let not = || io::Error::other("the file operations of this process are not recorded");
        let places = ProcessFiles::of_this_process().ok_or_else(not)?;
        let path = places.recording.ok_or_else(not)?;
        refuse_unloaded(&ControlFile::open(&places.control)?)?;
        let file = OpenOptions::new().append(true).open(&path)?;
        Ok(Self { file, path, control: places.control })
    }

    /// Records that the engine acknowledged its n-th commit.
    ///
    /// # Errors
    /// The system's.
    pub fn acknowledge(&self, number: u64) -> io::Result<()> {
        let mut record = Vec::with_capacity(HEAD_BYTES);
        record.extend(kind::ACKNOWLEDGED.to_ne_bytes());
        record.extend(0_u32.to_ne_bytes());
        record.extend(number.to_ne_bytes());
        record.extend(0_u64.to_ne_bytes());
        (&self.file).write_all(&record)
    }

    /// Size of the recording in bytes: mostly those that were written.
    ///
    /// # Errors
    /// The system's.
    pub fn bytes(&self) -> io::Result<u64> {
        self.file.metadata().map(|found| found.len())
    }

    /// Trace of the operations so far, as [`read_recording`] returns it.
    ///
    /// # Errors
    /// Those of [`read_recording`].
    pub fn trace(&self, base: Directory, name: &dyn Fn(&str) -> Option<String>) -> io::Result<Trace> {
        read_recording(&self.path, &ControlFile::open(&self.control)?, base, name)
    }
}

fn refuse_unloaded(control: &ControlFile) -> io::Result<()> {
    match control.loaded()? {
        0 => Err(io::Error::other("the library that records file operations could not be preloaded")),
        _ => Ok(()),
    }
}

/// Trace of a recording that began with the files of `base`. `name` gives a file's name in the trace for its path below the
/// watched folder, `None` for a file that is left out. The sync of a folder belongs to the trace if a file `*` in it would.
///
/// # Errors
/// The system's; the reason that the recording is incomplete.
pub fn read_recording(
    path: &Path,
    control: &ControlFile,
    base: Directory,
    name: &dyn Fn(&str) -> Option<String>,
) -> io::Result<Trace> {
    refuse_unloaded(control)?;
    if let Some(why) = control.incompleteness()? {
        return Err(io::Error::other(why));
    }
    let bytes = fs::read(path)?;
    let mut names: BTreeMap<String, FileId> = base.files.keys().cloned().zip(0..).collect();
    let mut files = base.files.len() as FileId;
    let mut operations = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let record = FileRecord::parse(&mut rest).ok_or_else(|| io::Error::other("the recording is cut off"))?;
        record.add(&mut names, &mut files, name, &mut operations);
    }
    Ok(Trace { base, operations })
}

/// One record.
struct FileRecord<'b> {
    kind: u32,
    number: u64,
    /// Path below the watched folder; empty for the folder itself.
    path: &'b str,
    data: &'b [u8],
}

impl<'b> FileRecord<'b> {
    fn parse(rest: &mut &'b [u8]) -> Option<Self> {
        let (head, body) = rest.split_at_checked(HEAD_BYTES)?;
        let word = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(head.get(at..at + 8)?.try_into().ok()?));
        let (path, body) = body.split_at_checked(word(4)? as usize)?;
        let (data, body) = body.split_at_checked(usize::try_from(long(16)?).ok()?)?;
        *rest = body;
        Some(Self { kind: word(0)?, number: long(8)?, path: within(path)?, data })
    }

    /// Adds the operation to those of a trace, with the files that exist by name.
    fn add(
        &self,
        names: &mut BTreeMap<String, FileId>,
        files: &mut FileId,
        name: &dyn Fn(&str) -> Option<String>,
        operations: &mut Vec<FileOperation>,
    ) {
        match self.kind {
            kind::ACKNOWLEDGED => return operations.push(FileOperation::Acknowledged(self.number)),
            kind::SYNCED_FOLDER => {
                let any_file = if self.path.is_empty() { "*".to_owned() } else { format!("{}/*", self.path) };
                let synced = |any: String| {
                    let folder = any.strip_suffix('*').unwrap_or_default().trim_end_matches('/').to_owned();
                    FileOperation::SyncDirectory { folder }
                };
                return operations.extend(name(&any_file).map(synced));
            }
            _ => {}
        }
        let Some(named) = name(self.path) else { return };
        let mut create = |named: &str| {
            let file = *files;
            *files += 1;
            operations.push(FileOperation::Create { name: named.to_owned(), file });
            file
        };
        let file = match names.get(&named) {
            Some(file) => *file,
            // A file whose creation was not seen, such as one by a link, is there with its first operation.
            None if self.kind == kind::REMOVED => return,
            None => *names.entry(named.clone()).or_insert_with_key(|named| create(named)),
        };
        operations.push(match self.kind {
            kind::WRITTEN => FileOperation::Write { file, offset: self.number, bytes: self.data.to_vec() },
            kind::RESIZED => FileOperation::Truncate { file, size: self.number },
            kind::SYNCED => FileOperation::Sync { file },
            kind::WRITTEN_THROUGH => {
                let bytes = self.data.try_into().map(u64::from_ne_bytes).unwrap_or_default();
                FileOperation::SyncRange { file, offset: self.number, bytes }
            }
            kind::REMOVED => {
                names.remove(&named);
                FileOperation::Unlink { name: named }
            }
            kind::RENAMED => {
                names.remove(&named);
                match within(self.data).and_then(name) {
                    Some(to) => {
                        names.insert(to.clone(), file);
                        FileOperation::Rename { from: named, to, file }
                    }
                    None => FileOperation::Unlink { name: named },
                }
            }
            // Creation, which is there by now.
            _ => return,
        });
    }
}

/// Path without the slash at its start.
fn within(path: &[u8]) -> Option<&str> {
    let path = std::str::from_utf8(path).ok()?;
    Some(path.strip_prefix('/').unwrap_or(path))
}
