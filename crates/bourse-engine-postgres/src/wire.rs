//! Blocking connections: messages are sent, and answers read in place.

use crate::error::{broken, lost, server_error};
use crate::message;
use crate::value::ResultColumn;
use bourse_engine::server_wait::AwaitedConnection;
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::client::passwords::Secret;
use bourse_server::client::{READ_BYTES, ServerStream, fill};
use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io::{self, Write as _};
use std::ops::Range;

/// Maximal length of a server's message in bytes: a value has a gigabyte at most.
const LONGEST_MESSAGE: usize = (1 << 30) + (1 << 20);

/// State of the session's transaction, from the server's latest message: none, open or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionState {
    Idle,
    Open,
    Failed,
}

/// A message of the server: its kind, and the range of its body in the bytes read.
pub(crate) struct WireMessage {
    pub(crate) kind: u8,
    pub(crate) body: Range<usize>,
}

/// Offset and length of a field of a row; a negative length is NULL.
pub(crate) type FieldRange = (usize, i32);

/// A connection to a server.
pub struct WireConnection {
    stream: ServerStream,
    awaited: AwaitedConnection,
    /// Whether it waits for answers even during an interruption.
    is_patient: bool,
    /// Bytes to be sent next.
    pub(crate) out: BytesMut,
    input: Vec<u8>,
    /// Range of the bytes read and not yet used.
    unread: Range<usize>,
    pub(crate) state: TransactionState,
    /// Whether the connection is unusable.
    is_broken: bool,
    /// Fields of the current row.
    fields: Vec<FieldRange>,
    /// Number of round trips.
    pub(crate) round_trips: u64,
}

impl WireConnection {
    /// Logs in over an open stream; `cancel` has the server cancel what the session with a key executes.
    pub(crate) fn start(
        stream: ServerStream,
        awaited: AwaitedConnection,
        cancel: impl Fn([u8; 8]) + Send + Sync + 'static,
        user: &str,
        secret: &Secret,
        database: &str,
    ) -> Result<Self> {
        let mut this = Self::over(stream, awaited);
        let named =
            [("user", user), ("database", database), ("client_encoding", "UTF8"), ("application_name", "bourse")];
        message::startup(&mut this.out, named);
        this.send()?;
        this.authenticate(user, secret)?;
        let mut key = None;
        this.finish(&mut |this, message| {
            if message.kind == b'K' {
                key = this.body(message).first_chunk().copied();
            }
            Ok(())
        })?;
        if let Some(key) = key {
            this.awaited.cancels_by(move || cancel(key));
        }
        Ok(this)
    }

    fn over(stream: ServerStream, awaited: AwaitedConnection) -> Self {
        Self {
            stream,
            awaited,
            is_patient: false,
            out: BytesMut::with_capacity(4 << 10),
            input: vec![0; READ_BYTES],
            unread: 0..0,
            state: TransactionState::Idle,
            is_broken: false,
            fields: Vec::new(),
            round_trips: 0,
        }
    }

    fn authenticate(&mut self, user: &str, secret: &Secret) -> Result<()> {
        let wanted = || {
            secret.password.as_deref().ok_or_else(|| {
                let unused = secret.unused.iter().map(|why| format!(" ({why})")).collect::<String>();
                let message = format!(
                    "the server asks for a password: the variable PGPASSWORD, a file that `password_file` names, or a line of \
                     ~/.pgpass gives one{unused}"
                );
                EngineError::new(ErrorKind::Other, message)
            })
        };
        let mut scram: Option<ScramSha256> = None;
        loop {
            let message = self.read()?;
            let body = &self.input[message.body.clone()];
            if message.kind == b'E' {
                return Err(server_error(body));
            }
            let Some((code, rest)) = body.split_first_chunk::<4>().filter(|_| message.kind == b'R') else {
                return Err(self.protocol_error());
            };
            match i32::from_be_bytes(*code) {
                0 => return Ok(()),
                3 => message::password(&mut self.out, wanted()?),
                5 => {
                    let salt = *rest.first_chunk().ok_or_else(|| broken("a salt that is cut off"))?;
                    message::password(&mut self.out, &md5_hash(user.as_bytes(), wanted()?.as_bytes(), salt));
                }
                10 if rest.split(|byte| *byte == 0).any(|offered| offered == SCRAM_SHA_256.as_bytes()) => {
                    let begun = ScramSha256::new(wanted()?.as_bytes(), ChannelBinding::unsupported());
                    let begun = scram.insert(begun).message();
                    frontend::sasl_initial_response(SCRAM_SHA_256, begun, &mut self.out).map_err(|e| wrong_word(&e))?;
                }
                11 => {
                    let scram = scram.as_mut().ok_or_else(|| broken("an answer to nothing"))?;
                    scram.update(check_hashing_rounds(rest)?).map_err(|e| wrong_word(&e))?;
                    frontend::sasl_response(scram.message(), &mut self.out).map_err(|e| wrong_word(&e))?;
                }
                12 => {
                    let scram = scram.as_mut().ok_or_else(|| broken("an answer to nothing"))?;
                    scram.finish(rest).map_err(|e| wrong_word(&e))?;
                }
                _ => return Err(unknown_authentication()),
            }
            self.send()?;
        }
    }

    /// Sends the output.
    pub(crate) fn send(&mut self) -> Result<()> {
        if self.is_broken {
            self.out.clear();
            return Err(lost());
        }
        if self.out.is_empty() {
            return Ok(());
        }
        self.round_trips += 1;
        if self.is_patient {
            self.awaited.waits_through_interruption()
        } else {
            self.awaited.waits()
        }
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        sent.map_err(|e| self.failed(&e))
    }

    #[cold]
    fn failed(&mut self, e: &io::Error) -> EngineError {
        // A server that ends says why before it goes; what it said may be there to read.
        let was_broken = std::mem::replace(&mut self.is_broken, true);
        if !was_broken && e.kind() == io::ErrorKind::BrokenPipe {
            self.is_broken = false;
            let last = self.read().ok().filter(|message| message.kind == b'E');
            self.is_broken = true;
            if let Some(message) = last {
                return server_error(self.body(&message));
            }
        }
        crate::error::io(e)
    }

    #[cold]
    fn protocol_error(&mut self) -> EngineError {
        self.is_broken = true;
        broken("a message that nothing asked for")
    }

    /// Reads the next message of the protocol's dialogue, skipping notices.
    #[inline]
    pub(crate) fn read(&mut self) -> Result<WireMessage> {
        loop {
            let message = self.read_any()?;
            // Notices, settings and notifications come at any time.
            if !matches!(message.kind, b'N' | b'S' | b'A') {
                return Ok(message);
            }
        }
    }

    #[inline]
    fn read_any(&mut self) -> Result<WireMessage> {
        const HEAD: usize = 5;
        self.have(HEAD)?;
        let at = self.unread.start;
        let head = &self.input[at..at + HEAD];
        let (kind, length) = (head[0], u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize);
        if !(4..=LONGEST_MESSAGE).contains(&length) {
            return Err(self.protocol_error());
        }
        self.have(1 + length)?;
        let at = self.unread.start;
        self.unread.start = at + 1 + length;
        Ok(WireMessage { kind, body: at + HEAD..at + 1 + length })
    }

    /// Reads until `bytes` unread bytes are available.
    #[inline]
    fn have(&mut self, bytes: usize) -> Result<()> {
        if self.unread.len() >= bytes { Ok(()) } else { self.fill(bytes) }
    }

    fn fill(&mut self, bytes: usize) -> Result<()> {
        if self.is_broken {
            return Err(lost());
        }
        fill(&mut self.stream, &mut self.input, &mut self.unread, bytes).map_err(|e| self.failed(&e))
    }

    /// Makes the connection wait for answers even during an interruption, so that a cleanup is not left incomplete.
    pub(crate) fn patient(mut self) -> Self {
        self.is_patient = true;
        self
    }

    /// Protocol and cipher, if the connection is encrypted.
    pub(crate) fn tls(&self) -> Option<String> {
        self.stream.tls()
    }

    pub(crate) fn body(&self, message: &WireMessage) -> &[u8] {
        &self.input[message.body.clone()]
    }

    /// The bytes of a row, and its fields.
    #[inline]
    pub(crate) fn row(&mut self, message: &WireMessage) -> Result<(&[u8], &[FieldRange])> {
        let body = &self.input[message.body.clone()];
        self.fields.clear();
        let (Some(count), mut at) = (body.first_chunk::<2>(), 2) else { return Err(broken("a row that is cut off")) };
        for _ in 0..u16::from_be_bytes(*count) {
            let Some(head) = body.get(at..).and_then(<[u8]>::first_chunk::<4>) else {
                return Err(broken("a row that is cut off"));
            };
            let length = i32::from_be_bytes(*head);
            at += 4;
            self.fields.push((at, length));
            at += usize::try_from(length).unwrap_or(0);
        }
        if at > body.len() {
            return Err(broken("a row that is cut off"));
        }
        Ok((body, &self.fields))
    }

    /// Reads answers until the server is ready; passes each to `each`, and returns the first error.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(&mut Self, &WireMessage) -> Result<()>) -> Result<()> {
        let mut outcome = Ok(());
        loop {
            let message = match self.read() {
                Ok(message) => message,
                // A server that refuses a connection says why, and ends it.
                Err(ended) => return outcome.and(Err(ended)),
            };
            match message.kind {
                b'Z' => {
                    self.awaited.rests();
                    self.state = match self.body(&message) {
                        b"I" => TransactionState::Idle,
                        b"T" => TransactionState::Open,
                        _ => TransactionState::Failed,
                    };
                    return outcome;
                }
                b'E' => {
                    let told = server_error(self.body(&message));
                    // A connection that the server ends is never ready again.
                    if told.kind() == ErrorKind::ConnectionLost {
                        self.is_broken = true;
                        return Err(told);
                    }
                    if outcome.is_ok() {
                        outcome = Err(told);
                    }
                }
                _ if outcome.is_ok() => outcome = each(self, &message),
                _ => {}
            }
        }
    }

    /// Runs statements without parameters, as text and without results.
    pub(crate) fn run(&mut self, sql: &str) -> Result<()> {
        self.out.clear();
        message::query(&mut self.out, sql);
        let done = self.send().and_then(|()| self.finish(&mut |_, _| Ok(())));
        done.map_err(|e| e.with_statement(sql))
    }

    /// Ends the transaction by `COMMIT` or `ROLLBACK`; returns whether the server did the same.
    pub(crate) fn end(&mut self, word: &str) -> Result<bool> {
        let mut is_done = false;
        self.out.clear();
        message::query(&mut self.out, word);
        self.send()?;
        let done = self.finish(&mut |this, message| {
            is_done |= message.kind == b'C' && this.body(message).starts_with(word.as_bytes());
            Ok(())
        });
        done.map(|()| is_done).map_err(|e| e.with_statement(word))
    }

    /// Runs a query outside the timed part, and returns its rows as text.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut rows = Vec::new();
        self.out.clear();
        message::query(&mut self.out, sql);
        self.send()?;
        let done = self.finish(&mut |this, message| {
            if message.kind == b'D' {
                let (body, fields) = this.row(message)?;
                let text = |&(at, length): &FieldRange| {
                    let length = usize::try_from(length).ok()?;
                    Some(String::from_utf8_lossy(&body[at..at + length]).into_owned())
                };
                rows.push(fields.iter().map(text).collect());
            }
            Ok(())
        });
        done.map(|()| rows).map_err(|e| e.with_statement(sql))
    }

    /// The first column of a query's rows.
    pub(crate) fn names(&mut self, sql: &str) -> Result<Vec<String>> {
        Ok(self.ask(sql)?.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    }

    /// Parses the columns of a result from their description.
    pub(crate) fn columns(&self, message: &WireMessage) -> Result<Vec<ResultColumn>> {
        ResultColumn::read_all(self.body(message)).ok_or_else(|| broken("a description that is cut off"))
    }
}

impl Drop for WireConnection {
    fn drop(&mut self) {
        // Best effort: the server sees the end of the stream anyway.
        if !self.is_broken {
            self.out.clear();
            message::terminate(&mut self.out);
            let _ = self.send();
        }
    }
}

fn unknown_authentication() -> EngineError {
    EngineError::unsupported(
        "the server asks for a way to log in that is not known here: known are scram-sha-256, md5, password, \
         trust and peer",
    )
}

#[cold]
fn wrong_word(why: &io::Error) -> EngineError {
    broken(&format!("a wrong word while logging in by {SCRAM_SHA_256}: {why}"))
}

/// The server's first answer, unless it demands more rounds of hashing than an honest server would.
fn check_hashing_rounds(answer: &[u8]) -> Result<&[u8]> {
    const MOST_ROUNDS: u32 = 10_000_000;
    let rounds = answer.split(|byte| *byte == b',').find_map(|field| field.strip_prefix(b"i="));
    let rounds = rounds.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u32>().ok());
    let is_usual = rounds.is_some_and(|rounds| (1..=MOST_ROUNDS).contains(&rounds));
    if is_usual { Ok(answer) } else { Err(wrong_word(&io::Error::other("the number of rounds is out of range"))) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A connection whose server has sent this and closed it.
    fn having_sent(bytes: Vec<u8>) -> WireConnection {
        let (here, mut there) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
        std::thread::spawn(move || there.write_all(&bytes));
        WireConnection::over(ServerStream::Unix(here), AwaitedConnection::new("the server".to_owned(), || {}))
    }

    fn announced(length: usize, sent: usize) -> Vec<u8> {
        let length = u32::try_from(length).expect("it is short enough").to_be_bytes();
        [&b"D"[..], &length, &vec![7; sent]].concat()
    }

    #[test]
    fn a_login_with_endless_hashing_is_refused() {
        for (rounds, is_usual) in
            [("i=4096", true), ("i=4000000000", false), ("i=0", false), ("i=x", false), ("", false)]
        {
            assert_eq!(check_hashing_rounds(format!("r=abc,s=AAAA,{rounds}").as_bytes()).is_ok(), is_usual, "{rounds}");
        }
    }

    #[test]
    fn memory_follows_what_a_server_sends_and_not_what_it_announces() {
        let mut lying = having_sent(announced(1 << 30, 3 * READ_BYTES));
        assert!(lying.read().is_err());
        assert_eq!(lying.input.len(), 4 * READ_BYTES);
        let long = 20 * READ_BYTES;
        let mut honest = having_sent([announced(long + 4, long), announced(4, 0)].concat());
        let message = honest.read().expect("it is whole");
        assert_eq!(honest.body(&message), vec![7; long]);
        assert!(honest.read().is_ok_and(|message| message.body.is_empty()));
    }
}
