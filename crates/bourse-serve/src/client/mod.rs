//! A server as the driver's system under test.
//!
//! | file | what |
//! |---|---|
//! | `line` | a connection that was admitted |
//! | `remote` | the server: its engine's description and sizes, rounds |
//! | `connector` | one user's transactions |

mod connector;
mod line;
mod remote;

pub use crate::protocol::control::Wait;
pub use remote::{Remote, RoundEnd, Waiting};
