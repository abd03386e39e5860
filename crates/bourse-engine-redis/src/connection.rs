//! Blocking connection: commands are collected and sent together, replies are read in place.
//!
//! The protocol is RESP2, as Redis documents it: a command is an array of byte strings; a reply is a line whose first byte is its type,
//! and for byte strings and arrays what the line announces.

use bourse_engine::server_wait::{AwaitedConnection, for_report, within_limit};
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::client::passwords::Secret;
use bourse_server::client::{READ_BYTES, ServerAddress, ServerStream, fill};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Maximal length of a value in bytes, above the server's own limit.
const LONGEST_VALUE: i64 = 1 << 30;

/// Longest line of a reply in bytes.
const LONGEST_LINE: usize = 64 << 10;

/// Everything that a connection needs.
#[derive(Clone)]
pub struct RedisConnector {
    pub(crate) address: ServerAddress,
    pub(crate) user: String,
    pub(crate) secret: Secret,
    pub(crate) database: u32,
    pub(crate) answer_timeout: Duration,
    /// Log of a private server.
    pub(crate) log: Option<PathBuf>,
}

impl RedisConnector {
    /// Opens a connection that uses the database.
    pub(crate) fn connect(&self) -> Result<RedisConnection> {
        let this = self.clone();
        within_limit(&format!("the server at {}", self.address), move || this.log_in()).map_err(for_report)
    }

    fn log_in(&self) -> Result<RedisConnection> {
        let (stream, awaited) = ServerStream::open(&self.address, self.answer_timeout)?;
        let mut connection = RedisConnection { log: self.log.clone(), ..RedisConnection::over(stream, awaited) };
        match (self.user.as_str(), self.secret.password.as_deref()) {
            ("default", None) => 0,
            // Servers before version 6 know one user.
            ("default", Some(password)) => connection.command(&[b"AUTH", password.as_bytes()]),
            // An account with `nopass` takes any password.
            (user, password) => {
                connection.command(&[b"AUTH", user.as_bytes(), password.unwrap_or_default().as_bytes()])
            }
        };
        let denied = |e: EngineError| match e.code() {
            Some("NOAUTH" | "WRONGPASS") if self.secret.password.is_none() => {
                e.with_advice("the variable REDISCLI_AUTH or a file that `password_file` names gives one")
            }
            _ => e,
        };
        connection.run().map_err(denied)?;
        match connection.select(self.database) {
            // Each server has database 0: where that can be selected, the number is what was refused.
            Err(e) if e.code() == Some("ERR") && connection.select(0).is_ok() => Err(e
                .with_kind(ErrorKind::Refused)
                .during(format_args!("the server has no database {}", self.database))),
            selected => selected.map(|()| connection).map_err(denied),
        }
    }
}

/// Part of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'r> {
    Int(i64),
    Bytes(&'r [u8]),
    Nil,
    Status,
    /// Array whose items follow.
    Array,
}

/// Part of a reply, in the bytes read.
enum ReadItem {
    Int(i64),
    Bytes(Range<usize>),
    Nil,
    Status,
    Array(usize),
    Error(Range<usize>),
}

/// Receiver of replies: the command's index among those sent together, and a part of its reply.
pub(crate) type EachItem<'f> = dyn FnMut(usize, Item<'_>) -> Result<()> + 'f;

/// Connection to a server.
pub struct RedisConnection {
    stream: ServerStream,
    awaited: AwaitedConnection,
    log: Option<PathBuf>,
    /// Commands to be sent next, and their number.
    out: Vec<u8>,
    commands: usize,
    input: Vec<u8>,
    /// Range of the bytes read and not yet used.
    unread: Range<usize>,
    /// Whether the connection is unusable.
    is_broken: bool,
}

impl RedisConnection {
    fn over(stream: ServerStream, awaited: AwaitedConnection) -> Self {
        let input = vec![0; READ_BYTES];
        Self { stream, awaited, log: None, out: Vec::new(), commands: 0, input, unread: 0..0, is_broken: false }
    }

    /// Sends the commands, and one that selects a database.
    fn select(&mut self, database: u32) -> Result<()> {
        self.command(&[b"SELECT", database.to_string().as_bytes()]);
        self.run()
    }

    /// Adds a command to those that are sent next, and returns its index among them.
    pub(crate) fn command(&mut self, parts: &[&[u8]]) -> usize {
        self.command_of(parts.iter().copied())
    }

    /// Adds a command of any length.
    pub(crate) fn command_of<'p>(&mut self, parts: impl ExactSizeIterator<Item = &'p [u8]>) -> usize {
        push_length(&mut self.out, b'*', parts.len());
        for part in parts {
            push_length(&mut self.out, b'$', part.len());
            self.out.extend_from_slice(part);
            self.out.extend_from_slice(b"\r\n");
        }
        self.commands += 1;
        self.commands - 1
    }

    /// Sends the commands and reads all replies, also those behind an error.
    ///
    /// # Errors
    /// The first error: of the server, of `each`, or of the connection.
    pub(crate) fn exchange(&mut self, each: &mut EachItem<'_>) -> Result<()> {
        let commands = std::mem::take(&mut self.commands);
        self.awaited.waits();
        let sent =
            if self.is_broken { Err(io::ErrorKind::NotConnected.into()) } else { self.stream.write_all(&self.out) };
        self.out.clear();
        let done = sent.map_err(|e| self.lost(&e)).and_then(|()| self.replies(commands, each));
        self.awaited.rests();
        done
    }

    /// Sends the commands, whose replies say nothing but that they were done.
    pub(crate) fn run(&mut self) -> Result<()> {
        self.exchange(&mut |_, _| Ok(()))
    }

    fn replies(&mut self, commands: usize, each: &mut EachItem<'_>) -> Result<()> {
        let mut done = Ok(());
        for command in 0..commands {
            let mut items = 1_usize;
            while items > 0 {
                items -= 1;
                let item = match self.item()? {
                    ReadItem::Error(text) => {
                        done = done.and(Err(server_error(&self.input[text])));
                        continue;
                    }
                    ReadItem::Array(length) => {
                        items += length;
                        Item::Array
                    }
                    ReadItem::Int(number) => Item::Int(number),
                    ReadItem::Bytes(bytes) => Item::Bytes(&self.input[bytes]),
                    ReadItem::Nil => Item::Nil,
                    ReadItem::Status => Item::Status,
                };
                if done.is_ok() {
                    done = each(command, item);
                }
            }
        }
        done
    }

    /// Reads a part of a reply.
    fn item(&mut self) -> Result<ReadItem> {
        let line = self.line()?;
        let text = &self.input[line.clone()];
        let kind = text.first().copied().unwrap_or_default();
        let number = text.get(1..).and_then(|text| std::str::from_utf8(text).ok()?.parse::<i64>().ok());
        match (kind, number) {
            (b'+', _) => Ok(ReadItem::Status),
            (b'-', _) => Ok(ReadItem::Error(line.start + 1..line.end)),
            (b':', Some(number)) => Ok(ReadItem::Int(number)),
            (b'$' | b'*', Some(-1)) => Ok(ReadItem::Nil),
            (b'*', Some(length @ 0..=0xFFFF_FFFF)) => Ok(ReadItem::Array(length as usize)),
            (b'$', Some(length @ 0..=LONGEST_VALUE)) => {
                let length = length as usize;
                self.have(length + 2)?;
                let from = self.unread.start;
                self.unread.start = from + length + 2;
                Ok(ReadItem::Bytes(from..from + length))
            }
            _ => Err(self.unreadable()),
        }
    }

    /// Reads a line, without its end.
    fn line(&mut self) -> Result<Range<usize>> {
        let mut seen = 0;
        loop {
            let unread = &self.input[self.unread.clone()];
            if let Some(at) = unread[seen..].windows(2).position(|two| two == b"\r\n") {
                let from = self.unread.start;
                self.unread.start = from + seen + at + 2;
                return Ok(from..from + seen + at);
            }
            seen = unread.len().saturating_sub(1);
            if seen > LONGEST_LINE {
                return Err(self.unreadable());
            }
            self.have(self.unread.len() + 1)?;
        }
    }

    /// Reads until `bytes` unread bytes are available.
    fn have(&mut self, bytes: usize) -> Result<()> {
        if self.unread.len() >= bytes {
            return Ok(());
        }
        fill(&mut self.stream, &mut self.input, &mut self.unread, bytes).map_err(|e| self.lost(&e))
    }

    #[cold]
    fn lost(&mut self, e: &io::Error) -> EngineError {
        self.is_broken = true;
        let why = match e.kind() {
            io::ErrorKind::UnexpectedEof => "the server has closed it".to_owned(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer came in time (answer_timeout)".to_owned(),
            _ => e.to_string(),
        };
        let log = self.log.as_ref().and_then(|log| std::fs::read(log).ok()).unwrap_or_default();
        let (kind, why) = match refused_write(&String::from_utf8_lossy(&log)) {
            Some(words) => (ErrorKind::Full, format!("{why}; its last words:\n  {words}")),
            None => (ErrorKind::ConnectionLost, why),
        };
        for_report(EngineError::new(kind, format!("the connection to the server is lost: {why}")))
    }

    #[cold]
    fn unreadable(&mut self) -> EngineError {
        self.is_broken = true;
        EngineError::new(ErrorKind::ConnectionLost, "the server has sent what cannot be read")
    }
}

/// Lines of a server's log from its first write on that a full disk did not take: with `appendfsync always` the server ends.
fn refused_write(log: &str) -> Option<String> {
    let is_refused = |line: &&str| line.contains("Short write") || line.contains("No space left on device");
    let lines: Vec<_> = log.lines().skip_while(|line| !is_refused(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n  "))
}

fn push_length(out: &mut Vec<u8>, kind: u8, length: usize) {
    out.push(kind);
    // A vector takes everything.
    let _ = write!(out, "{length}\r\n");
}

/// Error of the server; its first word is its code.
#[cold]
fn server_error(text: &[u8]) -> EngineError {
    let text = String::from_utf8_lossy(text);
    let (code, message) = text.split_once(' ').unwrap_or((&text, &text));
    let kind = match code {
        "NOAUTH" | "WRONGPASS" | "NOPERM" => ErrorKind::Denied,
        "OOM" => ErrorKind::Full,
        "MISCONF" if message.contains("No space left") => ErrorKind::Full,
        "ERR" if message.starts_with("unknown command") => ErrorKind::Unsupported,
        "CROSSSLOT" | "MOVED" => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    };
    EngineError::new(kind, message).with_code(code)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    /// Result of an exchange of `commands` commands with a server that answers `text` and ends.
    fn answered(commands: usize, text: &[u8]) -> (Result<()>, Vec<String>) {
        let (stream, mut server) = UnixStream::pair().expect("two sockets");
        let awaited = AwaitedConnection::new("the server".to_owned(), || {});
        let mut connection = RedisConnection::over(ServerStream::Unix(stream), awaited);
        connection.input.truncate(8);
        for _ in 0..commands {
            connection.command(&[b"GET", b"k"]);
        }
        server.write_all(text).expect("the other one is open");
        server.shutdown(Shutdown::Write).expect("it is open");
        let mut items = Vec::new();
        let done = connection.exchange(&mut |at, item| {
            items.push(format!("{at} {item:?}"));
            Ok(())
        });
        (done, items)
    }

    #[test]
    fn replies_are_read_as_the_protocol_has_them() {
        let (done, items) = answered(3, b"+OK\r\n*3\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n$20\r\naaaaaaaaaabbbbbbbbbb\r\n");
        done.unwrap();
        let bytes = |text: &[u8]| format!("Bytes({text:?})");
        let expected = [
            "0 Status".to_owned(),
            "1 Array".to_owned(),
            "1 Int(-7)".to_owned(),
            format!("1 {}", bytes(b"a\r\n")),
            "1 Nil".to_owned(),
            format!("2 {}", bytes(b"aaaaaaaaaabbbbbbbbbb")),
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn an_error_does_not_hide_the_replies_behind_it() {
        let (done, items) = answered(3, b"$1\r\na\r\n-OOM command not allowed\r\n:1\r\n");
        let refused = done.unwrap_err();
        assert_eq!(
            (refused.kind(), refused.code(), refused.message()),
            (ErrorKind::Full, Some("OOM"), "command not allowed")
        );
        assert_eq!(items, ["0 Bytes([97])"]);
    }

    /// Regression: a private server that a full disk had ended was a lost connection, without a word of the disk.
    #[test]
    fn a_write_that_a_full_disk_did_not_take_is_reported_in_the_servers_words() {
        let ended = "1:M # Short write while writing to the AOF file\n1:M # Can't recover. Exiting...\n";
        let (done, _) = answered(1, b"-MISCONF Errors writing to the AOF file: No space left on device\r\n");
        assert_eq!(done.unwrap_err().kind(), ErrorKind::Full);
        let words = refused_write(&format!("1:M # Server initialized\n{ended}"));
        assert_eq!(words.as_deref(), Some(ended.trim_end().replace('\n', "\n  ").as_str()));
        assert_eq!(refused_write("1:M # Server initialized\n"), None);
    }

    /// A database was known to be missing by a word of the server's.
    #[test]
    fn a_database_is_missing_where_database_0_is_there() {
        for (answers, kind, message) in [
            ("-ERR no such thing\r\n+OK\r\n", ErrorKind::Refused, "the server has no database 99: no such thing"),
            ("-ERR max number of clients reached, index\r\n", ErrorKind::Other, "max number of clients reached, index"),
            ("-ERR index\r\n-ERR index\r\n", ErrorKind::Other, "index"),
        ] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let port = listener.local_addr().expect("it is bound").port();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a client comes");
                for answer in answers.split_inclusive("\r\n") {
                    io::Read::read(&mut stream, &mut [0; 100]).expect("a command comes");
                    stream.write_all(answer.as_bytes()).expect("the client reads");
                }
            });
            let (address, user) = (ServerAddress::Tcp("127.0.0.1".to_owned(), port), "default".to_owned());
            let (secret, answer_timeout) = (Secret::default(), Duration::from_secs(20));
            let connector = RedisConnector { address, user, secret, database: 99, answer_timeout, log: None };
            let refused = connector.connect().map(drop).unwrap_err();
            assert_eq!((refused.kind(), refused.message()), (kind, message));
            server.join().expect("it has answered");
        }
    }

    #[test]
    fn what_is_no_reply_ends_the_connection() {
        for text in
            [&b"$5\r\nab"[..], b"$99999999999\r\n", b"?\r\n", b"\r\n", b":x\r\n", b"*-7\r\n", b"", &[b'a'; 70_000]]
        {
            let (done, _) = answered(1, text);
            assert_eq!(done.unwrap_err().kind(), ErrorKind::ConnectionLost, "{text:?}");
        }
    }
}
