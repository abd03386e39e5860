//! The file at the path of a target, examined without opening it for writing.

use crate::{EngineError, Result};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The path of a database file: absent, or a regular file.
///
/// Links are followed. Devices, FIFOs, sockets, directories and links that lead nowhere are refused before anything is
/// opened: opening a FIFO waits for its other end, and a device would be replaced by a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFile {
    path: PathBuf,
    is_there: bool,
}

impl TargetFile {
    /// Looks at a path.
    ///
    /// # Errors
    /// [`Refused`](crate::ErrorKind::Refused) if it is no regular file; the system's error if it cannot be examined.
    ///
    /// ```
    /// use bourse_engine::TargetFile;
    /// let refused = TargetFile::at(&std::env::temp_dir()).unwrap_err();
    /// assert!(refused.message().contains("is a directory, not a file"));
    /// assert!(!TargetFile::at(&std::env::temp_dir().join("no-such.db")).unwrap().is_there());
    /// ```
    pub fn at(path: &Path) -> Result<Self> {
        let cannot = |e: &io::Error| EngineError::io("look at", path, e);
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), is_there: false });
            }
            Err(e) => return Err(cannot(&e)),
        };
        if !found.file_type().is_symlink() {
            return Self::of(path, path, found.file_type());
        }
        match fs::canonicalize(path).and_then(|resolved| Ok((fs::metadata(&resolved)?, resolved))) {
            Ok((found, resolved)) => Self::of(path, &resolved, found.file_type()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(EngineError::refused(format!(
                "{} is a link that leads nowhere: name the file that is meant, or remove the link",
                path.display()
            ))),
            Err(e) => Err(cannot(&e)),
        }
    }

    fn of(given: &Path, resolved: &Path, kind: FileType) -> Result<Self> {
        if kind.is_file() {
            return Ok(Self { path: resolved.to_owned(), is_there: true });
        }
        Err(EngineError::refused(format!(
            "{} is a {}, not a file: name the path of a file, which need not exist yet",
            given.display(),
            name_of(kind)
        )))
    }

    /// Path with links followed; unchanged if it cannot be examined, which opening it will report.
    pub fn resolved(path: &Path) -> PathBuf {
        Self::at(path).map_or_else(|_| path.to_owned(), |found| found.path)
    }

    /// The file's path, with links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file exists; it may be empty.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// First bytes of the file, at most `bytes`; none if it is absent.
    ///
    /// # Errors
    /// The system's.
    pub fn start(&self, bytes: usize) -> Result<Vec<u8>> {
        self.read(|file| start_of(file, bytes))
    }

    /// Result of `read` on the file, opened for reading; the default if it is absent.
    ///
    /// # Errors
    /// The system's.
    pub fn read<T: Default>(&self, read: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T> {
        if !self.is_there {
            return Ok(T::default());
        }
        match open_regular(&self.path, false).and_then(|mut file| read(&mut file)) {
            // It went away since it was looked at.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(T::default()),
            read => read.map_err(|e| EngineError::io("read", &self.path, &e)),
        }
    }
}

/// The path with `suffix` appended to its whole name.
pub fn path_with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// First bytes of a file, at most `bytes`.
pub(crate) fn start_of(file: &mut File, bytes: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(bytes);
    file.take(bytes as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Opens a regular file: never through a link, never waiting for the other end of a FIFO.
///
/// # Errors
/// The system's, and an error if it is no regular file.
pub fn open_regular(path: &Path, write: bool) -> io::Result<File> {
    opened(path, write, false)
}

/// Opens a file that a person names, to be read; links are followed. Anything but a regular file is not even opened: that would
/// wait for the other end of a FIFO, and a device may have no end.
///
/// # Errors
/// The system's, and an error if it is no regular file.
pub fn open_named(path: &Path) -> io::Result<File> {
    refuse_no_file(path)?;
    opened(path, false, true)
}

/// Opens a file that a person names and that is read once: one of [`open_named`], or what the process was started with, as
/// `/dev/stdin` and the `/dev/fd/63` that a shell makes of `<(…)`, which has no other end to wait for.
///
/// # Errors
/// Those of [`open_named`].
pub fn open_once(path: &Path) -> io::Result<File> {
    let is_open = path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|it| path.starts_with(it));
    if is_open { File::open(path) } else { open_named(path) }
}

/// Refuses what is there and is no regular file.
///
/// # Errors
/// Its kind, for a person.
pub fn refuse_no_file(path: &Path) -> io::Result<()> {
    fs::metadata(path).map_or(Ok(()), |found| is_regular(found.file_type()))
}

fn is_regular(kind: FileType) -> io::Result<()> {
    let why = || format!("it is a {}, not a file", name_of(kind));
    if kind.is_file() { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, why())) }
}

fn opened(path: &Path, write: bool, follows_links: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(write);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let links = if follows_links { OFlags::empty() } else { OFlags::NOFOLLOW };
        options.custom_flags((links | OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    #[cfg(not(unix))]
    let _ = follows_links;
    let file = options.open(path)?;
    is_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether an error of [`open_regular`] says nothing of the file at the path: the name is too long, or the process may open no
/// more files.
pub(crate) fn is_no_fault_of_the_file(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_limit = {
        use rustix::io::Errno;
        Errno::from_io_error(error).is_some_and(|it| [Errno::MFILE, Errno::NFILE, Errno::NAMETOOLONG].contains(&it))
    };
    #[cfg(not(unix))]
    let is_limit = false;
    is_limit || matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidFilename)
}

#[cfg(unix)]
pub(crate) fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        kind if kind.is_dir() => "directory",
        kind if kind.is_fifo() => "FIFO (named pipe)",
        kind if kind.is_socket() => "socket",
        kind if kind.is_char_device() => "character device",
        kind if kind.is_block_device() => "block device",
        _ => "special file",
    }
}

#[cfg(not(unix))]
pub(crate) fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() { "directory" } else { "special file" }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::os::unix::fs::symlink;

    /// A folder that is removed with its content when dropped.
    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("bourse-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[track_caller]
    fn refused(path: &Path, expected: &str) {
        let error = TargetFile::at(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.message().contains(expected), "{error}");
    }

    /// Regression: a FIFO was opened to read its first bytes, which waits until another process writes to it.
    #[test]
    fn what_is_no_file_is_refused_by_name() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = TestFolder::new("no-file");
        let path = |name: &str| folder.0.join(name);
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink("fifo", path("to-fifo")).unwrap();
        symlink("nothing", path("dangling")).unwrap();
        symlink("dangling", path("to-dangling")).unwrap();
        let _listening = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        refused(&path("fifo"), "is a FIFO (named pipe), not a file");
        refused(&path("to-fifo"), "to-fifo is a FIFO");
        refused(&path("dangling"), "leads nowhere");
        refused(&path("to-dangling"), "leads nowhere");
        refused(&path("socket"), "is a socket");
        refused(&folder.0, "is a directory");
        refused(Path::new("/dev/null"), "is a character device");
        assert!(fs::symlink_metadata(path("nothing")).is_err(), "nothing was made");
        for opened in [open_regular(&path("fifo"), false), open_named(&path("to-fifo")), open_once(&path("fifo"))] {
            assert_eq!(
                opened.unwrap_err().to_string(),
                "it is a FIFO (named pipe), not a file",
                "and it does not wait"
            );
        }
        let device = open_named(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(device.to_string(), "it is a character device, not a file");
        // What the process has open already is the other end of nothing.
        let (read, write) = io::pipe().unwrap();
        io::Write::write_all(&mut &write, b"secret").unwrap();
        drop(write);
        let descriptor = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&read));
        assert_eq!(io::read_to_string(open_once(Path::new(&descriptor)).unwrap()).unwrap(), "secret");
        assert!(open_named(Path::new(&descriptor)).is_err());
    }

    #[test]
    fn links_are_followed_and_files_read_from_their_start() {
        let folder = TestFolder::new("links");
        let path = |name: &str| folder.0.join(name);
        fs::write(path("real"), "content").unwrap();
        symlink("real", path("link")).unwrap();
        let found = TargetFile::at(&path("link")).unwrap();
        assert_eq!(found.path(), path("real").canonicalize().unwrap());
        assert_eq!(found.start(4).unwrap(), b"cont");
        assert_eq!(found.start(100).unwrap(), b"content");
        let absent = TargetFile::at(&path("absent")).unwrap();
        assert!(!absent.is_there() && absent.start(4).unwrap().is_empty());
    }
}
