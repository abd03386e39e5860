//! Transactions, and concurrent sessions.

use super::{ITEMS, add_to_price, check_price, fresh, insert_item, price, with};
use crate::conformance::without_conflict;
use bourse_engine::{Access, Connection, Engine, ErrorKind, Key, Records, Result};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) fn own_changes(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        insert_item(records, 1).unwrap();
        assert_eq!(price(records, 1).unwrap(), Some(100));
        add_to_price(records, 1, 1).unwrap();
        assert_eq!(price(records, 1).unwrap(), Some(101));
        assert_eq!(records.count(&ITEMS).unwrap(), 1);
        assert!(records.delete(&ITEMS, Key::Int(1)).unwrap());
        assert_eq!(price(records, 1).unwrap(), None);
        insert_item(records, 2).unwrap();
        records.commit().unwrap();
        records.begin(Access::Read).unwrap();
        assert_eq!(price(records, 1).unwrap(), None);
        assert_eq!(price(records, 2).unwrap(), Some(200));
        records.commit().unwrap();
    });
}

pub(super) fn rollback_undoes(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        (1..=3).for_each(|id| insert_item(records, id).unwrap());
        records.begin(Access::Write).unwrap();
        insert_item(records, 4).unwrap();
        add_to_price(records, 1, 5).unwrap();
        records.delete(&ITEMS, Key::Int(2)).unwrap();
        records.rollback().unwrap();
        let prices: Vec<_> = (1..=4).map(|id| price(records, id).unwrap()).collect();
        assert_eq!(prices, [Some(100), Some(200), Some(300), None]);
        assert_eq!(records.count(&ITEMS).unwrap(), 3);
        insert_item(records, 4).unwrap();
        assert_eq!(price(records, 4).unwrap(), Some(400));
    });
}

pub(super) fn rollback_outside(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.rollback().unwrap();
        insert_item(records, 1).unwrap();
        records.rollback().unwrap();
        records.rollback().unwrap();
    });
    check_price(&mut session, 1, Some(100));
}

pub(super) fn dropped_session(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        insert_item(records, 1).unwrap();
        records.begin(Access::Write).unwrap();
        add_to_price(records, 1, 1).unwrap();
    });
    drop(session);
    let mut other = engine.connect().expect("a session");
    check_price(&mut other, 1, Some(100));
    with(&mut other, |records| add_to_price(records, 1, 2)).expect("the dropped session is in nobody's way");
    check_price(&mut other, 1, Some(102));
}

/// Visibility of a commit: until the writer commits, a reader in another thread either waits or sees the state before.
pub(super) fn commit_is_seen(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| insert_item(records, 1)).unwrap();
    let mut reader = engine.connect().expect("a session");
    check_price(&mut reader, 1, Some(100));
    let (go, told) = mpsc::channel();
    let (seen, answers) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            told.recv().expect("the writer goes first");
            let read = loop {
                let began = Instant::now();
                match with(&mut reader, |records| price(records, 1)) {
                    Ok(found) => break (began, found),
                    Err(e) if e.kind() == ErrorKind::Conflict => reader.rollback().unwrap(),
                    Err(e) => panic!("{e}"),
                }
            };
            seen.send(read).expect("the writer listens");
        });
        with(&mut session, |records| {
            records.begin(Access::Write).unwrap();
            add_to_price(records, 1, 1).unwrap();
            go.send(()).unwrap();
            let early = answers.recv_timeout(Duration::from_millis(200)).ok();
            assert!(
                early.is_none_or(|(_, price)| price == Some(100)),
                "a change was seen before its commit: {early:?}"
            );
            records.commit().unwrap();
            let committed = Instant::now();
            if early.is_none() {
                // A read that began before the commit may have the state before, however late its thread goes on.
                let (began, price) = answers.recv_timeout(Duration::from_secs(60)).expect("the reader gets on");
                assert!(price == Some(101) || (price == Some(100) && began < committed), "{price:?} after the commit");
            }
        });
    });
    let mut late = engine.connect().expect("a session");
    check_price(&mut late, 1, Some(101));
}

pub(super) fn sessions_move(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| insert_item(records, 1)).unwrap();
    let moved = thread::spawn(move || {
        with(&mut session, |records| {
            add_to_price(records, 1, 1).unwrap();
            records.begin(Access::Write).unwrap();
            add_to_price(records, 1, 1).unwrap();
            records.commit().unwrap();
        });
        session
    });
    let mut session = moved.join().expect("the other thread's checks hold");
    check_price(&mut session, 1, Some(102));
}

/// Runs a transaction again until it meets no conflict.
fn retried<T>(session: &mut Connection, access: Access, mut body: impl FnMut(&mut dyn Records) -> Result<T>) -> T {
    let attempt = |session: &mut Connection| {
        with(session, |records| {
            records.begin(access)?;
            let value = body(records)?;
            records.commit()?;
            Ok(value)
        })
    };
    without_conflict(session, attempt, Connection::rollback)
}

const THREADS: i64 = 4;

pub(super) fn no_lost_update(engine: &dyn Engine) {
    const EACH: i64 = 50;
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| insert_item(records, 1)).unwrap();
    thread::scope(|scope| {
        for number in 1..=THREADS {
            scope.spawn(move || {
                let mut session = engine.connect().expect("a session");
                for step in 0..EACH {
                    retried(&mut session, Access::Write, |records| {
                        add_to_price(records, 1, 1)?;
                        insert_item(records, number * 1_000 + step)
                    });
                }
            });
        }
    });
    check_price(&mut session, 1, Some(100 + THREADS * EACH));
    let count = with(&mut session, |records| records.count(&ITEMS)).unwrap();
    assert_eq!(count, (1 + THREADS * EACH) as u64);
    check_price(&mut session, 4_049, Some(404_900));
}

/// Transfers between two records while readers add them up: every writer and reader makes progress.
pub(super) fn nobody_starves(engine: &dyn Engine) {
    const EACH: usize = 100;
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| (1..=2).try_for_each(|id| insert_item(records, id))).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut session = engine.connect().expect("a session");
                for _ in 0..EACH {
                    let sum = retried(&mut session, Access::Read, |records| {
                        Ok(price(records, 1)?.unwrap_or(0) + price(records, 2)?.unwrap_or(0))
                    });
                    assert_eq!(sum, 300, "a half-done transfer was seen");
                }
            });
        }
        scope.spawn(|| {
            let mut session = engine.connect().expect("a session");
            for _ in 0..EACH {
                retried(&mut session, Access::Write, |records| {
                    add_to_price(records, 1, -1)?;
                    add_to_price(records, 2, 1)
                });
            }
        });
    });
    check_price(&mut session, 1, Some(100 - EACH as i64));
    check_price(&mut session, 2, Some(200 + EACH as i64));
}
