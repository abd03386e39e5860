//! The generator's input files: whatever stands in one of them, beside good others, is read or refused.
#![no_main]

use bourse_egen::Inputs;
use bourse_egen::inputs::FILES;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, content)) = bytes.split_first() else { return };
    let spoilt = FILES[usize::from(*which) % FILES.len()];
    let _ = Inputs::parse(|name| {
        if name == spoilt { Some(content.to_vec()) } else { bourse_egen::builtin::file(name).map(String::into_bytes) }
    });
});
