//! Instructions of the cases' operations, counted after their rounds: a fixed number of operations, each count in a process of
//! its own with the same seed.

use super::callgrind::Callgrind;
use super::{CaseRun, Executor, RoundRequest, child};
use crate::args::MemoryArgs;
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::plan::Job;
use crate::plan::instructions::COUNTS;
use crate::progress::ProgressStep;
use crate::spent;
use crate::work_folder::WorkFolder;
use bourse_engine::instructions::InstructionSource;
use bourse_engine::target_with_path;
use bourse_record::{CheckStatus, FunctionInstructions, Instructions};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Part of all instructions below which a function is not stored.
const SMALL: u64 = 10_000;

/// Counting of a round's operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoundCount {
    /// Program or device that counts.
    pub(super) source: InstructionSource,
    /// File for valgrind's counts.
    file: PathBuf,
}

impl RoundCount {
    /// Command that starts this program so that it can be counted.
    pub(super) fn command(&self, program: &Path) -> Command {
        if self.source == InstructionSource::Processor {
            return Command::new(program);
        }
        let mut command = Command::new("valgrind");
        // Nothing is counted before the program asks for it. Threads that give signs of life have their turns.
        command.args([
            "-q", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no", "--fair-sched=try", "--vgdb=no",
        ]);
        command.arg(format!("--callgrind-out-file={}", self.file.display())).arg(program);
        command
    }
}

/// A round that was counted.
struct Counted {
    operations: u64,
    counted: Callgrind,
}

impl Executor<'_> {
    /// Counts the instructions of cases that have rounds.
    pub(super) fn count_instructions(&self, cases: &mut [CaseRun]) -> Result<()> {
        let Some(plan) = &self.plan.instructions else { return Ok(()) };
        let _spending = spent::on(spent::SpentPart::Instructions);
        let mut of_harness: Option<(Job, u64)> = None;
        for case in cases.iter_mut().filter(|case| case.has_more_rounds()) {
            let Ok(job) = case.job.counted() else { continue };
            let harness = match of_harness.take().filter(|(of, _)| *of == job) {
                Some((_, harness)) => harness,
                None => self.counted(plan.source, "null:", &job, "the harness")?.counted.total,
            };
            of_harness = Some((job.clone(), harness));
            let count = |number| {
                let label = format!("{}, {number} of {COUNTS}", case.label());
                self.counted(plan.source, &case.planned.target, &job, &label)
            };
            let counts = (1..=COUNTS).map(count).collect::<Result<Vec<_>, _>>()?;
            let Some(Counted { operations, counted: first }) = counts.first() else { continue };
            let large = first.functions.iter().filter(|(_, count)| plan.functions && **count >= first.total / SMALL);
            let functions = large.map(|(name, count)| FunctionInstructions { name: name.clone(), count: *count });
            let instructions = Instructions {
                counted_by: plan.counted_by.clone(),
                operations: *operations,
                counts: counts.iter().map(|it| it.counted.total).collect(),
                harness,
                functions: functions.collect(),
            };
            if counts.iter().any(|it| it.operations != *operations) || instructions.each().is_none() {
                let what = format!("the instructions of {} cannot be counted", case.label());
                let found = format!("{:?} instructions, {harness} of them the harness's", instructions.counts);
                return Err(Failure::new(Exit::Target, what).detail("found", found));
            }
            if let Some(case) = &mut case.case {
                case.instructions = Some(instructions);
            }
        }
        Ok(())
    }

    /// Counts the instructions of a round of a job on a target.
    fn counted(&self, source: InstructionSource, target: &str, job: &Job, label: &str) -> Result<Counted> {
        let failed = |cause: String| {
            Failure::new(Exit::Target, format!("cannot count the instructions of {} on {target}", job.workload()))
                .detail("cause", cause)
        };
        let folder =
            WorkFolder::new("bourse-count-", &std::env::temp_dir()).map_err(|error| failed(error.to_string()))?;
        let file = folder.path().join("callgrind.out");
        // A name of the same length on both sides: engines copy and compare the names of their files as they work.
        let target = match engines::location(target)?.file() {
            Some(_) => target_with_path(target, &folder.path().join("count.db")),
            None => target.to_owned(),
        };
        let request = RoundRequest {
            target,
            job: job.clone(),
            seed: self.plan.seed,
            round: 0,
            begins_alike: false,
            is_first: false,
            is_probe: true,
            history: None,
            wait_quiet_ns: None,
            call_limit_ns: self.plan.call_limit_ns,
            statements: false,
            memory: MemoryArgs::default(),
            count: Some(RoundCount { source, file: file.clone() }),
        };
        let step = ProgressStep::waiting(format!("counting instructions: {label}"));
        let ran = child::run(&request, &self.context.interrupted);
        step.end(&ran);
        let outcome = ran?;
        if outcome.interrupted {
            return Err(interrupt::interrupted("instructions were not counted"));
        }
        if let Some(failure) = outcome.failure {
            return Err(failure);
        }
        let round = &outcome.round;
        let broken = round.checks.iter().find(|check| check.status == CheckStatus::Failed);
        if let Some(why) = round.void.clone().or(broken.map(|check| check.evidence.clone())) {
            return Err(failed(why));
        }
        let counted = match source {
            InstructionSource::Processor => Callgrind { total: outcome.instructions, ..Callgrind::default() },
            InstructionSource::Valgrind => {
                let text =
                    std::fs::read(&file).map_err(|error| failed(format!("valgrind wrote no counts: {error}")))?;
                Callgrind::read(&String::from_utf8_lossy(&text)).map_err(failed)?
            }
        };
        Ok(Counted { operations: round.headline_valid(&outcome.workload), counted })
    }
}
