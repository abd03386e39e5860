//! `point-read`: reads records by primary key, each thread on a connection of its own.

use crate::batching::{BATCH, Batching};
use crate::database::pair_text;
use crate::keys::{Distribution, KEYS, KeyStream};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::persons::{KEY, Persons, WIDTH};
use crate::row_sum::{RowSums, read_person};
use crate::usual::{ROWS, STATEMENTS, THREADS, lacking_records, statements, user_spec};
use crate::workload::{Extent, Left, MicroError, Planned, Setting, Tally, WorkloadSpec, named};
use bourse_driver::{Clock, Control, Draw, OperationCx, OperationSpec, Performed, User, UserSpec};
use bourse_engine::{Capabilities, Engine, EngineError, ErrorKind, RecordTable, Row, Statements, Value};
use bourse_record::{NameValue, Round};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "point-read",
    summary: "reads rows by primary key",
    tables: "persons (id integer, or text of 28 characters, primary key; c1 integer; c2, c3 texts of `width` \
             characters)",
    needs: "records by key; `key=text` needs keys that are texts; `statements=parsed` needs SQL",
    options: &[
        ROWS,
        WIDTH,
        KEY,
        THREADS,
        OptionSpec {
            name: "hit_rate",
            kind: Kind::Fraction,
            default: "1",
            meaning: "share of reads that find a row: keys are drawn from rows / hit_rate numbers",
        },
        KEYS,
        STATEMENTS,
        BATCH,
    ],
    extent: Extent::Time,
    plan,
};

struct PointRead {
    persons: Persons,
    range: u64,
    threads: usize,
    keys: Distribution,
    statements: Statements,
    batch: Option<u64>,
}

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let persons = Persons::chosen_with_key(options);
    let range = (persons.rows as f64 / options.fraction("hit_rate")).round() as u64;
    Ok(Box::new(PointRead {
        persons,
        range,
        threads: options.size("threads"),
        keys: Distribution::chosen(options, range),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
    }))
}

impl Planned for PointRead {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("read")]
    }
    fn unit(&self) -> &'static str {
        "reads/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if self.persons.text_key && capabilities.records.is_some_and(|records| !records.text_keys) {
            lacking.push("key=text needs keys that are texts".to_owned());
        }
        lacking
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        self.persons.make(engine)
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let user = |thread| {
            let keys = KeyStream::new(self.keys.clone(), self.range, setting.seed, thread, self.threads);
            let reader = Reader::new(0, &self.persons, keys, self.statements, setting, self.batch);
            let reader = reader.expecting_loaded_numbers();
            user_spec(format!("reader {}", thread + 1), reader)
        };
        (0..self.threads).map(user).collect()
    }
    fn finish(&self, setting: &Setting<'_>, round: &mut Round) {
        let found = Tally::get(&setting.tally.found) as f64;
        let asked = Tally::get(&setting.tally.changes) as f64;
        if setting.is_real && asked > 0.0 {
            round.facts.push(named("hit rate, measured", format!("{:.2} %", 100.0 * found / asked)));
        }
    }
}

/// Text keys passed to the engine together, to be looked up one after another.
const TOGETHER: usize = 32;

/// Counts and sums of the rows read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Found {
    rows: u64,
    /// Sum of the rows' texts.
    texts: u64,
    /// Sum of the rows' numbers.
    numbers: i64,
}

impl Found {
    /// Adds a row, every byte of it. A row with a missing column is not counted.
    #[inline]
    fn add(&mut self, row: &dyn Row) {
        if let Some((number, texts)) = read_person(row) {
            self.rows += 1;
            self.texts = self.texts.wrapping_add(texts);
            self.numbers = self.numbers.wrapping_add(number);
        }
    }
}

/// Reads by key, with known keys and row contents.
pub(crate) struct Reader<'s> {
    operation: usize,
    table: &'static RecordTable,
    /// Number of rows; their keys are 1 to `rows`.
    rows: u64,
    keys: KeyStream,
    drawn: Vec<Value<'static>>,
    /// Keys drawn, if they are texts; `drawn` is empty then.
    texts: Vec<String>,
    text_key: bool,
    /// Expected result of reading the keys drawn.
    expected: Found,
    /// Sums of the rows' texts as loaded.
    sums: &'s RowSums,
    /// Whether the rows' numbers stay 0, because no user updates them.
    numbers_stay: bool,
    statements: Statements,
    batching: Batching,
    left: Left,
    setting: Setting<'s>,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(
        operation: usize,
        persons: &'s Persons,
        keys: KeyStream,
        statements: Statements,
        setting: &Setting<'s>,
        batch: Option<u64>,
    ) -> Self {
        Self {
            operation,
            table: persons.table,
            rows: persons.rows,
            keys,
            drawn: Vec::new(),
            texts: Vec::new(),
            text_key: persons.text_key,
            expected: Found::default(),
            sums: persons.sums(),
            numbers_stay: false,
            statements,
            batching: setting.batching(setting.batch.or(batch)),
            left: Left::of(setting.count),
            setting: setting.clone(),
        }
    }

    /// Expects the numbers that rows were loaded with, for workloads without updates.
    fn expecting_loaded_numbers(self) -> Self {
        Self { numbers_stay: true, ..self }
    }

    pub(crate) fn with_count(mut self, count: Option<u64>) -> Self {
        self.left = Left::of(count);
        self
    }
}

impl Reader<'_> {
    #[cold]
    fn mismatch(&self, found: Found) -> EngineError {
        let expected = self.expected;
        let words = if found.rows == expected.rows {
            "a row was read whose values are not those that were loaded".to_owned()
        } else {
            format!("{} rows found, {} of the keys are there", found.rows, expected.rows)
        };
        EngineError::new(ErrorKind::Other, words)
    }
}

impl User for Reader<'_> {
    fn performs(&self, operation: usize) -> bool {
        operation == self.operation
    }

    fn draw(&mut self, clock: &dyn Clock, _: &Control) -> Draw {
        let batch = self.batching.next(clock, self.left.now());
        if batch == 0 {
            return Draw::Finished;
        }
        self.left.draw(batch);
        self.drawn.clear();
        self.texts.clear();
        let (rows, sums, mut expected) = (self.rows, self.sums, Found::default());
        let mut id = |key| {
            if key < rows {
                expected.rows += 1;
                expected.texts = expected.texts.wrapping_add(sums.row(key));
            }
            key + 1
        };
        if self.text_key {
            self.keys.draw(batch, &mut self.texts, |key| pair_text(id(key)));
        } else {
            self.keys.draw(batch, &mut self.drawn, |key| Value::Int(id(key) as i64));
        }
        self.expected = expected;
        self.batching.begins(clock);
        Draw::Ready
    }

    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> Performed {
        let (table, statements, drawn, texts) = (self.table, self.statements, &self.drawn[..], &self.texts[..]);
        let count = drawn.len() + texts.len();
        let read = cx.retrying(|connection| {
            connection.with_records(statements, |records| {
                let mut found = Found::default();
                records.get_each(table, drawn, &mut |at, row| {
                    // The row must be the requested one.
                    if matches!(drawn[at], Value::Int(key) if row.is_int(0, key)) {
                        found.add(row);
                    }
                    Ok(())
                })?;
                // Keys on the stack: the timed part must not allocate.
                let mut keys = [Value::Null; TOGETHER];
                for texts in texts.chunks(TOGETHER) {
                    let keys = &mut keys[..texts.len()];
                    keys.iter_mut().zip(texts).for_each(|(key, text)| *key = Value::Text(text));
                    records.get_each(table, keys, &mut |at, row| {
                        if row.text_bytes(0) == Some(texts[at].as_bytes()) {
                            found.add(row);
                        }
                        Ok(())
                    })?;
                }
                Ok::<_, EngineError>(found)
            })
        });
        let mut found = match read {
            Ok(found) => found,
            Err(error) => return Performed::error(self.operation, &error).times(count as u32),
        };
        Tally::add(&self.setting.tally.changes, count as u64);
        Tally::add(&self.setting.tally.found, found.rows);
        if !self.numbers_stay {
            found.numbers = 0;
        }
        if self.setting.is_real && found != self.expected {
            return Performed::error(self.operation, &self.mismatch(found)).times(count as u32);
        }
        Performed::completed(self.operation).times(count as u32)
    }
}
