//! Two sessions that change the same rows concurrently.

use crate::loaded::{Copy, engine, inputs, part};
use bourse_engine::Engine;
use bourse_oltp::verify::Contention;
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpce::verify::contend;
use std::sync::atomic::AtomicBool;

fn contention(engine: &dyn Engine) -> Contention {
    contend(engine, inputs(), part(), &AtomicBool::new(false)).expect("works")
}

#[test]
fn two_sessions_lose_nothing() {
    let copy = Copy::new("contention.db");
    // Twice: the second begins where the first ended.
    for _ in 0..2 {
        let contention = contention(&copy.engine);
        assert_eq!(contention.fault(), None);
        assert!(contention.commits >= 24, "{contention:?}");
    }
}

#[test]
fn an_update_that_is_lost_is_found() {
    for (file, update, found) in [
        ("lost-cash.db", "UPDATE customer_account", "accounts' cash has grown"),
        ("lost-volume.db", "UPDATE last_trade", "securities' volumes have grown"),
        ("lost-broker.db", "UPDATE broker", "brokers' trades have grown"),
        ("lost-summary.db", "UPDATE holding_summary", "a holding summary is the sum"),
    ] {
        let _copy = Copy::new(file);
        let dropping = Misbehaving::dropping(engine(file), HitStatements::At(3)).only(update);
        let fault = contention(&dropping).fault().unwrap_or_default();
        assert!(fault.starts_with(found), "{update}: {fault}");
    }
}
