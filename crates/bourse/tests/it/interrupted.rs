//! Interrupted programs: Ctrl-C leaves a report, `kill -9` never a database that could be taken for a good one.

use crate::waiting::{measuring, wait_for};
use crate::{bourse, load, load_tatp, output, start, text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
}

#[test]
fn a_load_that_is_killed_is_never_taken_for_a_database() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (target, work) = ("sqlite:a.db?sync=off", folder.path().join("a.db.bourse-loading"));
    let mut child = start(folder.path(), &["tpce", "load", target, "--days", "1"]);
    wait_for("the load to be under way", || (size(&work) > 4 << 20).then_some(()));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    assert!(!folder.path().join("a.db").exists(), "the database comes to be at the very end");
    assert!(work.exists());

    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stderr).contains("there is no database"), "{}", text(&checked.stderr));

    let again = output(folder.path(), &["tpce", "load", target, "--days", "1"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("left by a process that did not end"), "{}", text(&again.stderr));
    assert!(!work.exists());
    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let brief =
        bourse(folder.path(), &["tpce", "check", target]).env_remove("BOURSE_VERBOSE").output().expect("it runs");
    assert_eq!(text(&brief.stdout).lines().count(), 1, "what passed is counted: {}", text(&brief.stdout));
    assert!(
        text(&checked.stdout).contains("passed  C1 brokers' trades: a broker's number"),
        "{}",
        text(&checked.stdout)
    );
}

/// `data rm` found no database, or left a file beside it without its mark, which the next load refused.
#[test]
fn what_a_killed_load_leaves_is_removed_with_its_database() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (target, work) = ("sqlite:a.db?sync=off", folder.path().join("a.db.bourse-loading"));
    for name in ["a.db", target] {
        if name == target {
            load(folder.path(), target);
        }
        let mut child = start(folder.path(), &["tpce", "load", target, "--days", "1", "--reload"]);
        wait_for("the load to be under way", || (size(&work) > 1 << 20).then_some(()));
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        let removed = output(folder.path(), &["data", "rm", name]);
        assert_eq!(removed.status.code(), Some(0), "{}", text(&removed.stderr));
        assert!(text(&removed.stderr).contains(" MiB"), "{}", text(&removed.stderr));
        let left: Vec<_> = folder.path().read_dir().expect("it is there").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_run_that_is_killed_leaves_a_database_the_next_run_can_trust() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?sync=normal";
    load(folder.path(), target);
    let mut child = start(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "50s", "--warmup", "1s"]);
    wait_for("the run to write", || (size(&folder.path().join("a.db-wal")) > 1 << 20).then_some(()));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");

    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let again = output(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "1s", "--warmup", "1s"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("used by earlier runs: "), "{}", text(&again.stderr));
    assert!(text(&again.stdout).contains("before the warm-up: "), "{}", text(&again.stdout));
}

/// A transaction that another program holds the lock of was tried again for minutes.
#[test]
fn an_interruption_ends_the_wait_for_a_lock_of_another_program() {
    use bourse_engine::{Access, Engine as _, Isolation};
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load_tatp(folder.path(), "sqlite:a.db?sync=off");
    let target = "sqlite:a.db?sync=off&busy_timeout=2s";
    let mut run = bourse(folder.path(), &["tatp", "run", target, "--for", "50s", "--warmup", "1s"]);
    let child = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    measuring(folder.path());
    let other = format!("sqlite:{}?sync=off", folder.path().join("a.db").display());
    let other = bourse_engine_sqlite::open(&other).expect("a target");
    let mut session = other.session().expect("the database can be opened twice");
    session.begin(Isolation::Serializable, Access::Write).expect("the lock is free now and then");
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}: {said}", begun.elapsed());
    session.rollback().expect("nothing was written");
}

#[test]
fn a_run_that_is_interrupted_reports_what_it_measured() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?sync=off";
    load_tatp(folder.path(), target);
    let mut run = bourse(folder.path(), &["tatp", "run", target, "--for", "50s", "--warmup", "1s"]);
    let child = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    measuring(folder.path());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130));
    let said = text(&ended.stderr);
    assert_eq!(said.matches("interrupted: finishing what was begun; Ctrl-C again").count(), 1, "{said}");
    let run = std::fs::read_dir(folder.path().join("bourse-runs")).expect("a run leaves a folder").next();
    let run = run.expect("there is one").expect("it can be read").path();
    let report = output(folder.path(), &["report", &run.display().to_string()]);
    assert!(text(&report.stdout).contains("interrupted"), "{}", text(&report.stdout));
    assert!(text(&report.stdout).contains("Update-Location"));
}

/// Runs a command, interrupts it once `is_under_way`, and returns what it said; it ends soon, with the code of an interruption.
fn interrupted(folder: &Path, arguments: &[&str], is_under_way: &dyn Fn(u32) -> bool) -> String {
    let mut command = bourse(folder, arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    wait_for(&arguments.join(" "), || is_under_way(child.id()).then_some(()));
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{arguments:?}: {said}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{arguments:?}: {:?}: {said}", begun.elapsed());
    said
}

/// The first interruption was not heard while a microbenchmark loaded its tables: for a minute and more of these.
#[test]
fn a_load_of_a_microbenchmark_that_is_interrupted_ends() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let records = |_| folder.path().join("x.files/persons/000200").exists();
    let bytes = |name: &str| size(&folder.path().join(name)) > 1 << 20;
    let log = |_| bytes("x.db-wal") || bytes("y.db-wal");
    for (command, is_under_way) in [
        ("micro run point-read files:x.files -s rows=10M", &records as &dyn Fn(u32) -> bool),
        ("micro run point-read sqlite:x.db?sync=off&journal=wal -s rows=100M", &log),
        ("micro run client-mix sqlite:y.db?sync=off&journal=wal -s phase=update -s queries=1000000000", &log),
    ] {
        let said = interrupted(folder.path(), &command.split(' ').collect::<Vec<_>>(), is_under_way);
        assert!(said.contains("the tables are not all loaded; the next run makes them anew"), "{command}: {said}");
    }
    let again = ["micro", "run", "point-read", "files:x.files", "-s", "rows=50", "-T", "50ms", "--rounds", "1"];
    let again = output(folder.path(), &again);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
}

/// Whether a process, or that of its round, executes a long statement: it has used the processor for a second, of 100 ticks.
fn is_busy(process: u32) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
    let stat = read("stat");
    let numbers = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = numbers.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let started = read(&format!("task/{process}/children"));
    ticks > 100 || started.split_whitespace().any(|it| is_busy(it.parse().expect("a process's number")))
}

/// A statement without end went on after the first interruption, until the second.
#[test]
fn a_long_statement_in_this_process_ends_with_an_interruption() {
    const ENDLESS: &str = "with recursive r(x) as (select 1 union all select x + 1 from r)";
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, setup, operation, check, result) in [
        ("set-up", &*format!("insert into t {ENDLESS} select x from r"), "select 1", "", true),
        ("operation", "select 1", &format!("{ENDLESS} select count(*) from r"), "", false),
        ("check", "select 1", "select 1", &format!("--! check equals 1\n{ENDLESS} select count(*) from r;\n"), false),
    ] {
        let file = format!(
            "--! setup\ncreate table t (a integer);\n--! setup\n{setup};\n--! operation x\n{operation};\n{check}"
        );
        std::fs::write(folder.path().join("x.sql"), file).expect("it can be written");
        let arguments = "micro run sql x.sql sqlite::memory: --for 100ms --warmup 0s --rounds 1 --no-wait";
        let begun = std::cell::Cell::new(None);
        let is_under_way = |process| is_busy(process) && begun.replace(Some(Instant::now())).is_none();
        let said = interrupted(folder.path(), &arguments.split(' ').collect::<Vec<_>>(), &is_under_way);
        let took = begun.get().expect("it was under way").elapsed();
        assert!(took < Duration::from_secs(6), "{name}: {took:?}: {said}");
        assert!(!said.contains("has not returned"), "{name}: {said}");
        assert!(!result || said.contains("interrupted: nothing was measured"), "{name}: {said}");
    }
}

/// A statement went on at a person's server after the command, with its locks, and the code of the command was that of a failure.
#[test]
fn a_long_statement_at_a_persons_server_is_cancelled_with_an_interruption() {
    let test = "interrupted::a_long_statement_at_a_persons_server_is_cancelled_with_an_interruption";
    let memory = if Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    match bourse_engine_postgres::installed(None) {
        Err(why) => bourse_testkit::skipped(&format!("{test} on postgres"), why),
        Ok(_) => {
            let server = bourse_engine_postgres::open(&format!("postgres+private:?{memory}shared_buffers=64MiB"));
            let active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() \
                          AND query LIKE '%sleep(100)%'";
            let target = |folder: &Path| format!("postgres://postgres@localhost/mine?socket={}", folder.display());
            cancels(&server.expect("a target"), target, "insert into t select 1 from pg_sleep(100)", active);
        }
    }
    match bourse_engine_mysql::installed(bourse_engine_mysql::Flavour::Mariadb, None) {
        Err(why) => bourse_testkit::skipped(&format!("{test} on mariadb"), why),
        Ok(_) => {
            let private = format!("mariadb+private:?{memory}innodb_buffer_pool=64MiB&log_file=16MiB");
            let active = "SELECT count(*) FROM information_schema.processlist WHERE id <> connection_id() \
                          AND info LIKE '%sleep(100)%'";
            let target = |folder: &Path| format!("mariadb://root@localhost/mine?socket={}", folder.join("s").display());
            let server = bourse_engine_mysql::open(&private).expect("a target");
            cancels(&server, target, "insert into t select 1 + sleep(100)", active);
        }
    }
}

fn cancels(server: &dyn bourse_engine::Engine, target: impl FnOnce(&Path) -> String, endless: &str, active: &str) {
    use bourse_engine::RowExt as _;
    let mut session = server.session().expect("the server starts");
    let data = server.location().folder().expect("its files are here");
    let target = target(data.parent().expect("its folder"));
    let mut is_active = || {
        let mut count = 0i64;
        let mut note = |row: &dyn bourse_engine::Row| row.get(0).map(|found| count = found);
        session.query_text(active, &[], &mut note).expect("the server tells");
        count > 0
    };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let write = |setup: &str, operation: &str| {
        let file = format!("--! setup\ncreate table t (a integer);\n{setup};\n--! operation x\n{operation};\n");
        std::fs::write(folder.path().join("x.sql"), file).expect("it can be written");
    };
    let run = ["micro", "run", "sql", "x.sql", &target, "-T", "100ms", "--warmup", "0s", "--rounds", "1", "--no-wait"];
    for (setup, operation, words) in
        [(endless, "select 1", "interrupted: nothing was measured"), ("insert into t select 0", endless, "")]
    {
        write(setup, operation);
        let mut command = bourse(folder.path(), &run);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
        wait_for("the statement", || is_active().then_some(()));
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
        let begun = Instant::now();
        let ended = child.wait_with_output().expect("it has ended");
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{target}: {said}");
        assert!(said.contains(words) && begun.elapsed() < Duration::from_secs(20), "{target}: {said}");
        wait_for("its end at the server", || (!is_active()).then_some(()));
        assert!(begun.elapsed() < Duration::from_secs(40), "{target}: it ended by itself");
    }
    write("insert into t select 0", "select 1");
    let again = output(folder.path(), &run);
    assert_eq!(again.status.code(), Some(0), "{target}: {}", text(&again.stderr));
}

/// A second Ctrl-C that came soon after the first was taken for the same.
#[test]
fn a_second_ctrl_c_ends_the_program_at_once() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let endless = "with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r";
    let file = format!("--! setup\ncreate table t (a integer);\n--! operation x\n{endless};\n");
    std::fs::write(folder.path().join("x.sql"), file).expect("it can be written");
    let arguments = "micro run sql x.sql sqlite::memory: --for 100ms --warmup 0s --rounds 1 --no-wait";
    let mut command = bourse(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    wait_for("the statement", || is_busy(child.id()).then_some(()));
    for _ in 0..2 {
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
        std::thread::sleep(Duration::from_millis(100));
    }
    let ended = child.wait_with_output().expect("it has ended");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("ended immediately: "), "{said}");
}

/// An interruption was not heard while a program that was started did not end: a server, or the build of a commit.
#[test]
fn programs_that_are_waited_for_end_with_an_interruption() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let git = |words: &str| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(words.split(' '));
        let ended = command.current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
        assert!(ended.status.success(), "{words}: {}", text(&ended.stderr));
    };
    git("init --quiet");
    git("commit --quiet --allow-empty -m one");
    git("commit --quiet --allow-empty -m two");
    // A private server may run as another user.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("it is ours");
    let (begun, program) = (folder.path().join("begun"), folder.path().join("slow"));
    let is_under_way = |_| begun.exists();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *version*) echo \"Redis server v=7.0.15\";; *) echo > '{}'; exec sleep 1000;; esac\n",
        begun.display()
    );
    std::fs::write(&program, script).expect("it can be written");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
    let shown = program.display().to_string();
    let words = "bisect HEAD~1 HEAD --target sqlite:{tree}/x.db --workload commit --instructions --";
    let said =
        interrupted(folder.path(), &[&words.split(' ').collect::<Vec<_>>()[..], &[&shown]].concat(), &is_under_way);
    assert!(said.contains("interrupted: the result of "), "{said}");
    std::fs::remove_file(&begun).expect("it is there");
    let target = format!("redis+private:?server={shown}");
    let said = interrupted(folder.path(), &["micro", "run", "commit", &target], &is_under_way);
    assert!(said.contains("the private server was not started"), "{said}");
}

#[test]
fn acid_tests_that_are_interrupted_leave_no_process_and_no_copy() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), "sqlite:a.db");
    let arguments = ["tpce", "acid", "sqlite:a.db?sync=off", "--only", "D", "--demand", "process"];
    let child = start(folder.path(), &arguments);
    let copies = || {
        let entries = std::fs::read_dir(folder.path()).expect("the folder is there").flatten();
        entries.map(|entry| entry.path()).find(|path| path.display().to_string().contains("/bourse-crash-"))
    };
    let log = || copies().is_some_and(|copies| size(&copies.join("files/a.db-wal")) > 1 << 20);
    wait_for("the load on the copy", || log().then_some(()));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(copies(), None, "the copy is removed, so its process has ended");
    let run = std::fs::read_dir(folder.path().join("bourse-runs")).expect("a run leaves a folder").next();
    let written = run.expect("there is one").expect("it can be read").path().join("acid.json");
    let written = std::fs::read_to_string(written).expect("it is written");
    assert!(written.contains("\"interrupted\": true"), "{written}");
    assert!(!written.contains("\"failed\""), "a crash that was cut short shows nothing: {written}");
}

/// Each state is recovered by a process of its own engine, which an interruption once waited for.
#[test]
fn enumerated_states_that_are_interrupted_end_within_seconds_with_their_processes() {
    if let Err(why) = bourse_crash::preload::library() {
        return bourse_testkit::skipped("interrupted::enumerated_states", why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["crash", "redb:?durability=immediate", "--only", "states", "--states", "1000000", "--faults", "0"];
    let child = start(folder.path(), &arguments);
    let children = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        let of_task = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
        let ids: Vec<String> = tasks.filter_map(of_task).collect();
        ids.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let looks = |id: &String| {
        std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|command| command.contains("\"Look\""))
    };
    let recovering = wait_for("the recovery of states", || {
        let found: Vec<String> = children().into_iter().filter(looks).collect();
        (!found.is_empty()).then_some(found)
    });
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!recovering.iter().any(looks), "{recovering:?}");
}

#[test]
fn files_of_a_generation_that_is_killed_do_not_look_complete() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let out = folder.path().join("out");
    let mut child = start(folder.path(), &["tpce", "gen", "-o", "out", "-w", "20"]);
    wait_for("a file to be begun", || out.read_dir().ok()?.next().map(drop));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    for entry in out.read_dir().expect("the folder is there") {
        let name = entry.expect("it can be read").file_name().into_string().expect("our names are text");
        assert!(name.starts_with(".bourse-gen-"), "{name} looks complete");
    }
}

/// Sends a signal to a process that was started.
#[cfg(unix)]
fn signals(child: &std::process::Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).expect("it runs");
}

/// Regression: a signal ended a command that looks for none without a word, and with the signal for its exit code.
#[cfg(target_os = "linux")]
#[test]
fn a_removal_that_is_interrupted_ends_with_130_and_is_finished_by_the_next() {
    // Where files need no sync, thousands are soon made.
    let folder = tempfile::tempdir_in("/dev/shm").expect("there is room for a folder");
    let run = "micro run update files:k.files -s rows=20000 --for 100ms --warmup 0s --rounds 1";
    let made = output(folder.path(), &run.split(' ').collect::<Vec<_>>());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let mut command = bourse(folder.path(), &["data", "rm", "files:k.files"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let removed = folder.path().join("k.files.bourse-removed");
    wait_for("the removal", || removed.exists().then_some(()));
    signals(&child, rustix::process::Signal::TERM);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("interrupted: "), "{}", text(&ended.stderr));
    assert!(removed.exists(), "it was interrupted");
    let again = output(folder.path(), &["data", "rm", "files:k.files"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(!removed.exists(), "the next one removes the rest");
}

/// Regression: the first signal did not end the copy that an adoption looks into, and the second one left it, with its lock.
#[cfg(target_os = "linux")]
#[test]
fn an_adoption_that_is_interrupted_leaves_nothing() {
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("it is a folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let count = |path: &Path| match path.is_dir() {
        true => walked(path),
        false => path.metadata().map_or(0, |found| found.len() >> 20),
    };
    for (made, moved, options) in [
        ("sqlite:x.db", "moved.db", "rows=100"),
        // Where files need no sync, thousands are soon made.
        ("files:x.files?sync=off", "moved.files", "rows=20000"),
    ] {
        let folder = tempfile::tempdir_in(if moved.ends_with("db") { "." } else { "/dev/shm" }).expect("there is room");
        let run = ["micro", "run", "update", made, "-s", options, "--count", "20", "--rounds", "1"];
        let ran = output(folder.path(), &run);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        let (scheme, path) = made.split_once(':').expect("it is a target");
        let path = folder.path().join(path.split('?').next().expect("a path"));
        let moved = folder.path().join(moved);
        std::fs::rename(&path, &moved).expect("a test may do so");
        if moved.is_file() {
            // Holes: so large that its copy takes a while.
            let file = std::fs::OpenOptions::new().write(true).open(&moved).expect("it is there");
            file.set_len(4 << 30).expect("a test may do so");
        }
        let before = names(folder.path());
        let target = format!("{scheme}:{}", moved.display());
        for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
            let mut command = bourse(folder.path(), &["data", "adopt", &target]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
            wait_for("the copy", || {
                let all = names(folder.path());
                let work = all.iter().find(|name| name.to_string_lossy().starts_with(".bourse-adopt-"))?;
                (count(&folder.path().join(work).join("copy")) > 50).then_some(())
            });
            signals(&child, signal);
            let ended = child.wait_with_output().expect("it ends");
            assert_eq!(ended.status.code(), Some(130), "{target}: {}", text(&ended.stderr));
            assert!(text(&ended.stderr).contains("interrupted: "), "{}", text(&ended.stderr));
            assert_eq!(names(folder.path()), before, "{target}");
        }
    }
}

/// Number of files below a folder.
#[cfg(target_os = "linux")]
fn walked(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { walked(&entry.path()) } else { 1 }).sum()
}

/// Regression: a run that `nohup` had started was interrupted with its terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_does_not_end_what_was_started_without_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let run = "trap '' HUP; exec \"$0\" micro run update sqlite::memory: --for 2s --warmup 0s --rounds 1";
    let mut command = Command::new("sh");
    command.args(["-c", run, env!("CARGO_BIN_EXE_bourse")]).current_dir(folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    std::thread::sleep(Duration::from_secs(1));
    signals(&child, rustix::process::Signal::HUP);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
}
