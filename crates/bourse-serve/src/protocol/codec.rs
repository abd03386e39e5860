//! Frames: four bytes of length, little-endian, then one message in postcard's format.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Length of a frame's header in bytes.
pub const HEADER: usize = 4;
/// Size limit in bytes of a message before a connection is admitted: greeting, hello.
pub const GREETING_BYTES: usize = 1_024;
/// Size limit in bytes of a message from a driver: the largest requests of TPC-E have some 2 KiB.
pub const REQUEST_BYTES: usize = 16 * 1_024;
/// Size limit in bytes of a message from a server: two rows of 100,000 bytes, or a hundred checks with their evidence.
pub const REPLY_BYTES: usize = 4 * 1_024 * 1_024;

/// Error of bytes that are not a message, or of a message that is too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// Frame of more bytes than allowed.
    #[error("a frame of {bytes} bytes was announced, the limit is {limit}")]
    TooLarge {
        /// Size announced, in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// Bytes that are not a message of the expected kind.
    #[error("{bytes} bytes that are not the expected message ({cause})")]
    Form {
        /// Number of bytes.
        bytes: usize,
        /// Error of the decoder.
        cause: String,
    },
    /// More bytes than the message has.
    #[error("{left} unexpected bytes after a message")]
    Trailing {
        /// Number of bytes left.
        left: usize,
    },
}

/// Duration of a transaction at the server, in nanoseconds. It precedes a reply's message, at a fixed offset, so that encoding
/// the message is still part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Time from the request's arrival to the reply's departure.
    pub server_ns: u64,
    /// Time in the transaction, without back-offs.
    pub engine_ns: u64,
}

impl Times {
    const BYTES: usize = 16;

    /// Writes the times into a frame that was made [for them](timed_frame).
    ///
    /// # Panics
    /// If the frame was not.
    pub fn stamp(self, frame: &mut [u8]) {
        let place = frame.get_mut(HEADER..).and_then(<[u8]>::first_chunk_mut::<{ Self::BYTES }>);
        let (server, engine) = place.expect("a frame made for times has room for them").split_at_mut(Self::BYTES / 2);
        server.copy_from_slice(&self.server_ns.to_le_bytes());
        engine.copy_from_slice(&self.engine_ns.to_le_bytes());
    }
}

/// Writes a message into `frame`, whose old contents are dropped.
///
/// # Errors
/// [`CodecError::TooLarge`] if the message has more than `limit` bytes.
pub fn frame(message: &impl Serialize, limit: usize, frame: &mut Vec<u8>) -> Result<(), CodecError> {
    build(message, 0, limit, frame)
}

/// Writes a message into `frame`, with room for its [`Times`] before it.
///
/// # Errors
/// [`CodecError::TooLarge`] if times and message have more than `limit` bytes.
pub fn timed_frame(message: &impl Serialize, limit: usize, frame: &mut Vec<u8>) -> Result<(), CodecError> {
    build(message, Times::BYTES, limit, frame)
}

fn build(message: &impl Serialize, before: usize, limit: usize, frame: &mut Vec<u8>) -> Result<(), CodecError> {
    let mut bytes = std::mem::take(frame);
    bytes.clear();
    bytes.resize(HEADER.saturating_add(before), 0);
    let mut bytes = postcard::to_extend(message, bytes).expect("our messages are plain data, and a vector takes all");
    let (header, content) = bytes.split_first_chunk_mut::<HEADER>().expect("it begins with room for a header");
    let length = content.len();
    if length > limit {
        return Err(CodecError::TooLarge { bytes: length, limit });
    }
    *header = u32::try_from(length).expect("limits are far below 4 GiB").to_le_bytes();
    *frame = bytes;
    Ok(())
}

/// Number of bytes that follow a header.
///
/// # Errors
/// [`CodecError::TooLarge`], so that no memory is allocated for such a size.
pub fn length(header: [u8; HEADER], limit: usize) -> Result<usize, CodecError> {
    let bytes = u32::from_le_bytes(header) as usize;
    if bytes > limit { Err(CodecError::TooLarge { bytes, limit }) } else { Ok(bytes) }
}

/// Decodes the message of a frame, without its header.
///
/// # Errors
/// [`CodecError`].
pub fn message<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, CodecError> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, left)) => Err(CodecError::Trailing { left: left.len() }),
        Err(cause) => Err(CodecError::Form { bytes: bytes.len(), cause: cause.to_string() }),
    }
}

/// Decodes the message of a frame with times, without its header.
///
/// # Errors
/// [`CodecError`].
pub fn timed_message<M: DeserializeOwned>(bytes: &[u8]) -> Result<(Times, M), CodecError> {
    let Some((times, bytes)) = bytes.split_first_chunk::<{ Times::BYTES }>() else {
        return Err(CodecError::Form { bytes: bytes.len(), cause: "too short for its times".to_owned() });
    };
    let (server, engine) = times.split_at(Times::BYTES / 2);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("half of them are eight bytes"));
    Ok((Times { server_ns: number(server), engine_ns: number(engine) }, message(bytes)?))
}
