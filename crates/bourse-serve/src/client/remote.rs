//! The server as the driver sees it: an engine with sizes, and rounds that begin and end.

use super::alive::KeepAlive;
use super::connector::RemoteConnector;
use super::line::Caller;
use crate::protocol::codec::{REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::control::{Beginning, ClosedRound, OpenedRound, RoundTerms, Wait};
use crate::protocol::{Admission, Control, ControlReply, Payload, Purpose, Welcome};
use crate::wire::{Wire, at_most};
use crate::{Address, ServeError, Token};
use bourse_driver::Clock;
use bourse_engine::{
    Capabilities, Description, Engine, EngineError, ErrorKind, Footprint, Guarantee, Hosting, Interface, IoCounts,
    Isolation, Loader, Location, NullEngine, Result, Session, SqlCapabilities, SqlEngine,
};
use bourse_oltp::Workload;
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::{Connector, RoundBegin, RunError, SharedWorkload, Sut, Terms};
use bourse_record::Check;
use bourse_schema::Dialect;
use serde::Serialize;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Longest silence of a server that is to answer: it sends sizes and counts immediately, and a sign of life every second.
const SILENCE: Duration = Duration::from_secs(30);

/// Server to which the driver is connected.
pub struct Remote {
    caller: Caller,
    welcome: Welcome,
    line: KeepAlive,
    /// Longest silence while the server is to answer.
    silence: Duration,
    /// Whether it was silent for longer, so that no user waits for it any more.
    is_silent: Arc<AtomicBool>,
    round: Mutex<RoundOpening>,
    io_source: OnceLock<&'static str>,
    waiting: Box<dyn Fn(WaitProgress) + Send + Sync>,
}

/// State of the round opened last, and the beginning of the next one.
#[derive(Debug, Default)]
struct RoundOpening {
    name: Option<String>,
    prepared: String,
    beginning: Beginning,
    /// Whether the server could not take a snapshot, so that another request would not help.
    cannot: bool,
}

/// Progress of a wait for other drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitProgress {
    /// Number of drivers that are ready.
    pub ready: u32,
    /// Number of drivers of the round.
    pub of: u32,
    /// Reason for the wait.
    pub what: Wait,
}

/// Result of a round at the server.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundEnd {
    /// Drivers that vanished before the end.
    pub vanished: Vec<u32>,
    /// Checks of the database, and its reconciliation with all drivers together.
    pub checks: Vec<Check>,
}

impl Remote {
    /// Connects to a server of a workload; `waiting` is called once a second while other drivers are waited for.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn call(
        workload: &dyn Workload,
        address: Address,
        token: Option<Token>,
        version: &str,
        waiting: impl Fn(WaitProgress) + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        Self::call_as(Purpose::Driver, workload, address, token, version, waiting)
    }

    /// Connects to a server for that purpose.
    pub(super) fn call_as(
        purpose: Purpose,
        workload: &dyn Workload,
        address: Address,
        token: Option<Token>,
        version: &str,
        waiting: impl Fn(WaitProgress) + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        let caller = Caller { address, token, version: version.to_owned() };
        let (wire, admission) = caller.call(purpose)?;
        let Admission::Driver(welcome) = admission else {
            return Err(ServeError::Unexpected { wanted: "a driver's welcome", found: "a user's" });
        };
        if welcome.workload != workload.name() {
            let (address, served) = (caller.address.to_string(), welcome.workload);
            return Err(ServeError::OtherWorkload { address, served, driven: workload.name() });
        }
        workload
            .check_size(&welcome.fingerprint.size)
            .map_err(|why| ServeError::Refused(format!("its database cannot be: {why}")))?;
        let line = KeepAlive::new(wire, Duration::from_millis(welcome.idle_ms))?;
        Ok(Self {
            caller,
            welcome: *welcome,
            line,
            silence: SILENCE,
            is_silent: Arc::default(),
            round: Mutex::default(),
            io_source: OnceLock::new(),
            waiting: Box::new(waiting),
        })
    }

    /// Sets the longest silence of the server while it is to answer; half a minute if it is not set.
    pub fn limit_silence(&mut self, silence: Duration) {
        self.silence = silence;
    }

    /// Fingerprint of the server's database.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.welcome.fingerprint
    }

    /// History of the server's database: loaded now, or reused.
    pub fn history(&self) -> &str {
        &self.welcome.history
    }

    /// Name of the round that was opened last: the same for all its drivers.
    pub fn round(&self) -> Option<String> {
        self.opening().name.clone()
    }

    /// Makes all following rounds begin alike: the server takes a snapshot of the database at the first of them, and restores
    /// it at each later one.
    pub fn begin_alike(&self) {
        let mut opening = self.opening();
        if opening.beginning == Beginning::AsItIs && !opening.cannot {
            opening.beginning = Beginning::Keep;
        }
    }

    /// Preparation of the database by the server for the last round, as a sentence; empty if there was none.
    pub fn prepared(&self) -> String {
        self.opening().prepared.clone()
    }

    fn opening(&self) -> MutexGuard<'_, RoundOpening> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the round: sends the workload's counts acknowledged to this driver's users, and waits for the other drivers and the server's
    /// checks.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn close(&self, acknowledged: &impl Serialize) -> Result<RoundEnd, ServeError> {
        let acknowledged = Payload::of(acknowledged, REQUEST_BYTES)?;
        // A run that was interrupted is checked too; a second interruption ends the whole program.
        let patient = AtomicBool::new(false);
        let closed = self.long_wait(&Control::Close(acknowledged), &patient);
        self.line.rests(true);
        let ClosedRound { vanished, checks } = match closed? {
            ControlReply::Closed(closed) => *closed,
            other => return Err(ServeError::Unexpected { wanted: "a round closed", found: other.name() }),
        };
        Ok(RoundEnd { vanished, checks })
    }

    /// Disconnects for good. During a round, the server counts this driver as lost.
    pub fn leave(&self) {
        self.line.rests(false);
        // A server that is gone needs no message.
        let _ = self.wire().send(&Control::Leave, REQUEST_BYTES);
    }

    /// Sends a request whose reply may take as long as other drivers do; the server gives a sign of life every second.
    pub(super) fn long_wait(&self, asked: &Control, interrupt: &AtomicBool) -> Result<ControlReply, ServeError> {
        let mut wire = self.wire();
        wire.send(asked, REQUEST_BYTES)?;
        loop {
            let mut is_alive = at_most(self.silence);
            let news = wire.receive(REPLY_BYTES, &mut || {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(EngineError::new(ErrorKind::Interrupted, "interrupted").into());
                }
                is_alive()
            })?;
            match news {
                ControlReply::Waiting { ready, of, what } => (self.waiting)(WaitProgress { ready, of, what }),
                ControlReply::Refused(why) => return Err(ServeError::Refused(why)),
                news => return Ok(news),
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(EngineError::new(ErrorKind::Interrupted, "interrupted").into());
            }
        }
    }

    /// Sends a request that the server answers immediately.
    fn ask(&self, asked: &Control) -> Result<ControlReply> {
        let mut wire = self.wire();
        let mut answer = || {
            wire.send(asked, REQUEST_BYTES)?;
            wire.receive(REPLY_BYTES, &mut at_most(self.silence))
        };
        match answer() {
            Ok(ControlReply::Refused(why)) => Err(EngineError::new(ErrorKind::Other, why)),
            Ok(news) => Ok(news),
            Err(error) => {
                self.is_silent.store(true, Ordering::Relaxed);
                Err(self.engine_error(&error))
            }
        }
    }

    /// Server's name for its counts, leaked for the life of the program: one text per server.
    fn io_source(&self, told: &str) -> &'static str {
        const LONGEST: usize = 200;
        self.io_source.get_or_init(|| match told {
            "" => "",
            told => Box::leak(told.chars().take(LONGEST).collect::<String>().into_boxed_str()),
        })
    }

    /// Locks the connection, unless another thread waits for an answer on it.
    pub(super) fn idle_wire(&self) -> Option<MutexGuard<'_, Wire>> {
        self.line.idle_wire()
    }

    pub(super) fn wire(&self) -> MutexGuard<'_, Wire> {
        self.line.wire()
    }

    pub(super) fn engine_error(&self, error: &ServeError) -> EngineError {
        match error {
            ServeError::Engine(error) => error.clone(),
            other => EngineError::new(ErrorKind::ConnectionLost, format!("{}: {other}", self.caller.address)),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Remote {
    /// The server as the system under test of a workload: that of its call.
    pub const fn sut<W: SharedWorkload>(&self) -> RemoteSut<'_, W> {
        RemoteSut { remote: self, workload: PhantomData }
    }

    /// Begins a round; also returns the number of sessions of all drivers, for a coordinated driver.
    pub(super) fn open_round<W: SharedWorkload>(
        &self,
        terms: &Terms,
        interrupt: &AtomicBool,
    ) -> Result<(RoundBegin<W>, Option<u32>), RunError> {
        let terms = RoundTerms { beginning: self.opening().beginning, ..RoundTerms::from(terms) };
        let asked = self.long_wait(&Control::Open(terms), interrupt);
        self.line.rests(asked.is_err());
        let opened = match asked.map_err(|error| self.run_error(error))? {
            ControlReply::Opened(opened) => *opened,
            other => return Err(self.unexpected("a round opened", &other).into()),
        };
        let OpenedRound { round, kept, prepared, begun, sessions } = opened;
        let begun = begun.read().map_err(|error| self.engine_error(&error.into()))?;
        let mut opening = self.opening();
        opening.name = Some(round);
        opening.prepared = prepared;
        if opening.beginning == Beginning::Keep {
            opening.cannot = kept.is_none();
            opening.beginning = kept.map_or(Beginning::AsItIs, |copy| Beginning::PutBack { copy });
        }
        drop(opening);
        Ok((begun, sessions))
    }

    /// Error of a round that could not begin.
    pub(super) fn run_error(&self, error: ServeError) -> RunError {
        match error {
            ServeError::Refused(why) => RunError::Refused(why),
            ServeError::Engine(error) if error.kind() == ErrorKind::Interrupted => RunError::Interrupted,
            other => RunError::Engine(self.engine_error(&other)),
        }
    }

    /// Error of a reply of another kind than the request needs.
    pub(super) fn unexpected(&self, wanted: &'static str, found: &ControlReply) -> EngineError {
        self.engine_error(&ServeError::Unexpected { wanted, found: found.name() })
    }
}

/// A server as the system under test of a workload.
pub struct RemoteSut<'r, W> {
    remote: &'r Remote,
    workload: PhantomData<fn() -> W>,
}

impl<W: SharedWorkload> Sut<W> for RemoteSut<'_, W> {
    fn engine(&self) -> &dyn Engine {
        self.remote
    }

    fn open(&self, terms: &Terms, _: &dyn Clock, interrupt: &AtomicBool) -> Result<RoundBegin<W>, RunError> {
        self.remote.open_round::<W>(terms, interrupt).map(|(begun, _)| begun)
    }

    fn connector(&self) -> Result<Connector<W>> {
        let Remote { caller, welcome, .. } = self.remote;
        let called = caller.call(Purpose::User { driver: welcome.driver });
        let (wire, _) = called.map_err(|error| self.remote.engine_error(&error))?;
        let is_silent = Arc::clone(&self.remote.is_silent);
        Ok(Connector::Elsewhere(Box::new(RemoteConnector { wire, is_silent })))
    }

    fn pending(&self) -> Result<Option<u64>> {
        match self.remote.ask(&Control::Pending)? {
            ControlReply::Pending(pending) => Ok(pending),
            other => Err(self.remote.unexpected("pending work", &other)),
        }
    }
}

/// Engine of the server, as far as a driver needs it: it runs no statements from the driver.
impl Engine for Remote {
    fn description(&self) -> Result<Description> {
        Ok(self.welcome.engine.describe(self.caller.address.to_string(), self.welcome.workers))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                foreign_keys: self.welcome.engine.foreign_keys,
                checks: self.welcome.engine.checks,
                row_conflicts: true,
            }),
            concurrent_writers: self.welcome.engine.concurrent_writers,
            snapshots: false,
            checkpoints: false,
            one_session: false,
            processes: false,
            records: None,
            guarantees: Guarantee::BY_LEVEL,
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        Hosting::External
    }

    fn location(&self) -> Location {
        Location::RunningServer
    }

    fn exists(&self) -> Result<bool> {
        Ok(true)
    }

    fn footprint(&self) -> Result<Footprint> {
        match self.ask(&Control::Footprint)? {
            ControlReply::Footprint(sizes) => Ok(sizes),
            other => Err(self.unexpected("sizes", &other)),
        }
    }

    fn io_counts(&self) -> Result<Option<IoCounts>> {
        match self.ask(&Control::IoCounts)? {
            ControlReply::IoCounts(counts) => Ok(counts.map(|it| {
                let (source, counts) = *it;
                IoCounts { source: self.io_source(&source), ..counts }
            })),
            other => Err(self.unexpected("reads and writes", &other)),
        }
    }
}

/// Placeholder: users perform through their [connectors](Sut::connector), and sessions of this engine do nothing.
impl SqlEngine for Remote {
    fn dialect(&self) -> &'static Dialect {
        NullEngine.dialect()
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        NullEngine.new_session()
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        Err(EngineError::unsupported("a database is loaded where its server runs"))
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("address", &self.caller.address).finish_non_exhaustive()
    }
}
