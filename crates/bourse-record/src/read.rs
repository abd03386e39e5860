//! Reads documents from files, with errors that name the remedy.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::acid::{ACID_SCHEMA_VERSION, AcidFile};
use crate::crash::{CRASH_SCHEMA_VERSION, CrashFile};
use crate::faults::{FAULTS_SCHEMA_VERSION, FaultsFile};
use crate::{DocumentKind, document_bytes, version_1};
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

/// Error of reading a document.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {cause}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        cause: io::Error,
    },
    /// The file contains something else.
    #[error("{path} is no document of {of}: {why}")]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Command that writes such documents.
        of: &'static str,
        /// Field that is missing or of another type.
        why: String,
    },
    /// A document of an unknown version.
    #[error("{path} is a document of version {found}, this program knows versions 1 to {known}")]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the document.
        found: u64,
        /// Version that this program reads.
        known: u32,
    },
}

/// Reads an `acid.json`.
///
/// # Errors
/// [`ReadError`].
pub fn acid(path: &Path) -> Result<AcidFile, ReadError> {
    parse_acid(&bytes(path)?, path)
}

/// Reads the bytes of an `acid.json`; `path` is for messages.
///
/// # Errors
/// [`ReadError`].
pub fn parse_acid(bytes: &[u8], path: &Path) -> Result<AcidFile, ReadError> {
    document(bytes, path, "`bourse tpce acid`", DocumentKind::Acid, ACID_SCHEMA_VERSION)
}

/// Reads a `crash.json`.
///
/// # Errors
/// [`ReadError`].
pub fn crash(path: &Path) -> Result<CrashFile, ReadError> {
    parse_crash(&bytes(path)?, path)
}

/// Reads the bytes of a `crash.json`; `path` is for messages.
///
/// # Errors
/// [`ReadError`].
pub fn parse_crash(bytes: &[u8], path: &Path) -> Result<CrashFile, ReadError> {
    document(bytes, path, "`bourse crash`", DocumentKind::Crash, CRASH_SCHEMA_VERSION)
}

/// Reads a `faults.json`.
///
/// # Errors
/// [`ReadError`].
pub fn faults(path: &Path) -> Result<FaultsFile, ReadError> {
    parse_faults(&bytes(path)?, path)
}

/// Reads the bytes of a `faults.json`; `path` is for messages.
///
/// # Errors
/// [`ReadError`].
pub fn parse_faults(bytes: &[u8], path: &Path) -> Result<FaultsFile, ReadError> {
    document(bytes, path, "`bourse faults`", DocumentKind::Faults, FAULTS_SCHEMA_VERSION)
}

fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    document_bytes(path).map_err(|cause| ReadError::File { path: path.to_owned(), cause })
}

fn document<D: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    of: &'static str,
    kind: DocumentKind,
    known: u32,
) -> Result<D, ReadError> {
    let foreign = |why: String| ReadError::Foreign { path: path.to_owned(), of, why };
    let mut value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| foreign(error.to_string()))?;
    // Version first: a document of another version need not have this one's form.
    match value.get("schema_version").and_then(serde_json::Value::as_u64) {
        None => return Err(foreign("it has no schema_version".to_owned())),
        Some(1) => version_1::convert_other(&mut value, kind, known),
        Some(found) if found != u64::from(known) => {
            return Err(ReadError::Version { path: path.to_owned(), found, known });
        }
        Some(_) => {}
    }
    serde_json::from_value(value).map_err(|error| foreign(error.to_string()))
}
