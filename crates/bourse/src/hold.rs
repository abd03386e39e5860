//! Databases held by a command for its whole life, so that no second one loads, changes, restores or checks them meanwhile.
//!
//! A database of files is held by a locked file next to it, which goes away with the lock; a database on a user's server by
//! a lock of that server ([`Engine::hold`]). Both end with the process, even if it is killed. Processes that a command
//! starts share its lock ([`join`]): it is free once the last of them has ended.

use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::{engine_failure, refuse_foreign, refused};
use crate::output::refusal_to_replace;
use crate::progress::note;
use crate::{engines, interrupt};
use bourse_engine::{
    DatabaseFiles, DatabaseLock, Engine, ErrorKind, FileFormat, Hold, Location, SideFile, SideFileKind, locked,
    path_with_suffix,
};
use bourse_serve::Address;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The first line of the file, which marks it as Bourse's.
const MARK: &str =
    "Bourse holds the database beside this file. The file can be removed when no process has it locked.\n";

/// The lock file next to a database that is held.
static LOCK: SideFileKind = SideFileKind { suffix: ".bourse-lock", of: "holding the database", text: Some(MARK) };

/// Interval between the tries of a command that waits.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Interval between the uses of a session that has a lock: Vitess and proxies end a session that rests, some after 30 s.
const USE_INTERVAL: Duration = Duration::from_secs(10);

/// Tries to read the name of the holder.
const MAX_READ_ATTEMPTS: u32 = 100;

/// Longest wait for another command; `None` refuses immediately.
static WAIT_LIMIT: OnceLock<Option<Duration>> = OnceLock::new();

/// Lets this command wait up to this time for others that hold its databases.
pub(crate) fn wait_for_others(at_most: Option<Duration>) {
    // A file of options is read after the command line, which wins.
    if at_most.is_some() {
        let _ = WAIT_LIMIT.set(at_most);
    }
}

/// Databases that are held; free again when this is dropped.
#[derive(Default)]
pub(crate) struct HeldDatabases {
    files: Vec<SideFile>,
    at_servers: Vec<(String, ServerLock)>,
    /// Targets of databases at servers that this process had before, by another target.
    again: Vec<String>,
}

/// A lock at a server, with a thread that uses its session from time to time.
struct ServerLock {
    lock: Arc<Mutex<Box<dyn DatabaseLock>>>,
    /// The thread ends once this is dropped.
    _until: Sender<()>,
}

impl ServerLock {
    fn new(lock: Box<dyn DatabaseLock>, interval: Duration) -> Self {
        let lock = Arc::new(Mutex::new(lock));
        let of_thread = Arc::downgrade(&lock);
        let (until, ended) = channel();
        std::thread::spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let Some(lock) = of_thread.upgrade() else { return };
                // A lock that is lost stays so until the round's end looks for it.
                let _ = locked(&lock).still_held();
            }
        });
        Self { lock, _until: until }
    }
}

impl HeldDatabases {
    /// Fails if two of the targets are one database at a server, whose lock shows that, however its address is written.
    ///
    /// # Errors
    /// The target whose database another one has.
    pub(crate) fn refuse_again(&self) -> Result<()> {
        let Some(target) = self.again.first() else { return Ok(()) };
        Err(Failure::usage(format!(
            "'{target}' is the database of another target: each would find the other's changes"
        )))
    }

    /// Fails if the lock of a target's database at its server was lost, as when a person ends the session that has it.
    ///
    /// # Errors
    /// Another command may have used the database since.
    pub(crate) fn check_held(&self, target: &str) -> Result<()> {
        let lock = self.at_servers.iter().find(|(of, _)| of == target);
        lock.map_or(Ok(()), |(_, it)| locked(&it.lock).still_held()).map_err(|error| {
            Failure::new(Exit::Target, format!("the lock that held {target} against other commands was lost"))
                .detail("cause", error.message())
        })
    }
}

/// The holder of a database, as named details for the user.
type Holder = Vec<(String, String)>;

/// Holds the databases of targets in files or on a user's server. Databases that Bourse did not make are refused first.
///
/// # Errors
/// Another command has one of them, and is not waited for or does not end in time; one is foreign, or cannot be looked at.
pub(crate) fn for_writing<'t>(targets: impl IntoIterator<Item = &'t str> + Clone) -> Result<HeldDatabases> {
    targets.clone().into_iter().try_for_each(engines::make_folder)?;
    targets.clone().into_iter().try_for_each(refuse_unwritable)?;
    for_reading(targets)
}

/// Refuses to change or to replace a database in files that belong to another user, or are read-only.
fn refuse_unwritable(target: &str) -> Result<()> {
    let location = engines::location(target)?;
    let Some(found) = location.file().and_then(|path| path.metadata().ok()) else { return Ok(()) };
    refusal_to_replace(&found).map_or(Ok(()), |why| Err(refused(target, &format!("the database {why}"))))
}

/// Refuses a name that Bourse or SQLite gives to a file next to a database.
fn refuse_side_name(target: &str, path: &Path) -> Result<()> {
    if !DatabaseFiles::is_side_name(path) {
        return Ok(());
    }
    let why = format!("{} has the name of a file that is made next to a database", path.display());
    Err(refused(target, &why))
}

/// Holds databases for reading, like [`for_writing`], and makes no missing folder.
///
/// # Errors
/// Those of [`for_writing`].
pub(crate) fn for_reading<'t>(targets: impl IntoIterator<Item = &'t str>) -> Result<HeldDatabases> {
    let mut held = HeldDatabases::default();
    // Each once, and in the same order in all commands, since two that waited for each other would never end.
    let mut files = BTreeMap::new();
    let mut at_servers = BTreeMap::new();
    for target in targets.into_iter().filter(|target| !Address::has_scheme(target)) {
        let engine = engines::open(target)?;
        engine.location().file().map_or(Ok(()), |path| refuse_side_name(target, path))?;
        refuse_foreign(target, engine.as_ref())?;
        match engine.location().file() {
            Some(path) => drop(files.insert(resolved(path), target)),
            None => drop(at_servers.insert(target, engine)),
        }
    }
    for (path, target) in files {
        held.files.extend(wait_until_released(target, || of_file(target, &path))?);
    }
    for (target, engine) in at_servers {
        match wait_until_released(target, || at_server(target, engine.as_ref()))? {
            Hold::Held(lock) => held.at_servers.push((target.to_owned(), ServerLock::new(lock, USE_INTERVAL))),
            Hold::Nothing if engine.location() == Location::RunningServer => held.again.push(target.to_owned()),
            _ => {}
        }
    }
    Ok(held)
}

/// Holds the database in a file or a folder that has no mark of Bourse's.
///
/// # Errors
/// Another command has it, and is not waited for or does not end in time.
pub(crate) fn without_mark(target: &str, path: &Path) -> Result<HeldDatabases> {
    let file = wait_until_released(target, || of_file(target, &resolved(path)))?;
    Ok(HeldDatabases { files: file.into_iter().collect(), ..HeldDatabases::default() })
}

/// Waits for another command that has the database at a path, as one that is making it; whether there was one.
///
/// # Errors
/// It is not waited for, or does not end in time.
pub(crate) fn await_other(target: &str, path: &Path) -> Result<bool> {
    let is_held = SideFile::is_used(&file_at(&resolved(path)), &LOCK);
    if is_held {
        without_mark(target, path)?;
    }
    Ok(is_held)
}

/// Shares the hold of the command that started this process, or of the driver that coordinates it, for as long as this
/// process lives.
///
/// # Errors
/// That command has ended, and another one holds the database.
pub(crate) fn join(target: &str) -> Result<HeldDatabases> {
    let location = engines::location(target)?;
    let Some(path) = location.file() else { return Ok(HeldDatabases::default()) };
    match SideFile::join(&file_at(&resolved(path)), &LOCK) {
        Ok(joined) => Ok(HeldDatabases { files: joined.into_iter().collect(), ..HeldDatabases::default() }),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(in_use(target, &read(&resolved(path)))),
        // The command itself could not hold it either, and has reported that.
        Err(_) => Ok(HeldDatabases::default()),
    }
}

/// Result of `hold`, once no other command has the database.
fn wait_until_released<T>(target: &str, hold: impl Fn() -> Result<Result<T, Holder>>) -> Result<T> {
    let begun = Instant::now();
    let mut told = false;
    loop {
        let holder = match hold()? {
            Ok(held) => return Ok(held),
            Err(holder) => holder,
        };
        let limit = match WAIT_LIMIT.get().copied().flatten() {
            None => return Err(in_use(target, &holder).hint("--wait waits until it has ended")),
            Some(limit) => limit,
        };
        if begun.elapsed() >= limit {
            return Err(in_use(target, &holder).detail("waited", format!("{} s", limit.as_secs_f64())));
        }
        let interrupted = interrupt::flag()?;
        if !std::mem::replace(&mut told, true) {
            note(&format!("waiting: {} (Ctrl-C gives up)", in_use(target, &holder).line()));
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(interrupt::interrupted(&format!("another command that uses {target} was waited for")));
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

fn in_use(target: &str, holder: &Holder) -> Failure {
    let failure = Failure::new(Exit::Target, format!("{target} is in use by another command"));
    holder.iter().fold(failure, |failure, (name, value)| failure.detail(name, value))
}

/// Holds a database of files, or returns its holder; `None` if no file can be locked next to it.
fn of_file(target: &str, database: &Path) -> Result<Result<Option<SideFile>, Holder>> {
    for _ in 0..MAX_READ_ATTEMPTS {
        let taken = SideFile::create(&file_at(database), &LOCK).and_then(|file| {
            // On a full disk the lock holds all the same, without the holder's name.
            let _ = file.file().write_all(text().as_bytes());
            file.share().map(|()| file)
        });
        match taken {
            Ok(file) => return Ok(Ok(Some(file))),
            // The holder has not written its name yet, or has just ended.
            Err(error) if error.kind() == ErrorKind::Conflict && read(database).is_empty() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) if error.kind() == ErrorKind::Conflict => break,
            Err(error) if error.kind() == ErrorKind::Refused => return Err(engine_failure(target, &error)),
            Err(error) => {
                // In a folder that only other users may write to, one of them may hold it.
                if SideFile::is_used(&file_at(database), &LOCK) {
                    break;
                }
                note_without_lock(target, error.message());
                return Ok(Ok(None));
            }
        }
    }
    Ok(Err(read(database)))
}

/// A database's path, which the lock file is next to.
fn file_at(database: &Path) -> DatabaseFiles {
    DatabaseFiles::at(database, &FileFormat::FILE)
}

fn note_without_lock(target: &str, why: &str) {
    note(&format!("{target} is not held against other commands: {why}"));
}

fn at_server(target: &str, engine: &dyn Engine) -> Result<Result<Hold, Holder>> {
    // A server may show the first few characters alone.
    let since = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M");
    let holder = format!("process {} since {since}: {} on {}", std::process::id(), short_command(), machine());
    match engine.hold(&holder).map_err(|error| engine_failure(target, &error))? {
        Hold::InUse(mut holder) => {
            let value = |name: &str| holder.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
            if let (Some(process), Some(Hold::THIS_MACHINE)) = (value("process"), value("client"))
                && let Some(command) = command_of(process)
            {
                holder.insert(1, ("command".to_owned(), command));
            }
            Ok(Err(holder))
        }
        held => {
            if let Hold::Cannot(why) = &held {
                note_without_lock(target, why);
            }
            Ok(Ok(held))
        }
    }
}

/// A database's path, the same for each way to write it and through any links.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let below_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(below_folder).unwrap_or_else(|| path.to_owned())
}

/// The file's text: its mark, the holder of the database, and the time since when it is held.
fn text() -> String {
    let started = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %:z");
    format!("{MARK}process: {}\ncommand: {}\nmachine: {}\nsince: {started}\n", std::process::id(), command(), machine())
}

/// The command line on one line.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().replace('\n', " "));
    std::iter::once("bourse".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// First words of the command line: the command's own, without targets and options.
fn short_command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let own = words.skip_while(|word| word.starts_with('-'));
    own.take_while(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric())).collect::<Vec<_>>().join(" ")
}

/// The command line of a process of this machine, if the system shows it.
fn command_of(process: &str) -> Option<String> {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).replace('\n', " "));
    Some(words.collect::<Vec<_>>().join(" ").trim_end().to_owned()).filter(|command| !command.is_empty())
}

fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The holder named in the file next to a database; empty if it has not written its name yet.
fn read(database: &Path) -> Holder {
    let text = std::fs::read_to_string(path_with_suffix(database, LOCK.suffix)).unwrap_or_default();
    let lines = text.strip_prefix(MARK).unwrap_or_default().lines();
    let mut holder: Holder = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let value = |name: &str| holder.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let process = value("process").and_then(|process| process.parse().ok());
    if value("machine") == Some(&machine()) && process.is_some_and(|process| !interrupt::is_alive(process)) {
        let state = "the process has ended, and one that it started has not yet";
        holder.push(("state".to_owned(), state.to_owned()));
    }
    holder
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::EngineError;

    struct ToldLock(Sender<()>);

    impl DatabaseLock for ToldLock {
        fn still_held(&mut self) -> bourse_engine::Result<()> {
            self.0.send(()).map_err(|_| EngineError::new(ErrorKind::ConnectionLost, "nobody listens"))
        }
    }

    /// Regression: Vitess ended the session that held a database 300 s after its last use, and the run was void.
    #[test]
    fn the_session_of_a_lock_is_used_until_it_is_released() {
        let (told, used) = channel();
        let lock = ServerLock::new(Box::new(ToldLock(told)), Duration::from_millis(1));
        for _ in 0..3 {
            used.recv_timeout(Duration::from_secs(60)).expect("it is used again");
        }
        drop(lock);
        while used.recv_timeout(Duration::from_secs(60)) != Err(RecvTimeoutError::Disconnected) {}
    }
}
