//! Calls that never return. A thread in such a call cannot be ended, so the process is: the rounds before it are written
//! first, and a child process that runs a round answers with the failure.

use super::RunContext;
use super::child::reply;
use crate::failure::{Exit, Failure};
use crate::interrupt::interrupted;
use crate::live;
use crate::output::store;
use crate::progress::{self, lines, note};
use bourse_driver::{CallInProgress, Clock as _, Nanos, RealClock, RoundProgress, SECOND, sampling_held_ns};
use bourse_record::{RunFile, Warning};
use std::path::PathBuf;
use std::time::Duration;

/// Way in which a process ends if a call never returns.
pub(super) enum ForcedEnd {
    /// Results measured before are written to this folder.
    Files(PathBuf),
    /// The failure is the process's answer.
    Answer,
}

/// Longest time that a call may go on after an interruption, in seconds.
const INTERRUPTED_LIMIT_S: f64 = 5.0;

/// Failure of a round on a target, if one of its calls runs for longer than `limit_ns` after the measurement interval, or for
/// five seconds of the `interrupted_s` since an interruption; `None` until then.
pub(super) fn lost(
    target: &str,
    progress: &RoundProgress,
    limit_ns: u64,
    interrupted_s: Option<f64>,
) -> Option<Failure> {
    let limit_s = limit_ns as f64 / SECOND as f64;
    let after_s = progress.elapsed_s - progress.planned_s;
    let is_lost = |call: &&CallInProgress| {
        call.for_s.min(after_s) >= limit_s
            || interrupted_s.is_some_and(|since| call.for_s.min(since) >= INTERRUPTED_LIMIT_S)
    };
    let words = |call: &CallInProgress| {
        let operation = call.operation.as_deref().unwrap_or("a call");
        format!("{}: {operation} has not returned for {:.1} s", call.user, call.for_s)
    };
    let lost: Vec<String> = progress.calls.iter().filter(is_lost).map(words).collect();
    (!lost.is_empty()).then(|| {
        if interrupted_s.is_some() {
            return interrupted(&format!("a call to {target} does not return")).detail("sessions", lost.join("\n"));
        }
        does_not_return(target, &lost.join("\n"), limit_ns)
    })
}

/// Failure of a round on a target with calls that were waited for until the limit.
fn does_not_return(target: &str, sessions: &str, limit_ns: u64) -> Failure {
    let limit_s = limit_ns as f64 / SECOND as f64;
    Failure::new(Exit::Target, format!("{target} was lost: a call does not return"))
        .detail("sessions", sessions)
        .detail("waited", format!("{limit_s} s after the end of the measurement interval"))
        .hint("--call-limit waits longer")
}

/// Ends this child process, with its answer, if a call of the thread that samples its round is lost: that thread looks for
/// lost calls of users, and asks the engine for sizes and counts.
pub(super) fn watch_sampling(target: String, clock: RealClock, limit_ns: u64) {
    /// Time in which a server that answers late may answer, whatever the limit.
    const LEAST: Nanos = 2 * SECOND;
    let watch = move || loop {
        std::thread::sleep(Duration::from_millis(500));
        if sampling_held_ns(clock.now()) >= limit_ns.max(LEAST) {
            let failure = does_not_return(&target, "the sampler: its question to the engine is not answered", limit_ns);
            let _ = reply::<()>(&Err(failure));
            std::process::exit(Exit::Target as i32);
        }
    };
    // Without the thread Ctrl-C ends such a round.
    let _ = std::thread::Builder::new().name("watch".to_owned()).spawn(watch);
}

impl RunContext {
    /// Ends the process if a call of a round runs for longer than it may.
    pub(super) fn end_if_lost(&self, target: &str, progress: &RoundProgress) {
        let now_s = progress.elapsed_s;
        if self.is_interrupted() && self.interrupted_at_s.get().is_none() {
            self.interrupted_at_s.set(Some(now_s));
        }
        let interrupted_s = self.interrupted_at_s.get().map(|at_s| now_s - at_s);
        let Some(failure) = lost(target, progress, self.call_limit_ns, interrupted_s) else { return };
        match &self.ending {
            // The parent ends this process if it does not end by itself.
            ForcedEnd::Answer => {
                let _ = reply::<()>(&Err(failure.clone()));
            }
            ForcedEnd::Files(folder) => {
                live::end(live::RunOutcome::Failed);
                if let Some(kept) = self.kept.borrow_mut().take() {
                    self.write(kept, folder, &failure);
                } else {
                    // Fails for a folder that is not empty, which is then left.
                    let _ = std::fs::remove_dir(folder);
                }
                live::restore();
                progress::release();
                lines(&failure.render());
            }
        }
        std::process::exit(failure.exit as i32);
    }

    /// Writes the rounds before the lost one.
    fn write(&self, mut kept: RunFile, folder: &std::path::Path, failure: &Failure) {
        let round = kept.cases.iter().map(|case| case.rounds.len()).max().unwrap_or(0) as u32 + 1;
        kept.warnings.push(Warning::RoundLost { round, cause: failure.line() });
        match store(&kept, folder) {
            Ok(stored) => note(&format!("run file: {}\nreport:   {}", stored.json.display(), stored.page.display())),
            Err(unwritten) => lines(&unwritten.render()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_lost_when_it_has_gone_on_for_the_limit_after_the_interval() {
        let call = |for_s| CallInProgress { user: "user 3".to_owned(), operation: Some("read".to_owned()), for_s };
        let progress = |elapsed_s, calls: &[f64]| RoundProgress {
            phase: bourse_record::PhaseKind::Drain,
            elapsed_s,
            planned_s: 10.0,
            warm_up_s: 0.0,
            throughput: Vec::new(),
            failures: 0.0,
            response_ns: None,
            queue_length: None,
            operations: Vec::new(),
            row: bourse_record::SeriesRow::new(),
            calls: calls.iter().map(|for_s| call(*for_s)).collect(),
        };
        let found = |elapsed_s, calls: &[f64]| lost("sqlite:x.db", &progress(elapsed_s, calls), 60 * SECOND, None);
        assert_eq!(found(500.0, &[]), None);
        assert_eq!(found(69.0, &[69.0]), None, "the interval ended 59 s ago");
        assert_eq!(found(500.0, &[59.0]), None, "it began in the drain");
        let failure = found(71.0, &[70.5, 3.0]).expect("the first is lost");
        assert_eq!(
            failure.render(),
            "error: sqlite:x.db was lost: a call does not return\n  sessions: user 3: read has not returned for 70.5 s\n  \
             waited: 60 s after the end of the measurement interval\nhint: --call-limit waits longer\n"
        );
        let ended = |calls: &[f64], since_s| lost("sqlite:x.db", &progress(7.0, calls), 60 * SECOND, Some(since_s));
        assert_eq!(ended(&[7.0], 4.9), None, "it may end within five seconds of the interruption");
        assert_eq!(ended(&[4.9], 6.0), None, "it began after the interruption");
        assert_eq!(
            ended(&[7.0], 5.0).expect("it is given up").render(),
            "error: interrupted: a call to sqlite:x.db does not return\n  sessions: user 3: read has not returned for 7.0 s\n"
        );
    }
}
