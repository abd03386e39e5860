//! Listening, admitting, closing.

use super::listener::Listener;
use super::local::{may_enter, own_user};
use super::places::{Guest, Places};
use super::{Driver, Event, Offer, ServerOptions, Shared, driver, lock, user};
use crate::protocol::codec::{GREETING_BYTES, REPLY_BYTES};
use crate::protocol::{Admission, Greeting, Hello, MAGIC, PROTOCOL, Purpose, Welcome, greeting};
use crate::stream::Stream;
use crate::token::Nonce;
use crate::wire::{Wire, at_most};
use crate::{Address, Peer, ServeError, Token};
use bourse_driver::Clock;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A stranger must have said who it is within this time.
const ADMITTED_WITHIN: Duration = Duration::from_secs(5);
/// How often the door is looked at.
const KNOCK: Duration = Duration::from_millis(5);

/// A server that listens, and serves nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    address: Address,
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
        let listener = Listener::bind(&options)?;
        let failed = |cause| ServeError::Listen { address: options.listen.to_string(), cause };
        let address = listener.address().map_err(failed)?;
        Ok(Self { listener, address, options })
    }

    /// Where it listens, as drivers name it: of port 0 the one that the system chose.
    pub const fn address(&self) -> &Address {
        &self.address
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
        let Self { listener, address: _, options } = self;
        let shared = Shared::new(options, offer, clock, stop, tell);
        let places = Places::new(shared.options.connections);
        let mut in_a_round = false;
        thread::scope(|scope| {
            while !shared.stopping() {
                if places.are_taken() {
                    thread::sleep(KNOCK);
                    continue;
                }
                let (stream, from) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of file handles, or a peer that is gone already: neither ends the server.
                        let pause = if error.kind() == io::ErrorKind::WouldBlock { KNOCK } else { 20 * KNOCK };
                        thread::sleep(pause);
                        continue;
                    }
                };
                let stream = Arc::new(stream);
                let guest = match places.enter(from, &stream) {
                    Ok((guest, closed)) => {
                        if let Some(from) = closed {
                            let why = "it has not said who it is, and a newcomer wanted its place".to_owned();
                            tell(Event::Refused { from, why });
                        }
                        guest
                    }
                    Err(why) => {
                        tell(Event::Refused { from, why });
                        continue;
                    }
                };
                let (shared, engine) = (&shared, &engine);
                let spawned = thread::Builder::new()
                    .name("peer".to_owned())
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

fn converse(shared: &Shared<'_>, engine: &greeting::Engine, stream: Arc<Stream>, mut guest: Guest<'_>) {
    let from = guest.from;
    let send_away = |why: String| (shared.tell)(Event::Refused { from, why });
    let mut wire = match Wire::new(stream) {
        Ok(wire) => wire,
        Err(error) => return send_away(error.to_string()),
    };
    let greeted = greet(shared, &mut wire, from);
    if !guest.admitted() {
        // It was closed for a newcomer, which has been told.
        return;
    }
    let hello = match greeted {
        Ok(hello) => hello,
        Err(error) => return send_away(error.to_string()),
    };
    match hello.purpose {
        Purpose::Driver => {
            let number = random_number();
            let driver = Arc::new(Driver::default());
            let welcome = Welcome {
                driver: number,
                database: shared.offer.fingerprint.into(),
                history: shared.offer.history.to_owned(),
                engine: engine.clone(),
                idle_ms: u64::try_from(shared.options.idle.as_millis()).unwrap_or(u64::MAX),
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
            let seed = random_number();
            tell_of_nonsense(shared, from, served.and_then(|()| user::serve(shared, &mut wire, &driver, seed)));
        }
    }
}

/// A connection that just ends is nothing to tell of; one that says what is no message is.
fn tell_of_nonsense(shared: &Shared<'_>, from: Peer, ended: Result<(), ServeError>) {
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
fn greet(shared: &Shared<'_>, wire: &mut Wire, from: Peer) -> Result<Hello, ServeError> {
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
    match admit(from, options.token.as_ref(), &nonce, &hello) {
        Ok(()) => Ok(hello),
        Err(why) => {
            // Whether the peer hears it or not, it is sent away.
            let _ = wire.send(&Admission::Refused(why.clone()), GREETING_BYTES);
            Err(ServeError::Refused(why))
        }
    }
}

/// Whether a peer is let in; why not.
pub(super) fn admit(from: Peer, token: Option<&Token>, nonce: &Nonce, hello: &Hello) -> Result<(), String> {
    if let Peer::Unix { user, .. } = from
        && !may_enter(user, own_user())
    {
        return Err(format!("user {user} is not the one that the server runs as (user {})", own_user()));
    }
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
