use crate::{one_line, shortened};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

crate::named! {
    /// Class of an error, by which a caller decides to retry, give up or skip.
    ///
    /// ```
    /// use bourse_engine::{EngineError, ErrorKind};
    ///
    /// /// Repeats `transaction` for as long as another transaction is in the way.
    /// fn with_retries(mut transaction: impl FnMut() -> Result<(), EngineError>) -> Result<u32, EngineError> {
    ///     let mut retries = 0;
    ///     loop {
    ///         match transaction() {
    ///             Err(error) if error.kind() == ErrorKind::Conflict => retries += 1,
    ///             done => return done.map(|()| retries),
    ///         }
    ///     }
    /// }
    /// let mut conflicts = vec![EngineError::new(ErrorKind::Conflict, "database is locked"); 2];
    /// assert_eq!(with_retries(|| conflicts.pop().map_or(Ok(()), Err))?, 2);
    /// # Ok::<(), EngineError>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum ErrorKind {
        /// Another transaction was in the way: roll back and try again.
        Conflict = "conflict",
        /// A key that must be unique exists already.
        Duplicate = "duplicate key",
        /// A constraint other than a unique key refused the change.
        Constraint = "constraint",
        /// The connection to the engine or its server is lost.
        ConnectionLost = "connection lost",
        /// The connection was lost during a commit, whose outcome is unknown. The session continues, at another server of a
        /// cluster.
        InDoubt = "commit in doubt",
        /// The engine cannot do this at all.
        Unsupported = "unsupported",
        /// No room on the disk, or past a size limit.
        Full = "full",
        /// The user interrupted the run.
        Interrupted = "interrupted",
        /// The file or database at the target was not made by Bourse and must not be opened or replaced. It is left
        /// unchanged.
        Refused = "refused",
        /// The account lacks the right to do this.
        Denied = "denied",
        /// Any other error.
        Other = "other",
    }
}

/// Result of a call that an engine can refuse. Its name shadows the standard library's, which it also is if an error type is
/// given: `Result<T, E>`.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// An error of an engine, for a program ([`EngineError::kind`]) and for a person (its `Display`).
///
/// ```
/// use bourse_engine::{EngineError, ErrorKind};
/// let error = EngineError::new(ErrorKind::Conflict, "database is locked")
///     .with_code("SQLITE_BUSY")
///     .with_statement("UPDATE account  SET balance = ?2");
/// assert_eq!(error.kind(), ErrorKind::Conflict);
/// assert_eq!(error.to_string(), "database is locked (SQLITE_BUSY)\n  statement: UPDATE account SET balance = ?2");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineError(Box<Inner>);

/// Number of characters of a statement that an error has at most.
const STATEMENT_CHARS: usize = 2_000;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Inner {
    kind: ErrorKind,
    code: Option<String>,
    message: String,
    statement: Option<String>,
}

impl EngineError {
    /// An error with the engine's own message; a message of Bourse is lower case and without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, code: None, message: message.into(), statement: None }))
    }

    /// An engine's refusal of something it cannot do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A refusal to touch the file or database at a target.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// An error of the file system, as "cannot open x.db: permission denied".
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ErrorKind::Full,
            // A path that no file can have: a part of it is too long, or is another kind of file than a folder.
            io::ErrorKind::InvalidFilename | io::ErrorKind::NotADirectory => ErrorKind::Refused,
            _ => ErrorKind::Other,
        };
        Self::new(kind, format!("cannot {doing} {}: {error}", path.display()))
    }

    /// Error for a transaction that is begun within another.
    #[cold]
    pub fn already_open() -> Self {
        Self::new(ErrorKind::Other, "a transaction is open already")
    }

    /// Error for a transaction in which a statement has failed with an error of that kind; `is_over` if it was rolled back.
    #[cold]
    pub fn failed_transaction(kind: ErrorKind, is_over: bool) -> Self {
        let what = if is_over { "was rolled back" } else { "has to be rolled back" };
        match kind {
            ErrorKind::Conflict => Self::new(kind, format!("the transaction met a conflict and {what}")),
            _ => Self::new(ErrorKind::Other, format!("a statement of the transaction has failed: it {what}")),
        }
    }

    /// Error of a commit whose transaction a statement in it has ended, as a `ROLLBACK` does.
    #[cold]
    pub fn already_ended() -> Self {
        Self::new(ErrorKind::Other, "there is no transaction to commit: a statement in it has ended it")
    }

    /// Changes the class of the error.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Puts what failed in front of the message, as in `cannot open x.db: …`.
    #[must_use]
    pub fn during(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Appends advice to the message, as in `…; CREATEDB gives the right`.
    #[must_use]
    pub fn with_advice(mut self, advice: impl fmt::Display) -> Self {
        self.0.message = format!("{}; {advice}", self.0.message);
        self
    }

    /// Adds the engine's own code, as `SQLITE_BUSY` or `40001`.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Adds the statement that failed, unless one is already named; of a long one the start.
    #[must_use]
    pub fn with_statement(mut self, statement: &str) -> Self {
        self.0.statement.get_or_insert_with(|| match shortened(&one_line(statement), STATEMENT_CHARS) {
            Cow::Borrowed(all) => all.to_owned(),
            Cow::Owned(start) => format!("{start} ({} bytes)", statement.len()),
        });
        self
    }

    /// Class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The engine's own code.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The engine's own message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The statement that failed, on one line.
    pub fn statement(&self) -> Option<&str> {
        self.0.statement.as_deref()
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(code) = &self.0.code {
            write!(f, " ({code})")?;
        }
        if let Some(statement) = &self.0.statement {
            write!(f, "\n  statement: {statement}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for EngineError {}
