//! Operations on one record at a time, and on all records of a table.

use super::{ITEMS, NOTED, check_price, fresh, insert_item, item, price, with};
use bourse_engine::{Access, Engine, EngineError, ErrorKind, FieldChange, Key, Records, Row, RowExt as _, Value};

pub(super) fn come_back(engine: &dyn Engine) {
    let ids = [1, -1, 299, 0, i64::MAX / 200, i64::MIN / 200, 77];
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        for id in ids {
            insert_item(records, id).unwrap();
        }
        ids.into_iter().for_each(|id| check_item(records, id));
    });
}

pub(super) fn settings_last(engine: &dyn Engine) {
    drop(fresh(engine, &[&ITEMS]));
    crate::conformance::settings_last(engine, || {
        let mut session = engine.connect().expect("a session");
        with(&mut session, |records| (0..1_000).try_for_each(|id| insert_item(records, id))).expect("items");
    });
}

/// Checks that the item with that number is there once, with all its values.
fn check_item(records: &mut dyn Records, id: i64) {
    let (mut text, mut bytes) = (String::new(), Vec::new());
    let (price, weight) = item(id, &mut text, &mut bytes);
    let mut calls = 0;
    let is_there = records.get(&ITEMS, Key::Int(id), &mut |row| {
        calls += 1;
        assert_eq!(row.get::<i64>(0)?, id);
        assert_eq!(row.get::<i64>(1)?, price);
        assert_eq!(row.get::<f64>(2)?, weight);
        assert_eq!(row.get::<String>(3)?, text);
        assert_eq!(row.get::<Vec<u8>>(4)?, bytes, "bytes of item {id}");
        Ok(())
    });
    assert!(is_there.unwrap(), "item {id}");
    assert_eq!(calls, 1);
}

pub(super) fn keys_are_unique(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        insert_item(records, 5).unwrap();
        records.update(&ITEMS, Key::Int(5), &[1.into(), Value::Real(0.0), "old".into(), Value::Blob(b"")]).unwrap();
        let refused = insert_item(records, 5).expect_err("a second record of one key");
        assert_eq!(refused.kind(), ErrorKind::Duplicate, "{refused}");
        assert_eq!(records.count(&ITEMS).unwrap(), 1);
    });
    check_price(&mut session, 5, Some(1));
}

pub(super) fn missing_keys(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        for _ in 0..2 {
            assert_eq!(price(records, 9).unwrap(), None);
            let values = [1.into(), Value::Real(0.0), "".into(), Value::Blob(b"")];
            assert!(!records.update(&ITEMS, Key::Int(9), &values).unwrap());
            assert!(!records.add(&ITEMS, Key::Int(9), 0, 1).unwrap());
            assert!(!records.change(&ITEMS, Key::Int(9), FieldChange::Set(2, "a".into())).unwrap());
            assert!(!records.change(&ITEMS, Key::Int(9), FieldChange::Append(2, "a")).unwrap());
            assert!(!records.delete(&ITEMS, Key::Int(9)).unwrap());
            assert_eq!(records.count(&ITEMS).unwrap(), 0);
            assert_eq!(records.delete_all(&ITEMS).unwrap(), 0);
        }
        insert_item(records, 8).unwrap();
        assert_eq!(price(records, 9).unwrap(), None);
    });
}

pub(super) fn changes(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        (1..=20).for_each(|id| insert_item(records, id).unwrap());
        let values = [7.into(), Value::Real(-0.5), "new, and longer than before".into(), Value::Blob(&[0, 1, 0])];
        assert!(records.update(&ITEMS, Key::Int(3), &values).unwrap());
        assert!(records.add(&ITEMS, Key::Int(3), 0, -10).unwrap());
        // The same value again changes a record that is there.
        for name in ["short", "a longer name", "a longer name"] {
            assert!(records.change(&ITEMS, Key::Int(6), FieldChange::Set(2, name.into())).unwrap());
        }
        for text in [", and", " more"] {
            assert!(records.change(&ITEMS, Key::Int(6), FieldChange::Append(2, text)).unwrap());
        }
        assert!(records.delete(&ITEMS, Key::Int(4)).unwrap());
        let is_there = records.get(&ITEMS, Key::Int(3), &mut |row| {
            assert_eq!((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<f64>(2)?), (3, -3, -0.5));
            assert_eq!(row.get::<String>(3)?, "new, and longer than before");
            assert_eq!(row.get::<Vec<u8>>(4)?, [0, 1, 0]);
            Ok(())
        });
        assert!(is_there.unwrap());
        let named = records.get(&ITEMS, Key::Int(6), &mut |row| {
            assert_eq!((row.get::<i64>(1)?, row.get::<String>(3)?.as_str()), (600, "a longer name, and more"));
            Ok(())
        });
        assert!(named.unwrap());
        assert_eq!(price(records, 4).unwrap(), None);
        assert_eq!(price(records, 5).unwrap(), Some(500), "its neighbour is as it was");
        assert_eq!(records.count(&ITEMS).unwrap(), 19);
        insert_item(records, 4).unwrap();
        assert_eq!(price(records, 4).unwrap(), Some(400));
    });
}

pub(super) fn callbacks_can_fail(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        insert_item(records, 1).unwrap();
        let mut stop = |_: &dyn Row| Err(EngineError::new(ErrorKind::Interrupted, "enough"));
        let failed = records.get(&ITEMS, Key::Int(1), &mut stop).expect_err("the callback's error");
        assert_eq!(failed.message(), "enough");
        assert_eq!(price(records, 1).unwrap(), Some(100), "the session goes on");
        insert_item(records, 2).unwrap();
    });
}

pub(super) fn all_at_once(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        (0..500).for_each(|id| insert_item(records, id).unwrap());
        records.commit().unwrap();
        assert_eq!(records.count(&ITEMS).unwrap(), 500);
        assert_eq!(records.delete_all(&ITEMS).unwrap(), 500);
        assert_eq!(records.count(&ITEMS).unwrap(), 0);
        assert_eq!(price(records, 7).unwrap(), None);
        insert_item(records, 7).unwrap();
        assert_eq!(records.count(&ITEMS).unwrap(), 1);
    });
}

pub(super) fn many_at_once(engine: &dyn Engine) {
    let row = |id| [Value::Int(id), Value::Int(id * 100), Value::Real(0.5), Value::Text("größe"), Value::Blob(b"\0")];
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        records.insert_rows(&ITEMS, (1..=100).map(row).collect::<Vec<_>>().as_flattened()).unwrap();
        records.insert_rows(&ITEMS, &[]).unwrap();
        assert_eq!(records.count(&ITEMS).unwrap(), 100);
        records.commit().unwrap();
        let seen = records.get(&ITEMS, Key::Int(77), &mut |row| {
            assert_eq!((row.get::<i64>(1)?, row.get::<f64>(2)?), (7_700, 0.5));
            assert_eq!((row.get::<String>(3)?, row.get::<Vec<u8>>(4)?), ("größe".to_owned(), vec![0]));
            Ok(())
        });
        assert!(seen.unwrap());
        // Outside a transaction each is one by itself, so what came before the one that is refused stays.
        let refused = records.insert_rows(&ITEMS, [row(200), row(77), row(201)].as_flattened()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Duplicate, "{refused}");
        for (id, expected) in [(200, Some(20_000)), (77, Some(7_700)), (201, None)] {
            assert_eq!(price(records, id).unwrap(), expected, "price of item {id}");
        }
        let half = &row(300)[..3];
        records.insert_rows(&ITEMS, half).expect_err("a record that lacks two fields");
        assert_eq!(records.count(&ITEMS).unwrap(), 101);
    });
}

pub(super) fn loaded(engine: &dyn Engine) {
    const MANY: i64 = 5_000;
    let load = |records: &mut dyn Records, ids: &[i64]| {
        records.load(&ITEMS, &mut |put| {
            ids.iter().try_for_each(|&id| {
                let (mut text, mut bytes) = (String::new(), Vec::new());
                let (price, weight) = item(id, &mut text, &mut bytes);
                put(&[Value::Int(id), Value::Int(price), Value::Real(weight), Value::Text(&text), Value::Blob(&bytes)])
            })
        })
    };
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        load(records, &(1..=MANY).collect::<Vec<_>>()).unwrap();
        load(records, &[]).unwrap();
        records.commit().unwrap();
        assert_eq!(records.count(&ITEMS).unwrap(), MANY as u64);
        for id in [1, 2_048, 2_049, MANY] {
            check_item(records, id);
        }
        records.begin(Access::Write).unwrap();
        let refused = load(records, &[MANY + 1, 77]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Duplicate, "{refused}");
        // Not every engine can undo.
        let _ = records.rollback();
        records.begin(Access::Write).unwrap();
        let own = records.load(&ITEMS, &mut |_| Err(EngineError::new(ErrorKind::Other, "of the caller"))).unwrap_err();
        assert!(own.to_string().contains("of the caller"), "{own}");
        let _ = records.rollback();
        assert_eq!(price(records, 77).unwrap(), Some(7_700), "what was there is as it was");
    });
}

pub(super) fn many_are_read(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        (0..200).for_each(|id| insert_item(records, id).unwrap());
        records.commit().unwrap();
        // Every third requested key is missing.
        let keys: Vec<_> =
            (0..300).map(|at| if at % 3 == 2 { 1_000 + at } else { at * 199 % 200 }).map(Value::Int).collect();
        for _ in 0..2 {
            let mut found = Vec::new();
            let read = records.get_each(&ITEMS, &keys, &mut |at, row| {
                let key = row.get::<i64>(0)?;
                assert!(row.is_int(0, key) && !row.is_int(0, key + 1), "a number is itself and no other");
                found.push((at, row.get::<i64>(0)?));
                Ok(())
            });
            read.unwrap();
            let there = (0..300).filter(|at| at % 3 != 2).map(|at| (at as usize, at * 199 % 200));
            assert!(found.into_iter().eq(there), "each record is found by its own key, in the order asked for");
        }
        records.get_each(&ITEMS, &[], &mut |_, _| panic!("nothing was asked for")).unwrap();
        let mut seen = 0;
        let stopped = records.get_each(&ITEMS, &keys, &mut |at, _| {
            seen += 1;
            if at == 100 { Err(EngineError::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
        });
        assert_eq!((stopped.expect_err("the callback's error").kind(), seen), (ErrorKind::Interrupted, 68));
        // A scan that was stopped must not hold a lock.
        assert!(records.delete(&ITEMS, Key::Int(7)).unwrap());
    });
}

pub(super) fn assigned_keys(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&NOTED]);
    with(&mut session, |records| {
        records.begin(Access::Write).unwrap();
        records.append(&NOTED, &[Value::Int(1), Value::Text("one")]).unwrap();
        let more = [2, 3, 4].map(|at| [Value::Int(at), Value::Text("more")]);
        records.insert_rows(&NOTED, more.as_flattened()).unwrap();
        records.commit().unwrap();
        assert!(records.delete(&NOTED, Key::Int(4)).unwrap());
        records.append(&NOTED, &[Value::Int(5), Value::Text("five")]).unwrap();
        for (key, expected) in [(1, Some(1)), (3, Some(3)), (4, None), (5, Some(5))] {
            let mut found = None;
            records
                .get(&NOTED, Key::Int(key), &mut |row| {
                    found = Some(row.get::<i64>(1)?);
                    Ok(())
                })
                .unwrap();
            assert_eq!(found, expected, "record {key}");
        }
    });
}

pub(super) fn made_anew(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| insert_item(records, 1)).unwrap();
    let mut other = engine.connect().expect("a session");
    check_price(&mut other, 1, Some(100));
    with(&mut session, |records| records.create(&[&ITEMS])).unwrap();
    check_price(&mut session, 1, None);
    check_price(&mut other, 1, None);
    with(&mut other, |records| insert_item(records, 1)).unwrap();
    check_price(&mut session, 1, Some(100));
}
