use std::io;
use std::path::Path;

use crate::Inputs;

use crate::files::GenError;

/// Reads the 22 input files of a folder, each with `read`.
///
/// # Errors
/// [`GenError::Io`] if a file cannot be read, [`GenError::Input`] if one is missing or invalid.
pub fn read_inputs(folder: &Path, read: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Inputs, GenError> {
    if !folder.is_dir() {
        let source = io::Error::new(io::ErrorKind::NotFound, "no such folder");
        return Err(GenError::Io { action: "read", path: folder.to_owned(), source });
    }
    let mut failure = None;
    let inputs = Inputs::parse(|name| {
        let path = folder.join(format!("{name}.txt"));
        match read(&path) {
            Ok(bytes) => Some(bytes),
            Err(source) => {
                if source.kind() != io::ErrorKind::NotFound {
                    failure = Some(GenError::Io { action: "read", path, source });
                }
                None
            }
        }
    });
    match (inputs, failure) {
        (Ok(inputs), _) => Ok(inputs),
        (Err(_), Some(failure)) => Err(failure),
        (Err(source), None) => Err(GenError::Input { folder: folder.to_owned(), source }),
    }
}
