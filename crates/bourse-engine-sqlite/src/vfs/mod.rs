//! Common parts of Bourse's file systems: `memvfs` and `power` have their files in this process, and `counting` those of the
//! default one; all delegate time and random numbers to that.
//!
//! Files: `locks` (locks of a file), `handle` (an open file of this process, its locks and its log's index as SQLite
//! sees them), `memory` (the file system of such files), `overlay` (files of the default one with a part of Bourse's),
//! `default_vfs` (delegation).

pub(crate) mod default_vfs;
pub(crate) mod handle;
pub(crate) mod locks;
pub(crate) mod memory;
pub(crate) mod overlay;
