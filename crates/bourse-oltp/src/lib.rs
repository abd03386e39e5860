//! The harness of transactional workloads on SQL: all that they have in common, with a workload as an argument.
//!
//! A workload is a value of [`Workload`]: its tables, sizes, rows and conditions as data. Its rows come from a [`Generator`], its
//! transactions are run by users of a [`mix`] or by users of its own.
//!
//! | module | content |
//! |---|---|
//! | [`workload`] | a workload as data |
//! | [`acid`] | tests of atomicity, isolation and durability as data |
//! | [`load`] | a database loaded from the generator, and recognised later |
//! | [`check`] | checks of a database, and the reconciliation of a run |
//! | [`history`] | recorded values, from which the isolation that transactions had is inferred |
//! | [`isolation`] | isolation demanded and provided |
//! | [`mix`] | users who draw transactions by their shares |
//! | [`mod@planted`] | bugs on purpose, to see which checks catch them |
//! | [`sut`] | the system under test: in this process, served, or shared with other drivers |
//! | [`verify`] | systems compared in lockstep, the samples at the end of a run |

pub mod acid;
pub mod check;
pub mod history;
pub mod isolation;
pub mod load;
pub mod mix;
pub mod planted;
pub mod sut;
pub mod verify;
pub mod workload;

pub use workload::{Generator, LastingRows, RowRule, RunTrace, Size, SizeColumn, Workload};
