//! Commands that every transactional workload has: `bourse WORKLOAD load`, `check` and `serve`.

pub(crate) mod check;
pub(crate) mod load;
pub(crate) mod serve;
