//! Folder of a private server: marked as Bourse's, locked by its owner, removed with the server.

use crate::private::account::ServerAccount;
use crate::private::server::{detach, last_words};
use crate::private::{ServerKind, StartLimit, leftovers};
use bourse_engine::{EngineError, ErrorKind, Result, copy_file, remove_folder, sync_folder};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Name of the file in a server's folder that its owner locks for as long as it lives.
pub(crate) const OWNER_FILE: &str = "owner";

/// Content of that file, so that another program's folder of a similar name is not mistaken for one of Bourse's.
pub(crate) const OWNER_MARK: &str = "made by bourse: a private server's folder, which is removed with it\n";

/// Folder of a file system in memory.
const MEMORY_FOLDER: &str = "/dev/shm";

/// Maximal length of a socket's path in bytes, with some reserve.
const SOCKET_PATH_BYTES: usize = 100;

/// Folder in which a private server's folder is made: the one named, memory, or the system's for temporary files.
///
/// # Errors
/// [`ErrorKind::Other`] if a relative path cannot be made absolute.
pub fn parent(directory: Option<&Path>, in_memory: bool) -> Result<PathBuf> {
    match directory {
        Some(directory) => std::path::absolute(directory).map_err(|e| EngineError::io("find", directory, &e)),
        None if in_memory => Ok(PathBuf::from(MEMORY_FOLDER)),
        None => Ok(std::env::temp_dir()),
    }
}

/// A private server's folder; removed when dropped.
#[derive(Debug)]
pub struct ServerFolder {
    kind: &'static ServerKind,
    folder: TempDir,
    /// The owner's file, locked as long as this lives.
    _owner: File,
    account: ServerAccount,
}

impl ServerFolder {
    /// Creates a folder below [`parent`], after removing those of killed owners there.
    ///
    /// # Errors
    /// [`EngineError`]: the folder cannot be created there, or no user is found that a server could run as.
    pub fn make(kind: &'static ServerKind, directory: Option<&Path>, in_memory: bool) -> Result<Self> {
        let parent = parent(directory, in_memory)?;
        if in_memory && !parent.is_dir() {
            return Err(EngineError::unsupported(format!(
                "ram=on needs {MEMORY_FOLDER}, which does not exist on this system"
            )));
        }
        leftovers::sweep(kind, &parent);
        let (folder, owner) = marked_folder(kind, &parent)?;
        let account = ServerAccount::find(kind)?;
        for name in ["data"].iter().chain(kind.folders) {
            let path = folder.path().join(name);
            fs::create_dir(&path).map_err(|e| EngineError::io("make", &path, &e))?;
            account.give(&path)?;
        }
        account.give(folder.path())?;
        Ok(Self { kind, folder, _owner: owner, account })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Puts a folder in the place of the data directory, which must be empty, and returns whether that folder is empty. It stays when
    /// the server's folder is removed.
    ///
    /// # Errors
    /// [`EngineError`] of the file system; [`ErrorKind::Unsupported`] on a system without links.
    #[cfg(unix)]
    pub fn use_data(&self, data: &Path) -> Result<bool> {
        let failed = |e: io::Error| EngineError::io("use", data, &e);
        fs::create_dir_all(data).map_err(failed)?;
        // Servers refuse a folder that others can read.
        fs::set_permissions(data, std::os::unix::fs::PermissionsExt::from_mode(0o700)).map_err(failed)?;
        fs::remove_dir(self.data()).and_then(|()| std::os::unix::fs::symlink(data, self.data())).map_err(failed)?;
        give_all(data, &self.account)?;
        Ok(fs::read_dir(data).map_err(failed)?.next().is_none())
    }

    /// Refuses to.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`].
    #[cfg(not(unix))]
    pub fn use_data(&self, _: &Path) -> Result<bool> {
        Err(EngineError::unsupported("a server cannot be started on given data on this system"))
    }

    /// User that the server is to run as; `None` for the user of this process.
    pub fn account(&self) -> Option<&'static str> {
        self.account.name()
    }

    /// A command that runs as that user from its start, in a folder that the user can enter.
    pub fn command_as_account(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path());
        self.account.apply(&mut command);
        command
    }

    /// Ends every process that serves the data directory.
    pub(crate) fn end_processes(&self) {
        leftovers::end_processes(self.kind, self.path());
    }

    /// Writes a file of the data directory.
    ///
    /// # Errors
    /// [`ErrorKind::Other`]: the file cannot be written.
    pub fn write_data(&self, name: &str, text: &str) -> Result<()> {
        let path = self.data().join(name);
        fs::write(&path, text).map_err(|e| EngineError::io("write", &path, &e))?;
        self.account.give(&path)
    }

    /// Replaces the data directory by a copy of another's, without the files of these names. Neither server may run.
    ///
    /// # Errors
    /// [`EngineError`] of the file system.
    pub fn copy_data_of(&self, other: &Self, without: &[&str]) -> Result<()> {
        self.replace(&other.data(), &self.data(), without)
    }

    /// Copies the data directory to another subfolder, replacing an earlier copy, without the files of these names. The
    /// server must not run.
    ///
    /// # Errors
    /// [`EngineError`] of the file system.
    pub fn keep_copy(&self, without: &[&str]) -> Result<()> {
        self.replace(&self.data(), &self.path().join(COPY), without)
    }

    /// Replaces the data directory by the copy. The server must not run.
    ///
    /// # Errors
    /// [`EngineError`] of the file system; without a copy the data stay unchanged.
    pub fn put_back_copy(&self) -> Result<()> {
        let copy = self.path().join(COPY);
        fs::metadata(&copy).map_err(|e| EngineError::io("find", &copy, &e))?;
        self.replace(&copy, &self.data(), &[])
    }

    /// Replaces a folder by a copy of another and syncs it: writes left for later would be performed during a measured
    /// round.
    fn replace(&self, from: &Path, to: &Path, without: &[&str]) -> Result<()> {
        remove_folder(to)?;
        fs::create_dir(to).map_err(|e| EngineError::io("make", to, &e))?;
        self.account.give(to)?;
        copy_folder(from, to, without, &self.account)?;
        sync_folder(to)
    }

    /// Runs the command that fills the data directory until it ends.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] with its last output, if it fails or does not end in time; those of [`StartLimit::check`].
    pub fn fill(&self, command: Command, limit: StartLimit) -> Result<()> {
        self.run(command, "install.log", limit, "a new data directory could not be made").map(drop)
    }

    /// Runs a command on the data directory until it ends, and returns its output.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] with its last output, if it fails or does not end in time; those of [`StartLimit::check`].
    pub fn look_at_data(&self, command: Command, limit: StartLimit) -> Result<String> {
        let program = command.get_program().to_string_lossy().into_owned();
        self.run(command, "look.log", limit, &format!("{program} could not read its data"))
    }

    fn run(&self, mut command: Command, log: &str, limit: StartLimit, what: &str) -> Result<String> {
        limit.check()?;
        let log = self.path().join(log);
        let error = |how: String| EngineError::new(ErrorKind::Other, format!("{what}: {how}"));
        let file = File::create(&log).map_err(|e| EngineError::io("create", &log, &e))?;
        let second = file.try_clone().map_err(|e| EngineError::io("open", &log, &e))?;
        detach(&mut command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second)
            .spawn()
            .map_err(|e| error(format!("cannot run {}: {e}", command.get_program().display())))?;
        let said = || String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        let failed = |how: String| error(format!("{how}{}", last_words(&log)));
        loop {
            let checked = limit.check();
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(said()),
                Ok(Some(status)) => return Err(failed(status.to_string())),
                Ok(None) if Instant::now() <= limit.until() && checked.is_ok() => {
                    std::thread::sleep(Duration::from_millis(10))
                }
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    self.end_processes();
                    return checked.and_then(|()| Err(failed("it took too long".to_owned())));
                }
            }
        }
    }
}

/// Name of the copy's subfolder.
const COPY: &str = "copy";

/// Copies the content of a folder into an existing one, without the files of these names. Anything but files and
/// folders, such as a socket, is left out too.
fn copy_folder(from: &Path, to: &Path, without: &[&str], account: &ServerAccount) -> Result<()> {
    for entry in fs::read_dir(from).map_err(|e| EngineError::io("read", from, &e))? {
        let entry = entry.map_err(|e| EngineError::io("read", from, &e))?;
        if without.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| EngineError::io("look at", &path, &e))?;
        if kind.is_dir() {
            fs::create_dir(&copy).map_err(|e| EngineError::io("make", &copy, &e))?;
            account.give(&copy)?;
            copy_folder(&path, &copy, &[], account)?;
        } else if kind.is_file() {
            copy_file(&path, &copy)?;
            account.give(&copy)?;
        }
    }
    Ok(())
}

/// Makes the user the owner of a folder with all that is in it.
#[cfg(unix)]
fn give_all(folder: &Path, account: &ServerAccount) -> Result<()> {
    account.give(folder)?;
    for entry in fs::read_dir(folder).map_err(|e| EngineError::io("read", folder, &e))? {
        let entry = entry.map_err(|e| EngineError::io("read", folder, &e))?;
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => give_all(&entry.path(), account)?,
            false => account.give(&entry.path())?,
        }
    }
    Ok(())
}

/// Creates a new folder, marked before anything else is in it.
fn marked_folder(kind: &ServerKind, parent: &Path) -> Result<(TempDir, File)> {
    let folder = tempfile::Builder::new()
        .prefix(kind.prefix)
        .tempdir_in(parent)
        .map_err(|e| EngineError::io("make a folder in", parent, &e))?;
    let fresh = folder.path().join("owner-new");
    let failed = |e: io::Error| EngineError::io("create", &fresh, &e);
    let mut owner = File::create_new(&fresh).map_err(failed)?;
    owner.write_all(OWNER_MARK.as_bytes()).map_err(failed)?;
    owner.lock().map_err(failed)?;
    // Under its name it is locked from the first moment, so nobody takes the folder for abandoned.
    fs::rename(&fresh, folder.path().join(OWNER_FILE)).map_err(failed)?;
    if folder.path().join(kind.socket).as_os_str().len() > SOCKET_PATH_BYTES {
        let message = format!("{} is too long a path for a server's socket: name a shorter folder", parent.display());
        return Err(EngineError::new(ErrorKind::Other, message));
    }
    Ok((folder, owner))
}
