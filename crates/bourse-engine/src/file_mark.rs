//! Mark of ownership: a file next to a database by which Bourse recognises what it made.
//!
//! The mark of `x.db` is the file `x.db.bourse-mark`. It lists what Bourse made at that path and next to it, the database, a load in
//! progress, snapshots, each by the engine, the inode and the time of birth. So a mark holds for one file alone: another file put in
//! the place of a database, one that was copied or moved there, or one that got the inode of a deleted database, is not listed.
//! A file is listed while it is still empty, before anything is written to it, and its line stays valid when it is renamed: at no
//! time does a killed process leave a database without its mark.

use crate::target_file::is_no_fault_of_the_file;
use crate::{EngineError, Result, folder_of, locked, open_regular, path_with_suffix, sync_names};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

/// Suffix of a mark's name.
const MARK_SUFFIX: &str = ".bourse-mark";
/// Start of the suffixes of files that Bourse makes next to a database, which share its mark.
const SIDE_SUFFIX: &str = ".bourse-";
/// First line of a mark.
pub(crate) const FIRST_LINE: &str =
    "Bourse made what is listed here, at this path and next to it: engine, inode, time of birth.\n";
/// Most bytes of a mark that are read.
const MAX_MARK_BYTES: u64 = 16 << 10;

/// Mark of a database and of the files that Bourse makes next to it.
pub(crate) struct FileMark {
    database: PathBuf,
    pub(crate) path: PathBuf,
}

impl FileMark {
    /// Mark of what is at a path: a database, or a file that Bourse makes next to one.
    pub(crate) fn of(path: &Path) -> Self {
        let database = database_of(path);
        Self { path: path_with_suffix(&database, MARK_SUFFIX), database }
    }

    /// Formats by which the mark lists a file, in the order in which they were added.
    pub(crate) fn formats_of(&self, found: &Metadata) -> Result<Vec<String>> {
        let identity = identity(found);
        let format = |line: &String| Some(line.strip_suffix(&identity)?.strip_suffix(' ')?.to_owned());
        Ok(self.lines()?.iter().filter_map(format).collect())
    }

    /// Adds a file that Bourse made, in a format of that name.
    pub(crate) fn add(&self, format: &str, found: &Metadata) -> Result<()> {
        static WRITING: Mutex<()> = Mutex::new(());
        let _writing = locked(&WRITING);
        let mut lines = self.lines()?;
        let line = format!("{format} {}", identity(found));
        if lines.contains(&line) {
            return Ok(());
        }
        if let Some(there) = self.there() {
            lines.retain(|line| there.iter().any(|it| line.ends_with(it)));
        }
        lines.push(line);
        let text = lines.iter().fold(FIRST_LINE.to_owned(), |text, line| text + line + "\n");
        let write = || -> io::Result<()> {
            let is_new = fs::symlink_metadata(&self.path).is_err();
            if is_new {
                OpenOptions::new().write(true).create_new(true).open(&self.path)?;
            }
            let mut file = open_regular(&self.path, true)?;
            // Written before it is cut: a process that is killed in between leaves every line that stays.
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)?;
            file.sync_all()
        };
        write().map_err(|e| EngineError::io("write", &self.path, &e))?;
        sync_names(&folder_of(&self.path).unwrap_or_else(|| PathBuf::from(".")))
    }

    /// Identities of the database and of all whose names begin with its name; `None` if its folder cannot be listed.
    fn there(&self) -> Option<Vec<String>> {
        let name = self.database.file_name()?.as_encoded_bytes();
        let folder = folder_of(&self.database).unwrap_or_else(|| PathBuf::from("."));
        let entries = fs::read_dir(folder).ok()?.flatten();
        let beside = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(name));
        let mut there: Vec<_> = beside.filter_map(|entry| Some(identity(&entry.metadata().ok()?))).collect();
        // Looked at last: a file that was renamed to the database's name meanwhile may be missing in the list.
        there.extend(fs::metadata(&self.database).ok().map(|found| identity(&found)));
        Some(there)
    }

    /// Removes the mark of a database that was removed.
    pub(crate) fn remove(&self) {
        if self.lines().is_ok_and(|lines| !lines.is_empty()) {
            // One that stays is replaced by the next database's at this path.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Lines after the first; none if the mark does not exist or is empty.
    pub(crate) fn lines(&self) -> Result<Vec<String>> {
        let mark = &*self.path;
        let taken = |why: &str| {
            EngineError::refused(format!(
                "{} is needed for a mark and is there already, {why}: it is left as it is; move it away, or name another path",
                mark.display()
            ))
        };
        let file = match open_regular(mark, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied || is_no_fault_of_the_file(&e) => {
                return Err(EngineError::io("read", mark, &e));
            }
            file => file.map_err(|e| taken(&format!("which cannot be used ({e})")))?,
        };
        let mut text = Vec::new();
        file.take(MAX_MARK_BYTES).read_to_end(&mut text).map_err(|e| EngineError::io("read", mark, &e))?;
        let text = String::from_utf8_lossy(&text);
        match text.strip_prefix(FIRST_LINE) {
            Some(lines) => {
                Ok(lines.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect())
            }
            None if FIRST_LINE.starts_with(&*text) => Ok(Vec::new()),
            None => Err(taken("without one")),
        }
    }
}

/// Path of the database that a file which Bourse made next to one belongs to; that of a database itself.
pub(crate) fn database_of(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()?.rsplit_once(SIDE_SUFFIX)) {
        Some((database, kind)) if !database.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            path.with_file_name(database)
        }
        _ => path.to_owned(),
    }
}

/// Text that identifies a file or a folder for as long as it exists, whatever is written to it.
fn identity(found: &Metadata) -> String {
    #[cfg(unix)]
    let (inode, device) = (std::os::unix::fs::MetadataExt::ino(found), std::os::unix::fs::MetadataExt::dev(found));
    #[cfg(not(unix))]
    let (inode, device) = (0, 0);
    // The device's number may change when the machine is started again, so it is only used where no time of birth is stored.
    match found.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok()) {
        Some(born) => format!("inode {inode} born {}.{:09}", born.as_secs(), born.subsec_nanos()),
        None => format!("inode {inode} device {device}"),
    }
}
