//! TATP with its bugs.

use crate::databases::Planted;
use crate::detectors::{Found, Length, ended};
use bourse_driver::{MS, RealClock, RoundPlan};
use bourse_engine::Engine;
use bourse_oltp::mix::{RunOptions, run};
use bourse_oltp::planted::{Bug, plant};
use bourse_oltp::sut::{InProcess, Share, SharedWorkload as _};
use bourse_oltp::verify::Sampled as _;
use bourse_record::{Check, Round};
use bourse_tatp::Tatp;
use std::sync::atomic::AtomicBool;

impl Planted for Tatp {
    fn with(_: Option<&'static Bug>) -> Self {
        Self
    }

    /// Runs as `bourse tatp run` does, for two seconds and with one user: what two users do to one another is for the contention
    /// sample.
    fn run(&self, bug: Option<&'static Bug>, engine: &dyn Engine, _: Length) -> Result<(Round, Vec<Check>), Found> {
        let clock = RealClock::start();
        let plan = RoundPlan { warm_up_ns: 200 * MS, measure_ns: 1_800 * MS, ..RoundPlan::default() };
        let (size, share) = (self.size(), Share::WHOLE);
        let options = RunOptions { size, users: 1, open_loop: None, terminals: false, plan, seed: 1, share };
        plant(bug);
        let sut = InProcess::<Self>::new(engine);
        let ran = run::<Self>(&sut, &options, &clock, &AtomicBool::new(false), &mut |_| {});
        plant(None);
        let mut ran = ended("cannot begin", ran, |ran| ran.fault.as_ref())?;
        // The clock is a real one, so they are about the machine.
        ran.round.warnings.clear();
        let run = Some((&ran.before, &ran.acknowledged));
        let checks = Self::check(engine, &options.size, run, &clock, &mut |_| {});
        Ok((ran.round, ended("cannot be checked", checks, |_| None::<&String>)?))
    }
}
