//! The seam's contract for records by key, as tests that run against any engine that has them.
//!
//! [`RECORD_CHECKS`] is the list; each check makes the tables it needs, so they run in any order. No check leaves two
//! transactions open in one thread: an engine may make one wait for the other as long as it likes.

mod keys;
mod operations;
mod transactions;

use crate::conformance::promise;
use bourse_engine::{
    Connection, Engine, IndexKind, Key, RecordCapabilities, RecordField, RecordTable, RecordType, Records, Result,
    RowExt as _, StatementForm, Value,
};

/// Guarantee of the seam with its test.
pub struct RecordCheck {
    /// Guarantee, as a sentence.
    pub name: &'static str,
    /// Whether an engine with these capabilities gives the guarantee.
    pub is_made: fn(RecordCapabilities) -> bool,
    /// Test of the guarantee; panics if it is broken.
    pub run: fn(&dyn Engine),
}

const fn always(_: RecordCapabilities) -> bool {
    true
}

/// All guarantees of the seam for records, each with its test.
pub static RECORD_CHECKS: &[RecordCheck] = &[
    RecordCheck { name: "records come back as they were inserted", is_made: always, run: operations::come_back },
    RecordCheck { name: "a key that is there already is refused", is_made: always, run: operations::keys_are_unique },
    RecordCheck { name: "a missing key is reported, not an error", is_made: always, run: operations::missing_keys },
    RecordCheck { name: "records are changed and taken away one by one", is_made: always, run: operations::changes },
    RecordCheck { name: "a callback's error comes back", is_made: always, run: operations::callbacks_can_fail },
    RecordCheck { name: "all records are counted and taken away", is_made: always, run: operations::all_at_once },
    RecordCheck { name: "many records are inserted by one call", is_made: always, run: operations::many_at_once },
    RecordCheck { name: "records are loaded", is_made: always, run: operations::loaded },
    RecordCheck { name: "many records are read by one call", is_made: always, run: operations::many_are_read },
    RecordCheck {
        name: "keys are assigned, none twice",
        is_made: |can| can.assigned_keys,
        run: operations::assigned_keys,
    },
    RecordCheck { name: "tables are made anew", is_made: always, run: operations::made_anew },
    RecordCheck { name: "settings are no measurements", is_made: always, run: operations::settings_last },
    RecordCheck { name: "texts can be keys", is_made: |can| can.text_keys, run: keys::text_keys },
    RecordCheck { name: "scans are in the order of keys", is_made: |can| can.ordered_scans, run: keys::ordered_scans },
    RecordCheck {
        name: "scans of text keys are in the order of bytes",
        is_made: |can| can.ordered_scans && can.text_keys,
        run: keys::ordered_text_scans,
    },
    RecordCheck {
        name: "indexed fields find their records",
        is_made: |can| can.indexed_fields,
        run: keys::indexed_fields,
    },
    RecordCheck { name: "keys can be hashed", is_made: |can| can.hash_index, run: keys::hashed_keys },
    RecordCheck { name: "a transaction sees its own changes", is_made: always, run: transactions::own_changes },
    RecordCheck { name: "a rollback undoes", is_made: |can| can.rollback, run: transactions::rollback_undoes },
    RecordCheck {
        name: "a rollback outside a transaction is fine",
        is_made: always,
        run: transactions::rollback_outside,
    },
    RecordCheck {
        name: "a dropped session undoes its transaction",
        is_made: |can| can.rollback,
        run: transactions::dropped_session,
    },
    RecordCheck {
        name: "a commit is seen by others, and nothing before",
        is_made: always,
        run: transactions::commit_is_seen,
    },
    RecordCheck { name: "a session can go to another thread", is_made: always, run: transactions::sessions_move },
    RecordCheck { name: "no update is lost between threads", is_made: always, run: transactions::no_lost_update },
    RecordCheck { name: "readers and a writer both get on", is_made: always, run: transactions::nobody_starves },
];

/// Runs every check that the engine's capabilities cover, and returns the names of the others.
///
/// # Panics
/// With the guarantee that is broken and what was found instead; and if the engine has no records.
pub fn records_conformance(engine: &dyn Engine) -> Vec<&'static str> {
    let can = engine.capabilities().records.expect("an engine that has records");
    let mut left_out = Vec::new();
    for check in RECORD_CHECKS {
        if !(check.is_made)(can) {
            left_out.push(check.name);
            continue;
        }
        promise(check.name, || (check.run)(engine));
    }
    left_out
}

// --- What the checks share. ---

static ITEMS: RecordTable = RecordTable::new(
    "items",
    RecordField::new("id", RecordType::Int),
    &[
        RecordField::new("price", RecordType::Int),
        RecordField::new("weight", RecordType::Real),
        RecordField::new("name", RecordType::Text(40)),
        RecordField::new("picture", RecordType::Bytes(300)),
    ],
);
static WORDS: RecordTable = RecordTable::new(
    "words",
    RecordField::new("word", RecordType::Text(50)),
    &[RecordField::new("uses", RecordType::Int)],
);
static FOUND: RecordTable = RecordTable::new(
    "words_found",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("word", RecordType::Text(50)).indexed(IndexKind::Tree)],
);
static HASHED: RecordTable = RecordTable::new(
    "hashed",
    RecordField::new("id", RecordType::Int).indexed(IndexKind::Hash),
    &[RecordField::new("uses", RecordType::Int)],
);

static NOTED: RecordTable = RecordTable::new(
    "noted",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("moment", RecordType::Int), RecordField::new("what", RecordType::Text(20))],
)
.with_assigned_keys();

/// Runs `f` on the session's records: its own, or those over SQL.
fn with<T>(connection: &mut Connection, f: impl FnOnce(&mut dyn Records) -> T) -> T {
    connection.with_records(StatementForm::Prepared, f)
}

/// Session with these tables, empty.
fn fresh(engine: &dyn Engine, tables: &[&'static RecordTable]) -> Connection {
    let mut session = engine.connect().expect("a session");
    with(&mut session, |records| records.create(tables)).expect("empty tables");
    session
}

/// Values of the item with that number.
fn item(id: i64, text: &mut String, bytes: &mut Vec<u8>) -> (i64, f64) {
    *text = format!("größe {id}");
    *bytes = (0..id.rem_euclid(300)).map(|at| (at * 7 + id) as u8).collect();
    (id * 100, id as f64 / 8.0)
}

fn insert_item(records: &mut dyn Records, id: i64) -> Result<()> {
    let (mut text, mut bytes) = (String::new(), Vec::new());
    let (price, weight) = item(id, &mut text, &mut bytes);
    let values = [Value::Int(price), Value::Real(weight), Value::Text(&text), Value::Blob(&bytes)];
    records.insert(&ITEMS, Key::Int(id), &values)
}

/// Price of an item, if it exists.
fn price(records: &mut dyn Records, id: i64) -> Result<Option<i64>> {
    let mut found = None;
    let is_there = records.get(&ITEMS, Key::Int(id), &mut |row| {
        found = Some(row.get(1)?);
        Ok(())
    })?;
    assert_eq!(is_there, found.is_some(), "`get` must say whether it called back");
    Ok(found)
}

#[track_caller]
fn check_price(session: &mut Connection, id: i64, expected: Option<i64>) {
    assert_eq!(with(session, |records| price(records, id)).unwrap(), expected, "price of item {id}");
}

fn add_to_price(records: &mut dyn Records, id: i64, by: i64) -> Result<()> {
    assert!(records.add(&ITEMS, Key::Int(id), 0, by)?, "item {id} is there");
    Ok(())
}
