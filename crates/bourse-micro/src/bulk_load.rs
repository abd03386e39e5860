//! `bulk-load`: inserts rows into empty tables.

use crate::database::{RecordWork, count, create, pairs, push_pair_text, same, work_on_records};
use crate::filled_table::{Filler, KEY, TEXT_KEY, Texts, WIDTH, keyed};
use crate::options::{OptionError, OptionKind, WorkloadOption, WorkloadOptions, option};
use crate::records::EXPLICIT;
use crate::usual::{ROWS, STATEMENTS, lacking_records, statements};
use crate::workload::{MicroError, PlannedWorkload, RoundExtent, RoundSettings, RoundTally, WorkloadSpec, Writes};
use arrayvec::ArrayVec;
use bourse_driver::{Clock, Draw, OperationCx, OperationResult, OperationSpec, RoundControl, User, UserSpec};
use bourse_engine::{
    Access, Capabilities, Engine, IndexKind, Key, RecordTable, RecordType, Records, Result, StatementForm, Value,
};
use bourse_record::{Check, NameValue};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "bulk-load",
    summary: "inserts rows into empty tables, in the order of their keys or in a random one",
    tables: "persons, orders, … (id integer, or text of 28 characters, primary key; c1 integer; c2, c3 texts of `width` characters), or \
             pairs (int_key integer, primary key; str_key text of at most 50 characters)",
    needs: "records by key; `statements=parsed` and `indexes=after` need SQL; `key=text` keys that are \
            texts; an engine that assigns keys for ids=assigned",
    options: &[
        ROWS,
        option!("tables" => OptionKind::Count { min: 1, max: 4 }, "1", "tables of `rows` rows each, filled in turn"),
        option!("shape" => OptionKind::Word(&["persons", "pairs"]), "persons",
            "rows with two texts of `width` characters, or with a number and a short text"),
        WIDTH,
        WorkloadOption {
            meaning: "primary key of persons: the row's number, or a text of 28 characters, of which the rows have a random order",
            ..KEY
        },
        option!("ids" => OptionKind::Word(&["given", "assigned"]), "given",
            "ids of persons are given with the rows, or assigned by the engine (AUTOINCREMENT)"),
        option!("per_transaction" => OptionKind::CountOr { word: "all", min: 1, max: 1_000_000_000 }, "all",
            "rows per transaction"),
        EXPLICIT,
        STATEMENTS,
        option!("indexes" => OptionKind::Word(&["none", "before", "after"]), "none",
            "secondary index (on c1, or str_key): none, created before the rows, or built after them and timed separately"),
        option!("key_index" => OptionKind::Word(&["tree", "hash"]), "tree", "index on int_key"),
    ],
    extent: RoundExtent::Work,
    plan,
};

const NAMES: [&str; 4] = ["persons", "orders", "parcels", "places"];
const INSERT: usize = 0;
const INDEX: usize = 1;

/// Rows inserted between two readings of the clock, if a transaction has more: the report's curve needs them, and an
/// interruption must be noticed.
const SAMPLE: u64 = 1_000;

/// Rows assembled before they are passed to the engine: few enough to stay in the nearest cache.
const ROWS_PER_CALL: usize = 32;

struct BulkLoad {
    tables: Vec<&'static RecordTable>,
    /// Tables without the second index, for `indexes=after`.
    bare: Vec<&'static RecordTable>,
    pairs: bool,
    has_text_key: bool,
    rows: u64,
    per_transaction: u64,
    explicit: bool,
    assigned: bool,
    statements: StatementForm,
    after: bool,
    hash: bool,
    filler: Filler,
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let is_pairs = options.is("shape", "pairs");
    let number = options.size("tables");
    if is_pairs && number > 1 {
        return Err(options.refuse("shape=pairs has one table"));
    }
    let hash = options.is("key_index", "hash");
    if hash && !is_pairs {
        return Err(options.refuse("key_index=hash goes with shape=pairs"));
    }
    let assigned = options.is("ids", "assigned");
    if assigned && is_pairs {
        return Err(options.refuse("ids=assigned goes with shape=persons"));
    }
    let has_text_key = options.is(KEY.name, "text");
    if has_text_key && (is_pairs || assigned || number > 1) {
        return Err(options.refuse("key=text goes with shape=persons, ids=given and one table"));
    }
    let key = if has_text_key { TEXT_KEY } else { RecordType::Int };
    let rows = options.count("rows");
    let all = rows.saturating_mul(number as u64);
    let per_transaction = options.count_or("per_transaction").unwrap_or(all);
    let explicit = options.is("explicit", "on");
    if !explicit && per_transaction > 1 {
        return Err(options.refuse(format!("explicit=off makes each row a transaction: not {per_transaction} in one")));
    }
    let width = options.size("width");
    let key_index = if hash { IndexKind::Hash } else { IndexKind::Tree };
    let made = |index: Option<IndexKind>| -> Vec<&'static RecordTable> {
        if is_pairs {
            vec![pairs(key_index, index)]
        } else {
            let table = |name| {
                let table = keyed(name, key, width, index);
                if assigned { table.with_assigned_keys().leak() } else { table.leak() }
            };
            NAMES[..number].iter().copied().map(table).collect()
        }
    };
    let indexed = (!options.is("indexes", "none")).then_some(IndexKind::Tree);
    Ok(Box::new(BulkLoad {
        tables: made(indexed),
        bare: made(None),
        pairs: is_pairs,
        has_text_key,
        rows,
        per_transaction,
        explicit,
        assigned,
        statements: statements(options),
        after: options.is("indexes", "after"),
        hash,
        filler: Filler::new(width, 2),
    }))
}

impl PlannedWorkload for BulkLoad {
    fn operations(&self) -> Vec<OperationSpec> {
        let mut operations = vec![OperationSpec::new("insert")];
        if self.after {
            operations.push(OperationSpec::new("build index"));
        }
        operations
    }
    fn unit(&self) -> &'static str {
        "rows/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if self.after && capabilities.sql.is_none() {
            lacking.push("indexes=after needs SQL".to_owned());
        }
        if let Some(records) = capabilities.records {
            if self.has_text_key && !records.text_keys {
                lacking.push("key=text needs keys that are texts".to_owned());
            }
            if self.hash && !records.hash_index {
                lacking.push("key_index=hash needs a hash index".to_owned());
            }
            if self.assigned && !records.assigned_keys {
                lacking.push("ids=assigned needs an engine that assigns keys".to_owned());
            }
            let second = self.tables[0].fields().iter().any(|field| field.index.is_some());
            if second && !self.after && !records.indexed_fields {
                lacking.push("indexes=before needs indexes beside the key".to_owned());
            }
        }
        lacking
    }
    fn threads(&self) -> usize {
        1
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        create(engine, if self.after { &self.bare } else { &self.tables })?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let loader = Loader {
            load: self,
            at: 0,
            until: 0,
            in_transaction: 0,
            pair_texts: PairTexts::default(),
            index: self.after,
            setting: setting.clone(),
        };
        vec![UserSpec::new("loader", loader)]
    }
    fn counts_before_commit(&self) -> bool {
        true
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::together(INSERT, self.per_transaction))
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        let mut found = 0;
        for table in &self.tables {
            found += count(setting.engine, table)?;
        }
        let words = "there are as many rows as were inserted and committed".to_owned();
        let committed = RoundTally::get(&setting.tally.changes);
        Ok(vec![same("rows", words, setting.expected(committed, self.per_transaction, found), found)])
    }
}

struct Loader<'s> {
    load: &'s BulkLoad,
    /// Number of the next row, over all tables.
    at: u64,
    /// Number of the first row after the sample.
    until: u64,
    /// Rows inserted and not yet committed.
    in_transaction: u64,
    /// Texts of the sample, if rows are pairs or have texts as keys.
    pair_texts: PairTexts,
    /// Whether the index has not been built yet.
    index: bool,
    setting: RoundSettings<'s>,
}

impl Loader<'_> {
    fn all(&self) -> u64 {
        self.load.rows * self.load.tables.len() as u64
    }

    /// Inserts the rows of the sample; begins and commits at the bounds of transactions.
    fn insert<R: Records + ?Sized>(&mut self, records: &mut R) -> Result<()> {
        let (load, all) = (self.load, self.all());
        while self.at < self.until {
            if load.explicit && self.in_transaction == 0 {
                records.begin(Access::Write)?;
            }
            let rows = (load.per_transaction - self.in_transaction).min(self.until - self.at);
            if load.pairs {
                load.insert_pairs(records, self.at, rows, &self.pair_texts)?;
            } else {
                load.insert_persons(records, self.at, rows, &self.pair_texts)?;
            }
            self.at += rows;
            self.in_transaction += rows;
            if self.in_transaction == load.per_transaction || self.at == all {
                if load.explicit {
                    records.commit()?;
                }
                RoundTally::add(&self.setting.tally.changes, self.in_transaction);
                self.in_transaction = 0;
            }
        }
        Ok(())
    }
}

impl BulkLoad {
    fn insert_pairs<R: Records + ?Sized>(
        &self,
        records: &mut R,
        from: u64,
        rows: u64,
        texts: &PairTexts,
    ) -> Result<()> {
        let pair = |number| [Value::Int(number as i64 + 1), Value::Text(texts.of(number))];
        insert_blocks(records, self.tables[0], (from..from + rows).map(pair))
    }

    fn insert_persons<R: Records + ?Sized>(
        &self,
        records: &mut R,
        from: u64,
        rows: u64,
        keys: &PairTexts,
    ) -> Result<()> {
        let tables = self.tables.len() as u64;
        let number = from / tables;
        let mut texts = self.filler.from(number);
        match &self.tables[..] {
            [table] if self.assigned => insert_blocks(records, table, (0..rows).map(|_| person(&mut texts))),
            [table] => {
                let with_id = |number| {
                    let [c1, c2, c3] = person(&mut texts);
                    let id = match self.has_text_key {
                        true => Value::Text(keys.of(number)),
                        false => Value::Int(number as i64 + 1),
                    };
                    [id, c1, c2, c3]
                };
                insert_blocks(records, table, (from..from + rows).map(with_id))
            }
            all => self.insert_by_turns(records, all, (from % tables) as usize, number, &mut texts, rows),
        }
    }

    /// Inserts a row into each table before the next row into the first.
    fn insert_by_turns<R: Records + ?Sized>(
        &self,
        records: &mut R,
        tables: &[&'static RecordTable],
        mut table: usize,
        mut number: u64,
        texts: &mut Texts<'_>,
        rows: u64,
    ) -> Result<()> {
        let mut values = person(texts);
        for _ in 0..rows {
            if self.assigned {
                records.append(tables[table], &values)?;
            } else {
                records.insert(tables[table], Key::Int(number as i64 + 1), &values)?;
            }
            // Counted on, since dividing anew for each row would be no small part of inserting it.
            table += 1;
            if table == tables.len() {
                (table, number) = (0, number + 1);
                values = person(texts);
            }
        }
        Ok(())
    }
}

/// Values of the next person, without the key.
#[inline]
fn person<'f>(texts: &mut Texts<'f>) -> [Value<'f>; 3] {
    [Value::Int(0), Value::Text(texts.next_text()), Value::Text(texts.next_text())]
}

/// Inserts rows of `W` values in blocks.
#[inline]
fn insert_blocks<'v, R: Records + ?Sized, const W: usize>(
    records: &mut R,
    table: &'static RecordTable,
    mut rows: impl Iterator<Item = [Value<'v>; W]>,
) -> Result<()> {
    let mut block = ArrayVec::<_, ROWS_PER_CALL>::new();
    loop {
        block.extend(rows.by_ref().take(ROWS_PER_CALL));
        if block.is_empty() {
            return Ok(());
        }
        records.insert_rows(table, block.as_flattened())?;
        block.clear();
    }
}

/// Texts of consecutive pairs, concatenated.
#[derive(Default)]
struct PairTexts {
    /// Number of the first pair, from 0.
    first: u64,
    text: String,
    ends: Vec<usize>,
}

impl PairTexts {
    /// Creates the texts of pairs `from` to `until`, exclusive.
    fn draw(&mut self, from: u64, until: u64) {
        self.first = from;
        self.text.clear();
        self.ends.clear();
        for number in from..until {
            push_pair_text(&mut self.text, number + 1);
            self.ends.push(self.text.len());
        }
    }

    fn of(&self, number: u64) -> &str {
        let at = (number - self.first) as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[at]]
    }
}

/// Inserts the sample of a loader.
struct InsertingUser<'l, 's>(&'l mut Loader<'s>);

impl RecordWork for InsertingUser<'_, '_> {
    type Result = Result<()>;
    #[inline]
    fn on<R: Records + ?Sized>(self, records: &mut R) -> Self::Result {
        self.0.insert(records)
    }
}

impl User for Loader<'_> {
    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        if self.at >= self.all() {
            if !self.setting.is_real {
                // The null engine repeats the rows until its time is known well enough.
                self.at = 0;
            } else if std::mem::take(&mut self.index) {
                self.until = self.at;
                return Draw::Ready;
            } else {
                return Draw::Finished;
            }
        }
        // A sample never spans two transactions unless they are of one row each, and short.
        let rest = self.load.per_transaction - self.in_transaction;
        let batch = self.setting.batch.unwrap_or(SAMPLE).min(rest);
        self.until = (self.at + batch).min(self.all());
        if self.load.pairs || self.load.has_text_key {
            self.pair_texts.draw(self.at, self.until);
        }
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        if self.until == self.at {
            return build_index(self.load, cx);
        }
        let (from, statements) = (self.at, self.load.statements);
        let rows = (self.until - from) as u32;
        // No other user writes here: a failure is not retried.
        match work_on_records(cx.connection, statements, InsertingUser(self)) {
            Ok(()) => OperationResult::completed(INSERT).times(rows),
            Err(error) => {
                // The rest of the transaction is lost with it; the first error is the one to report.
                let _ = cx.connection.rollback();
                self.in_transaction = 0;
                self.at = self.all();
                self.index = false;
                OperationResult::error(INSERT, &error).times(rows)
            }
        }
    }
}

fn build_index(load: &BulkLoad, cx: &mut OperationCx<'_>) -> OperationResult {
    for statement in load.tables.iter().flat_map(|table| table.create_index_sql()) {
        let built = cx.connection.sql().and_then(|session| session.execute_text(&statement, &[]));
        if let Err(error) = built {
            return OperationResult::error(INDEX, &error);
        }
    }
    OperationResult::completed(INDEX)
}
