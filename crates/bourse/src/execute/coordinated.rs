//! One of several drivers on a database that all of them reach: driver 1 makes it ready, coordinates, and checks it for all;
//! the others join driver 1. No statement passes through another driver. Of the processes that a run shares out its users over,
//! each is such a driver, and the process that started them coordinates.

use super::RunContext;
use super::shared::SharedJob;
use super::system::{prepared, served, waiting};
use crate::failure::{Exit, Failure, Result};
use crate::hold::{self, HeldDatabases};
use crate::interrupt;
use crate::oltp::database::{ReadyDatabase, find_database, refuse_foreign};
use crate::oltp::serve::{failure, resolved, tell};
use crate::oltp::served::{Performing, ServedWorkload};
use crate::plan::drivers::Coordinate;
use crate::plan::targets;
use crate::progress::note;
use bourse_driver::{Clock, Fault, RealClock};
use bourse_engine::Engine;
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::{RunError, RunResult, Share};
use bourse_record::NameValue;
use bourse_serve::client::ClockOffset;
use bourse_serve::server::{Event, Offer};
use bourse_serve::{Address, CoordinatedDriver, Remote, ServeError, Server, ServerOptions, Token};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which a driver tries to reach driver 1.
const LOOK: Duration = Duration::from_millis(200);

/// A driver among several.
pub(crate) struct Driver {
    workload: &'static dyn ServedWorkload,
    engine: Arc<dyn Engine>,
    share: Share,
    place: Address,
    gather: Duration,
    token: Option<Token>,
    joined: OnceLock<CoordinatedDriver>,
    coordinator: OnceLock<Coordinator>,
    /// The hold of driver 1, shared with it.
    held: OnceLock<HeldDatabases>,
    /// Whether this is a process of users, whose parent coordinates.
    is_process: bool,
}

impl Driver {
    /// A driver that has not joined a round yet.
    pub(super) fn new(
        target: &str,
        engine: Box<dyn Engine>,
        coordinate: &Coordinate,
        share: Share,
        job: &dyn SharedJob,
    ) -> Result<Self> {
        let of = job.requirements()?;
        if of.reloads && share.number() > 1 {
            return Err(Failure::usage(format!("--reload: driver {share} does not load {target}, driver 1 does"))
                .hint("give --reload to driver 1 alone"));
        }
        let token = match &coordinate.process {
            Some(process) => Token::new(&process.token, "the request of this process").map(Some),
            None => Token::find(of.drivers.token_file.as_deref()),
        };
        Ok(Self {
            workload: job.served()?,
            engine: Arc::from(engine),
            share,
            place: targets::place(&coordinate.place)?,
            gather: Duration::from_nanos(coordinate.gather_ns),
            token: token.map_err(|error| failure(target, &error))?,
            joined: OnceLock::new(),
            coordinator: OnceLock::new(),
            held: OnceLock::new(),
            is_process: coordinate.process.is_some(),
        })
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        self.engine.as_ref()
    }

    /// The connection with driver 1, if there is one.
    pub(super) fn remote(&self) -> Option<&Remote> {
        self.joined.get().map(CoordinatedDriver::remote)
    }

    /// Driver 1 makes the database ready and begins to coordinate; the others find it and join.
    pub(super) fn ready(&self, target: &str, job: &dyn SharedJob, context: &RunContext) -> Result<ReadyDatabase> {
        let failed = |error: ServeError| failure(target, &error);
        if self.is_process {
            // The parent has found its database fit, and holds it.
            self.join(self.place.clone()).map_err(failed)?;
            let fingerprint = self.remote().map(|remote| remote.fingerprint().clone());
            let fingerprint = fingerprint.ok_or_else(|| Failure::usage("the parent process was not joined"))?;
            return Ok(ReadyDatabase { fingerprint, history: String::new(), checks: Vec::new() });
        }
        if self.share.number() == 1 {
            let options = self.options(job)?;
            // An address that cannot be listened on is refused before minutes of loading; a driver that came already would
            // get no answer.
            drop(Server::bind(options.clone()).map_err(failed)?);
            let ready = prepared(target, self.engine(), job, context)?;
            let server = Server::bind(options).map_err(failed)?;
            let address = server.address().clone();
            note(&format!(
                "driver {} coordinates at {address}; the others: the same target, --for and --warmup, with --part K/{} --coordinate {}",
                self.share,
                self.share.of(),
                address.to_string().trim_start_matches("bourse://").replace("bourse+unix:", "unix:")
            ));
            let refused = AtomicU64::new(0);
            let coordinator =
                Coordinator::start(server, self.workload, Arc::clone(&self.engine), &ready, context, move |event| {
                    tell(event, &refused);
                });
            // Set once: a target has one database.
            let _ = self.coordinator.set(coordinator?);
            self.join(address).map_err(failed)?;
            return Ok(ready);
        }
        self.join_within_limit(target, &context.interrupted)?;
        // Set once: a target has one database.
        let _ = self.held.set(hold::join(target)?);
        let remote = self.remote().ok_or_else(|| Failure::usage("driver 1 was not joined"))?;
        let ready = served(target, remote, "when driver 1 found it", job, context)?;
        refuse_foreign(target, self.engine())?;
        let workload = self.workload.workload();
        let found = find_database(target, self.engine(), workload)?;
        let differences = remote.fingerprint().differences(workload, &found.fingerprint);
        if !differences.is_empty() {
            return Err(Failure::usage(format!("{target} is not driver 1's database: {}", differences.join("; ")))
                .hint("give all drivers the same database"));
        }
        note(&format!("{target}: {}", remote.history()));
        Ok(ReadyDatabase {
            fingerprint: Fingerprint { schema: found.fingerprint.schema, ..ready.fingerprint },
            ..ready
        })
    }

    fn options(&self, job: &dyn SharedJob) -> Result<ServerOptions> {
        let of = job.requirements()?;
        let place = of.drivers.coordinate.as_ref().map_or("", |coordinate| &coordinate.place);
        Ok(ServerOptions {
            token: self.token.clone(),
            gather: self.gather,
            coordinates: true,
            ..ServerOptions::new(resolved("--coordinate", place)?, env!("CARGO_PKG_VERSION"))
        })
    }

    fn join(&self, address: Address) -> Result<(), ServeError> {
        let version = env!("CARGO_PKG_VERSION");
        let (workload, engine, token) = (self.workload.workload(), Arc::clone(&self.engine), self.token.clone());
        let joined = CoordinatedDriver::join(workload, engine, address, token, version, waiting())?;
        // Set once: a driver joins once.
        let _ = self.joined.set(joined);
        Ok(())
    }

    /// Joins driver 1, which may be loading the database.
    fn join_within_limit(&self, target: &str, interrupted: &AtomicBool) -> Result<()> {
        let begun = Instant::now();
        let mut told = false;
        loop {
            match self.join(self.place.clone()) {
                Err(ServeError::Connect { address, cause }) if begun.elapsed() >= self.gather => {
                    let seconds = self.gather.as_secs_f64();
                    return Err(Failure::new(Exit::Target, format!("driver 1 does not answer at {address}: {cause}"))
                        .detail("waited", format!("{seconds} s for driver 1 of {}", self.share.of()))
                        .hint("start driver 1 with --part 1/N and the same --coordinate; --gather waits longer, for instance while it loads"));
                }
                Err(ServeError::Connect { .. }) => {}
                joined => return joined.map_err(|error| failure(target, &error)),
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err(interrupt::interrupted("driver 1 was waited for"));
            }
            if !std::mem::replace(&mut told, true) {
                note(&format!("waiting for driver 1 at {} (Ctrl-C gives up)", self.place));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Runs a round coordinated by driver 1.
    pub(super) fn run(
        &self,
        clock: &dyn Clock,
        interrupted: &AtomicBool,
        run: impl FnOnce(Performing<'_>, &dyn Clock, &AtomicBool) -> Result<RunResult, RunError>,
    ) -> Result<RunResult, RunError> {
        let refused = |why: &str| RunError::Refused(why.to_owned());
        let driver = self.joined.get().ok_or_else(|| refused("driver 1 was not joined"))?;
        let offset = |error: ServeError| refused(&error.to_string());
        let before = driver.read_clocks(clock).map_err(offset)?;
        // Rows have the date and time of one machine.
        let calendar = bourse_driver::CalendarClock { clock, ahead_ms: before.calendar_ms };
        driver.cut().store(interrupted.load(Ordering::Relaxed), Ordering::Relaxed);
        let is_over = AtomicBool::new(false);
        let (ran, lost) = std::thread::scope(|scope| {
            let touch = scope.spawn(|| driver.send_signs_of_life(clock, interrupted, &is_over));
            let ran = run(Performing::Coordinated(driver), &calendar, driver.cut());
            is_over.store(true, Ordering::Relaxed);
            (ran, touch.join().unwrap_or_else(|_| Some("the thread that stays in touch panicked".to_owned())))
        });
        let mut ran = ran?;
        if let Some(cause) = lost {
            ran.interrupted = interrupted.load(Ordering::Relaxed);
            let who = if self.is_process { "the process that shows the figures" } else { "driver 1" };
            ran.fault.get_or_insert(Fault::CoordinatorLost { who, cause });
            return Ok(ran);
        }
        if let (Ok(after), 2.., false) = (driver.read_clocks(clock), self.share.number(), self.is_process) {
            // The round itself ran with the corrected calendar.
            let value = clocks(&ClockOffset { calendar_ms: before.calendar_ms, ..driver.offset() }, &after);
            ran.round.facts.push(NameValue::new("clock", value));
        }
        Ok(ran)
    }
}

/// Remark on a driver's clock compared with driver 1's.
fn clocks(before: &ClockOffset, after: &ClockOffset) -> String {
    let error_ms = before.error_ns.max(after.error_ns) as f64 / 1e6;
    let drift_ms = (after.clock_ns - before.clock_ns) as f64 / 1e6;
    let calendar = match before.calendar_ms {
        0 => "its calendar shows driver 1's time".to_owned(),
        ahead @ 1.. => format!("its calendar is {ahead} ms behind driver 1's"),
        behind => format!("its calendar is {} ms ahead of driver 1's", behind.unsigned_abs()),
    };
    format!(
        "{calendar} (within {:.0} ms), and rows have driver 1's; the begin is driver 1's within {error_ms:.3} ms; the clocks moved \
         {drift_ms:+.3} ms apart in the round",
        (error_ms + 1.0).ceil()
    )
}

impl Drop for Driver {
    fn drop(&mut self) {
        // This driver leaves first, then the coordinator ends the others' connections.
        drop(self.joined.take());
        drop(self.coordinator.take());
    }
}

/// The thread in which a round is coordinated; ended when dropped, after all drivers were answered.
pub(super) struct Coordinator {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Coordinator {
    /// Starts to coordinate; `tell` is called with each event.
    pub(super) fn start(
        server: Server,
        workload: &'static dyn ServedWorkload,
        engine: Arc<dyn Engine>,
        ready: &ReadyDatabase,
        context: &RunContext,
        tell: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let clock: RealClock = context.clock.clone();
        let (stopped, fingerprint, history) = (Arc::clone(&stop), ready.fingerprint.clone(), ready.history.clone());
        let coordinate = move || {
            let offer = Offer { engine: engine.as_ref(), fingerprint: &fingerprint, history: &history };
            if let Err(error) = workload.serve(server, offer, &clock, &stopped, &|event| tell(&event)) {
                note(&format!("cannot coordinate the drivers: {error}"));
            }
        };
        let thread = std::thread::Builder::new().name("coordinator".to_owned()).spawn(coordinate);
        let thread =
            thread.map_err(|error| Failure::usage(format!("the system refused to start a thread: {error}")))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its panic has been reported.
            let _ = thread.join();
        }
    }
}
