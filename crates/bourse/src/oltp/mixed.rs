//! The workloads whose users draw transactions by their shares, as the program's commands have them.

use super::verify::Verification;
use crate::execute::RunContext;
use crate::execute::sample::{SampleChecks, of_target};
use crate::failure::Failure;
use bourse_driver::{Clock, Fault, RoundProgress};
use bourse_engine::{Capabilities, Engine, Isolation, Session};
use bourse_oltp::check::ledger::Growths;
use bourse_oltp::mix::{MixResult, Reference, RunOptions, Sequence, Transactions, run};
use bourse_oltp::verify::Sampled as _;
use bourse_oltp::{Generator, Size, Workload};
use bourse_record::OperationIsolation;
use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

/// Every such workload.
pub(crate) static WORKLOADS: &[&dyn MixWorkload] = &[&bourse_tatp::Tatp];

/// The workload of that name.
pub(crate) fn find(name: &str) -> Option<&'static dyn MixWorkload> {
    WORKLOADS.iter().copied().find(|mixed| mixed.workload().name() == name)
}

/// A workload whatever the types of its transactions.
pub(crate) trait MixWorkload: Sync + Debug {
    /// The workload as data.
    fn workload(&self) -> &dyn Workload;

    /// The generator of its rows.
    fn generator(&self) -> &dyn Generator;

    /// Name of the number that is a size, as the option has it.
    fn unit(&self) -> &'static str;

    /// A size by that number.
    fn size(&self, number: u64) -> Size;

    /// Notice for every report.
    fn notice(&self) -> &'static str;

    /// Growth that runs cause.
    fn growths(&self) -> &'static Growths;

    /// Isolation that each transaction demands, and the one that an engine with these capabilities provides.
    fn isolation(&self, capabilities: &Capabilities) -> Vec<OperationIsolation>;

    /// Runs a round.
    fn run(
        &self,
        engine: &dyn Engine,
        options: &RunOptions,
        clock: &dyn Clock,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(&RoundProgress),
    ) -> Result<MixResult, Fault>;

    /// Samples the transactions on a database beside a target's.
    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks, Failure>;

    /// Compares several systems over the transactions of a seed: each is a name with a session, or the reference.
    fn verify(
        &self,
        verification: &Verification<'_>,
        systems: Vec<(String, Option<Box<dyn Session>>)>,
        size: &Size,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure>;

    /// Meaning of a status code.
    fn meaning(&self, code: i32) -> Option<&'static str>;
}

impl<T: Transactions + Debug> MixWorkload for T {
    fn workload(&self) -> &dyn Workload {
        self
    }

    fn generator(&self) -> &dyn Generator {
        self
    }

    fn unit(&self) -> &'static str {
        self.size_columns().first().map_or("size", |column| column.name)
    }

    fn size(&self, number: u64) -> Size {
        Size(vec![i64::try_from(number).unwrap_or(i64::MAX)])
    }

    fn notice(&self) -> &'static str {
        T::NOTICE
    }

    fn growths(&self) -> &'static Growths {
        <T as Transactions>::growths()
    }

    fn isolation(&self, capabilities: &Capabilities) -> Vec<OperationIsolation> {
        let demands = (0..T::NAMES.len()).map(|kind| (T::NAMES[kind], T::demands(kind).0));
        demands.map(|(name, demanded)| isolation(name, demanded, capabilities)).collect()
    }

    fn run(
        &self,
        engine: &dyn Engine,
        options: &RunOptions,
        clock: &dyn Clock,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(&RoundProgress),
    ) -> Result<MixResult, Fault> {
        run::<T>(engine, options, clock, interrupt, progress)
    }

    fn sample(&self, target: &str, context: &RunContext) -> Result<SampleChecks, Failure> {
        of_target(self, target, context)
    }

    fn verify(
        &self,
        verification: &Verification<'_>,
        systems: Vec<(String, Option<Box<dyn Session>>)>,
        size: &Size,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let subject = |(name, session): (String, Option<_>)| match session {
            Some(session) => self.subject(&name, session),
            None => Box::new(Reference::load(self, size)),
        };
        let mut subjects: Vec<_> = systems.into_iter().map(subject).collect();
        verification.run(&mut subjects, &mut Sequence::<T>::new(size, verification.settings.seed), interrupted)
    }

    fn meaning(&self, code: i32) -> Option<&'static str> {
        T::CODES.iter().find(|(known, _)| *known == code).map(|(_, meaning)| *meaning)
    }
}

fn isolation(name: &str, demanded: Isolation, capabilities: &Capabilities) -> OperationIsolation {
    bourse_oltp::isolation::of(name, demanded, capabilities)
}
