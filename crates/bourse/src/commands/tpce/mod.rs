//! `bourse tpce …`.

pub(crate) mod acid;
pub(crate) mod generate;
pub(crate) mod load;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod verify;
