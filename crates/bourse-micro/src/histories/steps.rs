//! Operations of a transaction, drawn.

use super::{Histories, LIST_LENGTH};
use bourse_driver::SplitMix;
use std::sync::atomic::Ordering;

/// Kind of a transaction: what its rows are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Register,
    Range,
    Bank,
    Count,
    Append,
}

/// Keys between the first rows of two kinds.
const DISTANCE: u64 = 1_000_000;

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Register, Self::Range, Self::Bank, Self::Count, Self::Append];
    /// Words of the option.
    pub(super) const WORDS: &'static [&'static str] = &["mixed", "register", "range", "bank", "count", "append"];

    pub(super) fn name(self) -> &'static str {
        Self::WORDS[self as usize + 1]
    }

    /// Key of row number `number` of this kind.
    pub(super) const fn key(self, number: u64) -> u64 {
        self as u64 * DISTANCE + number + 1
    }

    /// Kind of the row with that key.
    pub(super) const fn of(key: u64) -> Self {
        match (key - 1) / DISTANCE {
            0 => Self::Register,
            1 => Self::Range,
            2 => Self::Bank,
            3 => Self::Count,
            // As many lists as there are: they are replaced by new ones.
            _ => Self::Append,
        }
    }
}

/// An operation of a transaction, on the row with a key or on the group that begins with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) key: u64,
    pub(super) does: Does,
}

/// Effect of an operation on its row or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    /// Overwrites a register, whatever it has.
    Write,
    /// Reads a register and overwrites it.
    ReadWrite,
    ReadList,
    Append,
    /// Reads all rows of a group.
    Scan,
    /// Overwrites a row, or inserts it.
    Put,
    Delete,
    /// Reads a balance and overwrites it with another.
    Pay(i64),
    /// Reads all balances of a group.
    Audit,
    Count,
}

impl Does {
    pub(super) const fn reads_alone(self) -> bool {
        matches!(self, Self::Read | Self::ReadList | Self::Scan | Self::Audit)
    }
}

/// Draws the operations of a transaction into `steps`.
pub(super) fn draw(of: &Histories, random: &mut SplitMix, steps: &mut Vec<Step>) {
    steps.clear();
    let kind = of.kind.unwrap_or_else(|| Kind::ALL[random.below(Kind::ALL.len() as u64) as usize]);
    let group = if random.below(4) > 0 { 0 } else { random.below(of.groups) };
    let first = group * of.group;
    // Of the others too a transaction may happen to read alone.
    let reads_alone = random.below(4) == 0;
    let count = 1 + random.below(of.operations);
    let row = |number| kind.key(first + number);
    match (kind, reads_alone) {
        (Kind::Bank, true) => steps.push(Step { key: row(0), does: Does::Audit }),
        (Kind::Bank, false) => {
            let (from, to) = (random.below(of.group), random.below(of.group - 1));
            let by = 1 + random.below(9).cast_signed();
            let to = if to < from { to } else { to + 1 };
            steps.extend([(from, -by), (to, by)].map(|(at, by)| Step { key: row(at), does: Does::Pay(by) }));
        }
        _ => steps.extend((0..count).map(|_| {
            let at = random.below(of.group);
            let does = match (kind, if reads_alone { 0 } else { random.below(6) }) {
                (Kind::Register, 0..3) => Does::Read,
                (Kind::Register, 3) => Does::Write,
                (Kind::Register, _) => Does::ReadWrite,
                (Kind::Range, 0..2) => return Step { key: row(0), does: Does::Scan },
                (Kind::Range, 2..5) => Does::Put,
                (Kind::Range, _) => Does::Delete,
                (Kind::Append, 0..3) => Does::ReadList,
                (Kind::Append, _) => Does::Append,
                (Kind::Count | Kind::Bank, _) => Does::Count,
            };
            if kind != Kind::Append {
                return Step { key: row(at), does };
            }
            // A group's lists are replaced by new ones together.
            let before = of.appended[group as usize].fetch_add((does == Does::Append).into(), Ordering::Relaxed);
            let turn = before / (LIST_LENGTH * of.group);
            Step { key: kind.key((turn * of.groups + group) * of.group + at), does }
        })),
    }
    // Those that lock in one order wait for no deadlock to be found.
    steps.sort_by_key(|step| step.key);
}
