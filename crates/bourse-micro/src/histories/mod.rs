//! `history`: transactions on few rows, every operation recorded, from which the isolation that the engine gives is
//! inferred.
//!
//! | module | contents |
//! |---|---|
//! | here | the workload, planned with options |
//! | `steps` | the operations of a transaction, drawn |
//! | `user` | the user who performs and records them |
//! | `faults` | servers killed and started again, connections cut |
//! | `judged` | the figures of a recorded history, and the check of the engine's promise |

mod faults;
mod judged;
mod steps;
mod user;

use crate::database::{create, fill};
use crate::options::{OptionError, OptionKind, WorkloadOption, WorkloadOptions, option};
use crate::usual::{THREADS, lacking_records};
use crate::workload::{MicroError, PlannedWorkload, ProcessPart, RoundExtent, RoundSettings, WorkloadSpec};
use bourse_driver::{Background, Clock, Nanos, OperationSpec, SplitMix, UserSpec};
use bourse_engine::{
    Capabilities, Engine, Isolation, Key, RecordField, RecordTable, RecordType, StatementForm, Value, locked,
};
use bourse_isolation::Transaction;
use bourse_record::{Check, HistoryFigures, NameValue, Round};
use faults::Faults;
pub use judged::statement;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use steps::Kind;
use user::HistoryUser;

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "history",
    summary: "records transactions on few rows, and infers from what they read and wrote which isolation they had",
    tables: "cells (id integer, primary key; version, amount integers; elements text of at most 4,000 characters)",
    needs: "records by key in order, and transactions that can be undone",
    options: &[
        option!("level" => OptionKind::Word(LEVELS), "serializable",
            "isolation level of the transactions; without effect on an engine that has one level"),
        option!("kind" => OptionKind::Word(Kind::WORDS), "mixed",
            "transactions that read and write registers; that read ranges, insert, delete and insert again; that \
             transfer amounts and read balances; that count; that append to lists and read them; or all of these"),
        option!("keys" => OptionKind::Count { min: 2, max: 1_000_000 }, "600",
            "rows of each kind, in groups of which a transaction uses one"),
        option!("hot" => OptionKind::Count { min: 2, max: 1_000 }, "6",
            "rows of a group; 3 of 4 transactions use the first group"),
        option!("operations" => OptionKind::Count { min: 1, max: 100 }, "8",
            "most operations of a transaction; their number is drawn evenly from 1 on"),
        WorkloadOption { default: "4", ..THREADS },
        option!("transactions" => OptionKind::Count { min: 1, max: 10_000_000 }, "200000",
            "most transactions of all threads together, after which the round ends: all are kept in memory"),
        option!(PROCESSES => OptionKind::Count { min: 1, max: 64 }, "1",
            "processes of this machine that share the threads, each with the same database open"),
        option!(FAULTS => OptionKind::Word(&["off", "on"]), "off",
            "faults at random moments: a server that Bourse started is killed and started again, each node of a cluster \
             alone, and connections are cut; with another target one of several processes is killed"),
        option!(HISTORY => OptionKind::Text("a folder, or none"), NO_FILE,
            "folder that gets each round's history: NAME.json, which `bourse isolation --replay` reads, and with \
             kind=append or register NAME.edn, which Elle reads"),
    ],
    extent: RoundExtent::Time,
    plan,
};

/// Words of the levels.
const LEVELS: &[&str] = &{
    let [read_committed, repeatable_read, serializable] = Isolation::ALL;
    [read_committed.name(), repeatable_read.name(), serializable.name()]
};

/// Option of the folder for histories, and its value without one.
const HISTORY: &str = "history";
/// Name of the option that makes faults.
const FAULTS: &str = "faults";
/// Name of the option that sets how many processes share the threads.
const PROCESSES: &str = "processes";
const NO_FILE: &str = "none";

/// The table of all rows.
static CELLS: RecordTable = RecordTable::new(
    "cells",
    RecordField::new("id", RecordType::Int),
    &[
        RecordField::new("version", RecordType::Int),
        RecordField::new("amount", RecordType::Int),
        RecordField::new("elements", RecordType::Text(4_000)),
    ],
);
/// Fields of the table, counted from 0 without the key.
const VERSION: usize = 0;
const AMOUNT: usize = 1;
const ELEMENTS: usize = 2;

/// Balance of an account at the start.
const BALANCE: i64 = 100;
/// Mean number of elements of a list before another one takes its place: reading it takes time in proportion.
const LIST_LENGTH: u64 = 50;

/// The workload with its options.
struct Histories {
    level: Isolation,
    /// Kind of all transactions; `None` for all kinds.
    kind: Option<Kind>,
    /// Number of groups of rows, and rows of each.
    groups: u64,
    group: u64,
    operations: u64,
    threads: usize,
    /// Most transactions of a thread.
    most: u64,
    folder: Option<String>,
    /// Number of appends to the lists of each group.
    appended: Vec<AtomicU64>,
    /// Number of reads of all balances of a group whose sum was not that of the start.
    wrong_sums: AtomicU64,
    /// Number of attempts that met a conflict.
    conflicts: AtomicU64,
    /// Transactions of the users that have ended.
    recorded: Mutex<Vec<Transaction>>,
    figures: Mutex<Option<HistoryFigures>>,
    has_faults: bool,
    faults: Faults,
    processes: u32,
    /// This process's part, and the nanoseconds that the machine's clock is ahead of the round's.
    part: OnceLock<(ProcessPart, Nanos)>,
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let (keys, group, threads) = (options.count("keys"), options.count("hot"), options.size(THREADS.name));
    if keys < group {
        return Err(options.refuse(format!("keys={keys} must not be below hot={group}: those are some of them")));
    }
    let processes = options.count(PROCESSES);
    if processes > threads as u64 {
        return Err(
            options.refuse(format!("processes={processes} must not be above threads={threads}, which they share"))
        );
    }
    let groups = keys / group;
    let level = Isolation::ALL.into_iter().find(|level| options.is("level", level.name()));
    Ok(Box::new(Histories {
        level: level.unwrap_or(Isolation::Serializable),
        kind: Kind::ALL.into_iter().find(|kind| options.is("kind", kind.name())),
        groups,
        group,
        operations: options.count("operations"),
        threads,
        most: options.count("transactions").div_ceil(threads as u64),
        folder: (!options.is(HISTORY, NO_FILE)).then(|| options.text(HISTORY).to_owned()),
        appended: (0..groups).map(|_| AtomicU64::new(0)).collect(),
        wrong_sums: AtomicU64::new(0),
        conflicts: AtomicU64::new(0),
        recorded: Mutex::default(),
        figures: Mutex::default(),
        has_faults: options.is(FAULTS, "on"),
        faults: Faults::default(),
        processes: processes as u32,
        part: OnceLock::new(),
    }))
}

impl Histories {
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| self.kind.is_none_or(|only| only == *kind))
    }
}

/// Index of operations that change rows, and of those that read alone.
const CHANGE: usize = 0;
const READ: usize = 1;

impl PlannedWorkload for Histories {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("change"), OperationSpec::new("read")]
    }
    fn headline(&self) -> Option<usize> {
        None
    }
    fn unit(&self) -> &'static str {
        "transactions/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, StatementForm::Prepared);
        let Some(records) = capabilities.records else { return lacking };
        let undo = "it needs transactions that can be undone";
        lacking.extend((!records.rollback).then(|| undo.to_owned()));
        let order = "it needs records in the order of their keys";
        lacking.extend((!records.ordered_scans).then(|| order.to_owned()));
        lacking
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn processes(&self) -> u32 {
        self.processes
    }
    fn has_faults(&self) -> bool {
        self.has_faults
    }
    fn join(&self, part: &ProcessPart, ahead_ns: Nanos) {
        // Set once: a process has one part.
        let _ = self.part.set((part.clone(), ahead_ns));
    }
    fn collect(&self, folder: &Path, rounds: &[&Round]) -> io::Result<()> {
        for file in fs::read_dir(folder)? {
            let recorded = Transaction::read_lines(BufReader::new(File::open(file?.path())?))?;
            locked(&self.recorded).extend(recorded);
        }
        let conflicts = rounds.iter().filter_map(|round| round.history.as_ref()).map(|it| it.conflicts).sum();
        self.conflicts.store(conflicts, Ordering::Relaxed);
        Ok(())
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        self.appended
            .iter()
            .chain([&self.wrong_sums, &self.conflicts])
            .for_each(|counter| counter.store(0, Ordering::Relaxed));
        locked(&self.recorded).clear();
        self.faults.forget();
        if self.has_faults {
            faults::survives_kills(engine).map_err(MicroError::engine("faults"))?;
        }
        create(engine, &[&CELLS])?;
        // Of the rows of ranges every second one is there; lists come with their first element.
        let rows = |kind| (0..self.groups * self.group).filter(move |key| kind != Kind::Range || key % 2 == 0);
        let kinds = self.kinds().filter(|kind| *kind != Kind::Append);
        let keys: Vec<u64> = kinds.flat_map(|kind| rows(kind).map(move |key| kind.key(key))).collect();
        fill(engine, &CELLS, keys.len() as u64, &|number, put| {
            let key = Key::Int(keys[number as usize].cast_signed());
            put(key, &[Value::Int(0), Value::Int(BALANCE), Value::Text("")])
        })?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let mut seeds = SplitMix::new(setting.seed);
        let user = |number| {
            let user = HistoryUser::new(self, number, SplitMix::new(seeds.next()), setting);
            UserSpec::new(format!("user {}", number + 1), user)
        };
        let is_here =
            |at: &usize| self.part.get().is_none_or(|(part, _)| at % self.processes as usize == part.number as usize);
        let users: Vec<_> = (0..self.threads).map(user).collect();
        users.into_iter().enumerate().filter(|(at, _)| is_here(at)).map(|(_, user)| user).collect()
    }
    fn background<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<Background<'s>> {
        let server = setting.engine.hosting().owned_server().ok().filter(|_| self.has_faults && setting.is_real);
        let background = server.map(|server| {
            let seed = setting.seed;
            Background {
                name: "faults".to_owned(),
                run: Box::new(move |clock, control| self.faults.make(server, seed, clock, control)),
            }
        });
        background.into_iter().collect()
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        if self.part.get().is_some() {
            return Ok(judged::balances(self, setting).into_iter().collect());
        }
        let (figures, checks) = judged::judge(self, setting)?;
        *locked(&self.figures) = Some(figures);
        Ok(checks)
    }
    fn finish(&self, _: &RoundSettings<'_>, round: &mut Round) {
        round.facts.extend(self.faults.fact());
        // What a process alone knows.
        let conflicts = self.conflicts.load(Ordering::Relaxed);
        let of_part = self.part.get().map(|_| HistoryFigures { conflicts, ..HistoryFigures::default() });
        round.history = locked(&self.figures).take().or(of_part);
    }
}
