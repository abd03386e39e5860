//! Carries out a plan: databases, rounds in turn, and their results.
//!
//! | module | does |
//! |---|---|
//! | `context` | clock, interruption and input data of all rounds of a run |
//! | `databases` | databases loaded once, copied, and put back before a round |
//! | `system` | the system under test: an engine in this process, or a server that is called |
//! | `coordinated` | drivers that send their statements to the engine themselves: driver 1 coordinates, the others join it |
//! | `quiet` | waits for a quiet machine |
//! | `repeats` | repeats of rounds that other processes disturbed |
//! | `round` | one round of a job: a request in, an outcome out |
//! | `brokerage`, `mix`, `classic` | the rounds of each workload; `on_database` has what transactional ones share |
//! | `child` | a round in a process of its own: the request and the outcome as JSON |
//! | `instructions`, `callgrind` | counts of instructions after the rounds, and the file that valgrind leaves them in |
//! | `keeper` | databases of engines whose library stays loaded: prepared, copied and put back by a process of their own |
//! | `own_data` | copies of databases of a person's own, with which rounds begin |
//! | `lost` | calls that never return |
//! | `processes` | users in several processes on the same database: started together, their figures merged |
//! | `parts` | threads of a classic workload in several processes, which record what they perform; one of them killed |
//! | `case_run` | a case with the rounds it has had |
//! | `strategy` | ways to run a block's rounds: `in_turn` with repeats, or `find_max`, the search for the highest rate |
//! | `bracket` | the rates that a search tries |
//! | `judge` | whether a round of a search met its limits |
//! | `time_limit` | rounds and cases left out so that a run ends in time |
//! | `expected` | the difference that a comparison can be expected to show |
//! | `sample` | the lockstep sample after the rounds |
//! | `scratch` | the folder of databases that is removed with the run |
//! | `verdict` | the exit code that the figures call for |

mod bracket;
mod brokerage;
mod callgrind;
mod case_run;
pub(crate) mod child;
mod classic;
mod context;
pub(crate) mod coordinated;
mod databases;
mod default_job;
mod expected;
mod find_max;
mod in_turn;
mod instructions;
mod judge;
mod keeper;
mod lost;
mod mix;
mod model;
mod on_database;
pub(crate) mod own_data;
mod parts;
mod processes;
mod quiet;
mod repeats;
mod round;
pub(crate) mod sample;
mod scratch;
mod shared;
mod strategy;
pub(crate) mod system;
mod tests;
mod time_limit;
pub(crate) mod verdict;

pub(crate) use case_run::CaseRun;
pub(crate) use context::RunContext;
pub(crate) use round::{RoundOutcome, RoundRequest};

use crate::args::ExecutionArgs;
use crate::failure::{Exit, Failure, Result};
use crate::hold::HeldDatabases;
use crate::memory_group::MemoryGroup;
use crate::output::ResultFolder;
use crate::plan::{CaseBlock, Job, OnFailure, Plan, PlannedCase, RoundProcess, about};
use crate::progress::{ProgressStep, RunBar, note};
use crate::provenance::provenance;
use crate::{engines, hold, interrupt, live, panics, spent};
use bourse_driver::{CachedFiles, Clock as _, calibrate};
use bourse_record::{PageCache, RunFile, Warning};
use child::{ChildProcess, ChildRequest, StderrTarget};
use databases::{DatabaseRef, Databases};
use own_data::OwnCopies;
use quiet::QuietWaits;
use scratch::Scratch;
use std::path::Path;
use time_limit::TimeLimit;

/// Result of an executed plan.
pub(crate) struct ExecutedPlan {
    /// The run's document without its cases.
    begun: RunFile,
    /// The plan's cases, in its order.
    pub(crate) cases: Vec<CaseRun>,
    /// Failure that ended the run early, if one did.
    pub(crate) outcome: Result<()>,
}

impl ExecutedPlan {
    /// The run's document: every case that had rounds, with the time until now.
    pub(crate) fn file(self) -> RunFile {
        let cases = self.cases.into_iter().filter_map(CaseRun::finished).collect();
        RunFile { cases, time_spent: Some(spent::time_spent()), ..self.begun }
    }

    /// A failure if a case failed and the others continued.
    fn all_ran(&self) -> Result<()> {
        let failures = || self.cases.iter().filter_map(|case| Some((case, case.failure.as_ref()?)));
        let failed: Vec<_> = failures().map(|(case, why)| format!("{}: {}", case.label(), why.line())).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let exit = Exit::of_all(failures().map(|(_, why)| why.exit));
        let failure = Failure::new(exit, "some cases failed; the others are reported");
        Err(failure.detail("failed", failed.join("\n")))
    }

    /// The run's document, and the failure that ended the run early; a failure if nothing was measured.
    pub(crate) fn measured(mut self) -> Result<(RunFile, Result<()>)> {
        let outcome = std::mem::replace(&mut self.outcome, Ok(()));
        let outcome = outcome.and_then(|()| self.all_ran());
        let file = self.file();
        if file.cases.is_empty() {
            outcome?;
            if file.interrupted {
                return Err(interrupt::interrupted_unmeasured());
            }
            return Err(Failure::usage("nothing could be run").hint("--dry-run tells why of each case"));
        }
        Ok((file, outcome))
    }
}

/// Carries out a plan whose files go into that folder, with the followers that the command requests.
pub(crate) fn run(plan: &Plan, how: &ExecutionArgs, folder: &ResultFolder) -> Result<ExecutedPlan> {
    let followers = live::follow(plan, how, folder.path())?;
    let executed = carry_out(plan, folder.path());
    // Messages from here on go to the terminal.
    drop(followers);
    if let Ok(executed) = &executed {
        folder.ends_with(match executed.outcome {
            _ if executed.begun.interrupted => live::RunOutcome::Interrupted,
            Ok(()) => live::RunOutcome::Finished,
            Err(_) => live::RunOutcome::Failed,
        });
    }
    executed
}

fn carry_out(plan: &Plan, folder: &Path) -> Result<ExecutedPlan> {
    // Refused before anything is loaded, if the system makes no such group.
    plan.memory.limit.map(MemoryGroup::new).transpose()?;
    let context = RunContext::of_command(folder, plan.call_limit_ns)?;
    let copies = OwnCopies::of(plan)?;
    let _scratch = plan.scratch.as_deref().map(Scratch::new).transpose()?;
    let held = hold::for_writing(held_by(plan))?;
    // Before the calibration, or a round, takes time.
    if matches!(plan.on_failure, OnFailure::EndRun) {
        plan.run_cases().try_for_each(|case| engines::refuse_missing(&case.target))?;
    }
    for engine in &plan.left_out {
        note(&format!("left out: {engine}"));
    }
    if let Some(words) = about::announced(plan, &jiff::Zoned::now()) {
        note(&words);
    }
    let mut executor = Executor {
        plan,
        limit: TimeLimit::of(plan),
        whole: (plan.rounds() > 1).then(|| RunBar::begin(plan.rounds(), about::about_ns(plan))),
        context,
        databases: Databases::of_run(plan.scratch.is_none()),
        begun: None,
        begin: 0,
        warnings: Vec::new(),
        best_loop_ns: f64::INFINITY,
        waits: QuietWaits::default(),
        held,
    };
    let mut cases = Vec::new();
    let mut outcome = Ok(());
    for block in &plan.blocks {
        let mut of_block: Vec<CaseRun> = block.cases.iter().map(|case| CaseRun::new(copies.with_copy(case))).collect();
        if outcome.is_ok() && !executor.context.is_interrupted() {
            outcome = executor.block(block, &mut of_block);
        }
        // Databases of this block are closed, so that the next block has the machine for itself.
        executor.databases = Databases::of_run(plan.scratch.is_none());
        cases.extend(of_block);
    }
    let Executor { context, begun, warnings, .. } = executor;
    let Some(mut begun) = begun else {
        // No round was begun: the reason is the failure.
        outcome?;
        return Err(interrupt::interrupted_unmeasured());
    };
    begun.warnings.extend(warnings);
    begun.interrupted = context.is_interrupted();
    Ok(ExecutedPlan { begun, cases, outcome })
}

/// The targets whose databases this process holds: all but those that driver 1 of several holds for all its drivers.
fn held_by(plan: &Plan) -> Vec<&str> {
    plan.run_cases().filter(|case| !case.job.joins_another()).map(|case| case.target.as_str()).collect()
}

/// A plan that is being carried out.
struct Executor<'p> {
    plan: &'p Plan,
    /// Progress over all rounds, if there are several.
    whole: Option<RunBar>,
    limit: TimeLimit,
    context: RunContext,
    databases: Databases,
    /// The run's document, once the first round is about to begin.
    begun: Option<RunFile>,
    /// Moment of the beginning.
    begin: u64,
    warnings: Vec<Warning>,
    /// Best time of the fixed CPU loop until now, in nanoseconds.
    best_loop_ns: f64,
    waits: QuietWaits,
    /// Databases held until all else is done.
    held: HeldDatabases,
}

/// Parameters of a round that its case does not have.
#[derive(Clone, Copy)]
struct RoundParameters<'t> {
    /// The job, which a search changes.
    job: &'t Job,
    /// Number of the round.
    number: u32,
    /// Whether other rounds run on the same database.
    begins_alike: bool,
    /// Whether its figures only steer a search and are not reported.
    is_probe: bool,
    /// Label shown while it runs.
    label: &'t str,
}

impl Executor<'_> {
    /// Runs the rounds of a block, and samples its transactions afterwards.
    fn block(&mut self, block: &CaseBlock, cases: &mut [CaseRun]) -> Result<()> {
        self.limit.begin_block(block);
        self.prepare(cases)?;
        if let Some(whole) = &mut self.whole {
            whole.advance(about::shared_ns(block));
        }
        self.begin();
        let ran = strategy::of(cases).run(self, block, cases);
        // Restored after a failure too: the next run must not begin with half of this one. The first failure is reported.
        let restored = self.databases.put_back();
        ran.and(restored)?;
        if self.context.is_interrupted() {
            return Ok(());
        }
        self.count_instructions(cases)?;
        sample::sample_all(cases, &self.context)
    }

    /// Prepares the databases that rounds find as they were.
    fn prepare(&mut self, cases: &mut [CaseRun]) -> Result<()> {
        for case in cases {
            if case.planned.not_run.is_some() || !self.is_prepared_here(&case.planned) {
                continue;
            }
            let alone_ns = about::alone_ns(&case.planned);
            if !self.has_time(case, alone_ns) {
                continue;
            }
            let planned = &case.planned;
            let expected_ns = planned.job.once_ns(&planned.target).unwrap_or(0);
            match (self.in_place(planned, &planned.job), self.plan.on_failure) {
                (Ok(at), _) => self.databases.join(at),
                (Err(failure), OnFailure::LeaveOutCase) if !self.context.is_interrupted() => {
                    note(&format!("{}: failed: {}", case.label(), failure.line()));
                    case.fail(failure);
                }
                (Err(failure), _) => return Err(failure),
            }
            self.limit.done(expected_ns);
        }
        Ok(())
    }

    /// Whether work of the present block with this expected duration ends in time, if rounds may be left out at all.
    fn is_in_time(&self, expected_ns: u64) -> bool {
        self.plan.on_failure == OnFailure::EndRun || self.limit.permits(self.context.clock.now(), expected_ns)
    }

    /// Whether there is time for the first work on a case; without it the case is left out.
    fn has_time(&mut self, case: &mut CaseRun, expected_ns: u64) -> bool {
        let has_time = self.is_in_time(expected_ns);
        if !has_time {
            case.planned.not_run = Some("no time was left".to_owned());
            self.left_out(case.label().to_owned());
        }
        has_time
    }

    /// Reports what is not run so that the run ends in time, on stderr and in the document.
    fn left_out(&mut self, work: String) {
        let warning = Warning::OutOfTime { work };
        note(&warning.to_string());
        self.warnings.push(warning);
    }

    /// The database of a case for rounds of this process, or of others.
    fn in_place(&mut self, case: &PlannedCase, job: &Job) -> Result<DatabaseRef> {
        match case.rounds_in {
            RoundProcess::ThisProcess => self.databases.ready(&case.target, job, &self.context).map(DatabaseRef::Here),
            RoundProcess::Child => self.databases.prepared(&case.target, job, &self.context),
        }
    }

    /// Whether this process prepares a case's database: its rounds run here, or it is in files that rounds elsewhere can
    /// use.
    fn is_prepared_here(&self, case: &PlannedCase) -> bool {
        let keeps = case.job.abilities().is_ok_and(|abilities| abilities.snapshot.lacks().is_none());
        keeps && case.has_one_database()
    }

    /// Records the run's head, and measures machine and harness alone, just before the first round.
    fn begin(&mut self) {
        if self.begun.is_some() {
            return;
        }
        let mut head = provenance(self.plan.seed);
        let jobs = self.plan.cases().map(|case| &case.job);
        let more = jobs.filter(|job| job.threads() > job.usual_threads());
        let threads = more.map(|job| job.threads()).max().unwrap_or(1);
        let mut warnings = bourse_record::noise(&head.build, &head.machine, threads);
        if self.plan.calibrate {
            let step = ProgressStep::waiting("calibrating (harness overhead, machine noise)".to_owned());
            let spending = spent::on(spent::SpentPart::Calibration);
            let calibration = calibrate(&self.context.clock);
            drop(spending);
            step.done();
            warnings.extend(calibration.warnings());
            head.machine.harness_ns = Some(calibration.sample_ns).filter(|ns| ns.is_finite());
            head.machine.details.extend(calibration.details());
            self.best_loop_ns = calibration.loop_ns;
            if self.plan.compares.is_some()
                && let Some(words) = expected::before(self.plan, &calibration)
            {
                note(&words);
            }
        } else {
            warnings.extend(bourse_record::load(&head.machine));
        }
        self.begun = Some(RunFile { warnings, ..RunFile::new(self.plan.name.clone(), head) });
        self.begin = self.context.clock.now();
    }

    /// Seconds since the first round began.
    fn offset_s(&self) -> f64 {
        (self.context.clock.now() - self.begin) as f64 / 1e9
    }

    /// Runs a case's round; its failure ends the run, or leaves the case out.
    fn turn(&mut self, case: &mut CaseRun, round: u32, of: u32, label: &str) -> Result<()> {
        let ran = panics::catch_panic(|| {
            panics::panic_if_requested(&format!("round {}", round + 1));
            self.round(case, round, of, label)
        });
        let Err(failure) = ran else { return Ok(()) };
        match self.plan.on_failure {
            OnFailure::EndRun => {
                if failure.exit == Exit::Target && case.case.is_some() && !case.ended_with(&failure) {
                    self.warnings.push(Warning::RoundLost { round: round + 1, cause: failure.line() });
                }
                Err(failure)
            }
            OnFailure::LeaveOutCase => {
                if !self.context.is_interrupted() {
                    note(&format!("{}: failed: {}", case.label(), failure.line()));
                    case.fail(failure);
                }
                Ok(())
            }
        }
    }

    /// Runs a round of a case and stores it, also if it failed.
    fn round(&mut self, case: &mut CaseRun, number: u32, of: u32, label: &str) -> Result<()> {
        let offset_s = self.offset_s();
        let job = case.job.clone();
        let puts_back = job.puts_back();
        let turn = RoundParameters { job: &job, number, begins_alike: of > 1 || puts_back, is_probe: false, label };
        let mut outcome = self.outcome(case, turn)?;
        let of_engine =
            |text: &String| Warning::Engine { target: case.planned.subject.to_string(), text: text.clone() };
        for warning in outcome.warnings.iter().map(of_engine) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        if self.waits.are_over_after(&outcome.round) {
            note("this machine is never quiet: going on without waiting");
        }
        if let Some([median_ns, p90_ns]) = outcome.fixed_loop_ns.filter(|[median, _]| *median > 0.0) {
            self.best_loop_ns = self.best_loop_ns.min(median_ns);
            outcome.round.slowdown = Some(p90_ns / self.best_loop_ns);
        }
        let kept = case.keep(outcome, offset_s);
        if let (Some(begun), Some(case), RoundProcess::ThisProcess) = (&self.begun, &case.case, case.planned.rounds_in)
        {
            self.context.keep(begun, case);
        }
        kept
    }

    /// Runs a round of a case and returns its outcome, which is void if the database was no longer held at its end.
    fn outcome(&mut self, case: &CaseRun, turn: RoundParameters<'_>) -> Result<RoundOutcome> {
        let mut outcome = self.ran(case, turn)?;
        // An interrupted command waits for no server any more.
        if !self.context.is_interrupted()
            && let Err(lost) = self.held.check_held(&case.planned.target)
        {
            outcome.round.make_void(lost.line());
            outcome.failure.get_or_insert(lost);
        }
        Ok(outcome)
    }

    /// Runs a round of a case, in this process or in one of its own.
    fn ran(&mut self, case: &CaseRun, turn: RoundParameters<'_>) -> Result<RoundOutcome> {
        let planned = &case.planned;
        let mut request = RoundRequest {
            target: planned.target.clone(),
            job: turn.job.clone(),
            seed: self.plan.seed,
            round: turn.number,
            begins_alike: turn.begins_alike,
            is_first: case.has_no_round(),
            is_probe: turn.is_probe,
            history: None,
            wait_quiet_ns: self.waits.limit_ns(self.plan.wait_quiet_ns),
            call_limit_ns: self.plan.call_limit_ns,
            statements: self.plan.statements,
            count: None,
            memory: self.plan.memory,
        };
        if planned.rounds_in == RoundProcess::ThisProcess {
            live::round(case.label(), turn.job.workload(), turn.is_probe);
            return round::round(&request, &mut self.databases, &self.context, turn.label);
        }
        // A child process has one round: its database is prepared here, or its own.
        request.begins_alike = false;
        if self.is_prepared_here(planned) {
            let at = self.in_place(planned, turn.job)?;
            request.history = Some(self.databases.begin(at, turn.begins_alike)?);
            // It has been.
            request.job.forget_reload();
            if request.memory.limit.is_some() {
                // A page counts in the memory of the group that has read it.
                let location = engines::location(&request.target)?;
                CachedFiles::set(PageCache::Cold, &location).map_err(|error| {
                    let failure = Failure::new(Exit::Target, format!("cannot drop {} from memory", request.target));
                    failure.detail("cause", error.to_string())
                })?;
            }
        }
        let step = ProgressStep::waiting(turn.label.to_owned());
        live::round(case.label(), turn.job.workload(), turn.is_probe);
        let _spending = spent::on(spent::SpentPart::Rounds);
        let ran = self.in_child(request);
        step.end(&ran);
        ran.inspect(|outcome| spent::of_process(&outcome.spent))
    }

    fn in_child(&self, mut request: RoundRequest) -> Result<RoundOutcome> {
        let interrupted = &self.context.interrupted;
        let mut server = None;
        if let Some(database) = request.job.served().cloned() {
            let target = request.target.clone();
            let (serve, what) = (ChildRequest::Serve { target, database }, "the application server");
            let started = server.insert(ChildProcess::start(&serve, what, StderrTarget::Collected)?);
            // The address comes after the database is loaded, which may take minutes.
            request.target = started.answer(Some(interrupted))?;
        }
        let ran = child::run(&request, interrupted);
        server.iter_mut().for_each(ChildProcess::interrupt);
        ran
    }
}
