//! `bourse_fuzz::run_file` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::run_file(bytes));
