//! The C library alone: SQLite's functions with the prefix `bourse_lean_`, for a program that holds another copy of SQLite too.
//!
//! `bourse-engine-sqlite-lean` declares the functions it calls; see `ffi.rs` there. `build.rs` says how the library is compiled.
