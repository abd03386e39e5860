use std::fmt;
use std::io;
use std::path::Path;

/// What a program can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Another transaction was in the way: roll back and try again.
    Conflict,
    /// A constraint refused the change.
    Constraint,
    /// The engine or its server is gone.
    ConnectionLost,
    /// The connection was lost while a commit was under way: nobody knows whether it was made. The session goes on, at
    /// another server of a cluster.
    InDoubt,
    /// The engine cannot do this at all.
    Unsupported,
    /// No room on the disk, or past a size limit.
    Full,
    /// The run was told to stop.
    Interrupted,
    /// What lies at the target is not the program's to open or replace: it is left as it is.
    Refused,
    /// The account has not the right to do this.
    Denied,
    /// Anything else.
    Other,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "conflict",
            Self::Constraint => "constraint",
            Self::ConnectionLost => "connection lost",
            Self::InDoubt => "commit in doubt",
            Self::Unsupported => "unsupported",
            Self::Full => "full",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::Other => "other",
        })
    }
}

/// An error of an engine, for a program ([`EngineError::kind`]) and for a person (its `Display`).
#[derive(Clone)]
pub struct EngineError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    code: Option<String>,
    message: String,
    statement: Option<String>,
}

impl EngineError {
    /// An error with the engine's own words, lower case and without a full stop where they are ours.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, code: None, message: message.into(), statement: None }))
    }

    /// An engine's refusal of something it cannot do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A refusal to touch what lies at a target.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// An error of the file system, as "cannot open x.db: permission denied".
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ErrorKind::Full,
            _ => ErrorKind::Other,
        };
        Self::new(kind, format!("cannot {doing} {}: {error}", path.display()))
    }

    /// Adds the engine's own code, as `SQLITE_BUSY` or `40001`.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Adds the statement that failed, unless one is already named.
    #[must_use]
    pub fn with_statement(mut self, statement: &str) -> Self {
        self.0.statement.get_or_insert_with(|| statement.split_whitespace().collect::<Vec<_>>().join(" "));
        self
    }

    /// What a program can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The engine's own code.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The engine's own words.
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
