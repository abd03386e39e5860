/// Error of reading the input files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// A file is missing.
    #[error("input file {file}.txt is missing")]
    Missing {
        /// Name without `.txt`.
        file: &'static str,
    },
    /// A line is invalid.
    #[error("{file}.txt line {line}: expected {expected}, found {found}")]
    Line {
        /// Name without `.txt`.
        file: &'static str,
        /// Number of the line from 1, blank lines included.
        line: usize,
        /// Expected content of the line.
        expected: String,
        /// Content found.
        found: String,
    },
    /// A file as a whole is invalid.
    #[error("{file}.txt: expected {expected}, found {found}")]
    File {
        /// Name without `.txt`.
        file: &'static str,
        /// Expected content of the file.
        expected: String,
        /// Content found.
        found: String,
    },
}
