//! Kinds of keys, their order, and indexes.

use super::{FOUND, HASHED, ITEMS, WORDS, fresh, insert_item, with};
use bourse_engine::{Engine, EngineError, ErrorKind, Key, Records, RowExt as _, Value};

/// Texts in the order of their bytes.
const SORTED: [&str; 7] = ["0", "A", "AA", "Z", "a", "a b", "ä"];

pub(super) fn text_keys(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&WORDS, &ITEMS]);
    with(&mut session, |records| {
        for (word, uses) in SORTED.iter().zip(10..) {
            records.insert(&WORDS, Key::Text(word), &[Value::Int(uses)]).unwrap();
        }
        for (word, uses) in SORTED.iter().zip(10..) {
            let is_there = records.get(&WORDS, Key::Text(word), &mut |row| {
                assert_eq!((row.get::<String>(0)?.as_str(), row.get::<i64>(1)?), (*word, uses));
                Ok(())
            });
            assert!(is_there.unwrap(), "{word:?}");
        }
        assert!(records.add(&WORDS, Key::Text("AA"), 0, 5).unwrap());
        assert!(records.delete(&WORDS, Key::Text("A")).unwrap());
        assert!(!records.delete(&WORDS, Key::Text("aa")).unwrap());
        assert!(!records.get(&WORDS, Key::Text("A"), &mut |_| Ok(())).unwrap());
        assert_eq!(records.count(&WORDS).unwrap(), SORTED.len() as u64 - 1);
        assert_eq!(records.count(&ITEMS).unwrap(), 0, "one table's records are not another's");
    });
}

fn scanned(records: &mut dyn Records, from: i64, limit: u64) -> Vec<(i64, i64)> {
    let mut rows = Vec::new();
    let count = records.scan(&ITEMS, Key::Int(from), limit, &mut |row| {
        rows.push((row.get(0)?, row.get(1)?));
        Ok(())
    });
    assert_eq!(count.unwrap(), rows.len() as u64);
    rows
}

pub(super) fn ordered_scans(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&ITEMS]);
    with(&mut session, |records| {
        // Every third number from -300 to 300, out of order.
        for step in 0..201 {
            insert_item(records, (step * 100 % 201) * 3 - 300).unwrap();
        }
        let expected = |from: i64, count: i64| (0..count).map(move |at| (from + 3 * at, (from + 3 * at) * 100));
        assert_eq!(scanned(records, -301, 3), expected(-300, 3).collect::<Vec<_>>());
        assert_eq!(scanned(records, -2, 5), expected(0, 5).collect::<Vec<_>>());
        assert_eq!(scanned(records, 3, 1), expected(3, 1).collect::<Vec<_>>());
        assert_eq!(scanned(records, 295, 100), expected(297, 2).collect::<Vec<_>>());
        assert_eq!(scanned(records, 301, 10), []);
        assert_eq!(scanned(records, 0, 0), []);
        assert_eq!(scanned(records, i64::MIN, 1_000), expected(-300, 201).collect::<Vec<_>>());
        let mut seen = 0;
        let stopped = records.scan(&ITEMS, Key::Int(0), 10, &mut |_| {
            seen += 1;
            if seen == 4 { Err(EngineError::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
        });
        assert_eq!((stopped.expect_err("the callback's error").message(), seen), ("enough", 4));
        assert_eq!(scanned(records, 297, 9).len(), 2, "the session goes on");
    });
}

pub(super) fn ordered_text_scans(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&WORDS]);
    with(&mut session, |records| {
        for at in [3, 0, 6, 1, 5, 2, 4] {
            records.insert(&WORDS, Key::Text(SORTED[at]), &[Value::Int(at as i64)]).unwrap();
        }
        let mut scan = |from, limit| {
            let mut words = Vec::new();
            let count = records.scan(&WORDS, Key::Text(from), limit, &mut |row| {
                words.push(row.get::<String>(0)?);
                Ok(())
            });
            assert_eq!(count.unwrap(), words.len() as u64);
            words
        };
        assert_eq!(scan("", 100), SORTED);
        assert_eq!(scan("AA", 2), SORTED[2..4]);
        assert_eq!(scan("B", 2), SORTED[3..5]);
        assert_eq!(scan("ö", 2), [""; 0]);
    });
}

pub(super) fn indexed_fields(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&FOUND]);
    with(&mut session, |records| {
        for id in 0..60 {
            records.insert(&FOUND, Key::Int(id), &[format!("word {}", id % 20).as_str().into()]).unwrap();
        }
        let find = |records: &mut dyn Records, word: &str| {
            let mut ids = Vec::new();
            let count = records.find(&FOUND, 0, word.into(), &mut |row| {
                assert_eq!(row.get::<String>(1)?, word);
                ids.push(row.get::<i64>(0)?);
                Ok(())
            });
            assert_eq!(count.unwrap(), ids.len() as u64);
            ids.sort_unstable();
            ids
        };
        assert_eq!(find(records, "word 7"), [7, 27, 47]);
        assert_eq!(find(records, "word 20"), [0_i64; 0]);
        assert!(records.update(&FOUND, Key::Int(27), &["word 8".into()]).unwrap());
        assert!(records.delete(&FOUND, Key::Int(7)).unwrap());
        assert_eq!(find(records, "word 7"), [47]);
        assert_eq!(find(records, "word 8"), [8, 27, 28, 48]);
    });
}

pub(super) fn hashed_keys(engine: &dyn Engine) {
    let mut session = fresh(engine, &[&HASHED]);
    with(&mut session, |records| {
        for id in 0..1_000 {
            records.insert(&HASHED, Key::Int(id * 7_919), &[id.into()]).unwrap();
        }
        for id in [0, 1, 500, 999] {
            let is_there = records.get(&HASHED, Key::Int(id * 7_919), &mut |row| {
                assert_eq!(row.get::<i64>(1)?, id);
                Ok(())
            });
            assert!(is_there.unwrap());
        }
        assert!(!records.get(&HASHED, Key::Int(5), &mut |_| Ok(())).unwrap());
        assert!(records.delete(&HASHED, Key::Int(7_919)).unwrap());
        assert!(!records.get(&HASHED, Key::Int(7_919), &mut |_| Ok(())).unwrap());
    });
}
