//! `bourse_fuzz::comparison` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::comparison(bytes));
