//! Conversion of the server's and the client's errors to engine errors.

use bourse_engine::{EngineError, ErrorKind, server_wait};
use mysql::{DriverError, Error};

/// Class of a server's error. Codes are from MySQL's and MariaDB's references unless a comment names another source.
fn kind(code: u16, state: &str, message: &str) -> ErrorKind {
    // The operating system's "no space left on device", which several errors quote.
    let is_no_space = ["errno: 28", "error 28 ", "No space left"].iter().any(|words| message.contains(words));
    match code {
        _ if is_no_space => ErrorKind::Full,
        // Lock wait, deadlock, changed since read, commit refused by the cluster, table changed since the snapshot.
        1205 | 1213 | 1020 | 1180 | 3101 | 1412 | 1614 | 1615 | 3572 => ErrorKind::Conflict,
        // TiDB (its page of error codes; from documents, not run): commit conflict after SELECT FOR UPDATE, write conflict,
        // commit failed and rolled back, schema changed meanwhile, write conflict. Vitess hands on MySQL's own numbers.
        8002 | 8005 | 8022 | 8028 | 9007 => ErrorKind::Conflict,
        // TiDB's unknown error, with the words by which it marks what can be tried again.
        1105 if message.contains("[try again later]") => ErrorKind::Conflict,
        1114 | 1021 => ErrorKind::Full,
        1317 | 1969 | 3024 => ErrorKind::Interrupted,
        // Shut down, killed, broken off; a cluster's node that is not ready.
        1053 | 1077..=1080 | 1152 | 1158..=1161 | 1184 | 1927 | 1047 | 2002 | 2003 | 2006 | 2013 => {
            ErrorKind::ConnectionLost
        }
        1062 | 1169 | 1586 => ErrorKind::Duplicate,
        // 1263 is NULL in a column without NULL, of LOAD DATA.
        1048 | 1263 | 1216 | 1217 | 1451 | 1452 | 1557 | 1761 | 1762 | 3819 | 4025 => ErrorKind::Constraint,
        // A node of a replication group that is no part of it now: the server is offline or not elected yet, cannot wait for
        // others' commits, or has locked itself against changes.
        3032 | 3781..=3783 | 3796 | 3797 | 3799 => ErrorKind::ConnectionLost,
        1290 if message.contains("--super-read-only") => ErrorKind::ConnectionLost,
        // The group was lost while it was asked about a commit, which others may have by then.
        3100 => ErrorKind::InDoubt,
        // A table without a primary key, or a serializable transaction where a group does not allow it.
        1235 | 1286 | 1289 | 1295 | 3098 => ErrorKind::Unsupported,
        // A database, table, column, routine, or a right of the whole server.
        1044 | 1142 | 1143 | 1227 | 1370 => ErrorKind::Denied,
        _ if state.starts_with("23") => ErrorKind::Constraint,
        _ => ErrorKind::Other,
    }
}

/// Converts a server's warning to an error.
pub(crate) fn warning(code: u16, message: String) -> EngineError {
    EngineError::new(kind(code, "", &message), message).with_code(code.to_string())
}

/// Converts a client's error; a connection that was ended by an interruption of the program is reported as that.
pub(crate) fn error(e: &Error) -> EngineError {
    server_wait::for_report(of_client(e))
}

fn of_client(e: &Error) -> EngineError {
    // The client does not name what its codec's errors come from.
    let told = match e {
        Error::CodecError(e) => bourse_server::client::tls::certificate_error(e),
        other => bourse_server::client::tls::certificate_error(other),
    };
    if let Some(words) = told {
        return EngineError::new(ErrorKind::Other, words);
    }
    match e {
        Error::MySqlError(e) => {
            EngineError::new(kind(e.code, &e.state, &e.message), e.message.clone()).with_code(e.code.to_string())
        }
        Error::DriverError(DriverError::TlsNotSupported) => EngineError::unsupported(
            "the server does not offer TLS, which `sslmode` asks for: give it a certificate (ssl_cert, ssl_key), or use \
             sslmode=prefer",
        ),
        Error::IoError(e) => match e.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                EngineError::new(ErrorKind::ConnectionLost, "the server has not answered in time")
            }
            _ => EngineError::new(ErrorKind::ConnectionLost, format!("the connection to the server is broken: {e}")),
        },
        Error::DriverError(DriverError::ConnectTimeout | DriverError::Timeout) => {
            EngineError::new(ErrorKind::ConnectionLost, "the server has not answered in time")
        }
        Error::DriverError(DriverError::CouldNotConnect(place)) => {
            let words = match place {
                Some((address, why, _)) => format!("no server answers at {address}: {why}"),
                None => "no server answers".to_owned(),
            };
            EngineError::new(ErrorKind::ConnectionLost, words)
        }
        Error::DriverError(e @ (DriverError::PacketOutOfSync | DriverError::UnexpectedPacket)) => {
            EngineError::new(ErrorKind::ConnectionLost, format!("the connection to the server is broken: {e}"))
        }
        Error::CodecError(e) => {
            EngineError::new(ErrorKind::ConnectionLost, format!("the connection to the server is broken: {e}"))
        }
        Error::DriverError(DriverError::SetupError) => {
            EngineError::new(ErrorKind::ConnectionLost, "what answers is no MySQL server: it has no max_allowed_packet")
        }
        Error::DriverError(e) => EngineError::new(ErrorKind::Other, e.to_string()),
        other => EngineError::new(ErrorKind::Other, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_kind_a_program_acts_on() {
        for (code, state, message, expected) in [
            (1213, "40001", "Deadlock found", ErrorKind::Conflict),
            (1205, "HY000", "Lock wait timeout exceeded", ErrorKind::Conflict),
            (1020, "HY000", "Record has changed since last read", ErrorKind::Conflict),
            (1180, "HY000", "Got error 149 during COMMIT", ErrorKind::Conflict),
            (3101, "40000", "Plugin instructed the server to rollback", ErrorKind::Conflict),
            (1180, "HY000", "Got error 28 \"No space left on device\" during COMMIT", ErrorKind::Full),
            (9007, "HY000", "Write conflict, txnStartTS=1", ErrorKind::Conflict),
            (8002, "HY000", "can not retry select for update statement", ErrorKind::Conflict),
            (8022, "HY000", "commit failed", ErrorKind::Conflict),
            (8028, "HY000", "Information schema is changed", ErrorKind::Conflict),
            (1105, "HY000", "schema out of date [try again later]", ErrorKind::Conflict),
            (1105, "HY000", "unknown error", ErrorKind::Other),
            (1062, "23000", "Duplicate entry", ErrorKind::Duplicate),
            (1452, "23000", "foreign key", ErrorKind::Constraint),
            (1263, "", "Column set to default value; NULL supplied", ErrorKind::Constraint),
            (3819, "HY000", "check", ErrorKind::Constraint),
            (4025, "23000", "check", ErrorKind::Constraint),
            (1114, "HY000", "The table 't' is full", ErrorKind::Full),
            (1026, "HY000", "Error writing file 'x' (errno: 28 \"No space left on device\")", ErrorKind::Full),
            (1927, "70100", "Connection was killed", ErrorKind::ConnectionLost),
            (3796, "HY000", "The option group_replication_consistency cannot be used", ErrorKind::ConnectionLost),
            (1290, "HY000", "is running with the --super-read-only option", ErrorKind::ConnectionLost),
            (1290, "HY000", "is running with the --secure-file-priv option", ErrorKind::Other),
            (3100, "HY000", "Error on observer while running replication hook 'before_commit'.", ErrorKind::InDoubt),
            (3098, "HY000", "The table does not comply with the requirements", ErrorKind::Unsupported),
            (1064, "42000", "You have an error in your SQL syntax", ErrorKind::Other),
            (1146, "42S02", "Table doesn't exist", ErrorKind::Other),
        ] {
            assert_eq!(kind(code, state, message), expected, "{code}");
        }
    }

    #[test]
    fn a_broken_connection_is_told() {
        let broken = Error::IoError(std::io::Error::new(std::io::ErrorKind::BrokenPipe, "server disconnected"));
        assert_eq!(error(&broken).kind(), ErrorKind::ConnectionLost);
        let silent = Error::IoError(std::io::ErrorKind::WouldBlock.into());
        assert_eq!(error(&silent).message(), "the server has not answered in time");
    }
}
