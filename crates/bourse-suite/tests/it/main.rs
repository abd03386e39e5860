//! The data files, and what becomes of made-up rounds.
#![allow(missing_docs, reason = "tests")]

mod data;
mod published;
mod rerun;
