//! Workloads, users, threads, schedules and the only clock.
//!
//! | module | what |
//! |---|---|
//! | [`abilities`] | what a workload can be asked for besides being run |
//! | [`clock`] | the clock, real or simulated: nobody else knows what time it is |
//! | [`schedule`] | when a user's operations are due |
//! | `backlog` | what is due and waits for a user |
//! | [`workload`] | what there is to do, and the users who do it |
//! | [`turn`] | one operation on its session, with retries after lock conflicts |
//! | [`control`] | phases of a round, and why one ended early |
//! | [`drive`](mod@drive) | the one loop: draw, wait, perform, record |
//! | [`ledger`] | the driver's own count of what was performed |
//! | [`reconcile`](mod@reconcile) | the recorder's figures compared with that count |
//! | [`calibrate`](mod@calibrate) | what harness and machine do by themselves |
//! | `description` | what an engine says of itself, as documents have it |
//! | `memory` | memory that users take, the harness's and the engine's |
//! | `open_files` | how many sessions fit into the limit of open files |
//! | [`round`] | a thread for everybody, phases, the figures of a round |

pub mod abilities;
mod backlog;
pub mod calibrate;
pub mod clock;
pub mod control;
mod description;
pub mod drive;
pub mod ledger;
mod memory;
mod open_files;
pub mod reconcile;
pub mod round;
mod sampler;
pub mod schedule;
pub mod turn;
pub mod workload;

pub use abilities::{Abilities, Ability};
pub use bourse_record::{MixShare, OperationSpec, Outcome, Sample, ServerTime, SplitMix};
pub use calibrate::{Calibration, calibrate, wait_for_quiet};
pub use clock::{Clock, RealClock, SimulatedClock};
pub use control::{Control, Fault, Plan};
pub use description::{described, durability};
pub use drive::drive;
pub use ledger::{Entry, Ledger};
pub use reconcile::Recording;
pub use round::{Measured, Progress, run};
pub use schedule::{Pacer, RateError, Schedule};
pub use turn::{Failure, Patience, RetryPolicy, Turn};
pub use workload::{Background, Draw, Emulator, Performed, Role, Seat, User, Workload};

/// Nanoseconds since the round began.
pub type Nanos = u64;

/// Nanoseconds in a millisecond.
pub const MS: Nanos = 1_000_000;
/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;
