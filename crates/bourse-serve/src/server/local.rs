//! A Unix socket: its file, and its access control.
//!
//! The file is made with mode 0600 and removed in the end. An existing file stays, unless it is a socket that a server of the
//! same user has left: owned by that user, mode 0600, and with no listener. The kernel identifies the connecting process
//! (`SO_PEERCRED`), which decides about access; the file's mode only prevents attempts by others.

use crate::address::Peer;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of connections that may wait to be accepted.
const BACKLOG: i32 = 128;
/// Mode of the file: access for its owner only.
const MODE: u32 = 0o600;

/// Listening socket; its file is removed when it is dropped.
#[derive(Debug)]
pub(super) struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the file that was made.
    file: (u64, u64),
}

/// Whether a process of user `peer` may drive a server that runs as user `own`: the same user may, and root.
pub(super) const fn may_enter(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

/// Id of the user that this process runs as.
pub(super) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl LocalListener {
    /// Makes the socket's file and listens.
    ///
    /// # Errors
    /// The system's; [`ErrorKind::AlreadyExists`] and [`ErrorKind::AddrInUse`] if an existing file must stay.
    #[cfg(target_os = "linux")]
    pub(super) fn bind(path: &Path) -> io::Result<Self> {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
        let path = std::path::absolute(path)?;
        let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
        let _one_at_a_time = locked(folder)?;
        remove_stale(&path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // Linux gives the file the socket's own mode: there is no moment in which others could connect.
        rustix::fs::fchmod(&socket, rustix::fs::Mode::from_raw_mode(MODE))?;
        bind(&socket, &SocketAddrUnix::new(&path)?)?;
        let file = identity(&path.symlink_metadata()?);
        let this = Self { listener: socket.into(), path, file };
        listen(&this.listener, BACKLOG)?;
        Ok(this)
    }

    /// Refuses to listen: only on Linux does this crate know how to identify a peer.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn bind(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(
            ErrorKind::Unsupported,
            "the user behind a socket is known on Linux only; listen on HOST:PORT",
        ))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn accept(&self) -> io::Result<(UnixStream, Peer)> {
        let (stream, _) = self.listener.accept()?;
        let peer = credentials(&stream)?;
        Ok((stream, peer))
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // Another file may have been put in its place meanwhile.
        if self.path.symlink_metadata().is_ok_and(|found| identity(&found) == self.file) {
            // A file that cannot be removed stays, and is replaced by the next server as a stale one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Identifies the connected process, as the kernel reports it.
#[cfg(target_os = "linux")]
fn credentials(stream: &UnixStream) -> io::Result<Peer> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(Peer::Unix { process: peer.pid.as_raw_nonzero().get().unsigned_abs(), user: peer.uid.as_raw() })
}

#[cfg(not(target_os = "linux"))]
fn credentials(_: &UnixStream) -> io::Result<Peer> {
    Err(ErrorKind::Unsupported.into())
}

/// Locks the folder while a file in it is examined and replaced: of two servers that start at the same time, one would
/// otherwise remove the other's socket as a stale one.
fn locked(folder: &Path) -> io::Result<File> {
    const TRIES: u32 = 100;
    let file = File::open(folder)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    let words = format!("another process has locked the folder {}", folder.display());
    Err(io::Error::new(ErrorKind::ResourceBusy, words))
}

/// Removes a socket left by a server that did not end in good order.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let keep = |kind, words: &str| Err(io::Error::new(kind, words));
    if !found.file_type().is_socket() {
        return keep(ErrorKind::AlreadyExists, "there is a file that is no socket; it is left as it is");
    }
    if found.uid() != own_user() || found.mode() & 0o7777 != MODE {
        return keep(
            ErrorKind::AlreadyExists,
            "there is a socket that no server of this user has made; it is left as it is",
        );
    }
    if has_listener(path)? {
        return keep(ErrorKind::AddrInUse, "a server listens there already");
    }
    std::fs::remove_file(path)
}

/// Whether a server listens on a socket. Does not wait: the queue of a busy server may be full.
#[cfg(target_os = "linux")]
fn has_listener(path: &Path) -> io::Result<bool> {
    use rustix::io::Errno;
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        Err(Errno::CONNREFUSED) => Ok(false),
        // A socket of another type, such as a log's, is in foreign use.
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn has_listener(_: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_same_user_may_enter_and_root() {
        for (peer, own, expected) in
            [(1_000, 1_000, true), (0, 1_000, true), (0, 0, true), (1_001, 1_000, false), (1_000, 0, false)]
        {
            assert_eq!(may_enter(peer, own), expected, "user {peer} at a server of {own}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_is_its_owners_alone_and_goes_with_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = LocalListener::bind(&path).unwrap();
        assert_eq!(path.symlink_metadata().unwrap().mode() & 0o7777, 0o600);
        let refused = LocalListener::bind(&path).unwrap_err();
        assert_eq!(
            (refused.kind(), refused.to_string().as_str()),
            (ErrorKind::AddrInUse, "a server listens there already")
        );
        let client = UnixStream::connect(&path).unwrap();
        let (_, peer) = listener.accept().unwrap();
        assert_eq!(peer, Peer::Unix { process: std::process::id(), user: own_user() });
        drop((client, listener));
        assert!(!path.exists());

        // One that was killed has left its socket; the next takes its place.
        let killed = LocalListener::bind(&path).unwrap();
        let kept = folder.path().join("kept");
        fs::hard_link(&path, &kept).unwrap();
        drop(killed);
        fs::rename(&kept, &path).unwrap();
        let refused = UnixStream::connect(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let next = LocalListener::bind(&path).unwrap();
        UnixStream::connect(&path).unwrap();

        // A file that came into its place is not its own to remove.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "notes").unwrap();
        drop(next);
        assert_eq!(fs::read(&path).unwrap(), b"notes");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_somebody_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "notes").unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        // No server listens at either, but their mode shows that Bourse has not made them.
        drop(UnixListener::bind(at("socket")).unwrap());
        drop(std::os::unix::net::UnixDatagram::bind(at("log")).unwrap());
        for name in ["file", "link", "folder", "socket", "log"] {
            let before = at(name).symlink_metadata().unwrap();
            let refused = LocalListener::bind(&at(name)).unwrap_err();
            assert!(refused.to_string().ends_with("it is left as it is"), "{name}: {refused}");
            let after = at(name).symlink_metadata().unwrap();
            assert_eq!((identity(&before), before.mode()), (identity(&after), after.mode()), "{name}");
        }
        assert_eq!(fs::read(at("file")).unwrap(), b"notes");
        assert!(!at("nowhere").exists());
    }
}
