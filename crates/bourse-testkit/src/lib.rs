//! Test code shared by several crates: the engines' conformance tests, and engines that misbehave on purpose.
//!
//! - [`conformance()`] runs everything the seam promises against one engine; each engine's tests call it.
//! - [`records_conformance()`] does the same for records by key.
//! - [`files_conformance()`] checks that an engine with files leaves alone what it did not create; [`folders_conformance()`] does so
//!   for one whose databases are folders.
//! - [`example_engine`] is the small key engine of `docs/adding-an-engine.md`; the program has it for a test alone.
//! - [`Misbehaving`] wraps any engine and corrupts some of its statements.
//! - [`MisreadingEngine`] wraps any engine with records and returns some rows wrong.
//! - [`rounds_begin_alike()`] checks that an engine's snapshots restore the database as it was.
//! - [`folders`] checks key engines whose database is a folder.
//! - [`tells_what_a_writer_waits_on`] checks which waits of a thread an engine reports.
//! - [`interrupts_statements()`] checks that an engine ends statements from another thread.
//! - [`server`] checks engines with private servers.
//! - [`proxy`] makes faults in front of a real server; [`nothing_acknowledged_is_lost`] is the guarantee that must hold behind it.
//! - [`certificates`] makes certificates for servers that encrypt.
//! - [`every_option_is_read_as_it_is_shown`] checks a grammar of targets against itself.
//! - [`skipped`] reports a test that was skipped.
//! - [`ServerDump`] shows whether anything was changed on a MariaDB or MySQL server.
#![expect(clippy::unwrap_used, reason = "a crate for tests: what an engine may not do ends the test with its error")]

#[cfg(unix)]
pub mod certificates;
pub mod conformance;
pub mod example_engine;
mod files;
pub mod folders;
mod interruption;
mod misbehave;
mod misread;
#[cfg(unix)]
pub mod proxy;
mod proxy_checks;
mod records;
mod rounds;
pub mod server;
mod server_dump;
mod skipped;
mod targets;
mod waits;

pub use conformance::{conformance, routines_conformance};
pub use files::{OpenAt, files_conformance, folders_conformance, refuses_what_is_not_its_own};
pub use interruption::interrupts_statements;
pub use misbehave::{HitStatements, Misbehaving};
pub use misread::{MisreadingEngine, ReadDefect};
pub use proxy_checks::{
    Outcomes, each_has_acted, each_transaction_is_there_once, few_faults, many_faults, nothing_acknowledged_is_lost,
    sessions_go_on,
};
pub use records::{RECORD_CHECKS, RecordCheck, records_conformance};
pub use rounds::{
    is_opened_once, number, numbers, rounds_begin_alike, run, two_sessions, what_is_in_use_is_not_replaced,
    with_one_number, with_one_number_in_a_log,
};
pub use server_dump::ServerDump;
pub use skipped::skipped;
pub use targets::every_option_is_read_as_it_is_shown;
pub use waits::{tells_what_a_writer_waits_on, waits_of_a_writer};
