//! `read-write`: concurrent readers and writers, with separate figures.

use crate::batching::BATCH;
use crate::keys::{Distribution, KEYS, KeyStream};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::persons::{Persons, TABLES, WIDTH};
use crate::point_read::Reader;
use crate::update::{EXPLICIT, How, PER_TRANSACTION, Updater, all_there};
use crate::usual::{ROWS, STATEMENTS, lacking_records, user_spec};
use crate::workload::{Extent, MicroError, Planned, Setting, Tally, WorkloadSpec, Writes, named};
use bourse_driver::{Clock, OperationSpec, UserSpec};
use bourse_engine::{Capabilities, Engine};
use bourse_record::{Check, NameValue, Round};
use std::sync::Arc;

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "read-write",
    summary: "reads rows by primary key on some threads while other threads update them",
    tables: TABLES,
    needs: "records by key; `statements=parsed` needs SQL",
    options: &[
        ROWS,
        WIDTH,
        OptionSpec {
            name: "readers",
            kind: Kind::Count { min: 1, max: 1_024 },
            default: "1",
            meaning: "threads that read",
        },
        OptionSpec {
            name: "writers",
            kind: Kind::Count { min: 1, max: 1_024 },
            default: "1",
            meaning: "threads that update",
        },
        OptionSpec {
            name: "writes",
            kind: Kind::CountOr { word: "any", min: 1, max: u64::MAX },
            default: "any",
            meaning: "updates of each writer if --count is given; any: as many as fit into the time",
        },
        PER_TRANSACTION,
        EXPLICIT,
        KEYS,
        STATEMENTS,
        BATCH,
    ],
    extent: Extent::Time,
    plan,
};

struct ReadWrite {
    persons: Persons,
    readers: usize,
    writers: usize,
    writes: Option<u64>,
    keys: Distribution,
    how: How,
}

const READ: usize = 0;
const WRITE: usize = 1;

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let persons = Persons::chosen(options);
    let rows = persons.rows;
    Ok(Box::new(ReadWrite {
        persons,
        readers: options.size("readers"),
        writers: options.size("writers"),
        writes: options.count_or("writes"),
        keys: Distribution::chosen(options, rows),
        how: How::chosen(options)?,
    }))
}

impl Planned for ReadWrite {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("read"), OperationSpec::new("write")]
    }
    fn unit(&self) -> &'static str {
        "reads/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        lacking_records(capabilities, self.how.statements)
    }
    fn threads(&self) -> usize {
        self.readers + self.writers
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        self.persons.make(engine)
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let threads = self.readers + self.writers;
        let keys = |thread| KeyStream::new(self.keys.clone(), self.persons.rows, setting.seed, thread, threads);
        // Rows read by readers must not be counted as changes.
        let reading = Setting { tally: Arc::new(Tally::default()), ..setting.clone() };
        let readers = (0..self.readers).map(|thread| {
            let statements = self.how.statements;
            let reader = Reader::new(READ, &self.persons, keys(thread), statements, &reading, self.how.batch);
            UserSpec {
                role: "readers",
                ..user_spec(format!("reader {}", thread + 1), reader.with_count(setting.count))
            }
        });
        let writers = (0..self.writers).map(|thread| {
            let updater = Updater::new(WRITE, self.persons.table, keys(self.readers + thread), self.how, setting);
            let count = setting.count.and(self.writes).or(setting.count);
            UserSpec { role: "writers", ..user_spec(format!("writer {}", thread + 1), updater.with_count(count)) }
        });
        readers.chain(writers).collect()
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::committed(WRITE))
    }
    fn check(&self, setting: &Setting<'_>) -> Result<Vec<Check>, MicroError> {
        all_there(setting, self.persons.table)
    }
    fn finish(&self, _: &Setting<'_>, round: &mut Round) {
        let written = round.operations[WRITE].valid() as f64 / round.measured_s.max(1e-9);
        round.facts.push(named("writes/s", format!("{written:.1}")));
        round.facts.push(named("writes' retries after conflicts", round.operations[WRITE].retries.to_string()));
        round.facts.push(named("reads' retries after conflicts", round.operations[READ].retries.to_string()));
    }
}
