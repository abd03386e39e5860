//! All states of a trace: built, checked once each, and judged by the acknowledged commits.

use crate::disk::Disk;
use crate::image::{Directory, Hash};
use crate::plan::{PointPlan, Selection, SelectionLimits};
use crate::profile::Device;
use crate::trace::{FileOperation, Trace};
use bourse_stats::SplitMix;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Condition of the database recovered from a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveryOutcome {
    /// Database after exactly that many commits.
    Whole {
        /// Number of commits.
        commits: u64,
    },
    /// Database that is damaged, cannot be opened, or has contents that it never had.
    Corrupted {
        /// Description of the corruption.
        found: Arc<str>,
    },
}

/// Recovery of a state as by the next user of the database, and check of its contents.
pub trait RecoveryCheck {
    /// Recovers a state and reports its condition.
    fn check(&mut self, state: &Directory) -> RecoveryOutcome;
}

/// Guarantee that must hold after a power loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// No guarantee.
    Nothing,
    /// Database after some commit; the last ones may be missing.
    Whole,
    /// Database with all acknowledged commits.
    Everything,
}

/// Id of a state in a trace: the point at which the power was lost, and the pending pieces that had arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateId {
    /// Number of the point.
    pub point: usize,
    /// Selection of pieces that had arrived.
    pub selection: Selection,
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.point, self.selection)
    }
}

impl FromStr for StateId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(point, selection)| {
            Some(Self { point: point.parse().ok()?, selection: selection.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            format!("`{text}` is not a state: expected POINT:SELECTION, as 12:none, 12:all, 12:one-3 or 12:drawn-5")
        })
    }
}

/// Counts of an exploration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExplorationCounts {
    /// Points at which the power was lost.
    pub points: u64,
    /// Points at which every selection was tried.
    pub exhaustive: u64,
    /// States built.
    pub states: u64,
    /// Distinct states: each was recovered and checked once.
    pub distinct: u64,
    /// States in which acknowledged commits were missing.
    pub lossy: u64,
    /// Largest number of acknowledged commits missing in one state.
    pub most_lost: u64,
    /// States that were corrupted.
    pub corrupted: u64,
    /// States that violated the guarantee.
    pub broken: u64,
}

impl std::ops::AddAssign for ExplorationCounts {
    fn add_assign(&mut self, other: Self) {
        self.points += other.points;
        self.exhaustive += other.exhaustive;
        self.states += other.states;
        self.distinct += other.distinct;
        self.lossy += other.lossy;
        self.most_lost = self.most_lost.max(other.most_lost);
        self.corrupted += other.corrupted;
        self.broken += other.broken;
    }
}

/// State that lost commits or is corrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedState {
    /// Id of the state.
    pub id: StateId,
    /// Number of commits acknowledged by then.
    pub acknowledged: u64,
    /// Condition of the database.
    pub outcome: RecoveryOutcome,
}

/// Result of an exploration.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// Counts of states.
    pub counts: ExplorationCounts,
    /// First states that violated the guarantee.
    pub broken: Vec<FailedState>,
    /// First state that lost commits, if any, whether or not they were guaranteed.
    pub lossy: Option<FailedState>,
    /// First corrupted state, if any, whether or not the guarantee covers it.
    pub corrupted: Option<FailedState>,
}

/// Number of failures that are stored.
const MAX_STORED_FAILURES: usize = 4;

/// Positions in the trace of the operations before which the power is lost: each sync that makes something durable, every
/// commit since which nothing was synced, and the end. States between two of these points are among those of the later one,
/// since pending changes only accumulate.
pub fn points(trace: &Trace) -> Vec<usize> {
    let mut points = Vec::new();
    let mut since_sync = 0;
    for (place, operation) in trace.operations.iter().enumerate() {
        match operation {
            operation if operation.is_sync() => {
                if since_sync > 0 {
                    points.push(place);
                }
                since_sync = 0;
            }
            FileOperation::Acknowledged(_) => {
                if since_sync > 0 && is_unsynced_next(&trace.operations[place + 1..]) {
                    points.push(place + 1);
                }
            }
            _ => since_sync += 1,
        }
    }
    if points.last() != Some(&trace.operations.len()) {
        points.push(trace.operations.len());
    }
    points
}

/// Whether another commit is acknowledged before the next sync.
fn is_unsynced_next(rest: &[FileOperation]) -> bool {
    let decides = |it: &&FileOperation| it.is_sync() || matches!(it, FileOperation::Acknowledged(_));
    matches!(rest.iter().find(decides), Some(FileOperation::Acknowledged(_)))
}

/// Seed of a point.
pub(crate) fn seed_of(seed: u64, point: usize) -> u64 {
    seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (point as u64).wrapping_mul(0xA076_1D64_78BD_642F)
}

/// Explores the states of a trace. `go_on` is called after each point and ends the exploration by returning false.
pub fn explore(
    trace: &Trace,
    device: Device,
    limits: &SelectionLimits,
    seed: u64,
    promise: Promise,
    check: &mut dyn RecoveryCheck,
    go_on: &mut dyn FnMut(&ExplorationCounts) -> bool,
) -> Exploration {
    let mut explored = Exploration::default();
    let mut known: HashMap<Hash, RecoveryOutcome> = HashMap::new();
    let mut disk = Disk::new(trace, device);
    let mut done = 0;
    let places = points(trace);
    let last = places.len().saturating_sub(1);
    // One of each part, drawn: an engine's syncs alternate, and a regular step would meet the same kind each time.
    let drawn = |part: usize| SplitMix::new(seed_of(seed, part)).below(limits.every as u64) as usize;
    let is_visited = |point: usize| point % limits.every == drawn(point / limits.every) || point == last;
    for (point, place) in places.into_iter().enumerate().filter(|(point, _)| is_visited(*point)) {
        trace.operations[done..place].iter().for_each(|operation| disk.apply(operation));
        done = place;
        let (groups, members) = disk.groups();
        let plan = PointPlan::new(&groups, &members, device, seed_of(seed, point));
        explored.counts.points += 1;
        explored.counts.exhaustive += u64::from(plan.possible() <= limits.exhaustive);
        for selection in plan.selections(&limits.at(explored.counts.states, last + 1 - point)) {
            let arrived = plan.arrived(selection).expect("a plan's own selection is one of its");
            let state = disk.state(&members, &arrived);
            explored.counts.states += 1;
            let outcome = known.entry(state.hash()).or_insert_with(|| check.check(&state)).clone();
            judge(
                &mut explored,
                promise,
                FailedState { id: StateId { point, selection }, acknowledged: disk.acknowledged(), outcome },
            );
        }
        explored.counts.distinct = known.len() as u64;
        if !go_on(&explored.counts) {
            break;
        }
    }
    explored
}

fn judge(explored: &mut Exploration, promise: Promise, state: FailedState) {
    let counts = &mut explored.counts;
    let (is_corrupted, lost) = match &state.outcome {
        RecoveryOutcome::Corrupted { .. } => (true, 0),
        RecoveryOutcome::Whole { commits } => (false, state.acknowledged.saturating_sub(*commits)),
    };
    counts.corrupted += u64::from(is_corrupted);
    counts.lossy += u64::from(lost > 0);
    counts.most_lost = counts.most_lost.max(lost);
    let is_broken = match promise {
        Promise::Nothing => false,
        Promise::Whole => is_corrupted,
        Promise::Everything => is_corrupted || lost > 0,
    };
    if is_corrupted && explored.corrupted.is_none() {
        explored.corrupted = Some(state.clone());
    }
    if lost > 0 && explored.lossy.is_none() {
        explored.lossy = Some(state.clone());
    }
    if is_broken {
        counts.broken += 1;
        if explored.broken.len() < MAX_STORED_FAILURES {
            explored.broken.push(state);
        }
    }
}

/// State of a trace, with the number of commits acknowledged by then; `None` if there is no such state.
pub fn state_at(trace: &Trace, device: Device, seed: u64, id: StateId) -> Option<(Directory, u64)> {
    let place = *points(trace).get(id.point)?;
    let mut disk = Disk::new(trace, device);
    trace.operations[..place].iter().for_each(|operation| disk.apply(operation));
    let (groups, members) = disk.groups();
    let arrived = PointPlan::new(&groups, &members, device, seed_of(seed, id.point)).arrived(id.selection)?;
    Some((disk.state(&members, &arrived), disk.acknowledged()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::CrashFault;
    use crate::image::FileImage;
    use proptest::prelude::*;

    /// Trace of an engine with one number: a new value is written to a log, which is synced, then in place.
    fn engine(commits: u8, syncs_log: bool) -> Trace {
        let files = [("db".to_owned(), FileImage::from(&[0_u8][..])), ("log".to_owned(), FileImage::from(&[0_u8][..]))];
        let mut operations = Vec::new();
        for number in 1..=commits {
            operations.push(FileOperation::Write { file: 1, offset: 0, bytes: vec![number] });
            if syncs_log {
                operations.push(FileOperation::Sync { file: 1 });
            }
            operations.push(FileOperation::Write { file: 0, offset: 0, bytes: vec![number] });
            operations.push(FileOperation::Sync { file: 0 });
            operations.push(FileOperation::Acknowledged(u64::from(number)));
        }
        Trace { base: Directory { files: files.into() }, operations }
    }

    /// Check of that engine: the log must equal the database, or be one ahead.
    struct LogCheck(u64);

    impl RecoveryCheck for LogCheck {
        fn check(&mut self, state: &Directory) -> RecoveryOutcome {
            self.0 += 1;
            let value = |name: &str| state.files[name].to_bytes()[0];
            match (value("log"), value("db")) {
                (log, db) if log == db || log == db + 1 => RecoveryOutcome::Whole { commits: u64::from(log) },
                (log, db) => RecoveryOutcome::Corrupted { found: format!("log {log}, database {db}").into() },
            }
        }
    }

    fn explored(trace: &Trace, promise: Promise) -> (Exploration, u64) {
        let mut reads = LogCheck(0);
        let found = explore(trace, Device::POWERSAFE, &SelectionLimits::FULL, 1, promise, &mut reads, &mut |_| true);
        (found, reads.0)
    }

    #[test]
    fn an_engine_that_syncs_passes_and_equal_states_are_checked_once() {
        let (found, checked) = explored(&engine(5, true), Promise::Everything);
        let counts = found.counts;
        assert_eq!([counts.broken, counts.lossy, counts.corrupted], [0, 0, 0], "{found:?}");
        assert_eq!([counts.points, counts.exhaustive], [11, 11]);
        // Three states at each sync, with one that is torn, one at the end; each value appears with the log ahead and without.
        assert_eq!([counts.states, counts.distinct], [31, 11]);
        assert_eq!(checked, counts.distinct);
    }

    #[test]
    fn a_missing_sync_is_found_and_its_state_is_made_again() {
        let trace = engine(5, false);
        let (found, _) = explored(&trace, Promise::Whole);
        assert!(found.counts.broken > 0 && found.counts.corrupted == found.counts.broken);
        let failure = &found.broken[0];
        let named: StateId = failure.id.to_string().parse().unwrap();
        let (state, acknowledged) = state_at(&trace, Device::POWERSAFE, 1, named).unwrap();
        assert_eq!(LogCheck(0).check(&state), failure.outcome);
        assert_eq!(acknowledged, failure.acknowledged);
        assert_eq!(explored(&trace, Promise::Nothing).0.counts.broken, 0);
    }

    #[test]
    fn planted_faults_are_found_however_rare() {
        let trace = engine(200, true);
        for fault in [
            CrashFault::EveryNth { n: 3, phase: 0 },
            CrashFault::EveryNth { n: 20, phase: 4 },
            CrashFault::EveryNth { n: 100, phase: 50 },
            CrashFault::NeverDatabase,
        ] {
            let planted = fault.plant(&trace, "db");
            assert!(explored(&planted, Promise::Everything).0.counts.broken > 0, "{fault:?}");
        }
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let trace = engine(1, true);
        for name in ["99:none", "0:one-7", "0:subset-2"] {
            assert_eq!(state_at(&trace, Device::POWERSAFE, 1, name.parse().unwrap()), None, "{name}");
        }
        assert!("12".parse::<StateId>().is_err() && "12:some".parse::<StateId>().is_err());
    }

    proptest! {
        /// Sufficiency of points before syncs: every state at every position of a trace is a state of some point.
        #[test]
        fn every_state_of_every_place_is_among_those_of_the_points(
            steps in proptest::collection::vec((0u8..6, 0u64..3, 1u8..255), 1..12),
        ) {
            let base: BTree = [("a".to_owned(), FileImage::from(&[0_u8; 1_024][..]))].into();
            let operations: Vec<_> = steps.into_iter().map(|(what, place, value)| match what {
                0 => FileOperation::Sync { file: 0 },
                1 => FileOperation::SyncDirectory { folder: String::new() },
                2 => FileOperation::Truncate { file: 0, size: place * 500 },
                3 => FileOperation::Unlink { name: "b".to_owned() },
                4 => FileOperation::Create { name: "b".to_owned(), file: 1 },
                _ => FileOperation::Write { file: 0, offset: place * 512, bytes: vec![value] },
            }).collect();
            let trace = Trace { base: Directory { files: base }, operations };
            let all = |places: &[usize]| {
                let mut disk = Disk::new(&trace, Device::POWERSAFE);
                let (mut found, mut done) = (std::collections::BTreeSet::new(), 0);
                for place in places {
                    trace.operations[done..*place].iter().for_each(|operation| disk.apply(operation));
                    done = *place;
                    let (groups, members) = disk.groups();
                    let plan = PointPlan::new(&groups, &members, Device::POWERSAFE, 0);
                    for selection in plan.selections(&SelectionLimits { exhaustive: u64::MAX, each: 0, drawn: 0, every: 1, states: None }) {
                        found.insert(disk.state(&members, &plan.arrived(selection).unwrap()).hash());
                    }
                }
                found
            };
            let everywhere: Vec<_> = (0..=trace.operations.len()).collect();
            prop_assert_eq!(all(&points(&trace)), all(&everywhere));
        }
    }

    type BTree = std::collections::BTreeMap<String, FileImage>;
}
