//! `bourse_fuzz::sql_workload` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bourse_fuzz::sql_workload(bytes));
