//! fjall behind the seam: log-structured merge trees of records by key, in a folder, with optimistic transactions.
//!
//! A target such as `fjall:x.fjall?persist=buffer` is read by [`open`]; [`GRAMMAR`] has the table of all settings. Files:
//! `options` (settings of a target), `database` (shared by its sessions), `engine` and `view` (the seam), `kind` (the
//! engine's registration), `error` (kinds).

mod database;
mod engine;
mod error;
mod kind;
mod options;
mod view;

pub use engine::{FjallEngine, open, version};
pub use kind::KINDS;
pub use options::{FjallOptions, GRAMMAR, Persist};
