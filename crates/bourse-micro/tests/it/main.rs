//! Tests of the classic workloads on each kind of engine: database afterwards, counts, refusals.
#![allow(clippy::unwrap_used, reason = "tests")]

mod engines;
mod faults;
mod histories;
mod misread;
mod open_loop;
mod own_data;
mod properties;
mod refusals;
mod sql;
mod statements;
mod support;
mod timing;
mod workloads;
