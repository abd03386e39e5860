//! A server on a database of one load unit and one day.

use bourse_driver::{Clock, RealClock, RetryPolicy};
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::{Share, SharedWorkload, Terms};
use bourse_record::{Check, CheckStatus};
use bourse_serve::server::{Event, Offer, ServerEnd};
use bourse_serve::{Address, Listen, Remote, ServeError, Server, ServerOptions, Token};
use bourse_tpce::load::{Constraints, LoadOptions, fingerprint, load};
use bourse_tpce::workload::{Tpce, size_of};
use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

pub(crate) fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(Inputs::builtin)
}

pub(crate) fn part() -> Part {
    Part::whole(1_000, 1).expect("a valid part")
}

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn engine(name: &str) -> SqliteEngine {
    open(&format!("sqlite:{}?sync=off", path(name).display())).expect("a valid target")
}

/// Freshly loaded database, one per test, removed in the end.
pub(crate) struct Database {
    pub(crate) engine: SqliteEngine,
    name: String,
}

impl Database {
    /// Copy of the loaded database, with a unique name even if two tests use the same one.
    pub(crate) fn new(name: &str) -> Self {
        static LOADED: OnceLock<()> = OnceLock::new();
        static MADE: AtomicU64 = AtomicU64::new(0);
        LOADED.get_or_init(|| {
            // One that an earlier build has left may be of a form that is no longer replaced.
            remove("fresh.db");
            let report =
                load(
                    &engine("fresh.db"),
                    inputs(),
                    part(),
                    &LoadOptions::default(),
                    &mut |_| ControlFlow::Continue(()),
                );
            assert_eq!(report.expect("loads").rows.len(), 33);
        });
        let name = format!("{}-{name}", MADE.fetch_add(1, Ordering::Relaxed));
        remove(&name);
        std::fs::copy(path("fresh.db"), path(&name)).expect("copies");
        let engine = engine(&name);
        engine.location().database_files().expect("a file").mark().expect("it can be marked");
        Self { engine, name }
    }

    /// Opens the same database once more.
    pub(crate) fn again(&self) -> SqliteEngine {
        engine(&self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

pub(crate) fn remove(name: &str) {
    for suffix in ["", "-wal", "-shm", "-journal", ".bourse-mark"] {
        let _ = std::fs::remove_file(path(&format!("{name}{suffix}")));
    }
}

/// Options of a server on a Unix socket.
pub(crate) fn local_options(path: &Path) -> ServerOptions {
    ServerOptions { listen: Listen::Unix(path.to_owned()), ..options() }
}

pub(crate) fn options() -> ServerOptions {
    let here: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    ServerOptions { gather: Duration::from_secs(20), ..ServerOptions::new(here, "1.2.3") }
}

/// Result of a server that has ended, with its events.
pub(crate) struct Served {
    pub(crate) ended: ServerEnd,
    pub(crate) events: Vec<String>,
}

/// Runs `body` while a server serves; ends the server afterwards, even if the body fails.
pub(crate) fn serve(engine: &dyn Engine, options: ServerOptions, body: impl FnOnce(&Address)) -> Served {
    serve_by(&RealClock::start(), engine, options, body)
}

pub(crate) fn serve_by(
    clock: &dyn Clock,
    engine: &dyn Engine,
    options: ServerOptions,
    body: impl FnOnce(&Address),
) -> Served {
    let fingerprint = fingerprint(engine, inputs(), part(), Constraints::Full).unwrap();
    serve_workload::<Tpce>(clock, engine, &fingerprint, options, body)
}

/// Runs `body` while a server serves a database of any workload.
pub(crate) fn serve_workload<W: SharedWorkload>(
    clock: &dyn Clock,
    engine: &dyn Engine,
    fingerprint: &Fingerprint,
    options: ServerOptions,
    body: impl FnOnce(&Address),
) -> Served {
    struct Stop<'s>(&'s AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let server = Server::bind(options).expect("listens");
    let address: Address = server.address().to_string().parse().expect("a server's own address");
    let (stop, events) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let offer = Offer { engine, fingerprint, history: "a fresh database" };
            let tell = |event: Event| events.lock().expect("nobody panics with it").push(event.to_string());
            server.run::<W>(offer, clock, &stop, &tell)
        });
        let stopping = Stop(&stop);
        body(&address);
        drop(stopping);
        running.join().expect("the server does not panic").expect("the engine describes itself")
    });
    Served { ended, events: events.into_inner().expect("nobody panicked with it") }
}

pub(crate) fn call(address: &Address) -> Remote {
    call_with(address, None).expect("is let in")
}

pub(crate) fn call_with(address: &Address, token: Option<&str>) -> Result<Remote, ServeError> {
    let token = token.map(|text| Token::new(text, "a test").expect("a token"));
    Remote::call(&Tpce, address.clone(), token, "1.2.3", |_| {})
}

pub(crate) fn terms(number: u32, of: u32) -> Terms {
    let share = Share::new(number, of).expect("a driver");
    Terms {
        size: size_of(part()),
        share,
        warm_up_ns: 0,
        measure_ns: 1_000_000_000,
        retry: RetryPolicy::default(),
        sessions: 4,
    }
}

pub(crate) fn plain(address: &Address) -> TcpStream {
    let Address::Tcp { host, port } = address else { panic!("{address} is no port") };
    let stream = TcpStream::connect((host.as_str(), *port)).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream
}

pub(crate) fn assert_sound(checks: &[Check]) {
    let failed: Vec<_> = checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(checks.len() > 60, "{} checks", checks.len());
}

/// Waits until `done`, for a minute at most.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
