//! A server as the driver's system under test.
//!
//! | file | what |
//! |---|---|
//! | `line` | a connection that was admitted |
//! | `alive` | a driver's connection between rounds |
//! | `remote` | the server: its engine's description and sizes, rounds |
//! | `coordinated` | a driver whose statements go straight to the engine, and its clock against driver 1's |
//! | `connector` | one user's transactions |

mod alive;
mod connector;
mod coordinated;
mod line;
mod remote;

pub use crate::protocol::control::Wait;
pub use coordinated::{ClockOffset, CoordinatedDriver, CoordinatedSut};
pub use remote::{Remote, RemoteSut, RoundEnd, WaitProgress};
