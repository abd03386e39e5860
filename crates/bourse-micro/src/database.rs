//! Tables of the classic workloads, their rows, and how both are created in an engine.

use crate::workload::MicroError;
use arrayvec::{ArrayString, ArrayVec};
use bourse_engine::server_wait::check_interruption;
use bourse_engine::{
    Access, Connection, Engine, EngineError, ErrorKind, IndexKind, Interface, Inventory, Key, Loader, RecordField,
    RecordTable, RecordType, Records, RecordsOverSql, Result, Row, RowExt as _, StatementForm, Value, foreign_among,
};
use bourse_record::Check;
use std::collections::BTreeSet;

/// Table that marks a database as Bourse's, which may be replaced.
pub(crate) static MARK: RecordTable = RecordTable::new(
    "bourse_micro",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("made_by", RecordType::Text(20))],
);

/// Creator, in the mark's row.
const MADE_BY: &str = concat!("bourse ", env!("CARGO_PKG_VERSION"));

/// The step in progress, for errors.
const MAKING: &str = "making the tables";

/// State of the tables when a load is interrupted.
pub(crate) const UNFINISHED: &str = "the tables are not all loaded; the next run makes them anew";

/// Rows per transaction while loading outside the timed part.
const LOAD_TRANSACTION: u64 = 10_000;

/// Work on records, compiled separately for SQL sessions.
pub(crate) trait RecordWork {
    /// Result type.
    type Result;
    /// Performs the work.
    fn on<R: Records + ?Sized>(self, records: &mut R) -> Self::Result;
}

/// Performs work on records like [`Connection::with_records`], for operations so short that a call through the adapter
/// would be noticeable.
#[inline]
pub(crate) fn work_on_records<W: RecordWork>(
    connection: &mut Connection,
    statements: StatementForm,
    work: W,
) -> W::Result {
    match connection {
        Connection::Sql(session) => work.on(&mut RecordsOverSql::new(&mut **session, statements)),
        Connection::Keys(records) => work.on(&mut **records),
    }
}

/// Table of pairs: a number and a text of at most 50 characters, each a key; `text` is the index on the text.
pub(crate) fn pairs(key: IndexKind, text: Option<IndexKind>) -> &'static RecordTable {
    let key = RecordField::new("int_key", RecordType::Int).indexed(key);
    let text = RecordField { index: text, ..RecordField::new("str_key", RecordType::Text(50)) };
    RecordTable::leaked("pairs", key, &[text])
}

/// Text of pair number `number`: 28 characters, 41 with the largest numbers; unique.
pub(crate) fn pair_text(number: u64) -> String {
    pair_chars(number).as_str().to_owned()
}

/// Appends the text of a pair to `text`.
pub(crate) fn push_pair_text(text: &mut String, number: u64) {
    text.push_str(&pair_chars(number));
}

/// Place of a pair's text in the order of all.
pub(crate) fn pair_order(number: u64) -> u64 {
    // Scattered, so that neighbours in number are none in text.
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Number of the pair with that text; `None` if it is no such text.
#[inline]
pub(crate) fn pair_number(text: &[u8]) -> Option<u64> {
    let digits = text.get(21..).filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0u64, |number, digit| {
        digit.is_ascii_digit().then(|| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
    })
}

/// Text of a pair without allocation: `key-`, sixteen hexadecimal digits, `-` and the number with at least seven
/// digits. Written by hand, since a driver makes one for each row that it expects, and `format!` takes as long as
/// reading the row.
pub(crate) fn pair_chars(number: u64) -> ArrayString<41> {
    let mut text = ArrayString::new();
    text.push_str("key-");
    for byte in pair_order(number).to_be_bytes() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text.push('-');
    let (mut digits, mut rest, mut first) = ([b'0'; 20], number, 13);
    for at in (0..20).rev() {
        if rest == 0 {
            break;
        }
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        first = first.min(at);
    }
    for &digit in &digits[first..] {
        text.push(char::from(digit));
    }
    text
}

/// Creates a database with these empty tables; replaces one of Bourse's.
pub(crate) fn create(engine: &dyn Engine, tables: &[&'static RecordTable]) -> Result<(), MicroError> {
    match engine.interface() {
        // There may be no database yet that a session could be opened on.
        Interface::Sql(sql) => {
            let statements: Vec<_> = tables.iter().flat_map(|table| table.create_sql(sql.dialect())).collect();
            create_by(engine, &statements, &|_, error| MicroError::engine(MAKING)(error))
        }
        Interface::Keys(keys) => {
            replaceable(engine)?;
            let doing = || MicroError::engine(MAKING);
            let mut records = keys.new_records().map_err(doing())?;
            let made = made_tables(records.as_mut());
            if made.is_empty() {
                records.create(&[&MARK]).map_err(doing())?;
                records.insert(&MARK, Key::Int(1), &[Value::Text(MADE_BY)]).map_err(doing())?;
            }
            // Listed before they are made: a process that is killed leaves no table that is not.
            let new = tables.iter().map(|table| table.name()).filter(|name| !made.contains(*name));
            for (number, name) in (2 + made.len() as i64..).zip(new) {
                records.insert(&MARK, Key::Int(number), &[Value::Text(name)]).map_err(doing())?;
            }
            records.create(tables).map_err(doing())
        }
    }
}

/// Creates a database by statements of a SQL engine; replaces one of Bourse's, so that no page of an earlier round
/// remains. `failed` converts the error of a statement, by its number.
pub(crate) fn create_by(
    engine: &dyn Engine,
    statements: &[String],
    failed: &dyn Fn(usize, EngineError) -> MicroError,
) -> Result<(), MicroError> {
    create_with(engine, None, &mut |loader| {
        (0..).zip(statements).try_for_each(|(number, it)| {
            check_interruption(UNFINISHED).map_err(MicroError::engine(MAKING))?;
            loader.run(it).map_err(|error| failed(number, error))
        })
    })
}

/// Creates a database with what `fill` puts into it; replaces one of Bourse's.
pub(crate) fn create_with(
    engine: &dyn Engine,
    before: Option<&str>,
    fill: &mut dyn FnMut(&mut dyn Loader) -> Result<(), MicroError>,
) -> Result<(), MicroError> {
    replaceable(engine)?;
    let doing = || MicroError::engine(MAKING);
    let sql = engine.sql().map_err(doing())?;
    let mut loader = engine.loader().map_err(doing())?;
    // The mark is made with the tables: a set-up that fails leaves both or neither.
    let mark = format!("INSERT INTO {} (id, made_by) VALUES (1, '{MADE_BY}')", MARK.name());
    let made = MARK.create_sql(sql.dialect());
    for statement in before.into_iter().chain(made.iter().map(String::as_str)).chain([&*mark]) {
        loader.run(statement).map_err(doing())?;
    }
    fill(loader.as_mut())?;
    loader.finish().map_err(doing())
}

/// Names of the tables that classic workloads have made in a key engine's database, which are the mark's rows behind the first.
fn made_tables(records: &mut dyn Records) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for number in 2..1_000 {
        let mut note = |row: &dyn Row| {
            made.insert(row.get(1)?);
            Ok(())
        };
        // The error of an engine without the table is not the same everywhere.
        if !records.get(&MARK, Key::Int(number), &mut note).is_ok_and(|found| found) {
            break;
        }
    }
    made
}

/// Reason not to change or remove a key engine's database: tables in it that no classic workload made.
///
/// # Errors
/// The engine's.
pub fn foreign_tables(engine: &dyn Engine) -> Result<Option<String>> {
    let Interface::Keys(keys) = engine.interface() else { return Ok(None) };
    if engine.foreign()?.is_some() || !engine.exists()? {
        return Ok(None);
    }
    let mut others = keys.tables()?;
    if others.is_empty() {
        return Ok(None);
    }
    let made = made_tables(keys.new_records()?.as_mut());
    others.retain(|name| name != MARK.name() && !made.contains(name));
    others.sort();
    Ok(foreign_among(&others.iter().map(|name| format!("table {name}")).collect::<Vec<_>>()))
}

/// Refuses a database that no classic workload made, or that holds something else as well, as far as its catalogue shows, before
/// a connection makes settings that stay in the database; whether that is decided.
///
/// # Errors
/// [`MicroError::Foreign`]; the engine's, [refused](bourse_engine::ErrorKind::Refused) for what others made.
pub fn refuse_others(engine: &dyn Engine) -> Result<bool, MicroError> {
    let doing = || MicroError::engine("looking for a database");
    if let Some(why) = foreign_tables(engine).map_err(doing())? {
        return Err(doing()(EngineError::refused(why)));
    }
    let Some(inventory) = Inventory::of(engine).map_err(doing())? else { return Ok(false) };
    match inventory.foreign() {
        Some(why) => Err(doing()(EngineError::refused(why))),
        None if inventory.has_table(MARK.name()) || inventory.is_empty() => Ok(true),
        None => Err(MicroError::Foreign),
    }
}

/// Refuses to replace a database that Bourse did not create.
fn replaceable(engine: &dyn Engine) -> Result<(), MicroError> {
    refuse_foreign(engine)?;
    if refuse_others(engine)? {
        return Ok(());
    }
    let doing = || MicroError::engine("looking for a database");
    if !engine.exists().map_err(doing())? {
        return Ok(());
    }
    let mut connection = engine.connect().map_err(MicroError::engine("connecting"))?;
    // A failed set-up may leave the table without its row.
    let marked =
        connection.with_records(StatementForm::Prepared, |records| records.get(&MARK, Key::Int(1), &mut |_| Ok(())));
    marked.map(drop).map_err(without_mark)
}

/// Error of a database whose mark could not be read: it has none, or it is not known whether it has.
fn without_mark(error: EngineError) -> MicroError {
    match error.kind() {
        // A table that does not exist is an error without a kind of its own.
        ErrorKind::Other | ErrorKind::Unsupported | ErrorKind::Refused => MicroError::Foreign,
        _ => MicroError::engine("looking for the mark of a classic workload")(error),
    }
}

/// Refuses a target that Bourse did not create, before anything is opened.
pub(crate) fn refuse_foreign(engine: &dyn Engine) -> Result<(), MicroError> {
    let doing = || MicroError::engine("looking for a database");
    match engine.foreign().map_err(doing())? {
        None => Ok(()),
        Some(why) => Err(doing()(EngineError::refused(why))),
    }
}

/// Maximum number of values of a record, key included: above that of any workload's table.
pub(crate) const WIDEST: usize = 21;

/// Inserts a record.
pub(crate) type Put<'f> = dyn FnMut(Key<'_>, &[Value<'_>]) -> Result<()> + 'f;

/// Fills a table with `rows` records, whose keys and values `record` passes on by number from 0.
pub(crate) fn fill(
    engine: &dyn Engine,
    table: &'static RecordTable,
    rows: u64,
    record: &dyn Fn(u64, &mut Put<'_>) -> Result<()>,
) -> Result<(), MicroError> {
    let doing = || MicroError::engine(format!("loading {}", table.name()));
    let mut connection = engine.connect().map_err(doing())?;
    connection
        .with_records(StatementForm::Prepared, |records| {
            for from in (0..rows).step_by(LOAD_TRANSACTION as usize) {
                records.begin(Access::Write)?;
                let numbers = from..rows.min(from + LOAD_TRANSACTION);
                records.load(table, &mut |put| {
                    numbers.clone().try_for_each(|number| {
                        check_interruption(UNFINISHED)?;
                        record(number, &mut |key, values| {
                            let mut row = ArrayVec::<_, WIDEST>::new();
                            row.push(Value::from(key));
                            row.extend(values.iter().copied());
                            put(&row)
                        })
                    })
                })?;
                records.commit()?;
            }
            Ok(())
        })
        .map_err(doing())
}

/// Fills a table of [`pairs`], numbered from 1.
pub(crate) fn fill_pairs(engine: &dyn Engine, table: &'static RecordTable, rows: u64) -> Result<(), MicroError> {
    fill(engine, table, rows, &|number, put| {
        let text = pair_text(number + 1);
        put(Key::Int(number as i64 + 1), &[Value::Text(&text)])
    })
}

/// A check of Bourse's: whether `found` equals `expected`.
pub(crate) fn same(name: &str, condition: String, expected: u64, found: u64) -> Check {
    let evidence = format!("expected {expected}, found {found}");
    Check::new(name, condition, "the workload's own invariant", expected == found, evidence)
}

/// Reads records in a new session.
pub(crate) fn ask<T>(engine: &dyn Engine, f: impl FnOnce(&mut dyn Records) -> Result<T>) -> Result<T, MicroError> {
    let mut connection = engine.connect().map_err(MicroError::engine("connecting to check"))?;
    connection.with_records(StatementForm::Prepared, f).map_err(MicroError::engine("checking"))
}

/// Number of records of a table.
pub(crate) fn count(engine: &dyn Engine, table: &'static RecordTable) -> Result<u64, MicroError> {
    ask(engine, |records| records.count(table))
}

/// Sum of a field over all records, in key order.
pub(crate) fn sum(engine: &dyn Engine, table: &'static RecordTable, field: usize) -> Result<u64, MicroError> {
    ask(engine, |records| {
        let mut sum = 0;
        // From the second-smallest number: MonetDB takes the smallest for NULL.
        records.scan(table, Key::Int(-i64::MAX), u64::MAX, &mut |row| {
            sum += row.get::<i64>(field + 1)?;
            Ok(())
        })?;
        Ok(u64::try_from(sum).unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load that is killed between making its tables and listing them locked the database for ever.
    #[test]
    fn tables_that_a_load_leaves_unfinished_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let engine = |layout: &str| {
            let target = format!("files:{}?sync=off&layout={layout}", folder.path().join("x").display());
            bourse_engine::files::open(&target).unwrap()
        };
        let ends_early = RecordTable::leaked(&"n".repeat(300), RecordField::new("id", RecordType::Int), &[]);
        let of_pairs = pairs(IndexKind::Tree, None);
        create(&engine("flat"), &[of_pairs, ends_early]).unwrap_err();
        // The list is read with either layout.
        for layout in ["flat", "tree", "flat"] {
            let engine = engine(layout);
            assert_eq!(foreign_tables(&engine).unwrap(), None);
            create(&engine, &[of_pairs]).unwrap();
            fill_pairs(&engine, of_pairs, 200).unwrap();
            assert_eq!(count(&engine, of_pairs).unwrap(), 200);
        }
    }

    /// Regression: whatever error, a missing right or a lost connection too, made the database one of others.
    #[test]
    fn a_mark_that_cannot_be_read_is_not_a_missing_one() {
        use ErrorKind::{Conflict, ConnectionLost, Denied, Full, Interrupted, Other, Refused, Unsupported};
        let of = |kind| without_mark(EngineError::new(kind, "permission denied for table bourse_micro"));
        for kind in [Denied, ConnectionLost, Conflict, Full, Interrupted] {
            let MicroError::Engine { error, .. } = of(kind) else { panic!("{kind:?}") };
            assert_eq!(error.kind(), kind);
        }
        for kind in [Other, Unsupported, Refused] {
            assert!(matches!(of(kind), MicroError::Foreign), "{kind:?}");
        }
    }

    #[test]
    fn texts_of_pairs_fit_their_column() {
        assert_eq!(pair_text(1).len(), 28);
        assert!(pair_text(u64::MAX).len() <= 50);
        for number in [0, 1, 9, 10, 9_999_999, 10_000_000, u64::MAX] {
            let scattered = pair_order(number);
            assert_eq!(pair_text(number), format!("key-{scattered:016x}-{number:07}"));
            assert_eq!(pair_number(pair_text(number).as_bytes()), Some(number));
        }
    }
}
