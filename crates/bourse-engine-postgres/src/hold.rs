//! Locks that hold a database for one command: an advisory lock of the server, on a connection that lasts as long as
//! the command.
//!
//! An account may be shut out of the database in which the sessions of other accounts have the lock. So a holder also looks
//! for the lock in every other database, once it has its own.

use crate::connect::{NO_DATABASE, PostgresConnector, UNKNOWN_TO_POOLER, is_closed};
use crate::ownership::{create_database, drop_marked};
use crate::wire::WireConnection;
use bourse_engine::{DatabaseLock, EngineError, ErrorKind, Hold, Result, locked};
use std::sync::Mutex;
use std::time::Duration;

/// Database that holding sessions are connected to.
const ELSEWHERE: &str = "postgres";

/// Database that the holding sessions of an account are connected to which creates databases and is shut out of [`ELSEWHERE`].
/// It is empty, and the last holder drops it.
const FOR_LOCKS: &str = "bourse_locks";

/// Whether the account can make databases.
const MAKES_DATABASES: &str = "SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolcreatedb OR rolsuper)";

/// Longest name of a session, in bytes.
const NAME_BYTES: usize = 63;

/// Number of attempts to find a holder, which may have just ended, or to connect to a database that holders create and drop.
const MAX_ATTEMPTS: u32 = 5;

/// Number of looks at the sessions that are left in [`FOR_LOCKS`], and the time between two.
const LEAVE_ATTEMPTS: u32 = 40;
const LEAVE_INTERVAL: Duration = Duration::from_millis(25);

/// Identity of a connection's session: the number of its process at the server, and the server's start.
const SESSION: &str = "pg_backend_pid() || ' ' || extract(epoch FROM pg_postmaster_start_time())";

/// Sessions by which this process holds databases.
static OURS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A connection that holds a database.
struct HoldingConnection {
    connection: WireConnection,
    session: String,
    /// Dropped after the connection, since no session may use the database that it drops.
    _place: Option<LockDatabase>,
}

/// Use of [`FOR_LOCKS`] by a holder of another database, `home`.
struct LockDatabase {
    connector: PostgresConnector,
    home: String,
}

impl LockDatabase {
    /// Connects to the database, which is created if it does not exist.
    fn enter(connector: &PostgresConnector, home: &str) -> Result<(WireConnection, Self)> {
        let mut connected = alone(connector, FOR_LOCKS);
        for _ in 0..MAX_ATTEMPTS {
            if !connected.as_ref().is_err_and(|absent| absent.code() == Some(NO_DATABASE)) {
                break;
            }
            // Another holder that creates it at the same time makes this fail.
            let created = create_database(connector, FOR_LOCKS, home);
            connected = alone(connector, FOR_LOCKS).map_err(|absent| created.err().unwrap_or(absent));
        }
        Ok((connected?, Self { connector: connector.clone(), home: home.to_owned() }))
    }

    /// Drops the database, unless somebody holds another one by it: the last of them drops it. A session that was closed ends
    /// a moment later, and the server would wait 5 s for one that does not.
    fn leave(&self) -> Result<()> {
        let mut connection = self.connector.maintenance(&self.home)?;
        let sessions = format!(
            "SELECT CASE WHEN l.pid IS NULL THEN 'ends' ELSE 'holds' END
               FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory'
              WHERE a.datname = '{FOR_LOCKS}'"
        );
        for _ in 0..LEAVE_ATTEMPTS {
            let found = connection.names(&sessions)?;
            if found.is_empty() {
                return drop_marked(&mut connection, FOR_LOCKS);
            }
            if found.iter().any(|session| session == "holds") {
                return Ok(());
            }
            std::thread::sleep(LEAVE_INTERVAL);
        }
        Ok(())
    }
}

impl Drop for LockDatabase {
    fn drop(&mut self) {
        let _ = self.leave();
    }
}

impl Drop for HoldingConnection {
    fn drop(&mut self) {
        locked(&OURS).retain(|session| *session != self.session);
    }
}

impl DatabaseLock for HoldingConnection {
    fn still_held(&mut self) -> Result<()> {
        self.connection.names("SELECT 1").map(drop)
    }
}

/// Takes the lock of a database at the server of a connector.
pub(crate) fn hold(connector: &PostgresConnector, database: &str, holder: &str) -> Result<Hold> {
    let key = format!("('x' || left(md5({}), 16))::bit(64)::bigint", text(&format!("bourse {database}")));
    let (place, mut connection) = match connection_for(connector, database, &key) {
        Err(closed) if is_closed(&closed) => return Ok(Hold::Cannot(closed.message().to_owned())),
        connected => match connected? {
            Ok(connected) => connected,
            Err(held) => return Ok(held),
        },
    };
    connection.run(&format!("SET application_name = {}", text(&session_name(holder))))?;
    // Servers before version 14 end no idle session, and do not know the setting.
    let _ = connection.run("SET idle_session_timeout = 0");
    for _ in 0..MAX_ATTEMPTS {
        match connection.names(&format!("SELECT pg_try_advisory_lock({key})")) {
            Ok(taken) if taken == ["t"] => {
                return match lock_holder(&mut connection, &key) {
                    Err(lost) if lost.kind() == ErrorKind::ConnectionLost => Err(lost),
                    Ok(Some(other)) => {
                        // The server would give it back some time after the connection is closed.
                        let _ = connection.run("SELECT pg_advisory_unlock_all()");
                        Ok(held_by(other))
                    }
                    // A product that lists no locks has no other place for them.
                    Ok(None) | Err(_) => Ok(held(connection, place)),
                };
            }
            Ok(_) => {}
            Err(lost) if lost.kind() == ErrorKind::ConnectionLost => return Err(lost),
            // A product without such locks.
            Err(refused) => return Ok(Hold::Cannot(refused.message().to_owned())),
        }
        if let Some(other) = lock_holder(&mut connection, &key)? {
            return Ok(held_by(other));
        }
    }
    Ok(Hold::InUse(Vec::new()))
}

/// Connects for the lock of a database: to another database, since this one can be copied and replaced only while no session
/// is connected to it. If the other one is inaccessible to an account that cannot create databases, or through a pooler, and no
/// copies can be made, the connection is to this one. An account that can create databases first looks for a holder, which makes its own unnecessary.
fn connection_for(
    connector: &PostgresConnector,
    database: &str,
    key: &str,
) -> Result<Result<(Option<LockDatabase>, WireConnection), Hold>> {
    match alone(connector, ELSEWHERE) {
        Err(closed) if is_closed(&closed) => {}
        connected => return Ok(Ok((None, connected?))),
    }
    let mut maintenance = connector.maintenance(database)?;
    if maintenance.names(MAKES_DATABASES)?.is_empty() {
        return Ok(Ok((None, alone(connector, database)?)));
    }
    if let Some(other) = lock_holder(&mut maintenance, key)? {
        return Ok(Err(held_by(other)));
    }
    match LockDatabase::enter(connector, database) {
        Ok((connection, place)) => Ok(Ok((Some(place), connection))),
        Err(unknown) if unknown.code() == Some(UNKNOWN_TO_POOLER) => Ok(Ok((None, alone(connector, database)?))),
        Err(lost) if matches!(lost.kind(), ErrorKind::ConnectionLost | ErrorKind::Unsupported) => Err(lost),
        // Somebody's own database of the name may be inaccessible.
        Err(refused) => Ok(Err(Hold::Cannot(refused.message().to_owned()))),
    }
}

fn held(mut connection: WireConnection, place: Option<LockDatabase>) -> Hold {
    // A product without the functions has a session that is no other's.
    let session = connection.names(&format!("SELECT {SESSION}")).unwrap_or_default().concat();
    locked(&OURS).push(session.clone());
    Hold::Held(Box::new(HoldingConnection { connection, session, _place: place }))
}

fn held_by((session, details): (String, Details)) -> Hold {
    if locked(&OURS).contains(&session) { Hold::Nothing } else { Hold::InUse(details) }
}

/// A connection whose session no other client shares. A pooler in transaction mode gives each transaction any session of the
/// server: locks, settings and prepared statements would be another client's, and the lock would outlive the command.
fn alone(connector: &PostgresConnector, database: &str) -> Result<WireConnection> {
    let (mut connection, mut other) = (connector.connect(database)?, connector.connect(database)?);
    // Products without such settings refuse the statements.
    let is_set = connection.run("SET bourse.session = 'one'").is_ok();
    let is_shared = other.names("SELECT coalesce(current_setting('bourse.session', true), '')");
    if is_set && is_shared.is_ok_and(|found| found == ["one"]) {
        let _ = other.run("DISCARD ALL");
        return Err(EngineError::unsupported(
            "a pooler in front of the server shares its sessions between clients: PgBouncer needs pool_mode = session",
        ));
    }
    Ok(connection)
}

/// Details of a holder: names and values.
type Details = Vec<(String, String)>;

/// Identity of another session that has the lock in any database, and details of it. Address and time are visible only to the
/// same user, and to users who may read all statistics.
fn lock_holder(connection: &mut WireConnection, key: &str) -> Result<Option<(String, Details)>> {
    let rows = connection.ask(&format!(
        "SELECT {}, a.application_name, a.usename, a.pid::text, CASE WHEN a.client_port = -1 THEN 'the server''s machine' ELSE host(a.client_addr) END,
                to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS TZ')
           FROM pg_locks l INNER JOIN pg_stat_activity a ON a.pid = l.pid
          WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
            AND (l.classid::bigint << 32 | l.objid::bigint) = {key}",
        SESSION.replace("pg_backend_pid()", "a.pid")
    ))?;
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let mut values = row.into_iter();
    let session = values.next().flatten().unwrap_or_default();
    let named = ["held by", "user", "server process", "client", "since"].into_iter().zip(values);
    let details = named.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    Ok(Some((session, details)))
}

/// Name for the session of a holder: truncated, in ASCII as the server requires.
fn session_name(holder: &str) -> String {
    let ascii = holder.chars().map(|it| if it.is_ascii() && !it.is_ascii_control() { it } else { '?' });
    ascii.take(NAME_BYTES).collect()
}

/// Quotes a text for a statement.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_and_is_the_servers() {
        let name = session_name(&"process 7: bourse tpce run 'é\n".repeat(9));
        assert_eq!(name.len(), NAME_BYTES);
        assert!(name.starts_with("process 7: bourse tpce run '??process 7"), "{name}");
        assert_eq!(text("it's"), "'it''s'");
    }
}
