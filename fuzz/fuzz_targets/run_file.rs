//! Run files: any bytes are a run file or are refused, and whatever is one can be drawn and put together with itself.
#![no_main]

use bourse_record::RunFile;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(run) = RunFile::parse(bytes, Path::new("run.json")) else { return };
    let _ = bourse_report::terminal(&run, 120, false);
    let _ = bourse_report::html(&run);
    let _ = bourse_report::markdown(&run);
    let _ = bourse_report::csv(&run, bourse_report::CsvText::Guarded);
    let _ = bourse_report::drivers::together(vec![run.clone(), run]);
});
