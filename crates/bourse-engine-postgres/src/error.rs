//! Conversion of the server's and the connection's errors to engine errors.

use bourse_engine::server_wait::for_report;
use bourse_engine::{EngineError, ErrorKind};
use std::io;

/// Text in YugabyteDB's internal errors after which a transaction can be retried (its documentation on read restarts;
/// from documents, not run).
const READ_RESTART: &str = "Restart read required at";

/// Class of an error with that SQLSTATE and message. Codes are PostgreSQL's own (its appendix of error codes) unless a
/// comment names another source.
fn kind(code: &str, message: &str) -> ErrorKind {
    match code {
        // Serialization failure, deadlock, a lock that was waited for in vain. CockroachDB's "restart transaction" is a 40001
        // (its reference of retry errors), YugabyteDB has the first two (its error codes in YSQL).
        "40001" | "40P01" | "55P03" => ErrorKind::Conflict,
        "XX000" if message.contains(READ_RESTART) => ErrorKind::Conflict,
        // Statement completion unknown, transaction resolution unknown: CockroachDB's "result is ambiguous" is the first.
        "40003" | "08007" => ErrorKind::InDoubt,
        "53100" => ErrorKind::Full,
        // Canceled by a user or a time limit.
        "57014" => ErrorKind::Interrupted,
        // Shut down, crashed, starting; terminated for being idle.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" => ErrorKind::ConnectionLost,
        "23505" => ErrorKind::Duplicate,
        "0A000" => ErrorKind::Unsupported,
        "42501" => ErrorKind::Denied,
        _ => match code.get(..2) {
            Some("23") => ErrorKind::Constraint,
            Some("08") => ErrorKind::ConnectionLost,
            _ => ErrorKind::Other,
        },
    }
}

/// Parses an error message of the server: fields of a letter and a text each.
#[cold]
pub(crate) fn server_error(body: &[u8]) -> EngineError {
    let field = |letter: u8| {
        let mut fields = body.split(|byte| *byte == 0);
        let found = fields.find_map(|field| field.split_first().filter(|(first, _)| **first == letter));
        found.map(|(_, text)| String::from_utf8_lossy(text).into_owned())
    };
    let code = field(b'C').unwrap_or_default();
    let mut message = field(b'M').unwrap_or_else(|| "an error without words".to_owned());
    if let Some(detail) = field(b'D') {
        message.push_str(&format!("; {}", detail.trim_end_matches('.')));
    }
    EngineError::new(kind(&code, &message), message).with_code(code)
}

/// Converts an error of the stream.
#[cold]
pub(crate) fn io(e: &io::Error) -> EngineError {
    // With TLS 1.3 a server says only then that it does not accept our certificate.
    if let Some(words) = bourse_server::client::tls::certificate_error(e) {
        return EngineError::new(ErrorKind::Other, words);
    }
    let message = match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the server has not answered in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "the server has closed the connection".to_owned(),
        _ => format!("the connection to the server is broken: {e}"),
    };
    for_report(EngineError::new(ErrorKind::ConnectionLost, message))
}

/// Error of a connection that has ended before.
#[cold]
pub(crate) fn lost() -> EngineError {
    for_report(EngineError::new(ErrorKind::ConnectionLost, "the connection to the server has ended"))
}

/// Error for an invalid answer of the server.
#[cold]
pub(crate) fn broken(what: &str) -> EngineError {
    EngineError::new(ErrorKind::ConnectionLost, format!("the connection to the server is broken: it sent {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_kind_a_program_acts_on() {
        for (code, expected) in [
            ("40001", ErrorKind::Conflict),
            ("40P01", ErrorKind::Conflict),
            ("55P03", ErrorKind::Conflict),
            ("23505", ErrorKind::Duplicate),
            ("23514", ErrorKind::Constraint),
            ("53100", ErrorKind::Full),
            ("57014", ErrorKind::Interrupted),
            ("57P01", ErrorKind::ConnectionLost),
            ("08006", ErrorKind::ConnectionLost),
            ("0A000", ErrorKind::Unsupported),
            ("42501", ErrorKind::Denied),
            ("42601", ErrorKind::Other),
            ("25P02", ErrorKind::Other),
            ("40003", ErrorKind::InDoubt),
            ("08007", ErrorKind::InDoubt),
            ("XX000", ErrorKind::Other),
            ("", ErrorKind::Other),
        ] {
            assert_eq!(kind(code, "words"), expected, "{code}");
        }
        let restart = "Query error: Restart read required at: { read: { physical: 1 } }";
        assert_eq!(kind("XX000", restart), ErrorKind::Conflict);
    }

    #[test]
    fn a_servers_words_are_read() {
        let told = server_error(b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (a)=(1) already exists.\0\0");
        assert_eq!((told.kind(), told.code()), (ErrorKind::Duplicate, Some("23505")));
        assert_eq!(told.message(), "duplicate key; Key (a)=(1) already exists");
        assert_eq!(server_error(b"").message(), "an error without words");
    }

    #[test]
    fn a_broken_connection_is_told() {
        assert_eq!(io(&io::ErrorKind::BrokenPipe.into()).kind(), ErrorKind::ConnectionLost);
        assert_eq!(io(&io::ErrorKind::WouldBlock.into()).message(), "the server has not answered in time");
    }
}
