//! What our file systems have in common: `memvfs` and `lossy` keep their files in this process and so lock them here, all
//! three, with `counting`, leave names, time and chance to the default one.
//!
//! Files: `locks` (who may touch a file), `handle` (an open file of this process, its locks and its log's index towards
//! SQLite), `overlay` (files of the default one that are ours in part), `default_vfs` (what is passed on).

pub(crate) mod default_vfs;
pub(crate) mod handle;
pub(crate) mod locks;
pub(crate) mod overlay;
