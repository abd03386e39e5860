//! Tests of the ACID tests: they pass on engines that give the guarantees, and if one is broken, exactly the tests of it fail.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod broken;
mod faults;
mod kept;
mod states;

use bourse_acid::{AcidError, AcidSubject, TestConfig, TpceAcid, run_tests};
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, Hosting};
use bourse_engine_sqlite::open;
use bourse_record::acid::{AcidTest, AcidVerdict};
use bourse_tpce::load::{LoadOptions, identify, load, part_of};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(Inputs::builtin)
}

/// Smallest database, loaded once.
fn original() -> &'static Path {
    static ORIGINAL: OnceLock<TempDir> = OnceLock::new();
    let folder = ORIGINAL.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let engine = open(&format!("sqlite:{}/original.db?journal=delete", folder.path().display())).expect("a target");
        let part = Part::whole(1_000, 1).expect("a valid part");
        load(&engine, inputs(), part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).expect("loads");
        folder
    });
    folder.path()
}

/// Copy of that database, deleted with its folder.
pub(crate) struct Copy {
    folder: TempDir,
}

impl Copy {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        std::fs::copy(original().join("original.db"), folder.path().join("copy.db")).expect("it can be copied");
        let this = Self { folder };
        let location = bourse_engine_sqlite::open(&this.target("")).expect("a target").location();
        location.database_files().expect("a file").mark().expect("it can be marked");
        this
    }

    pub(crate) fn target(&self, options: &str) -> String {
        format!("sqlite:{}/copy.db?{options}", self.folder.path().display())
    }
}

/// Runs the selected tests on an engine.
pub(crate) fn examined(engine: &dyn Engine, wanted: &dyn Fn(&str) -> bool) -> Vec<AcidTest> {
    examine(engine, wanted).expect("can be examined")
}

pub(crate) fn examine(engine: &dyn Engine, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<AcidTest>, AcidError> {
    with_subject(engine, |subject| run_tests(&subject, wanted, &mut |_| ()))
}

/// Calls `examine` with an engine as the subject of tests.
pub(crate) fn with_subject<T>(engine: &dyn Engine, examine: impl FnOnce(AcidSubject<'_>) -> T) -> T {
    assert!(!matches!(engine.hosting(), Hosting::External), "nobody else's server is tested on");
    let bourse_tpce::load::ExistingDatabase::Matches(found) = identify(engine).expect("can be looked at") else {
        panic!("no database of ours")
    };
    let described = engine.description().expect("describes itself");
    let config = TestConfig { repeats: 2, patience: Duration::from_millis(300), ..TestConfig::DEFAULT };
    let subject = AcidSubject {
        engine,
        workload: &TpceAcid { inputs: inputs(), part: part_of(&found.fingerprint) },
        class: described.durability,
        may_lose: described.may_lose,
        class_reason: &described.durability_reason,
        site: None,
        config,
        interrupted: &AtomicBool::new(false),
    };
    examine(subject)
}

/// Ids of the tests that failed.
pub(crate) fn failed(tests: &[AcidTest]) -> Vec<&str> {
    tests.iter().filter(|test| test.verdict == AcidVerdict::Failed).map(|test| test.id.as_str()).collect()
}

/// Selects all tests except durability, which needs a process that can be killed.
pub(crate) fn without_crashes(id: &str) -> bool {
    !id.starts_with('D')
}
