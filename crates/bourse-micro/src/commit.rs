//! `commit`: transactions as empty as can be, which still have to last, beside a raw fdatasync of the same file system.

use crate::batching::{BATCH, Batching};
use crate::database::{create, fill, same, sum};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::usual::{STATEMENTS, THREADS, lacking_records, statements, user_spec};
use crate::workload::{Extent, Left, MicroError, Planned, Setting, Tally, WorkloadSpec, Writes, named};
use bourse_driver::{Clock, Control, Draw, Nanos, OperationCx, OperationSpec, Performed, SECOND, User, UserSpec};
use bourse_engine::{
    Access, Capabilities, Durability, Engine, EngineError, ErrorKind, Key, RecordField, RecordTable, RecordType,
    Statements, Value,
};
use bourse_record::{Check, Counts, NameValue, Operation, Outcome, OutcomeCount, Round};
use std::fs::{File, OpenOptions, remove_file};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "commit",
    summary: "commits transactions that increment a number; compares with raw fdatasync on the same file system",
    tables: "counters (id integer, primary key; n integer), one row per thread",
    needs: "records by key",
    options: &[
        THREADS,
        OptionSpec {
            name: "raw_syncs",
            kind: Kind::Count { min: 0, max: 1_000_000 },
            default: "500",
            meaning: "times that 4 KiB of a file beside the database are written over and synced before the round, for \
                      half a second at most; 0 for none",
        },
        STATEMENTS,
        BATCH,
    ],
    extent: Extent::Time,
    plan,
};

static COUNTERS: RecordTable =
    RecordTable::new("counters", RecordField::new("id", RecordType::Int), &[RecordField::new("n", RecordType::Int)]);

/// What the raw syncs are called beside the commits.
const RAW: &str = "raw fdatasync";
/// The longest that raw syncs may take before a round.
const RAW_LIMIT: Nanos = SECOND / 2;

struct Commits {
    threads: usize,
    raw_syncs: u64,
    statements: Statements,
    batch: Option<u64>,
    /// What the syncs before the round took.
    raw: Mutex<Option<Counts>>,
}

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    Ok(Box::new(Commits {
        threads: options.size("threads"),
        raw_syncs: options.count("raw_syncs"),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
        raw: Mutex::default(),
    }))
}

impl Planned for Commits {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("commit")]
    }
    fn unit(&self) -> &'static str {
        "commits/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        lacking_records(capabilities, self.statements)
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn prepare(&self, engine: &dyn Engine, clock: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[&COUNTERS])?;
        fill(engine, &COUNTERS, self.threads as u64, &|number, put| {
            put(Key::Int(number as i64 + 1), &[Value::Int(0)])
        })?;
        let folder = engine.location().folder().filter(|_| self.raw_syncs > 0);
        let counts = folder.as_deref().map(|folder| raw_syncs(folder, self.raw_syncs, clock)).transpose();
        *self.raw.lock().unwrap_or_else(PoisonError::into_inner) = counts
            .map_err(|error| MicroError::System { doing: "syncing a file beside the database".to_owned(), error })?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let user = |thread| {
            let committer = Committer {
                commits: self,
                counter: thread as i64 + 1,
                drawn: 0,
                batching: Batching::new(setting.batch.or(self.batch)),
                left: Left::of(setting.count),
                setting: setting.clone(),
            };
            user_spec(format!("committer {}", thread + 1), committer)
        };
        (0..self.threads).map(user).collect()
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::committed(0))
    }
    fn check(&self, setting: &Setting<'_>) -> Result<Vec<Check>, MicroError> {
        if setting.engine.capabilities().records.is_none_or(|records| !records.ordered_scans) {
            return Ok(Vec::new());
        }
        let words = "the sum of counters.n is the number of commits".to_owned();
        Ok(vec![same("commits", words, Tally::get(&setting.tally.changes), sum(setting.engine, &COUNTERS, 0)?)])
    }
    fn finish(&self, setting: &Setting<'_>, round: &mut Round) {
        if !setting.is_real {
            return;
        }
        if let Ok(description) = setting.engine.description()
            && description.durability != Durability::Durable
        {
            let class = bourse_driver::durability(description.durability);
            round.warnings.push(bourse_record::Warning::NotDurable { class });
        }
        let Some(counts) = self.raw.lock().unwrap_or_else(PoisonError::into_inner).clone() else {
            let why = if self.raw_syncs == 0 { "not asked for" } else { "the database has no file here to be synced" };
            round.facts.push(named(RAW, why));
            return;
        };
        let summary = counts.summary();
        let commit = round.operations[0].service.summary;
        if summary.p50_ns > 0 && commit.count > 0 {
            let times = commit.p50_ns as f64 / summary.p50_ns as f64;
            round.facts.push(named("a commit, by raw fdatasyncs (medians)", format!("{times:.2}")));
        }
        round.operations.push(raw_operation(&counts));
    }
}

/// The syncs as an operation of the report, beside the commits.
fn raw_operation(counts: &Counts) -> Operation {
    let count = counts.len();
    Operation {
        name: RAW.to_owned(),
        outcomes: vec![OutcomeCount { outcome: Outcome::Completed, code: 0, count, meaning: None, example: None }],
        retries: 0,
        late: 0,
        samples: count,
        harness_overhead_ns: None,
        mix_target_percent: None,
        mix_tolerance_points: None,
        limit_ns: None,
        response: counts.distribution(),
        service: counts.distribution(),
        server: None,
        by_outcome: Vec::new(),
    }
}

/// A file that goes when it is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed somebody has done so already, or there is nobody left to tell.
        let _ = remove_file(&self.0);
    }
}

/// Writes 4 KiB of a file of 1 MiB over and has them synced, again and again.
fn raw_syncs(folder: &Path, most: u64, clock: &dyn Clock) -> std::io::Result<Counts> {
    const BLOCK: usize = 4096;
    const BLOCKS: u64 = 256;
    let path = folder.join(format!(".bourse-syncs-{}", std::process::id()));
    let mut file: File = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let _scratch = Scratch(path);
    // All of it is there before the first sync that counts: only its bytes change, never its size.
    for _ in 0..BLOCKS {
        file.write_all(&[1; BLOCK])?;
    }
    file.sync_all()?;
    let mut counts = Counts::new();
    let begin = clock.now();
    for number in 0..most {
        let start = clock.now();
        if start - begin > RAW_LIMIT {
            break;
        }
        file.seek(SeekFrom::Start(number % BLOCKS * BLOCK as u64))?;
        file.write_all(&[number as u8; BLOCK])?;
        file.sync_data()?;
        counts.record(clock.now() - start);
    }
    Ok(counts)
}

struct Committer<'s> {
    commits: &'s Commits,
    /// The counter that is this thread's alone.
    counter: i64,
    /// Commits of the sample drawn.
    drawn: u64,
    batching: Batching,
    left: Left,
    setting: Setting<'s>,
}

impl User for Committer<'_> {
    fn draw(&mut self, clock: &dyn Clock, control: &Control) -> Draw {
        self.drawn = self.batching.next(clock, self.left.now(control, clock));
        if self.drawn == 0 {
            return Draw::Finished;
        }
        self.left.draw(self.drawn);
        self.batching.begins(clock);
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> Performed {
        let (statements, counter, is_real) = (self.commits.statements, self.counter, self.setting.is_real);
        for _ in 0..self.drawn {
            let done = cx.retrying(|connection| {
                connection.with_records(statements, |records| {
                    records.begin(Access::Write)?;
                    if !records.add(&COUNTERS, Key::Int(counter), 0, 1)? && is_real {
                        return Err(EngineError::new(ErrorKind::Other, format!("no counter {counter}")));
                    }
                    records.commit()
                })
            });
            if let Err(error) = done {
                return Performed::error(0, &error).times(self.drawn as u32);
            }
            Tally::add(&self.setting.tally.changes, 1);
        }
        Performed::completed(0).times(self.drawn as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::{MS, RealClock};

    #[test]
    fn raw_syncs_are_counted_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let clock = RealClock::start();
        let counts = raw_syncs(folder.path(), 5, &clock).unwrap();
        assert!((1..=5).contains(&counts.len()));
        assert!(counts.summary().max_ns < clock.now() && clock.now() > MS / 100);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(raw_operation(&counts).valid(), counts.len());
        assert!(raw_syncs(Path::new("/nowhere/at/all"), 5, &clock).is_err());
    }
}
