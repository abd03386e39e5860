//! `bourse_fuzz::server` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::server(bytes));
