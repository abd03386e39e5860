//! The generator's threads and files: the rows of this crate as flat files or CSV, or as batches for a loader.
//!
//! Everything is made in *units* of work that do not depend on each other. Free threads take the next one; bytes that a
//! thread makes before its turn wait (in memory, then in a separate file) until the units before it are written, so
//! that the result is that of a single thread and memory does not grow with customers or days.
//!
//! ```no_run
//! use bourse_egen::files::{FlatOptions, write_flat};
//! use bourse_egen::{Inputs, Part};
//!
//! let inputs = Inputs::builtin();
//! let part = Part::whole(1_000, 10)?;
//! let written = write_flat("data".as_ref(), &inputs, part, &FlatOptions::default())?;
//! assert_eq!(written.files.len(), 32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod csv;
mod error;
mod flat;
mod input_dir;
#[cfg(feature = "parquet")]
pub mod parquet;
mod sequence;
mod sink;
mod spool;

pub use batches::{BatchOptions, batches};
pub use error::GenError;
pub use flat::{FlatFormat, FlatOptions, GenerationProgress, WrittenFiles, write_flat};
pub use input_dir::read_inputs;
pub use sequence::refuse_taken;
