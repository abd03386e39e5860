//! Workloads, users, threads, schedules and the only clock.
//!
//! | module | contents |
//! |---|---|
//! | [`abilities`] | features of runs that a workload supports: rate, search, steadiness, snapshot |
//! | [`clock`] | the clock, real or simulated: the only source of time |
//! | [`schedule`] | the moments at which a user's operations are due |
//! | `backlog` | operations that are due and wait for a user |
//! | [`workload`] | workloads, and the users who perform them |
//! | [`operation_cx`] | context of one operation: session, retries after lock conflicts |
//! | [`control`] | phases of a round, and the faults that end one early |
//! | [`drive`](mod@drive) | the measurement loop of a user: draw, wait, perform, record |
//! | [`ledger`] | the driver's own count of what was performed |
//! | [`reconcile`](mod@reconcile) | the recorder's figures compared with that count |
//! | [`calibrate`](mod@calibrate) | calibration: harness overhead, machine noise |
//! | `description` | an engine's description in the form of documents |
//! | [`history`](mod@history) | recorded histories: examined against the engine's promise, stored |
//! | `memory` | memory of users: the harness's and the engine's |
//! | `page_cache` | pages of a database's files in the page cache: dropped or read before a round |
//! | `open_files` | number of sessions that fit the limit of open files |
//! | `statements` | calls of each statement, timed, by operation |
//! | [`storage`](mod@storage) | storage of a database's files, raw syncs timed |
//! | `user_time` | time of a user's thread by activity |
//! | [`round`] | a round: threads, phases, figures |

pub mod abilities;
mod backlog;
pub mod calibrate;
pub mod clock;
pub mod control;
mod description;
pub mod drive;
pub mod history;
pub mod ledger;
mod memory;
mod open_files;
pub mod operation_cx;
mod page_cache;
#[cfg(feature = "planted-bug")]
pub mod planted;
pub mod reconcile;
pub mod round;
mod sampler;
pub mod schedule;
mod statements;
pub mod storage;
mod throughput;
mod user_time;
pub mod workload;

pub use abilities::{Abilities, Ability};
pub use bourse_record::{MixShare, OperationSpec, Outcome, Sample, ServerTime, SplitMix};
pub use calibrate::{Calibration, FixedLoop, calibrate, wait_for_quiet};
pub use clock::{CalendarClock, Clock, RealClock, SimulatedClock};
pub use control::{Fault, RoundControl, RoundPlan};
pub use description::described;
pub use drive::drive;
pub use ledger::{OperationCounts, OperationLedger};
pub use operation_cx::{Backoff, OperationCx, OperationError, RetryPolicy};
pub use page_cache::CachedFiles;
pub use reconcile::{Recording, RoundCounts};
pub use round::{CallInProgress, MeasuredRound, RoundProgress, run, sampling_held_ns};
pub use schedule::{OpenLoop, Pacer, RateError, Schedule};
pub use storage::{SyncedFile, raw_syncs, storage};
pub use workload::{Background, Draw, Emulator, OperationResult, StopRule, User, UserSpec, Workload};

/// Nanoseconds since the round began.
pub type Nanos = u64;

/// Nanoseconds in a millisecond.
pub const MS: Nanos = 1_000_000;
/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;
