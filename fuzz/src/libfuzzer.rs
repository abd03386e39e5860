//! The parser named in `BOURSE_FUZZ`, under libFuzzer.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("BOURSE_FUZZ").expect("BOURSE_FUZZ names a target");
    bourse_fuzz::TARGETS.iter().find(|target| target.name == name).expect("there is such a target").run
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
