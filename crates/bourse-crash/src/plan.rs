//! Selections: the pending pieces that have arrived when the power is lost.

use crate::disk::{GroupKind, PieceGroup};
use crate::profile::Device;
use bourse_stats::SplitMix;
use std::fmt;
use std::str::FromStr;

/// Part of a group that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivedPart {
    /// The first pieces, this many.
    First(u32),
    /// Whole pieces, and a part of the next one.
    Torn {
        /// Number of pieces that arrived completely.
        whole: u32,
        /// Number of bytes of the next piece.
        bytes: u32,
    },
    /// A sector of garbage.
    Garbled {
        /// Seed of the garbage.
        seed: u64,
    },
}

/// Selection, with a name that describes it: `none`, `all`, `one-3`, `without-3`, `garbled-3`, `upto-17`, `torn-17`,
/// `subset-5`, `drawn-9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selection {
    /// The n-th of all possible selections.
    Subset(u64),
    /// No pending piece.
    None,
    /// All pending pieces.
    All,
    /// One group alone.
    One(u32),
    /// All groups but one.
    Without(u32),
    /// All groups, but one sector is garbage.
    Garbled(u32),
    /// The first pieces in the order in which they were written.
    UpTo(u32),
    /// The first pieces in the order in which they were written, and half of the next one: a record of several writes ends
    /// within any of them.
    Torn(u32),
    /// The n-th selection drawn from the seed.
    Drawn(u32),
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subset(n) => write!(f, "subset-{n}"),
            Self::None => f.write_str("none"),
            Self::All => f.write_str("all"),
            Self::One(n) => write!(f, "one-{n}"),
            Self::Without(n) => write!(f, "without-{n}"),
            Self::Garbled(n) => write!(f, "garbled-{n}"),
            Self::UpTo(n) => write!(f, "upto-{n}"),
            Self::Torn(n) => write!(f, "torn-{n}"),
            Self::Drawn(n) => write!(f, "drawn-{n}"),
        }
    }
}

impl FromStr for Selection {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (word, number) = text.split_once('-').unwrap_or((text, ""));
        let small = || number.parse::<u32>().map_err(|_| ());
        Ok(match (word, number) {
            ("none", "") => Self::None,
            ("all", "") => Self::All,
            ("subset", _) => Self::Subset(number.parse().map_err(|_| ())?),
            ("one", _) => Self::One(small()?),
            ("without", _) => Self::Without(small()?),
            ("garbled", _) => Self::Garbled(small()?),
            ("upto", _) => Self::UpTo(small()?),
            ("torn", _) => Self::Torn(small()?),
            ("drawn", _) => Self::Drawn(small()?),
            _ => return Err(()),
        })
    }
}

/// Limits on the selections tried at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectionLimits {
    /// Number of possible selections up to which a point is tried exhaustively.
    pub exhaustive: u64,
    /// Limit on selections of each kind at other points: single groups, all but one, garbled ones, pieces in order.
    pub each: u32,
    /// Number of drawn selections at other points.
    pub drawn: u32,
    /// One point in this many is visited, and the last one.
    pub every: usize,
    /// Number of states in all, about; points with fewer leave theirs to later ones. `None` for no limit.
    pub states: Option<u64>,
}

impl SelectionLimits {
    /// Limits for thorough exploration: all subsets of ten sectors; above that each single one, each but one, and drawn ones.
    pub const FULL: Self = Self { exhaustive: 1 << 10, each: u32::MAX, drawn: 64, every: 1, states: None };

    /// Limits for about `states` states in all, over that many points.
    pub fn within(states: u64, points: usize) -> Self {
        const MIN_STATES_PER_POINT: u64 = 8;
        let per_point = (states / points.max(1) as u64).max(MIN_STATES_PER_POINT);
        let every = (MIN_STATES_PER_POINT * points as u64).div_ceil(states.max(1)).max(1) as usize;
        Self {
            exhaustive: (2 * per_point).min(Self::FULL.exhaustive),
            each: u32::try_from(per_point / 5).unwrap_or(u32::MAX),
            drawn: u32::try_from(per_point / 5).unwrap_or(u32::MAX).min(Self::FULL.drawn),
            every,
            states: Some(states),
        }
    }

    /// Limits at the next point, after that many states, with that many points before the end.
    pub(crate) fn at(&self, done: u64, points: usize) -> Self {
        let every = self.every;
        self.states
            .map_or(*self, |states| Self { every, ..Self::within(states.saturating_sub(done), points.div_ceil(every)) })
    }
}

/// Selections at one point.
#[derive(Debug)]
pub struct PointPlan<'p> {
    groups: &'p [PieceGroup],
    members: &'p [u32],
    device: Device,
    seed: u64,
}

impl<'p> PointPlan<'p> {
    /// Plan for these pending groups; `members` has the group of each piece. The seed is that of the run and the point.
    pub fn new(groups: &'p [PieceGroup], members: &'p [u32], device: Device, seed: u64) -> Self {
        Self { groups, members, device, seed }
    }

    /// Number of ways in which a group can arrive, apart from torn sectors.
    fn ways(&self, group: &PieceGroup) -> u64 {
        u64::from(group.pieces) + 1 + u64::from(self.can_garble(group))
    }

    fn can_garble(&self, group: &PieceGroup) -> bool {
        group.kind == GroupKind::Sector && !self.device.powersafe_overwrite
    }

    /// Whether the piece of that number can be cut in the middle.
    fn can_tear(&self, piece: u32) -> bool {
        let group = self.members.get(piece as usize).and_then(|group| self.groups.get(*group as usize));
        self.device.powersafe_overwrite && group.is_some_and(|group| group.kind == GroupKind::Sector)
    }

    /// Number of possible selections, apart from torn sectors; saturates at the largest number.
    pub fn possible(&self) -> u64 {
        self.groups.iter().fold(1, |all: u64, group| all.saturating_mul(self.ways(group)))
    }

    /// Selections to try.
    pub fn selections(&self, limits: &SelectionLimits) -> Vec<Selection> {
        let possible = self.possible();
        let pieces = self.members.len() as u32;
        let can_tear = |number: &u32| self.can_tear(*number);
        if possible <= limits.exhaustive {
            let torn = (0..pieces).filter(can_tear).map(Selection::Torn);
            return (0..possible).map(Selection::Subset).chain(torn).collect();
        }
        let mut all = vec![Selection::None, Selection::All];
        let count = self.groups.len() as u32;
        let mut random = SplitMix::new(self.seed);
        let mut some = |count: u32| spread(count, limits.each, &mut random);
        all.extend(some(count).into_iter().map(Selection::One));
        all.extend(some(count).into_iter().map(Selection::Without));
        if !self.device.powersafe_overwrite {
            let can = |number: &u32| self.can_garble(&self.groups[*number as usize]);
            all.extend(some(count).into_iter().filter(can).map(Selection::Garbled));
        }
        all.extend(some(pieces).into_iter().map(Selection::UpTo));
        all.extend(some(pieces).into_iter().filter(can_tear).map(Selection::Torn));
        all.extend((0..limits.drawn).map(Selection::Drawn));
        all
    }

    /// Arrived part of each group; `None` if there is no such selection at this point.
    pub fn arrived(&self, selection: Selection) -> Option<Vec<ArrivedPart>> {
        let whole = |group: &PieceGroup| ArrivedPart::First(group.pieces);
        let at = |number: u32| ((number as usize) < self.groups.len()).then_some(number as usize);
        let mut all: Vec<_> = self.groups.iter().map(whole).collect();
        let none = || vec![ArrivedPart::First(0); self.groups.len()];
        Some(match selection {
            Selection::None => none(),
            Selection::All => all,
            Selection::Subset(number) => self.subset(number)?,
            Selection::One(number) => {
                let mut one = none();
                one[at(number)?] = all[at(number)?];
                one
            }
            Selection::Without(number) => {
                all[at(number)?] = ArrivedPart::First(0);
                all
            }
            Selection::Garbled(number) => {
                let group = at(number).filter(|place| self.can_garble(&self.groups[*place]))?;
                all[group] = ArrivedPart::Garbled { seed: self.seed ^ u64::from(number) };
                all
            }
            Selection::UpTo(count) => self.up_to(count)?.into_iter().map(ArrivedPart::First).collect(),
            Selection::Torn(count) => {
                let torn = *self.members.get(count as usize).filter(|_| self.can_tear(count))? as usize;
                let counts = self.up_to(count)?;
                let mut arrived: Vec<_> = counts.iter().copied().map(ArrivedPart::First).collect();
                arrived[torn] = ArrivedPart::Torn { whole: counts[torn], bytes: self.device.sector_bytes / 2 };
                arrived
            }
            Selection::Drawn(number) => self.drawn(number),
        })
    }

    /// Number of pieces of each group among the first ones.
    fn up_to(&self, count: u32) -> Option<Vec<u32>> {
        let mut counts = vec![0; self.groups.len()];
        self.members.get(..count as usize)?.iter().for_each(|group| counts[*group as usize] += 1);
        Some(counts)
    }

    fn subset(&self, number: u64) -> Option<Vec<ArrivedPart>> {
        let mut rest = number;
        let digit = |group: &PieceGroup| {
            let ways = self.ways(group);
            let digit = rest % ways;
            rest /= ways;
            match u32::try_from(digit) {
                Ok(count) if count <= group.pieces => ArrivedPart::First(count),
                _ => ArrivedPart::Garbled { seed: self.seed ^ number },
            }
        };
        let arrived = self.groups.iter().map(digit).collect();
        (rest == 0).then_some(arrived)
    }

    /// Random selection: each group arrives, or a part of it, with a probability that is drawn too, so states in which nearly
    /// everything or nearly nothing arrived are as likely as those in between.
    fn drawn(&self, number: u32) -> Vec<ArrivedPart> {
        let mut random = SplitMix::new(self.seed ^ (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let chance = [1, 8, 15][random.below(3) as usize];
        let draw = |group: &PieceGroup| {
            if random.below(16) >= chance {
                return ArrivedPart::First(random.below(u64::from(group.pieces)) as u32);
            }
            match random.below(8) {
                0 if self.can_garble(group) => ArrivedPart::Garbled { seed: random.next() },
                0 if group.kind == GroupKind::Sector => {
                    let bytes = 1 + random.below(u64::from(self.device.sector_bytes) - 1) as u32;
                    ArrivedPart::Torn { whole: group.pieces - 1, bytes }
                }
                _ => ArrivedPart::First(group.pieces),
            }
        };
        self.groups.iter().map(draw).collect()
    }
}

/// All numbers below `count`, or `most` of them, one from each of as many equal parts.
fn spread(count: u32, most: u32, random: &mut SplitMix) -> Vec<u32> {
    if count <= most {
        return (0..count).collect();
    }
    let edge = |part: u32| u64::from(count) * u64::from(part) / u64::from(most);
    (0..most).map(|part| (edge(part) + random.below(edge(part + 1) - edge(part))) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const SECTOR: PieceGroup = PieceGroup { kind: GroupKind::Sector, pieces: 1 };

    fn plan<'p>(groups: &'p [PieceGroup], members: &'p [u32], device: Device) -> PointPlan<'p> {
        PointPlan::new(groups, members, device, 7)
    }

    #[test]
    fn few_sectors_are_tried_in_all_ways() {
        let (groups, members) = ([SECTOR; 10], (0..10).collect::<Vec<_>>());
        let ten = plan(&groups, &members, Device::POWERSAFE);
        let selections = ten.selections(&SelectionLimits::FULL);
        assert_eq!(selections.len(), 1_024 + 10, "each subset, and each sector torn");
        let different: BTreeSet<_> = selections.iter().map(|it| format!("{:?}", ten.arrived(*it).unwrap())).collect();
        assert_eq!(different.len(), 1_034);
        assert_eq!(ten.arrived(Selection::Subset(1_024)), None);
        let garbling = plan(&groups[..6], &members[..6], Device::garbling(512));
        assert_eq!(garbling.possible(), 729, "each old, new or garbage");
        assert_eq!(garbling.selections(&SelectionLimits::FULL).len(), 729);
    }

    #[test]
    fn few_states_are_spread_over_some_of_the_points() {
        let limits = SelectionLimits::within(100, 500);
        assert_eq!((limits.every, limits.exhaustive), (40, 16));
        assert_eq!(SelectionLimits::within(10_000, 500).every, 1);
    }

    #[test]
    fn many_sectors_are_tried_one_by_one() {
        let (groups, members) = ([SECTOR; 11], (0..11).collect::<Vec<_>>());
        let eleven = plan(&groups, &members, Device::POWERSAFE);
        let limits = SelectionLimits { drawn: 5, ..SelectionLimits::FULL };
        let selections = eleven.selections(&limits);
        assert_eq!(selections.len(), 2 + 4 * 11 + 5);
        let arrived = |selection| eleven.arrived(selection).unwrap();
        let count = |selection| arrived(selection).iter().filter(|it| **it == ArrivedPart::First(1)).count();
        assert_eq!([count(Selection::None), count(Selection::All)], [0, 11]);
        assert_eq!([count(Selection::One(3)), count(Selection::Without(3)), count(Selection::UpTo(4))], [1, 10, 4]);
        assert_eq!(eleven.arrived(Selection::One(11)), None);
        assert_eq!(arrived(Selection::Drawn(2)), arrived(Selection::Drawn(2)), "it is drawn from the seed alone");
        let few = eleven.selections(&SelectionLimits { exhaustive: 8, each: 2, drawn: 1, every: 1, states: None });
        assert_eq!(few.len(), 2 + 4 * 2 + 1);
    }

    proptest! {
        #[test]
        fn a_selection_s_name_is_read_back(number in 0u32..1_000_000) {
            for selection in [
                Selection::Subset(u64::from(number)), Selection::None, Selection::All, Selection::One(number),
                Selection::Without(number), Selection::Garbled(number), Selection::UpTo(number), Selection::Torn(number),
                Selection::Drawn(number),
            ] {
                prop_assert_eq!(selection.to_string().parse(), Ok(selection));
            }
        }

        #[test]
        fn no_selection_has_more_of_a_group_than_there_is(
            pieces in proptest::collection::vec(1u32..4, 1..20), seed: u64, garbling: bool,
        ) {
            let groups: Vec<_> = pieces.iter().map(|pieces| PieceGroup { kind: GroupKind::Sector, pieces: *pieces }).collect();
            let members: Vec<_> = (0..).zip(&pieces).flat_map(|(group, pieces)| vec![group; *pieces as usize]).collect();
            let device = if garbling { Device::garbling(512) } else { Device::POWERSAFE };
            let plan = PointPlan::new(&groups, &members, device, seed);
            for selection in plan.selections(&SelectionLimits { exhaustive: 64, each: 10, drawn: 20, every: 1, states: None }) {
                let arrived = plan.arrived(selection).unwrap();
                prop_assert_eq!(arrived.len(), groups.len());
                for (arrived, group) in arrived.iter().zip(&groups) {
                    match arrived {
                        ArrivedPart::First(count) => prop_assert!(*count <= group.pieces),
                        ArrivedPart::Torn { whole, bytes } => {
                            prop_assert!(*whole < group.pieces && *bytes < 512 && !garbling);
                        }
                        ArrivedPart::Garbled { .. } => prop_assert!(garbling),
                    }
                }
            }
        }

        #[test]
        fn a_part_is_spread_over_the_whole(count in 1u32..10_000, most in 1u32..100, seed: u64) {
            let some = spread(count, most, &mut SplitMix::new(seed));
            prop_assert_eq!(some.len() as u32, count.min(most));
            prop_assert!(some.windows(2).all(|pair| pair[0] < pair[1]) && some.iter().all(|number| *number < count));
        }
    }
}
