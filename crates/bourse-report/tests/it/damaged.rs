//! Damaged run files: refused, or drawn, never a panic.

use crate::fixture;
use bourse_record::{Document as _, RunFile};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;

static WHOLE: LazyLock<Vec<u8>> =
    LazyLock::new(|| serde_json::to_vec(&fixture::several()).expect("a run file can be written"));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A digit or letter changed, or a piece cut out, at a place of proptest's choice.
    #[test]
    fn a_damaged_run_file_is_refused_or_drawn(at in 0.0..1.0f64, cut in 0usize..4, byte in prop::sample::select(&b"0919eE-\",:ntfx\xff"[..])) {
        let mut bytes = WHOLE.clone();
        let at = (at * bytes.len() as f64) as usize;
        if cut == 0 {
            bytes[at] = byte;
        } else {
            bytes.drain(at..(at + cut).min(WHOLE.len()));
        }
        match RunFile::parse(&bytes, Path::new("run.json")) {
            Err(refused) => prop_assert!(refused.to_string().contains("run.json"), "{refused}"),
            Ok(run) => {
                prop_assert!(bourse_report::terminal(&run, 120, false).contains("TPC"));
                prop_assert!(bourse_report::html(&run).starts_with("<!DOCTYPE html>"));
                prop_assert!(!bourse_report::markdown(&run).is_empty() && !bourse_report::data_tables(&[run]).is_empty());
            }
        }
    }
}
