//! Flat files, CSV and batches: from one thread or many, whole or interrupted.

mod batches;
mod flat;
