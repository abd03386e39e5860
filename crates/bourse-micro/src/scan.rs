//! `scan`: reads rows in key order, from a given key on.

use crate::batching::{BATCH, Batching};
use crate::keys::{Distribution, KEYS, KeyStream};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::persons::{Persons, TABLES, WIDTH};
use crate::row_sum::{RowSums, read_person};
use crate::usual::{ROWS, STATEMENTS, THREADS, lacking_records, statements, user_spec};
use crate::workload::{Extent, Left, MicroError, Planned, Setting, Tally, WorkloadSpec, named};
use bourse_driver::{Clock, Control, Draw, OperationCx, OperationSpec, Performed, User, UserSpec};
use bourse_engine::{Capabilities, Engine, EngineError, ErrorKind, Key, Statements};
use bourse_record::{NameValue, Round};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "scan",
    summary: "reads ranges of rows in key order, from a random key",
    tables: TABLES,
    needs: "records by key with ordered scans; `statements=parsed` needs SQL",
    options: &[
        ROWS,
        WIDTH,
        THREADS,
        OptionSpec {
            name: "length",
            kind: Kind::Count { min: 1, max: 1_000_000_000 },
            default: "100",
            meaning: "rows of one scan; fewer at the end of the table",
        },
        KEYS,
        STATEMENTS,
        BATCH,
    ],
    extent: Extent::Time,
    plan,
};

struct Scan {
    persons: Persons,
    length: u64,
    threads: usize,
    keys: Distribution,
    statements: Statements,
    batch: Option<u64>,
}

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let persons = Persons::chosen(options);
    let rows = persons.rows;
    Ok(Box::new(Scan {
        persons,
        length: options.count("length"),
        threads: options.size("threads"),
        keys: Distribution::chosen(options, rows),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
    }))
}

impl Planned for Scan {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("scan")]
    }
    fn unit(&self) -> &'static str {
        "scans/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if capabilities.records.is_some_and(|records| !records.ordered_scans) {
            lacking.push("it needs records in the order of their keys".to_owned());
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
            let scanner = Scanner {
                scan: self,
                keys: KeyStream::new(self.keys.clone(), self.persons.rows, setting.seed, thread, self.threads),
                drawn: Vec::new(),
                expected: Scanned::default(),
                sums: self.persons.sums(),
                batching: setting.batching(setting.batch.or(self.batch)),
                left: Left::of(setting.count),
                setting: setting.clone(),
            };
            user_spec(format!("scanner {}", thread + 1), scanner)
        };
        (0..self.threads).map(user).collect()
    }
    fn finish(&self, setting: &Setting<'_>, round: &mut Round) {
        let rows = Tally::get(&setting.tally.found) as f64;
        let scans = Tally::get(&setting.tally.changes).max(1) as f64;
        if setting.is_real {
            round.facts.push(named("rows a scan, on average", format!("{:.1}", rows / scans)));
            round.facts.push(named("rows/s", format!("{:.0}", rows / scans * round.headline)));
        }
    }
}

/// Counts and sums of scanned rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Scanned {
    /// Rows that came in order.
    rows: u64,
    /// Sum of the rows' texts.
    texts: u64,
    /// Sum of the rows' numbers.
    numbers: i64,
}

struct Scanner<'s> {
    scan: &'s Scan,
    keys: KeyStream,
    drawn: Vec<i64>,
    /// Expected result of all scans drawn.
    expected: Scanned,
    /// Sums of the rows' texts as loaded.
    sums: &'s RowSums,
    batching: Batching,
    left: Left,
    setting: Setting<'s>,
}

impl User for Scanner<'_> {
    fn draw(&mut self, clock: &dyn Clock, _: &Control) -> Draw {
        let batch = self.batching.next(clock, self.left.now());
        if batch == 0 {
            return Draw::Finished;
        }
        self.left.draw(batch);
        self.drawn.clear();
        self.drawn.extend((0..batch).map(|_| self.keys.next_key() as i64 + 1));
        self.expected = Scanned::default();
        for &key in &self.drawn {
            let from = key as u64 - 1;
            let rows = self.scan.length.min(self.scan.persons.rows - from);
            self.expected.rows += rows;
            self.expected.texts = self.expected.texts.wrapping_add(self.sums.rows(from, from + rows));
        }
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
        let Scan { length, statements, .. } = *self.scan;
        let table = self.scan.persons.table;
        let drawn = &self.drawn;
        let scanned = cx.retrying(|connection| {
            connection.with_records(statements, |records| {
                let mut scanned = Scanned::default();
                for &from in drawn {
                    let mut next = from;
                    records.scan(table, Key::Int(from), length, &mut |row| {
                        if row.is_int(0, next)
                            && let Some((number, texts)) = read_person(row)
                        {
                            scanned.rows += 1;
                            scanned.texts = scanned.texts.wrapping_add(texts);
                            scanned.numbers = scanned.numbers.wrapping_add(number);
                        }
                        next += 1;
                        Ok(())
                    })?;
                }
                Ok::<_, EngineError>(scanned)
            })
        });
        let count = drawn.len() as u32;
        let scanned = match scanned {
            Ok(scanned) => scanned,
            Err(error) => return Performed::error(0, &error).times(count),
        };
        Tally::add(&self.setting.tally.found, scanned.rows);
        Tally::add(&self.setting.tally.changes, u64::from(count));
        if scanned != self.expected && self.setting.is_real {
            let words = match (scanned.rows, self.expected.rows) {
                (rows, expected) if rows == expected => {
                    "a row was read whose values are not those that were loaded".to_owned()
                }
                (rows, expected) => format!("{rows} rows came in their order, of {expected} that are there"),
            };
            return Performed::error(0, &EngineError::new(ErrorKind::Other, words)).times(count);
        }
        Performed::completed(0).times(count)
    }
}
