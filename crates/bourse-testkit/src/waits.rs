//! Waits that an engine reports for a writer.

use crate::folders::ITEMS;
use bourse_engine::thread_time::{WaitTime, meter_this_thread, metered};
use bourse_engine::{Access, Key, KeyEngine, Value, Wait};
use std::sync::mpsc;
use std::time::Duration;

/// Checks the waits of a thread that writes one record while another has the writer lock for 60 ms: one for that lock, and one
/// for its commit: a sync if commits of this database `sync` to a disk, else writes of pages.
pub fn tells_what_a_writer_waits_on(engine: &impl KeyEngine, sync: bool) {
    let mut first = engine.new_records().unwrap();
    first.create(&[&ITEMS]).unwrap();
    first.begin(Access::Write).unwrap();
    let waited = std::thread::scope(|scope| {
        let (ready, begins) = mpsc::channel();
        let second = scope.spawn(move || of_one_insert(engine, || ready.send(()).expect("the first listens")));
        begins.recv().expect("the second comes to its transaction");
        std::thread::sleep(Duration::from_millis(60));
        first.commit().unwrap();
        second.join().unwrap()
    });
    assert_eq!(counts(waited), [1, u64::from(sync), u64::from(!sync)], "{waited:?}");
    assert!(waited[Wait::Lock as usize].blocked_ns >= 40_000_000, "{waited:?}");
}

/// Waits of a thread that writes one record alone: for locks, for the disk, and for writes of pages.
pub fn waits_of_a_writer(engine: &impl KeyEngine) -> [u64; 3] {
    engine.new_records().unwrap().create(&[&ITEMS]).unwrap();
    std::thread::scope(|scope| counts(scope.spawn(|| of_one_insert(engine, || ())).join().unwrap()))
}

/// Waits of this thread for one insert; `begins` is called just before the transaction.
fn of_one_insert(engine: &impl KeyEngine, begins: impl FnOnce()) -> [WaitTime; Wait::ALL.len()] {
    let mut records = engine.new_records().unwrap();
    meter_this_thread().expect("Linux tells the times of threads");
    begins();
    records.begin(Access::Write).unwrap();
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
    records.commit().unwrap();
    metered().expect("the thread is metered").waited
}

fn counts(waited: [WaitTime; Wait::ALL.len()]) -> [u64; 3] {
    [Wait::Lock, Wait::Sync, Wait::Storage].map(|wait| waited[wait as usize].waits)
}
