//! Locks that hold a database for one command: `GET_LOCK` of the server, on a connection that lasts as long as the
//! command.
//!
//! The server reports which connection has such a lock, and only user and host of its client. The number of the
//! client's process is encoded in further locks, one for each of its set bits, so that another client can read it.

use crate::connect::{MysqlConnector, facts};
use crate::error::error;
use crate::link::Link;
use bourse_engine::{DatabaseLock, EngineError, ErrorKind, Hold, Result, locked};
use mysql::prelude::Queryable as _;
use std::sync::Mutex;

/// Bits of a process's number.
const PROCESS_NUMBER_BITS: u32 = 32;

/// Length of a database's name in that of a lock, which can have 64 characters.
const NAME_CHARS: usize = 48;

/// Number of attempts to find a holder, which may have just ended.
const MAX_ATTEMPTS: u32 = 5;

/// A connection of a server: the server's host and port, and its own number.
type ServerConnection = (String, u64);

/// Connections by which this process holds databases.
static OURS: Mutex<Vec<ServerConnection>> = Mutex::new(Vec::new());

/// A connection that holds a database.
struct HoldingConnection {
    connection: Link,
    /// Name of the lock, as an SQL literal.
    name: String,
    place: ServerConnection,
}

impl Drop for HoldingConnection {
    fn drop(&mut self) {
        locked(&OURS).retain(|place| *place != self.place);
    }
}

impl DatabaseLock for HoldingConnection {
    fn still_held(&mut self) -> Result<()> {
        let found = holder(&mut self.connection, &self.name).map_err(|e| error(&e));
        self.connection.rests();
        match found? {
            Some(place) if place == self.place => Ok(()),
            _ => Err(EngineError::new(ErrorKind::ConnectionLost, "the server has given the lock away")),
        }
    }
}

/// Takes the lock of a database at the server of a connector.
///
/// # Errors
/// The client's or the server's.
pub(crate) fn hold(connector: &MysqlConnector, database: &str) -> Result<Hold> {
    let mut connection = connector.connect(None)?;
    // A server ends idle connections after a time that may be shorter than a run.
    connection.query_drop("SET SESSION wait_timeout = 31536000").map_err(|e| error(&e))?;
    let name = lock_name(database);
    for _ in 0..MAX_ATTEMPTS {
        match connection
            .query_first::<Option<i64>, _>(format!("SELECT GET_LOCK({name}, 0) FROM DUAL"))
            .map_err(|e| error(&e))
        {
            Ok(Some(Some(1))) => return held(connection, database).map_err(|e| error(&e)),
            Ok(_) => {}
            Err(lost) if lost.kind() == ErrorKind::ConnectionLost => return Err(lost),
            // A product, or a cluster, without such locks.
            Err(refused) => return Ok(Hold::Cannot(refused.message().to_owned())),
        }
        let Some(place) = holder(&mut connection, &name).map_err(|e| error(&e))? else { continue };
        if locked(&OURS).contains(&place) {
            return Ok(Hold::Nothing);
        }
        return details(&mut connection, database, place.1).map(Hold::InUse).map_err(|e| error(&e));
    }
    Ok(Hold::InUse(Vec::new()))
}

/// Encodes the number of this process in further locks.
fn held(mut connection: Link, database: &str) -> Result<Hold, mysql::Error> {
    let process = std::process::id();
    let set = (0..PROCESS_NUMBER_BITS)
        .filter(|bit| process >> bit & 1 == 1)
        .map(|bit| format!("GET_LOCK({}, 0)", bit_name(database, bit)));
    connection.query_drop(format!("SELECT {} FROM DUAL", set.collect::<Vec<_>>().join(", ")))?;
    let name = lock_name(database);
    let Some(place) = holder(&mut connection, &name)? else { return Ok(Hold::InUse(Vec::new())) };
    locked(&OURS).push(place.clone());
    connection.rests();
    Ok(Hold::Held(Box::new(HoldingConnection { connection, name, place })))
}

/// Holder of a lock, with the server as it identifies itself. Behind a gate its connection is not the client's.
fn holder(connection: &mut Link, name: &str) -> Result<Option<ServerConnection>, mysql::Error> {
    let holder: Option<Option<u64>> = connection.query_first(format!("SELECT IS_USED_LOCK({name}) FROM DUAL"))?;
    let Some(holder) = holder.flatten() else { return Ok(None) };
    let server = connection.query_first::<String, _>("SELECT CONCAT(@@hostname, ':', @@port)")?;
    Ok(Some((server.unwrap_or_default(), holder)))
}

/// Named details of the holder: from its locks, and from the server's list of connections.
fn details(connection: &mut Link, database: &str, holder: u64) -> Result<Vec<(String, String)>, mysql::Error> {
    // Vitess takes functions of locks by themselves alone, in no expression.
    let looks: Vec<String> =
        (0..PROCESS_NUMBER_BITS).map(|bit| format!("IS_USED_LOCK({})", bit_name(database, bit))).collect();
    let holders: Option<mysql::Row> = connection.query_first(format!("SELECT {} FROM DUAL", looks.join(", ")))?;
    let is_set = |bit: &u32| holders.as_ref()?.get::<Option<u64>, _>(*bit as usize)?.filter(|it| *it == holder);
    let process =
        (0..PROCESS_NUMBER_BITS).filter(|bit| is_set(bit).is_some()).fold(0_u32, |process, bit| process | 1 << bit);
    let mut details = Vec::new();
    let mut detail = |name: &str, value: String| details.push((name.to_owned(), value));
    if process != 0 {
        detail("process", process.to_string());
    }
    if facts(connection).lists_clients {
        let mut row = |id: &str| {
            connection.query_first::<(String, String, String), _>(format!(
                "SELECT user, SUBSTRING_INDEX(host, ':', 1), DATE_FORMAT(NOW() - INTERVAL time SECOND, '%Y-%m-%d %H:%i:%s')
                   FROM information_schema.processlist WHERE id = {id}"
            ))
        };
        if let Some((user, host, since)) = row(&holder.to_string())? {
            let is_here = row("CONNECTION_ID()")?.is_some_and(|(_, own, _)| own == host);
            detail("client", if is_here { Hold::THIS_MACHINE.to_owned() } else { host });
            detail("user", user);
            detail("since", since);
        }
    }
    detail("connection of the server", holder.to_string());
    Ok(details)
}

/// Name of a database's lock, as an SQL literal.
fn lock_name(database: &str) -> String {
    named(database, "")
}

/// Name of the lock for a bit of the process's number.
fn bit_name(database: &str, bit: u32) -> String {
    named(database, &format!(":{bit}"))
}

fn named(database: &str, rest: &str) -> String {
    let database: String = database.chars().take(NAME_CHARS).collect();
    format!("'bourse:{}{rest}'", database.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_differ() {
        assert_eq!(lock_name("shop"), "'bourse:shop'");
        assert_eq!(bit_name("it's", 31), "'bourse:it''s:31'");
        assert!(bit_name(&"x".repeat(64), 31).len() <= 64 + 2);
    }
}
