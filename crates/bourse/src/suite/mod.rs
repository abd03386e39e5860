//! `bourse suite list` and `show`: the published experiments.

pub(crate) mod list;
