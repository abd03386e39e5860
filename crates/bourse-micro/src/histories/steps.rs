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

/// An operation of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Read {
        key: u64,
    },
    /// Overwrites a register, whatever it has.
    Write {
        key: u64,
    },
    /// Reads a register and overwrites it.
    ReadWrite {
        key: u64,
    },
    ReadList {
        key: u64,
    },
    Append {
        key: u64,
    },
    Scan {
        from: u64,
    },
    /// Overwrites a row, or inserts it.
    Put {
        key: u64,
    },
    Delete {
        key: u64,
    },
    /// Reads a balance and overwrites it with another.
    Pay {
        key: u64,
        by: i64,
    },
    /// Reads all balances of a group.
    Audit {
        from: u64,
    },
    Count {
        key: u64,
    },
}

impl Step {
    /// Key by which the steps of a transaction are ordered: those that lock in one order wait for no deadlock to be found.
    const fn key(self) -> u64 {
        match self {
            Self::Read { key }
            | Self::Write { key }
            | Self::ReadWrite { key }
            | Self::ReadList { key }
            | Self::Append { key }
            | Self::Put { key }
            | Self::Delete { key }
            | Self::Pay { key, .. }
            | Self::Count { key }
            | Self::Scan { from: key }
            | Self::Audit { from: key } => key,
        }
    }

    pub(super) const fn is_read(self) -> bool {
        matches!(self, Self::Read { .. } | Self::ReadList { .. } | Self::Scan { .. } | Self::Audit { .. })
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
    if kind == Kind::Bank {
        let (from, to) = (random.below(of.group), random.below(of.group - 1));
        let by = 1 + random.below(9).cast_signed();
        let key = |row| kind.key(first + row);
        match reads_alone {
            true => steps.push(Step::Audit { from: key(0) }),
            false => steps.extend([
                Step::Pay { key: key(from), by: -by },
                Step::Pay { key: key(if to < from { to } else { to + 1 }), by },
            ]),
        }
    }
    for _ in 0..if kind == Kind::Bank { 0 } else { count } {
        let key = kind.key(first + random.below(of.group));
        let choice = if reads_alone { 0 } else { random.below(6) };
        steps.push(match (kind, choice) {
            (Kind::Append, _) => {
                let appended = &of.appended[group as usize];
                let reads = choice < 3;
                let before = match reads {
                    true => appended.load(Ordering::Relaxed),
                    false => appended.fetch_add(1, Ordering::Relaxed),
                };
                // A group's lists are replaced by new ones together.
                let turn = before / (LIST_LENGTH * of.group);
                let key = kind.key((turn * of.groups + group) * of.group + random.below(of.group));
                if reads { Step::ReadList { key } } else { Step::Append { key } }
            }
            (Kind::Register, 0..3) => Step::Read { key },
            (Kind::Register, 3) => Step::Write { key },
            (Kind::Register, _) => Step::ReadWrite { key },
            (Kind::Range, 0..2) => Step::Scan { from: kind.key(first) },
            (Kind::Range, 2..5) => Step::Put { key },
            (Kind::Range, _) => Step::Delete { key },
            (Kind::Count | Kind::Bank, _) => Step::Count { key },
        });
    }
    steps.sort_by_key(|step| step.key());
}
