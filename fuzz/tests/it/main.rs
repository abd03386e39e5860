//! Runs every entry point over its seeds and mutations of them: CI's part of fuzzing, without a fuzzer.
#![allow(missing_docs, reason = "tests")]

use bourse_fuzz::mutate::mutated;
use bourse_fuzz::{TARGETS, Target};
use bourse_record::acid::AcidFile;
use bourse_record::crash::CrashFile;
use bourse_record::faults::FaultsFile;
use bourse_record::{Document as _, RunFile};
use bourse_verdict::suite::SuiteFile;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn seeds(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        (name, fs::read(&path).expect("it can be read"))
    };
    paths.into_iter().map(read).collect()
}

/// Runs the target; a panic is reported with the input that reproduces it.
fn survives(target: &Target, name: &str, number: Option<u64>, bytes: &[u8]) {
    if catch_unwind(|| (target.run)(bytes)).is_err() {
        let path = std::env::temp_dir().join(format!("bourse-fuzz-{}", target.name));
        fs::write(&path, bytes).expect("what was found can be kept");
        panic!("{} panics on seed {name}, mutation {number:?}: kept as {}", target.name, path.display());
    }
}

fn survives_all(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("there is such a target");
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for (name, seed) in &seeds {
        survives(target, name, None, seed);
        for number in 0..target.mutations {
            survives(target, name, Some(number), &mutated(seed, number));
        }
    }
}

macro_rules! each {
    ($($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                survives_all(stringify!($name));
            }
        )+

        #[test]
        fn every_target_is_tested_here() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),+]);
        }
    };
}

each!(
    acid_document, comparison, history, inputs, options, protocol, run_file, server, sql_workload, suite_definition,
    suite_document, targets, trace,
);

/// Checks that good seeds are read, so that mutations get past the first check of a parser.
#[test]
fn seeds_are_what_their_names_say() {
    let bytes = |target: &str, name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target).join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let run = RunFile::parse(&bytes("comparison", "run.json"), Path::new("run.json"));
    assert!(run.expect("a run file").cases.iter().any(|case| case.rounds.len() >= 3));
    for target in ["run_file", "comparison"] {
        let run = RunFile::parse(&bytes(target, "whole.json"), Path::new("run.json")).expect("a run file");
        assert!(run.cases.iter().all(|case| case.rounds.len() == 3));
    }
    SuiteFile::parse(&bytes("suite_document", "suite.json"), Path::new("x")).expect("a suite's document");
    for name in ["acid.json", "acid-failed.json"] {
        AcidFile::parse(&bytes("acid_document", name), Path::new("x")).expect("ACID tests");
    }
    CrashFile::parse(&bytes("acid_document", "crash-failed.json"), Path::new("x")).expect("crashes");
    let crashed = CrashFile::parse(&bytes("acid_document", "crash.json"), Path::new("x")).expect("crashes");
    assert!(crashed.states.is_some() && crashed.rows[0].sampled.is_some(), "the seed has every part");
    FaultsFile::parse(&bytes("acid_document", "faults.json"), Path::new("x")).expect("a table of faults");
    let properties = String::from_utf8(bytes("sql_workload", "workload.properties")).expect("it is text");
    assert_eq!(bourse_micro::properties_of("x", &properties).expect("properties").len(), 4);
    for name in ["shop.toml", "shop.sql", "columns.sql"] {
        let text = String::from_utf8(bytes("sql_workload", name)).expect("it is text");
        assert!(bourse_micro::operations_of(name, &text).expect("a file of statements") > 0);
    }
}
