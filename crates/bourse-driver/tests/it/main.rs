//! Tests of the driver's guarantees, with engines that stall, fail and vanish on purpose.
#![allow(clippy::unwrap_used, reason = "tests")]

mod latency;
mod reconcile;
mod rounds;
mod users;
