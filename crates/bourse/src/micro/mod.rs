//! `bourse micro list`: the classic workloads.

pub(crate) mod list;
