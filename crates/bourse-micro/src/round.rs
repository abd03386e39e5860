//! One round of a case: tables and rows, warm-up, measurement, checks, and the null engine's figure for comparison.

use crate::workload::{
    MicroError, PlannedWorkload, ProcessPart, RoundExtent, RoundSettings, RoundTally, WorkloadCase, Writes, named,
};
use bourse_driver::{
    Background, Clock, Fault, MS, Nanos, OpenLoop, OperationLedger, OperationSpec, RealClock, RoundPlan, RoundProgress,
    SECOND, SplitMix, UserSpec, Workload,
};
use bourse_engine::{Durability, Engine, Location, NullEngine, Result};
use bourse_record::{Check, FileActivity, FileKind, NameValue, Outcome, PageCache, Round, SharedRound, Warning};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Length of a round, and due times of its operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Warm-up before the measurement interval; workloads that end by themselves have none.
    pub warm_up_ns: Nanos,
    /// Measurement interval; a maximum for workloads that end by themselves, and with a count.
    pub measure_ns: Option<Nanos>,
    /// Operations of each thread after the warm-up, instead of a time.
    pub count: Option<u64>,
    /// Selection of timed operations; at a rate each is timed.
    pub timed: TimedOperations,
    /// Rate at which operations are due, each timed individually; `None` is a closed loop.
    pub open_loop: Option<OpenLoop>,
    /// Whether each statement is timed.
    pub statements: bool,
}

/// Selection of timed operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimedOperations {
    /// All operations; short ones together in batches.
    #[default]
    Batched,
    /// One operation in 64, individually; the others are counted.
    Sampled,
    /// All operations, individually.
    Single,
}

impl Timing {
    /// Length of the measurement interval if nothing else ends a round.
    pub const USUAL_NS: Nanos = 3 * SECOND;

    fn settings<'e>(&self, engine: &'e dyn Engine, seed: u64) -> RoundSettings<'e> {
        RoundSettings {
            engine,
            seed,
            count: self.count,
            batch: (self.open_loop.is_some() || self.timed == TimedOperations::Single).then_some(1),
            sampled: self.timed == TimedOperations::Sampled && self.open_loop.is_none(),
            is_real: engine.location() != Location::Nowhere,
            tally: Arc::new(RoundTally::default()),
        }
    }

    /// The round's plan, of which other things are as in `of`.
    fn plan(&self, extent: RoundExtent, of: RoundPlan) -> RoundPlan {
        let ends_by_itself = extent == RoundExtent::Work || self.count.is_some();
        let usual = if ends_by_itself { Nanos::MAX / 4 } else { Self::USUAL_NS };
        let warm_up_ns = if extent == RoundExtent::Work { 0 } else { self.warm_up_ns };
        let measure_ns = self.measure_ns.unwrap_or(usual);
        RoundPlan { warm_up_ns, measure_ns, statements: self.statements, ..of }
    }
}

/// Notice that every report of these workloads must show.
pub const NOTICE: &str = "Operations too short to be timed one by one are timed in batches: their quantiles are those of \
the batches' means. The column «harness» has what the same operation takes on an engine that does nothing.";

/// Result of a round.
#[derive(Debug)]
pub struct RoundResult {
    /// Figures, with checks and facts.
    pub round: Round,
    /// Whether the round was interrupted.
    pub interrupted: bool,
    /// Fault that ended the round, if one did.
    pub fault: Option<Fault>,
}

/// A case as a workload of the driver.
struct DrivenCase<'s> {
    planned: &'s dyn PlannedWorkload,
    setting: RoundSettings<'s>,
    operations: Vec<OperationSpec>,
    open_loop: Option<OpenLoop>,
}

impl<'s> DrivenCase<'s> {
    fn new(planned: &'s dyn PlannedWorkload, setting: RoundSettings<'s>) -> Self {
        Self { operations: planned.operations(), planned, setting, open_loop: None }
    }
}

impl<'s> Workload<'s> for DrivenCase<'s> {
    fn operations(&self) -> &[OperationSpec] {
        &self.operations
    }
    fn users(&mut self) -> Vec<UserSpec<'s>> {
        let users = self.planned.users(&self.setting);
        let Some(open_loop) = self.open_loop else { return users };
        // Users of the headline's operation follow the schedule; others, such as writers next to readers, stay in a
        // closed loop.
        let threads = users.iter().filter(|it| it.user.performs(0)).count();
        let mut seeds = SplitMix::new(self.setting.seed ^ 0x5CED);
        let by_schedule = |it: UserSpec<'s>| match it.user.performs(0) {
            true => UserSpec { schedule: open_loop.schedule(threads, seeds.next()), ..it },
            false => it,
        };
        users.into_iter().map(by_schedule).collect()
    }
    fn background(&mut self) -> Vec<Background<'s>> {
        self.planned.background(&self.setting)
    }
}

/// Median in nanoseconds below which operations are shown with the harness overhead.
const SHORT_NS: u64 = 5_000;

/// A database that was created for a round.
#[derive(Debug, Default)]
pub struct PreparedRound {
    /// Facts about its tables.
    pub facts: Vec<NameValue>,
    /// Page cache that the round begins with; `None` leaves it as it is.
    pub page_cache: Option<PageCache>,
    /// Part of this process, of a round whose threads are in several; `None` is the whole round.
    pub part: Option<ProcessPart>,
}

/// Creates the database of a round, or of a round whose threads are in several processes.
///
/// # Errors
/// Those of [`run_round`].
pub fn prepare_round(case: &WorkloadCase, engine: &dyn Engine, clock: &dyn Clock) -> Result<PreparedRound, MicroError> {
    crate::database::refuse_foreign(engine)?;
    confine(case, engine);
    // Preparation would fail on an engine that stores nothing.
    let is_real = engine.location() != Location::Nowhere;
    let facts = if is_real { case.planned.prepare(engine, clock)? } else { Vec::new() };
    Ok(PreparedRound { facts, ..PreparedRound::default() })
}

/// Confines an engine whose sessions execute a person's statements.
fn confine(case: &WorkloadCase, engine: &dyn Engine) {
    if case.planned.is_confined()
        && let Ok(sql) = engine.sql()
    {
        sql.confine();
    }
}

/// Runs one round of a case on an engine: creates its database anew, warms up, measures, checks.
///
/// # Errors
/// An error before the round began; one that ended it later is in [`RoundResult::fault`].
pub fn run_round(
    case: &WorkloadCase,
    engine: &dyn Engine,
    timing: &Timing,
    seed: u64,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RoundResult, MicroError> {
    let prepared = prepare_round(case, engine, clock)?;
    run_prepared(case, prepared, engine, timing, seed, clock, interrupt, progress)
}

/// Runs a round, or a process's part of one, whose database was [prepared](prepare_round), by the same engine or another that
/// opens it.
///
/// # Errors
/// Those of [`run_round`].
#[expect(clippy::too_many_arguments, reason = "those of a round, and its database")]
pub fn run_prepared(
    case: &WorkloadCase,
    prepared: PreparedRound,
    engine: &dyn Engine,
    timing: &Timing,
    seed: u64,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RoundResult, MicroError> {
    let (planned, setting) = (case.planned.as_ref(), timing.settings(engine, seed));
    let PreparedRound { facts, page_cache, part } = prepared;
    // It may be another engine than the one that prepared the round.
    confine(case, engine);
    if let Some(part) = &part {
        planned.join(part, RealClock::machine_ns() - clock.now());
    }
    let of = RoundPlan { page_cache, is_part: part.is_some(), ..RoundPlan::default() };
    let mut result = driven(case, &setting, timing, of, clock, interrupt, progress)?;
    let round = &mut result.round;
    round.facts.splice(0..0, facts);
    if setting.is_real && result.fault.is_none() {
        round.checks.extend(planned.check(&setting)?);
        if part.is_none() {
            add_harness_overhead(planned, round, seed, clock)?;
        }
    }
    planned.finish(&setting, round);
    if let Some(part) = part {
        let (number, of) = (part.number + 1, planned.processes());
        round.shared = Some(SharedRound { round: "processes".to_owned(), number, of, vanished: Vec::new() });
    } else if let Some(why) = void(case, &setting, round, result.fault.as_ref()).or(round.void.take()) {
        round.headline = f64::NAN;
        round.void = Some(why);
    }
    Ok(result)
}

/// Checks what several processes have recorded in a folder and left in the tables, and adds it to the merged `round` of `parts`.
///
/// # Errors
/// Those of [`run_round`].
pub fn end_processes(
    case: &WorkloadCase,
    engine: &dyn Engine,
    timing: &Timing,
    seed: u64,
    folder: &Path,
    parts: &[&Round],
    round: &mut Round,
) -> Result<(), MicroError> {
    let (planned, setting) = (case.planned.as_ref(), timing.settings(engine, seed));
    let unread = |error| MicroError::System { doing: "reading what the processes have recorded".to_owned(), error };
    planned.collect(folder, parts).map_err(unread)?;
    round.checks.extend(planned.check(&setting)?);
    planned.finish(&setting, round);
    Ok(())
}

/// Drives the users of a round, or of a part of it.
fn driven(
    case: &WorkloadCase,
    setting: &RoundSettings<'_>,
    timing: &Timing,
    of: RoundPlan,
    clock: &dyn Clock,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(&RoundProgress),
) -> Result<RoundResult, MicroError> {
    let (planned, engine, seed) = (case.planned.as_ref(), setting.engine, setting.seed);
    let mut plan = timing.plan(case.spec.extent, of);
    let mut driven = DrivenCase::new(planned, setting.clone());
    if let Some(open_loop) = timing.open_loop {
        driven.open_loop = Some(open_loop);
        let threads = planned.users(setting).iter().filter(|it| it.user.performs(0)).count();
        plan.backlog = open_loop.backlog(threads);
    }
    let measured =
        bourse_driver::run(engine, &mut driven, &plan, planned.headline(), seed, clock, interrupt, progress)?;
    let mut round = measured.round;
    if case.spec.extent == RoundExtent::Work && round.measured_s >= plan.measure_ns as f64 / SECOND as f64 * 0.999 {
        round.warnings.push(Warning::EndedEarly { after_s: plan.measure_ns as f64 / SECOND as f64 });
    }
    round.warnings.extend(count_not_reached(planned, setting, &round, &plan));
    let writes = planned.writes().filter(|_| setting.is_real && measured.fault.is_none());
    round.checks.extend(writes.map(|writes| acknowledged(writes, &setting.tally, &measured.counted.ledger)));
    Ok(RoundResult { round, interrupted: measured.interrupted, fault: measured.fault })
}

/// Warning of a round whose time was over before every thread had performed its number of operations.
fn count_not_reached(
    planned: &dyn PlannedWorkload,
    setting: &RoundSettings<'_>,
    round: &Round,
    plan: &RoundPlan,
) -> Option<Warning> {
    let after_s = plan.measure_ns as f64 / SECOND as f64;
    let each = setting.count.filter(|_| round.measured_s >= after_s * 0.999)?;
    let counted: Vec<&bourse_record::Operation> = match planned.headline() {
        Some(at) => round.operations.get(at).into_iter().collect(),
        None => round.operations.iter().collect(),
    };
    let performs = |user: &UserSpec<'_>| planned.headline().is_none_or(|at| user.user.performs(at));
    let threads = planned.users(setting).iter().filter(|user| performs(user)).count() as u64;
    let (done, of) = (counted.iter().map(|it| it.ended()).sum::<u64>(), each.saturating_mul(threads));
    (done < of).then_some(Warning::CountNotReached { after_s, done, of })
}

/// Warning of a round on an engine whose settings promise durable commits, if these outnumber what its syncs can have made
/// durable. The workload counts in [`RoundTally::changes`] the commits of changes over the whole round.
pub(crate) fn not_synced(setting: &RoundSettings<'_>, round: &Round, users: usize) -> Option<Warning> {
    /// Shortest interval that is judged: a server's counts may lag by a second.
    const SHORTEST_S: f64 = 3.0;
    let whole_s: f64 = round.phases.iter().map(|phase| phase.to_s - phase.from_s).sum();
    let commits = (RoundTally::get(&setting.tally.changes) as f64 * round.measured_s / whole_s) as u64;
    let syncs = too_few_syncs(&round.io, commits, users as u64).filter(|_| round.measured_s >= SHORTEST_S)?;
    let class = setting.engine.description().ok()?.durability;
    (class == Durability::Durable).then_some(Warning::NotSynced { syncs, commits })
}

/// Number of syncs, if so many commits cannot each have waited for one: a sync is for one commit of each user at most.
fn too_few_syncs(io: &[FileActivity], commits: u64, users: u64) -> Option<u64> {
    /// Number of commits below which the counts say little.
    const MIN_COMMITS: u64 = 1_000;
    let syncs = io.iter().map(|files| files.syncs).sum::<u64>();
    // A log that is opened so that each write of it is a sync has none of its own.
    let log_writes = io.iter().filter(|files| files.kind == FileKind::Log).map(|files| files.writes).sum();
    let waits = syncs.max(log_writes).saturating_mul(2 * users);
    (!io.is_empty() && commits >= MIN_COMMITS && waits < commits).then_some(syncs)
}

/// Checks that as many changes were committed as the driver counted: the check of the rows then compares the database
/// with the figures.
fn acknowledged(writes: Writes, tally: &RoundTally, ledger: &OperationLedger) -> Check {
    let entry = ledger.entry(writes.operation);
    let (changes, valid, failed) = (RoundTally::get(&tally.changes), entry.valid(), entry.ended(Outcome::Failed));
    // Of a batch that failed some may have been committed.
    let expected = valid.saturating_sub(writes.uncommitted)..=valid + failed;
    let condition = "as many changes were committed as operations ended validly in the whole round; of those that failed, and of \
                     a transaction that the end of the round cut off, any number";
    let evidence = format!("expected {} to {}, found {changes}", expected.start(), expected.end());
    Check::new("acknowledgements", condition, Check::RECONCILIATION, expected.contains(&changes), evidence)
}

/// Reason that a round has no figure: it was lost, none of its operations completed, or its counts differ from the
/// database. Otherwise failed operations are counted separately and do not void the figure of the others, unless all of
/// a kind failed or the workload permits no failure.
fn void(case: &WorkloadCase, setting: &RoundSettings<'_>, round: &Round, fault: Option<&Fault>) -> Option<String> {
    let name = case.spec.name;
    if let Some(fault) = fault {
        return Some(format!("{name} failed: {fault}"));
    }
    let headline = case.headline_operation();
    let is_headline = |name: &str| headline.is_none_or(|headline| headline == name);
    let valid = |operation: &bourse_record::Operation| operation.valid();
    let valid: u64 = round.operations.iter().filter(|it| is_headline(&it.name)).map(valid).sum();
    let works = case.spec.extent == RoundExtent::Work;
    let before_commit = case.planned.counts_before_commit();
    // A failure undoes the operations counted before it in its transaction, and leaves the work incomplete.
    let fails = |operation: &&bourse_record::Operation| {
        works
            || !case.planned.allows_failures()
            || operation.valid() == 0
            || (before_commit && is_headline(&operation.name))
    };
    let failed = round.operations.iter().filter(fails).find_map(|operation| {
        let failed = operation.outcomes.iter().find(|it| it.outcome == Outcome::Failed)?;
        let example = failed.example.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
        Some(format!("{name} failed in {}{example}", operation.name))
    });
    failed.or_else(|| {
        let nothing = works && before_commit && setting.is_real && valid > 0;
        (nothing && RoundTally::get(&setting.tally.changes) == 0)
            .then(|| format!("{name} was ended after {:.1} s, before anything was committed", round.measured_s))
    })
}

/// Adds the null engine's figure to every short operation.
fn add_harness_overhead(
    planned: &dyn PlannedWorkload,
    round: &mut Round,
    seed: u64,
    clock: &dyn Clock,
) -> Result<(), MicroError> {
    let is_short = |operation: &bourse_record::Operation| {
        // By the median: one long wait among many short operations makes none of the others longer.
        operation.service.summary.count > 0 && operation.service.summary.p50_ns < SHORT_NS
    };
    let Some(first) = round.operations.iter().find(|operation| is_short(operation)) else { return Ok(()) };
    let batch = (first.service.summary.count as f64 / first.samples.max(1) as f64).round() as u64;
    let setting = RoundSettings {
        engine: &NullEngine,
        seed,
        count: None,
        batch: Some(batch.max(1)),
        sampled: false,
        is_real: false,
        tally: Arc::new(RoundTally::default()),
    };
    let plan = RoundPlan { warm_up_ns: 20 * MS, measure_ns: 100 * MS, ..RoundPlan::default() };
    let never = AtomicBool::new(false);
    // On a machine that lets us run too seldom a tenth of a second may pass without a sample.
    let mut floor = None;
    for _ in 0..10 {
        let mut driven = DrivenCase::new(planned, setting.clone());
        let run =
            bourse_driver::run(&NullEngine, &mut driven, &plan, planned.headline(), seed, clock, &never, &mut |_| {})?;
        let any = run.round.operations.iter().any(|operation| operation.samples > 0);
        floor = Some(run);
        if any {
            break;
        }
    }
    let floor = floor.expect("it was run at least once");
    for operation in round.operations.iter_mut().filter(|operation| is_short(operation)) {
        let beside = floor.round.operations.iter().find(|floor| floor.name == operation.name);
        let beside = beside.map(|floor| floor.service.summary).filter(|summary| summary.count > 0);
        operation.harness_overhead_ns = beside.map(|summary| summary.mean_ns);
        let each = operation.service.summary.count as f64 / operation.samples.max(1) as f64;
        let name = &operation.name;
        if operation.untimed > 0 {
            let one_in = operation.one_in().unwrap_or_default();
            round.facts.push(named(format!("{name}: timed alone"), format!("1 in {one_in:.1}")));
        } else {
            round.facts.push(named(format!("{name}: timed together, on average"), format!("{each:.1}")));
        }
        if let Some(floor) = operation.harness_overhead_ns {
            let mean = operation.service.summary.mean_ns;
            let words = format!("{floor:.0} ns of {mean:.0} ns (the same on the null engine)");
            round.facts.push(named(format!("{name}: the harness's own part"), words));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_outnumber_the_syncs_of_all_users_are_found() {
        let files = |kind, syncs, writes| FileActivity {
            kind,
            syncs,
            sync_ns: None,
            writes,
            written_bytes: 0,
            reads: 0,
            read_bytes: 0,
        };
        let few = [files(FileKind::Database, 1, 900), files(FileKind::Log, 4, 40)];
        assert_eq!(too_few_syncs(&few, 5_405, 1), Some(5));
        assert_eq!(too_few_syncs(&few, 5_405, 64), Some(5));
        assert_eq!(too_few_syncs(&few, 5_405, 70), None, "each may be of 70 users' commits");
        assert_eq!(too_few_syncs(&few, 999, 1), None, "too few to tell");
        assert_eq!(too_few_syncs(&[files(FileKind::Log, 0, 5_405)], 5_405, 1), None, "each write is a sync");
        assert_eq!(too_few_syncs(&[], 5_405, 1), None, "the engine counts none");
    }
}
