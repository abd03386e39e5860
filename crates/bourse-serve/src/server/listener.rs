//! The accept loop of the server: connections are admitted or refused, served, and closed.

use super::connections::{Connection, Connections};
use super::local::{may_enter, own_user};
use super::socket::Listener;
use super::{Driver, Event, Offer, ServerOptions, Shared, driver, lock, user};
use crate::protocol::codec::{GREETING_BYTES, REPLY_BYTES};
use crate::protocol::greeting::ServedEngine;
use crate::protocol::{Admission, Greeting, Hello, MAGIC, PROTOCOL, Purpose, TokenFault, Welcome};
use crate::stream::Stream;
use crate::token::Nonce;
use crate::wire::{Wire, at_most};
use crate::{Address, Peer, ServeError, Token};
use bourse_driver::Clock;
use bourse_oltp::sut::SharedWorkload;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time within which a connection must have authenticated.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two looks at the listening socket.
const POLL: Duration = Duration::from_millis(5);

/// Server that listens and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    address: Address,
    options: ServerOptions,
}

/// End of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerEnd {
    /// Whether drivers were in a round, or waiting for one, when the server stopped.
    pub in_a_round: bool,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// [`ServeError::TokenNeeded`] if other machines can connect and there is no token; [`ServeError::Listen`].
    pub fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        let listener = Listener::bind(&options)?;
        let failed = |cause| ServeError::Listen { address: options.listen.to_string(), cause };
        let address = listener.address().map_err(failed)?;
        Ok(Self { listener, address, options })
    }

    /// Address for drivers, with the port that the system chose for port 0.
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Serves until `stop`; then running transactions are finished and all connections closed. `clock` gives the time that is
    /// written into rows and sent to drivers; `tell` is called with each event.
    ///
    /// # Errors
    /// The engine's, if it cannot describe itself.
    pub fn run<W: SharedWorkload>(
        self,
        offer: Offer<'_>,
        clock: &dyn Clock,
        stop: &AtomicBool,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<ServerEnd, ServeError> {
        let engine = ServedEngine::of(offer.engine)?;
        let Self { listener, address: _, options } = self;
        let shared = Shared::<W>::new(options, offer, clock, stop, tell);
        let limits = Connections::new(shared.options.connections);
        let mut in_a_round = false;
        thread::scope(|scope| {
            while !shared.stopping() {
                if limits.are_taken() {
                    thread::sleep(POLL);
                    continue;
                }
                let (stream, from) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        // Out of file handles, or a peer that is gone already: neither ends the server.
                        let pause = if error.kind() == io::ErrorKind::WouldBlock { POLL } else { 20 * POLL };
                        thread::sleep(pause);
                        continue;
                    }
                };
                let stream = Arc::new(stream);
                let connection = match limits.enter(from, &stream) {
                    Ok((connection, closed)) => {
                        if let Some(from) = closed {
                            let why = "not authenticated in time, closed for a new connection".to_owned();
                            tell(Event::Refused { from, why });
                        }
                        connection
                    }
                    Err(why) => {
                        tell(Event::Refused { from, why });
                        continue;
                    }
                };
                let (shared, engine) = (&shared, &engine);
                let spawned = thread::Builder::new()
                    .name("peer".to_owned())
                    .spawn_scoped(scope, move || converse(shared, engine, stream, connection));
                if let Err(error) = spawned {
                    tell(Event::Refused { from, why: format!("the system refused to start a thread: {error}") });
                }
            }
            in_a_round = shared.rounds.busy();
        });
        Ok(ServerEnd { in_a_round: in_a_round || shared.rounds.busy() })
    }
}

fn converse<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    engine: &ServedEngine,
    stream: Arc<Stream>,
    mut connection: Connection<'_>,
) {
    let from = connection.from;
    let refuse = |why: String| (shared.tell)(Event::Refused { from, why });
    let mut wire = match Wire::new(stream) {
        Ok(wire) => wire,
        Err(error) => return refuse(error.to_string()),
    };
    let greeted = greet(shared, &mut wire, from);
    if !connection.admitted() {
        // It was closed for a new connection, which has been reported.
        return;
    }
    let hello = match greeted {
        Ok(hello) => hello,
        Err(error) => return refuse(error.to_string()),
    };
    if let Some(why) = refusal_of_purpose(hello.purpose, shared.options.coordinates, W::default().name()) {
        // The connection is closed whether this arrives or not.
        let _ = wire.send(&Admission::Refused(why.clone()), GREETING_BYTES);
        return refuse(why);
    }
    match hello.purpose {
        Purpose::Driver | Purpose::Coordinated => {
            let number = random_number();
            let driver = Arc::new(Driver::<W>::default());
            let welcome = Welcome {
                driver: number,
                workload: W::default().name().to_owned(),
                fingerprint: shared.offer.fingerprint.clone(),
                history: shared.history(),
                engine: engine.clone(),
                idle_ms: u64::try_from(shared.options.idle.as_millis()).unwrap_or(u64::MAX),
                workers: u32::try_from(shared.options.workers).unwrap_or(u32::MAX),
            };
            lock(&shared.drivers).insert(number, Arc::clone(&driver));
            let sent = wire.send(&Admission::Driver(Box::new(welcome)), REPLY_BYTES);
            let ended = sent.and_then(|()| driver::serve(shared, &mut wire, &driver, from));
            driver.gone.store(true, Ordering::Relaxed);
            lock(&shared.drivers).remove(&number);
            report_malformed(shared, from, ended);
        }
        Purpose::User { driver } => {
            let found = lock(&shared.drivers).get(&driver).cloned();
            let Some(driver) = found else {
                let why = "unknown driver number".to_owned();
                // The connection is closed whether this arrives or not.
                let _ = wire.send(&Admission::Refused(why.clone()), GREETING_BYTES);
                return refuse(why);
            };
            let served = wire.send(&Admission::User, GREETING_BYTES);
            let seed = random_number();
            report_malformed(shared, from, served.and_then(|()| user::serve(shared, &mut wire, &driver, seed)));
        }
    }
}

/// Reason that this kind of server refuses a connection of that purpose; `None` if it serves it.
fn refusal_of_purpose(purpose: Purpose, coordinates: bool, workload: &str) -> Option<String> {
    match (purpose, coordinates) {
        (Purpose::Driver | Purpose::User { .. }, true) => Some(
            "this is driver 1 of several, which serves no database: join it with --coordinate and --part".to_owned(),
        ),
        (Purpose::Coordinated, false) => Some(format!(
            "this is a server of `bourse {workload} serve`: name it as the target bourse://HOST:PORT, without --coordinate"
        )),
        _ => None,
    }
}

/// Reports a connection that sent an invalid message; one that merely ended is not reported.
fn report_malformed<W: SharedWorkload>(shared: &Shared<'_, W>, from: Peer, ended: Result<(), ServeError>) {
    let is_malformed = match &ended {
        Err(ServeError::Codec(_)) => true,
        Err(ServeError::Lost(error)) => error.kind() == io::ErrorKind::TimedOut,
        _ => false,
    };
    if let Err(error) = ended
        && is_malformed
    {
        (shared.tell)(Event::Refused { from, why: error.to_string() });
    }
}

/// Sends the greeting and authenticates the peer.
fn greet<W: SharedWorkload>(shared: &Shared<'_, W>, wire: &mut Wire, from: Peer) -> Result<Hello, ServeError> {
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
    let mut in_time = at_most(GREETING_TIMEOUT);
    let hello: Hello = wire.receive(GREETING_BYTES, &mut || {
        if shared.stopping() {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server is closing").into());
        }
        in_time()
    })?;
    match admit(from, options.token.as_ref(), &nonce, &hello) {
        Ok(()) => Ok(hello),
        Err(refusal) => {
            // The connection is closed whether this arrives or not.
            let _ = wire.send(&Admission::from(&refusal), GREETING_BYTES);
            Err(refusal.into())
        }
    }
}

/// Reason to refuse a peer.
pub(super) enum Refusal {
    /// The peer has not proved that it knows the token.
    Token(TokenFault),
    /// Another reason, as a sentence.
    Other(String),
}

impl From<&Refusal> for Admission {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Token(fault) => Self::Unauthenticated(*fault),
            Refusal::Other(why) => Self::Refused(why.clone()),
        }
    }
}

impl From<Refusal> for ServeError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Token(fault) => Self::Unauthenticated(fault),
            Refusal::Other(why) => Self::Refused(why),
        }
    }
}

/// Admits a peer, or returns the reason to refuse it.
pub(super) fn admit(from: Peer, token: Option<&Token>, nonce: &Nonce, hello: &Hello) -> Result<(), Refusal> {
    if let Peer::Unix { user, .. } = from
        && !may_enter(user, own_user())
    {
        let why = format!("user {user} is not admitted: the server runs as user {}", own_user());
        return Err(Refusal::Other(why));
    }
    if hello.protocol != PROTOCOL {
        let Hello { protocol, program, .. } = hello;
        return Err(Refusal::Other(format!(
            "the driver (version {program}) speaks protocol {protocol}, the server speaks protocol {PROTOCOL}"
        )));
    }
    match (token, &hello.proof) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(Refusal::Token(TokenFault::Missing)),
        (Some(token), Some(proof)) if token.verify(nonce, proof) => Ok(()),
        (Some(_), Some(_)) => Err(Refusal::Token(TokenFault::Wrong)),
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// Random number that cannot be guessed.
pub(crate) fn random_number() -> u64 {
    u64::from_le_bytes(random())
}
