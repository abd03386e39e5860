//! Failures in the virtual machine as errors of the seam.

use crate::product::JdbcProduct;
use bourse_engine::{EngineError, ErrorKind};

/// Category of a failure, as the bridge reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureCategory {
    Sql,
    Memory,
    NoClass,
    OldJava,
    Other,
}

impl FailureCategory {
    pub(crate) fn of(byte: u8) -> Self {
        match byte {
            0 => Self::Sql,
            1 => Self::Memory,
            2 => Self::NoClass,
            3 => Self::OldJava,
            _ => Self::Other,
        }
    }
}

/// Text of the operating system for a full disk, for which no driver has a code.
const NO_SPACE: &str = "No space left on device";

/// Error of a failure, from the driver's text, code and SQLSTATE.
#[cold]
pub(crate) fn error(product: &JdbcProduct, what: FailureCategory, code: i32, state: &str, words: &str) -> EngineError {
    let line = words.lines().next().unwrap_or_default();
    // Behind the words H2 begins to quote the statement.
    let line = line.strip_suffix("; SQL statement:").unwrap_or(line);
    match what {
        FailureCategory::Sql => {
            let known = product.kind(state, line);
            let kind = if line.starts_with(NO_SPACE) { ErrorKind::Full } else { known };
            let error = EngineError::new(kind, line);
            match (state, code) {
                ("", 0) => error,
                ("", code) => error.with_code(code.to_string()),
                (state, _) => error.with_code(state),
            }
        }
        FailureCategory::Memory => EngineError::new(
            ErrorKind::Full,
            format!("the heap of the Java virtual machine is full ({line}): `heap=` makes it larger"),
        ),
        FailureCategory::NoClass => EngineError::unsupported(format!(
            "the jars have no driver of {} ({line}): `jar=` or ${} names {}",
            product.name, product.variable, product.package
        )),
        FailureCategory::OldJava => EngineError::unsupported(format!(
            "this version of {} needs a newer Java ({line}): name its folder in $JAVA_HOME or with `java=`",
            product.name
        )),
        FailureCategory::Other => EngineError::new(ErrorKind::Other, line),
    }
}

/// Error of a machine that no longer answers; as a rule its heap is so full that it cannot report the reason.
#[cold]
pub(crate) fn machine_failed() -> EngineError {
    EngineError::new(
        ErrorKind::ConnectionLost,
        "the Java virtual machine has failed; as a rule its heap is full: `heap=` makes it larger",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::of_scheme;

    #[test]
    fn an_error_has_the_kind_a_program_acts_on() {
        let h2 = of_scheme("jdbc+h2").unwrap();
        let told = error(h2, FailureCategory::Sql, 23505, "23505", "Unique index violation; SQL statement:\nINSERT …");
        assert_eq!((told.kind(), told.message()), (ErrorKind::Duplicate, "Unique index violation"));
        assert_eq!(told.code(), Some("23505"));
        let full = "No space left on device: General error: \"Writing to file failed\"";
        assert_eq!(error(h2, FailureCategory::Sql, 50000, "HY000", full).kind(), ErrorKind::Full);
        assert_eq!(error(h2, FailureCategory::Memory, 0, "", "Java heap space").kind(), ErrorKind::Full);
        let told = error(h2, FailureCategory::NoClass, 0, "", "org.h2.Driver");
        assert!(told.kind() == ErrorKind::Unsupported && told.message().contains("BOURSE_JDBC_H2_JAR"), "{told}");
        assert_eq!(error(h2, FailureCategory::of(9), 0, "", "words").kind(), ErrorKind::Other);
    }
}
