//! Two concurrent commands on one database: the first holds it, and the second is refused or waits.
//!
//! A first command is stopped (SIGSTOP) once it holds, so that no test depends on its duration.
#![cfg(unix)]

use crate::waiting::wait_for;
use crate::{bourse, load, output, text};
use bourse_engine::Engine as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const SQLITE: &str = "sqlite:h.db?sync=off";

/// Commands that load, change, restore, check or remove a database of the brokerage workload, with the target in place of
/// `T`, and the end of each as the first of two: its own, or an interruption.
const BROKERAGE: &[(&str, Ends)] = &[
    ("tpce load T --days 1 --reload", Ends::Itself),
    ("tpce run T --days 1 --for 1s --warmup 0s", Ends::Itself),
    ("tpce run T --find-max --for 1s --warmup 0s", Ends::Interrupted),
    ("tpce check T", Ends::Itself),
    ("tpce verify T model: --days 1 -n 5", Ends::Interrupted),
    ("tpce acid T", Ends::Interrupted),
    ("tpce serve T --days 1 --listen 127.0.0.1:0", Ends::Interrupted),
    ("compare T sqlite::memory: --days 1 --for 1s --warmup 0s --rounds 1", Ends::Interrupted),
    ("crash T", Ends::Interrupted),
];

/// Commands on a database of microbenchmarks.
const MICRO: &[(&str, Ends)] = &[
    ("micro run update T --for 1s --rounds 1 --set rows=100", Ends::Itself),
    ("compare T null: --workload point-read --for 1s --rounds 1", Ends::Interrupted),
];

/// End of a command that was stopped and continued.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// Own end, with exit code 0.
    Itself,
    /// Interruption, with exit code 130, or 0 for a command that ends so.
    Interrupted,
}

fn words<'c>(command: &'c str, target: &'c str) -> Vec<&'c str> {
    command.split(' ').map(|word| if word == "T" { target } else { word }).collect()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
}

/// A stopped command that holds a database.
struct Holder {
    child: Child,
    command: String,
}

impl Holder {
    /// Starts a command, and stops it once it holds.
    fn start(folder: &Path, arguments: &[&str], holds: &dyn Fn(u32) -> bool) -> Self {
        let mut started = bourse(folder, arguments);
        let child = started.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program can be started");
        let id = child.id();
        wait_for(&format!("{arguments:?} to hold its database"), || holds(id).then_some(()));
        signal(&child, "-STOP");
        Self { child, command: arguments.join(" ") }
    }

    /// Continues it until it ends, which must be well.
    fn goes_on(self, ends: Ends) {
        signal(&self.child, "-CONT");
        if ends == Ends::Interrupted {
            signal(&self.child, "-TERM");
        }
        let ended = self.child.wait_with_output().expect("it has ended");
        let code = ended.status.code();
        // A signal ends a command that has begun nothing which it would have to end first. SIGTERM, since a shell may have its
        // commands in the background ignore SIGINT until they ask for it.
        let is_interrupted = code == Some(130) || ended.status.signal() == Some(15);
        let is_good = code == Some(0) || ends == Ends::Interrupted && is_interrupted;
        assert!(is_good, "{}: {code:?}: {}", self.command, text(&ended.stderr));
    }

    /// Continues it until it ends, without the lock that it had; the server may have ended the session while it still looked for
    /// other holders.
    fn unlocked(self) {
        signal(&self.child, "-CONT");
        let ended = self.child.wait_with_output().expect("it has ended");
        let said = text(&ended.stderr);
        let words = ["against other commands was lost", "57P01", "the connection to the server is broken"];
        let is_told = words.iter().any(|words| said.contains(words));
        assert!(ended.status.code() == Some(2) && is_told, "{said}");
    }

    /// Has it killed.
    fn killed(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }
}

/// Whether the lock file of a database names a process as its holder.
fn is_named(lock: &Path, process: u32) -> bool {
    fs::read_to_string(lock).is_ok_and(|text| text.contains(&format!("\nprocess: {process}\n")) && text.ends_with('\n'))
}

/// Runs each of the first commands against each of the second, which must be refused with the holder of the database.
fn refuses_each(
    folder: &Path,
    firsts: &[(&str, Ends)],
    seconds: &[&str],
    targets: [&str; 2],
    holds: &dyn Fn(u32) -> bool,
) {
    let [target, other_name] = targets;
    for (first, ends) in firsts {
        let holder = Holder::start(folder, &words(first, target), holds);
        for second in seconds {
            let ended = output(folder, &words(second, other_name));
            let said = text(&ended.stderr);
            assert_eq!(ended.status.code(), Some(2), "{second} while {first}: {said}");
            let shown = holder.command.split(' ').take(2).collect::<Vec<_>>().join(" ");
            for wanted in
                ["is in use by another command", &holder.child.id().to_string(), &shown, "since: 20", "--wait"]
            {
                assert!(said.contains(wanted), "{second} while {first} does not say {wanted:?}: {said}");
            }
        }
        holder.goes_on(*ends);
    }
}

fn commands(of: &[(&'static str, Ends)]) -> Vec<&'static str> {
    of.iter().map(|(command, _)| *command).collect()
}

#[test]
fn a_second_command_on_a_sqlite_file_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, SQLITE);
    symlink("h.db", folder.join("link.db")).expect("a link can be made");
    let absolute = format!("sqlite:{}", folder.join("link.db").display());
    let lock = folder.join("h.db.bourse-lock");
    let seconds = [commands(BROKERAGE), commands(MICRO), vec!["data rm h.db", "data rm ./h.db"]].concat();
    refuses_each(folder, BROKERAGE, &seconds, [SQLITE, &absolute], &|process| is_named(&lock, process));
    let checked = output(folder, &["tpce", "check", SQLITE]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let left: Vec<_> = fs::read_dir(folder).expect("it is there").map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name != "h.db.bourse-lock" && name != "h.db.bourse-snapshot"), "{left:?}");
    let removed = output(folder, &["data", "rm", "h.db"]);
    assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
    assert!(!lock.exists() && !folder.join("h.db").exists());
}

#[test]
fn a_second_command_on_other_files_is_refused() {
    for (target, lock) in [("sqlite:m.db", "m.db.bourse-lock"), ("lmdb:m.lmdb", "m.lmdb.bourse-lock")] {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let lock = folder.path().join(lock);
        let other_name = target.replace(":m", ":./m");
        let holds = |process| is_named(&lock, process);
        // The first of them has not made its database yet.
        let seconds = [commands(MICRO), vec!["data rm T"]].concat();
        refuses_each(folder.path(), MICRO, &seconds, [target, &other_name], &holds);
        assert!(!lock.exists());
    }
}

#[test]
fn a_killed_holder_is_in_nobodys_way_and_a_living_one_is_waited_for() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, SQLITE);
    let lock = folder.join("h.db.bourse-lock");
    let holds = |process| is_named(&lock, process);
    let check = ["tpce", "check", SQLITE];
    Holder::start(folder, &["tpce", "run", SQLITE, "--for", "9s", "--warmup", "1s"], &holds).killed();
    assert!(lock.exists());
    let ended = output(folder, &check);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(!lock.exists(), "it is removed by whoever came next");

    let holder = Holder::start(folder, &check, &holds);
    let limited = output(folder, &["tpce", "check", SQLITE, "--wait=300ms"]);
    assert_eq!(limited.status.code(), Some(2));
    assert!(text(&limited.stderr).contains("waited: 0.3 s"), "{}", text(&limited.stderr));
    let wait = |arguments: &[&str]| {
        let mut waiting = bourse(folder, arguments);
        let mut child = waiting.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let mut said = BufReader::new(child.stderr.take().expect("it was asked for"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it is text");
        assert!(
            line.starts_with("waiting: sqlite:h.db?sync=off is in use")
                && line.contains(&holder.child.id().to_string()),
            "{line}"
        );
        (child, said)
    };
    let (mut given_up, _said) = wait(&["tpce", "check", SQLITE, "--wait"]);
    signal(&given_up, "-TERM");
    assert_eq!(given_up.wait().expect("it ends").code(), Some(130));
    let (mut patient, _said) = wait(&["tpce", "check", "--wait", SQLITE]);
    holder.goes_on(Ends::Itself);
    assert_eq!(patient.wait().expect("it ends").code(), Some(0));
}

/// Child processes of a killed command run for a moment, and hold the database as long.
#[test]
fn processes_of_a_killed_holder_hold_until_they_end() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let lock = folder.join("m.db.bourse-lock");
    let run = ["micro", "run", "update", "sqlite:m.db", "--for", "30s", "--rounds", "1", "--set", "rows=100"];
    let mut holder = bourse(folder, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let children = || {
        let listed = fs::read_to_string(format!("/proc/{0}/task/{0}/children", holder.id())).unwrap_or_default();
        listed.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    wait_for("the round to write", || fs::metadata(folder.join("m.db-wal")).is_ok().then_some(()));
    let children = children();
    let [round] = &children[..] else { panic!("one process of a round: {children:?}") };
    let send = |name: &str| assert!(Command::new("kill").args([name, round]).status().expect("kill runs").success());
    send("-STOP");
    holder.kill().expect("it can be killed");
    holder.wait().expect("it has ended");
    let refused = output(folder, &run);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("the process has ended, and one that it started has not yet"), "{said}");
    send("-CONT");
    let begun = Instant::now();
    let short =
        ["micro", "run", "update", "sqlite:m.db", "--count", "10", "--rounds", "1", "--set", "rows=100", "--wait=60s"];
    let ended = output(folder, &short);
    assert_eq!(ended.status.code(), Some(0), "after {:?}: {}", begun.elapsed(), text(&ended.stderr));
    assert!(!lock.exists());
}

/// A read-only folder takes no lock file; its database can still be read.
#[test]
fn a_database_in_a_folder_that_is_read_only_can_be_checked() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let below = folder.path().join("below");
    fs::create_dir(&below).expect("it can be made");
    load(&below, "sqlite:h.db?journal=delete");
    fs::set_permissions(&below, fs::Permissions::from_mode(0o555)).expect("it is ours");
    let ended = output(folder.path(), &["tpce", "check", "sqlite:below/h.db?journal=delete"]);
    fs::set_permissions(&below, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
}

/// Private servers play a user's.
#[test]
fn a_second_command_on_a_postgres_server_is_refused() {
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped("held::a_second_command_on_a_postgres_server_is_refused", why);
    }
    let memory = if Path::new("/dev/shm").is_dir() { "?ram=on" } else { "" };
    let server = bourse_engine_postgres::open(&format!("postgres+private:{memory}")).expect("a target");
    let mut session = server.session().expect("the server starts");
    let data = server.location().folder().expect("its files are here");
    let socket = data.parent().expect("its folder").display().to_string();
    let target = |database: &str| format!("postgres://postgres@localhost/{database}?socket={socket}");
    let session = std::cell::RefCell::new(&mut *session);
    let holds = |process: u32| {
        let sql = format!(
            "SELECT a.pid FROM pg_locks l INNER JOIN pg_stat_activity a ON a.pid = l.pid
              WHERE l.locktype = 'advisory' AND a.application_name LIKE 'process {process} %'"
        );
        holds_by(&mut **session.borrow_mut(), &sql)
    };
    is_one_database_by_two_names(&target("v"));
    on_two_databases(&target, &holds);
    // An account that is shut out of the server's own database has its locks in another place than one that is not.
    for sql in [
        "CREATE ROLE own LOGIN",
        "CREATE ROLE maker LOGIN CREATEDB IN ROLE own",
        "CREATE DATABASE shared OWNER own",
        "REVOKE CONNECT ON DATABASE postgres FROM public",
    ] {
        session.borrow_mut().execute_text(sql, &[]).expect(sql);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let [own, maker, other] =
        ["own", "maker", "postgres"].map(|user| target("shared").replace("postgres@", &format!("{user}@")));
    for [first, second] in [[&own, &other], [&other, &own], [&maker, &maker], [&maker, &own], [&other, &maker]] {
        let holder = Holder::start(folder.path(), &words(MICRO[0].0, first), &holds);
        let refused = output(folder.path(), &words(MICRO[0].0, second));
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && said.contains("is in use by another command"), "{said}");
        holder.killed();
        wait_for("the killed holder's session to end", || (!holds_any(&mut **session.borrow_mut())).then_some(()));
    }
    // A command that is refused leaves no database for locks, whoever the holder is.
    let for_locks = "SELECT 1 FROM pg_database WHERE datname = 'bourse_locks'";
    let ended = output(folder.path(), &words(MICRO[0].0, &maker));
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(!holds_by(&mut **session.borrow_mut(), for_locks));
    let holder = Holder::start(folder.path(), &words(MICRO[0].0, &other), &holds);
    std::thread::scope(|scope| {
        let second = || output(folder.path(), &words(MICRO[0].0, &maker)).status.code();
        let seconds = [scope.spawn(second), scope.spawn(second)];
        seconds.into_iter().for_each(|it| assert_eq!(it.join().expect("it ends"), Some(2)));
    });
    assert!(!holds_by(&mut **session.borrow_mut(), for_locks));
    holder.killed();
    wait_for("the killed holder's session to end", || (!holds_any(&mut **session.borrow_mut())).then_some(()));
    let holder = Holder::start(folder.path(), &words(MICRO[0].0, &maker), &holds);
    holder.killed();
    wait_for("the killed holder's session to end", || (!holds_any(&mut **session.borrow_mut())).then_some(()));
    // The database that has an account's locks ends with them, also where a killed holder left it.
    assert!(holds_by(&mut **session.borrow_mut(), for_locks));
    let ended = output(folder.path(), &words(MICRO[0].0, &maker));
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(!holds_by(&mut **session.borrow_mut(), for_locks));
    // A lock that is gone protects no round.
    let holder = Holder::start(folder.path(), &words(MICRO[0].0, &other), &holds);
    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
    session.borrow_mut().query_text(end, &[], &mut |_| Ok(())).expect("the server ends it");
    holder.unlocked();
}

fn holds_any(session: &mut dyn bourse_engine::Session) -> bool {
    holds_by(session, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'")
}

#[test]
fn a_second_command_on_a_mariadb_server_is_refused() {
    use bourse_engine_mysql::{Flavour, installed, open};
    if let Err(why) = installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped("held::a_second_command_on_a_mariadb_server_is_refused", why);
    }
    let memory = if Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let server = open(&format!("mariadb+private:?{memory}innodb_buffer_pool=64MiB&log_file=64MiB")).expect("a target");
    let mut session = server.session().expect("the server starts");
    let data = server.location().folder().expect("its files are here");
    let socket = data.parent().expect("its folder").join("s").display().to_string();
    let target = |database: &str| format!("mariadb://root@localhost/{database}?socket={socket}");
    let session = std::cell::RefCell::new(&mut *session);
    let holds = |process: u32| {
        // A lock for each set bit of its number, and none for the others: those of a command that ends may be there still.
        ["a", "m"].iter().any(|database| {
            let bits = (0..u32::BITS).map(|bit| {
                let is_set = if process >> bit & 1 == 1 { "NOT " } else { "" };
                format!("IS_USED_LOCK('bourse:{database}:{bit}') IS {is_set}NULL")
            });
            let sql = format!("SELECT 1 FROM DUAL WHERE {}", bits.collect::<Vec<_>>().join(" AND "));
            holds_by(&mut **session.borrow_mut(), &sql)
        })
    };
    is_one_database_by_two_names(&target("v"));
    on_two_databases(&target, &holds);
    // A lock that is gone protects no round.
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let holder = Holder::start(folder.path(), &words(MICRO[0].0, &target("m")), &holds);
    let mut number = None;
    let of = "SELECT IS_USED_LOCK('bourse:m') FROM DUAL";
    let found = session.borrow_mut().query_text(of, &[], &mut |row| {
        number = Some(bourse_engine::RowExt::get::<i64>(row, 0)?);
        Ok(())
    });
    found.expect("the server answers");
    let kill = format!("KILL {}", number.expect("it is held"));
    session.borrow_mut().execute_text(&kill, &[]).expect("the server ends it");
    holder.unlocked();
}

/// Regression: two commands on one database of a Redis server ran at once, and each found the other's changes.
#[test]
fn a_second_command_on_a_redis_server_is_refused() {
    use bourse_engine::KeyEngine as _;
    use bourse_engine_redis::{Product, installed, open};
    use std::io::{Read as _, Write as _};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    if let Err(why) = installed(Product::Redis, None) {
        return bourse_testkit::skipped("held::a_second_command_on_a_redis_server_is_refused", why);
    }
    let memory = if Path::new("/dev/shm").is_dir() { "?ram=on" } else { "" };
    let server = open(&format!("redis+private:{memory}")).expect("a target");
    drop(server.new_records().expect("the server starts"));
    let socket = server.location().folder().expect("its files are here").with_file_name("redis.sock");
    let clients = |command: &str| {
        let mut stream = UnixStream::connect(&socket).expect("the server listens");
        stream.write_all(command.as_bytes()).expect("it reads");
        stream.shutdown(Shutdown::Write).expect("it is open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is text");
        answer
    };
    let holds = |process: u32| clients("CLIENT LIST\r\n").contains(&format!("name=bourse:3:process_{process}_since_"));
    let target = format!("redis:///3?socket={}", socket.display());
    let folder = tempfile::tempdir().expect("there is room for a folder");
    refuses_each(folder.path(), &MICRO[..1], &commands(MICRO), [&target, &target], &holds);
    Holder::start(folder.path(), &words(MICRO[0].0, &target), &holds).killed();
    std::thread::scope(|scope| {
        let run = || output(folder.path(), &words(MICRO[0].0, &target)).status.code();
        let mut codes = [(); 2].map(|()| scope.spawn(run)).map(|it| it.join().expect("it ends"));
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(2)], "of two that begin at the same time one runs");
    });
    // A lock that is gone protects no round.
    let holder = Holder::start(folder.path(), &words(MICRO[0].0, &target), &holds);
    let held = clients("CLIENT LIST\r\n");
    let line = held.lines().find(|line| line.contains("name=bourse:3:")).expect("it is held");
    let id = line.split([' ', '=']).nth(1).expect("it has a number");
    assert!(clients(&format!("CLIENT KILL ID {id}\r\n")).starts_with(":1"));
    holder.unlocked();
}

/// Skipped by name where DuckDB's library is absent.
#[cfg(feature = "duckdb")]
#[test]
fn a_second_command_on_a_duckdb_file_is_refused() {
    let library = match bourse_engine_duckdb::info(None) {
        Ok(found) => found.path,
        Err(why) => return bourse_testkit::skipped("held::a_second_command_on_a_duckdb_file_is_refused", why),
    };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = |database: &str| folder.path().join(format!("{database}.duckdb"));
    let target = |database: &str| format!("duckdb:{}?library={}", file(database).display(), library.display());
    let holds = |process: u32| {
        let locks = ["a", "m"].map(|database| bourse_engine::path_with_suffix(&file(database), ".bourse-lock"));
        locks.iter().any(|lock| is_named(lock, process))
    };
    on_two_databases(&target, &holds);
}

/// A verification compared a database with itself, and reported its own changes as a difference between two systems.
fn is_one_database_by_two_names(target: &str) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let again = target.replace("localhost", "127.0.0.1");
    let refused = output(folder.path(), &["tatp", "verify", target, &again, "--size", "1k"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("is the database of another target"), "{said}");
}

fn holds_by(session: &mut dyn bourse_engine::Session, sql: &str) -> bool {
    let mut found = false;
    let asked = session.query_text(sql, &[], &mut |_| {
        found = true;
        Ok(())
    });
    asked.expect("the server answers");
    found
}

/// The commands on databases `a`, of TATP, which a server loads in a moment, and `m`, of microbenchmarks. All commands hold
/// alike, and are refused before they look at what is there: the file's test has each of the brokerage workload as the first.
fn on_two_databases(target: &dyn Fn(&str) -> String, holds: &dyn Fn(u32) -> bool) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let (tatp, micro) = (target("a"), target("m"));
    let loaded = output(folder, &["tatp", "load", &tatp, "--size", "1k"]);
    assert_eq!(loaded.status.code(), Some(0), "{}", text(&loaded.stderr));
    let seconds = [commands(BROKERAGE), commands(MICRO)].concat();
    let firsts = [("tatp check T", Ends::Itself), ("tatp serve T --listen 127.0.0.1:0", Ends::Interrupted)];
    refuses_each(folder, &firsts, &seconds, [&tatp, &tatp], holds);
    refuses_each(folder, &MICRO[..1], &seconds, [&micro, &micro], holds);
    Holder::start(folder, &words("tatp run T --for 9s", &tatp), holds).killed();
    let checked = output(folder, &["tatp", "check", &tatp, "--wait=60s"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
}
