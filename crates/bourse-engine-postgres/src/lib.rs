//! PostgreSQL behind the seam: a person's server, or a private one that is started and removed here.
//!
//! | target | what it is |
//! |---|---|
//! | `postgres://user@host:5432/db?lock_timeout=5s` | a server that runs already |
//! | `postgres://user@/db?socket=/run/postgresql` | the same, by its Unix socket |
//! | `postgres+private:?ram=on` | a server of our own, its data in memory |
//! | `postgres+private:/big/disk?synchronous_commit=off` | the same, its data below `/big/disk` |
//! | `postgres://user@host,host:5433/db` | a database of several servers: sessions over all of them |
//!
//! [`open`] reads a target; [`GRAMMAR`] has the table of all options. Passwords come from `PGPASSWORD` or a password file,
//! never from the target.
//!
//! # Getting a server
//! Debian and Ubuntu: `apt-get install --no-install-recommends postgresql` (whose cluster need not run). Fedora:
//! `dnf install postgresql-server`. macOS: `brew install postgresql`. Anything else that has `postgres` and `initdb` will do:
//! on `PATH`, in the usual folders, or named by `server=PATH`. The tests that need a server say that they were skipped where
//! there is none.
//!
//! # A private server
//! listens on a socket in its own folder and nowhere else, runs as user `postgres` where we are root, and is ended and
//! removed with its folder when the engine is dropped. If we are killed it stays; the next private server below the same
//! folder ends and removes it first ([`sweep_target`]).
//!
//! # Client
//! One blocking connection for each session. A statement is prepared at first use, with the types that the server infers for
//! its parameters. Values go both ways in the server's binary form. A statement takes one message out and one answer, each
//! one system call as a rule; nothing is allocated for it.
//!
//! # Loading
//! in one transaction, in a schema of its own that nobody else sees. At its end the tables take the places of those in
//! `public`. A load that is killed leaves nothing, since the server undoes it. Every table that is loaded so has the comment
//! `made by bourse`. A database that holds anything without it is never replaced (`ownership`).
//!
//! Files: `options` and `target` (what was asked for), `wire`, `message` and `scram` (the protocol), `value` (binary forms), `session` and `loader` (the
//! seam), `ownership` (what may be replaced), `products` (what others that speak the protocol lack), `copy` (snapshots), `server` (private ones), `ahead` (statements that wait to be sent), `connect`, `describe` (what was run
//! on), `status` (what the server counts and uses), `routines` (functions in PL/pgSQL), `kind` (what a program is told of
//! it), `error` (codes).

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
mod scram;
mod server;
mod session;
mod status;
mod target;
mod value;
mod wire;

pub use engine::{PostgresEngine, open};
pub use kind::KINDS;
pub use options::{GRAMMAR, Options, PlanCache, SynchronousCommit, WalSyncMethod};
pub use server::{Installed, Launch, installed, sweep_target};
pub use target::{Place, Target};
