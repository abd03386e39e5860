//! Flat files, CSV and batches, Parquet: from one thread or many, whole or interrupted.

mod batches;
mod flat;
mod parquet;
