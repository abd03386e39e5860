//! Loading a database straight from the generator, and recognising one later.
//!
//! Rows go from the generator's threads to the engine's loader with no file between; indexes are built after the rows. Along
//! with the 33 tables a database gets one row in `bourse_database` with the parameters it was made with, written last: so a
//! run distinguishes its own database from a foreign one, from one of another size, and from an unfinished one.
//!
//! No statistics are gathered after loading: every join of the transactions is written in its order of execution and every
//! other choice is between a key and nothing, so plans are the same on every database and cannot change as it grows.
//!
//! | file | contents |
//! |---|---|
//! | `rows` | rows from the generator to the loader, counted |
//! | `fingerprint` | the parameters of a database, and the row that stores them |
//! | `existing` | content of a target |

mod existing;
mod fingerprint;
mod rows;

pub use existing::{Existing, Found, examine, identify};
pub use fingerprint::{Constraints, Fingerprint};
pub use rows::{LoadError, LoadOptions, LoadReport, Phase, Progress, load};
