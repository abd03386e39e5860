//! Tests of the data files, and of documents from made-up rounds.
#![allow(missing_docs, reason = "tests")]

mod data;
mod published;
mod rerun;
