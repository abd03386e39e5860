//! States drawn at random from a trace that has too many to enumerate.

use crate::disk::Disk;
use crate::explore::{StateId, points, seed_of};
use crate::image::Directory;
use crate::plan::{PointPlan, Selection, SelectionLimits};
use crate::profile::Device;
use crate::trace::Trace;
use bourse_stats::SplitMix;

/// State drawn at random.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnState {
    /// Id by which [`state_at`](crate::state_at) finds the state.
    pub id: StateId,
    /// Files of the state.
    pub state: Directory,
    /// Number of commits acknowledged by then.
    pub acknowledged: u64,
}

/// State with that number, which depends on the trace, the device and the seed alone.
///
/// Every point has the same probability. At a point with few selections each has the same probability; at others the kind of
/// selection is drawn first: nothing, everything, one group alone, all but one, a prefix, or a random part.
pub fn draw(trace: &Trace, device: Device, seed: u64, number: u64) -> DrawnState {
    let mut random = SplitMix::new(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let places = points(trace);
    let point = random.below(places.len() as u64) as usize;
    let mut disk = Disk::new(trace, device);
    trace.operations[..places[point]].iter().for_each(|operation| disk.apply(operation));
    let (groups, members) = disk.groups();
    let plan = PointPlan::new(&groups, &members, device, seed_of(seed, point));
    let selection = selection(&plan, groups.len(), members.len(), &mut random);
    // Only a sector on a device that garbles can be garbage; elsewhere a random part takes the place of that.
    let (selection, arrived) = match plan.arrived(selection) {
        Some(arrived) => (selection, arrived),
        None => (Selection::Drawn(0), plan.arrived(Selection::Drawn(0)).expect("it can always be drawn")),
    };
    DrawnState {
        id: StateId { point, selection },
        state: disk.state(&members, &arrived),
        acknowledged: disk.acknowledged(),
    }
}

fn selection(plan: &PointPlan<'_>, groups: usize, pieces: usize, random: &mut SplitMix) -> Selection {
    let possible = plan.possible();
    if possible <= SelectionLimits::FULL.exhaustive {
        return Selection::Subset(random.below(possible));
    }
    let group = random.below(groups as u64) as u32;
    match random.below(8) {
        0 => Selection::None,
        1 => Selection::All,
        2 => Selection::One(group),
        3 => Selection::Without(group),
        4 => Selection::Garbled(group),
        5 => Selection::UpTo(random.below(pieces as u64) as u32),
        _ => Selection::Drawn(random.below(1 << 32) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::state_at;
    use crate::image::FileImage;
    use crate::trace::FileOperation;
    use std::collections::BTreeSet;

    /// Trace with rounds of writes and a sync, each to more sectors than can be tried exhaustively.
    fn trace() -> Trace {
        let base = Directory { files: [("db".to_owned(), FileImage::from(&[0; 64 * 512][..]))].into() };
        let round = |number: u64| {
            let write = move |sector: u64| FileOperation::Write { file: 0, offset: 1024 * sector, bytes: vec![1; 512] };
            let end = [FileOperation::Sync { file: 0 }, FileOperation::Acknowledged(number)];
            (0..20 * (number % 2) + 2).map(write).chain(end)
        };
        Trace { base, operations: (1..=5).flat_map(round).collect() }
    }

    #[test]
    fn a_number_is_always_the_same_state_and_found_by_its_name() {
        for device in [Device::POWERSAFE, Device::garbling(512)] {
            for number in 0..200 {
                let drawn = draw(&trace(), device, 3, number);
                assert_eq!(drawn, draw(&trace(), device, 3, number));
                let (state, acknowledged) = state_at(&trace(), device, 3, drawn.id).expect("it is a state");
                assert_eq!((state, acknowledged), (drawn.state, drawn.acknowledged), "{}", drawn.id);
            }
        }
    }

    #[test]
    fn numbers_reach_every_point_and_many_selections() {
        let ids: BTreeSet<_> = (0..200).map(|number| draw(&trace(), Device::POWERSAFE, 3, number).id).collect();
        let points: BTreeSet<_> = ids.iter().map(|id| id.point).collect();
        assert_eq!(points.len(), 6);
        let words: BTreeSet<_> = ids.iter().map(|id| id.selection.to_string()).collect();
        let begins = |word: &str| words.iter().any(|it| it.starts_with(word));
        for word in ["none", "all", "one-", "without-", "upto-", "drawn-", "subset-"] {
            assert!(begins(word), "{word}: {words:?}");
        }
        let others: BTreeSet<_> = (0..200).map(|number| draw(&trace(), Device::POWERSAFE, 4, number).id).collect();
        assert_ne!(ids, others, "another seed draws others");
    }
}
