//! Reads files that a person names: regular files below a size limit, nothing else.

use bourse_engine::open_named;
use flate2::read::MultiGzDecoder;
use std::io::{self, Read as _};
use std::path::Path;

/// Largest document that is read, in bytes.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// Reads a document, also one that gzip has compressed.
///
/// # Errors
/// Those of [`regular_bytes`] with [`DOCUMENT_BYTES_MAX`], which holds for what is compressed too.
pub fn document_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = regular_bytes(path, DOCUMENT_BYTES_MAX)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    read_up_to(MultiGzDecoder::new(bytes.as_slice()), DOCUMENT_BYTES_MAX)
}

/// Reads a regular file of at most `most` bytes. A pipe or a device is not even opened: it may have no end.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is too large.
pub fn regular_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_named(path)?;
    let length = file.metadata()?.len();
    // It may grow meanwhile.
    if length > most { Err(too_large(length, most)) } else { read_up_to(file, most) }
}

/// Text of a regular file of at most [`DOCUMENT_BYTES_MAX`].
///
/// # Errors
/// Those of [`regular_bytes`]; it is not UTF-8.
pub fn regular_text(path: &Path) -> io::Result<String> {
    let bytes = regular_bytes(path, DOCUMENT_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

fn read_up_to(from: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = from.take(most + 1).read_to_end(&mut bytes)? as u64;
    if length > most { Err(too_large(length, most)) } else { Ok(bytes) }
}

fn too_large(length: u64, most: u64) -> io::Error {
    let words = format!("it has {} MiB, and at most {} MiB are read", length >> 20, most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn a_file_is_read_up_to_a_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, [7; 100]).unwrap();
        assert_eq!(regular_bytes(&path, 100).unwrap(), [7; 100]);
        assert_eq!(regular_bytes(&path, 99).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // One of 10 GB is refused by its size.
        File::create(&path).unwrap().set_len(10 << 30).unwrap();
        assert!(
            document_bytes(&path).unwrap_err().to_string().contains("it has 10240 MiB, and at most 256 MiB are read")
        );
        assert!(document_bytes(folder.path()).unwrap_err().to_string().contains("it is a directory, not a file"));
    }

    #[test]
    fn a_compressed_document_is_read_and_a_cut_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        io::Write::write_all(&mut compressed, b"{}").unwrap();
        let compressed = compressed.finish().unwrap();
        fs::write(&path, &compressed).unwrap();
        assert_eq!(document_bytes(&path).unwrap(), b"{}");
        fs::write(&path, &compressed[..compressed.len() - 3]).unwrap();
        assert_eq!(document_bytes(&path).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
