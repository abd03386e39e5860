//! Targets: any text is a URL of ours or is refused.
#![no_main]

use bourse_serve::Address;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(address) = text.parse::<Address>() {
        assert_eq!(address.to_string().parse::<Address>().expect("a URL of ours"), address);
    }
    let _ = bourse_engine_sqlite::GRAMMAR.parse(text, bourse_engine_sqlite::Options::FILE);
    let _ = bourse_engine_redb::GRAMMAR.parse(text, bourse_engine_redb::Options::DEFAULT);
});
