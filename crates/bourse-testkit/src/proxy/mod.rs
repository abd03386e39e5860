//! A proxy in front of a real server, which makes faults at chosen moments: a client gets the server's own answers or none.
//!
//! It listens on the loopback address and reaches the server by its Unix socket. The client's bytes are cut into messages. At a
//! moment that a rule names, the connection ends before the server sees the message or before the client sees the answer, or
//! the server is made to raise an error instead. Each rule is limited in how often it acts.

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

/// Protocol between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// PostgreSQL's protocol.
    Postgres,
    /// MySQL's protocol.
    Mysql,
}

/// Moment at which a fault can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultMoment {
    /// A client connects.
    Connect,
    /// A transaction begins.
    Begin,
    /// A prepared statement runs.
    Statement,
    /// A transaction is committed.
    Commit,
    /// A MySQL session requests serializable transactions.
    Serializable,
    /// A MySQL session sends several statements in one text.
    SeveralStatements,
    /// A MySQL session begins a read-only transaction.
    ReadOnly,
}

/// Fault that a rule makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyFault {
    /// The connection ends before the server sees the message.
    CutBefore,
    /// The server processes the request, and the connection ends before its answer.
    CutAfter,
    /// The server raises an error with that code instead of processing the request.
    Raise {
        /// SQLSTATE, or the number of a MySQL error.
        code: &'static str,
        /// Text of the error.
        message: &'static str,
    },
}

/// Rule that makes a fault at every n-th moment of a kind, at most `most` times.
#[derive(Debug, Clone, Copy)]
pub struct FaultRule {
    /// Kind of moment.
    pub moment: FaultMoment,
    /// Number *n*: every n-th such moment is hit.
    pub every: u64,
    /// Upper limit of faults that the rule makes.
    pub most: u64,
    /// Fault that is made.
    pub act: ProxyFault,
}

/// Running proxy; its connections end when it is dropped.
pub struct Proxy {
    port: u16,
    shared: Arc<ProxyState>,
    acceptor: Option<JoinHandle<()>>,
}

struct ProxyState {
    speaks: ProxyProtocol,
    server: PathBuf,
    rules: Vec<(FaultRule, AtomicU64)>,
    /// Moments seen so far, by kind.
    seen: [AtomicU64; 7],
    ends: AtomicBool,
    is_down: AtomicBool,
    open: Mutex<Vec<ProxiedConnection>>,
}

/// Both sides of a connection.
struct ProxiedConnection {
    client: TcpStream,
    server: UnixStream,
}

impl ProxiedConnection {
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
    /// Starts a proxy for the server with that Unix socket.
    pub fn start(speaks: ProxyProtocol, server: PathBuf, rules: &[FaultRule]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(ProxyState {
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

    /// Port that the proxy listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Number of times each rule has acted, in the order of the rules.
    pub fn acted(&self) -> Vec<u64> {
        self.shared.rules.iter().map(|(_, acted)| acted.load(Ordering::Relaxed)).collect()
    }

    /// Ends all connections and refuses new ones, until set up again.
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
        // Connections accepted in between.
        self.shared.end_all();
    }
}

impl ProxyState {
    fn end_all(&self) {
        for pair in self.open.lock().unwrap().drain(..) {
            pair.end();
        }
    }

    /// Fault to make at a moment, if a rule is due.
    fn at(&self, moment: FaultMoment) -> Option<ProxyFault> {
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

fn accept(listener: &TcpListener, shared: &Arc<ProxyState>) {
    while !shared.ends.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        if shared.is_down.load(Ordering::Relaxed) || shared.at(FaultMoment::Connect) == Some(ProxyFault::CutBefore) {
            continue;
        }
        // A server that cannot be reached ends the client's connection too.
        let Ok(server) = UnixStream::connect(&shared.server) else { continue };
        let _ = client.set_nonblocking(false).and_then(|()| client.set_nodelay(true));
        let pair = ProxiedConnection { client, server };
        let (Ok(kept), Ok(down)) = (pair.again(), pair.again()) else { continue };
        shared.open.lock().unwrap().push(kept);
        let shared = shared.clone();
        std::thread::spawn(move || {
            let cut = Arc::new(AtomicBool::new(false));
            let answers = std::thread::spawn({
                let cut = cut.clone();
                move || answers(&down, &cut)
            });
            let mut requests = Requests { shared: &shared, pair: &pair, cut: &cut };
            // An end of either side ends both.
            let _ = match shared.speaks {
                ProxyProtocol::Postgres => postgres::requests(&mut requests),
                ProxyProtocol::Mysql => mysql::requests(&mut requests),
            };
            pair.end();
            let _ = answers.join();
        });
    }
}

/// Forwards the server's bytes, until an answer is to be cut off.
fn answers(pair: &ProxiedConnection, cut: &AtomicBool) {
    let mut bytes = vec![0; 32 << 10];
    while let Ok(read @ 1..) = (&pair.server).read(&mut bytes) {
        if cut.load(Ordering::SeqCst) || (&pair.client).write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    pair.end();
}

/// Client side of a connection, as its messages are forwarded to the server.
struct Requests<'a> {
    shared: &'a ProxyState,
    pair: &'a ProxiedConnection,
    cut: &'a AtomicBool,
}

impl Requests<'_> {
    fn read(&self, bytes: &mut [u8]) -> io::Result<()> {
        (&self.pair.client).read_exact(bytes)
    }

    /// First of these moments that a rule names.
    fn named(&self, moments: Vec<FaultMoment>) -> Option<FaultMoment> {
        moments.into_iter().find(|moment| self.shared.rules.iter().any(|(rule, _)| rule.moment == *moment))
    }

    fn pass(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.pair.server).write_all(bytes)
    }

    /// Forwards messages that belong together, or makes the due fault instead: `raise` builds the messages that make the server
    /// raise an error.
    fn pass_at(
        &self,
        moment: Option<FaultMoment>,
        bytes: &[u8],
        raise: fn(code: &str, message: &str) -> Vec<u8>,
    ) -> io::Result<()> {
        match moment.and_then(|moment| self.shared.at(moment)) {
            None => self.pass(bytes),
            Some(ProxyFault::CutBefore) => Err(io::ErrorKind::ConnectionAborted.into()),
            Some(ProxyFault::CutAfter) => {
                // Each answer until now has been read: the next one is the one that is cut off.
                self.cut.store(true, Ordering::SeqCst);
                self.pass(bytes)
            }
            Some(ProxyFault::Raise { code, message }) => self.pass(&raise(code, message)),
        }
    }
}

/// Moment of a text that a client sends: the begin or the commit of a transaction.
fn moment_of(text: &[u8]) -> Option<FaultMoment> {
    let text = String::from_utf8_lossy(text);
    match text.trim_start() {
        text if text.starts_with("COMMIT") => Some(FaultMoment::Commit),
        text if text.starts_with("BEGIN") || text.contains("START TRANSACTION") => Some(FaultMoment::Begin),
        _ => None,
    }
}

/// SQL string literal of a text.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
