//! Code shared by the clients of database servers.
//!
//! - [`Nodes`]: several addresses of one database; [`NodeSession`]: a session that continues at another address if its own is lost.
//! - [`passwords`]: files of passwords, in the formats of libpq and MySQL's clients.
//! - [`Product`]: a database that implements the protocol of another, and its differences.
//! - [`tls`]: encrypted connections by libpq's options, in builds with the feature `tls`.
//! - [`ServerStream`] and [`fill`]: the stream of a protocol that Bourse speaks itself.
//! - [`ConnectionLimits`]: the number of sessions that a server accepts, read before the first is opened.

mod address;
mod limits;
mod nodes;
pub mod passwords;
mod product;
mod session;
mod stream;
pub mod tls;

pub use address::ServerAddress;
pub use limits::{AnnouncedSessions, ConnectionLimits};
pub use nodes::{ConflictKinds, NodeConnector, Nodes, given};
pub use product::Product;
pub use session::NodeSession;
pub use stream::{READ_BYTES, ServerStream, fill};
