//! Private servers whose program every machine has: a shell.
#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")] // elsewhere nothing is known of other processes

use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::private::{
    PrivateServer, ServerFolder, ServerKind, ServerSlot, StartLimit, free_ports, processes, sweep,
};
use bourse_testkit::server::{contents, is_alive, open_folder};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

static KIND: ServerKind = ServerKind {
    prefix: "bourse-shell-",
    folders: &["tmp"],
    socket: "s",
    account: "nobody",
    serves: |process, data| processes::has_argument(process, &format!("--data={}", data.display())),
    after_kill: |data| {
        let _ = fs::remove_file(data.join("../outside"));
    },
};

/// A shell that runs `script` with the path of its folder.
fn shell(folder: &ServerFolder, script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).arg(format!("--data={}", folder.data().display())).current_dir(folder.path());
    command
}

fn started(parent: &Path, script: &str) -> PrivateServer {
    let folder = ServerFolder::make(&KIND, Some(parent), false).unwrap();
    let command = shell(&folder, script);
    PrivateServer::start(folder, command).unwrap()
}

fn soon() -> StartLimit {
    StartLimit::again(Duration::from_secs(20))
}

/// A limit that is over.
fn now() -> StartLimit {
    StartLimit::again(Duration::ZERO)
}

/// Waits until the script has written the file.
fn wait_for(server: &mut PrivateServer, name: &str) -> Result<()> {
    let file = server.folder().path().join(name);
    let silent = || EngineError::new(ErrorKind::ConnectionLost, "nobody answers");
    server.wait_until_it_answers(soon(), || if file.exists() { Ok(()) } else { Err(silent()) })
}

#[test]
fn a_server_is_ended_and_removed_with_its_folder() {
    let parent = open_folder();
    let mut server = started(parent.path(), "touch ready; while :; do sleep 0.05; done");
    wait_for(&mut server, "ready").unwrap();
    let (process, folder) = (server.process_id(), server.folder().path().to_owned());
    assert!(is_alive(process) && folder.join("tmp").is_dir());
    assert_eq!(sweep(&KIND, parent.path()), Vec::<std::path::PathBuf>::new(), "a server in use was swept");
    fs::write(folder.join("outside"), "").unwrap();
    server.kill().unwrap();
    assert!(!is_alive(process) && folder.is_dir() && !folder.join("outside").exists());
    let again = shell(server.folder(), "touch again; while :; do sleep 0.05; done");
    server.start_again(again).unwrap();
    wait_for(&mut server, "again").unwrap();
    assert_ne!(server.process_id(), process);
    drop(server);
    assert!(!folder.exists());
}

#[test]
fn an_end_is_told_with_the_last_words() {
    let parent = open_folder();
    let mut server = started(parent.path(), "for n in 1 2 3 4 5 6; do echo line $n >&2; done; exit 3");
    let lost = wait_for(&mut server, "never").unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost);
    let words = lost.message();
    assert!(words.starts_with("the private server has ended (exit status: 3); its last words:\n  line 2\n"), "{words}");
    let mut silent = started(parent.path(), "while :; do sleep 0.05; done");
    let lost = silent.wait_until_it_answers(now(), || Err::<(), _>(EngineError::unsupported("nobody"))).unwrap_err();
    assert_eq!(lost.message(), "the private server does not answer in time: nobody");
}

#[test]
fn a_data_directory_that_cannot_be_filled_is_told_with_the_reason() {
    let parent = open_folder();
    let folder = ServerFolder::make(&KIND, Some(parent.path()), false).unwrap();
    folder.fill(shell(&folder, "touch data/filled"), soon()).unwrap();
    assert!(folder.data().join("filled").exists());
    let failed = folder.fill(shell(&folder, "echo no room; exit 4"), soon()).unwrap_err();
    let expected = "a new data directory could not be made: exit status: 4; its last words:\n  no room";
    assert_eq!(failed.message(), expected);
    let slow = folder.fill(shell(&folder, "while :; do sleep 0.05; done"), now()).unwrap_err();
    assert!(slow.message().ends_with("it took too long"), "{slow}");
}

/// An interruption that came between two steps of a start ended neither, and a cluster was started for most of a minute.
#[test]
fn an_interruption_ends_a_start_between_its_steps() {
    const INTERRUPTED: &str = "BOURSE_TEST_INTERRUPTED";
    if std::env::var_os(INTERRUPTED).is_none() {
        // An interruption is the whole process's.
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "an_interruption_ends_a_start_between_its_steps"]).env(INTERRUPTED, "1");
        assert!(test.status().unwrap().success());
        return;
    }
    let parent = open_folder();
    let folder = ServerFolder::make(&KIND, Some(parent.path()), false).unwrap();
    let limit = soon();
    folder.fill(shell(&folder, "touch data/filled"), limit).unwrap();
    bourse_engine::server_wait::interrupt();
    let told = limit.renewed().check().unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Interrupted);
    assert_eq!(told.message(), "the private server was not started, and its folder is removed");
    let next = folder.fill(shell(&folder, "touch data/next"), limit).unwrap_err();
    assert!(next.kind() == ErrorKind::Interrupted && !folder.data().join("next").exists(), "{next}");
    assert_eq!(StartLimit::of_new(Duration::ZERO).check().unwrap_err().kind(), ErrorKind::Interrupted);
    // What is put in order after an interruption is not ended by it.
    folder.fill(shell(&folder, "touch data/next"), soon()).unwrap();
    let command = shell(&folder, "while :; do sleep 0.05; done");
    let mut server = PrivateServer::start(folder, command).unwrap();
    assert_eq!(server.wait_until_it_answers(limit, || Ok(())).unwrap_err().kind(), ErrorKind::Interrupted);
    server.wait_until_it_answers(soon(), || Ok(())).unwrap();
}

#[test]
fn what_a_killed_owner_has_left_is_removed() {
    let parent = open_folder();
    let mut server = started(parent.path(), "touch ready; while :; do sleep 0.05; done");
    wait_for(&mut server, "ready").unwrap();
    let folder = server.folder().path().to_owned();
    bourse_testkit::server::abandon(&folder);
    assert_eq!(sweep(&KIND, parent.path()), std::slice::from_ref(&folder));
    assert!(!folder.exists());
    assert_eq!(server.check_alive().unwrap_err().kind(), ErrorKind::ConnectionLost);
}

/// Regression: the server of a killed process ran until the next one was started below the same folder.
#[test]
fn a_killed_owners_server_ends_by_itself() {
    const OWNED: &str = "BOURSE_TEST_OWNED_BELOW";
    if let Some(parent) = std::env::var_os(OWNED) {
        // The owner, a process of its own.
        let mut server = started(Path::new(&parent), "touch ready; while :; do sleep 0.05; done");
        wait_for(&mut server, "ready").unwrap();
        let told = Path::new(&parent).join("new");
        fs::write(&told, server.process_id().to_string()).unwrap();
        fs::rename(told, Path::new(&parent).join("process")).unwrap();
        loop {
            std::thread::park();
        }
    }
    let parent = open_folder();
    let mut owner = Command::new(std::env::current_exe().unwrap());
    owner.args(["--exact", "a_killed_owners_server_ends_by_itself"]).env(OWNED, parent.path());
    let mut owner = owner.stdout(std::process::Stdio::null()).spawn().unwrap();
    let until = soon().until();
    let process: u32 = loop {
        match fs::read_to_string(parent.path().join("process")) {
            Ok(process) => break process.parse().unwrap(),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
        assert!(Instant::now() < until, "no server was started");
    };
    assert!(is_alive(process));
    owner.kill().unwrap();
    owner.wait().unwrap();
    let until = soon().until();
    while is_alive(process) {
        assert!(Instant::now() < until, "the server lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(sweep(&KIND, parent.path()).len(), 1);
}

/// Regression: a folder was removed for its name and a file `owner` in it, whatever the file's content.
#[test]
fn a_folder_of_somebody_else_keeps_all_that_is_in_it() {
    let parent = open_folder();
    let at = |name: &str| parent.path().join(name);
    fs::write(at("diary.txt"), "dear diary").unwrap();
    for name in ["bourse-shell-empty", "bourse-shell-notes", "bourse-shell-link", "bourse-shell-pipe", "data"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("notes.txt"), name).unwrap();
    }
    fs::write(at("bourse-shell-empty/owner"), "").unwrap();
    fs::write(at("bourse-shell-notes/owner"), "it is mine").unwrap();
    std::os::unix::fs::symlink(at("diary.txt"), at("bourse-shell-link/owner")).unwrap();
    let pipe = at("bourse-shell-pipe/owner");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let before = contents(parent.path());
    assert_eq!(before.len(), 15, "{before:?}");

    assert_eq!(sweep(&KIND, parent.path()), Vec::<std::path::PathBuf>::new());
    let mut server = started(parent.path(), "touch ready; while :; do sleep 0.05; done");
    wait_for(&mut server, "ready").unwrap();
    assert_ne!(contents(parent.path()), before, "the server has a folder of its own there");
    drop(server);
    assert_eq!(contents(parent.path()), before);
}

#[test]
fn a_slot_starts_one_server_and_tells_its_end() {
    let parent = open_folder();
    let slot = ServerSlot::default();
    assert!(!slot.is_started());
    assert_eq!(slot.with(|server, _| server.kill()).unwrap_err().kind(), ErrorKind::Unsupported);
    let start = || {
        let mut server = started(parent.path(), "touch ready; while :; do sleep 0.05; done");
        wait_for(&mut server, "ready")?;
        Ok((server, "how to reach it"))
    };
    assert_eq!(slot.connector(start).unwrap(), "how to reach it");
    let again = slot.connector(|| unreachable!("it runs")).unwrap();
    assert_eq!(again, "how to reach it");
    let lost = || Err::<(), _>(EngineError::new(ErrorKind::ConnectionLost, "refused"));
    assert_eq!(slot.explained(lost()).unwrap_err().message(), "refused", "it runs");
    slot.with(|server, _| server.kill()).unwrap();
    let told = slot.explained(lost()).unwrap_err();
    assert!(told.message().contains("has ended (signal: 9"), "{told}");
    assert!(slot.connector(|| unreachable!("it was started")).is_err());
}

#[test]
fn ports_are_different_and_free() {
    let ports = free_ports(8).unwrap();
    assert_eq!(ports.len(), 8);
    for (at, port) in ports.iter().enumerate() {
        assert!(*port > 0 && !ports[..at].contains(port), "{ports:?}");
    }
}
