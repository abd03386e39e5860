//! A proxy in front of a real server, which makes faults at chosen moments: answers are the server's own, or do not come.
//!
//! It listens on the loopback address and reaches the server by its Unix socket. What a client sends is cut into its messages.
//! At a moment that a rule names, the connection ends before the server sees the message or before the client sees the
//! answer, or the server is asked to raise an error instead. Each rule is bounded in how often it acts.

mod mysql;
mod postgres;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The protocol that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's.
    Mysql,
}

/// When a fault can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A client connects.
    Connect,
    /// A transaction begins.
    Begin,
    /// A prepared statement runs.
    Statement,
    /// A transaction is committed.
    Commit,
    /// A session of MySQL's asks for serializable transactions.
    Serializable,
    /// A session of MySQL's sends several statements in one text.
    SeveralStatements,
    /// A session of MySQL's begins a transaction that reads only.
    ReadOnly,
}

/// What is done then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The connection ends, and the server has not seen the message.
    CutBefore,
    /// The server does what it is asked for, and the connection ends before its answer.
    CutAfter,
    /// The server raises an error with that code instead.
    Raise {
        /// SQLSTATE, or the number of an error of MySQL's.
        code: &'static str,
        /// Its words.
        message: &'static str,
    },
}

/// A fault that is made at every so many moments of a kind, and not more often than `most`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// When.
    pub moment: Moment,
    /// At each such number of those moments.
    pub every: u64,
    /// The most times that it is made.
    pub most: u64,
    /// What is done.
    pub act: Act,
}

/// A running proxy; its connections end when it is dropped.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    speaks: Speaks,
    server: PathBuf,
    rules: Vec<(Rule, AtomicU64)>,
    /// Moments of each kind until now.
    seen: [AtomicU64; 7],
    ends: AtomicBool,
    is_down: AtomicBool,
    open: Mutex<Vec<Pair>>,
}

/// The two sides of a connection.
struct Pair {
    client: TcpStream,
    server: UnixStream,
}

impl Pair {
    fn end(&self) {
        // Either side may have ended already.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    fn again(&self) -> io::Result<Self> {
        Ok(Self { client: self.client.try_clone()?, server: self.server.try_clone()? })
    }
}

impl Proxy {
    /// A proxy for the server with that Unix socket.
    pub fn start(speaks: Speaks, server: PathBuf, rules: &[Rule]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared {
            speaks,
            server,
            rules: rules.iter().map(|rule| (*rule, AtomicU64::new(0))).collect(),
            seen: Default::default(),
            ends: AtomicBool::new(false),
            is_down: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let acceptor = std::thread::spawn({
            let shared = shared.clone();
            move || accept(&listener, &shared)
        });
        Self { port, shared, acceptor: Some(acceptor) }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How often each rule has acted.
    pub fn acted(&self) -> Vec<u64> {
        self.shared.rules.iter().map(|(_, acted)| acted.load(Ordering::Relaxed)).collect()
    }

    /// Ends all connections; new ones end at once until it is up again.
    pub fn set_down(&self, is_down: bool) {
        self.shared.is_down.store(is_down, Ordering::Relaxed);
        if is_down {
            self.shared.end_all();
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.end_all();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        // What was accepted in between.
        self.shared.end_all();
    }
}

impl Shared {
    fn end_all(&self) {
        for pair in self.open.lock().unwrap().drain(..) {
            pair.end();
        }
    }

    /// What is to be done at a moment, if anything.
    fn at(&self, moment: Moment) -> Option<Act> {
        let seen = self.seen[moment as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let due = self.rules.iter().find(|(rule, acted)| {
            rule.moment == moment && seen.is_multiple_of(rule.every) && acted.load(Ordering::Relaxed) < rule.most
        });
        due.map(|(rule, acted)| {
            acted.fetch_add(1, Ordering::Relaxed);
            rule.act
        })
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.ends.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        if shared.is_down.load(Ordering::Relaxed) || shared.at(Moment::Connect) == Some(Act::CutBefore) {
            continue;
        }
        // A server that cannot be reached ends the client's connection too.
        let Ok(server) = UnixStream::connect(&shared.server) else { continue };
        let _ = client.set_nonblocking(false).and_then(|()| client.set_nodelay(true));
        let pair = Pair { client, server };
        let (Ok(kept), Ok(down)) = (pair.again(), pair.again()) else { continue };
        shared.open.lock().unwrap().push(kept);
        let shared = shared.clone();
        std::thread::spawn(move || {
            let cut = Arc::new(AtomicBool::new(false));
            let answers = std::thread::spawn({
                let cut = cut.clone();
                move || answers(&down, &cut)
            });
            let mut asked = Asked { shared: &shared, pair: &pair, cut: &cut };
            // An end of either side ends both.
            let _ = match shared.speaks {
                Speaks::Postgres => postgres::requests(&mut asked),
                Speaks::Mysql => mysql::requests(&mut asked),
            };
            pair.end();
            let _ = answers.join();
        });
    }
}

/// Hands on what the server says, until an answer is to be cut off.
fn answers(pair: &Pair, cut: &AtomicBool) {
    let mut bytes = vec![0; 32 << 10];
    while let Ok(read @ 1..) = (&pair.server).read(&mut bytes) {
        if cut.load(Ordering::SeqCst) || (&pair.client).write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    pair.end();
}

/// What a client asks for, on its way to the server.
struct Asked<'a> {
    shared: &'a Shared,
    pair: &'a Pair,
    cut: &'a AtomicBool,
}

impl Asked<'_> {
    fn read(&self, bytes: &mut [u8]) -> io::Result<()> {
        (&self.pair.client).read_exact(bytes)
    }

    /// The first of some moments that a rule is for.
    fn named(&self, moments: Vec<Moment>) -> Option<Moment> {
        moments.into_iter().find(|moment| self.shared.rules.iter().any(|(rule, _)| rule.moment == *moment))
    }

    fn pass(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.pair.server).write_all(bytes)
    }

    /// Hands on messages that belong together, or what a rule has in their place: `raise` makes the messages that have the
    /// server raise an error.
    fn pass_at(
        &self,
        moment: Option<Moment>,
        bytes: &[u8],
        raise: fn(code: &str, message: &str) -> Vec<u8>,
    ) -> io::Result<()> {
        match moment.and_then(|moment| self.shared.at(moment)) {
            None => self.pass(bytes),
            Some(Act::CutBefore) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Act::CutAfter) => {
                // Each answer until now has been read: the next one is the one that is cut off.
                self.cut.store(true, Ordering::SeqCst);
                self.pass(bytes)
            }
            Some(Act::Raise { code, message }) => self.pass(&raise(code, message)),
        }
    }
}

/// The moment of a text that a client sends.
fn moment_of(text: &[u8]) -> Option<Moment> {
    let text = String::from_utf8_lossy(text);
    match text.trim_start() {
        text if text.starts_with("COMMIT") => Some(Moment::Commit),
        text if text.starts_with("BEGIN") || text.contains("START TRANSACTION") => Some(Moment::Begin),
        _ => None,
    }
}

/// A text within quotation marks.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
