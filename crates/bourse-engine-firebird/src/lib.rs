//! Firebird embedded, behind the seam. The crate is empty without its feature `firebird`.
//!
//! The client's library is loaded at run time, and loads the engine into this process: there is no server. It is called through
//! the interfaces that Firebird 3 and later have for C++, which are tables of functions: `api` declares those that are used.
//! Existing bindings (`rsfbclient`) were tried first. They call the older interface, return decimals as floating-point numbers,
//! report only SQL's error number, which does not identify a conflict of writers, and allocate for each row.
//!
//! A target such as `firebird:x.fdb?sync=off` is read by `open`; `GRAMMAR` has the table of all settings; `info` reports
//! whether the library and the engine are available, and if not where to get them.
//!
//! Files: `options` (settings of a target), `library` (found and loaded), `api` (tables of functions), `error` and `status`
//! (kinds of errors), `database` (open databases), `attachment` (connections and transactions),
//! `message` (values in), `row` (rows out), `statement`, `lob` (large objects), `session`, `loader`,
//! `describe` and `engine` (the seam), `kind` (the engine's registration).
#![cfg(feature = "firebird")]

mod api;
mod attachment;
mod database;
mod describe;
mod dialect;
mod engine;
mod error;
mod kind;
mod library;
mod loader;
mod lob;
mod message;
mod options;
mod row;
mod session;
mod statement;
mod status;

pub use engine::{FirebirdEngine, open};
pub use kind::KINDS;
pub use library::{FirebirdInfo, LIBRARY_VARIABLE, info};
pub use options::{FirebirdOptions, FirebirdSync, GRAMMAR, PageSize, Serializable};
