//! Redis and Valkey behind the seam: records by key at a server in memory, over a Unix socket or TCP.
//!
//! A target such as `redis+private:?appendfsync=always` is read by [`open`]; [`GRAMMAR`] has the table of all settings. A record is a
//! string, and each table has a sorted set of its keys, which puts them in order and counts them. A transaction reads with `WATCH`, keeps its
//! changes, and sends them between `MULTI` and `EXEC`, which the server refuses if anything that was read has changed.
//!
//! Files: `options` (settings of a target), `connection` (the protocol), `session` (records and transactions), `engine` and `server` (the
//! seam, private servers), `hold` (one command at a time), `describe` (what a server reports), `kind` (the engine's registration).

mod connection;
mod describe;
mod engine;
mod hold;
mod kind;
mod options;
mod server;
mod session;

pub use engine::{Redis, RedisEngine, open};
pub use kind::KINDS;
pub use options::{AppendFsync, GRAMMAR, RedisOptions};
pub use server::{InstalledServer, Product, installed};
