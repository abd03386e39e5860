//! Faults between an engine and its files: read, write and sync errors, short transfers, a full disk, a disk that ignores
//! syncs, unreadable pages of mapped files; and the image of such a disk after a loss of power.
//!
//! Bourse's own library (`preload/`) is preloaded into the process of an engine, or into all processes of a server, which share
//! one control file. It counts the calls on the files below one folder and interferes with the chosen one. Engines whose
//! storage is a Rust trait can do the same in process with [`Watched`].
//!
//! | module | what |
//! |---|---|
//! | [`control`] | the file that gives a process its fault and receives the counts |
//! | [`image`] | what is on the disk: a copy that follows the syncs, and files after a loss of power |
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
