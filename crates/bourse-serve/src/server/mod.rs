//! The application server: performs a workload's transactions for drivers elsewhere.
//!
//! Each connection has a thread. Sessions are shared: one for each worker, lent to one transaction at a time. Everything is
//! bounded: connections, unauthenticated connections, the size of a message, the time it may take to arrive and to be sent, the
//! drivers of a round, the wait for them, and a driver's silence. A connection has one transaction outstanding, so at most as
//! many wait for a session as there are connections.
//!
//! | file | what |
//! |---|---|
//! | `listener` | the accept loop: admits or refuses connections, and closes them |
//! | `socket` | what is listened on: a TCP port or a Unix socket |
//! | `local` | the Unix socket's file and its access control |
//! | `connections` | the limits of open and of unauthenticated connections |
//! | `driver` | one driver's connection: its part in a round |
//! | `user` | one user's connection: its transactions |
//! | `copy` | the snapshot of the database that later rounds begin from |
//! | `pool` | the sessions that connections share |
//! | `coordinate` | a round whose drivers send their statements to the engine themselves |
//! | `round` | a round of one or several drivers: its beginning, end, reconciliation and checks |
//! | `event` | events that the server reports |
//! | `rehearsal` | a server without connections, for fuzzing |

mod connections;
mod coordinate;
mod copy;
mod driver;
mod event;
mod listener;
mod local;
mod pool;
mod rehearsal;
mod round;
mod socket;
mod user;

pub use event::Event;
pub(crate) use listener::random_number;
pub use listener::{Server, ServerEnd};
pub use rehearsal::rehearse;

use crate::Token;
use crate::address::Listen;
use bourse_driver::Clock;
use bourse_engine::Engine;
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::SharedWorkload;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reason for drivers and reports why a round did not end by itself.
const STOPPED: &str = "the server was stopped";
/// Time after the stop within which users get it as the answer to their next request.
const FAREWELL: Duration = Duration::from_secs(1);

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Address to listen on.
    pub listen: Listen,
    /// Access token; required if other machines can connect.
    pub token: Option<Token>,
    /// Number of sessions, which limits concurrent transactions.
    pub workers: usize,
    /// Largest number of connections at a time: one for each user and one for each driver.
    pub connections: usize,
    /// Longest wait of the drivers of a round for one another.
    pub gather: Duration,
    /// Silence after which a driver in a round counts as lost, with its users. A live driver requests sizes every second.
    pub silence: Duration,
    /// Silence after which a driver outside a round is closed. A live driver sends `Alive` from time to time.
    pub idle: Duration,
    /// Whether drivers send their statements to the engine themselves. The server then decides when a round begins, and checks
    /// the database for all; no transaction passes through it.
    pub coordinates: bool,
    /// Whether the database is checked at the end of a coordinated round. A round of a search only steers it.
    pub checks: bool,
    /// Version of the program, sent to drivers.
    pub version: String,
}

impl ServerOptions {
    /// Default options for that address: 64 sessions, 512 connections, 30 s of silence in a round and 60 s outside one.
    pub fn new(listen: impl Into<Listen>, version: &str) -> Self {
        Self {
            listen: listen.into(),
            token: None,
            workers: 64,
            connections: 512,
            gather: Duration::from_secs(120),
            silence: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            coordinates: false,
            checks: true,
            version: version.to_owned(),
        }
    }
}

/// Engine and database that are served.
#[derive(Clone, Copy)]
pub struct Offer<'s> {
    /// Engine, with its database.
    pub engine: &'s dyn Engine,
    /// Fingerprint of the database: its size and input data.
    pub fingerprint: &'s Fingerprint,
    /// History of the database: loaded now, or reused.
    pub history: &'s str,
}

/// State that all connections share.
struct Shared<'s, W: SharedWorkload> {
    options: ServerOptions,
    offer: Offer<'s>,
    clock: &'s dyn Clock,
    pool: pool::Pool<'s>,
    rounds: round::Rounds<W>,
    copy: Mutex<Option<copy::Copy>>,
    drivers: Mutex<HashMap<u64, Arc<Driver<W>>>>,
    stop: &'s AtomicBool,
    tell: &'s (dyn Fn(Event) + Sync),
}

/// Admitted driver.
struct Driver<W: SharedWorkload> {
    /// Whether the driver has gone, so that its users' connections are to be closed.
    gone: AtomicBool,
    /// Part of the driver in the open round.
    member: Mutex<Option<Arc<round::Member<W>>>>,
}

impl<W: SharedWorkload> Default for Driver<W> {
    fn default() -> Self {
        Self { gone: AtomicBool::new(false), member: Mutex::new(None) }
    }
}

impl<'s, W: SharedWorkload> Shared<'s, W> {
    fn new(
        options: ServerOptions,
        offer: Offer<'s>,
        clock: &'s dyn Clock,
        stop: &'s AtomicBool,
        tell: &'s (dyn Fn(Event) + Sync),
    ) -> Self {
        Self {
            pool: pool::Pool::new(offer.engine, options.workers),
            options,
            offer,
            clock,
            rounds: round::Rounds::default(),
            copy: Mutex::default(),
            drivers: Mutex::new(HashMap::new()),
            stop,
            tell,
        }
    }

    /// History of the database as it is now.
    fn history(&self) -> String {
        let found = self.offer.history;
        match self.rounds.opened.load(Ordering::Relaxed) {
            0 => found.to_owned(),
            1 => format!("{found}; used by earlier runs since: 1 round"),
            rounds => format!("{found}; used by earlier runs since: {rounds} rounds"),
        }
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Locks a mutex, also after a panic of another thread: its content is only ever replaced by plain values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
