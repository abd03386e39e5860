//! What each detector finds of each bug.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{Cell, name};
use bourse_tpce::planted::Bug;

/// What is expected of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// It fails, for this reason first.
    Caught(&'static str),
    /// It shows this, and passes.
    Shown(&'static str),
    /// It finds nothing.
    Silent,
}

use Want::{Caught, Shown, Silent};

/// What is expected of `run`, `check`, `verify` and `acid`, in that order.
#[rustfmt::skip]
const EXPECTED: &[(Option<Bug>, [Want; 4])] = &[
];

/// What is expected of a detector; none for a bug without a line in the table.
pub fn expected(bug: Option<Bug>, detector: Detector) -> Option<Want> {
    let (_, wants) = EXPECTED.iter().find(|(of, _)| *of == bug)?;
    Some(wants[detector as usize])
}

/// Where something else was found than is expected. In a run of full length another check may be the first to fail.
pub fn misses(cells: &[Cell], length: Length) -> Vec<String> {
    let is_met = |cell: &&Cell| match (expected(cell.bug, cell.detector), &cell.found) {
        (Some(Caught(want)), Found::Caught(why)) | (Some(Shown(want)), Found::Shown(why)) => {
            want == why || length != Length::SHORT
        }
        (Some(Silent), Found::Silent) => true,
        _ => false,
    };
    let missed = cells.iter().filter(|cell| !is_met(cell));
    missed
        .map(|cell| {
            let want = expected(cell.bug, cell.detector);
            format!("{} {}: {want:?} expected, {:?} found", name(cell.bug), cell.detector.name(), cell.found)
        })
        .collect()
}
