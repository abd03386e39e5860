//! Messages between driver and server, and their encoding. Pure: no socket, no clock.
//!
//! A conversation, each line one frame:
//!
//! ```text
//! server  Greeting           magic, protocol, version, a number used once, whether a token is wanted
//! driver  Hello              proof of the token, and what the connection is for: a driver, or one of its users
//! server  Admission          welcome with what is served, or a refusal
//! for a driver       Control → News…, until it leaves; outside a round, Alive at times, without an answer
//! for a user         Request → Reply, one at a time; none where the drivers' statements go straight to the engine
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`codec`] | frames: four bytes of length, then the message in postcard's form; bounds |
//! | [`greeting`] | the beginning of a connection |
//! | [`control`] | matters of the whole round |
//! | [`reply`] | the result of a transaction |
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

pub mod codec;
pub mod control;
pub mod greeting;
pub mod reply;

pub use codec::{CodecError, Times};
pub use control::{Control, ControlReply, Payload};
pub use greeting::{Admission, Greeting, Hello, Purpose, TokenFault, Welcome};
pub use reply::{Reply, ReplyOf};

/// Version of the protocol; raised whenever a message changes.
pub const PROTOCOL: u16 = 9;
/// First bytes of every greeting.
pub const MAGIC: [u8; 8] = *b"BOURSE\r\n";
