//! Proof that several databases do the same: one seed, the same transactions in the same order on each, every output
//! compared, and in the end every row.
//!
//! Time is simulated and there is one thread, so that a run is the same every time: customers send requests at a steady
//! pace, the market answers when its emulator says so, maintenance comes once a simulated minute, and Trade-Cleanup begins
//! and ends it all. What is compared need not be a database: a [`Subject`] is anything that performs transactions and shows
//! its rows.
//!
//! | module | contents |
//! |---|---|
//! | [`subject`] | the interface of a compared system |
//! | [`sql`] | an engine as a subject, with a trace of its statements |
//! | [`stream`] | the transactions, one after the other |
//! | `rare` | transactions that no customer requests |
//! | [`contention`] | two sessions on the same rows |
//! | [`lockstep`] | running and comparing |
//! | [`difference`] | the report of the first difference |
//! | [`cell`], [`digest`], [`fields`] | values, tables and outputs in comparable form |

pub mod cell;
pub mod contention;
pub mod difference;
pub mod digest;
pub mod fields;
pub mod lockstep;
mod rare;
pub mod sql;
pub mod stream;
pub mod subject;

pub use cell::Cell;
pub use contention::{Contention, ContentionError, contend};
pub use difference::{Difference, What};
pub use digest::TableDigest;
pub use lockstep::{Plan, Progress, Replayed, Verdict, VerifyError, replay, sample, verify};
pub use sql::SqlSubject;
pub use stream::{Step, Stream};
pub use subject::{Performance, RowKey, Statement, Subject};
