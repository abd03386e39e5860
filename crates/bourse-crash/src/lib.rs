//! Every state that a power loss may leave of a database's files, enumerated from a trace of its file operations; and the
//! library that records such a trace, simulates a disk that loses its power, and makes calls fail.
//!
//! The states are pure: no file, thread, clock or engine. Only [`preload`] touches files.
//!
//! A [`Trace`] is the sequence of an engine's file operations. A [`Disk`] replays it: synced data is durable, the rest is
//! pending, in pieces that a power loss preserves or loses one by one. At each point of the trace a [`PointPlan`] lists the
//! selections of pieces to try; each gives a [`Directory`], which a [`RecoveryCheck`] recovers and compares with the acknowledged
//! commits. [`explore`] does this for a whole trace.
//!
//! Rules of the model:
//! - A write is pending in sectors. Of several pending writes to a sector, a prefix is on the disk.
//! - A change of a file's size is pending too, apart from the data. The changes of one file arrive in order.
//! - Creation, deletion and renaming are pending until the directory is synced; the sync of a file does not make its name durable.
//!   Operations on different names arrive in any order.
//! - Data, sizes and names arrive in any order among themselves.
//!
//! These are the rules of the strictest profile; others change some of them.
//!
//! | module | what |
//! |---|---|
//! | `image` | files and directories in memory, sharing unchanged blocks |
//! | `trace` | file operations |
//! | `profile` | devices with their file systems, by name |
//! | `disk` | what is durable, what is pending |
//! | `plan` | which selections of pending pieces are tried |
//! | `fault` | traces of an engine or a disk that ignores syncs |
//! | `explore` | all states of a trace, checked and judged |
//! | `minimal` | a failing state, with as few deviations as fail |
//! | `draw` | states of a trace at random, by their numbers |
//! | [`preload`] | the preloaded library: faults, the disk's image, recordings |

mod disk;
mod draw;
mod explore;
mod fault;
mod image;
mod minimal;
mod plan;
pub mod preload;
mod profile;
mod trace;

pub use disk::{Disk, GroupKind, PieceGroup};
pub use draw::{DrawnState, draw};
pub use explore::{
    Exploration, ExplorationCounts, FailedState, Promise, RecoveryCheck, RecoveryOutcome, StateId, explore, points,
    state_at,
};
pub use fault::CrashFault;
pub use image::{BLOCK_BYTES, Directory, FileImage, Hash};
pub use minimal::{MinimalState, minimal};
pub use plan::{ArrivedPart, PointPlan, Selection, SelectionLimits};
pub use profile::{Device, PROFILES};
pub use trace::{FileId, FileOperation, Trace, TraceError};
