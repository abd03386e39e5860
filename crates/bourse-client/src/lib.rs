//! What clients of servers share, whose ever the server is.
//!
//! - [`Nodes`]: several addresses of one database, and [`NodeSession`], a session that goes on at another address where its own
//!   is lost.
//! - [`passwords`]: the files that passwords are kept in, as libpq and MySQL's clients read them.
//! - [`Product`]: one that speaks another one's protocol, and how it differs.
//! - [`tls`]: encrypted connections by libpq's options, in builds with the feature `tls`.
//! - [`Limits`]: how many sessions a server takes, asked before the first is made.

mod limits;
mod nodes;
pub mod passwords;
mod product;
mod session;
pub mod tls;

pub use limits::{Announced, Limits};
pub use nodes::{ConflictKinds, Nodes, Reach, given};
pub use product::Product;
pub use session::NodeSession;
