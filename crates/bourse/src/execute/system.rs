//! The system under test: an engine in this process, or a server that is called.

use super::RunContext;
use super::child::longest_silence;
use super::coordinated::Driver;
use super::shared::SharedJob;
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::database::{self, ReadyDatabase, WantedDatabase, engine_failure, refuse_foreign};
use crate::oltp::serve::failure;
use crate::oltp::served::Performing;
use crate::plan::targets;
use crate::progress::note;
use bourse_driver::Clock;
use bourse_engine::Engine;
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::{RunError, RunResult, Share};
use bourse_record::{Check, SharedRound, Warning};
use bourse_serve::client::{Wait, WaitProgress};
use bourse_serve::{Address, Remote};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// System that runs the transactions.
pub(crate) enum SystemUnderTest {
    InProcess(Arc<dyn Engine>),
    /// The reference model, in place of an engine that stores nothing.
    Model(Arc<dyn Engine>),
    Server(Box<Remote>),
    Coordinated(Box<Driver>),
}

impl SystemUnderTest {
    /// Opens a target, or calls its server; refuses a target that cannot run this job.
    pub(super) fn open(target: &str, job: &dyn SharedJob, context: &RunContext) -> Result<Self> {
        let (of, served) = (job.requirements()?, job.served()?);
        if Address::has_scheme(target) {
            let (address, token) = targets::caller(target, &of)?;
            let version = env!("CARGO_PKG_VERSION");
            let remote = Remote::call(served.workload(), address, token, version, waiting());
            let mut remote = remote.map_err(|error| failure(target, &error))?;
            remote.limit_silence(longest_silence(context.call_limit_ns));
            return Ok(Self::Server(Box::new(remote)));
        }
        targets::check(target, &of)?;
        let engine = engines::open(target)?;
        if of.drivers.process().is_none() {
            refuse_foreign(target, engine.as_ref())?;
        }
        match (&of.drivers.coordinate, of.drivers.driver()) {
            (Some(coordinate), Some(share)) => {
                let driver = Driver::new(target, engine, coordinate, share, job)?;
                Ok(Self::Coordinated(Box::new(driver)))
            }
            _ => Ok(Self::InProcess(Arc::from(engine))),
        }
    }

    /// The database's engine.
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            Self::InProcess(engine) | Self::Model(engine) => engine.as_ref(),
            Self::Server(remote) => remote.as_ref(),
            Self::Coordinated(driver) => driver.engine(),
        }
    }

    /// The other side of a round that several drivers may share: it opens the round, and checks the database.
    fn remote(&self) -> Option<&Remote> {
        match self {
            Self::InProcess(_) | Self::Model(_) => None,
            Self::Server(remote) => Some(remote),
            Self::Coordinated(driver) => driver.remote(),
        }
    }

    /// Whether rounds are checked as they end, for all their drivers.
    pub(crate) fn checks_itself(&self) -> bool {
        matches!(self, Self::Server(_) | Self::Coordinated(_))
    }

    /// Makes sure that the database is the requested one; in this process it is loaded if necessary.
    pub(super) fn ready(&self, target: &str, job: &dyn SharedJob, context: &RunContext) -> Result<ReadyDatabase> {
        match self {
            Self::InProcess(engine) | Self::Model(engine) => prepared(target, engine.as_ref(), job, context),
            Self::Coordinated(driver) => driver.ready(target, job, context),
            Self::Server(remote) => {
                let ready = served(target, remote, "when the server found it", job, context)?;
                note(&format!("{target}: {}", remote.history()));
                Ok(ready)
            }
        }
    }

    /// Runs a round: calls `run` with the system, the clock and the flag that ends the round.
    pub(super) fn run(
        &self,
        clock: &dyn Clock,
        interrupted: &AtomicBool,
        run: impl FnOnce(Performing<'_>, &dyn Clock, &AtomicBool) -> Result<RunResult, RunError>,
    ) -> Result<RunResult, RunError> {
        match self {
            Self::InProcess(engine) | Self::Model(engine) => {
                run(Performing::Engine(engine.as_ref()), clock, interrupted)
            }
            Self::Server(remote) => run(Performing::Server(remote), clock, interrupted),
            Self::Coordinated(driver) => driver.run(clock, interrupted, run),
        }
    }

    /// Checks the database and reconciles a round, in this process by calling `check`; a server does that once all drivers of
    /// the round have ended.
    pub(super) fn check(
        &self,
        target: &str,
        ran: &mut RunResult,
        check: impl FnOnce(&dyn Engine, &RunResult) -> bourse_engine::Result<Vec<Check>>,
    ) -> Result<Vec<Check>> {
        let Some(remote) = self.remote() else {
            if matches!(self, Self::Model(_)) {
                return Ok(Vec::new());
            }
            return check(self.engine(), ran).map_err(|error| engine_failure(target, &error));
        };
        let end = remote.close(&ran.acknowledged).map_err(|error| failure(target, &error))?;
        if let Some(shared) = &mut ran.round.shared {
            if !end.vanished.is_empty() {
                let (numbers, of) = (end.vanished.clone(), shared.of);
                ran.round.warnings.push(Warning::DriversVanished { numbers, of });
            }
            shared.vanished = end.vanished;
        }
        Ok(end.checks)
    }

    /// The last round on a server, and this driver's part of it.
    pub(crate) fn shared(&self, share: Share) -> Option<SharedRound> {
        let (number, of) = (share.number(), share.of());
        Some(SharedRound { round: self.remote()?.round()?, number, of, vanished: Vec::new() })
    }

    /// History of the database before the last round: with the server's preparation of it.
    pub(crate) fn history_with_preparation(&self, history: String) -> String {
        match self.remote() {
            Some(remote) if !remote.prepared().is_empty() => format!("{history}; {}", remote.prepared()),
            _ => history,
        }
    }

    /// Leaves a round that has failed: the server treats this driver as lost, and the others continue.
    pub(crate) fn abandon(&self) {
        if let Some(remote) = self.remote() {
            remote.leave();
        }
    }
}

/// The database of an engine in this process: found fit, or loaded, and checked.
pub(super) fn prepared(
    target: &str,
    engine: &dyn Engine,
    job: &dyn SharedJob,
    context: &RunContext,
) -> Result<ReadyDatabase> {
    engines::make_folder(target)?;
    job.wanted(context, &mut |wanted| database::ready(target, engine, wanted, job.depth(), &context.interrupted))
}

/// Says who is waited for.
pub(super) fn waiting() -> impl Fn(WaitProgress) + Send + Sync + 'static {
    // The server names the missing drivers every second; each is reported once.
    let told = Mutex::new(None);
    move |WaitProgress { ready, of, what }: WaitProgress| {
        let last = told.lock().unwrap_or_else(PoisonError::into_inner).replace(what);
        let words = match what {
            _ if of == 1 || last == Some(what) => return,
            Wait::Beginning => "are there; waiting for the others to come (Ctrl-C gives up)",
            Wait::Ending => "have ended; waiting for the others before the database is checked",
            Wait::Starting | Wait::Checking => return,
        };
        note(&format!("{ready} of {of} drivers {words}"));
    }
}

/// The server's database, if it is the requested one; `when` the server found it.
pub(super) fn served(
    target: &str,
    remote: &Remote,
    when: &str,
    job: &dyn SharedJob,
    context: &RunContext,
) -> Result<ReadyDatabase> {
    job.wanted(context, &mut |wanted| {
        let history = format!("{when}: {}", remote.history());
        Ok(ReadyDatabase { fingerprint: requested(target, remote, wanted)?, history, checks: Vec::new() })
    })
}

fn requested(target: &str, remote: &Remote, wanted: &WantedDatabase<'_>) -> Result<Fingerprint> {
    let there = remote.fingerprint();
    let (size, constraints) = (wanted.adopt)(there);
    wanted.workload.check_size(&size).map_err(Failure::usage)?;
    let ours = Fingerprint::of(remote, wanted.workload, wanted.generator, &size, constraints);
    let ours = ours.map_err(|error| engine_failure(target, &error))?;
    // The schema is hashed in the dialect of the server's engine, which is not ours to know.
    let ours = Fingerprint { schema: there.schema.clone(), ..ours };
    let differences = ours.differences(wanted.workload, there);
    if differences.is_empty() {
        return Ok(ours);
    }
    let mut refused = Failure::usage(format!("{target} serves a different database: {}", differences.join("; ")))
        .hint("a driver takes the size of the database from the server unless it is given");
    if ours.inputs != there.inputs {
        refused = refused.hint("the server uses other input data: give --flat-in on both sides, or on neither");
    }
    Err(refused)
}
