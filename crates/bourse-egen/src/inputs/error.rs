/// Input files that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// A file is not there.
    #[error("input file {file}.txt is missing")]
    Missing {
        /// Name without `.txt`.
        file: &'static str,
    },
    /// A line is not what the generator can work with.
    #[error("{file}.txt line {line}: expected {expected}, found {found}")]
    Line {
        /// Name without `.txt`.
        file: &'static str,
        /// Counted from 1, blank lines included.
        line: usize,
        /// Expected content of the line.
        expected: String,
        /// Content found.
        found: String,
    },
    /// A file as a whole is not what the generator can work with.
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
