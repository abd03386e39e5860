//! `bourse suite …`: the published experiments.

mod brokerage;
pub(crate) mod list;
pub(crate) mod run;
mod targets;
