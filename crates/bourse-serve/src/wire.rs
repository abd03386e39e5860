//! Frames on a socket: complete or not at all, within a time, within a size.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::ServeError;
use crate::protocol::codec::{self, HEADER};
use crate::stream::Stream;
use bourse_engine::server_wait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks whether to stop.
pub(crate) const TICK: Duration = Duration::from_millis(250);
/// Time within which a message that has begun to arrive must be complete, however slowly its bytes come.
const WHOLE_WITHIN: Duration = Duration::from_secs(5);
/// Longest silence of a peer after an interruption: a live one gives a sign of life every second.
const AFTER_INTERRUPTION: Duration = Duration::from_secs(3);
/// Time within which a peer must have received a message, however slowly it reads.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);

/// End of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Arc<Stream>,
    /// Bytes that have arrived; those before `taken` belong to messages that were returned.
    arrived: Vec<u8>,
    taken: usize,
    outgoing: Vec<u8>,
    /// Error of a receipt, after which a reply can no longer be matched with its request.
    broken: Option<ServeError>,
}

impl Wire {
    pub(crate) fn new(stream: Arc<Stream>) -> io::Result<Self> {
        stream.prepare(TICK)?;
        Ok(Self { stream, arrived: Vec::new(), taken: 0, outgoing: Vec::new(), broken: None })
    }

    /// Receives the next message. Until one begins to arrive `wait` is called every [`TICK`] and may end the wait; once it has
    /// begun, it must be complete in five seconds.
    ///
    /// # Errors
    /// [`ServeError::Lost`] or [`ServeError::Codec`]; `wait`'s. Each later receipt fails with the same error at once.
    pub(crate) fn receive<M: DeserializeOwned>(
        &mut self,
        limit: usize,
        wait: &mut dyn FnMut() -> Result<(), ServeError>,
    ) -> Result<M, ServeError> {
        let frame = self.frame(limit, wait)?;
        Ok(codec::message(frame)?)
    }

    /// Receives the contents of the next frame.
    pub(crate) fn frame(
        &mut self,
        limit: usize,
        wait: &mut dyn FnMut() -> Result<(), ServeError>,
    ) -> Result<&[u8], ServeError> {
        if let Some(error) = &self.broken {
            return Err(error.again());
        }
        match self.arrive(limit, wait) {
            Ok(due) => Ok(self.arrived.get(HEADER..due).expect("so many bytes are there")),
            Err(error) => {
                self.broken = Some(error.again());
                Err(error)
            }
        }
    }

    /// Waits for the next frame, and returns its length with the header.
    fn arrive(&mut self, limit: usize, wait: &mut dyn FnMut() -> Result<(), ServeError>) -> Result<usize, ServeError> {
        self.arrived.drain(..self.taken);
        self.taken = 0;
        let mut begun = (!self.arrived.is_empty()).then(Instant::now);
        loop {
            let due = match self.arrived.first_chunk::<HEADER>() {
                Some(header) => HEADER.saturating_add(codec::length(*header, limit)?),
                None => HEADER,
            };
            if self.arrived.len() >= due {
                self.taken = due;
                return Ok(due);
            }
            if begun.is_some_and(|begun| begun.elapsed() > WHOLE_WITHIN) {
                let seconds = WHOLE_WITHIN.as_secs();
                let words = format!("a message was not whole {seconds} s after its first byte");
                return Err(io::Error::new(ErrorKind::TimedOut, words).into());
            }
            match self.read(due.max(4_096)) {
                Ok(0) => {
                    let words = if begun.is_some() { "closed within a message" } else { "closed by the other side" };
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, words).into());
                }
                Ok(_) => {
                    begun.get_or_insert_with(Instant::now);
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if begun.is_none() {
                        wait()?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads available bytes, up to `wanted` in all.
    fn read(&mut self, wanted: usize) -> io::Result<usize> {
        let have = self.arrived.len();
        // A message that is announced gets its room as it arrives, not before.
        let room = wanted.saturating_sub(have).clamp(1, 64 * 1_024);
        self.arrived.resize(have.saturating_add(room), 0);
        let read = self.stream.read(self.arrived.get_mut(have..).expect("room was just made behind what is there"));
        self.arrived.truncate(have.saturating_add(read.as_ref().copied().unwrap_or(0)));
        read
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`ServeError::Lost`] if the peer is gone or takes more than ten seconds; [`ServeError::Codec`] if the message is too
    /// large.
    pub(crate) fn send(&mut self, message: &impl Serialize, limit: usize) -> Result<(), ServeError> {
        let mut frame = std::mem::take(&mut self.outgoing);
        codec::frame(message, limit, &mut frame)?;
        let sent = self.send_frame(&frame);
        self.outgoing = frame;
        sent
    }

    /// Sends a complete frame.
    pub(crate) fn send_frame(&mut self, frame: &[u8]) -> Result<(), ServeError> {
        let begun = Instant::now();
        let mut left = frame;
        while !left.is_empty() {
            match self.stream.write(left) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            if !left.is_empty() && begun.elapsed() > TAKEN_WITHIN {
                let words = format!("the peer did not take a message in {} s", TAKEN_WITHIN.as_secs());
                return Err(io::Error::new(ErrorKind::TimedOut, words).into());
            }
        }
        Ok(())
    }

    /// Whether the peer has sent bytes or closed the connection; does not wait.
    pub(crate) fn has_input(&self) -> bool {
        self.stream.has_input()
    }
}

/// Callback for [`Wire::receive`] that waits at most `time` for a message to begin, and after an interruption of the program at
/// most [`AFTER_INTERRUPTION`].
pub(crate) fn at_most(time: Duration) -> impl FnMut() -> Result<(), ServeError> {
    let begun = Instant::now();
    let mut interrupted = None;
    move || {
        if server_wait::is_interrupted() && interrupted.get_or_insert_with(Instant::now).elapsed() >= AFTER_INTERRUPTION
        {
            return Err(server_wait::interrupted().into());
        }
        if begun.elapsed() < time {
            return Ok(());
        }
        Err(io::Error::new(ErrorKind::TimedOut, format!("nothing was heard for {} s", time.as_secs())).into())
    }
}
