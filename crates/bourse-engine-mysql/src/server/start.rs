//! A private server's life.

use super::find::Installed;
use super::{FOLDER_PREFIX, OWNER_FILE, OWNER_MARK, datadir_argument, leftovers};
use crate::connect::{Address, Connector};
use crate::options::{Flavour, FlushMethod, Options};
use crate::target::{Place, Target};
use bourse_engine::{EngineError, ErrorKind};
use mysql::prelude::Queryable as _;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The database that sessions of a private server use.
pub(crate) const DATABASE: &str = "bourse";

/// Where files are memory.
const MEMORY: &str = "/dev/shm";

/// The longest path a socket can have, with some room.
const SOCKET_PATH_BYTES: usize = 100;

/// What a private server is started with beside what its target says: for those who interfere with its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// Variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Arguments, after all others.
    pub arguments: Vec<String>,
}

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
        launch: &Launch,
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
        let child = spawn(installed, folder.path(), &account, options, launch)?;
        let connector = Connector {
            address: Address::Socket(folder.path().join("s")),
            user: "root".to_owned(),
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
        let status = self.child.wait().map_err(|e| io_error("cannot wait for", &self.installed.server, &e))?;
        // Where the program is a script, the server is a process below it.
        leftovers::end_servers(self.folder.path());
        self.ended = Some(status);
        Ok(())
    }

    /// Starts it again on the data that is there, and waits until it has recovered and answers.
    pub(crate) fn restart(&mut self, launch: &Launch) -> Result<(), EngineError> {
        let options = self.connector.options.clone();
        let until = Instant::now() + options.start_timeout;
        // The old one's socket is no sign of the new one.
        let _ = fs::remove_file(self.folder.path().join("s"));
        self.child = spawn(&self.installed, self.folder.path(), &self.account, &options, launch)?;
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
            match self.connector.connect(None) {
                Ok(mut connection) => {
                    return connection
                        .query_drop(format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))
                        .map_err(|e| crate::error::error(&e));
                }
                Err(e) if Instant::now() > until => {
                    let words = last_words(&self.folder.path().join("server.log"));
                    let message = format!("the private server does not answer in time: {}{words}", e.message());
                    return Err(EngineError::new(ErrorKind::ConnectionLost, message));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Nothing of it is kept, so it need not end in good order.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Where the program is a script, the server is a process below it.
        leftovers::end_servers(self.folder.path());
    }
}

/// The folder that a private server's own is made in.
pub(crate) fn parent(directory: Option<&Path>, options: &Options) -> Result<PathBuf, EngineError> {
    match directory {
        Some(directory) => std::path::absolute(directory).map_err(|e| io_error("cannot find", directory, &e)),
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
fn spawn(
    installed: &Installed,
    folder: &Path,
    account: &Account,
    options: &Options,
    launch: &Launch,
) -> Result<Child, EngineError> {
    let mut command = Command::new(&installed.server);
    command.arg("--no-defaults").args(account.argument()).args(arguments(installed.flavour, folder, options));
    command.args(&launch.arguments).envs(launch.environment.iter().map(|(name, value)| (name, value)));
    detach(&mut command);
    // What an earlier one has said stays before what this one says.
    let output = |name: &str| {
        let path = folder.join(name);
        let file = File::options().create(true).append(true).open(&path);
        file.map_err(|e| io_error("cannot create", &path, &e))
    };
    command
        .stdin(Stdio::null())
        .stdout(output("server.out")?)
        .stderr(output("server.log")?)
        .spawn()
        .map_err(|e| io_error("cannot run", &installed.server, &e))
}

/// A folder of our own, marked as ours before anything else is in it.
fn make_folder(parent: &Path) -> Result<(TempDir, File), EngineError> {
    let folder = tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .tempdir_in(parent)
        .map_err(|e| io_error("cannot make a folder in", parent, &e))?;
    let fresh = folder.path().join("owner-new");
    let failed = |e: io::Error| io_error("cannot create", &fresh, &e);
    let mut owner = File::create_new(&fresh).map_err(failed)?;
    owner.write_all(OWNER_MARK.as_bytes()).map_err(failed)?;
    owner.lock().map_err(failed)?;
    // Under its name it is locked from the first moment, so nobody takes the folder for abandoned.
    fs::rename(&fresh, folder.path().join(OWNER_FILE)).map_err(failed)?;
    if folder.path().join("s").as_os_str().len() > SOCKET_PATH_BYTES {
        let message = format!("{} is too long a path for a server's socket: name a shorter folder", parent.display());
        return Err(EngineError::new(ErrorKind::Other, message));
    }
    for name in ["data", "tmp"] {
        let path = folder.path().join(name);
        fs::create_dir(&path).map_err(|e| io_error("cannot make", &path, &e))?;
    }
    Ok((folder, owner))
}

/// Whom the server runs as.
struct Account {
    /// `None` where that is us.
    name: Option<&'static str>,
}

impl Account {
    /// Servers refuse to run as root, so there `mysql` it is, which packages make; the folder becomes its.
    #[cfg(unix)]
    fn find(folder: &Path) -> Result<Self, EngineError> {
        const NAME: &str = "mysql";
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { name: None });
        }
        let id = |flag: &str| {
            let output = Command::new("id").args([flag, NAME]).stdin(Stdio::null()).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse::<u32>().ok()
        };
        let (Some(user), Some(group)) = (id("-u"), id("-g")) else {
            return Err(EngineError::unsupported(
                "a server does not run as root, and there is no user `mysql` for it: `useradd --system mysql` makes one",
            ));
        };
        for path in [folder.to_owned(), folder.join("data"), folder.join("tmp")] {
            std::os::unix::fs::chown(&path, Some(user), Some(group))
                .map_err(|e| io_error("cannot give away", &path, &e))?;
        }
        Ok(Self { name: Some(NAME) })
    }

    #[cfg(not(unix))]
    fn find(_: &Path) -> Result<Self, EngineError> {
        Ok(Self { name: None })
    }

    fn argument(&self) -> Option<String> {
        self.name.map(|name| format!("--user={name}"))
    }
}

/// Ctrl-C at a terminal goes to its whole process group; the server's end is ours to bring about.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Makes the system's own tables.
fn fill_data_directory(
    installed: &Installed,
    folder: &Path,
    account: &Account,
    until: Instant,
) -> Result<(), EngineError> {
    let mut command = match &installed.install {
        Some(install) => {
            let mut command = Command::new(install);
            command.arg("--no-defaults").args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
            command.arg("--skip-name-resolve");
            command
        }
        None => {
            let mut command = Command::new(&installed.server);
            command.args(["--no-defaults", "--initialize-insecure"]);
            command
        }
    };
    command.args(account.argument()).arg(datadir_argument(folder));
    command.arg(format!("--tmpdir={}", folder.join("tmp").display()));
    detach(&mut command);
    let log = folder.join("install.log");
    let file = File::create(&log).map_err(|e| io_error("cannot create", &log, &e))?;
    let second = file.try_clone().map_err(|e| io_error("cannot open", &log, &e))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(second)
        .spawn()
        .map_err(|e| io_error("cannot run", installed.install.as_ref().unwrap_or(&installed.server), &e))?;
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
fn arguments(flavour: Flavour, folder: &Path, options: &Options) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let method = options.flush_method.unwrap_or(if options.ram { FlushMethod::Fsync } else { FlushMethod::Direct });
    let mut arguments = vec![
        datadir_argument(folder),
        format!("--tmpdir={}", path("tmp")),
        format!("--socket={}", path("s")),
        format!("--pid-file={}", folder.join("data").join("server.pid").display()),
        "--skip-networking".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--skip-log-bin".to_owned(),
        "--performance-schema=OFF".to_owned(),
        "--character-set-server=utf8mb4".to_owned(),
        "--max-connections=2000".to_owned(),
        "--max-prepared-stmt-count=1000000".to_owned(),
        format!("--innodb-buffer-pool-size={}", options.buffer_pool_bytes),
        format!("--innodb-flush-log-at-trx-commit={}", options.flush_log.word()),
        format!(
            "--innodb-flush-method={}",
            match method {
                FlushMethod::Fsync => "fsync",
                FlushMethod::Direct => "O_DIRECT",
            }
        ),
        format!("--innodb-doublewrite={}", if options.doublewrite { "ON" } else { "OFF" }),
    ];
    arguments.push(match flavour {
        Flavour::Mariadb => format!("--innodb-log-file-size={}", options.log_file_bytes),
        Flavour::Mysql => format!("--innodb-redo-log-capacity={}", options.log_file_bytes),
    });
    if flavour == Flavour::Mysql {
        arguments.push("--mysqlx=OFF".to_owned());
    }
    arguments
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

fn io_error(doing: &str, path: &Path, e: &io::Error) -> EngineError {
    let kind = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        _ => ErrorKind::Other,
    };
    EngineError::new(kind, format!("{doing} {}: {e}", path.display()))
}
