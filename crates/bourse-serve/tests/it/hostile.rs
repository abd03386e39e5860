//! Peers that are unauthenticated, slow, or send garbage: each is refused, and the others never notice.

use crate::world::{Database, Served, assert_sound, call, call_with, options, plain, serve, terms};
use bourse_driver::RealClock;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::Sut;
use bourse_serve::protocol::codec::{self, GREETING_BYTES, HEADER};
use bourse_serve::protocol::{Admission, Greeting, Hello, PROTOCOL, Purpose, TokenFault};
use bourse_serve::{Address, ServeError, Server, ServerOptions, Token};
use bourse_tpce::check::reconciliation::VOLUME;
use bourse_tpce::workload::Tpce;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::{Duration, Instant};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Reads one frame.
fn hear<M: DeserializeOwned>(stream: &mut impl Read) -> M {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).expect("a header comes");
    let mut bytes = vec![0; codec::length(header, 1 << 20).expect("a sane length")];
    stream.read_exact(&mut bytes).expect("a message comes");
    codec::message(&bytes).expect("a message of ours")
}

fn say(stream: &mut impl Write, message: &impl serde::Serialize) {
    let mut frame = Vec::new();
    codec::frame(message, GREETING_BYTES, &mut frame).expect("a small message");
    stream.write_all(&frame).expect("is taken");
}

fn hello(purpose: Purpose) -> Hello {
    Hello { protocol: PROTOCOL, program: "1.2.3".to_owned(), proof: None, purpose }
}

/// Waits until the server has closed the connection.
fn closed(stream: &mut TcpStream) {
    let begun = Instant::now();
    let mut rest = Vec::new();
    // A reset is an end too.
    let _ = stream.read_to_end(&mut rest);
    assert!(begun.elapsed() < Duration::from_secs(19), "the server keeps the connection");
}

/// Checks that the server still serves a whole round.
fn assert_well(address: &Address) {
    let remote = call(address);
    remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
    assert_sound(&remote.close(&Ledger::default()).expect("closes").checks);
}

fn assert_refused_for(served: &Served, words: &str) {
    let found = served.events.iter().any(|event| event.contains("refused ") && event.contains(words));
    assert!(found, "nobody was refused for {words:?}: {:#?}", served.events);
}

#[test]
fn bytes_that_are_no_messages_end_their_own_connection() {
    let database = Database::new("garbage.db");
    let served = serve(&database.engine, options(), |address| {
        // Before it is admitted: noise, a request of the web, a message of four gibibytes, none of whose bytes follow.
        for noise in [&[0xa5_u8; 3_000][..], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", &[0xff; 4]] {
            let mut stream = plain(address);
            let greeting: Greeting = hear(&mut stream);
            assert_eq!(greeting.program, "1.2.3");
            stream.write_all(noise).expect("is taken");
            closed(&mut stream);
        }
        // Once as a driver, and once as a driver's user.
        let mut driver = plain(address);
        let _: Greeting = hear(&mut driver);
        say(&mut driver, &hello(Purpose::Driver));
        let Admission::Driver(welcome) = hear(&mut driver) else { panic!("a driver is welcome") };
        let mut user = plain(address);
        let _: Greeting = hear(&mut user);
        say(&mut user, &hello(Purpose::User { driver: welcome.driver }));
        assert_eq!(hear::<Admission>(&mut user), Admission::User);
        user.write_all(&[3, 0, 0, 0, 0xff, 0xff, 0xff]).expect("is taken");
        closed(&mut user);
        driver.write_all(&[200, 0, 1, 0]).expect("is taken");
        closed(&mut driver);
        assert_well(address);
    });
    assert_refused_for(&served, "a frame of 4294967295 bytes was announced, the limit is 1024");
    assert_refused_for(&served, "a frame of 65736 bytes was announced, the limit is 16384");
    assert_refused_for(&served, "3 bytes that are not the expected message");
}

#[test]
fn peers_that_are_slow_or_silent_are_not_waited_for() {
    let database = Database::new("slow.db");
    let served = serve(&database.engine, options(), |address| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let begun = Instant::now();
                let mut silent = plain(address);
                let _: Greeting = hear(&mut silent);
                closed(&mut silent);
                assert!(begun.elapsed() >= Duration::from_secs(5), "{:?}", begun.elapsed());
            });
            scope.spawn(|| {
                let mut trickles = plain(address);
                let _: Greeting = hear(&mut trickles);
                let begun = Instant::now();
                // A byte every 200 ms of a message of 200: a time-out between bytes alone would wait for forty seconds.
                let message = [[200, 0, 0, 0].as_slice(), &[0; 200]].concat();
                for byte in message {
                    if trickles.write_all(&[byte]).is_err() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
                assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
            });
            // Others are served meanwhile.
            assert_well(address);
        });
    });
    assert_refused_for(&served, "nothing was heard for 5 s");
    assert_refused_for(&served, "a message was not whole 5 s after its first byte");
}

/// Number of connections refused for that reason.
fn refused_for(served: &Served, words: &str) -> usize {
    served.events.iter().filter(|event| event.contains(words)).count()
}

/// Regression test: silent connections excluded all others for five seconds, again and again.
#[test]
fn silent_outsiders_leave_for_a_driver_that_says_who_it_is() {
    const HELD: usize = 40;
    const DRIVERS: usize = 12;
    let database = Database::new("silent.db");
    let served = serve(&database.engine, options(), |address| {
        let outsiders: Vec<_> = (0..HELD).map(|_| plain(address)).collect();
        let drivers: Vec<_> = (0..DRIVERS).map(|_| call(address)).collect();
        assert_eq!(drivers.len(), DRIVERS, "each was let in at its first try");
        assert_well(address);
        drop(outsiders);
    });
    // One is closed for each that comes when 32 are there; an admitted driver leaves its place free for the next.
    let closed = refused_for(&served, "closed for a new connection");
    assert!((HELD - 32..=HELD - 32 + DRIVERS + 1).contains(&closed), "{closed} of {HELD}: {:#?}", served.events);
}

/// Unauthenticated clients that reconnect as soon as they are closed, while drivers connect one after the other.
#[test]
fn outsiders_that_come_back_keep_no_driver_out() {
    const STRANGERS: usize = 48;
    const DRIVERS: usize = 6;
    let database = Database::new("back.db");
    let (stop, connected) = (AtomicBool::new(false), AtomicUsize::new(0));
    let served = serve(&database.engine, options(), |address| {
        std::thread::scope(|scope| {
            for _ in 0..STRANGERS {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        let mut stream = plain(address);
                        connected.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a time-out");
                        let mut bytes = [0; 256];
                        // Whatever it hears it does not answer; it stays until it is closed.
                        loop {
                            match stream.read(&mut bytes) {
                                Ok(0) => break,
                                Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => break,
                                _ if stop.load(std::sync::atomic::Ordering::Relaxed) => break,
                                _ => {}
                            }
                        }
                    }
                });
            }
            // Connections are accepted in their order: each driver comes after at least this many.
            let all = || connected.load(std::sync::atomic::Ordering::Relaxed) >= STRANGERS;
            crate::world::wait_for("every stranger's first connection", all);
            let let_in = (0..DRIVERS).filter(|_| call_with(address, None).is_ok()).count();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(let_in, DRIVERS, "each was let in at its first try");
        });
    });
    let closed = refused_for(&served, "closed for a new connection");
    assert!(closed >= STRANGERS - 32, "{closed} left for others");
}

#[test]
fn only_so_many_connections_are_let_in() {
    let database = Database::new("many.db");
    let options = ServerOptions { connections: 40, ..options() };
    let served = serve(&database.engine, options, |address| {
        let drivers: Vec<_> = (0..60).map_while(|_| call_with(address, None).ok()).collect();
        assert_eq!(drivers.len(), 40);
        drop(drivers);
        crate::world::wait_for("the drivers to be gone", || call_with(address, None).is_ok());
        assert_well(address);
    });
    assert_refused_for(&served, "40 connections are open, the limit");
}

/// Regression test: 512 idle drivers excluded all others for good.
#[test]
fn admitted_drivers_that_do_nothing_are_closed() {
    let database = Database::new("idle.db");
    let options = ServerOptions { connections: 5, idle: Duration::from_secs(1), ..options() };
    let served = serve(&database.engine, options, |address| {
        let honest = call(address);
        let mut idle: Vec<_> = (0..4)
            .map(|_| {
                let mut driver = plain(address);
                let _: Greeting = hear(&mut driver);
                say(&mut driver, &hello(Purpose::Driver));
                assert!(matches!(hear(&mut driver), Admission::Driver(_)));
                driver
            })
            .collect();
        assert!(call_with(address, None).is_err(), "every place is taken");
        for driver in &mut idle {
            closed(driver);
        }
        // Their places are free; a driver that sends signs of life has its own.
        crate::world::wait_for("a place", || call_with(address, None).is_ok());
        honest.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("it is still there");
        assert_sound(&honest.close(&Ledger::default()).expect("closes").checks);
    });
    assert_eq!(refused_for(&served, "nothing was received for 1 s"), 4, "{:#?}", served.events);
}

/// Regression test: the sum of such counts overflowed, which ended the thread that runs the checks.
#[test]
fn counts_that_no_round_can_have_fail_the_checks_and_nothing_else() {
    let database = Database::new("counts.db");
    serve(&database.engine, options(), |address| {
        let remote = call(address);
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        let mut told = Ledger::default();
        for at in 0..=VOLUME {
            told.add(at, i128::MAX);
            told.doubt(at, i128::MAX);
        }
        let checks = remote.close(&told).expect("closes").checks;
        assert_eq!(checks[0].name, "answers to driver 1/1");
        assert_eq!(checks[0].status, bourse_record::CheckStatus::Failed, "{}", checks[0].evidence);
        drop(remote);
        assert_well(address);
    });
}

#[test]
fn a_token_keeps_outsiders_out_and_is_told_to_nobody() {
    let database = Database::new("token.db");
    let token = Token::new("a secret of ours", "a test").expect("a token");
    let options = ServerOptions { token: Some(token), ..options() };
    let served = serve(&database.engine, options, |address| {
        let refused = |token| call_with(address, token).expect_err("is refused").to_string();
        assert_eq!(refused(Some("a guess of theirs")), "the server refused: wrong token");
        assert_eq!(refused(None), "the server refused: a token is required, and none was sent");
        let mut without = plain(address);
        let greeting: Greeting = hear(&mut without);
        assert!(greeting.token);
        say(&mut without, &hello(Purpose::Driver));
        assert_eq!(hear::<Admission>(&mut without), Admission::Unauthenticated(TokenFault::Missing));
        let let_in = call_with(address, Some("a secret of ours")).expect("knows it");
        let shown = format!("{let_in:?} {:?}", bourse_engine::Engine::description(&let_in).expect("describes itself"));
        assert!(!shown.contains("secret of ours"), "{shown}");
    });
    assert_refused_for(&served, "wrong token");
}

#[test]
fn other_versions_and_other_drivers_users_are_refused() {
    let database = Database::new("version.db");
    let served = serve(&database.engine, options(), |address| {
        let mut old = plain(address);
        let _: Greeting = hear(&mut old);
        say(&mut old, &Hello { protocol: PROTOCOL + 1, ..hello(Purpose::Driver) });
        let Admission::Refused(why) = hear(&mut old) else { panic!("is refused") };
        assert!(why.contains(&format!("protocol {}, the server speaks protocol {PROTOCOL}", PROTOCOL + 1)), "{why}");
        let mut nobodys = plain(address);
        let _: Greeting = hear(&mut nobodys);
        say(&mut nobodys, &hello(Purpose::User { driver: 1 }));
        assert!(matches!(hear(&mut nobodys), Admission::Refused(_)));
    });
    assert_refused_for(&served, "unknown driver number");
}

#[test]
fn who_listens_where_others_can_come_in_needs_a_token() {
    let everywhere: std::net::SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let everywhere = ServerOptions::new(everywhere, "1.2.3");
    let refused = Server::bind(everywhere.clone()).expect_err("has no token");
    assert!(matches!(refused, ServeError::TokenNeeded { .. }), "{refused}");
    let token = Token::new("a secret of ours", "a test").ok();
    Server::bind(ServerOptions { token, ..everywhere }).expect("has one");
}

#[test]
fn what_is_no_server_of_ours_is_told_from_one() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let address: Address = format!("bourse://{}", listener.local_addr().expect("an address")).parse().expect("a URL");
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody comes");
        stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").expect("is taken");
    });
    let error = call_with(&address, None).expect_err("is no server");
    assert!(matches!(error, ServeError::NotAServer { .. }), "{error}");
    other.join().expect("ends");
    let error = call_with(&address, None).expect_err("nobody is there any more");
    assert!(error.to_string().starts_with(&format!("no server answers at {address}")), "{error}");
}
