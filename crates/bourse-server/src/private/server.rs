//! Life of a private server.

use crate::private::{ServerFolder, StartLimit};
use bourse_engine::{EngineError, ErrorKind, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A server that Bourse started; ended and removed with its folder when dropped.
#[derive(Debug)]
pub struct PrivateServer {
    child: Child,
    program: PathBuf,
    ended: Option<ExitStatus>,
    guard: Option<OwnerGuard>,
    folder: ServerFolder,
}

impl PrivateServer {
    /// Name of the standard output in its folder.
    pub const OUTPUT: &str = "server.out";

    /// Starts a server on the data directory of its folder.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] if the program cannot be run.
    pub fn start(folder: ServerFolder, command: Command) -> Result<Self> {
        let program = PathBuf::from(command.get_program());
        let child = spawn(&folder, command)?;
        let guard = OwnerGuard::of(&child);
        Ok(Self { child, program, ended: None, guard, folder })
    }

    /// Starts the server again on its data, after it has ended.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] if the program cannot be run.
    pub fn start_again(&mut self, command: Command) -> Result<()> {
        self.child = spawn(&self.folder, command)?;
        self.guard = OwnerGuard::of(&self.child);
        self.ended = None;
        Ok(())
    }

    /// Waits until `ask` has an answer.
    ///
    /// # Errors
    /// [`ErrorKind::ConnectionLost`] with the server's last output, if it ends or does not answer in time; those of
    /// [`StartLimit::check`].
    pub fn wait_until_it_answers<T>(&mut self, limit: StartLimit, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            limit.check()?;
            self.check_alive()?;
            match ask() {
                Ok(answer) => return Ok(answer),
                Err(e) if Instant::now() > limit.until() => {
                    limit.check()?;
                    let message =
                        format!("the private server does not answer in time: {}{}", e.message(), self.words());
                    return Err(EngineError::new(ErrorKind::ConnectionLost, message));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Kills the server as a crash would; its folder stays.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] if its end cannot be waited for.
    pub fn kill(&mut self) -> Result<()> {
        self.guard = None;
        // One that has ended already needs no killing.
        let _ = self.child.kill();
        let status = self.child.wait().map_err(|e| EngineError::io("wait for", &self.program, &e))?;
        // A server may be several processes, and where the program is a script it is one below it.
        self.folder.end_processes();
        self.ended = Some(status);
        Ok(())
    }

    /// Sends the server an interrupt, as Ctrl-C at its terminal would.
    ///
    /// # Errors
    /// [`ErrorKind::ConnectionLost`] if it has ended before; [`ErrorKind::Unsupported`] on a system without signals;
    /// [`ErrorKind::Other`] if the signal cannot be sent.
    pub fn interrupt(&mut self) -> Result<()> {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            // One that has ended may have left its number to another.
            self.check_alive()?;
            kill_process(Pid::from_child(&self.child), Signal::INT)
                .map_err(|e| EngineError::io("interrupt", &self.program, &e.into()))
        }
        #[cfg(not(unix))]
        Err(EngineError::unsupported("a server cannot be asked to end on this system"))
    }

    /// Waits until the server has ended by itself, after an interrupt or a command to end.
    ///
    /// # Errors
    /// [`ErrorKind::Other`] with its last output, if it does not end in time: it is then killed.
    pub fn wait_until_it_ends(&mut self, until: Instant) -> Result<()> {
        while self.exit().is_none() {
            if Instant::now() > until {
                let message = format!("the private server does not end in time{}", self.words());
                self.kill()?;
                return Err(EngineError::new(ErrorKind::Other, message));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // Where the program is a script, the server is a process below it.
        self.folder.end_processes();
        Ok(())
    }

    /// Exit status of the server; `None` while it runs.
    pub fn exit(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        if self.ended.is_some() {
            // Its number may become another's.
            self.guard = None;
        }
        self.ended
    }

    /// Fails if the server has ended.
    ///
    /// # Errors
    /// [`ErrorKind::ConnectionLost`] with its last output if it has ended.
    pub fn check_alive(&mut self) -> Result<()> {
        let Some(status) = self.exit() else { return Ok(()) };
        let message = format!("the private server has ended ({status}){}", self.words());
        Err(EngineError::new(ErrorKind::ConnectionLost, message))
    }

    /// Folder of the server.
    pub fn folder(&self) -> &ServerFolder {
        &self.folder
    }

    /// Number of the started process; if the program is a script, the server is a child of it.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    fn words(&self) -> String {
        let words = |name: &str| last_words(&self.folder.path().join(name));
        // Some servers log to their standard output.
        let found = words(LOG);
        if found.is_empty() { words(PrivateServer::OUTPUT) } else { found }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Nothing of it is kept, so it need not end in good order.
        let _ = self.kill();
    }
}

/// A shell that kills a server's process group if this process ends without doing so, however that is.
#[derive(Debug)]
struct OwnerGuard(Child);

impl OwnerGuard {
    /// Guard of a server; `None` where there is no shell: the next owner's sweep ends the server then.
    fn of(server: &Child) -> Option<Self> {
        let mut command = Command::new("sh");
        // Its input ends with this process, which writes nothing.
        command.args(["-c", "read -r _ || kill -9 \"-$1\"", "sh", &server.id().to_string()]).current_dir("/");
        detach(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Self)
    }
}

impl Drop for OwnerGuard {
    fn drop(&mut self) {
        // Before its input ends. One that has ended already is what we want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Name of the log: output of the server other than answers to clients.
const LOG: &str = "server.log";

fn spawn(folder: &ServerFolder, mut command: Command) -> Result<Child> {
    // What an earlier one has said stays before what this one says.
    let output = |name: &str| {
        let path = folder.path().join(name);
        let file = File::options().create(true).append(true).open(&path);
        file.map_err(|e| EngineError::io("create", &path, &e))
    };
    detach(&mut command);
    command
        .stdin(Stdio::null())
        .stdout(output(PrivateServer::OUTPUT)?)
        .stderr(output(LOG)?)
        .spawn()
        .map_err(|e| EngineError::io("run", Path::new(command.get_program()), &e))
}

/// Gives the command a process group of its own: Ctrl-C at a terminal goes to the whole group, but Bourse ends the
/// server.
pub(crate) fn detach(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Last lines of a log, for an error.
pub(crate) fn last_words(log: &Path) -> String {
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
