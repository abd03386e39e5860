//! Code shared by the engines that are database servers. The [`SystemFacts`] of a [`ServerSystem`] are what one of them alone
//! does, a [`ServerEngine`] is the rest of an engine; [`client`] is for sessions with any server, [`private`] for servers that an engine starts for itself.

pub mod client;
mod engine;
mod options;
pub mod private;
mod system;

pub use engine::{ServerEngine, check_each, location, restart, stop};
pub use options::{CommonServerOptions, RUNNING_ONLY, SERVER_OPTIONS};
pub use system::{DATABASE, KeySystem, ServerSystem, ServerTarget, SqlSystem, SystemFacts, available, cleanup};
