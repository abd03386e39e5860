//! A private server's life.

use super::find::Installed;
use super::{FOLDER_PREFIX, OWNER_FILE, OWNER_MARK, leftovers};
use crate::connect::{Address, Connector};
use crate::options::Options;
use crate::ownership;
use crate::target::{Place, Target};
use bourse_engine::{EngineError, ErrorKind};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The database that sessions of a private server use.
pub(crate) const DATABASE: &str = "bourse";

/// The number in the name of a private server's socket.
const NUMBER: u16 = 5_432;

/// The account of a private server that may do everything.
const USER: &str = "postgres";

/// Where files are memory.
const MEMORY: &str = "/dev/shm";

/// The longest path a socket can have, with some room.
const SOCKET_PATH_BYTES: usize = 100;

/// A server that was started here; ended and removed with its folder when dropped.
pub(crate) struct PrivateServer {
    child: Child,
    folder: TempDir,
    /// Locked as long as we live.
    _owner: File,
    connector: Connector,
    /// What it was started from.
    installed: Installed,
    account: Account,
    ended: Option<ExitStatus>,
}

impl PrivateServer {
    /// Starts a server below `directory` and waits until it answers.
    pub(crate) fn start(
        installed: &Installed,
        directory: Option<&Path>,
        options: &Options,
    ) -> Result<Self, EngineError> {
        let parent = parent(directory, options)?;
        if options.ram && !parent.is_dir() {
            return Err(EngineError::unsupported(format!("ram=on needs {MEMORY}, which this system has not")));
        }
        leftovers::sweep(&parent);
        let (folder, owner) = make_folder(&parent)?;
        let account = Account::find(folder.path())?;
        let until = Instant::now() + options.start_timeout;
        fill_data_directory(installed, folder.path(), &account, until)?;
        let child = spawn(installed, folder.path(), &account, options)?;
        let connector = Connector {
            address: Address::Socket(folder.path().to_owned(), NUMBER),
            user: USER.to_owned(),
            password: None,
            options: options.clone(),
        };
        let installed = installed.clone();
        let mut this = Self { child, folder, _owner: owner, connector, installed, account, ended: None };
        this.wait_until_it_answers(until)?;
        Ok(this)
    }

    /// Ends it as a crash would; its folder stays.
    pub(crate) fn kill(&mut self) -> Result<(), EngineError> {
        // One that has ended already needs no killing.
        let _ = self.child.kill();
        let status = self.child.wait().map_err(|e| EngineError::io("wait for", &self.installed.server, &e))?;
        // Its other processes would end by themselves, but only at their next look.
        leftovers::end_servers(self.folder.path());
        self.ended = Some(status);
        Ok(())
    }

    /// Starts it again on the data that is there, and waits until it has recovered and answers.
    pub(crate) fn restart(&mut self) -> Result<(), EngineError> {
        let options = self.connector.options.clone();
        let until = Instant::now() + options.start_timeout;
        self.child = spawn(&self.installed, self.folder.path(), &self.account, &options)?;
        self.ended = None;
        self.wait_until_it_answers(until)
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Its data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// How it has ended; `None` while it runs.
    pub(crate) fn exit(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// `Err` if it has ended, with its last words.
    pub(crate) fn check_alive(&mut self) -> Result<(), EngineError> {
        let Some(status) = self.exit() else { return Ok(()) };
        let words = last_words(&self.folder.path().join("server.log"));
        let message = format!("the private server has ended ({status}){words}");
        Err(EngineError::new(ErrorKind::ConnectionLost, message))
    }

    fn wait_until_it_answers(&mut self, until: Instant) -> Result<(), EngineError> {
        loop {
            self.check_alive()?;
            match self.connector.maintenance() {
                Ok(_) => return ownership::create_database(&self.connector, DATABASE),
                Err(e) if Instant::now() > until => {
                    let words = last_words(&self.folder.path().join("server.log"));
                    let message = format!("the private server does not answer in time: {}{words}", e.message());
                    return Err(EngineError::new(ErrorKind::ConnectionLost, message));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Nothing of it is kept, so it need not end in good order.
        let _ = self.child.kill();
        let _ = self.child.wait();
        leftovers::end_servers(self.folder.path());
    }
}

/// The folder that a private server's own is made in.
pub(crate) fn parent(directory: Option<&Path>, options: &Options) -> Result<PathBuf, EngineError> {
    match directory {
        Some(directory) => std::path::absolute(directory).map_err(|e| EngineError::io("find", directory, &e)),
        None if options.ram => Ok(PathBuf::from(MEMORY)),
        None => Ok(std::env::temp_dir()),
    }
}

/// Ends and removes what a target's private server has left whose owner was killed, and returns the folders: none of a
/// server that others run.
pub fn sweep_target(target: &Target) -> Vec<PathBuf> {
    let Place::Private { directory } = &target.place else { return Vec::new() };
    parent(directory.as_deref(), &target.options).map_or_else(|_| Vec::new(), |parent| leftovers::sweep(&parent))
}

/// Starts the server on a data directory that is there.
fn spawn(installed: &Installed, folder: &Path, account: &Account, options: &Options) -> Result<Child, EngineError> {
    let mut command = Command::new(&installed.server);
    command.args(arguments(folder, options));
    account.apply(&mut command, folder);
    // What an earlier one has said stays before what this one says.
    let output = |name: &str| {
        let path = folder.join(name);
        let file = File::options().create(true).append(true).open(&path);
        file.map_err(|e| EngineError::io("create", &path, &e))
    };
    command
        .stdin(Stdio::null())
        .stdout(output("server.out")?)
        .stderr(output("server.log")?)
        .spawn()
        .map_err(|e| EngineError::io("run", &installed.server, &e))
}

/// A folder of our own, marked as ours before anything else is in it.
fn make_folder(parent: &Path) -> Result<(TempDir, File), EngineError> {
    let folder = tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .tempdir_in(parent)
        .map_err(|e| EngineError::io("make a folder in", parent, &e))?;
    let fresh = folder.path().join("owner-new");
    let failed = |e: io::Error| EngineError::io("create", &fresh, &e);
    let mut owner = File::create_new(&fresh).map_err(failed)?;
    owner.write_all(OWNER_MARK.as_bytes()).map_err(failed)?;
    owner.lock().map_err(failed)?;
    // Under its name it is locked from the first moment, so nobody takes the folder for abandoned.
    fs::rename(&fresh, folder.path().join(OWNER_FILE)).map_err(failed)?;
    if folder.path().join(format!(".s.PGSQL.{NUMBER}.lock")).as_os_str().len() > SOCKET_PATH_BYTES {
        let message = format!("{} is too long a path for a server's socket: name a shorter folder", parent.display());
        return Err(EngineError::new(ErrorKind::Other, message));
    }
    let data = folder.path().join("data");
    fs::create_dir(&data).map_err(|e| EngineError::io("make", &data, &e))?;
    Ok((folder, owner))
}

/// Whom the server runs as.
struct Account {
    /// User and group; `None` where that is us.
    ids: Option<(u32, u32)>,
}

impl Account {
    /// Servers refuse to run as root, so there `postgres` it is, which packages make; the folder becomes its.
    #[cfg(unix)]
    fn find(folder: &Path) -> Result<Self, EngineError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { ids: None });
        }
        let id = |flag: &str| {
            let output = Command::new("id").args([flag, USER]).stdin(Stdio::null()).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse::<u32>().ok()
        };
        let (Some(user), Some(group)) = (id("-u"), id("-g")) else {
            return Err(EngineError::unsupported(
                "a server does not run as root, and there is no user `postgres` for it: `useradd --system postgres` makes one",
            ));
        };
        for path in [folder.to_owned(), folder.join("data")] {
            std::os::unix::fs::chown(&path, Some(user), Some(group))
                .map_err(|e| EngineError::io("give away", &path, &e))?;
        }
        Ok(Self { ids: Some((user, group)) })
    }

    #[cfg(not(unix))]
    fn find(_: &Path) -> Result<Self, EngineError> {
        Ok(Self { ids: None })
    }

    /// As that account, in a folder that it may be in. Ctrl-C at a terminal goes to its whole process group; the server's end
    /// is ours to bring about.
    fn apply(&self, command: &mut Command, folder: &Path) {
        command.current_dir(folder);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
            if let Some((user, group)) = self.ids {
                command.uid(user).gid(group);
            }
        }
        // The person's settings are for the person's servers.
        for name in ["PGDATA", "PGPORT", "PGHOST", "PGOPTIONS", "PGDATABASE", "PGUSER"] {
            command.env_remove(name);
        }
    }
}

/// Makes the system's own tables.
fn fill_data_directory(
    installed: &Installed,
    folder: &Path,
    account: &Account,
    until: Instant,
) -> Result<(), EngineError> {
    let mut command = Command::new(&installed.install);
    command.arg("-D").arg(folder.join("data"));
    command.args(["-U", USER, "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"]);
    account.apply(&mut command, folder);
    let log = folder.join("install.log");
    let file = File::create(&log).map_err(|e| EngineError::io("create", &log, &e))?;
    let second = file.try_clone().map_err(|e| EngineError::io("open", &log, &e))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(second)
        .spawn()
        .map_err(|e| EngineError::io("run", &installed.install, &e))?;
    let failed = |how: String| {
        EngineError::new(ErrorKind::Other, format!("a new data directory could not be made: {how}{}", last_words(&log)))
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(status.to_string())),
            Ok(None) if Instant::now() <= until => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                leftovers::end_servers(folder);
                return Err(failed("it took too long".to_owned()));
            }
        }
    }
}

/// What the server is started with.
fn arguments(folder: &Path, options: &Options) -> Vec<String> {
    let switch = |on: bool| if on { "on" } else { "off" };
    let mut settings = vec![
        format!("unix_socket_directories={}", folder.display()),
        "listen_addresses=".to_owned(),
        format!("port={NUMBER}"),
        format!("max_connections={}", options.max_connections),
        format!("shared_buffers={}kB", options.shared_buffers_bytes / 1_024),
        format!("max_wal_size={}MB", options.max_wal_bytes >> 20),
        format!("fsync={}", switch(options.fsync)),
        format!("full_page_writes={}", switch(options.full_page_writes)),
        // Nobody copies its log.
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        // Serializable transactions read more rows of an index page than the default keeps apart.
        "max_pred_locks_per_transaction=1024".to_owned(),
        "max_pred_locks_per_page=32".to_owned(),
        // In its folder, and so gone with it however it ends.
        "dynamic_shared_memory_type=mmap".to_owned(),
        "log_min_messages=warning".to_owned(),
    ];
    settings.extend(options.wal_sync_method.map(|method| format!("wal_sync_method={}", method.word())));
    let data = folder.join("data").display().to_string();
    ["-D".to_owned(), data].into_iter().chain(settings.into_iter().flat_map(|it| ["-c".to_owned(), it])).collect()
}

/// The last lines of a log, for an error.
fn last_words(log: &Path) -> String {
    const LINES: usize = 5;
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let last = lines[lines.len().saturating_sub(LINES)..].join("\n  ");
    format!("; its last words:\n  {last}")
}
