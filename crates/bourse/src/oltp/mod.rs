//! Transactional workloads as the program's commands have them.

pub(crate) mod database;
pub(crate) mod mixed;
pub(crate) mod serve;
pub(crate) mod served;
pub(crate) mod verify;

use crate::args::{CheckDepth, ConstraintsArg};

impl From<ConstraintsArg> for bourse_oltp::load::Constraints {
    fn from(constraints: ConstraintsArg) -> Self {
        match constraints {
            ConstraintsArg::Full => Self::Full,
            ConstraintsArg::Keys => Self::KeysOnly,
        }
    }
}

impl From<CheckDepth> for bourse_oltp::check::Depth {
    fn from(depth: CheckDepth) -> Self {
        match depth {
            CheckDepth::Full => Self::Full,
            CheckDepth::Quick => Self::Quick,
        }
    }
}
