//! Commands that every transactional workload has: `bourse WORKLOAD load`, `check` and `verify`.

pub(crate) mod check;
pub(crate) mod database;
pub(crate) mod load;
pub(crate) mod mixed;
pub(crate) mod verify;
