//! Tests of atomicity, consistency, isolation and durability of a workload, on any SQL engine: TPC-E's as its specification has
//! them (Clause 7), and those of workloads whose users draw transactions by their shares from their data.
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
//! | `tests` | the tests of TPC-E, by property, and durability for any workload |
//! | `tpce` | TPC-E as the tests need it |
//! | [`mixed`] | tests from the data of a workload whose users draw transactions by their shares |
//! | `consistency` | conditions before and after the work of several sessions |
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
mod consistency;
mod crash;
pub mod demand;
pub mod durability_matrix;
pub mod faults;
pub mod known_work;
pub mod mixed;
mod pausable_session;
mod points;
pub mod sampled;
mod scenario;
pub mod states;
mod test_bed;
mod tests;
mod tpce;

pub use bourse_oltp::acid::TestSpec;
pub use test_bed::{AcidError, TestConfig};
pub use tests::TESTS;
pub use tpce::TpceAcid;

use acknowledged::AcknowledgementListener;
use bourse_engine::{Durability, Engine, MayLose, Result, Session};
use bourse_oltp::acid::AcknowledgedKind;
use bourse_oltp::check::Check;
use bourse_record::acid::{AcidFinding, AcidTest, Property};
use demand::CrashKind;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Engine under test, with its database and the settings of the tests.
#[derive(Clone, Copy)]
pub struct AcidSubject<'s> {
    /// Engine, with a loaded database.
    pub engine: &'s dyn Engine,
    /// Workload of the database.
    pub workload: &'s dyn AcidWorkload,
    /// Durability class that the target's settings give; it decides the demands after a crash.
    pub class: Durability,
    /// Data that a crash may take within that class.
    pub may_lose: Option<MayLose>,
    /// Reason for that class.
    pub class_reason: &'s str,
    /// Place for crashes of an in-process engine; `None` if it cannot be crashed.
    pub site: Option<&'s dyn Site>,
    /// Settings of the tests.
    pub config: TestConfig,
    /// Set to end the tests early.
    pub interrupted: &'s AtomicBool,
}

impl AcidSubject<'_> {
    /// The test with this name.
    pub(crate) fn spec(&self, id: &str) -> &TestSpec {
        self.workload.tests().iter().find(|spec| spec.id == id).expect("tests are run by their names")
    }
}

/// A workload, as the tests need it.
pub trait AcidWorkload: Sync {
    /// Its tests, in the order in which they are run.
    fn tests(&self) -> &[TestSpec];

    /// Runs the selected tests that need no crash; `note` is called with each.
    ///
    /// # Errors
    /// The engine's, before the first test. An error within a test is its verdict.
    fn examine(
        &self,
        subject: &AcidSubject<'_>,
        wanted: &dyn Fn(&str) -> bool,
        note: &mut dyn FnMut(AcidTest),
    ) -> Result<(), AcidError>;

    /// Conditions that the database must meet at any time, with words for their holes.
    fn conditions(&self) -> (&'static [Check], Vec<(&'static str, String)>);

    /// Runs the whole mix and passes each acknowledged transaction to `listener`, until the process is killed or `interrupt` is
    /// set.
    ///
    /// # Errors
    /// The reason why the load could not begin.
    fn load(
        &self,
        engine: &dyn Engine,
        seed: u64,
        interrupt: &AtomicBool,
        listener: AcknowledgementListener,
    ) -> Result<(), String>;

    /// Description of that load, and its greatest number of transactions in flight.
    fn load_words(&self) -> (String, usize);

    /// Transactions that the load acknowledges; the last kind is counted.
    fn acknowledged(&self) -> &'static [AcknowledgedKind];

    /// Last number of the rows of before a load, for the hole `{last}`.
    ///
    /// # Errors
    /// The engine's.
    fn last(&self, db: &mut dyn Session) -> Result<i64> {
        let _ = db;
        Ok(0)
    }

    /// Further findings on whether a database is whole after a crash, which has so many complete rows of the counted kind.
    ///
    /// # Errors
    /// The engine's.
    fn traces(&self, db: &mut dyn Session, last: i64, complete: usize) -> Result<Vec<AcidFinding>> {
        let _ = (db, last, complete);
        Ok(Vec::new())
    }

    /// First work of the next run after a crash, and its outcome; `None` if runs begin without any.
    ///
    /// # Errors
    /// The engine's.
    fn next_run(&self, engine: &dyn Engine, config: TestConfig) -> Result<Option<[String; 2]>, AcidError> {
        let _ = (engine, config);
        Ok(None)
    }
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

    /// Command of a process that runs the workload's [load](AcidWorkload::load) on the copy and prints each acknowledgement as a line to its stdout.
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
    let mut done = Vec::new();
    let mut note = |test: AcidTest| {
        progress(&test);
        done.push(test);
    };
    let is_over = || subject.interrupted.load(Ordering::Relaxed);
    if subject.workload.tests().iter().any(|spec| spec.property != Property::Durability && wanted(spec.id)) {
        subject.workload.examine(subject, wanted, &mut note)?;
    }
    // Crashes take sessions with them; all are closed now.
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
