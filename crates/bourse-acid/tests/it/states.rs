//! Power losses enumerated: SQLite's guarantees hold in every state, losses without a guarantee are seen, and an omitted sync
//! is found.

use bourse_acid::AcidError;
use bourse_acid::states::{Cases, RecordedWork, Recordings, StatesOptions, enumerate, replay};
use bourse_engine::Engine;
use bourse_record::crash::{Guarantee, StatesRow, StatesSection};
use std::io;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// Environment variable with the work of a recorded process.
const WORK: &str = "TEST_RECORDED_WORK";

/// Body of a recorded process; does nothing as a test.
#[test]
fn recorded_process() {
    let Ok(work) = std::env::var(WORK) else { return };
    RecordedWork::parse(&work).expect("the parent passes work").perform(&opened).expect("it can be done");
}

fn opened(target: &str) -> Result<Box<dyn Engine>, AcidError> {
    let engine = bourse_engine_sqlite::open(target).map_err(|error| AcidError::Machinery(error.to_string()))?;
    Ok(Box::new(engine))
}

fn recorded(work: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", "states::recorded_process", "--nocapture"]).env(WORK, work);
    Ok(command)
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// Recordings of processes of this program; `None` where nothing can be recorded, which is reported.
fn recordings(test: &str) -> Option<Recordings<'static>> {
    Recordings::new(&recorded, &NEVER).map_err(|why| bourse_testkit::skipped(test, why)).ok()
}

const SEED: u64 = 7;

/// States of the usual cases, enumerated by the first test that asks for them.
fn enumerated(recordings: &Recordings<'_>) -> &'static StatesSection {
    static FOUND: OnceLock<StatesSection> = OnceLock::new();
    FOUND.get_or_init(|| {
        let options = StatesOptions {
            cases: Cases::Usual,
            targets: &[],
            devices: &[],
            states: Some(400),
            seed: SEED,
            fault_runs: 1,
        };
        let kept = tempfile::tempdir().expect("there is room for a folder");
        enumerate(&options, recordings, kept.path(), &|_| ()).expect("it can be recorded")
    })
}

fn row<'r>(rows: &'r [StatesRow], case: &str) -> &'r StatesRow {
    rows.iter().find(|row| row.case == case).unwrap_or_else(|| panic!("{case} is enumerated"))
}

#[test]
fn each_journal_mode_keeps_what_it_promises_and_faults_are_found() {
    let Some(recordings) = recordings("states::each_journal_mode_keeps_what_it_promises_and_faults_are_found") else {
        return;
    };
    let found = enumerated(&recordings);
    for row in &found.rows {
        assert!(row.holds(), "{} promises {}: {:?}", row.case, row.promised, row.examples);
        assert!(row.states > 0 && row.distinct <= row.states, "{}", row.case);
        if row.promised == Guarantee::Everything {
            assert_eq!((row.lossy, row.corrupted), (0, 0), "{}", row.case);
        }
    }
    for (case, is_corrupted) in [("delete-off", true), ("wal-off", true), ("memory-full", true), ("wal-normal", false)]
    {
        let row = row(&found.rows, case);
        assert_eq!(row.corrupted > 0, is_corrupted, "{case} shows what it loses");
        assert!(row.lossy > 0 || is_corrupted, "{case} shows what it loses");
    }
    let delete = row(&found.rows, "delete-full");
    assert!(delete.lossy > 0 && delete.most_lost == 1, "the deleted journal may return and undo the last commit");
    assert!(row(&found.rows, "delete-normal").corrupted > 0, "a journal of which a part arrived is rolled back");
    for fault in &found.faults {
        assert_eq!(fault.found, fault.runs, "{} in {}", fault.fault, fault.case);
        let example = fault.example.as_ref().expect("a state reveals it");
        assert!(example.broken && !example.minimal.is_empty(), "it is reduced: {example:?}");
    }
    assert_eq!(found.faults.len(), 18);
}

#[test]
fn a_state_is_made_again_from_its_name_and_the_seed() {
    let Some(recordings) = recordings("states::a_state_is_made_again_from_its_name_and_the_seed") else { return };
    let found = enumerated(&recordings);
    let example = row(&found.rows, "wal-off").examples.first().expect("it loses commits");
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let files = |name: &str| std::fs::read(folder.path().join(name).join("db")).expect("it was written");
    let replayed = replay(&recordings, &example.state, SEED, &folder.path().join("once")).expect("it is one of them");
    assert_eq!((&replayed.found, replayed.acknowledged), (&example.found, example.acknowledged));
    assert!(!replayed.is_broken, "nothing was promised");
    replay(&recordings, &example.state, SEED, &folder.path().join("again")).expect("it is one of them");
    assert!(files("once") == files("again"), "byte for byte");
    replay(&recordings, &example.state, SEED, &folder.path().join("again")).expect_err("no file is replaced");
    for (name, why) in [
        ("wal-full", "expected CASE/POINT:SELECTION"),
        ("wal-fully/1:none", "expected JOURNAL-SYNC"),
        ("wal-full/1:some", "expected POINT:SELECTION"),
        ("wal-full/999999:none", "has no state"),
    ] {
        let refused = replay(&recordings, name, SEED, folder.path()).expect_err(name).to_string();
        assert!(refused.contains(why), "{name}: {refused}");
    }
}
