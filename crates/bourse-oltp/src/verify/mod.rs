//! Comparison of several systems in lockstep: one seed, the same transactions in the same order on each, every output compared
//! as a serde value, and in the end every row.
//!
//! Time is simulated and there is one thread, so that a comparison is the same every time. A [`Script`] is the sequence of
//! transactions; a [`Subject`] performs them and shows its rows, and need not be a database.
//!
//! | module | content |
//! |---|---|
//! | [`subject`] | the systems that are compared |
//! | [`sql`] | an engine as a subject, with a trace of its statements |
//! | [`lockstep`] | the sequence of transactions, performing and comparing |
//! | [`mod@reference`] | tables on plain collections, as the reference that is no database |
//! | [`sample`] | the samples at the end of a run |
//! | [`contention`] | two sessions on the same rows |
//! | [`difference`] | the first difference, as a person reads it |
//! | [`cell`], [`digest`], [`fields`] | values, tables and outputs in comparable form |

pub mod cell;
pub mod contention;
pub mod difference;
pub mod digest;
pub mod fields;
pub mod lockstep;
pub mod reference;
pub mod sample;
pub mod sql;
pub mod subject;

pub use cell::Cell;
pub use contention::Contention;
pub use difference::{Difference, DifferenceKind};
pub use digest::TableDigest;
pub use lockstep::{Extent, Progress, ReplayedTransaction, Script, Step, Verdict, VerifyError};
pub use reference::{MODEL, ReferenceTables};
pub use sample::Sampled;
pub use sql::{Perform, SqlSubject};
pub use subject::{OutputValue, Performance, RowKey, Statement, Subject, value};
