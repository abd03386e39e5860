//! Private servers: finding the program, and starting it.

mod find;
mod start;

pub use find::{InstalledServer, installed};
pub(crate) use start::{KIND, command, connector, fill};
