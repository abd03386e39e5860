//! `commit`: minimal transactions that must be durable, compared with a raw fdatasync on the same file system.

use crate::batching::{BATCH, Batching};
use crate::database::{create, fill, same, sum};
use crate::options::{OptionError, OptionKind, WorkloadOptions, option};
use crate::usual::{STATEMENTS, THREADS, lacking_records, statements};
use crate::workload::{
    MicroError, PlannedWorkload, RemainingOperations, RoundExtent, RoundSettings, RoundTally, WorkloadSpec, Writes,
    named,
};
use bourse_driver::{
    Clock, Draw, OperationCx, OperationResult, OperationSpec, RoundControl, SyncedFile, User, UserSpec,
};
use bourse_engine::{
    Access, Capabilities, Durability, Engine, EngineError, ErrorKind, Key, RecordField, RecordTable, RecordType,
    StatementForm, Value,
};
use bourse_record::{Check, Counts, NameValue, PhaseKind, Round};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "commit",
    summary: "commits transactions that increment a number; compares with raw fdatasync on the same file system",
    tables: "counters (id integer, primary key; n integer), one row per thread",
    needs: "records by key",
    options: &[
        THREADS,
        option!("raw_syncs" => OptionKind::Count { min: 0, max: 1_000_000 }, "500",
            "most times that 4 KiB of a file beside the database are written over and synced: before the first \
             commit and after every 50 of the first thread, outside the timed part; 0 for none"),
        STATEMENTS,
        BATCH,
    ],
    extent: RoundExtent::Time,
    plan,
};

static COUNTERS: RecordTable =
    RecordTable::new("counters", RecordField::new("id", RecordType::Int), &[RecordField::new("n", RecordType::Int)]);

/// Name of the raw syncs in reports.
const RAW: &str = "raw fdatasync";
/// Commits of the first thread between two raw syncs: so few syncs change the rate of the commits by less than 2 %.
const COMMITS_A_SYNC: u64 = 50;

struct Commits {
    threads: usize,
    raw_syncs: u64,
    statements: StatementForm,
    batch: Option<u64>,
    /// Raw syncs of this round.
    raw: Mutex<Option<RawSyncs>>,
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    Ok(Box::new(Commits {
        threads: options.size("threads"),
        raw_syncs: options.count("raw_syncs"),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
        raw: Mutex::default(),
    }))
}

impl PlannedWorkload for Commits {
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
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[&COUNTERS])?;
        fill(engine, &COUNTERS, self.threads as u64, &|number, put| {
            put(Key::Int(number as i64 + 1), &[Value::Int(0)])
        })?;
        let folder = engine.location().folder().filter(|_| self.raw_syncs > 0);
        let raw = folder.as_deref().map(|folder| RawSyncs::new(folder, self.raw_syncs)).transpose();
        *self.raw() =
            raw.map_err(|error| MicroError::System { doing: "making a file beside the database".to_owned(), error })?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let user = |thread| {
            let committer = Committer {
                commits: self,
                counter: thread as i64 + 1,
                drawn: 0,
                syncs_in: (thread == 0 && setting.is_real).then_some(0),
                batching: setting.batching(setting.batch.or(self.batch)),
                left: RemainingOperations::of(setting.count),
                setting: setting.clone(),
            };
            UserSpec::new(format!("committer {}", thread + 1), committer)
        };
        (0..self.threads).map(user).collect()
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::committed(0))
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        if setting.engine.capabilities().records.is_none_or(|records| !records.ordered_scans) {
            return Ok(Vec::new());
        }
        let words = "the sum of counters.n is the number of commits".to_owned();
        Ok(vec![same("commits", words, RoundTally::get(&setting.tally.changes), sum(setting.engine, &COUNTERS, 0)?)])
    }
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        if !setting.is_real {
            return;
        }
        if let Ok(description) = setting.engine.description()
            && description.durability != Durability::Durable
        {
            round.warnings.push(bourse_record::Warning::NotDurable { class: description.durability });
        }
        let raw = self.raw().take();
        let Some(raw) = raw else {
            let why = if self.raw_syncs == 0 { "not asked for" } else { "the database has no file here to be synced" };
            round.facts.push(named(RAW, why));
            return;
        };
        if let Some(error) = raw.error {
            round.facts.push(named(RAW, format!("failed: {error}")));
            return;
        }
        let summary = raw.counts.summary();
        let us = |ns: u64| format!("{:.1} µs", ns as f64 / 1e3);
        round.facts.push(named(
            RAW,
            format!(
                "{} among the commits, median {}, longest {}",
                summary.count,
                us(summary.p50_ns),
                us(summary.max_ns)
            ),
        ));
        let commit = round.operations[0].service.summary;
        if summary.p50_ns > 0 && commit.count > 0 {
            let times = commit.p50_ns as f64 / summary.p50_ns as f64;
            round.facts.push(named("a commit, by raw fdatasyncs (medians)", format!("{times:.2}")));
        }
    }
}

impl Commits {
    fn raw(&self) -> MutexGuard<'_, Option<RawSyncs>> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Raw syncs among the commits.
struct RawSyncs {
    file: SyncedFile,
    /// Number of syncs still possible.
    left: u64,
    counts: Counts,
    /// Error that ended the syncs.
    error: Option<std::io::Error>,
}

impl RawSyncs {
    fn new(folder: &Path, most: u64) -> std::io::Result<Self> {
        Ok(Self { file: SyncedFile::new(folder)?, left: most, counts: Counts::new(), error: None })
    }

    /// Writes and syncs once, unless the limit is reached; `counts` includes the time in the figures.
    fn sync(&mut self, clock: &dyn Clock, counts: bool) {
        if self.left == 0 || self.error.is_some() {
            return;
        }
        self.left -= u64::from(counts);
        match self.file.sync(clock) {
            Ok(took_ns) if counts => self.counts.record(took_ns),
            Ok(_) => {}
            Err(error) => self.error = Some(error),
        }
    }
}

struct Committer<'s> {
    commits: &'s Commits,
    /// Counter that only this thread changes.
    counter: i64,
    /// Number of commits in the sample.
    drawn: u64,
    /// Commits until the next raw sync, for the thread that makes them.
    syncs_in: Option<u64>,
    batching: Batching,
    left: RemainingOperations,
    setting: RoundSettings<'s>,
}

impl User for Committer<'_> {
    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        self.drawn = self.batching.next(clock, self.left.now());
        if self.drawn == 0 {
            return Draw::Finished;
        }
        self.left.draw(self.drawn);
        if let Some(syncs_in) = &mut self.syncs_in {
            if *syncs_in == 0
                && let Some(raw) = &mut *self.commits.raw()
            {
                raw.sync(clock, control.phase(clock.now()) != PhaseKind::WarmUp);
                *syncs_in = COMMITS_A_SYNC;
            }
            *syncs_in = syncs_in.saturating_sub(self.drawn);
        }
        self.batching.begins(clock);
        Draw::Ready
    }

    fn skip(&mut self) -> Option<usize> {
        Some(0)
    }
    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
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
                return OperationResult::error(0, &error).times(self.drawn as u32);
            }
            RoundTally::add(&self.setting.tally.changes, 1);
        }
        OperationResult::completed(0).times(self.drawn as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::RealClock;

    #[test]
    fn raw_syncs_are_counted_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let clock = RealClock::start();
        let mut raw = RawSyncs::new(folder.path(), 5).unwrap();
        (0..3).for_each(|_| raw.sync(&clock, false));
        assert_eq!((raw.counts.len(), raw.left), (0, 5), "in the warm-up none counts");
        (0..9).for_each(|_| raw.sync(&clock, true));
        assert_eq!((raw.counts.len(), raw.left), (5, 0));
        assert!(raw.counts.summary().max_ns < clock.now() && raw.counts.summary().p50_ns > 0);
        drop(raw);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(RawSyncs::new(Path::new("/nowhere/at/all"), 5).is_err());
    }
}
