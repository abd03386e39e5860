//! `bourse micro …`: the classic workloads.

pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod run;
