//! `bourse replay`: recordings executed again, compared, and refused.

mod compared;
mod programs;
mod undetermined;

use super::{one_line, output, text};
use bourse_record::{CheckStatus, Document as _, RunFile};
use bourse_trace::digest::{self, RowValue, RowsDigest};
use bourse_trace::{
    Event, EventKind, Execution, Note, Opened, Record, StatementText, TraceBase, TraceHead, TraceValue, TraceWriter,
};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A trace in the making: a table of numbers on a new database.
struct Trace {
    records: Vec<Record>,
    texts: Vec<String>,
    at_ns: u64,
    /// Whether an extension without result codes is the recorder.
    lacks_codes: bool,
    is_masked: bool,
    /// Copy of the database in the trace's folder; empty if it is new.
    copy: &'static str,
}

impl Trace {
    fn new() -> Self {
        let mut this =
            Self { records: Vec::new(), texts: Vec::new(), at_ns: 0, lacks_codes: false, is_masked: false, copy: "" };
        this.open(1);
        this.execute(1, "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)", &[], &[], 0);
        this
    }

    fn event(&mut self, connection: u64, kind: EventKind) {
        self.at_ns += 1_000_000;
        self.records.push(Record::Event(Event { at_ns: self.at_ns, connection, thread: 1, kind }));
    }

    fn open(&mut self, connection: u64) {
        self.open_file(connection, "/home/x.db");
    }

    fn open_file(&mut self, connection: u64, path: &str) {
        self.open_as(connection, "x.db", path);
    }

    fn open_as(&mut self, connection: u64, name: &str, path: &str) {
        let opened = Opened {
            flags: 6,
            base: if self.copy.is_empty() { TraceBase::New } else { TraceBase::Copied },
            name: name.to_owned(),
            path: path.to_owned(),
            vfs: String::new(),
            library: "3.40.1".to_owned(),
            copy: self.copy.to_owned(),
        };
        self.event(connection, EventKind::Opened(opened));
    }

    /// Adds an execution; `rows` are those it returned, of numbers.
    fn execute(&mut self, connection: u64, sql: &str, values: &[TraceValue], rows: &[&[i64]], changes: u64) {
        self.execute_as(connection, sql, values, rows, changes, [true, true], 0);
    }

    #[expect(clippy::too_many_arguments, reason = "all that an execution has")]
    fn execute_as(
        &mut self,
        connection: u64,
        sql: &str,
        values: &[TraceValue],
        rows: &[&[i64]],
        changes: u64,
        [autocommit_before, autocommit_after]: [bool; 2],
        code: u64,
    ) {
        let text = self.texts.iter().position(|known| known == sql).unwrap_or_else(|| {
            let is_read_only = ["SELECT", "BEGIN", "COMMIT", "PRAGMA"].iter().any(|word| sql.starts_with(word));
            self.records.push(Record::Text(StatementText { sql: sql.to_owned(), is_read_only }));
            self.texts.push(sql.to_owned());
            self.texts.len() - 1
        });
        let mut found = RowsDigest::default();
        for row in rows {
            found.add(digest::row(row.len(), row.iter().map(|number| RowValue::Int(*number))));
        }
        let executed = Execution {
            text: text as u64,
            autocommit_before,
            autocommit_after,
            is_first: true,
            is_complete: true,
            duration_ns: 10_000,
            code,
            rows: found,
            changes,
            values: values.to_vec(),
        };
        self.event(connection, EventKind::Executed(executed));
    }

    fn bytes(&self) -> Vec<u8> {
        let head = TraceHead {
            process: 1,
            parent: 0,
            by_extension: self.lacks_codes,
            lacks_codes: self.lacks_codes,
            is_masked: self.is_masked,
            unix_ns: 0,
            monotonic_ns: 0,
        };
        let mut writer = TraceWriter::new(Vec::new(), &head).expect("memory");
        self.records.iter().for_each(|record| writer.write(record).expect("memory"));
        writer.into_inner()
    }

    fn write(&self, folder: &Path) {
        fs::create_dir_all(folder.join("t")).expect("there is room");
        fs::write(folder.join("t/1-1.trace"), self.bytes()).expect("there is room");
    }
}

/// Inserts of the numbers 1 to `to`, each read back, by two connections in turn.
fn shop(to: i64) -> Trace {
    let mut trace = Trace::new();
    trace.open(2);
    for id in 1..=to {
        let connection = 1 + (id as u64 % 2);
        let values = [TraceValue::Int(id), TraceValue::Text(format!("it's {{one}} {id}").into_bytes())];
        trace.execute_as(connection, "BEGIN", &[], &[], 0, [true, false], 0);
        trace.execute_as(connection, "INSERT INTO t VALUES (?, :a)", &values, &[], 1, [false, false], 0);
        trace.execute_as(connection, "COMMIT", &[], &[], 0, [false, true], 0);
        let all: Vec<[i64; 1]> = (1..=id).rev().map(|id| [id]).collect();
        let rows: Vec<&[i64]> = all.iter().map(|row| &row[..]).collect();
        trace.execute(3 - connection, "SELECT id FROM t ORDER BY id DESC", &[], &rows, 0);
        trace.execute(connection, "SELECT count(*) FROM t WHERE a = ?", &[values[1].clone()], &[&[1]], 0);
    }
    trace.execute_as(1, "INSERT INTO t VALUES (1, 'again')", &[], &[], 0, [true, true], 1555);
    trace
}

/// A recording with more executions than those that are judged, and with rows that are wrong.
fn planted(judged: impl FnOnce(&mut Trace)) -> (Option<i32>, String, Option<RunFile>) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(5);
    judged(&mut trace);
    for id in 1..60 {
        trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
    }
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    (code, said.split_whitespace().collect::<Vec<_>>().join(" "), run)
}

/// Replays the trace in `folder/t` once; exit code, messages, and the results.
fn replay(folder: &Path, more: &[&str]) -> (Option<i32>, String, Option<RunFile>) {
    let arguments = [&["replay", "t"][..], more, &["--rounds", "1", "-o", "out"]].concat();
    // A folder may be left by an earlier one.
    let _ = fs::remove_dir_all(folder.join("out"));
    let ended = output(folder, &arguments);
    let run = fs::read_dir(folder.join("out")).ok().and_then(|mut found| found.next());
    let run = run.map(|run| RunFile::read(&run.expect("a folder").path().join("run.json")).expect("a run file"));
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr), run)
}

/// Status and evidence of a check of the first round.
fn check<'r>(run: &'r Option<RunFile>, name: &str) -> (CheckStatus, &'r str) {
    let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
    let check = round.checks.iter().find(|it| it.name == name).expect("it was checked");
    (check.status, &check.evidence)
}

#[test]
fn a_recording_gives_the_same_results_on_other_settings() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    shop(50).write(folder.path());
    for target in
        ["sqlite::memory:", "sqlite:x.db?journal=wal", "sqlite:y.db?journal=delete&defaults=sqlite&busy_timeout=9s"]
    {
        let (code, said, run) = replay(folder.path(), &[target]);
        assert_eq!(code, Some(0), "{target}: {said}");
        for name in ["results", "undetermined results", "refused statements"] {
            assert_eq!(check(&run, name).0, CheckStatus::Passed, "{target}: {:?}", check(&run, name));
        }
        let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
        assert_eq!(round.operations.iter().map(|it| it.valid()).sum::<u64>(), 252, "{target}: {said}");
    }
}

#[test]
fn what_the_engine_refuses_is_left_out_named_and_counted() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    for _ in 0..4 {
        trace.execute(1, "SELECT twice(id) FROM t", &[], &[&[2]], 0);
    }
    trace.execute(1, "PRAGMA journal_mode = DELETE", &[], &[&[1]], 0);
    trace.execute(1, "ATTACH '/etc/other.db' AS other", &[], &[], 0);
    trace.execute(1, "SELECT ?", &[TraceValue::Pointer("carray".into())], &[&[1]], 0);
    // More than nine in ten are replayed.
    for id in 1..60 {
        trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
    }
    trace.write(folder.path());
    let shown = text(&output(folder.path(), &["record", "show", "t"]).stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("bound pointer of type carray 1 execution"),
        "of 60 executions of the statement one has it: {shown}"
    );
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(0), "{said}");
    let (status, evidence) = check(&run, "refused statements");
    assert_eq!(status, CheckStatus::NotApplicable);
    for words in ["4 × SELECT twice(id) FROM t: no such function: twice", "1 × ATTACH"] {
        assert!(evidence.contains(words), "{words}: {evidence}");
    }
    let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
    let refused = round.operations.iter().position(|it| it.name.starts_with("refused: ")).expect("one with a row");
    assert!(round.operations[..refused].iter().any(|it| it.name == "SELECT ?"), "{:?}", round.operations);
    let is_marked = |name: &str| name.starts_with("refused: ") && !name.ends_with("SELECT ?");
    assert!(round.operations[refused..].iter().all(|it| is_marked(&it.name)), "those that ran come first");
    assert!(said.contains("refused: SELECT twice(id) FROM t"), "{said}");
    let facts = &round.facts;
    for left_out in [
        "1 × execution with a bound pointer of type carray",
        "1 × PRAGMA journal_mode = DELETE, which the target's option journal sets",
    ] {
        assert!(facts.iter().any(|it| it.value == left_out), "{left_out}: {facts:?}");
    }
}

/// One `PRAGMA` for each connection, as web applications have it, once voided the replay.
#[test]
fn settings_of_the_program_are_the_targets_and_void_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = Trace::new();
    for connection in 2..52 {
        trace.event(connection - 1, EventKind::Closed);
        trace.open(connection);
        trace.execute(connection, "PRAGMA foreign_keys=OFF", &[], &[], 0);
        trace.execute(connection, "PRAGMA busy_timeout = 5000", &[], &[&[5000]], 0);
        trace.execute(connection, "SELECT id FROM t", &[], &[], 0);
    }
    trace.write(folder.path());
    for (target, has_others) in [("sqlite:x.db?foreign_keys=off", false), ("sqlite:x.db", true)] {
        let (code, said, run) = replay(folder.path(), &[target]);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{target}: {said}");
        assert_eq!(check(&run, "refused statements").0, CheckStatus::Passed, "{target}: {said}");
        let facts = &run.as_ref().expect("it ran").cases[0].rounds[0].facts;
        let left_out = "50 × PRAGMA foreign_keys=OFF, which the target's option foreign_keys sets";
        assert_eq!(facts.iter().filter(|it| it.value == left_out).count(), 1, "{facts:?}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = "the target has other settings than the program, which set foreign_keys=off";
        assert_eq!(said.contains(words), has_others, "{target}: {said}");
    }
}

/// The engine that was opened anew for a cold round once wrote to the file of a person that the program had attached.
#[test]
fn statements_reach_no_attached_file_however_a_round_begins() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let other = folder.path().join("other.db");
    let mut trace = shop(20);
    trace.execute(1, &format!("ATTACH '{}' AS other", other.display()), &[], &[], 0);
    trace.execute(1, "CREATE TABLE other.written(a)", &[], &[], 0);
    trace.write(folder.path());
    for more in [&[][..], &["--cache", "warm"], &["--cache", "cold"]] {
        let (_, said, run) = replay(folder.path(), &[&["sqlite:x.db"], more].concat());
        assert!(check(&run, "refused statements").1.contains("1 × ATTACH"), "{more:?}: {said}");
        assert!(!other.exists(), "{more:?}: {said}");
    }
}

/// Temporary tables and settings of a closed connection once stayed for the next one.
#[test]
fn a_connection_finds_nothing_that_an_earlier_one_left_in_its_session() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = Trace::new();
    for connection in 2..5 {
        trace.event(connection - 1, EventKind::Closed);
        trace.open(connection);
        trace.execute(connection, "SELECT id FROM t", &[], &[], 0);
        trace.execute(connection, "SELECT 'A' LIKE 'a'", &[], &[&[1]], 0);
        trace.execute(connection, "CREATE TEMP TABLE t AS SELECT 7 AS id", &[], &[], 0);
        trace.execute(connection, "SELECT id FROM t", &[], &[&[7]], 0);
        trace.execute(connection, "PRAGMA case_sensitive_like = 1", &[], &[], 0);
        trace.execute(connection, "SELECT 'A' LIKE 'a'", &[], &[&[0]], 0);
    }
    trace.write(folder.path());
    let one_session = ["sqlite::memory:?defaults=sqlite", "sqlite:x.db?locking=exclusive"];
    for target in [&["sqlite::memory:"][..], &["sqlite:x.db", "--statements"], &one_session[..1], &one_session[1..]] {
        let (code, said, run) = replay(folder.path(), target);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{target:?}: {said}");
        assert_eq!(check(&run, "refused statements").0, CheckStatus::Passed, "{target:?}: {said}");
    }
}

/// A statement without end once went on for a minute after `-T`, and the replay failed.
#[test]
fn a_statement_without_end_is_ended_with_the_replay() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(
        1,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        &[],
        &[&[9]],
        0,
    );
    trace.write(folder.path());
    for target in ["sqlite::memory:", "sqlite:x.db"] {
        let begun = Instant::now();
        let (code, said, run) = replay(folder.path(), &[target, "-T", "500ms"]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}: {said}", begun.elapsed());
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
        assert!(said.contains("ended after 0.5 s as asked"), "{said}");
    }
}

/// Rows of a temporary table were once not found there, since another connection had made it.
#[test]
fn one_writer_refuses_temporary_tables_with_the_way_out() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(30);
    trace.execute(1, "CREATE TEMP TABLE kept AS SELECT 7 AS id", &[], &[], 0);
    trace.execute(1, "SELECT id FROM kept", &[], &[&[7]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite:x.db?writers=one"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let (_, evidence) = check(&run, "refused statements");
    assert!(evidence.contains("another connection makes it than reads it: writers=queue has"), "{evidence}");
    assert_eq!(replay(folder.path(), &["sqlite:x.db"]).0, Some(0));
}

#[test]
fn another_database_of_a_recording_is_replayed_by_its_name() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.open_file(3, "/home/other.db");
    trace.execute(3, "SELECT 7", &[], &[&[7]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--database", "other.db"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("of the databases only /home/other.db, not /home/x.db ("), "{said}");
    assert_eq!(run.expect("it ran").cases[0].rounds[0].operations.iter().map(|it| it.samples).sum::<u64>(), 1);
    for (name, arguments) in [("er.db", &["--database", "er.db"][..]), ("memory", &["--database", "memory"])] {
        let refused = output(folder.path(), &[&["replay", "t"][..], arguments].concat());
        let said = text(&refused.stderr);
        let words = format!("no database {name} was recorded, only /home/other.db, /home/x.db");
        assert!(refused.status.code() == Some(1) && said.contains(&words), "{said}");
    }
    let refused = output(folder.path(), &["replay", "t", "--database", ""]);
    let said = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("--database"), "{said}");
    assert!(!said.contains("--sweep"), "{said}");
}

/// Connections that shared a database in memory once had one each.
#[test]
fn connections_that_share_a_database_in_memory_are_replayed_on_one() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (mut trace, name) = (shop(3), "file:m?mode=memory&cache=shared");
    trace.open_as(3, name, "");
    trace.open_as(4, name, "");
    trace.execute(3, "CREATE TABLE u(a)", &[], &[], 0);
    trace.execute(3, "INSERT INTO u VALUES (5)", &[], &[], 1);
    trace.execute(4, "SELECT a FROM u", &[], &[&[5]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--database", name]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    assert_eq!(run.expect("it ran").cases[0].rounds[0].operations.iter().map(|it| it.samples).sum::<u64>(), 3);
}

/// A writer without patience that meets a reader once ended a replay, though SQLite had let both go on when they were recorded.
#[test]
fn transactions_that_conflict_in_the_replay_alone_are_tried_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = Trace::new();
    trace.open(2);
    let (open, busy) = ([false, false], 5);
    for id in 0..20 {
        for connection in [1, 2] {
            trace.execute_as(connection, "BEGIN", &[], &[], 0, [true, false], 0);
            trace.execute_as(connection, "SELECT count(*) FROM t", &[], &[&[id]], 0, open, 0);
        }
        trace.execute_as(2, "INSERT INTO t(a) VALUES ('b')", &[], &[], 1, open, 0);
        trace.execute_as(1, "INSERT INTO t(a) VALUES ('a')", &[], &[], 0, open, busy);
        trace.execute_as(2, "COMMIT", &[], &[], 0, open, busy);
        trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
        trace.execute_as(2, "COMMIT", &[], &[], 0, [false, true], 0);
    }
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite:x.db?defaults=sqlite"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
}

#[test]
fn a_replay_that_an_engine_refuses_is_void_and_says_so_first() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    for id in 1..20 {
        trace.execute(1, "SELECT a FROM missing WHERE id = ?", &[TraceValue::Int(id)], &[], 0);
    }
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "refused statements").0), (Some(3), CheckStatus::Failed), "{said}");
    let first = "VOID: no statements/s: a part was not replayed: the engine refused 19 of 36 executions";
    assert!(said.lines().take(3).any(|line| line.contains(first)), "{said}");
    assert!(said.contains("SELECT a FROM missing WHERE id = ?: no such table: missing"), "{said}");
}

/// A difference once had the exit code of a target that was refused after it.
#[test]
fn exit_codes_are_those_of_what_was_found() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::write(folder.join("own.db"), "a person's").expect("written");
    let write = |refused: i64, executed: i64, differs: bool| {
        let mut trace = shop(3);
        (0..refused).for_each(|_| trace.execute(1, "SELECT own(1)", &[], &[&[1]], 0));
        (0..executed).for_each(|id| trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0));
        if differs {
            trace.execute(1, "SELECT 1", &[], &[&[2]], 0);
        }
        trace.write(folder);
    };
    for (refused, executed, differs, expected) in
        [(0, 0, false, 0), (2, 60, false, 0), (9, 0, false, 3), (0, 0, true, 3), (2, 60, true, 3), (9, 0, true, 3)]
    {
        write(refused, executed, differs);
        let (code, said, _) = replay(folder, &["sqlite::memory:"]);
        assert_eq!(code, Some(expected), "{refused} refused, {executed} executed, a difference: {differs}: {said}");
    }
    let mut trace =
        Trace { records: Vec::new(), texts: Vec::new(), at_ns: 0, lacks_codes: false, is_masked: false, copy: "" };
    trace.open(1);
    (0..9).for_each(|_| trace.execute(1, "SELECT own(1)", &[], &[&[1]], 0));
    trace.write(folder);
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    assert!(code == Some(3) && said.contains("nothing was replayed: the engine refused 9 of 9 executions"), "{said}");
    assert!(!said.contains("is empty"), "{said}");
    // A copy without the tables of the statements once had no other words.
    let mut trace = Trace { copy: "x.copy", ..trace };
    trace.open(2);
    (0..9).for_each(|_| trace.execute(2, "SELECT a FROM t", &[], &[&[1]], 0));
    trace.write(folder);
    fs::write(folder.join("t/x.copy"), "").expect("there is room");
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        code == Some(3) && said.contains("18 of 18 executions; the copy of the database in the recording is empty"),
        "{said}"
    );
    // A copy that is no database was once a refusal of the target.
    fs::write(folder.join("t/x.copy"), [b'x'; 5_000]).expect("there is room");
    let (_, said, _) = replay(folder, &["sqlite::memory:"]);
    assert!(said.contains("reading the copy") && !said.contains("cannot use sqlite"), "{said}");
    fs::remove_file(folder.join("t/x.copy")).expect("it is there");
    write(0, 60, true);
    let (code, said, _) = replay(folder, &["sqlite::memory:", "--find-max", "--limit", "p50=10s"]);
    assert_eq!(code, Some(3), "{said}");
    // The order is drawn: one of these replays on the first target before it finds that the other cannot be made.
    let lost = "sqlite:/proc/x.db";
    let codes = [["sqlite::memory:", lost], [lost, "sqlite::memory:"]].map(|[one, other]| {
        let (code, said, _) = replay(folder, &[one, other, "--seed", "1"]);
        assert!(said.contains("cannot create /proc/x.db"), "{said}");
        code
    });
    assert!(codes.contains(&Some(3)) && codes.contains(&Some(2)), "{codes:?}");
    for arguments in [&["sqlite::memory:", "--database", "no.db"][..], &["lmdb:x"], &["sqlite:own.db"]] {
        let (code, said, _) = replay(folder, arguments);
        assert_eq!(code, Some(1), "{arguments:?}: {said}");
    }
}

/// A target that waited for no lock once failed without a hint that it could wait.
#[test]
fn a_conflict_has_the_time_that_the_program_waited() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = Trace::new();
    trace.open(2);
    let waits = EventKind::Noted { note: Note::BusyTimeout, number: 7_000, name: String::new() };
    trace.event(2, waits);
    trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
    trace.execute_as(1, "SELECT count(*) FROM t", &[], &[&[0]], 0, [false, false], 0);
    // A busy machine may start what is due at once in another order.
    trace.at_ns += 1_000_000_000;
    trace.execute(2, "INSERT INTO t(a) VALUES ('b')", &[], &[], 1);
    trace.at_ns += 5_000_000_000;
    trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
    trace.write(folder.path());
    let (code, said, _) = replay(folder.path(), &["sqlite:x.db?defaults=sqlite", "--pace", "1"]);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let advice = "waits for a lock up to 7000ms, and so does a target with busy_timeout=7000ms";
    assert!(code == Some(2) && words.contains(advice), "{code:?} {said}");
}

#[test]
fn a_pace_keeps_the_recorded_distances() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // Some 250 executions, 1 ms apart.
    shop(50).write(folder.path());
    for (pace, least) in [("1", 0.24), ("2", 0.12)] {
        let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--pace", pace]);
        assert_eq!(code, Some(0), "{said}");
        let measured = run.as_ref().expect("it ran").cases[0].rounds[0].measured_s;
        assert!(measured > least, "{measured} s at pace {pace}");
    }
    // All was started in the end, and the rate was once called reached.
    let (_, said, _) = replay(folder.path(), &["sqlite::memory:", "--pace", "1000", "-v"]);
    assert!(said.contains("by the schedule, which was not kept: the last one was started"), "{said}");
    assert!(said.contains("bottleneck: ") && !said.contains("was reached"), "{said}");
    assert!(!said.lines().any(|it| it.contains("zero in every row: late")), "{said}");
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--find-max", "--limit", "p50=10s"]);
    assert_eq!(code, Some(0), "{said}");
    let search = run.as_ref().and_then(|it| it.cases[0].search.as_ref()).expect("it searched");
    let found = search.highest_passing.filter(|_| search.confirmed).expect("any pace is slow enough");
    assert!(found > 2.0 && said.contains(&format!("repeat it with --pace {found}")), "{said}");
    // The hint once was to use fewer threads, which a replay has no setting for.
    let (code, said, _) = replay(folder.path(), &["sqlite::memory:", "--find-max", "--limit", "p50=1ns"]);
    assert!(code == Some(2) && said.contains("hint: try a higher --limit, or other options of the target"), "{said}");
    // No round of full length was run, and none had an interval to reach.
    assert!(!said.contains("interval was not reached") && said.contains("no rate met every limit in"), "{said}");
    // A limit without a statement to judge was dropped in silence if another limit had one.
    for limits in ["p99=10s", "p50=10s,p99.9=1ns"] {
        let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--find-max", "--limit", limits]);
        assert!(code == Some(1) && run.is_none() && said.contains("--limit p50=TIME is known here"), "{said}");
    }
    let (_, said, _) = replay(folder.path(), &["sqlite::memory:", "-T", "0s"]);
    assert!(said.contains("hint: without --for a replay lasts as long as its recording takes"), "{said}");
    let searched = ["tune", "sqlite:x.db", "--trace", "t", "-s", "pace=0.001", "--sweep", "sync=normal", "--dry-run"];
    let planned = text(&output(folder.path(), &searched).stdout);
    assert!(planned.lines().any(|it| it.starts_with("time ") && it.contains(" h ")), "rounds of 250 s: {planned}");
    let ended = output(folder.path(), &["tune", "sqlite:x.db", "--trace", "t", "--budget", "1s"]);
    let said = text(&ended.stderr);
    assert!(said.contains("a round replays all of the recording") && !said.contains("a shorter --for"), "{said}");
    let (code, said, _) = replay(folder.path(), &["sqlite::memory:", "--pace", "0"]);
    assert!(code == Some(1) && said.contains("expected max, or a number above 0"), "{said}");
}

#[test]
fn a_cut_recording_is_replayed_up_to_there_and_others_are_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let trace = shop(10);
    trace.write(folder);
    let (whole, file) = (trace.bytes(), folder.join("t/1-1.trace"));
    fs::write(&file, &whole[..whole.len() - 7]).expect("written");
    let (code, said, run) = replay(folder, &["sqlite::memory:"]);
    assert!(code == Some(0) && check(&run, "results").0 == CheckStatus::Passed, "{said}");
    let facts = &run.as_ref().expect("it ran").cases[0].rounds[0].facts;
    assert!(facts.iter().any(|it| it.value.contains("cut off within the record at byte")), "{facts:?}");
    // The screen shortens the line, and once showed the name alone.
    assert!(
        said.contains("unlike the recording: read up to there: the trace is cut off within the record at "),
        "{said}"
    );
    let mut full = shop(10);
    full.event(1, EventKind::Noted { note: Note::Trouble, number: 1, name: "the trace cannot be extended".to_owned() });
    full.write(folder);
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    let words = "unlike the recording: read up to there: the trace cannot be extended";
    assert!(code == Some(0) && said.contains(words), "{said}");
    let head = [&b"BOURSETR"[..], &[9, 0, 0, 0], &[0; 28]].concat();
    let check = bourse_trace::digest::bytes(0, &head) as u32;
    let newer = [&head[..], &check.to_le_bytes()].concat();
    for (bytes, words) in [
        (&whole[..20], "cut off within its head of 44 bytes"),
        (&whole[..44], "nothing in it can be replayed"),
        (&whole[..50], "or new; read up to there: the trace is cut off within the record at byte 44"),
        (&newer[..], "the trace has format 9"),
        (&b"SQLite format 3\0"[..], "this is no trace of a program"),
    ] {
        fs::write(&file, bytes).expect("written");
        let (code, said, _) = replay(folder, &["sqlite::memory:"]);
        assert!(code == Some(1) && one_line(&said).contains(words), "{words}: {said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said}");
    }
    fs::remove_file(&file).expect("it was there");
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    assert!(code == Some(1) && said.contains("there is no trace in it"), "{said}");
}

/// A transaction that a replay began with its write lock once refused its own checkpoint, which was tried again for minutes.
#[test]
fn a_checkpoint_before_the_first_write_of_a_transaction_is_left_out_and_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
    trace.execute_as(1, "PRAGMA wal_checkpoint", &[], &[&[0, 3, 3]], 0, [false, false], 0);
    trace.execute_as(1, "UPDATE t SET a = 'b' WHERE id = 1", &[], &[], 1, [false, false], 0);
    trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite:x.db?journal=wal"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let facts = &run.as_ref().expect("it ran").cases[0].rounds[0].facts;
    let words = "1 × execution of a checkpoint within a transaction";
    assert!(facts.iter().any(|it| it.name == "left out" && it.value == words), "{facts:?}");
}

/// A backup of the replayed database into another one was once listed as one into it.
#[test]
fn what_happens_on_another_database_is_not_left_out_of_this_one() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.open_file(3, "/home/other.db");
    for (connection, name) in [(1, "main"), (3, "elsewhere")] {
        trace.event(connection, EventKind::Noted { note: Note::Backup, number: 0, name: name.to_owned() });
    }
    trace.write(folder.path());
    let (_, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    let facts = &run.as_ref().expect("it ran").cases[0].rounds[0].facts;
    let left_out: Vec<&str> = facts.iter().filter(|it| it.name == "left out").map(|it| it.value.as_str()).collect();
    assert_eq!(left_out, ["1 × backup into the database: main"], "{said}");
}
