//! Locks that hold a database for one command: the name of a connection that lasts as long as the command.

use crate::connection::{Item, RedisConnection, RedisConnector};
use bourse_engine::{DatabaseLock, EngineError, ErrorKind, Hold, Result, locked};
use std::sync::Mutex;

/// Names of the connections by which this process holds databases.
static OURS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Shortest `timeout` of a server that a run is tried on, in seconds: a holding connection is used every 10 s.
const LEAST_TIMEOUT_S: u64 = 20;

/// A connection that holds a database.
struct HoldingConnection {
    connection: RedisConnection,
    name: String,
}

impl Drop for HoldingConnection {
    fn drop(&mut self) {
        locked(&OURS).retain(|name| *name != self.name);
    }
}

impl DatabaseLock for HoldingConnection {
    fn still_held(&mut self) -> Result<()> {
        self.connection.command(&[b"PING"]);
        self.connection.run()
    }
}

/// Takes the lock of a connector's database: the connection whose name begins with that of the database, and then has the holder's.
///
/// # Errors
/// The server's.
pub(crate) fn hold(connector: &RedisConnector, holder: &str) -> Result<Hold> {
    let mut connection = connector.connect()?;
    connection.command(&[b"CONFIG", b"GET", b"timeout"]);
    let mut seconds = 0;
    // Not every account may read it.
    let _ = connection.exchange(&mut |_, item| {
        if let Item::Bytes(text) = item {
            seconds = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        }
        Ok(())
    });
    if (1..LEAST_TIMEOUT_S).contains(&seconds) {
        return Err(EngineError::unsupported(format!(
            "the server closes connections that are idle for {seconds} s, as some of a run are: CONFIG SET timeout 0, or at least \
             {LEAST_TIMEOUT_S}"
        )));
    }
    let database = format!("bourse:{}:", connector.database);
    let name: String = holder.chars().map(|it| if it.is_ascii_graphic() { it } else { '_' }).collect();
    let name = format!("{database}{name}");
    // In one step, so that of two that begin at the same time the second finds the first.
    connection.command(&[b"MULTI"]);
    connection.command(&[b"CLIENT", b"LIST"]);
    connection.command(&[b"CLIENT", b"SETNAME", name.as_bytes()]);
    connection.command(&[b"EXEC"]);
    let mut clients = String::new();
    let done = connection.exchange(&mut |_, item| {
        if let Item::Bytes(text) = item {
            clients = String::from_utf8_lossy(text).into_owned();
        }
        Ok(())
    });
    match done {
        Ok(()) => {}
        Err(lost) if lost.kind() == ErrorKind::ConnectionLost => return Err(lost),
        // An account without the right, or a product without such names.
        Err(refused) => return Ok(Hold::Cannot(refused.message().to_owned())),
    }
    let field = |client: &str, field: &str| client.split(' ').find_map(|it| it.strip_prefix(field)).map(str::to_owned);
    let other = clients.lines().find_map(|client| {
        let name = field(client, "name=")?;
        // As `bourse:3:process_7_since_2026-11-30_14:49:_micro_run_on_there`; others are a person's.
        let text = name.strip_prefix(&database)?.replace('_', " ");
        let (process, rest) = text.split_once(" since ").filter(|(process, _)| process.starts_with("process "))?;
        let (since, command) = rest.split_once(": ")?;
        let by = format!("{process}: {command}");
        let details = [("held by", by), ("since", since.to_owned()), ("client", field(client, "addr=")?)];
        Some((name, details.map(|(name, value)| (name.to_owned(), value))))
    });
    match other {
        None => {
            locked(&OURS).push(name.clone());
            Ok(Hold::Held(Box::new(HoldingConnection { connection, name })))
        }
        Some((other, _)) if locked(&OURS).contains(&other) => Ok(Hold::Nothing),
        Some((_, details)) => Ok(Hold::InUse(details.into())),
    }
}
