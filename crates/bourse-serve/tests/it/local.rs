//! A server on a Unix socket: a round from beginning to end, and access control.
#![cfg(target_os = "linux")]

use crate::world::{Database, assert_sound, call, local_options, serve, terms};
use bourse_driver::RealClock;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::Sut;
use bourse_serve::protocol::codec::{self, HEADER};
use bourse_serve::protocol::{Admission, Greeting, Hello, PROTOCOL, Purpose};
use bourse_serve::{Address, Server};
use bourse_tpce::workload::Tpce;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn hear<M: serde::de::DeserializeOwned>(stream: &mut UnixStream) -> M {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).expect("a header comes");
    let mut bytes = vec![0; codec::length(header, 1 << 20).expect("a sane length")];
    stream.read_exact(&mut bytes).expect("a message comes");
    codec::message(&bytes).expect("a message of ours")
}

/// Requests admission, and returns the answer.
fn ask(path: &Path) -> Admission {
    let mut stream = UnixStream::connect(path).expect("connects");
    let _: Greeting = hear(&mut stream);
    let hello = Hello { protocol: PROTOCOL, program: "1.2.3".to_owned(), proof: None, purpose: Purpose::Driver };
    let mut frame = Vec::new();
    codec::frame(&hello, 1_024, &mut frame).expect("a small message");
    stream.write_all(&frame).expect("is taken");
    hear(&mut stream)
}

#[test]
fn a_round_over_a_socket_of_this_machine() {
    let database = Database::new("local.db");
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("s");
    let served = serve(&database.engine, local_options(&path), |address| {
        assert_eq!(address, &Address::Unix { path: path.clone() });
        assert_eq!(path.symlink_metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        let refused = Server::bind(local_options(&path)).expect_err("one listens already").to_string();
        assert!(refused.ends_with("a server listens there already"), "{refused}");
        let remote = call(address);
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        drop(remote.sut::<Tpce>().connector().expect("a user is let in"));
        assert_sound(&remote.close(&Ledger::default()).expect("closes").checks);
    });
    assert!(!path.exists(), "the file goes with the server");
    let joined = format!("joined from process {} of user ", std::process::id());
    assert!(served.events.iter().any(|event| event.contains(&joined)), "{:#?}", served.events);
}

/// Access control by the kernel's identification of the peer, if the file's mode does not keep another user out.
#[test]
fn another_user_is_refused() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        bourse_testkit::skipped("local::another_user_is_refused", "only root can become another user");
        return;
    }
    let database = Database::new("another.db");
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("s");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let served = serve(&database.engine, local_options(&path), |_| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("it is ours");
        assert!(matches!(ask(&path), Admission::Driver(_)), "who has made it is let in");
        let other = std::thread::scope(|scope| {
            let become_another = || {
                let nobody = rustix::process::Uid::from_raw(NOBODY);
                // Changes this thread only, which ends afterwards.
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
                ask(&path)
            };
            scope.spawn(become_another).join().expect("does not panic")
        });
        let words = "user 65534 is not admitted: the server runs as user 0".to_owned();
        assert_eq!(other, Admission::Refused(words));
    });
    assert!(
        served.events.iter().any(|event| event.starts_with("refused ") && event.contains("of user 65534: ")),
        "{:#?}",
        served.events
    );
}
