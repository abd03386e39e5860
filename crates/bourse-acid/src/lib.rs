//! The specification's tests of atomicity, consistency, isolation and durability (Clause 7), on any SQL engine.
//!
//! ```text
//! I4  passed          dirty reads: Customer-Position beside Trade-Result
//!                     the reader goes on beside the writer: 20 of 20
//! ```
//!
//! Transactions are those that are measured, run over a session that can halt amid them; sessions that meet are on threads
//! of their own and told what to do one after the other, so a case is the same every time. What an engine does when two
//! meet is evidence; the verdict rests on what was read and what stands in the end.
//!
//! What was found stands in documents of `bourse-record` ([`bourse_record::acid`], [`bourse_record::crash`],
//! [`bourse_record::faults`]), which `bourse-report` draws.
//!
//! | module | what |
//! |---|---|
//! | `tests` | the tests, by property |
//! | `test_bed`, `scenario`, `pausable_session`, `points` | sessions that halt, and what surrounds them |
//! | [`demand`] | what each durability class promises |
//! | [`acknowledged`] | the driver's own log of commits |
//! | `crash` | the load, the kill, the aftermath |
//! | [`durability_matrix`] | `bourse crash`: what each setting keeps |
//! | [`states`] | power losses enumerated, for SQLite |
//! | [`sampled`] | states of the whole database, drawn from a recorded load |
//! | [`faults`] | `bourse faults`: what an engine does when reads, writes and syncs fail |

pub mod acknowledged;
mod crash;
pub mod demand;
pub mod durability_matrix;
pub mod faults;
mod pausable_session;
mod points;
pub mod sampled;
mod scenario;
pub mod states;
mod test_bed;
mod tests;

pub use crash::load_and_tell;
pub use test_bed::{AcidError, TestConfig};
pub use tests::{TESTS, TestSpec};

use bourse_egen::{Inputs, Part};
use bourse_engine::{Durability, Engine, MayLose};
use bourse_record::acid::Test;
use bourse_schema::TradeId;
use demand::Crash;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use test_bed::TestBed;

/// What is examined.
#[derive(Clone, Copy)]
pub struct Subject<'s> {
    /// The engine, with a loaded database.
    pub engine: &'s dyn Engine,
    /// What the database was loaded with.
    pub part: Part,
    /// The first trade number behind the initial ones.
    pub first_free: TradeId,
    /// What the target's settings promise: it decides what is demanded after a crash.
    pub class: Durability,
    /// What a crash may take within that class.
    pub may_lose: Option<MayLose>,
    /// Why that class.
    pub class_reason: &'s str,
    /// The generator's input data, for the load that is interrupted.
    pub inputs: &'s Inputs,
    /// Where an engine within a process is crashed; `None` where that cannot be done.
    pub site: Option<&'s dyn Site>,
    /// How it is examined.
    pub config: TestConfig,
    /// Set when the examination is to end early.
    pub interrupted: &'s AtomicBool,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("part", &self.part).field("class", &self.class).finish_non_exhaustive()
    }
}

/// A copy of the database that crashes may corrupt, and the processes that work on it.
pub trait Site {
    /// Why the loss of power cannot be simulated here; `None` if it can.
    fn no_power(&self) -> Option<String>;

    /// Makes the copy anew.
    ///
    /// # Errors
    /// If it cannot be made.
    fn renew(&self) -> Result<(), AcidError>;

    /// Opens the copy afresh, as the next user of the database would.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> Result<Box<dyn Engine>, AcidError>;

    /// A process that calls [`load_and_tell`] on the copy and prints each acknowledgement as a line to its stdout. For
    /// [`Crash::Power`] its disk is simulated, so that killing it is the loss of power.
    ///
    /// # Errors
    /// If there can be none.
    fn process(&self, crash: Crash, seed: u64) -> Result<Command, AcidError>;

    /// Where the copy lies.
    fn copy(&self) -> &Path;

    /// Why a load cannot be recorded here; `None` if it can.
    fn no_recording(&self) -> Option<String>;

    /// A process that records a load on the copy with [`LoadRecording`](sampled::LoadRecording), as one on `target`, and
    /// writes it to a file.
    ///
    /// # Errors
    /// If there can be none.
    fn recording(&self, target: &str, seed: u64, file: &Path) -> Result<Command, AcidError>;
}

/// Runs the tests that are wanted, in order; `progress` hears of each as it is done.
///
/// # Errors
/// The engine's, before the first test. What goes wrong within a test is its verdict.
pub fn run_tests(
    subject: &Subject<'_>,
    wanted: &dyn Fn(&str) -> bool,
    progress: &mut dyn FnMut(&Test),
) -> Result<Vec<Test>, AcidError> {
    let test_bed = TestBed::new(subject.engine, subject.part, subject.first_free, subject.config)?;
    // The observer has read by now, so whoever keeps others out does so already.
    drop(subject.engine.session().map_err(AcidError::OneSession)?);
    let mut done = Vec::new();
    let mut note = |test: Test| {
        progress(&test);
        done.push(test);
    };
    type Alone = fn(&TestBed<'_>) -> Test;
    let alone: [(&str, Alone); 4] = [
        ("A1", |test_bed| tests::atomicity::trade_order(test_bed, false)),
        ("A2", |test_bed| tests::atomicity::trade_order(test_bed, true)),
        ("A3", |test_bed| tests::atomicity::undone(test_bed, "A3", pausable_session::Command::GiveUp)),
        ("A4", |test_bed| tests::atomicity::undone(test_bed, "A4", pausable_session::Command::Vanish)),
    ];
    let isolation: [(&str, Alone); 4] = [
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
        tests::consistency::conditions(&test_bed).into_iter().filter(|test| wanted(&test.id)).for_each(&mut note);
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
