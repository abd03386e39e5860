//! Tests of TPC-E on SQLite.
#![allow(clippy::unwrap_used, reason = "tests")]

mod aged;
mod checks;
mod cleanup;
mod conflicts;
mod contention;
mod feeds;
mod history;
mod loaded;
mod lookups;
mod maintenance;
mod model;
mod orders;
mod plans;
mod reads;
mod results;
mod runs;
mod streams;
mod updates;
mod world;
