//! A failing state reduced to as few deviations as still fail.

use crate::disk::Disk;
use crate::explore::{StateId, points, seed_of};
use crate::image::Directory;
use crate::plan::{ArrivedPart, PointPlan};
use crate::profile::Device;
use crate::trace::Trace;

/// Failing state with as few deviations as fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinimalState {
    /// Whether the pieces in `words` are those that were lost; otherwise they alone arrived.
    pub is_lost: bool,
    /// Pieces in which the state differs from one in which everything, or nothing, arrived.
    pub words: Vec<String>,
    /// Files of the state.
    pub state: Directory,
}

/// Most states that are tried to reduce one.
const MAX_TRIALS: u32 = 500;

/// Reduces a failing state of a trace by delta debugging (Zeller and Hildebrandt, 2002): towards the state in which
/// everything arrived, and towards that in which nothing did. Returns the one with fewer deviations: no single one of them can
/// be left out. One lost piece says more than that nothing arrived. `None` if there is no such state.
pub fn minimal(
    trace: &Trace,
    device: Device,
    seed: u64,
    id: StateId,
    fails: &mut dyn FnMut(&Directory) -> bool,
) -> Option<MinimalState> {
    let place = *points(trace).get(id.point)?;
    let mut disk = Disk::new(trace, device);
    trace.operations[..place].iter().for_each(|operation| disk.apply(operation));
    let (groups, members) = disk.groups();
    let arrived = PointPlan::new(&groups, &members, device, seed_of(seed, id.point)).arrived(id.selection)?;
    let mut towards = |is_lost: bool| {
        let plain: Vec<_> =
            groups.iter().map(|group| ArrivedPart::First(if is_lost { group.pieces } else { 0 })).collect();
        let state = |chosen: &[usize]| {
            let mut parts = plain.clone();
            chosen.iter().for_each(|group| parts[*group] = arrived[*group]);
            disk.state(&members, &parts)
        };
        let differing = (0..groups.len()).filter(|group| plain[*group] != arrived[*group]).collect();
        let fewest = fewest(differing, &mut |chosen| fails(&state(chosen)));
        MinimalState { is_lost, words: disk.words(&members, &fewest), state: state(&fewest) }
    };
    let (lost, alone) = (towards(true), towards(false));
    Some(if lost.words.len() <= alone.words.len().max(1) { lost } else { alone })
}

/// Reduces a failing set until no part of it can be left out, or too many were tried.
fn fewest(mut all: Vec<usize>, fails: &mut dyn FnMut(&[usize]) -> bool) -> Vec<usize> {
    let (mut parts, mut trials) = (2, 0);
    if fails(&[]) {
        return Vec::new();
    }
    while all.len() > 1 && trials < MAX_TRIALS {
        let size = all.len().div_ceil(parts);
        let without = |number: usize| -> Vec<usize> {
            let part = number * size..(number + 1) * size;
            (0..all.len()).filter(|place| !part.contains(place)).map(|place| all[place]).collect()
        };
        let found = (0..all.len().div_ceil(size)).map(without).find(|rest| {
            trials += 1;
            fails(rest)
        });
        match found {
            Some(rest) => {
                all = rest;
                parts = (parts - 1).max(2);
            }
            None if size == 1 => break,
            None => parts = (parts * 2).min(all.len()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::FileImage;
    use crate::plan::Selection;
    use crate::trace::FileOperation;

    #[test]
    fn a_failing_set_is_reduced_to_what_fails() {
        let mut fails = |chosen: &[usize]| [3, 17].iter().all(|needed| chosen.contains(needed));
        assert_eq!(fewest((0..40).collect(), &mut fails), [3, 17]);
        assert!(fewest((0..40).collect(), &mut |_| true).is_empty());
    }

    #[test]
    fn a_state_is_reduced_and_described() {
        let base = Directory { files: [("db".to_owned(), FileImage::from(&[0; 64 * 512][..]))].into() };
        let operations =
            (0..40).map(|sector| FileOperation::Write { file: 0, offset: 512 * sector, bytes: vec![1; 512] }).collect();
        let trace = Trace { base, operations };
        let id = StateId { point: 0, selection: Selection::UpTo(20) };
        let byte = |state: &Directory, sector: usize| state.files["db"].to_bytes()[512 * sector];
        let mut fails = |state: &Directory| byte(state, 30) == 0 && byte(state, 33) == 0;
        let found = minimal(&trace, Device::POWERSAFE, 1, id, &mut fails).expect("it is a state");
        assert!(!found.is_lost && found.words.is_empty(), "nothing has to arrive");
        let mut fails = |state: &Directory| byte(state, 30) == 0 && byte(state, 31) == 0;
        let found = minimal(&trace, Device::POWERSAFE, 1, id, &mut fails).expect("it is a state");
        assert_eq!((found.is_lost, found.words), (true, vec!["bytes 15360 to 16384 of db".to_owned()]));
        let mut fails = |state: &Directory| byte(state, 31) == 0 && byte(state, 32) == 0 && byte(state, 5) == 1;
        let found = minimal(&trace, Device::POWERSAFE, 1, id, &mut fails).expect("it is a state");
        assert!(fails(&found.state));
        assert_eq!((found.is_lost, found.words), (true, vec!["bytes 15872 to 16896 of db".to_owned()]));
    }
}
