//! Bugs planted on purpose, and which of our checks catch them.
//!
//! Empty without the feature `planted-bug`. With it each bug of `bourse_tpce::planted` is planted in turn, on a copy of one
//! loaded database, and each detector is asked what it finds. What is expected stands beside each bug; the test `planted`
//! fails where something else is found.
//!
//! | module | what |
//! |---|---|
//! | `databases` | the loaded database, and a copy of it for each bug |
//! | `detectors` | what runs, checks and compares |
//! | `expected` | what each detector finds of each bug |
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
pub use expected::{Want, expected, is_asked, misses};
pub use matrix::{Cell, chosen, name, run, run_shared};
pub use page::{in_words, page, row_begins};
