//! `bourse_fuzz::suite_document` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::suite_document(bytes));
