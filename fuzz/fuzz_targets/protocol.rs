//! `bourse_fuzz::protocol` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::protocol(bytes));
