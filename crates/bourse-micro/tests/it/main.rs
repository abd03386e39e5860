//! The classic workloads on each kind of engine: what they leave behind, count and refuse.
#![allow(clippy::unwrap_used, reason = "tests")]

mod engines;
mod faults;
mod misread;
mod open_loop;
mod refusals;
mod sql;
mod support;
mod timing;
mod workloads;
