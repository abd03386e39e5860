//! Code shared by the engines that are database servers: [`client`] for sessions with any server, [`private`] for servers that
//! an engine starts for itself.

pub mod client;
pub mod private;
