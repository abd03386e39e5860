//! The classic workloads on SQLite in memory and on the null engine: what they leave behind, count and refuse.

mod refusals;
mod workloads;
