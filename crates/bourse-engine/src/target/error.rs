//! Errors of targets: what is wrong, where, and what was expected.

/// Expected form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedValue {
    /// One of the values listed.
    Listed,
    /// A value of the listed kind, but within the range.
    InRange,
}

impl ExpectedValue {
    fn prefix(self) -> &'static str {
        match self {
            Self::Listed => "",
            Self::InRange => "out of range; ",
        }
    }
}

/// Error of a target that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The scheme is not one of this engine's.
    #[error("invalid {engine} target '{target}': expected {forms}")]
    Scheme {
        /// The target as it was typed.
        target: String,
        /// The engine's name.
        engine: &'static str,
        /// The forms that its targets have.
        forms: &'static str,
    },
    /// The place is missing.
    #[error("invalid target '{target}': it names no place; expected {forms}")]
    NoPlace {
        /// The target as it was typed.
        target: String,
        /// The forms that the engine's targets have.
        forms: &'static str,
    },
    /// The place cannot be parsed. The target is not repeated: it may contain a password.
    #[error("invalid {engine} target: {why}; expected {forms}")]
    Place {
        /// The engine's name.
        engine: &'static str,
        /// The fault of the place.
        why: &'static str,
        /// The forms that the engine's targets have.
        forms: &'static str,
    },
    /// The target contains a password, which other users could read there.
    #[error("a target must not contain a password: {instead}")]
    Password {
        /// Safe place for the password.
        instead: &'static str,
    },
    /// A `%` is not followed by two hexadecimal digits, or the decoded bytes are not text.
    #[error(
        "invalid '%' in '{text}': expected the two hexadecimal digits of a character after it; write a '%' itself as '%25'"
    )]
    Escape {
        /// The part of the target.
        text: String,
    },
    /// A part behind the `?` is not `OPTION=VALUE`.
    #[error("invalid option '{text}': expected OPTION=VALUE")]
    NotAPair {
        /// The part of the target.
        text: String,
    },
    /// The engine has no option of that name.
    #[error("unknown option '{name}' for {engine}{hint}\nknown options:\n{known}")]
    UnknownOption {
        /// The name.
        name: String,
        /// The engine's name.
        engine: &'static str,
        /// `; did you mean …`, or empty.
        hint: String,
        /// Every option, one a line.
        known: String,
    },
    /// An option is given twice.
    #[error("option '{name}' is given twice: give it once")]
    Twice {
        /// The option's name.
        name: &'static str,
    },
    /// The option does not take this value.
    #[error("invalid value '{value}' for '{name}': {}expected {values}", wanted.prefix())]
    BadValue {
        /// The option's name.
        name: &'static str,
        /// The value as it was typed.
        value: String,
        /// Expected form of the value.
        wanted: ExpectedValue,
        /// The values that the option takes.
        values: &'static str,
    },
    /// A library that the target names is missing, or lacks what the target requests.
    #[error("{0}")]
    Library(String),
    /// An option cannot be combined with the rest of the target.
    #[error("'{what}' cannot be used with {with}: {why}")]
    Impossible {
        /// The option, as `journal=wal`.
        what: String,
        /// The part of the target that excludes it.
        with: &'static str,
        /// The reason.
        why: &'static str,
    },
}
