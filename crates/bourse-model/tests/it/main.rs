//! Tests of the model: against SQLite, and of how a difference is told.

mod against_sqlite;
mod odd;
mod planted;
mod wrong_cent;
