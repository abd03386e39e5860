//! Workloads on records found by key, as rows of a table: weighted operations, shared out over users.
//!
//! | module | contents |
//! |---|---|
//! | here | the table |
//! | `mix` | a workload of the table, planned with options |
//! | `properties` | YCSB's property files, as options |
//! | `user` | the user who performs the operations |

mod mix;
mod properties;
mod user;

use crate::batching::BATCH;
use crate::database::pairs;
use crate::filled_table::{FIELD_LENGTH, FIELDS, FilledTable, KEY, PERSONS, WIDTH};
use crate::keys::KEYS;
use crate::options::{OptionError, OptionKind, SWITCH, WorkloadOption, WorkloadOptions, option};
use crate::sql::{FILE, NOTHING};
use crate::usual::{ROWS, STATEMENTS, THREADS};
use crate::workload::{PlannedWorkload, RoundExtent, WorkloadSpec};
use bourse_engine::IndexKind;
use mix::Action::{Add, Delete, DeleteAll, FindByText, Get, Insert, Read, ReadModifyWrite, Scan, Set};
use mix::{Crew, MixOperation, RecordMix};
pub(crate) use properties::Properties;
use properties::{MIX, operations};

/// Option: updates in one transaction.
const PER_TRANSACTION: WorkloadOption = option!("per_transaction" => OptionKind::Count { min: 1, max: 10_000_000 }, "1",
    "updates per transaction");
/// Option: delimiters of a transaction with one statement.
pub(crate) const EXPLICIT: WorkloadOption = option!("explicit" => SWITCH, "on",
    "BEGIN and COMMIT around each transaction; off: single statements commit by themselves");
/// Option: work of the program inside a transaction.
const COMPUTE: WorkloadOption = option!("compute" => OptionKind::Count { min: 0, max: 10_000_000 }, "0",
    "microseconds that the program is busy in each transaction, after it has begun");
/// Option: rows of a scan.
const LENGTH: WorkloadOption = option!("length" => OptionKind::Count { min: 1, max: 1_000_000_000 }, "100",
    "rows of one scan; fewer at the end of the table");
/// Option: the index by which pairs are found by number.
const INDEX: WorkloadOption = option!("index" => OptionKind::Word(&["tree", "hash"]), "tree", "the index on int_key");
/// Option: most rows of a scan.
const MOST: WorkloadOption =
    WorkloadOption { meaning: "most rows of one scan; their number is drawn evenly from 1 on", ..LENGTH };
/// Description of the table of pairs.
const PAIRS: &str = "pairs (int_key integer, primary key; str_key text of 28 characters, indexed)";
const BY_KEY: &str = "records by key; `statements=parsed` needs SQL";

/// Description of YCSB's table.
const YCSB_TABLE: &str = "usertable (ycsb_key text of 28 characters in random order, primary key; field0 to field9 texts \
                         of `field_length` characters)";

/// Options of YCSB's workloads.
const fn ycsb_options(keys: &'static str) -> [WorkloadOption; 6] {
    [ROWS, FIELDS, FIELD_LENGTH, THREADS, WorkloadOption { default: keys, ..KEYS }, STATEMENTS]
}
const ZIPFIAN: &[WorkloadOption] = &ycsb_options("zipfian");
const LATEST: &[WorkloadOption] = &ycsb_options("latest");
const SCANS: &[WorkloadOption] = &{
    let [rows, fields, field_length, threads, keys, statements] = ycsb_options("zipfian");
    let most = MOST;
    [rows, fields, field_length, threads, most, keys, statements]
};

/// Name of the workload that reads property files of YCSB.
pub(crate) const YCSB: &str = "ycsb";
const OWN_MIX: &[WorkloadOption] = &{
    let most = WorkloadOption { default: "1000", ..MOST };
    let [rows, fields, field_length, threads, keys, statements] = ycsb_options("uniform");
    let file = option!(FILE => OptionKind::Text("a property file of YCSB, or none"), NOTHING,
        "property file, as in `bourse micro run ycsb FILE TARGET…`; its properties are the defaults of the other options");
    let mix = option!(MIX => OptionKind::Text("operations with their shares, of read, update, insert, scan and read-modify-write"), "read:0.95+update:0.05",
        "operations with their shares");
    [file, mix, rows, fields, field_length, threads, most, keys, statements]
};

/// A workload of YCSB.
const fn ycsb(
    name: &'static str,
    summary: &'static str,
    options: &'static [WorkloadOption],
    plan: fn(&WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError>,
) -> WorkloadSpec {
    WorkloadSpec {
        name,
        summary,
        tables: YCSB_TABLE,
        needs: "records by key that are texts, in order for scans; `statements=parsed` needs SQL",
        options,
        extent: RoundExtent::Time,
        plan,
    }
}

/// The workloads.
pub(crate) static TABLE: [WorkloadSpec; 13] = [
    WorkloadSpec {
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
            option!("hit_rate" => OptionKind::Fraction, "1",
                "share of reads that find a row: keys are drawn from rows / hit_rate numbers"),
            KEYS,
            STATEMENTS,
            BATCH,
        ],
        extent: RoundExtent::Time,
        plan: |options| persons(options, "reads/s", Crew::of(options, "reader", &[("read", Read, 100)])),
    },
    WorkloadSpec {
        name: "update",
        summary: "increments a column of rows found by primary key",
        tables: PERSONS,
        needs: BY_KEY,
        options: &[ROWS, WIDTH, THREADS, PER_TRANSACTION, EXPLICIT, COMPUTE, KEYS, STATEMENTS, BATCH],
        extent: RoundExtent::Time,
        plan: |options| persons(options, "updates/s", Crew::of(options, "writer", &[("update", Add, 100)])),
    },
    WorkloadSpec {
        name: "read-write",
        summary: "reads rows by primary key on some threads while other threads update them",
        tables: PERSONS,
        needs: BY_KEY,
        options: &[
            ROWS,
            WIDTH,
            option!("readers" => OptionKind::Count { min: 1, max: 1_024 }, "1", "threads that read"),
            option!("writers" => OptionKind::Count { min: 1, max: 1_024 }, "1", "threads that update"),
            option!("writes" => OptionKind::CountOr { word: "any", min: 1, max: u64::MAX }, "any",
                "updates of each writer if --count is given; any: as many as fit into the time"),
            option!("write_rate" => OptionKind::CountOr { word: "any", min: 1, max: 1_000_000_000 }, "any",
                "most updates of each writer in a second"),
            PER_TRANSACTION,
            EXPLICIT,
            KEYS,
            STATEMENTS,
            BATCH,
        ],
        extent: RoundExtent::Time,
        plan: |options| {
            let crew = |name, role, operations, [most, rate]: [Option<u64>; 2]| {
                let threads = options.size(role);
                Crew { name, role, threads, operations, most, rate }
            };
            let readers = crew("reader", "readers", &[("read", Read, 100)], [None; 2]);
            let writers = crew(
                "writer",
                "writers",
                &[("write", Add, 100)],
                ["writes", "write_rate"].map(|name| options.count_or(name)),
            );
            persons(options, "reads/s", vec![readers, writers])
        },
    },
    WorkloadSpec {
        name: "index-search",
        summary: "looks up rows by integer key and by text key",
        tables: PAIRS,
        needs: "records by key; indexes beside the key for by=text and by=both; a hash index for index=hash",
        options: &[
            ROWS,
            THREADS,
            option!("by" => OptionKind::Word(&["number", "text", "both"]), "number",
                "look up by int_key, by str_key, or alternate"),
            INDEX,
            KEYS,
            STATEMENTS,
            BATCH,
        ],
        extent: RoundExtent::Time,
        plan: |options| {
            let operations: &[MixOperation] = &[("search by number", Get, 100), ("search by text", FindByText, 100)];
            let operations = match options.text("by") {
                "number" => &operations[..1],
                "text" => &operations[1..],
                _ => operations,
            };
            let table = pairs_with_index(options, !options.is("by", "number"));
            RecordMix::plan(options, table, "searches/s", Crew::of(options, "searcher", operations))
        },
    },
    WorkloadSpec {
        name: "delete",
        summary: "deletes rows, all at once or one by one in key order",
        tables: PAIRS,
        needs: "records by key; indexes beside the key unless text_index=off; a hash index for index=hash",
        options: &[
            ROWS,
            option!("mode" => OptionKind::Word(&["all", "each"]), "all", "all rows at once, or each by its key"),
            option!("per_transaction" => OptionKind::CountOr { word: "all", min: 1, max: 1_000_000_000 }, "all",
                "deletions per transaction, if each row is deleted by its key"),
            INDEX,
            WorkloadOption { name: "text_index", kind: SWITCH, default: "on", meaning: "keep an index on str_key" },
            STATEMENTS,
        ],
        extent: RoundExtent::Work,
        plan: |options| {
            let is_each = options.is("mode", "each");
            if let (false, Some(number)) = (is_each, options.count_or("per_transaction")) {
                let what = format!("mode=all is one transaction: per_transaction={number} goes with mode=each");
                return Err(options.refuse(what));
            }
            let table = pairs_with_index(options, options.is("text_index", "on"));
            let operations: &[MixOperation] =
                if is_each { &[("delete", Delete, 100)] } else { &[("delete", DeleteAll, 100)] };
            RecordMix::plan(options, table, "rows/s", Crew::of(options, "deleter", operations))
        },
    },
    WorkloadSpec {
        name: "scan",
        summary: "reads ranges of rows in key order, from a random key",
        tables: PERSONS,
        needs: "records by key with ordered scans; `statements=parsed` needs SQL",
        options: &[ROWS, WIDTH, THREADS, LENGTH, KEYS, STATEMENTS, BATCH],
        extent: RoundExtent::Time,
        plan: |options| persons(options, "scans/s", Crew::of(options, "scanner", &[("scan", Scan, 100)])),
    },
    ycsb("ycsb-a", "YCSB A, update heavy: reads 50 %, updates 50 %", ZIPFIAN, |options| {
        usertable(options, &[("read", Read, 50), ("update", Set, 50)])
    }),
    ycsb("ycsb-b", "YCSB B, read mostly: reads 95 %, updates 5 %", ZIPFIAN, |options| {
        usertable(options, &[("read", Read, 95), ("update", Set, 5)])
    }),
    ycsb("ycsb-c", "YCSB C, read only", ZIPFIAN, |options| usertable(options, &[("read", Read, 100)])),
    ycsb("ycsb-d", "YCSB D, read latest: reads 95 %, inserts 5 %", LATEST, |options| {
        usertable(options, &[("read", Read, 95), ("insert", Insert, 5)])
    }),
    ycsb("ycsb-e", "YCSB E, short ranges: scans 95 %, inserts 5 %", SCANS, |options| {
        usertable(options, &[("scan", Scan, 95), ("insert", Insert, 5)])
    }),
    ycsb("ycsb-f", "YCSB F, read-modify-write: reads 50 %, reads with a change 50 %", ZIPFIAN, |options| {
        usertable(options, &[("read", Read, 50), ("read-modify-write", ReadModifyWrite, 50)])
    }),
    ycsb(YCSB, "YCSB's operations in shares of your own, or of a property file", OWN_MIX, |options| {
        let operations = operations(options.text(MIX)).ok_or_else(|| {
            options
                .refuse(format!("mix={}: expected operations with shares, as read:0.95+update:0.05", options.text(MIX)))
        })?;
        usertable(options, operations)
    }),
];

/// Options that the text of a property file of YCSB sets, with their values.
///
/// # Errors
/// [`OptionError::File`] with the defect and its line.
pub fn properties_of(name: &str, text: &str) -> Result<Vec<(&'static str, String)>, OptionError> {
    Properties::parse(name, text).map(|properties| properties.options)
}

fn persons(
    options: &WorkloadOptions,
    unit: &'static str,
    crews: Vec<Crew>,
) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    RecordMix::plan(options, FilledTable::persons(options), unit, crews)
}

fn pairs_with_index(options: &WorkloadOptions, on_text: bool) -> FilledTable {
    let index = if options.is(INDEX.name, "hash") { IndexKind::Hash } else { IndexKind::Tree };
    FilledTable::pairs(pairs(index, on_text.then_some(IndexKind::Tree)), options)
}

fn usertable(
    options: &WorkloadOptions,
    operations: &'static [MixOperation],
) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    let table = FilledTable::usertable(options);
    RecordMix::plan(options, table, "operations/s", Crew::of(options, "client", operations))
}
