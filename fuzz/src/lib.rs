//! Entry points for fuzzing: a function from bytes for each parser of external data.
//!
//! `cargo xtask fuzz` runs them under libFuzzer (`libfuzzer.rs`); the tests run them over the seeds (`seeds/`) and
//! some thousand mutations of those. Any bytes must be read or refused, and any document that was read must be drawn. A
//! panic is a finding.

// The program has no library crate: its modules for arguments and files of options are included from its source.
#[allow(dead_code, unused_imports, reason = "the program uses all of it")]
mod args;
#[allow(dead_code, unused_imports, reason = "the program uses all of it")]
mod config;
#[allow(dead_code, unused_imports, reason = "the program uses all of it")]
mod failure;
pub mod mutate;
/// Replacement of the program's module, whose version includes its commit.
mod provenance {
    pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
}

use bourse_driver::RealClock;
use bourse_egen::inputs::FILES;
use bourse_egen::{Inputs, Part};
use bourse_engine::NullEngine;
use bourse_isolation::History;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::load::Fingerprint;
use bourse_oltp::sut::RoundBegin;
use bourse_record::acid::AcidFile;
use bourse_record::crash::CrashFile;
use bourse_record::faults::FaultsFile;
use bourse_record::{Document as _, RunFile};
use bourse_report::{CsvText, DrawComparison as _, Sheet, csv_file, data_tables, suite_tables};
use bourse_serve::protocol::codec::{self, HEADER, REPLY_BYTES};
use bourse_serve::protocol::{Admission, Control, ControlReply, Greeting, Hello, ReplyOf};
use bourse_serve::server::{Offer, rehearse};
use bourse_serve::{Address, ServerOptions};
use bourse_tatp::{Tatp, size_of};
use bourse_tpce::load::{Constraints, fingerprint};
use bourse_tpce::transactions::Request;
use bourse_tpce::workload::Tpce;
use bourse_trace::{MaskPlan, TraceReader, TraceSummary, digest};
use bourse_verdict::comparison::{ComparedCases, RunNoise, stored_pairs};
use bourse_verdict::suite::{CellPlan, Suite, SuiteFile};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::LazyLock;

/// A parser with its name, which is also its folder of seeds.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the parser.
    pub name: &'static str,
    /// Reads the bytes, and draws or writes the result.
    pub run: fn(&[u8]),
    /// Number of mutations of each seed in the tests: fewer for slow parsers.
    pub mutations: u64,
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target { name: "acid_document", run: acid_document, mutations: 500 },
    Target { name: "comparison", run: comparison, mutations: 150 },
    Target { name: "history", run: history, mutations: 1_000 },
    Target { name: "inputs", run: inputs, mutations: 2 },
    Target { name: "options", run: options, mutations: 200 },
    Target { name: "protocol", run: protocol, mutations: 5_000 },
    Target { name: "run_file", run: run_file, mutations: 100 },
    Target { name: "server", run: server, mutations: 500 },
    Target { name: "sql_workload", run: sql_workload, mutations: 1_000 },
    Target { name: "suite_definition", run: suite_definition, mutations: 100 },
    Target { name: "suite_document", run: suite_document, mutations: 100 },
    Target { name: "targets", run: targets, mutations: 1_000 },
    Target { name: "trace", run: trace, mutations: 2_000 },
];

/// Parses `acid.json`, `crash.json` and `faults.json`, and draws them.
pub fn acid_document(bytes: &[u8]) {
    if let Ok(tested) = AcidFile::parse(bytes, Path::new("acid.json")) {
        draw(&bourse_report::acid(&tested));
    }
    if let Ok(crashed) = CrashFile::parse(bytes, Path::new("crash.json")) {
        draw(&bourse_report::crash(&crashed));
    }
    if let Ok(tried) = FaultsFile::parse(bytes, Path::new("faults.json")) {
        draw(&bourse_report::faults(&tried));
    }
}

/// Draws a document in every form.
fn draw(sheet: &Sheet) {
    let _ = (sheet.terminal(80, true, true), sheet.html(), sheet.markdown(), sheet.csv(CsvText::Guarded));
}

/// Compares a run file with itself, both as stored runs and as interleaved rounds, and with its first rounds alone.
pub fn comparison(bytes: &[u8]) {
    let Ok(run) = RunFile::parse(bytes, Path::new("run.json")) else { return };
    let mut short = run.clone();
    short.cases.iter_mut().for_each(|case| case.rounds.truncate(1));
    for (base, head) in [(&run, &run), (&run, &short), (&short, &run)] {
        let Ok(mut stored) = stored_pairs(base.clone(), head.clone()) else { return };
        for in_turn in [false, true] {
            stored.pairs.iter_mut().for_each(|pair| pair.in_turn = in_turn);
            let compared = ComparedCases::of_stored(stored.clone(), 0.05, &RunNoise::Stated(0.02));
            let _ = (compared.text(&[], 80), compared.markdown(), compared.gate());
            let _ = compared.html(&[("A", &base.provenance), ("B", &head.provenance)]);
            let _ = compared.tables();
            serde_json::to_string(&compared).expect("a comparison is plain data");
        }
    }
}

/// Parses histories of transactions, and examines them: one that was read is read again as it was written.
pub fn history(bytes: &[u8]) {
    let Ok(history) = History::read(bytes) else { return };
    let mut written = Vec::new();
    history.write(&mut written).expect("memory takes all");
    assert_eq!(History::read(&written[..]).expect("what is written can be read"), history);
    let _ = (bourse_isolation::check(&history), history.write_edn(&mut written));
}

/// Parses the generator's input files: the first byte selects the altered file, two more the position, and the rest
/// replaces its content.
pub fn inputs(bytes: &[u8]) {
    static BUILTIN: LazyLock<Vec<Option<Vec<u8>>>> =
        LazyLock::new(|| FILES.map(|name| bourse_egen::builtin::file(name).map(String::into_bytes)).into());
    let Some(([which, place @ ..], put)) = bytes.split_first_chunk::<3>() else { return };
    let spoilt = usize::from(*which) % FILES.len();
    let mut file = 0;
    let _ = Inputs::parse(|_| {
        let this = file;
        file += 1;
        let mut content = BUILTIN.get(this)?.clone()?;
        if this == spoilt {
            let at = content.len() * usize::from(u16::from_le_bytes(*place)) / usize::from(u16::MAX);
            let to = content.len().min(at + put.len());
            content.splice(at..to, put.iter().copied());
        }
        Some(content)
    });
}

/// Parses files of options, as `bourse run` reads them.
pub fn options(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match config::arguments_of(text, &[]) {
        Ok(_) => {}
        Err(failure) => assert!(failure.render().starts_with("error: "), "a refusal has words"),
    }
}

/// Parses messages of a peer: a message that was read can be written and read again.
pub fn protocol(bytes: &[u8]) {
    macro_rules! read {
        ($($message:ty),+) => {$(
            if let Ok(message) = codec::message::<$message>(bytes) {
                let mut frame = Vec::new();
                if codec::frame(&message, REPLY_BYTES, &mut frame).is_ok() {
                    let content = frame.get(HEADER..).expect("a frame has a header");
                    codec::message::<$message>(content).expect("what is written can be read");
                }
            }
        )+};
    }
    type Reply = ReplyOf<Tpce>;
    read!(Greeting, Hello, Admission, Control, ControlReply, Request, Reply, Ledger, RoundBegin<Tpce>);
    let _ = codec::timed_message::<Reply>(bytes);
    if let Some(header) = bytes.first_chunk::<HEADER>() {
        let _ = codec::length(*header, REPLY_BYTES);
    }
}

/// Parses run files: a valid one can be drawn, and merged with itself.
pub fn run_file(bytes: &[u8]) {
    let Ok(run) = RunFile::parse(bytes, Path::new("run.json")) else { return };
    let _ = bourse_report::terminal(&run, 120, false);
    let _ = bourse_report::html(&run);
    let _ = bourse_report::markdown(&run);
    let _ = csv_file(&data_tables(std::slice::from_ref(&run)), CsvText::Guarded);
    let _ = bourse_report::svg(&run);
    let _ = bourse_record::drivers::together(vec![run.clone(), run]);
}

/// Plays the messages of drivers to a server, over an engine that does nothing: a script of messages, as [`rehearse`]
/// reads it. The highest bit of the first byte selects the workload: TATP if it is set, else TPC-E.
pub fn server(bytes: &[u8]) {
    static INPUTS: LazyLock<Inputs> = LazyLock::new(Inputs::builtin);
    let (options, clock) = (ServerOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)), "1.2.3"), RealClock::start());
    let offer = |fingerprint| Offer { engine: &NullEngine, fingerprint, history: "" };
    let frames = if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        let fingerprint = Fingerprint::of(&NullEngine, &Tatp, &Tatp, &size_of(1_000), Constraints::Full);
        rehearse::<Tatp>(offer(&fingerprint.expect("the null engine takes statements")), options, &clock, bytes)
    } else {
        let part = Part::whole(1_000, 1).expect("a database of one load unit and one day");
        let fingerprint = fingerprint(&NullEngine, &INPUTS, part, Constraints::Full);
        rehearse::<Tpce>(offer(&fingerprint.expect("the null engine takes statements")), options, &clock, bytes)
    };
    assert!(frames.iter().all(|frame| frame.len() >= HEADER), "a server says whole frames");
}

/// Parses files of statements, in both their forms, and property files of YCSB, whose mix is planned.
pub fn sql_workload(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for name in ["x.toml", "x.sql"] {
        let _ = bourse_micro::operations_of(name, text);
    }
    if let Ok(options) = bourse_micro::properties_of("x", text) {
        let mix = options.iter().filter(|(name, _)| *name == "mix").map(|(name, value)| (*name, value.as_str()));
        let _ = bourse_micro::find("ycsb").expect("a workload").plan(mix);
    }
}

/// Parses data files of experiments, and plans them.
pub fn suite_definition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(suite) = Suite::parse(text) {
        for scale in [1.0, 1e-9] {
            let _ = CellPlan::new(&suite, scale, Some(1.0), &[]);
        }
    }
}

/// Parses suites' documents, and draws them.
pub fn suite_document(bytes: &[u8]) {
    let Ok(suite) = SuiteFile::parse(bytes, Path::new("suite.json")) else { return };
    draw(&bourse_report::suite(&suite));
    let _ = csv_file(&suite_tables(&suite), CsvText::Guarded);
}

/// Parses URLs of databases of every engine, and of servers.
pub fn targets(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(address) = text.parse::<Address>() {
        assert_eq!(address.to_string().parse::<Address>().expect("a URL of ours"), address);
    }
    let _ = bourse_engine_sqlite::SqliteTarget::parse(text);
    let _ = bourse_engine_mysql::MysqlTarget::parse(text);
    let _ = bourse_engine_postgres::PostgresTarget::parse(text);
    let _ = bourse_engine_lmdb::GRAMMAR.parse(text, bourse_engine_lmdb::LmdbOptions::DEFAULT);
    let _ = bourse_engine_redb::GRAMMAR.parse(text, bourse_engine_redb::RedbOptions::DEFAULT);
    let _ = bourse_engine::files::GRAMMAR.parse(text, bourse_engine::files::FilesOptions::DEFAULT);
    let _ = bourse_engine_duckdb::GRAMMAR.parse(text, bourse_engine_duckdb::DuckDbOptions::DEFAULT);
    let _ = bourse_engine_rocksdb::GRAMMAR.parse(text, bourse_engine_rocksdb::RocksDbOptions::DEFAULT);
    let _ = bourse_engine_redis::open(text);
    let _ = bourse_engine_fastdb::GRAMMAR.parse(text, bourse_engine_fastdb::FastDbOptions::DEFAULT);
    let _ = bourse_engine_mysql::cluster::ClusterTarget::parse(text);
    let _ = bourse_engine_fjall::GRAMMAR.parse(text, bourse_engine_fjall::FjallOptions::DEFAULT);
}

/// Reads traces of programs, as they are and with right checks behind their records; sums them up, and draws a mask.
pub fn trace(bytes: &[u8]) {
    /// Bytes of a trace's head.
    const HEAD_BYTES: usize = 40;
    let (head, mut rest) = bytes.split_at(HEAD_BYTES.min(bytes.len()));
    let mut checked = head.to_vec();
    while let Some((&length, body)) = rest.split_first() {
        let (body, more) = body.split_at(usize::from(length & 0x7F).min(body.len()));
        checked.push(body.len() as u8);
        checked.extend(body);
        checked.extend((digest::bytes(0, body) as u32).to_le_bytes());
        rest = more.get(4..).unwrap_or_default();
    }
    for bytes in [bytes, &checked] {
        let Ok(reader) = TraceReader::new(bytes) else { return };
        let (mut summary, mut plan) = (TraceSummary::default(), MaskPlan::default());
        reader.map_while(Result::ok).for_each(|record| summary.add(record));
        for statement in &summary.statements {
            plan.keep_literals(&statement.text.sql);
            let _ = (summary.foreign_names(&statement.text.sql), statement.text.has_literals());
        }
        let _ = plan.draw(1);
    }
}
