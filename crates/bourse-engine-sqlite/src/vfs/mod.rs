//! Common parts of Bourse's file systems: `memvfs` and `power` have their files in this process and lock them here; they and
//! `counting` delegate names, time and random numbers to the default one.
//!
//! Files: `locks` (locks of a file), `handle` (an open file of this process, its locks and its log's index as SQLite
//! sees them), `overlay` (files of the default one with a part of Bourse's), `default_vfs` (delegation).

pub(crate) mod default_vfs;
pub(crate) mod handle;
pub(crate) mod locks;
pub(crate) mod overlay;
