//! SQLite through the engine interface.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod contention;
mod counting;
mod extensions;
mod files;
mod private;
mod targets;
