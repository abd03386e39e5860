//! LMDB behind the seam: B+trees of records by key in a memory map, over the library's C interface.
//!
//! A target such as `lmdb:x.mdb?sync=meta` is read by [`open`]; [`GRAMMAR`] has the table of all settings. The crate calls the
//! library directly: a session reuses its transactions, and renews the one for reading, which is LMDB's fastest way.
//!
//! Files: `options` (settings of a target), `environment` and `transaction` (the C library, made safe), `engine` and `view` (the seam), `kind` (the engine's registration), `error` (codes).

mod engine;
mod environment;
mod error;
mod kind;
mod options;
mod transaction;
mod view;

pub use engine::{LmdbEngine, open};
pub use environment::version;
pub use kind::KINDS;
pub use options::{GRAMMAR, LmdbOptions, LmdbSync};
