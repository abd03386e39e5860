//! Plans of runs, as data: every command that measures resolves to a [`Plan`] before anything is opened.
//!
//! | module | resolves |
//! |---|---|
//! | `brokerage` | `tpce run` |
//! | `classic` | `micro run` |
//! | `instructions` | counts of instructions after the rounds |
//! | `bisect`, `compare`, `isolation`, `quick`, `suite`, `tune`, `versions` | those commands |
//! | `drivers` | processes and drivers that share a round |
//! | `targets` | abilities of targets, by their text and their engine's capabilities alone |
//! | `memory` | the page cache and the memory of rounds |
//! | `search` | the limits of a search for the highest rate, and the jobs of its rounds |
//! | `sweep` | options that take several values |
//! | `show` | nothing: the plan as `--dry-run` prints it |
//!
//! `execute` carries it out.

pub(crate) mod about;
pub(crate) mod bisect;
pub(crate) mod brokerage;
pub(crate) mod classic;
pub(crate) mod compare;
pub(crate) mod drivers;
pub(crate) mod instructions;
pub(crate) mod isolation;
mod memory;
pub(crate) mod mix;
pub(crate) mod quick;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod suite;
pub(crate) mod sweep;
pub(crate) mod targets;
pub(crate) mod tune;
pub(crate) mod versions;
pub(crate) mod work;

pub(crate) use brokerage::Brokerage;
pub(crate) use classic::ClassicRound;
pub(crate) use drivers::Drivers;
pub(crate) use instructions::InstructionPlan;
pub(crate) use mix::MixRound;
pub(crate) use search::SearchPlan;
pub(crate) use work::Job;

use crate::args::{ExecutionArgs, MemoryArgs, OutputArgs};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::output::files;
use bourse_driver::Ability;
use bourse_record::{NameValue, SplitMix};
use bourse_stats::repeats::Budget;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Waits for a quiet machine in vain after which no round of a run waits.
pub(crate) const VAIN_WAITS: u32 = 2;

/// Everything that a command is going to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Name of the run, which its folder and its document have.
    pub(crate) name: String,
    /// Blocks, run one after the other.
    pub(crate) blocks: Vec<CaseBlock>,
    /// Seed of all random sequences.
    pub(crate) seed: u64,
    /// Longest wait of a round for a quiet machine, in nanoseconds.
    pub(crate) wait_quiet_ns: Option<u64>,
    /// Whether harness and machine are measured alone before the first round.
    pub(crate) calibrate: bool,
    /// Whether a round that is not in steady state is a failure.
    pub(crate) require_steady: bool,
    /// Whether rounds that others disturb are repeated.
    pub(crate) repeats_disturbed: bool,
    /// Duration of the whole run, in nanoseconds; no limit by default. No round is repeated if the rest would end later, and
    /// where a failed round only ends its case, rounds are left out as well.
    pub(crate) at_most_ns: Option<u64>,
    /// Time after the measurement interval until a running call counts as lost, in nanoseconds.
    pub(crate) call_limit_ns: u64,
    /// Whether each statement is timed.
    pub(crate) statements: bool,
    /// Count of the cases' instructions after their rounds, if they are counted.
    pub(crate) instructions: Option<InstructionPlan>,
    /// Page cache and memory of each round.
    pub(crate) memory: MemoryArgs,
    /// Parameters of the comparison of its two cases, if they are compared: it then reports the difference it can be
    /// expected to show.
    pub(crate) compares: Option<ComparisonPlan>,
    /// Whether a failed round ends the run or only its case.
    pub(crate) on_failure: OnFailure,
    /// Folder that gets a folder for this run.
    pub(crate) output: PathBuf,
    /// Files that are written into that.
    pub(crate) files: Vec<String>,
    /// Folder for databases that is made for the run and removed with it.
    pub(crate) scratch: Option<PathBuf>,
    /// Engines that are left out, with the reason.
    pub(crate) left_out: Vec<String>,
}

/// Parameters of a comparison of two cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ComparisonPlan {
    /// Part of one by which the second may be slower.
    pub(crate) tolerance: f64,
    /// Numbers of rounds after which the comparison ends if it is decided; empty if all rounds are run.
    pub(crate) looks: Vec<u32>,
}

/// Cases that take turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseBlock {
    /// The cases.
    pub(crate) cases: Vec<PlannedCase>,
    /// Rounds of each.
    pub(crate) rounds: u32,
}

impl CaseBlock {
    /// Every case that is run.
    pub(crate) fn run_cases(&self) -> impl Iterator<Item = &PlannedCase> {
        self.cases.iter().filter(|case| case.not_run.is_none())
    }

    /// The order of the cases in a round: drawn anew for each, so that the level of a difference holds whatever the machine
    /// does meanwhile (`bourse_stats::sessions`). The same seed draws the same orders.
    pub(crate) fn turns(&self, round: u32, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.cases.len()).collect();
        SplitMix::new(seed ^ (u64::from(round) << 32)).shuffle(&mut order);
        order
    }
}

/// One job on one target with one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedCase {
    /// Name of the case in every report.
    pub(crate) label: String,
    /// Name of the target in remarks.
    pub(crate) subject: String,
    /// The target, as a URL.
    pub(crate) target: String,
    /// The job of a round.
    pub(crate) job: Job,
    /// Varied parameters, with this case's values.
    pub(crate) varied: Vec<NameValue>,
    /// Process in which its rounds run.
    pub(crate) rounds_in: RoundProcess,
    /// Reason why it is not run, if it is not.
    pub(crate) not_run: Option<String>,
}

impl PlannedCase {
    /// A case that is run, with nothing varied.
    pub(crate) fn new(label: impl Into<String>, target: impl Into<String>, job: Job, rounds_in: RoundProcess) -> Self {
        let (label, target) = (label.into(), target.into());
        Self { label, subject: target.clone(), target, job, varied: Vec::new(), rounds_in, not_run: None }
    }

    /// A case of a transactional workload, labelled by its target and by the varied parameters that the target's URL lacks.
    fn of_database(target: String, job: Job, varied: Vec<NameValue>) -> Self {
        let mut label = target.clone();
        for NameValue { name, value } in &varied {
            if !target.split(['?', '&']).any(|option| option.split_once('=') == Some((name, value))) {
                label.push_str(&format!(" {name}={value}"));
            }
        }
        let rounds_in = RoundProcess::of_brokerage(&target);
        Self { varied, ..Self::new(label, target, job, rounds_in) }
    }

    /// Whether its rounds find the same database: it is in this process for all of them, or in files.
    pub(crate) fn has_one_database(&self) -> bool {
        let is_file = || engines::location(&self.target).is_ok_and(|location| location.file().is_some());
        self.rounds_in == RoundProcess::ThisProcess || is_file()
    }
}

/// Process that a round runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoundProcess {
    /// This process: databases in memory are loaded once and put back.
    ThisProcess,
    /// A process for each round: its memory and its engine are its own.
    Child,
}

impl RoundProcess {
    /// The process of rounds of the brokerage workload: one of their own if a library would stay in this one, next to
    /// another's.
    pub(crate) fn of_brokerage(target: &str) -> Self {
        if engines::stays_loaded(target) { Self::Child } else { Self::ThisProcess }
    }
}

/// Whether a failed round ends the run or only its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnFailure {
    /// The run; results until then are reported.
    EndRun,
    /// Its case; the others go on.
    LeaveOutCase,
}

impl Plan {
    /// A plan of one block whose first failure ends it, with the requested execution.
    pub(crate) fn of(name: impl Into<String>, block: CaseBlock, how: &ExecutionArgs, output: &OutputArgs) -> Self {
        Self {
            name: name.into(),
            blocks: vec![block],
            seed: how.seed.unwrap_or_else(drawn_seed),
            wait_quiet_ns: how.wait_quiet_ns(None),
            calibrate: true,
            require_steady: how.require_steady,
            repeats_disturbed: !how.no_repeat,
            at_most_ns: None,
            call_limit_ns: nanoseconds(how.call_limit),
            statements: how.statements,
            instructions: None,
            memory: MemoryArgs::default(),
            compares: None,
            on_failure: OnFailure::EndRun,
            output: output.directory.clone(),
            files: files::OF_RUN.map(str::to_owned).into(),
            scratch: None,
            left_out: Vec::new(),
        }
    }

    /// Every case.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &PlannedCase> {
        self.blocks.iter().flat_map(|block| &block.cases)
    }

    /// Budget for repeats of a block's rounds that other processes disturbed.
    pub(crate) fn budget(&self, block: &CaseBlock) -> Budget {
        let cases = u32::try_from(block.run_cases().count()).unwrap_or(u32::MAX);
        if self.repeats_disturbed { Budget::new(cases, block.rounds) } else { Budget::none() }
    }

    /// Rounds of all cases that are run.
    pub(crate) fn rounds(&self) -> u32 {
        let of_block = |block: &CaseBlock| {
            let run = block.run_cases().count();
            u32::try_from(run).unwrap_or(u32::MAX).saturating_mul(block.rounds)
        };
        self.blocks.iter().map(of_block).fold(0, u32::saturating_add)
    }

    /// Every case that is run.
    pub(crate) fn run_cases(&self) -> impl Iterator<Item = &PlannedCase> {
        self.blocks.iter().flat_map(CaseBlock::run_cases)
    }

    /// Whether the rounds of the case with this label must be in steady state.
    pub(crate) fn demands_steadiness(&self, label: &str) -> bool {
        self.require_steady && self.cases().any(|case| case.label == label && may_be_steady(&case.job))
    }

    /// The plan; a failure if one of its workloads lacks a requested ability.
    pub(crate) fn checked(mut self) -> Result<Self> {
        memory::apply(&mut self)?;
        // A suite mixes cases that end by their work with others: only the others are checked.
        if self.require_steady
            && let Some(case) = self.run_cases().next()
            && !self.run_cases().any(|case| may_be_steady(&case.job))
        {
            refuse_unsupported(case.job.workload(), "--require-steady", case.job.abilities()?.steadiness)?;
        }
        for case in self.run_cases() {
            if self.statements {
                targets::has_statements(&case.target, &case.job)?;
            }
            let abilities = case.job.abilities()?;
            if case.job.has_rate() {
                refuse_unsupported(case.job.workload(), "--rate", abilities.rate)?;
            }
            if case.job.is_sampled() {
                refuse_unsupported(case.job.workload(), "--timing sampled", abilities.sampling)?;
            }
            if let Some(search) = case.job.search() {
                refuse_unsupported(case.job.workload(), "--find-max", abilities.search)?;
                search.check(&case.job.operations()?)?;
            }
        }
        Ok(self)
    }
}

/// Whether a job's rounds can be in steady state.
fn may_be_steady(job: &Job) -> bool {
    job.abilities().is_ok_and(|abilities| abilities.steadiness.lacks().is_none())
}

/// Refuses an option that a workload cannot apply.
pub(crate) fn refuse_unsupported(workload: &str, option: &str, ability: Ability) -> Result<()> {
    match ability.lacks() {
        None => Ok(()),
        Some(why) => Err(Failure::usage(format!("{option} cannot be used with {workload}: {why}"))),
    }
}

/// Default seed: from the clock, and short enough to be typed again.
fn drawn_seed() -> u64 {
    jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000
}

/// A length of time in nanoseconds.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn varied(chosen: &[(&str, &str)]) -> Vec<NameValue> {
    chosen.iter().map(|&(name, value)| NameValue::new(name, value)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn case(label: &str) -> PlannedCase {
        let job = ClassicRound { workload: "bulk-load".to_owned(), ..ClassicRound::default() };
        let case = PlannedCase::new(label, "null:", job.into(), RoundProcess::Child);
        PlannedCase { subject: label.to_owned(), ..case }
    }

    /// Two rounds of three cases that load.
    pub(crate) fn plan(require_steady: bool) -> Plan {
        Plan {
            name: "x".to_owned(),
            blocks: vec![CaseBlock { cases: vec![case("a"), case("b"), case("c")], rounds: 2 }],
            seed: 1,
            wait_quiet_ns: None,
            calibrate: false,
            require_steady,
            repeats_disturbed: true,
            at_most_ns: None,
            call_limit_ns: 1,
            statements: false,
            instructions: None,
            memory: MemoryArgs::default(),
            compares: None,
            on_failure: OnFailure::EndRun,
            output: "runs".into(),
            files: Vec::new(),
            scratch: None,
            left_out: Vec::new(),
        }
    }

    #[test]
    fn cases_take_turns_in_an_order_drawn_for_each_round() {
        let plan = plan(false);
        let block = &plan.blocks[0];
        let mut first = [0; 3];
        for round in 0..300 {
            let turns = block.turns(round, 7);
            first[turns[0]] += 1;
            assert_eq!(turns, block.turns(round, 7), "the seed decides");
            let mut all = turns;
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        }
        // Three standard deviations of a third of 300.
        assert!(first.iter().all(|count| (75..=125).contains(count)), "{first:?}");
    }

    #[test]
    fn a_workload_is_not_asked_for_what_it_cannot() {
        assert!(plan(false).checked().is_ok());
        let refused = plan(true).checked().unwrap_err().render();
        assert!(
            refused.contains("--require-steady cannot be used with bulk-load: it ends when its work is done"),
            "{refused}"
        );
    }

    #[test]
    fn of_several_workloads_those_that_can_are_asked_for_steadiness() {
        let mut plan = plan(true);
        let Job::Classic(job) = &mut plan.blocks[0].cases[1].job else { panic!("a classic workload") };
        job.workload = "update".to_owned();
        let plan = plan.checked().unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|label| plan.demands_steadiness(label)), [false, true, false, false]);
        let plan = Plan { require_steady: false, ..plan };
        assert!(!plan.demands_steadiness("b"));
    }

    #[test]
    fn a_plan_is_data() {
        let text = serde_json::to_string(&plan(true)).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan(true));
    }
}
