//! Faults while an engine works: one call to the file system fails, and the engine's reaction is recorded.
//!
//! ```text
//! sync fails once, power lost later  124 syncs  3× error  3× nothing lost  ok
//! ```
//!
//! For each fault a process works on a small table whose contents after each transaction are known. It reports each
//! acknowledged commit through a pipe, which no fault affects. Afterwards another process opens the database without a fault
//! and compares every row.
//!
//! | module | what |
//! |---|---|
//! | [`catalogue`] | the faults |
//! | [`judge`] | what the engine did, what is left, and the verdict |
//! | [`trial`] | each fault several times, and its row |

pub mod catalogue;
pub mod judge;
pub mod trial;

pub use catalogue::{CallFault, FAULTS, moments};
pub use trial::{FaultBed, Trial, TrialSpec, not_tried, rows};
