//! The system under test: an engine in this process, or a server that is called.

use super::coordinated::Driver;
use super::model::{self, ModelSystem};
use crate::engines;
use crate::failure::Failure;
use crate::oltp::database::{ReadyDatabase, engine_failure, refuse_foreign};
use crate::plan::{Brokerage, targets};
use crate::progress::note;
use crate::tpce::{database, serve::failure};
use bourse_driver::{Clock, RealClock, RoundProgress};
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, Location};
use bourse_record::{Check, SharedRound, Warning};
use bourse_serve::client::{Wait, WaitProgress};
use bourse_serve::{Address, Remote};
use bourse_tpce::load::{self, Fingerprint, part_of};
use bourse_tpce::sut::InProcess;
use bourse_tpce::users::{self, RunError, RunOptions, RunResult};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// System that runs the transactions.
pub(crate) enum SystemUnderTest {
    InProcess(Arc<dyn Engine>),
    /// The reference model, in place of an engine that stores nothing.
    Model(Box<dyn Engine>),
    Server(Box<Remote>),
    Coordinated(Box<Driver>),
}

impl SystemUnderTest {
    /// Opens a target, or calls its server; refuses a target that cannot run this workload.
    pub(crate) fn open(target: &str, job: &Brokerage) -> Result<Self, Failure> {
        if Address::has_scheme(target) {
            return call(target, job).map(|remote| Self::Server(Box::new(remote)));
        }
        targets::check(target, job)?;
        let engine = engines::open(target)?;
        if job.process().is_none() {
            refuse_foreign(target, engine.as_ref())?;
        }
        match (&job.coordinate, job.driver()) {
            (Some(coordinate), Some(share)) => {
                let driver = Driver::new(target, engine, coordinate, share, job)?;
                Ok(Self::Coordinated(Box::new(driver)))
            }
            _ if matches!(engine.location(), Location::Nowhere) => Ok(Self::Model(engine)),
            _ => Ok(Self::InProcess(Arc::from(engine))),
        }
    }

    /// The database's engine.
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            Self::InProcess(engine) => engine.as_ref(),
            Self::Model(engine) => engine.as_ref(),
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
    pub(crate) fn ready(
        &self,
        target: &str,
        job: &Brokerage,
        inputs: &Inputs,
        clock: &RealClock,
        interrupted: &AtomicBool,
    ) -> Result<ReadyDatabase, Failure> {
        match self {
            Self::InProcess(engine) => prepared(target, engine.as_ref(), job, inputs, interrupted),
            Self::Model(_) => model::ready(target, &job.database, inputs),
            Self::Coordinated(driver) => driver.ready(target, job, inputs, clock, interrupted),
            Self::Server(remote) => {
                let fingerprint = served(target, remote, job, inputs)?;
                note(&format!("{target}: {}", remote.history()));
                let history = format!("when the server found it: {}", remote.history());
                Ok(ReadyDatabase { fingerprint, history, checks: Vec::new() })
            }
        }
    }

    /// Runs a round.
    pub(crate) fn run(
        &self,
        inputs: &Inputs,
        options: &RunOptions,
        clock: &dyn Clock,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(&RoundProgress),
    ) -> Result<RunResult, RunError> {
        match self {
            Self::InProcess(engine) => {
                users::run_on(&InProcess::new(engine.as_ref()), inputs, options, clock, interrupted, progress)
            }
            Self::Model(_) => {
                let ran = users::run_on(&ModelSystem::new(inputs), inputs, options, clock, interrupted, progress);
                ran.map(|mut ran| {
                    ran.round.warnings.push(Warning::of_engine(model::NOTE));
                    ran
                })
            }
            Self::Server(remote) => users::run_on(remote.as_ref(), inputs, options, clock, interrupted, progress),
            Self::Coordinated(driver) => driver.run(inputs, options, clock, interrupted, progress),
        }
    }

    /// Reconciles a round with the database of an engine in this process, before another round follows on it.
    pub(crate) fn reconcile(&self, target: &str, ran: &RunResult) -> Result<Vec<Check>, Failure> {
        if matches!(self, Self::Model(_)) {
            return Ok(Vec::new());
        }
        users::reconcile(self.engine(), ran).map_err(|error| engine_failure(target, &error))
    }

    /// Checks the database of an engine in this process, and reconciles nothing.
    pub(crate) fn check_alone(
        &self,
        target: &str,
        options: &RunOptions,
        clock: &dyn Clock,
        say: &mut dyn FnMut(String),
    ) -> Result<Vec<Check>, Failure> {
        if matches!(self, Self::Model(_)) {
            return Ok(Vec::new());
        }
        users::verify(self.engine(), options.part, None, clock, &mut |check| say(check.name.clone()))
            .map_err(|error| engine_failure(target, &error))
    }

    /// Checks the database and reconciles a round; a server does that once all drivers of the round have ended.
    pub(crate) fn check(
        &self,
        target: &str,
        options: &RunOptions,
        ran: &mut RunResult,
        clock: &dyn Clock,
        say: &mut dyn FnMut(String),
    ) -> Result<Vec<Check>, Failure> {
        let Some(remote) = self.remote() else {
            if matches!(self, Self::Model(_)) {
                return Ok(Vec::new());
            }
            return users::verify(self.engine(), options.part, Some(ran), clock, &mut |check| say(check.name.clone()))
                .map_err(|error| engine_failure(target, &error));
        };
        let end = remote.close(ran.acknowledged).map_err(|error| failure(target, &error))?;
        if !end.vanished.is_empty() {
            let (numbers, of) = (end.vanished.clone(), options.share.of());
            ran.round.warnings.push(bourse_record::Warning::DriversVanished { numbers, of });
        }
        if let Some(shared) = &mut ran.round.shared {
            shared.vanished = end.vanished;
        }
        Ok(end.checks)
    }

    /// The last round on a server, and this driver's part of it.
    pub(crate) fn shared(&self, options: &RunOptions) -> Option<SharedRound> {
        let remote = self.remote()?;
        let (number, of) = (options.share.number(), options.share.of());
        Some(SharedRound { round: remote.round()?, number, of, vanished: Vec::new() })
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
    job: &Brokerage,
    inputs: &Inputs,
    interrupted: &AtomicBool,
) -> Result<ReadyDatabase, Failure> {
    engines::make_folder(target)?;
    database::ready(target, engine, &job.database, job.explicitly_set, inputs, job.check.into(), interrupted)
}

fn call(target: &str, job: &Brokerage) -> Result<Remote, Failure> {
    let (address, token) = targets::caller(target, job)?;
    Remote::call(address, token, env!("CARGO_PKG_VERSION"), waiting()).map_err(|error| failure(target, &error))
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

/// The server's database, if it is the requested one.
pub(super) fn served(target: &str, remote: &Remote, job: &Brokerage, inputs: &Inputs) -> Result<Fingerprint, Failure> {
    let there = remote.fingerprint();
    let served = part_of(there);
    let database = &job.database;
    let set = job.explicitly_set;
    let or_served = |set: bool, asked: i64, there: i64| if set { asked } else { there };
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let customers = or_served(set.customers, signed(database.customers), served.total_customers());
    let part = Part::new(
        served.first_customer(),
        if set.customers { customers } else { served.customers() },
        customers,
        or_served(set.scale_factor, database.scale_factor.into(), served.scale_factor()),
        or_served(set.days, database.days.into(), served.days()),
    )
    .map_err(|error| Failure::usage(error.to_string()))?;
    let constraints = if set.constraints { database.constraints.into() } else { there.constraints };
    let ours = load::fingerprint(remote, inputs, part, constraints).map_err(|error| engine_failure(target, &error))?;
    // The schema is hashed in the dialect of the server's engine, which is not ours to know.
    let wanted = Fingerprint { schema: there.schema.clone(), ..ours };
    let differences = load::differences(&wanted, there);
    if differences.is_empty() {
        return Ok(wanted);
    }
    let mut refused = Failure::usage(format!("{target} serves a different database: {}", differences.join("; ")))
        .hint("a driver takes customers, days and scale factor from the server unless they are given");
    if wanted.inputs != there.inputs {
        refused = refused.hint("the server uses other input data: give --flat-in on both sides, or on neither");
    }
    Err(refused)
}
