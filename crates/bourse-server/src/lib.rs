//! Code shared by the engines that are database servers: [`Servers`] for those of a target, [`client`] for sessions with any
//! server, [`private`] for servers that an engine starts for itself.

pub mod client;
pub mod private;
mod servers;

pub use servers::{Servers, check_each};
