//! The application server: the brokerage house's side, for drivers elsewhere.
//!
//! A thread a connection, as many sessions as there are workers, lent to one transaction at a time. Everything is bounded:
//! connections, those among them that have not said who they are, the bytes of a message, the time it may take to arrive
//! and to be taken, the drivers of a round, the time to wait for them, the time a driver may say nothing. A connection has
//! one transaction outstanding, so that no more can wait for a session than there are connections.
//!
//! | file | what |
//! |---|---|
//! | `door` | accepting, admitting, closing |
//! | `listener` | where connections come in: a TCP port, a socket of this machine |
//! | `local` | that socket's file, and who may come in by it |
//! | `places` | how many connections there may be, and who leaves for a newcomer |
//! | `driver` | one driver's connection: its place in a round |
//! | `user` | one user's connection: its transactions |
//! | `copy` | a copy of the database, so that rounds can begin alike |
//! | `pool` | sessions that are taken in turn |
//! | `round` | drivers that begin together and end together, their books and checks |
//! | `event` | what the server tells of itself |
//! | `rehearsal` | messages handed to a server without connections: what a fuzzer drives |

mod copy;
mod door;
mod driver;
mod event;
mod listener;
mod local;
mod places;
mod pool;
mod rehearsal;
mod round;
mod user;

pub use door::{Ended, Server};
pub use event::Event;
pub use rehearsal::rehearse;

use crate::Token;
use crate::address::Listen;
use bourse_driver::Clock;
use bourse_engine::Engine;
use bourse_tpce::load::Fingerprint;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Where to listen.
    pub listen: Listen,
    /// What a driver has to know; needed where others than this machine's processes can come in.
    pub token: Option<Token>,
    /// Sessions, and so transactions at a time.
    pub workers: usize,
    /// Connections at a time: one a user, one a driver.
    pub connections: usize,
    /// How long the drivers of a round wait for one another.
    pub gather: Duration,
    /// How long a driver in a round may say nothing, before it is given up with its users. One that is well asks for sizes
    /// every second.
    pub silence: Duration,
    /// How long a driver outside a round may say nothing, before it is closed. One that is well says at times that it is
    /// still there.
    pub idle: Duration,
    /// The program's version, which drivers are told.
    pub version: String,
}

impl ServerOptions {
    /// 64 sessions and 512 connections there; 30 s of silence in a round, 60 s outside one.
    pub fn new(listen: impl Into<Listen>, version: &str) -> Self {
        Self {
            listen: listen.into(),
            token: None,
            workers: 64,
            connections: 512,
            gather: Duration::from_secs(120),
            silence: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            version: version.to_owned(),
        }
    }
}

/// What is served.
#[derive(Clone, Copy)]
pub struct Offer<'s> {
    /// The engine, with its database.
    pub engine: &'s dyn Engine,
    /// What the database was made of.
    pub fingerprint: &'s Fingerprint,
    /// How it was found.
    pub history: &'s str,
}

/// What all connections share.
struct Shared<'s> {
    options: ServerOptions,
    offer: Offer<'s>,
    clock: &'s dyn Clock,
    pool: pool::Pool<'s>,
    rounds: round::Rounds,
    copy: Mutex<Option<copy::Copy>>,
    drivers: Mutex<HashMap<u64, Arc<Driver>>>,
    stop: &'s AtomicBool,
    tell: &'s (dyn Fn(Event) + Sync),
}

/// A driver that was admitted.
#[derive(Debug, Default)]
struct Driver {
    /// Its users must go too.
    gone: AtomicBool,
    /// Its place in the round that is open.
    member: Mutex<Option<Arc<round::Member>>>,
}

impl<'s> Shared<'s> {
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

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A lock whose content is whole whatever happened to a thread that held it: only plain values are put in.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
