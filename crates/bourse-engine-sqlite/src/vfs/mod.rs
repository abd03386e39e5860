//! What our file systems have in common: `ram` and `forgetful` keep their files in this process and so lock them here, all
//! three, with `counting`, leave names, time and chance to the usual one.
//!
//! Files: `locks` (who may touch a file), `handle` (an open file of this process, its locks and its log's index towards
//! SQLite), `usual` (what is passed on).

pub(crate) mod handle;
pub(crate) mod locks;
pub(crate) mod usual;
