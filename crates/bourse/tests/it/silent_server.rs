//! Servers that accept connections and send nothing, or garbage. Each command once waited for an hour, and reacted only to
//! the second signal.

use crate::{bourse, text};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Commands with the target in place of `T`, and the begin of the message of an interrupted one.
const COMMANDS: &[&str] = &[
    "tpce run T --days 1 --for 1s --warmup 0s",
    "tpce load T --days 1",
    "tpce check T",
    "tpce acid T",
    "micro run update T -s rows=100 --count 10 --warmup 0s --rounds 1",
];

/// Serves each connection in a thread of its own, as long as the test runs; returns the port.
fn server(serve: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || serve(connection));
        }
    });
    port
}

/// Hears all and says nothing.
fn silent(mut connection: TcpStream) {
    let _ = std::io::copy(&mut connection, &mut std::io::sink());
}

fn started(folder: &Path, command: &str, target: &str, limit: &str) -> Child {
    let arguments: Vec<&str> = command.split(' ').map(|word| if word == "T" { target } else { word }).collect();
    let mut command = bourse(folder, &arguments);
    command.args(["--connect-limit", limit]).env("HOME", folder).env_remove("PGPASSWORD");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started")
}

/// Exit code of a program that was signalled: 130, also if the signal ended it before it listened to any; `None` if it had
/// to be killed after a minute.
fn ended(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        match child.try_wait().expect("it is ours") {
            Some(status) => return status.code().or_else(|| (status.signal() == Some(15)).then_some(130)),
            None if begun.elapsed() > Duration::from_secs(60) => {
                child.kill().expect("it is ours");
                child.wait().expect("it is ours");
                return None;
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn terminate(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
}

/// The lines of its stderr, up to one with those words.
fn heard(child: &mut Child, words: &str) -> (BufReader<std::process::ChildStderr>, String) {
    let mut said = BufReader::new(child.stderr.take().expect("it was asked for"));
    let mut all = String::new();
    while !all.contains(words) {
        let read = said.read_line(&mut all).expect("it says UTF-8");
        assert!(read > 0, "it ended without a word of {words:?}: {all}");
    }
    (said, all)
}

#[test]
fn the_first_signal_ends_a_wait_for_a_connection() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let port = server(silent);
    let mut all = Vec::new();
    for engine in ["postgres", "mysql"] {
        for command in COMMANDS {
            let target = format!("{engine}://x@127.0.0.1:{port}/db");
            all.push((format!("{command} on {engine}"), started(folder.path(), command, &target, "1h")));
        }
    }
    all.push((
        "tpce run bourse".to_owned(),
        started(folder.path(), COMMANDS[0], &format!("bourse://127.0.0.1:{port}"), "1h"),
    ));
    for (name, mut child) in all {
        let (mut said, mut words) = heard(&mut child, "waiting for the server at ");
        terminate(&child);
        assert_eq!(ended(&mut child), Some(130), "{name}");
        said.read_to_string(&mut words).expect("it says UTF-8");
        assert!(!words.contains("internal error"), "{name}: {words}");
    }
}

#[test]
fn a_server_that_lets_nobody_in_is_lost_at_the_limit() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let port = server(silent);
    for (target, command) in
        [("postgres://x@S/db", COMMANDS[1]), ("mysql://x@S/db", COMMANDS[1]), ("bourse://S", COMMANDS[0])]
    {
        let target = target.replace('S', &format!("127.0.0.1:{port}"));
        let mut child = started(folder.path(), command, &target, "500ms");
        assert_eq!(ended(&mut child), Some(2), "{target}");
        let said = text(&child.wait_with_output().expect("it has ended").stderr);
        assert!(said.contains("has not let a session in within 0.5 s (--connect-limit)"), "{target}: {said}");
    }
}

/// A plan asked a server for its dialect, and waited as long as the command itself.
#[test]
fn a_silent_server_is_waited_for_once() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let port = server(|connection| {
        ASKED.fetch_add(1, Ordering::Relaxed);
        silent(connection);
    });
    let mut child = started(folder.path(), COMMANDS[4], &format!("mysql://x@127.0.0.1:{port}/db"), "500ms");
    assert_eq!((ended(&mut child), ASKED.load(Ordering::Relaxed)), (Some(2), 1));
}

#[test]
fn a_server_that_agrees_to_everything_is_told_in_plain_words() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let port = server(|connection| mysql(connection, usize::MAX - 1, &[]));
    let target = format!("mysql://x@127.0.0.1:{port}/db");
    let ended = started(folder.path(), COMMANDS[1], &target, "5s").wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("what answers is no MySQL server") && !said.contains("DriverError"), "{said}");
}

/// A message of PostgreSQL's protocol.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("it is short").to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// Lets a session in like PostgreSQL, and answers its first statement; then sends `after`.
fn postgres(mut connection: TcpStream, after: &[u8]) {
    let mut bytes = [0; 4_096];
    let ready = message(b'Z', b"I");
    let answers =
        [[message(b'R', &[0; 4]), ready.clone()].concat(), [message(b'C', b"SET\0"), ready].concat(), after.to_vec()];
    for answer in answers {
        if !matches!(connection.read(&mut bytes), Ok(1..)) || connection.write_all(&answer).is_err() {
            return;
        }
    }
    silent(connection);
}

/// Answers like an empty database `db` behind a pooler: a setting of one session is that of the next one too. Others the pooler may
/// not know; the account then may make some.
fn shared_session(mut connection: TcpStream, knows_others: bool) {
    let mut bytes = [0; 4_096];
    let column = [&[0, 1][..], b"x\0", &[0; 6], &[0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]].concat();
    let row = message(b'D', &[&[0, 1, 0, 0, 0, 3][..], b"one"].concat());
    let mut is_started = false;
    while let Ok(read @ 1..) = connection.read(&mut bytes) {
        let contains = |text: &[u8]| bytes[..read].windows(text.len()).any(|part| part == text);
        if !is_started && !knows_others && !contains(b"\0database\0db\0") {
            let unknown = b"SFATAL\0C08P01\0Mno such database\0\0";
            let _ = connection.write_all(&message(b'E', unknown));
            return;
        }
        let is_asked = contains(b"('bourse.session") || (!knows_others && contains(b"rolcreatedb"));
        let rows = [message(b'T', &column), if is_asked { row.clone() } else { Vec::new() }].concat();
        let begin = if is_started { [rows, message(b'C', b"SELECT 1\0")].concat() } else { message(b'R', &[0; 4]) };
        if connection.write_all(&[begin, message(b'Z', b"I")].concat()).is_err() {
            return;
        }
        is_started = true;
    }
}

/// The tables were made, the lock outlived the command, and the next one was refused.
#[test]
fn a_pooler_that_shares_sessions_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let knows_others = server(|connection| shared_session(connection, true));
    let knows_one = server(|connection| shared_session(connection, false));
    for (command, port) in COMMANDS[..2].iter().flat_map(|command| [(command, knows_others), (command, knows_one)]) {
        let child = started(folder.path(), command, &format!("postgres://x@127.0.0.1:{port}/db"), "5s");
        let output = child.wait_with_output().expect("it ends");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("PgBouncer needs pool_mode = session"), "{said}");
    }
}

/// A packet of MySQL's protocol.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(body.len()).expect("it is short").to_le_bytes();
    [&[a, b, c, number][..], body].concat()
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// Lets a session in like MySQL, and answers its first `statements` statements; then sends `after`.
fn mysql(mut connection: TcpStream, statements: usize, after: &[u8]) {
    let mut bytes = [0; 4_096];
    let greeting = [
        &b"\x0a8.0.0\0\x01\0\0\0abcdefgh\0"[..],
        // Capabilities, character set, status.
        &[0xff, 0xf7, 45, 2, 0, 0x0f, 0x00, 21],
        &[0; 10],
        b"ijklmnopqrst\0mysql_native_password\0",
    ]
    .concat();
    if connection.write_all(&packet(0, &greeting)).is_err() {
        return;
    }
    for at in 0..=statements + 1 {
        if !matches!(connection.read(&mut bytes), Ok(1..)) {
            return;
        }
        let answer = match at {
            0 => packet(2, OK),
            at if at <= statements => packet(1, OK),
            _ => after.to_vec(),
        };
        if connection.write_all(&answer).is_err() {
            return;
        }
    }
    silent(connection);
}

/// The server lets a session in, and never answers its first query.
#[test]
fn the_first_signal_ends_a_wait_for_an_answer() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let servers = [
        ("postgres", server(|connection| postgres(connection, &[]))),
        ("mysql", server(|connection| mysql(connection, 0, &[]))),
    ];
    for (engine, port) in servers {
        let all: Vec<_> = COMMANDS
            .iter()
            .map(|command| {
                (command, started(folder.path(), command, &format!("{engine}://x@127.0.0.1:{port}/db"), "1h"))
            })
            .collect();
        // No output shows that they wait: a program that is interrupted earlier must end all the same.
        thread::sleep(Duration::from_secs(3));
        all.iter().for_each(|(_, child)| terminate(child));
        for (command, mut child) in all {
            let code = ended(&mut child);
            let said = text(&child.wait_with_output().expect("it has ended").stderr);
            assert_eq!(code, Some(130), "{command} on {engine}: {said}");
        }
    }
}

/// A server may announce any length: once a panic of the client.
#[test]
fn a_server_that_announces_too_much_is_told_in_a_line() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // A number of columns of 64 bits; a row of a gigabyte and a half; a message longer than any.
    const COLUMNS: &[u8] = &[9, 0, 0, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let servers = [
        ("mysql", server(|connection| mysql(connection, 2, COLUMNS))),
        ("mysql", server(|connection| mysql(connection, 3, COLUMNS))),
        ("postgres", server(|connection| postgres(connection, b"D\x7f\xff\xff\xff"))),
        ("postgres", server(|connection| postgres(connection, b"T\x40\x00\x00\x00\xff\xff"))),
    ];
    for (engine, port) in servers {
        for command in COMMANDS {
            let mut child = started(folder.path(), command, &format!("{engine}://x@127.0.0.1:{port}/db"), "2s");
            thread::sleep(Duration::from_secs(1));
            // One that waits for the rest of what was announced is interrupted.
            if child.try_wait().expect("it is ours").is_none() {
                terminate(&child);
            }
            let code = ended(&mut child);
            let said = text(&child.wait_with_output().expect("it has ended").stderr);
            assert!(matches!(code, Some(2 | 130)), "{command} on {engine}: {code:?} {said}");
            assert!(!said.contains("internal error") && !said.contains("panicked"), "{command} on {engine}: {said}");
        }
    }
}

/// A statement without an end, of a person's own file, within the limit of calls: SQLite can be interrupted.
#[test]
fn the_first_signal_ends_a_statement_that_never_ends() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let endless = "--! operation endless\nWITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;\n";
    std::fs::write(folder.path().join("endless.sql"), endless).expect("the folder is ours");
    let command = "micro run sql endless.sql T -T 200ms --warmup 0s --rounds 1 --call-limit 1h";
    let mut child = started(folder.path(), command, "sqlite:x.db", "10s");
    thread::sleep(Duration::from_secs(3));
    terminate(&child);
    let code = ended(&mut child);
    let said = text(&child.wait_with_output().expect("it has ended").stderr);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted: what was measured until then is reported"), "{said}");
}
