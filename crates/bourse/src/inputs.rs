//! Input data for the generator: the official files from a folder, or the built-in data.

use crate::failure::{Failure, Result};
use bourse_egen::Inputs;
use bourse_egen::files::GenError;
use bourse_record::{DOCUMENT_BYTES_MAX, regular_bytes};
use std::path::Path;

/// The official files from `folder`, or without one the built-in data.
pub(crate) fn inputs(folder: Option<&Path>) -> Result<Inputs> {
    let Some(folder) = folder else { return Ok(Inputs::builtin()) };
    bourse_egen::files::read_inputs(folder, |path| regular_bytes(path, DOCUMENT_BYTES_MAX)).map_err(|error| {
        let failure = Failure::usage(error.to_string());
        let failure = match &error {
            GenError::Io { source, .. } => failure.detail("cause", source.to_string()),
            GenError::Input { source, .. } => failure.detail("cause", source.to_string()),
            GenError::Cancelled => failure,
        };
        failure
            .hint("the folder must hold the 22 files of EGen's flat_in, unchanged")
            .hint("leave --flat-in out to use the built-in data")
    })
}
