//! Loading a database straight from the generator, and knowing one again.
//!
//! Rows go from the generator's threads to the engine's loader with no file between; indexes are built after the rows.
//! Along with the 33 tables a database gets one row in `bourse_database` that says what it was made of, written last: so a
//! run can tell its own database from somebody else's, from one of another size, and from one that was not finished.
//!
//! No statistics are gathered after loading: every join of the transactions is written in its order of execution and every
//! other choice is between a key and nothing, so plans are the same on every database and cannot change as it grows.
//!
//! | file | what |
//! |---|---|
//! | `rows` | rows from the generator to the loader, counted |
//! | `fingerprint` | what a database was made of, and the row that says so |
//! | `existing` | what lies at a target |

mod existing;
mod fingerprint;
mod rows;

pub use existing::{Existing, Found, examine, identify};
pub use fingerprint::{Constraints, Fingerprint};
pub use rows::{LoadError, LoadOptions, LoadReport, Phase, Progress, load};
