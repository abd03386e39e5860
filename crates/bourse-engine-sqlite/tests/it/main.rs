//! SQLite through the engine interface.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod contention;
mod counting;
mod files;
#[cfg(unix)]
mod lossy;
mod power;
mod private;
mod syscalls;
mod targets;
