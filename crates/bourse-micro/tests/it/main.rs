//! The classic workloads on each kind of engine: what they leave behind, count and refuse.

mod engines;
mod faults;
mod refusals;
mod sql;
mod support;
mod workloads;
