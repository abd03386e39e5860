//! Driver and server apart: the application server performs a workload's transactions on its database, drivers elsewhere request
//! them over the network.
//!
//! Each user has one connection, over TCP or a Unix socket, with one transaction outstanding, like a session in process; each
//! driver has one more for matters of the whole round. Users and emulators belong to the driver; the server owns the database,
//! the state that transactions share, the time that is written into rows, and the totals that runs are reconciled with. Any
//! workload that implements [`SharedWorkload`](bourse_oltp::sut::SharedWorkload) is served.
//!
//! | module | what |
//! |---|---|
//! | [`protocol`] | messages and their encoding: pure, without sockets |
//! | [`address`] | where a server listens, as a URL; who is at the other end |
//! | [`token`] | the access token and its proof |
//! | `wire` | frames on a connection, with deadlines |
//! | `stream` | a connection's bytes |
//! | [`server`] | the application server |
//! | [`client`] | a server as the driver's system under test |

pub mod address;
pub mod client;
mod error;
pub mod protocol;
pub mod server;
mod stream;
pub mod token;
mod wire;

pub use address::{Address, Listen, Peer};
pub use client::{CoordinatedDriver, Remote};
pub use error::ServeError;
pub use server::{Server, ServerOptions};
pub use token::Token;
