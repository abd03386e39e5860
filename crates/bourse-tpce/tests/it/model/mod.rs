//! Tests of the model: comparison with SQLite, and reports of differences.

mod against_sqlite;
mod odd;
mod planted;
mod wrong_cent;
