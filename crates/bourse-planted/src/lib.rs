//! Bugs planted on purpose, and the checks that detect each.
//!
//! Empty without the feature `planted-bug`. With it each bug of `bourse_tpce::planted` is planted in turn, on a copy of
//! one loaded database, and each detector runs. The expected findings are listed by bug; the test `planted` fails if
//! another one occurs.
//!
//! | module | contents |
//! |---|---|
//! | `databases` | the loaded database, and a copy of it for each bug |
//! | `detectors` | commands that run, check and compare |
//! | `expected` | expected findings of each detector for each bug |
//! | `matrix` | all bugs by all detectors, on all processors |
//! | `page` | the page of the documentation |
#![cfg(feature = "planted-bug")]

mod databases;
mod detectors;
mod expected;
mod matrix;
mod page;

pub use databases::Databases;
pub use detectors::{Detector, Found, Length};
pub use expected::{Expected, expected, is_asked, misses};
pub use matrix::{Cell, chosen, name, run, run_shared};
pub use page::{in_words, page, row_begins};
