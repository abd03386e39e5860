//! The engine's reaction, the state left, and the verdict, derived from the processes' events and exit states.

use super::catalogue::CallFault;
use crate::demand::{CrashKind, promised};
use crate::known_work::WorkEvent;
use bourse_crash::preload::{Call, CallEffect};
use bourse_engine::{Description, Durability, MayLose};
use bourse_record::crash::Guarantee;
use bourse_record::faults::{DataState, FaultCase, FaultVerdict, Reaction};

/// End of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// Exit with this code.
    Code(i32),
    /// Death by this signal.
    Signal(i32),
    /// Hang: it was killed after a time limit.
    Hung,
}

/// Events reported by a process, and its end.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessReport {
    /// Reported events, in order.
    pub events: Vec<WorkEvent>,
    /// End of the process.
    pub ended: ProcessEnd,
}

/// Observations of one trial of a fault.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialObservation {
    /// Number of the call that the fault was meant for.
    pub nth: u64,
    /// Number of calls that were hit.
    pub fired: u64,
    /// Description of the first call hit.
    pub first_hit: String,
    /// Account of the process, or the server, that did the work.
    pub work: ProcessReport,
    /// Account of the process that checked the database afterwards, without a fault.
    pub look: ProcessReport,
}

/// Durability class that a target's settings give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetDurability {
    /// The durability class.
    pub durability: Durability,
    /// Data that the class allows to be lost.
    pub may_lose: Option<MayLose>,
    /// Settings from which the class follows.
    pub reason: String,
}

impl TargetDurability {
    /// Class of a described engine.
    pub fn of(described: Description) -> Self {
        Self { durability: described.durability, may_lose: described.may_lose, reason: described.durability_reason }
    }

    /// Guarantee of the class after a fault.
    const fn promise(&self, fault: &CallFault) -> Guarantee {
        promised(self.durability, self.may_lose, if fault.loses_power { CrashKind::Power } else { CrashKind::Kill })
    }
}

/// Judges a trial.
pub fn judge(fault: &CallFault, class: &TargetDurability, observed: &TrialObservation) -> FaultCase {
    let work = &observed.work.events;
    let acknowledged = count(work, |event| matches!(event, WorkEvent::Acknowledged(_)));
    let committed_despite_error =
        count(work, |event| matches!(event, WorkEvent::Stands(_))) + u64::from(is_failed_one_present(observed));
    let errors: Vec<String> = work
        .iter()
        .filter_map(|event| match event {
            WorkEvent::Error { transaction, text } => Some(format!("transaction {transaction}: {text}")),
            _ => None,
        })
        .collect();
    let (left, lost, evidence) = left(observed);
    let reaction = reaction(fault, observed, !errors.is_empty());
    let signal = match observed.work.ended {
        ProcessEnd::Signal(signal) => Some(signal),
        ProcessEnd::Code(_) | ProcessEnd::Hung => None,
    };
    let verdict = verdict(class.promise(fault), fault, reaction, signal, left);
    let errors = errors.into_iter().take(3).collect();
    let (nth, fired, first_hit) = (observed.nth, observed.fired, observed.first_hit.clone());
    FaultCase {
        nth,
        fired,
        first_hit,
        acknowledged,
        committed_despite_error,
        errors,
        reaction,
        signal,
        left,
        lost,
        evidence,
        verdict,
    }
}

/// Whether the last transaction was reported as failed and is in the database nevertheless.
fn is_failed_one_present(observed: &TrialObservation) -> bool {
    match (observed.work.events.last(), observed.look.events.first()) {
        (Some(WorkEvent::Error { transaction, .. }), Some(WorkEvent::Found { progress, .. })) => {
            transaction == progress
        }
        _ => false,
    }
}

fn count(events: &[WorkEvent], matches: impl Fn(&WorkEvent) -> bool) -> u64 {
    events.iter().filter(|event| matches(event)).count() as u64
}

fn reaction(fault: &CallFault, observed: &TrialObservation, has_errors: bool) -> Reaction {
    match observed.work.ended {
        _ if observed.fired == 0 => Reaction::NotMet,
        ProcessEnd::Hung => Reaction::Hung,
        ProcessEnd::Signal(_) | ProcessEnd::Code(_) if fault.effect == CallEffect::End => Reaction::Killed,
        ProcessEnd::Signal(_) => Reaction::Died,
        ProcessEnd::Code(_) if has_errors => Reaction::Reported,
        ProcessEnd::Code(0) => Reaction::WentOn,
        ProcessEnd::Code(_) => Reaction::Died,
    }
}

/// State that is left, number of acknowledged transactions that are missing, and the evidence.
fn left(observed: &TrialObservation) -> (DataState, u64, String) {
    let work = &observed.work.events;
    let last = work.iter().filter_map(|event| match event {
        WorkEvent::Acknowledged(number) | WorkEvent::Stands(number) => Some(*number),
        _ => None,
    });
    let last = last.max().unwrap_or_default();
    let acknowledged = work.iter().filter_map(|event| match event {
        WorkEvent::Acknowledged(number) => Some(*number),
        _ => None,
    });
    let acknowledged: Vec<u64> = acknowledged.collect();
    let lost_beyond = |progress: u64| acknowledged.iter().filter(|number| **number > progress).count() as u64;
    if let Some(WorkEvent::Wrong { transaction, text }) =
        work.iter().find(|event| matches!(event, WorkEvent::Wrong { .. }))
    {
        return (DataState::Corrupted, 0, format!("while running, transaction {transaction}: {text}"));
    }
    let all = acknowledged.len() as u64;
    match (observed.look.events.first(), observed.look.ended) {
        (Some(WorkEvent::Found { progress, differs, damage }), _) => {
            let lost = lost_beyond(*progress);
            if let Some(text) = differs {
                return (DataState::Corrupted, lost, text.clone());
            }
            if let Some(first) = damage.first() {
                return (DataState::Corrupted, lost, format!("by the engine's own check: {first}"));
            }
            // One transaction may have been under way.
            if *progress > last + 1 {
                return (DataState::Corrupted, 0, format!("transaction {progress} is there, which was not begun"));
            }
            match lost {
                0 => (DataState::Whole, 0, String::new()),
                lost => {
                    (DataState::Lost, lost, format!("the state after transaction {progress}, {last} were acknowledged"))
                }
            }
        }
        (Some(WorkEvent::Unreadable(text)), _) => (DataState::Unreadable, all, text.clone()),
        (_, ProcessEnd::Signal(signal)) => {
            (DataState::Unreadable, all, format!("opening it ends the process by signal {signal}"))
        }
        (_, ProcessEnd::Hung) => (DataState::Unreadable, all, "opening it does not end".to_owned()),
        (_, ProcessEnd::Code(code)) => {
            (DataState::Unreadable, all, format!("opening it ends the process with exit code {code}"))
        }
    }
}

/// Signal by which a process ends itself.
const SIGABRT: i32 = 6;

fn verdict(
    promise: Guarantee,
    fault: &CallFault,
    reaction: Reaction,
    signal: Option<i32>,
    left: DataState,
) -> FaultVerdict {
    let is_as_promised = match (promise, left) {
        (_, DataState::Whole) => true,
        (Guarantee::Nothing, _) | (Guarantee::Whole, DataState::Lost) => true,
        (_, DataState::Lost | DataState::Corrupted | DataState::Unreadable) => false,
    };
    match left {
        _ if reaction == Reaction::NotMet => FaultVerdict::NotMet,
        // An engine that ends itself keeps its guarantee; one that uses memory it was not given shows a missing check.
        _ if fault.call == Call::Allocate && signal.is_some_and(|signal| signal != SIGABRT) => FaultVerdict::Broken,
        DataState::Whole => FaultVerdict::Ok,
        _ if is_as_promised || fault.effect == CallEffect::Lie => FaultVerdict::Expected,
        // It says itself that the data is gone; what it may not do is to go on as if nothing had happened.
        DataState::Unreadable if fault.is_visible() => FaultVerdict::Reported,
        _ => FaultVerdict::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::FAULTS;

    fn fault(name: &str) -> &'static CallFault {
        FAULTS.iter().find(|fault| fault.name == name).expect("there is one")
    }

    fn observed(work: Vec<WorkEvent>, ended: ProcessEnd, look: WorkEvent) -> TrialObservation {
        TrialObservation {
            nth: 3,
            fired: 1,
            first_hit: "fsync of x".to_owned(),
            work: ProcessReport { events: work, ended },
            look: ProcessReport { events: vec![look], ended: ProcessEnd::Code(0) },
        }
    }

    fn found(progress: u64) -> WorkEvent {
        WorkEvent::Found { progress, differs: None, damage: Vec::new() }
    }

    fn acknowledged(last: u64) -> Vec<WorkEvent> {
        (1..=last).map(WorkEvent::Acknowledged).collect()
    }

    fn of(durability: Durability) -> TargetDurability {
        TargetDurability { durability, may_lose: None, reason: String::new() }
    }

    #[track_caller]
    fn check(
        name: &str,
        class: Durability,
        observed: &TrialObservation,
        expected: (Reaction, DataState, FaultVerdict),
    ) {
        let case = judge(fault(name), &of(class), observed);
        assert_eq!((case.reaction, case.left, case.verdict), expected, "{case:?}");
    }

    #[test]
    fn nothing_that_was_acknowledged_may_be_gone_without_a_word() {
        use Durability::{Consistent, Durable, Process};
        let code = ProcessEnd::Code(0);
        let gone = observed(acknowledged(9), code, found(5));
        check("sync-error-power", Durable, &gone, (Reaction::WentOn, DataState::Lost, FaultVerdict::Broken));
        check("sync-error-power", Consistent, &gone, (Reaction::WentOn, DataState::Lost, FaultVerdict::Expected));
        check("lying-disk", Durable, &gone, (Reaction::WentOn, DataState::Lost, FaultVerdict::Expected));
        check("write-error", Process, &gone, (Reaction::WentOn, DataState::Lost, FaultVerdict::Broken));
        let mut late = gone.clone();
        late.work.events.insert(3, WorkEvent::Error { transaction: 4, text: "disk I/O error".to_owned() });
        // An error for one transaction does not excuse the loss of another.
        check("sync-error-power", Durable, &late, (Reaction::Reported, DataState::Lost, FaultVerdict::Broken));
        let kept = observed(acknowledged(9), code, found(10));
        check("write-error", Durable, &kept, (Reaction::WentOn, DataState::Whole, FaultVerdict::Ok));
        let mut failed = kept.clone();
        failed.work.events.push(WorkEvent::Error { transaction: 10, text: "disk I/O error".to_owned() });
        check("write-error", Durable, &failed, (Reaction::Reported, DataState::Whole, FaultVerdict::Ok));
        let committed_despite_error =
            |observed| judge(fault("write-error"), &of(Durable), observed).committed_despite_error;
        assert_eq!(
            (committed_despite_error(&kept), committed_despite_error(&failed)),
            (0, 1),
            "what failed may be there, which is told"
        );
        let never = observed(acknowledged(9), code, found(11));
        check("write-error", Durable, &never, (Reaction::WentOn, DataState::Corrupted, FaultVerdict::Broken));
    }

    #[test]
    fn what_the_engines_memory_alone_has_may_go_with_its_process() {
        let gone = observed(acknowledged(9), ProcessEnd::Signal(9), found(5));
        for durability in [Durability::Process, Durability::Consistent] {
            let of = |may_lose| TargetDurability { may_lose, ..of(durability) };
            let judged =
                |class: &TargetDurability, seen: &TrialObservation| judge(fault("write-error"), class, seen).verdict;
            assert_eq!(judged(&of(Some(MayLose::LastSecondInMemory)), &gone), FaultVerdict::Expected);
            assert_eq!(judged(&of(Some(MayLose::LastSecond)), &gone), FaultVerdict::Broken);
            let differs = WorkEvent::Found { progress: 9, differs: Some("row 7".to_owned()), damage: Vec::new() };
            let damaged = observed(acknowledged(9), ProcessEnd::Signal(9), differs);
            assert_eq!(judged(&of(Some(MayLose::LastSecondInMemory)), &damaged), FaultVerdict::Broken);
        }
    }

    #[test]
    fn damage_is_one_even_if_the_engine_reads_on() {
        use Durability::Durable;
        let differs = WorkEvent::Found { progress: 9, differs: Some("row 7".to_owned()), damage: Vec::new() };
        let damaged = WorkEvent::Found { progress: 9, differs: None, damage: vec!["page 7".to_owned()] };
        for look in [differs, damaged] {
            let seen = observed(acknowledged(9), ProcessEnd::Code(0), look);
            check("write-error", Durable, &seen, (Reaction::WentOn, DataState::Corrupted, FaultVerdict::Broken));
            check("lying-disk", Durable, &seen, (Reaction::WentOn, DataState::Corrupted, FaultVerdict::Expected));
        }
        let mut wrong = observed(acknowledged(9), ProcessEnd::Code(0), found(9));
        wrong.work.events.push(WorkEvent::Wrong { transaction: 10, text: "row 7".to_owned() });
        check("read-error", Durable, &wrong, (Reaction::WentOn, DataState::Corrupted, FaultVerdict::Broken));
    }

    #[test]
    fn how_the_process_ends_is_told() {
        use Durability::Durable;
        let ended = |ended| observed(acknowledged(9), ended, found(9));
        for (signal, verdict) in [(SIGABRT, FaultVerdict::Ok), (11, FaultVerdict::Broken)] {
            let died = ended(ProcessEnd::Signal(signal));
            check("no-memory", Durable, &died, (Reaction::Died, DataState::Whole, verdict));
        }
        check(
            "map-error",
            Durable,
            &ended(ProcessEnd::Signal(7)),
            (Reaction::Died, DataState::Whole, FaultVerdict::Ok),
        );
        assert_eq!(judge(fault("map-error"), &of(Durable), &ended(ProcessEnd::Signal(7))).signal, Some(7));
        check("write-error", Durable, &ended(ProcessEnd::Hung), (Reaction::Hung, DataState::Whole, FaultVerdict::Ok));
        check("power", Durable, &ended(ProcessEnd::Signal(9)), (Reaction::Killed, DataState::Whole, FaultVerdict::Ok));
        let mut unmet = ended(ProcessEnd::Code(0));
        unmet.fired = 0;
        check("read-error", Durable, &unmet, (Reaction::NotMet, DataState::Whole, FaultVerdict::NotMet));
        let refused = WorkEvent::Unreadable("database disk image is malformed".to_owned());
        let refused = observed(acknowledged(9), ProcessEnd::Code(0), refused);
        check("write-error", Durable, &refused, (Reaction::WentOn, DataState::Unreadable, FaultVerdict::Reported));
        check("power", Durable, &refused, (Reaction::Killed, DataState::Unreadable, FaultVerdict::Broken));
        let mut killed = ended(ProcessEnd::Code(0));
        killed.look = ProcessReport { events: Vec::new(), ended: ProcessEnd::Signal(11) };
        check("write-error", Durable, &killed, (Reaction::WentOn, DataState::Unreadable, FaultVerdict::Reported));
    }
}
