//! PostgreSQL as an engine: a running server, or a private one that Bourse starts and removes.
//!
//! | target | what it is |
//! |---|---|
//! | `postgres://user@host:5432/db?lock_timeout=5s` | a running server |
//! | `postgres://user@/db?socket=/run/postgresql` | the same, by its Unix socket |
//! | `postgres+private:?ram=on` | a private server, its data in memory |
//! | `postgres+private:/big/disk?synchronous_commit=off` | the same, its data below `/big/disk` |
//! | `postgres://user@host,host:5433/db` | a database of several servers: sessions over all of them |
//!
//! [`open`] parses a target; [`GRAMMAR`] has the table of all options. Passwords are read from `PGPASSWORD` or a
//! password file, never from the target.
//!
//! # Getting a server
//! Debian and Ubuntu: `apt-get install --no-install-recommends postgresql` (whose cluster need not run). Fedora:
//! `dnf install postgresql-server`. macOS: `brew install postgresql`. Any installation with `postgres` and `initdb` will do:
//! on `PATH`, in the usual folders, or named by `server=PATH`. Tests that need a server print that they were skipped if
//! none is installed.
//!
//! # A private server
//! A private server listens on a socket in its own folder alone, runs as user `postgres` if this process is root, and
//! is ended and removed with its folder when the engine is dropped. If this process is killed the server stays; the
//! next private server below the same folder ends and removes it first ([`PostgresTarget::sweep`](bourse_server::ServerTarget::sweep)).
//!
//! # Client
//! One blocking connection for each session. A statement is prepared at first use, with the types that the server
//! infers for its parameters. Values have the server's binary form in both directions. A statement takes one message
//! and one answer, each one system call as a rule, and no allocation.
//!
//! # Loading
//! A load is one transaction, in a schema of its own that no other session sees. At its end the tables replace those in
//! `public`. A killed load leaves nothing, since the server rolls it back. Every loaded table has the comment
//! `made by bourse as NAME`. A database that contains anything without it is never replaced (`ownership`).
//!
//! Files: `options` and `target` (settings), `wire` and `message` (the protocol), `value` (binary forms),
//! `session` and `loader` (the engine interface), `ownership` (databases that may be replaced), `products` (differences
//! of products with the protocol), `copy` (snapshots), `server` (private ones), `ahead` (statements that wait to be
//! sent), `connect`, `hold` (locks of a database), `describe` (description of the server), `status` (counters of the
//! server), `routines` (functions in PL/pgSQL), `kind` (registration), `error` (codes).

mod ahead;
mod connect;
mod copy;
mod describe;
mod dialect;
mod engine;
mod error;
mod hold;
mod kind;
mod loader;
mod message;
mod options;
mod ownership;
mod products;
mod routines;
mod server;
mod session;
mod status;
mod target;
mod value;
mod wire;

pub use bourse_server::private::Launch;
pub use engine::{Postgres, PostgresEngine, open};
pub use kind::KINDS;
pub use options::{GRAMMAR, PlanCache, PostgresOptions, SynchronousCommit, WalSyncMethod};
pub use server::{InstalledPostgres, installed};
pub use target::{PostgresTarget, ServerPlace};
