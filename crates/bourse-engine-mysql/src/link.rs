//! Connections whose waits for answers an interruption ends.

use bourse_engine::server_wait::{AwaitedConnection, run_client_library};
use mysql::prelude::{AsStatement, Queryable};
use mysql::{Binary, Conn, Error, Params, QueryResult, Statement, Text};
use std::io;
use std::ops::{Deref, DerefMut};

/// A connection to a server. A mutable use counts as a wait for the server's answer; an owner that stores it marks it
/// as [idle](Self::rests).
pub(crate) struct Link {
    connection: Conn,
    /// Whether the server has sent something that the client could not parse: the connection is unusable.
    is_broken: bool,
    /// Registration of its waits; `None` if the system gives no second handle of the socket.
    awaited: Option<AwaitedConnection>,
}

impl Link {
    pub(crate) fn new(server: String, connection: Conn) -> Self {
        let awaited = end_of(&connection).map(|end| AwaitedConnection::new(server, end));
        Self { connection, is_broken: false, awaited }
    }

    /// Sets the function that has the server cancel the statement which this connection waits for.
    pub(crate) fn cancels_by(&self, cancel: impl Fn() + Send + Sync + 'static) {
        if let Some(awaited) = &self.awaited {
            awaited.cancels_by(cancel);
        }
    }

    /// Marks the connection as idle until it is used again.
    pub(crate) fn rests(&self) {
        if let Some(awaited) = &self.awaited {
            awaited.rests();
        }
    }
}

/// Function that closes a connection for its reader.
#[cfg(unix)]
fn end_of(connection: &Conn) -> Option<impl Fn() + Send + Sync + use<>> {
    use std::os::fd::{AsRawFd as _, BorrowedFd};
    #[expect(unsafe_code, reason = "the client gives its socket as a number alone")]
    // SAFETY: the connection has the socket open, and is borrowed for longer than the number is used.
    let socket = unsafe { BorrowedFd::borrow_raw(connection.as_raw_fd()) }.try_clone_to_owned().ok()?;
    // Of a Unix socket too: what is asked of the system is the same.
    let socket = std::net::TcpStream::from(socket);
    // One that has ended already needs no ending.
    Some(move || drop(socket.shutdown(std::net::Shutdown::Both)))
}

#[cfg(not(unix))]
fn end_of(_: &Conn) -> Option<fn()> {
    None
}

/// Result of `$ask`, parsed by `$self`'s client from the server's answer.
macro_rules! asked {
    ($self:ident, $connection:ident => $ask:expr) => {{
        if $self.is_broken {
            return Err(unreadable());
        }
        if let Some(awaited) = &$self.awaited {
            awaited.waits();
        }
        let $connection = &mut $self.connection;
        match run_client_library(move || $ask) {
            Some(answered) => answered,
            None => {
                $self.is_broken = true;
                Err(unreadable())
            }
        }
    }};
}

/// Error for an answer on which the client panics: a server announced more than can exist.
#[cold]
fn unreadable() -> Error {
    Error::IoError(io::Error::new(
        io::ErrorKind::InvalidData,
        "the server has sent what cannot be read, or announced too much",
    ))
}

impl Queryable for Link {
    #[inline]
    fn query_iter<Q: AsRef<str>>(&mut self, query: Q) -> mysql::Result<QueryResult<'_, '_, '_, Text>> {
        asked!(self, connection => connection.query_iter(query))
    }

    fn prep<Q: AsRef<str>>(&mut self, query: Q) -> mysql::Result<Statement> {
        asked!(self, connection => connection.prep(query))
    }

    fn close(&mut self, statement: Statement) -> mysql::Result<()> {
        asked!(self, connection => connection.close(statement))
    }

    #[inline]
    fn exec_iter<S: AsStatement, P: Into<Params>>(
        &mut self,
        statement: S,
        params: P,
    ) -> mysql::Result<QueryResult<'_, '_, '_, Binary>> {
        asked!(self, connection => connection.exec_iter(statement, params))
    }

    fn exec_batch<S: AsStatement, P: Into<Params>, I: IntoIterator<Item = P>>(
        &mut self,
        statement: S,
        params: I,
    ) -> mysql::Result<()> {
        asked!(self, connection => connection.exec_batch(statement, params))
    }
}

impl Deref for Link {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.connection
    }
}

impl DerefMut for Link {
    #[inline]
    fn deref_mut(&mut self) -> &mut Conn {
        if let Some(awaited) = &self.awaited {
            awaited.waits();
        }
        &mut self.connection
    }
}
