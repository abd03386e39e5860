//! What a writer of an engine with one writer at a time says it is blocked on.

use bourse_engine::thread_time::{meter_this_thread, metered};
use bourse_engine::{Access, Key, KeyEngine, RecordField, RecordTable, RecordType, Value, Wait};
use std::time::Duration;

static ITEMS: RecordTable =
    RecordTable::new("items", RecordField::new("id", RecordType::Int), &[RecordField::new("price", RecordType::Int)]);

/// A thread writes one record while another has the writer lock for 60 ms: it was blocked on that lock once, and once on its
/// commit: a sync if commits of this database `sync` to a disk, else writes of pages.
pub fn tells_what_a_writer_waits_on(engine: &impl KeyEngine, sync: bool) {
    let mut first = engine.new_records().unwrap();
    first.create(&[&ITEMS]).unwrap();
    first.begin(Access::Write).unwrap();
    let waited = std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut second = engine.new_records().unwrap();
            meter_this_thread().expect("Linux tells the times of threads");
            second.begin(Access::Write).unwrap();
            second.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
            second.commit().unwrap();
            metered().expect("the thread is metered").waited
        });
        std::thread::sleep(Duration::from_millis(60));
        first.commit().unwrap();
        second.join().unwrap()
    });
    let waits = [Wait::Lock, Wait::Sync, Wait::Storage].map(|wait| waited[wait as usize].waits);
    assert_eq!(waits, [1, u64::from(sync), u64::from(!sync)], "{waited:?}");
    assert!(waited[Wait::Lock as usize].blocked_ns >= 40_000_000, "{waited:?}");
}
