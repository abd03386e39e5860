//! `update`: updates one column of a row by primary key, one or many rows in a transaction.

use crate::batching::{BATCH, Batching};
use crate::database::{same, sum};
use crate::keys::{Distribution, KEYS, KeyStream};
use crate::options::{Kind, OptionError, OptionSpec, Options, SWITCH};
use crate::persons::{Persons, TABLES, WIDTH};
use crate::usual::{ROWS, STATEMENTS, THREADS, lacking_records, statements, user_spec};
use crate::workload::{Extent, Left, MicroError, Planned, Setting, Tally, WorkloadSpec, Writes};
use bourse_driver::{Clock, Control, Draw, OperationCx, OperationSpec, Performed, User, UserSpec};
use bourse_engine::{Access, Capabilities, Engine, EngineError, ErrorKind, Key, RecordTable, Statements};
use bourse_record::{Check, NameValue};

/// Option: updates in one transaction.
pub(crate) const PER_TRANSACTION: OptionSpec = OptionSpec {
    name: "per_transaction",
    kind: Kind::Count { min: 1, max: 10_000_000 },
    default: "1",
    meaning: "updates per transaction",
};
/// Option: delimiters of a transaction with one statement.
pub(crate) const EXPLICIT: OptionSpec = OptionSpec {
    name: "explicit",
    kind: SWITCH,
    default: "on",
    meaning: "BEGIN and COMMIT around each transaction; off: single statements commit by themselves",
};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "update",
    summary: "increments a column of rows found by primary key",
    tables: TABLES,
    needs: "records by key; `statements=parsed` needs SQL",
    options: &[ROWS, WIDTH, THREADS, PER_TRANSACTION, EXPLICIT, KEYS, STATEMENTS, BATCH],
    extent: Extent::Time,
    plan,
};

struct Update {
    persons: Persons,
    threads: usize,
    keys: Distribution,
    how: How,
}

/// Form of the updates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) per_transaction: u64,
    pub(crate) explicit: bool,
    pub(crate) statements: Statements,
    /// Number of transactions in a sample.
    pub(crate) batch: Option<u64>,
}

impl How {
    /// Form that the options select.
    pub(crate) fn chosen(options: &Options) -> Result<Self, OptionError> {
        let how = Self {
            per_transaction: options.count(PER_TRANSACTION.name),
            explicit: options.is(EXPLICIT.name, "on"),
            statements: statements(options),
            batch: options.count_or(BATCH.name),
        };
        if !how.explicit && how.per_transaction > 1 {
            let per = how.per_transaction;
            return Err(options.refuse(format!("explicit=off makes each update a transaction: not {per} in one")));
        }
        Ok(how)
    }
}

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let persons = Persons::chosen(options);
    let rows = persons.rows;
    Ok(Box::new(Update {
        persons,
        threads: options.size("threads"),
        keys: Distribution::chosen(options, rows),
        how: How::chosen(options)?,
    }))
}

/// Checks that every update is in the database: the updated column was 0 at first.
pub(crate) fn all_there(setting: &Setting<'_>, table: &'static RecordTable) -> Result<Vec<Check>, MicroError> {
    if setting.engine.capabilities().records.is_none_or(|records| !records.ordered_scans) {
        return Ok(Vec::new());
    }
    let words = format!("the sum of {}.c1 is the number of updates that were committed", table.name());
    Ok(vec![same("updates", words, Tally::get(&setting.tally.changes), sum(setting.engine, table, 0)?)])
}

impl Planned for Update {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("update")]
    }
    fn unit(&self) -> &'static str {
        "updates/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        lacking_records(capabilities, self.how.statements)
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        self.persons.make(engine)
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let user = |thread| {
            let keys = KeyStream::new(self.keys.clone(), self.persons.rows, setting.seed, thread, self.threads);
            user_spec(format!("writer {}", thread + 1), Updater::new(0, self.persons.table, keys, self.how, setting))
        };
        (0..self.threads).map(user).collect()
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::committed(0))
    }
    fn check(&self, setting: &Setting<'_>) -> Result<Vec<Check>, MicroError> {
        all_there(setting, self.persons.table)
    }
}

/// Updates rows by key.
pub(crate) struct Updater<'s> {
    operation: usize,
    table: &'static RecordTable,
    keys: KeyStream,
    drawn: Vec<i64>,
    how: How,
    batching: Batching,
    left: Left,
    setting: Setting<'s>,
}

impl<'s> Updater<'s> {
    pub(crate) fn new(
        operation: usize,
        table: &'static RecordTable,
        keys: KeyStream,
        how: How,
        setting: &Setting<'s>,
    ) -> Self {
        // The null engine's batch is in updates, this one in transactions.
        let batch = setting.batch.map(|updates| (updates / how.per_transaction).max(1));
        Self {
            operation,
            table,
            keys,
            drawn: Vec::new(),
            how,
            batching: setting.batching(batch.or(how.batch)),
            left: Left::of(setting.count),
            setting: setting.clone(),
        }
    }

    pub(crate) fn with_count(mut self, count: Option<u64>) -> Self {
        self.left = Left::of(count);
        self
    }
}

impl User for Updater<'_> {
    fn performs(&self, operation: usize) -> bool {
        operation == self.operation
    }

    fn draw(&mut self, clock: &dyn Clock, _: &Control) -> Draw {
        let left = self.left.now();
        // The last transaction may be a smaller one.
        let transactions = self.batching.next(clock, left.div_ceil(self.how.per_transaction));
        let updates = (transactions * self.how.per_transaction).min(left);
        if updates == 0 {
            return Draw::Finished;
        }
        self.left.draw(updates);
        self.drawn.clear();
        self.drawn.extend((0..updates).map(|_| self.keys.next_key() as i64 + 1));
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
        let (table, how, is_real) = (self.table, self.how, self.setting.is_real);
        let all = self.drawn.len() as u32;
        for transaction in self.drawn.chunks(how.per_transaction as usize) {
            let done = cx.retrying(|connection| {
                connection.with_records(how.statements, |records| {
                    if how.explicit {
                        records.begin(Access::Write)?;
                    }
                    for &key in transaction {
                        if !records.add(table, Key::Int(key), 0, 1)? && is_real {
                            return Err(EngineError::new(ErrorKind::Other, format!("no row {key} to update")));
                        }
                    }
                    if how.explicit { records.commit() } else { Ok(()) }
                })
            });
            if let Err(error) = done {
                return Performed::error(self.operation, &error).times(all);
            }
            Tally::add(&self.setting.tally.changes, transaction.len() as u64);
        }
        Performed::completed(self.operation).times(all)
    }
}
