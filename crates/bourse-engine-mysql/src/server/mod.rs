//! Private servers: finding the program, and starting it.

mod find;
mod product;
mod start;
mod system;

pub use find::{InstalledMysql, SERVER_VARIABLE, installed};
pub(crate) use start::{KIND, SOCKET, command, datadir_argument, fill, fill_command, server_command};
pub(crate) use start::{connector, shut_down, wait_until_it_answers};
