//! Threads of a classic workload in several processes of this machine, which record their transactions. With faults one is killed.

use super::child::{ChildMessage, ChildProcess, ChildRequest, StderrTarget};
use super::processes::one_round;
use super::{RoundRequest, RunContext};
use crate::failure::{Exit, Failure, Result};
use crate::plan::{ClassicRound, Job};
use crate::work_folder::WorkFolder;
use crate::{engines, live};
use bourse_driver::SplitMix;
use bourse_engine::Engine;
use bourse_micro::{
    MicroError, PreparedRound, ProcessPart, Timing, WorkloadCase, end_processes, prepare_round, run_prepared,
};
use bourse_record::{NameValue, Round};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs a process's part of a round.
pub(super) fn run_part(request: &RoundRequest, part: &ProcessPart, context: &RunContext) -> Result<Round> {
    let RoundRequest { target, job: Job::Classic(job), .. } = request else {
        return Err(Failure::usage("a part of a round is one of a classic workload"));
    };
    let failed =
        |why: String| Failure::new(Exit::Target, format!("a process of users on {target} failed")).detail("cause", why);
    let (case, engine) = (job.case()?, engines::open(target)?);
    let (seed, clock, interrupted) = (request.own_seed(), &context.clock, &context.interrupted);
    let mut progress = |progress: &_| {
        live::second(progress, false);
        context.end_if_lost(target, progress);
    };
    let prepared = PreparedRound { part: Some(part.clone()), ..PreparedRound::default() };
    let ran = run_prepared(&case, prepared, &*engine, &job.timing(false), seed, clock, interrupted, &mut progress);
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    ran.fault.map_or(Ok(ran.round), |fault| Err(failed(fault.to_string())))
}

/// The process that is killed.
struct Victim {
    at: usize,
    /// Time from its first transaction to its end.
    lives: Duration,
    due: Option<Instant>,
    is_killed: bool,
}

impl Victim {
    /// Kills the process at its moment, which follows the first transaction of its first user.
    fn kill_when_due(&mut self, folder: &Path, process: &mut ChildProcess) {
        let works = || std::fs::metadata(folder.join(self.at.to_string())).is_ok_and(|file| file.len() > 0);
        match self.due {
            None if works() => self.due = Some(Instant::now() + self.lives),
            Some(due) if Instant::now() >= due => {
                process.kill();
                self.is_killed = true;
            }
            _ => {}
        }
    }
}

/// Runs a round in several processes, and checks what they have recorded.
pub(super) fn run(
    job: &ClassicRound,
    request: &RoundRequest,
    (case, engine): (&WorkloadCase, &dyn Engine),
    context: &RunContext,
    failed: &dyn Fn(MicroError) -> Failure,
) -> Result<Round> {
    prepare_round(case, engine, &context.clock).map_err(failed)?;
    let folder = WorkFolder::new("bourse-history-", &std::env::temp_dir()).map_err(|error| {
        Failure::usage("cannot make a folder for what processes record").detail("cause", error.to_string())
    })?;
    // Beside the file that locks the folder.
    let records = folder.path().join("records");
    std::fs::create_dir(&records).map_err(|error| Failure::usage(error.to_string()))?;
    let of = case.processes();
    let start = |number| {
        let part = ProcessPart { number, folder: records.clone() };
        let what = format!("process {} of {of} with users on {}", number + 1, request.target);
        ChildProcess::start(&ChildRequest::Part(Box::new(request.clone()), part), &what, StderrTarget::Collected)
    };
    let mut processes = (0..of).map(start).collect::<Result<Vec<_>, _>>()?;
    // Without a length of time a round may be over soon.
    let length = match job.count {
        Some(_) => Duration::from_millis(300),
        None => Duration::from_nanos(job.warm_up_ns + job.measure_ns.unwrap_or(Timing::USUAL_NS)),
    };
    let mut random = SplitMix::new(request.own_seed() ^ 0xFA17);
    let mut victim = case.has_faults().then(|| Victim {
        at: random.below(of.into()) as usize,
        lives: length.mul_f64(0.1 + 0.6 * random.unit()),
        due: None,
        is_killed: false,
    });
    let mut rounds = Vec::<Round>::new();
    let mut open: Vec<usize> = (0..processes.len()).collect();
    while !open.is_empty() {
        for at in std::mem::take(&mut open) {
            let process = &mut processes[at];
            let mut victim = victim.as_mut().filter(|it| it.at == at);
            match process.next(Duration::from_millis(2)) {
                ChildMessage::Answer(round) => {
                    rounds.push(round?);
                    continue;
                }
                ChildMessage::End if victim.as_ref().is_some_and(|it| it.is_killed) => continue,
                ChildMessage::End => return Err(process.lost()),
                ChildMessage::Line(_) | ChildMessage::Nothing => {}
            }
            if let Some(victim) = victim.as_mut().filter(|it| !it.is_killed) {
                victim.kill_when_due(&records, process);
            }
            if context.is_interrupted() {
                process.interrupt();
            }
            open.push(at);
        }
    }
    let gone = victim.as_ref().filter(|it| it.is_killed).map(|it| it.at as u32 + 1);
    rounds.iter_mut().filter_map(|it| it.shared.as_mut()).for_each(|shared| shared.vanished.extend(gone));
    let parts: Vec<&Round> = rounds.iter().collect();
    let mut round = one_round(&parts)?;
    let words = |Victim { at, lives, is_killed, .. }: Victim| match is_killed {
        true => {
            format!("process {} of {of} was killed {:.2} s after its first transaction", at + 1, lives.as_secs_f64())
        }
        false => format!("process {} of {of} ended before it was to be killed", at + 1),
    };
    let fact = victim.map(|victim| NameValue::new("faults", words(victim)));
    round.facts.extend(fact);
    end_processes(case, engine, &job.timing(false), request.own_seed(), &records, &parts, &mut round)
        .map_err(failed)?;
    Ok(round)
}
