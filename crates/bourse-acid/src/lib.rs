//! The specification's tests of atomicity, consistency, isolation and durability (Clause 7), on any SQL engine.
//!
//! ```text
//! I3  passed          dirty reads and writes: Trade-Result beside Trade-Result of the same account
//! the second waits: 20 of 20
//! ```
//!
//! The transactions are those of the benchmark, run over a session that can halt in the middle of them. Concurrent sessions
//! have threads of their own and receive one command after the other, so a case is the same every time. The engine's way of
//! resolving a conflict is evidence; the verdict rests on the values read and on the final state.
//!
//! The results are stored in documents of `bourse-record` ([`bourse_record::acid`], [`bourse_record::crash`],
//! [`bourse_record::faults`]), which `bourse-report` draws.
//!
//! | module | what |
//! |---|---|
//! | `tests` | the tests, by property |
//! | `test_bed`, `scenario`, `pausable_session`, `points` | sessions that halt, and what surrounds them |
//! | [`demand`] | what each durability class promises |
//! | [`acknowledged`] | the driver's own log of commits |
//! | `crash` | the load, the kill, the aftermath |
//! | [`durability_matrix`] | `bourse crash`: the real effect of each setting |
//! | [`states`] | power losses enumerated: every state that one may leave of a small database |
//! | [`known_work`] | transactions whose results are known, and the comparison of a database with them |
//! | [`sampled`] | states of the whole database, drawn from a recorded load |
//! | [`faults`] | `bourse faults`: what an engine does when reads, writes and syncs fail |

pub mod acknowledged;
mod crash;
pub mod demand;
pub mod durability_matrix;
pub mod faults;
pub mod known_work;
mod pausable_session;
mod points;
pub mod sampled;
mod scenario;
pub mod states;
mod test_bed;
mod tests;

pub use crash::load_and_report;
pub use test_bed::{AcidError, TestConfig};
pub use tests::{TESTS, TestSpec};

use bourse_egen::{Inputs, Part};
use bourse_engine::{Durability, Engine, MayLose};
use bourse_record::acid::AcidTest;
use bourse_schema::TradeId;
use demand::CrashKind;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use test_bed::TestBed;

/// Engine under test, with its database and the settings of the tests.
#[derive(Clone, Copy)]
pub struct AcidSubject<'s> {
    /// Engine, with a loaded database.
    pub engine: &'s dyn Engine,
    /// Part of the customers that the database was loaded with.
    pub part: Part,
    /// First trade number behind the initial ones.
    pub first_free: TradeId,
    /// Durability class that the target's settings give; it decides the demands after a crash.
    pub class: Durability,
    /// Data that a crash may take within that class.
    pub may_lose: Option<MayLose>,
    /// Reason for that class.
    pub class_reason: &'s str,
    /// Generator's input data, for the load that is interrupted.
    pub inputs: &'s Inputs,
    /// Place for crashes of an in-process engine; `None` if it cannot be crashed.
    pub site: Option<&'s dyn Site>,
    /// Settings of the tests.
    pub config: TestConfig,
    /// Set to end the tests early.
    pub interrupted: &'s AtomicBool,
}

/// A copy of the database that crashes may corrupt, and the processes that work on it.
pub trait Site {
    /// Reason that the loss of power cannot be simulated, and no load be recorded; `None` if both can.
    fn no_power(&self) -> Option<String>;

    /// Makes a fresh copy.
    ///
    /// # Errors
    /// If it cannot be made.
    fn renew(&self) -> Result<(), AcidError>;

    /// Opens the copy afresh, as the next user of the database would.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> Result<Box<dyn Engine>, AcidError>;

    /// Command of a process that calls [`load_and_report`] on the copy and prints each acknowledgement as a line to its stdout.
    /// For [`CrashKind::Power`] its disk is simulated.
    ///
    /// # Errors
    /// If no such process can be started.
    fn process(&self, crash: CrashKind, seed: u64) -> Result<Command, AcidError>;

    /// Checks that the last process with a simulated disk, or whose load was recorded, made its calls where they are seen.
    ///
    /// # Errors
    /// [`AcidError::NotIntercepted`] if it did not.
    fn check_intercepted(&self) -> Result<(), AcidError>;

    /// Replaces the copy by what the simulated disk has of it, with some later writes that follow from the seed; the process
    /// was killed.
    ///
    /// # Errors
    /// If files cannot be written.
    fn lose_power(&self, seed: u64) -> Result<(), AcidError>;

    /// Path of the copy, in a folder of its own.
    fn copy(&self) -> &Path;

    /// Command of a process that records a load on the copy with [`LoadRecording`](sampled::LoadRecording), as one on `target`,
    /// and writes it to a file.
    ///
    /// # Errors
    /// If no such process can be started.
    fn recording(&self, target: &str, seed: u64, file: &Path) -> Result<Command, AcidError>;
}

/// Runs the selected tests in order; `progress` is called after each.
///
/// # Errors
/// The engine's, before the first test. An error within a test is its verdict.
pub fn run_tests(
    subject: &AcidSubject<'_>,
    wanted: &dyn Fn(&str) -> bool,
    progress: &mut dyn FnMut(&AcidTest),
) -> Result<Vec<AcidTest>, AcidError> {
    let test_bed = TestBed::new(subject.engine, subject.part, subject.first_free, subject.config)?;
    // The observer has read by now, so an engine that excludes other sessions does so already.
    drop(subject.engine.session().map_err(AcidError::OneSession)?);
    let mut done = Vec::new();
    let mut note = |test: AcidTest| {
        progress(&test);
        done.push(test);
    };
    type SingleTest = fn(&TestBed<'_>) -> AcidTest;
    let alone: [(&str, SingleTest); 4] = [
        ("A1", |test_bed| tests::atomicity::trade_order(test_bed, false)),
        ("A2", |test_bed| tests::atomicity::trade_order(test_bed, true)),
        ("A3", |test_bed| tests::atomicity::undone(test_bed, "A3", pausable_session::HaltCommand::GiveUp)),
        ("A4", |test_bed| tests::atomicity::undone(test_bed, "A4", pausable_session::HaltCommand::Vanish)),
    ];
    let isolation: [(&str, SingleTest); 4] = [
        ("I1", tests::isolation::phantoms),
        ("I2", tests::isolation::unrepeatable_reads),
        ("I3", tests::isolation::dirty_writes),
        ("I4", tests::isolation::dirty_reads),
    ];
    let is_over = || subject.interrupted.load(Ordering::Relaxed);
    for (id, run) in alone {
        if wanted(id) && !is_over() {
            note(run(&test_bed));
        }
    }
    if ["C1", "C2", "C3", "C4", "C5"].into_iter().any(wanted) && !is_over() {
        let of_work = tests::consistency::conditions(&test_bed);
        // Work that was cut short shows nothing.
        if !is_over() {
            of_work.into_iter().filter(|test| wanted(&test.id)).for_each(&mut note);
        }
    }
    for (id, run) in isolation {
        if wanted(id) && !is_over() {
            note(run(&test_bed));
        }
    }
    // Crashes take the sessions with them.
    drop(test_bed);
    let mut crashes = Vec::new();
    if wanted("D1") && !is_over() {
        crashes.push(tests::durability::killed(subject));
    }
    // A crash that was cut short shows nothing: the load gets the signal too.
    if !is_over() {
        crashes.drain(..).for_each(&mut note);
    }
    if (wanted("D2") || wanted("D3")) && !is_over() {
        crashes = tests::durability::power_failed(subject, wanted);
    }
    if !is_over() {
        crashes.into_iter().for_each(&mut note);
    }
    Ok(done)
}
