//! Commands that every transactional workload has: `bourse WORKLOAD load` and `check`.

pub(crate) mod check;
pub(crate) mod load;
