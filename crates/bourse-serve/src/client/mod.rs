//! A server as the driver's system under test.
//!
//! | file | what |
//! |---|---|
//! | `line` | a connection that was admitted |
//! | `alive` | a driver's connection between rounds |
//! | `remote` | the server: its engine's description and sizes, rounds |
//! | `connector` | one user's transactions |

mod alive;
mod connector;
mod line;
mod remote;

pub use crate::protocol::control::Wait;
pub use remote::{Remote, RoundEnd, Waiting};
