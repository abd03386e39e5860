//! SQLite as a C library whose functions have the prefix `bourse_lean_`, for a program that contains another copy of
//! SQLite too.
//!
//! `bourse-engine-sqlite-lean` declares the functions it calls; see `ffi.rs` there. `build.rs` compiles the library.
