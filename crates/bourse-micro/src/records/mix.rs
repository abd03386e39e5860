//! A workload of the table, planned with options.

use super::properties::{MIX, Properties};
use super::user::RecordUser;
use super::{COMPUTE, EXPLICIT, LENGTH, PER_TRANSACTION};
use crate::batching::BATCH;
use crate::filled_table::{FilledTable, USERTABLE};
use crate::keys::{GrowingKeys, KEYS, KeyDistribution, KeyStream, Zipf};
use crate::options::{OptionError, WorkloadOptions};
use crate::sql::{FILE, NOTHING};
use crate::usual::{THREADS, lacking_records, statements};
use crate::workload::{MicroError, PlannedWorkload, RoundSettings, RoundTally, Writes, named};
use Action::{Add, Delete, DeleteAll, FindByText, Get, Insert, Read, Scan};
use bourse_driver::{Clock, MS, MixShare, Nanos, OperationSpec, UserSpec};
use bourse_engine::{Capabilities, Engine, IndexKind, StatementForm};
use bourse_record::{Check, NameValue, Round};
use std::sync::Arc;

/// Kind of an operation on records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Reads a record whole; those of a sample by one call.
    Read,
    /// Looks up a record by its key, like every other operation by a call of its own.
    Get,
    /// Looks up a record by its text, which has an index.
    FindByText,
    /// Reads records whole, in the order of their keys.
    Scan,
    /// Adds 1 to a record's number; several in a transaction.
    Add,
    /// Replaces one text of a record.
    Set,
    /// Adds a record to the table.
    Insert,
    /// Reads a record whole and replaces one of its texts, in a transaction.
    ReadModifyWrite,
    /// Deletes a record; several in a transaction.
    Delete,
    /// Deletes all records.
    DeleteAll,
}

/// An operation: its name, its kind, and its share among its users' operations, in any unit. Several of [`TURNS`] each take turns.
pub(super) type MixOperation = (&'static str, Action, u64);

/// Share of operations that take turns, and of one that is alone.
pub(super) const TURNS: u64 = 100;

/// Users who perform the same operations.
pub(super) struct Crew {
    /// Name of one of them.
    pub(super) name: &'static str,
    pub(super) role: &'static str,
    pub(super) threads: usize,
    pub(super) operations: &'static [MixOperation],
    /// Operations of each in a round with a count, instead of that count.
    pub(super) most: Option<u64>,
    /// Most operations of each in a second.
    pub(super) rate: Option<u64>,
}

impl Crew {
    /// Whether the operations take turns, or are one.
    pub(super) fn takes_turns(&self) -> bool {
        self.operations.len() == 1 || self.operations.iter().all(|(_, _, share)| *share == TURNS)
    }

    /// Users as many as the option `threads`.
    pub(super) fn of(options: &WorkloadOptions, name: &'static str, operations: &'static [MixOperation]) -> Vec<Self> {
        let threads = if options.has(THREADS.name) { options.size(THREADS.name) } else { 1 };
        vec![Self { name, role: "users", threads, operations, most: None, rate: None }]
    }
}

/// A workload of the table with its options.
pub(super) struct RecordMix {
    pub(super) table: FilledTable,
    crews: Vec<Crew>,
    unit: &'static str,
    /// Distribution of keys over the numbers below `range`.
    keys: KeyDistribution,
    range: u64,
    pub(super) statements: StatementForm,
    /// Number of transactions in a sample.
    pub(super) batch: Option<u64>,
    /// Changes in a transaction.
    pub(super) per_transaction: u64,
    pub(super) explicit: bool,
    /// Busy time of the program in each transaction, in nanoseconds.
    pub(super) compute_ns: Nanos,
    /// Rows of a scan, at most in YCSB's.
    pub(super) length: u64,
    /// Properties of YCSB without an effect, with the reasons.
    notes: Vec<String>,
}

/// Deletions between two readings of the clock, if a transaction has more.
const SAMPLE: u64 = 1_000;

impl RecordMix {
    pub(super) fn plan(
        options: &WorkloadOptions,
        table: FilledTable,
        unit: &'static str,
        crews: Vec<Crew>,
    ) -> Result<Box<dyn PlannedWorkload>, OptionError> {
        let rows = table.rows;
        let count = |name: &str, otherwise| match options.has(name) {
            true => options.count_or(name).unwrap_or(rows),
            false => otherwise,
        };
        let per_transaction = count(PER_TRANSACTION.name, 1);
        let explicit = !options.has(EXPLICIT.name) || options.is(EXPLICIT.name, "on");
        if !explicit && per_transaction > 1 {
            let what = format!("explicit=off makes each update a transaction: not {per_transaction} in one");
            return Err(options.refuse(what));
        }
        if !explicit && count(COMPUTE.name, 0) > 0 {
            return Err(options.refuse("compute=… is inside a transaction, which explicit=off has none of"));
        }
        let operations = || crews.iter().flat_map(|crew| crew.operations);
        let range = match options.has("hit_rate") {
            true => (rows as f64 / options.fraction("hit_rate")).round() as u64,
            // Room for as many rows again, so that popular keys stay so while the table grows.
            false if operations().any(|operation| operation.1 == Insert) => (2 * rows).min(Zipf::MAX_RANKS),
            false => rows,
        };
        Ok(Box::new(Self {
            range,
            keys: if options.has(KEYS.name) {
                KeyDistribution::chosen(options, range)
            } else {
                KeyDistribution::Sequential
            },
            statements: statements(options),
            batch: match operations().next() {
                Some((_, Delete, _)) => Some(SAMPLE),
                Some((_, DeleteAll, _)) => Some(rows),
                _ if options.has(BATCH.name) => options.count_or(BATCH.name),
                // A batch that follows the length of operations would shift the shares of several kinds.
                _ => Some(1),
            },
            per_transaction,
            explicit,
            compute_ns: count(COMPUTE.name, 0) * (MS / 1_000),
            length: count(LENGTH.name, 0),
            notes: match options.has(MIX) && !options.is(FILE, NOTHING) {
                true => Properties::read(options.text(FILE))?.notes,
                false => Vec::new(),
            },
            table,
            crews,
            unit,
        }))
    }

    fn all(&self) -> impl Iterator<Item = &'static MixOperation> {
        self.crews.iter().flat_map(|crew| crew.operations)
    }

    pub(super) fn has(&self, action: Action) -> bool {
        self.all().any(|operation| operation.1 == action)
    }

    /// The operations that change records, with their indexes.
    fn changes(&self) -> impl Iterator<Item = (usize, Action)> {
        let actions = self.all().map(|operation| operation.1).enumerate();
        actions.filter(|(_, action)| !matches!(action, Read | Get | FindByText | Scan))
    }
}

impl PlannedWorkload for RecordMix {
    fn operations(&self) -> Vec<OperationSpec> {
        let of_crew = |crew: &Crew| {
            let all: u64 = crew.operations.iter().map(|(_, _, share)| share).sum();
            let takes_turns = crew.takes_turns();
            crew.operations.iter().map(move |(name, _, share)| {
                // Drawn, not dealt: a short round may be off by much and is no worse for it.
                let share = MixShare { target_percent: *share as f64 * 100.0 / all as f64, tolerance_points: 100.0 };
                OperationSpec { mix: (!takes_turns).then_some(share), ..OperationSpec::new(name) }
            })
        };
        self.crews.iter().flat_map(of_crew).collect()
    }
    fn headline(&self) -> Option<usize> {
        (self.crews[0].operations.len() == 1).then_some(0)
    }
    fn unit(&self) -> &'static str {
        self.unit
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        let Some(records) = capabilities.records else { return lacking };
        let table = self.table.table;
        let text_keys = if table.name() == USERTABLE { "it" } else { "key=text" };
        let by_text = self.has(FindByText);
        let text_index = if by_text { "searching by text" } else { "text_index=on" };
        let remedy = if by_text { "" } else { "; -s text_index=off does without" };
        let has_index = table.fields().iter().any(|field| field.index.is_some());
        for (is_lacking, words) in [
            (self.table.has_text_key && !records.text_keys, format!("{text_keys} needs keys that are texts")),
            (self.has(Scan) && !records.ordered_scans, "it needs records in the order of their keys".to_owned()),
            (
                table.key().index == Some(IndexKind::Hash) && !records.hash_index,
                "index=hash needs a hash index".to_owned(),
            ),
            (has_index && !records.indexed_fields, format!("{text_index} needs indexes beside the key{remedy}")),
        ] {
            lacking.extend(is_lacking.then_some(words));
        }
        lacking
    }
    fn threads(&self) -> usize {
        self.crews.iter().map(|crew| crew.threads).sum()
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        self.table.make(engine)?;
        Ok(self.notes.iter().map(|note| named("not used", note)).collect())
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let growth = self.has(Insert).then(|| Arc::new(GrowingKeys::new(self.table.rows)));
        // What is known of the rows is computed before the clock starts.
        self.table.sums();
        if self.has(Scan) && self.table.has_text_key {
            self.table.orders();
        }
        let (threads, mut thread, mut first) = (self.threads(), 0, 0);
        let mut users = Vec::new();
        for crew in &self.crews {
            for number in 1..=crew.threads {
                let keys = KeyStream::new(self.keys.clone(), self.range, setting.seed, thread, threads);
                let user = RecordUser::new(self, crew, first, keys, growth.clone(), setting, thread);
                users.push(UserSpec { role: crew.role, ..UserSpec::new(format!("{} {number}", crew.name), user) });
                thread += 1;
            }
            first += crew.operations.len();
        }
        users
    }
    fn counts_before_commit(&self) -> bool {
        self.has(Delete) || self.has(DeleteAll)
    }
    fn writes(&self) -> Option<Writes> {
        let (operation, action) = self.changes().next()?;
        let writes = match action {
            Delete => Writes::together(operation, self.per_transaction),
            _ => Writes::committed(operation),
        };
        // Changes of several kinds are counted together.
        (self.changes().count() == 1).then_some(writes)
    }
    fn check(&self, setting: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        match (self.changes().next().map(|(_, action)| action), self.table.table.name()) {
            (Some(Add), _) => self.table.check_sum(setting, 1),
            (Some(Delete | DeleteAll), _) => self.table.check_deleted(setting, self.per_transaction),
            (_, USERTABLE) => self.table.check_count(setting, RoundTally::get(&setting.tally.inserts), 1),
            _ => Ok(Vec::new()),
        }
    }
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        let per_s = |operation: usize| round.operations[operation].valid() as f64 / round.measured_s.max(1e-9);
        let (found, reads) =
            (RoundTally::get(&setting.tally.found) as f64, RoundTally::get(&setting.tally.reads) as f64);
        let retries = |operation: usize| round.operations[operation].retries.to_string();
        let facts = match (&self.crews[..], self.all().next()) {
            ([_, _], _) => vec![
                ("writes/s", format!("{:.1}", per_s(1))),
                ("writes' retries after conflicts", retries(1)),
                ("reads' retries after conflicts", retries(0)),
            ],
            (_, Some((_, Scan, _))) if setting.is_real => vec![
                ("rows a scan, on average", format!("{:.1}", found / reads.max(1.0))),
                ("rows/s", format!("{:.0}", found / reads.max(1.0) * per_s(0))),
            ],
            (_, Some((_, Read, _))) if self.headline().is_some() && setting.is_real && reads > 0.0 => {
                vec![("hit rate, measured", format!("{:.2} %", 100.0 * found / reads))]
            }
            _ => Vec::new(),
        };
        round.facts.extend(facts.into_iter().map(|(name, value)| named(name, value)));
    }
}
