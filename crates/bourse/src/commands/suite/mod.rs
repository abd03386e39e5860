//! `bourse suite …`: the published experiments.

pub(crate) mod list;
pub(crate) mod run;
