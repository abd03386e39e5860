//! The workloads whose users draw transactions by their shares, as the program's commands have them.

use super::database::{DatabaseOptions, ReadyDatabase, WantedDatabase, WithWanted};
use super::served::{Performing, ServedWorkload};
use super::verify::Verification;
use crate::args::{GivenOptions, MixDatabase};
use crate::execute::RunContext;
use crate::execute::sample::{SampleChecks, of_target};
use crate::failure::{Failure, Result};
use crate::plan::Drivers;
use bourse_acid::AcidWorkload;
use bourse_acid::mixed::MixAcid;
use bourse_driver::{Clock, RoundProgress};
use bourse_engine::{Capabilities, Session};
use bourse_oltp::mix::{Reference, RunOptions, Sequence, Transactions, run};
use bourse_oltp::sut::{RunError, RunResult};
use bourse_oltp::verify::Sampled as _;
use bourse_oltp::{Generator, Size};
use bourse_record::OperationIsolation;
use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

/// Every such workload.
pub(crate) static WORKLOADS: &[&dyn MixWorkload] = &[&bourse_tatp::Tatp, &bourse_tpcc::Tpcc];

/// The workload of that name.
pub(crate) fn find(name: &str) -> Option<&'static dyn MixWorkload> {
    WORKLOADS.iter().copied().find(|mixed| mixed.workload().name() == name)
}

/// Options of a database of a size.
pub(crate) struct MixedDatabase<'d> {
    pub(crate) mixed: &'static dyn MixWorkload,
    pub(crate) size: Size,
    pub(crate) options: &'d MixDatabase,
    /// Options that were set explicitly; an existing database is otherwise used with its own.
    pub(crate) set: &'d GivenOptions,
}

impl<'d> MixedDatabase<'d> {
    /// The database that the options describe, of that size unless they have another.
    pub(crate) fn of(
        mixed: &'static dyn MixWorkload,
        options: &'d MixDatabase,
        usual: u64,
        set: &'d GivenOptions,
    ) -> Self {
        Self { mixed, size: mixed.size(options.size.unwrap_or(usual)), options, set }
    }
}

impl DatabaseOptions for MixedDatabase<'_> {
    fn served(&self) -> &'static dyn ServedWorkload {
        self.mixed
    }
    fn needs(&self) -> fn(&Capabilities) -> Vec<String> {
        bourse_oltp::mix::needs
    }
    fn size(&self) -> Result<(String, u64)> {
        let workload = self.mixed.workload();
        workload.check_size(&self.size).map_err(Failure::usage)?;
        Ok((workload.size_text(&self.size), workload.work(&self.size) as u64))
    }
    fn reloads(&self) -> bool {
        self.options.reload
    }
    fn wanted(&self, then: WithWanted<'_>) -> Result<ReadyDatabase> {
        let Self { mixed, size, options, set } = self;
        mixed.workload().check_size(size).map_err(Failure::usage)?;
        let constraints = options.constraints.into();
        then(&WantedDatabase {
            workload: mixed.workload(),
            generator: mixed.generator(),
            size: size.clone(),
            constraints,
            adopt: &|found| {
                let size = if set.given("size") { size.clone() } else { found.size.clone() };
                (size, if set.given("constraints") { constraints } else { found.constraints })
            },
            smaller: "a smaller --size needs less room",
            reload: options.reload,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        })
    }
}

/// A workload whatever the types of its transactions.
pub(crate) trait MixWorkload: ServedWorkload + Debug {
    /// The generator of its rows.
    fn generator(&self) -> &dyn Generator;

    /// Name of the number that is a size, as the option has it.
    fn unit(&self) -> &'static str;

    /// Names of the transactions.
    fn operations(&self) -> &'static [&'static str];

    /// Name of the transaction whose completions per minute are shown next to the headline.
    fn per_minute(&self) -> Option<&'static str>;

    /// A size by that number.
    fn size(&self, number: u64) -> Size;

    /// Size of the smallest database.
    fn smallest(&self) -> Size;

    /// Tests of atomicity, consistency, isolation and durability on a database of that size; `None` if it has none.
    fn acid(&self, size: &Size) -> Option<Box<dyn AcidWorkload>>;

    /// Numbers of sizes that are not given, of a run and of a comparison of systems.
    fn usual(&self) -> [u64; 2];

    /// Notice for every report.
    fn notice(&self) -> &'static str;

    /// Whether users can be at terminals.
    fn has_terminals(&self) -> bool;

    /// Isolation that each transaction demands, and the one that an engine with these capabilities provides.
    fn isolation(&self, capabilities: &Capabilities) -> Vec<OperationIsolation>;

    /// Runs a round.
    fn run(
        &self,
        performing: Performing<'_>,
        options: &RunOptions,
        clock: &dyn Clock,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(&RoundProgress),
    ) -> Result<RunResult, RunError>;

    /// Samples the transactions on a database next to a target's.
    fn sample(&self, target: &str, drivers: &Drivers, context: &RunContext) -> Result<SampleChecks>;

    /// Compares several systems over the transactions of a seed: each is a name with a session, or the reference.
    fn verify(
        &self,
        verification: &Verification<'_>,
        systems: Vec<(String, Option<Box<dyn Session>>)>,
        size: &Size,
        interrupted: &AtomicBool,
    ) -> Result<()>;

    /// Meaning of a status code.
    fn meaning(&self, code: i32) -> Option<&'static str>;
}

impl<T: Transactions + Debug> MixWorkload for T {
    fn generator(&self) -> &dyn Generator {
        self
    }

    fn unit(&self) -> &'static str {
        self.size_columns().first().map_or("size", |column| column.name)
    }

    fn operations(&self) -> &'static [&'static str] {
        T::NAMES
    }

    fn per_minute(&self) -> Option<&'static str> {
        T::PER_MINUTE.and_then(|kind| T::NAMES.get(kind)).copied()
    }

    fn size(&self, number: u64) -> Size {
        T::sized(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn smallest(&self) -> Size {
        T::smallest()
    }

    fn acid(&self, size: &Size) -> Option<Box<dyn AcidWorkload>> {
        MixAcid::<T>::new(size.clone()).map(|tests| Box::new(tests) as _)
    }

    fn usual(&self) -> [u64; 2] {
        T::USUAL
    }

    fn notice(&self) -> &'static str {
        T::NOTICE
    }

    fn has_terminals(&self) -> bool {
        T::pauses(0, 0.5).is_some()
    }

    fn isolation(&self, capabilities: &Capabilities) -> Vec<OperationIsolation> {
        let demands = (0..T::NAMES.len()).map(|kind| (T::NAMES[kind], T::demands(kind).0));
        demands.map(|(name, demanded)| bourse_oltp::isolation::of(name, demanded, capabilities)).collect()
    }

    fn run(
        &self,
        performing: Performing<'_>,
        options: &RunOptions,
        clock: &dyn Clock,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(&RoundProgress),
    ) -> Result<RunResult, RunError> {
        performing.sut(|sut| run::<T>(sut, options, clock, interrupt, progress))
    }

    fn sample(&self, target: &str, drivers: &Drivers, context: &RunContext) -> Result<SampleChecks> {
        of_target(self, target, drivers, context)
    }

    fn verify(
        &self,
        verification: &Verification<'_>,
        systems: Vec<(String, Option<Box<dyn Session>>)>,
        size: &Size,
        interrupted: &AtomicBool,
    ) -> Result<()> {
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
