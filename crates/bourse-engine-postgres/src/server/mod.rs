//! Private servers: finding the program, and starting it.

mod find;
mod start;

pub use find::{InstalledPostgres, installed};
pub(crate) use start::{KIND, command, connector, fill};
