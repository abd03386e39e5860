//! Faults between an engine and its files: read, write and sync errors, short transfers, a full disk, a disk that lies,
//! pages of mapped files that cannot be read; and the image of what such a disk keeps when the power is lost.
//!
//! A library of ours (`preload/`) is preloaded into the process of an engine, or into all of a server's, which share what it
//! knows. It counts the calls on the files below one folder and interferes with the one it is told to. Engines whose storage is a Rust trait can do the same in process with
//! [`Watched`].
//!
//! | module | what |
//! |---|---|
//! | [`control`] | the file by which a process is told what to do and tells what it has met |
//! | [`image`] | what the disk keeps: a copy that follows the syncs, and files after a loss of power |
//! | [`preload`] | the library and the environment it wants |
//! | [`watched`] | the same for storage within Rust |

pub mod control;
pub mod image;
pub mod preload;
pub mod watched;

pub use control::{Call, Control, Counts, Effect, Spec};
pub use image::{Survival, copy_folder, lose_power};
pub use preload::{Places, library};
pub use watched::Watched;
