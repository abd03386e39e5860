//! The application server, for drivers elsewhere.

use super::database::{DatabaseOptions, engine_failure};
use crate::failure::{Exit, Failure, Result};
use crate::progress::note;
use crate::{engines, interrupt};
use bourse_driver::RealClock;
use bourse_oltp::check::Depth;
use bourse_serve::address::socket_path;
use bourse_serve::server::{Event, Offer};
use bourse_serve::{Address, Listen, ServeError, Server, ServerOptions};
use std::net::ToSocketAddrs as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Serves a database to programs of this machine at a free port, and passes its address to a callback.
pub(crate) fn serve_here(
    target: &str,
    database: &dyn DatabaseOptions,
    told: impl FnOnce(String) -> Result<()>,
) -> Result<()> {
    let options = ServerOptions::new(resolved("--listen", "127.0.0.1:0")?, env!("CARGO_PKG_VERSION"));
    serve_as(target, database, options, told)
}

/// Loads if needed, listens, serves until it is interrupted.
pub(crate) fn serve_as(
    target: &str,
    database: &dyn DatabaseOptions,
    options: ServerOptions,
    told: impl FnOnce(String) -> Result<()>,
) -> Result<()> {
    let engine = engines::open(target)?;
    engines::needs(target, engine.as_ref(), database.needs())?;
    let failed = |error| failure(target, &error);
    // An address that cannot be listened on is refused before minutes of loading; a driver that came already would get no
    // answer.
    drop(Server::bind(options.clone()).map_err(failed)?);
    engines::make_folder(target)?;
    let interrupted = interrupt::flag()?;
    let ready = database.ready(target, engine.as_ref(), Depth::Full, &interrupted)?;
    // Before the engine's description: the share of each session is among its settings.
    if let Some(divided) = engine.expect_sessions(options.workers) {
        note(&format!("{target}: {divided}"));
    }

    let with_token = options.token.is_some();
    let server = Server::bind(options).map_err(failed)?;
    let address = server.address().clone();
    note(&format!(
        "serving {target}: {}; {}; Ctrl-C ends it",
        database.served().workload().size_text(&ready.fingerprint.size),
        match (&address, with_token) {
            (_, true) => "drivers need the token",
            (Address::Unix { .. }, false) => "this user's programs, and root's, may drive it",
            (Address::Tcp { .. }, false) => "this machine's programs may drive it without a token",
        }
    ));
    told(address.to_string())?;
    let offer = Offer { engine: engine.as_ref(), fingerprint: &ready.fingerprint, history: &ready.history };
    let sent_away = AtomicU64::new(0);
    let tell = |event| tell(&event, &sent_away);
    let ended = database.served().serve(server, offer, &RealClock::start(), &interrupted, &tell).map_err(failed)?;
    if ended.in_a_round {
        return Err(interrupt::interrupted("drivers were in a round; the transactions in hand were finished"));
    }
    note("the server has stopped");
    Ok(())
}

/// Prints an event; of many refusals only some, so that no client can fill a log.
pub(crate) fn tell(event: &Event, sent_away: &AtomicU64) {
    const EACH: u64 = 20;
    if !matches!(event, Event::Refused { .. }) {
        return note(&event.to_string());
    }
    let count = sent_away.fetch_add(1, Ordering::Relaxed) + 1;
    if count <= EACH {
        note(&event.to_string());
    } else if count.is_power_of_two() {
        note(&format!("{event}; {count} refused until now"));
    }
}

/// The address of an option.
pub(crate) fn resolved(option: &str, listen: &str) -> Result<Listen> {
    let refused = |why: String| {
        Failure::usage(format!("invalid value '{listen}' for {option}: {why}"))
            .hint("expected HOST:PORT, as 127.0.0.1:4780, or unix:PATH")
    };
    if let Some(path) = listen.strip_prefix("unix:") {
        return socket_path(path).map(Listen::Unix).map_err(|why| refused(why.to_owned()));
    }
    let mut found = listen.to_socket_addrs().map_err(|error| refused(error.to_string()))?;
    found.next().map(Listen::Tcp).ok_or_else(|| refused("the name has no address".to_owned()))
}

/// Failure of an error between driver and server.
pub(crate) fn failure(target: &str, error: &ServeError) -> Failure {
    let usage = |hint: &str| Failure::usage(error.to_string()).hint(hint);
    match error {
        ServeError::Address { .. } => usage("expected bourse://HOST:PORT or bourse+unix:PATH"),
        ServeError::Token { .. } | ServeError::TokenNeeded { .. } => usage(
            "put a secret of 8 bytes or more into BOURSE_TOKEN, or into a file named by --token-file, on both sides",
        ),
        ServeError::Listen { .. } => {
            usage("--listen HOST:PORT or unix:PATH names another place; port 0 takes a free one")
        }
        ServeError::OtherWorkload { address, served, .. } => {
            usage(&format!("`bourse {served} run {address}` drives it"))
        }
        ServeError::Connect { .. } => Failure::new(Exit::Target, error.to_string())
            .hint("`bourse tpce serve TARGET`, or `tatp serve`, starts a server and prints its address"),
        ServeError::Version { .. } => usage("run the same version on both sides"),
        ServeError::NotAServer { .. } => usage("check the port"),
        ServeError::Engine(error) => engine_failure(target, error),
        ServeError::Unauthenticated(fault) => Failure::usage(format!("{target} refused: {fault}"))
            .hint("set BOURSE_TOKEN or --token-file to the server's token"),
        ServeError::Refused(why) => {
            Failure::new(Exit::Target, format!("{target} refused")).detail("cause", why.clone())
        }
        ServeError::Lost(_) | ServeError::Codec(_) | ServeError::Unexpected { .. } => {
            Failure::new(Exit::Target, format!("{target} was lost")).detail("cause", error.to_string())
        }
    }
}
