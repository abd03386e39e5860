//! Listening, admitting, closing.

use super::{Driver, Event, Offer, ServerOptions, Shared, driver, lock, user};
use crate::protocol::codec::{GREETING_BYTES, REPLY_BYTES};
use crate::protocol::{Admission, Greeting, Hello, MAGIC, PROTOCOL, Purpose, Welcome, greeting};
use crate::token::Nonce;
use crate::wire::{Wire, at_most};
use crate::{ServeError, Token};
use bourse_driver::Clock;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A stranger must have said who it is within this time.
const ADMITTED_WITHIN: Duration = Duration::from_secs(5);
/// Connections at a time that have not said who they are.
const STRANGERS: usize = 32;
/// How often the door is looked at.
const KNOCK: Duration = Duration::from_millis(5);

/// A server that listens, and serves nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    options: ServerOptions,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whether drivers were in a round, or waiting for one.
    pub in_a_round: bool,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// [`ServeError::TokenNeeded`] if others than this machine's processes could come in and there is no token;
    /// [`ServeError::Listen`].
    pub fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        let address = options.listen;
        if !address.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::TokenNeeded { address: address.to_string() });
        }
        let listen = || {
            let listener = TcpListener::bind(address)?;
            // Accepting must not block: the flag that ends the server has to be seen.
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|cause| ServeError::Listen { address: address.to_string(), cause })?;
        Ok(Self { listener, options })
    }

    /// Where it listens: of port 0 the one that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.options.listen)
    }

    /// Serves until `stop`: then transactions in hand are finished, and all connections closed. `clock` gives the moments
    /// that are written into rows and the times that drivers are told; `tell` hears what happens.
    ///
    /// # Errors
    /// The engine's, if it cannot describe itself.
    pub fn run(
        self,
        offer: Offer<'_>,
        clock: &dyn Clock,
        stop: &AtomicBool,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Ended, ServeError> {
        let engine = greeting::Engine::of(offer.engine)?;
        let Self { listener, options } = self;
        let shared = Shared {
            pool: super::pool::Pool::new(offer.engine, options.workers),
            options,
            offer,
            clock,
            rounds: super::round::Rounds::default(),
            copy: Mutex::default(),
            drivers: Mutex::new(HashMap::new()),
            connections: AtomicUsize::new(0),
            strangers: AtomicUsize::new(0),
            stop,
            tell,
        };
        let mut in_a_round = false;
        thread::scope(|scope| {
            while !shared.stopping() {
                let (stream, from) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of file handles, or a peer that is gone already: neither ends the server.
                        let pause = if error.kind() == io::ErrorKind::WouldBlock { KNOCK } else { 20 * KNOCK };
                        thread::sleep(pause);
                        continue;
                    }
                };
                let Some(guest) = Guest::enter(&shared, from) else { continue };
                let (shared, engine) = (&shared, &engine);
                let spawned = thread::Builder::new()
                    .name(format!("peer {from}"))
                    .spawn_scoped(scope, move || converse(shared, engine, stream, guest));
                if let Err(error) = spawned {
                    tell(Event::Refused { from, why: format!("the system refuses another thread: {error}") });
                }
            }
            in_a_round = shared.rounds.busy();
        });
        Ok(Ended { in_a_round })
    }
}

/// A connection in the counts of those that are open; a stranger until it is admitted.
struct Guest<'g> {
    from: SocketAddr,
    connections: &'g AtomicUsize,
    strangers: Option<&'g AtomicUsize>,
}

impl<'g> Guest<'g> {
    /// None, with the peer sent away, if there is no room.
    fn enter(shared: &'g Shared<'_>, from: SocketAddr) -> Option<Self> {
        let Shared { connections, strangers, options, tell, .. } = shared;
        let guest = Self { from, connections, strangers: Some(strangers) };
        let (open, unknown) = (connections.fetch_add(1, Ordering::Relaxed), strangers.fetch_add(1, Ordering::Relaxed));
        let why = if open >= options.connections {
            format!("{open} connections are open, the most there may be")
        } else if unknown >= STRANGERS {
            format!("{unknown} connections have not said who they are")
        } else {
            return Some(guest);
        };
        tell(Event::Refused { from, why });
        None
    }

    fn admitted(&mut self) {
        if let Some(strangers) = self.strangers.take() {
            strangers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.admitted();
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn converse(shared: &Shared<'_>, engine: &greeting::Engine, stream: TcpStream, mut guest: Guest<'_>) {
    let from = guest.from;
    let send_away = |why: String| (shared.tell)(Event::Refused { from, why });
    let mut wire = match Wire::new(stream) {
        Ok(wire) => wire,
        Err(error) => return send_away(error.to_string()),
    };
    let hello = match greet(shared, &mut wire) {
        Ok(hello) => hello,
        Err(error) => return send_away(error.to_string()),
    };
    guest.admitted();
    match hello.purpose {
        Purpose::Driver => {
            let number = random_number();
            let driver = Arc::new(Driver { number, gone: AtomicBool::new(false), member: Mutex::default() });
            let welcome = Welcome {
                driver: number,
                database: shared.offer.fingerprint.into(),
                history: shared.offer.history.to_owned(),
                engine: engine.clone(),
                workers: u32::try_from(shared.options.workers).unwrap_or(u32::MAX),
            };
            lock(&shared.drivers).insert(number, Arc::clone(&driver));
            let sent = wire.send(&Admission::Driver(Box::new(welcome)), REPLY_BYTES);
            let ended = sent.and_then(|()| driver::serve(shared, &mut wire, &driver, from));
            driver.gone.store(true, Ordering::Relaxed);
            lock(&shared.drivers).remove(&number);
            tell_of_nonsense(shared, from, ended);
        }
        Purpose::User { driver } => {
            let found = lock(&shared.drivers).get(&driver).cloned();
            let Some(driver) = found else {
                let why = "it names a driver that is not here".to_owned();
                // Whether the peer hears it or not, it is sent away.
                let _ = wire.send(&Admission::Refused(why.clone()), GREETING_BYTES);
                return send_away(why);
            };
            let served = wire.send(&Admission::User, GREETING_BYTES);
            let seed = driver.number ^ u64::from(from.port());
            tell_of_nonsense(shared, from, served.and_then(|()| user::serve(shared, &mut wire, &driver, seed)));
        }
    }
}

/// A connection that just ends is nothing to tell of; one that says what is no message is.
fn tell_of_nonsense(shared: &Shared<'_>, from: SocketAddr, ended: Result<(), ServeError>) {
    let nonsense = match &ended {
        Err(ServeError::Codec(_)) => true,
        Err(ServeError::Lost(error)) => error.kind() == io::ErrorKind::TimedOut,
        _ => false,
    };
    if let Err(error) = ended
        && nonsense
    {
        (shared.tell)(Event::Refused { from, why: error.to_string() });
    }
}

/// Greets, and hears who it is.
fn greet(shared: &Shared<'_>, wire: &mut Wire) -> Result<Hello, ServeError> {
    let Shared { options, .. } = shared;
    let nonce = random();
    let greeting = Greeting {
        magic: MAGIC,
        protocol: PROTOCOL,
        program: options.version.clone(),
        nonce,
        token: options.token.is_some(),
    };
    wire.send(&greeting, GREETING_BYTES)?;
    let mut patience = at_most(ADMITTED_WITHIN);
    let hello: Hello = wire.receive(GREETING_BYTES, &mut || {
        if shared.stopping() {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server is closing").into());
        }
        patience()
    })?;
    match admit(options.token.as_ref(), &nonce, &hello) {
        Ok(()) => Ok(hello),
        Err(why) => {
            // Whether the peer hears it or not, it is sent away.
            let _ = wire.send(&Admission::Refused(why.clone()), GREETING_BYTES);
            Err(ServeError::Refused(why))
        }
    }
}

fn admit(token: Option<&Token>, nonce: &Nonce, hello: &Hello) -> Result<(), String> {
    if hello.protocol != PROTOCOL {
        let Hello { protocol, program, .. } = hello;
        return Err(format!("the driver is version {program} and speaks protocol {protocol}, the server {PROTOCOL}"));
    }
    match (token, &hello.proof) {
        (None, _) => Ok(()),
        (Some(_), None) => Err("a token is needed, and none was shown".to_owned()),
        (Some(token), Some(proof)) if token.verify(nonce, proof) => Ok(()),
        (Some(_), Some(_)) => Err("the token is not the right one".to_owned()),
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// A number that nobody can guess.
pub(super) fn random_number() -> u64 {
    u64::from_le_bytes(random())
}
