//! Loading a database straight from the generator, and recognising it later.
//!
//! Rows go from the generator's threads to the engine's loader with no file between; indexes are built after the rows.
//! Next to the workload's tables a database gets one row in `bourse_database` with what it was made of, written last: so a
//! run recognises its own database, one of another size, an unfinished one, and one that Bourse did not make.
//!
//! No statistics are gathered after loading.
//!
//! | file | content |
//! |---|---|
//! | `rows` | rows from the generator to the loader, counted |
//! | `fingerprint` | what a database was made of, and the row that stores it |
//! | `existing` | the content of a target |

mod existing;
mod fingerprint;
mod rows;

pub(crate) use fingerprint::read_fingerprints;

pub use existing::{ExistingDatabase, FoundDatabase, examine, identify};
pub use fingerprint::{Constraints, Fingerprint};
pub use rows::{LoadError, LoadOptions, LoadPhase, LoadProgress, LoadReport, load};
