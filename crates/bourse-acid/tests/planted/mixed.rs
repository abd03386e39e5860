//! Workloads whose users draw transactions by their shares, with their bugs.

use crate::databases::{Copy, Planted};
use crate::detectors::{Found, Length, ended, examined};
use bourse_acid::mixed::MixAcid;
use bourse_driver::{Clock, MS, Nanos, RoundPlan};
use bourse_engine::Engine;
use bourse_oltp::mix::{RunOptions, Transactions, run};
use bourse_oltp::planted::{Bug, plant};
use bourse_oltp::sut::{InProcess, Share, SharedWorkload as _};
use bourse_record::{Check, Round};
use bourse_schema::Timestamp;
use bourse_tatp::Tatp;
use bourse_tpcc::Tpcc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;

/// Clock that advances with each reading by a user: a round has the same transactions on a slow machine as on a fast one.
struct ReadingsClock {
    now: AtomicU64,
    /// Thread of the driver, whose readings do not count.
    driver: ThreadId,
}

impl ReadingsClock {
    /// Time that passes with each reading by a user.
    const READING: Nanos = MS / 2;

    fn start() -> Self {
        Self { now: AtomicU64::new(0), driver: std::thread::current().id() }
    }
}

impl Clock for ReadingsClock {
    fn now(&self) -> Nanos {
        let passes = if std::thread::current().id() == self.driver { 0 } else { Self::READING };
        self.now.fetch_add(passes, Ordering::Relaxed)
    }

    fn sleep_until(&self, at: Nanos) {
        self.now.fetch_max(at, Ordering::Relaxed);
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_millis((self.now() / MS).cast_signed())
    }
}

/// Runs as `bourse WORKLOAD run` does, for a second of [`ReadingsClock`] and with one user: what two users do to one another is for
/// the contention sample.
fn ran<T: Transactions>(bug: Option<&'static Bug>, engine: &dyn Engine) -> Result<(Round, Vec<Check>), Found> {
    let clock = ReadingsClock::start();
    let plan = RoundPlan { warm_up_ns: 100 * MS, measure_ns: 900 * MS, ..RoundPlan::default() };
    let (size, share) = (T::smallest(), Share::WHOLE);
    let options = RunOptions { size, users: 1, open_loop: None, terminals: false, plan, seed: 1, share };
    plant(bug);
    let sut = InProcess::<T>::new(engine);
    let ran = run::<T>(&sut, &options, &clock, &AtomicBool::new(false), &mut |_| {});
    plant(None);
    let mut ran = ended("cannot begin", ran, |ran| ran.fault.as_ref())?;
    // The clock is a real one, so they are about the machine.
    ran.round.warnings.clear();
    let run = Some((&ran.before, &ran.acknowledged));
    let checks = T::check(engine, &options.size, run, &clock, &mut |_| {});
    Ok((ran.round, ended("cannot be checked", checks, |_| None::<&String>)?))
}

impl Planted for Tatp {
    fn with(_: Option<&'static Bug>) -> Self {
        Self
    }

    fn run(&self, bug: Option<&'static Bug>, engine: &dyn Engine, _: Length) -> Result<(Round, Vec<Check>), Found> {
        ran::<Self>(bug, engine)
    }
}

impl Planted for Tpcc {
    fn with(_: Option<&'static Bug>) -> Self {
        Self
    }

    fn run(&self, bug: Option<&'static Bug>, engine: &dyn Engine, _: Length) -> Result<(Round, Vec<Check>), Found> {
        ran::<Self>(bug, engine)
    }

    fn acid(copy: &Copy<'_, Self>) -> Option<Found> {
        MixAcid::<Self>::new(Self::smallest()).map(|tests| examined(copy, &tests))
    }
}
