//! `bourse replay`: recordings executed again, compared, and refused.

use super::{output, text};
use bourse_engine_mysql::Flavour;
use bourse_record::{CheckStatus, Document as _, RunFile};
use bourse_trace::digest::{self, RowValue, RowsDigest};
use bourse_trace::{
    Event, EventKind, Execution, Opened, Record, StatementText, TraceBase, TraceHead, TraceValue, TraceWriter,
};
use std::fs;
use std::path::Path;

/// A trace in the making: a table of numbers on a new database.
struct Trace {
    records: Vec<Record>,
    texts: Vec<String>,
    at_ns: u64,
}

impl Trace {
    fn new() -> Self {
        let mut this = Self { records: Vec::new(), texts: Vec::new(), at_ns: 0 };
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
        let opened = Opened {
            flags: 6,
            base: TraceBase::New,
            name: "x.db".to_owned(),
            path: path.to_owned(),
            vfs: String::new(),
            library: "3.40.1".to_owned(),
            copy: String::new(),
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
            from_text: false,
            duration_ns: 10_000,
            code,
            rows: found,
            changes,
            values: values.to_vec(),
        };
        self.event(connection, EventKind::Executed(executed));
    }

    fn bytes(&self) -> Vec<u8> {
        let head =
            TraceHead { process: 1, parent: 0, by_extension: false, is_masked: false, unix_ns: 0, monotonic_ns: 0 };
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
fn a_wrong_row_is_found_and_shown() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "SELECT id, 7 FROM t WHERE id > ?", &[TraceValue::Int(1)], &[&[2, 7], &[3, 8]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(3), "{said}");
    let (status, evidence) = check(&run, "results");
    let shown = "1 × SELECT id, 7 FROM t WHERE id > ? with (1): recorded 2 rows, found others: (2, 7) (3, 7)";
    assert!(status == CheckStatus::Failed && evidence.contains(shown), "{evidence}");
    assert!(evidence.starts_with("1 of "), "{evidence}");
}

#[test]
fn wrong_numbers_of_rows_and_errors_are_found() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "SELECT id FROM t WHERE id = ?", &[TraceValue::Int(9)], &[&[9]], 0);
    trace.execute(1, "UPDATE t SET a = id", &[], &[], 2);
    trace.execute(1, "INSERT INTO t VALUES (3, 'x')", &[], &[], 1);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(3), "{said}");
    let (_, evidence) = check(&run, "results");
    for words in
        ["3 of ", "with (9): recorded 1 row, found 0 rows", "recorded 2 rows changed, found 3 rows changed", "UNIQUE"]
    {
        assert!(evidence.contains(words), "{words}: {evidence}");
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
    trace.execute(1, "SELECT ?", &[TraceValue::Pointer], &[&[1]], 0);
    // More than nine in ten are replayed.
    for id in 1..60 {
        trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
    }
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(0), "{said}");
    let (status, evidence) = check(&run, "refused statements");
    assert_eq!(status, CheckStatus::NotApplicable);
    for words in ["4 × SELECT twice(id) FROM t: no such function: twice", "1 × PRAGMA journal_mode", "1 × ATTACH"] {
        assert!(evidence.contains(words), "{words}: {evidence}");
    }
    let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
    let refused = round.operations.iter().position(|it| it.name.starts_with("refused: ")).expect("one with a row");
    assert!(round.operations[..refused].iter().any(|it| it.name == "SELECT ?"), "{:?}", round.operations);
    let is_marked = |name: &str| name.starts_with("refused: ") && !name.ends_with("SELECT ?");
    assert!(round.operations[refused..].iter().all(|it| is_marked(&it.name)), "those that ran come first");
    assert!(said.contains("refused: SELECT twice(id) FROM t"), "{said}");
    let facts = &round.facts;
    assert!(
        facts.iter().any(|it| it.value == "1 × executions with pointers, or texts that are not UTF-8"),
        "{facts:?}"
    );
}

/// One refused write once voided a replay, since later reads found another table.
#[test]
fn what_differs_because_a_write_was_refused_is_told_as_such() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    for id in 1..40 {
        trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
    }
    trace.execute(1, "INSERT INTO t SELECT own(id) FROM t", &[], &[], 3);
    trace.execute(2, "SELECT id FROM t WHERE id > 3", &[], &[&[4], &[5], &[6]], 0);
    trace.execute(1, "SELECT a FROM t WHERE id = 1 AND 0", &[], &[], 0);
    trace.open_file(3, "/home/other.db");
    trace.execute(3, "SELECT 1", &[], &[&[1]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let (status, evidence) = check(&run, "results after refusals");
    assert_eq!(status, CheckStatus::NotApplicable);
    assert!(evidence.contains("1 × SELECT id FROM t WHERE id > 3: t lacks writes"), "{evidence}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "1 of 59 executions were refused or left out",
        "1 of 59 results differ on tables that lack refused writes",
        "of the databases only /home/x.db, not /home/other.db (1 executions)",
        "2 not run (refused statements, results after refusals)",
        "recorded with 3.40.1, whose plans and times may be others",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A table that lacks nothing differs.
    trace.execute(1, "SELECT 1 WHERE 0", &[], &[&[1]], 0);
    trace.write(folder.path());
    assert_eq!(replay(folder.path(), &["sqlite::memory:"]).0, Some(3));
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
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:", "--find-max", "--limit", "p50=10s"]);
    assert_eq!(code, Some(0), "{said}");
    let search = run.as_ref().and_then(|it| it.cases[0].search.as_ref()).expect("it searched");
    let found = search.highest_passing.filter(|_| search.confirmed).expect("any pace is slow enough");
    assert!(found > 2.0 && said.contains(&format!("repeat it with --pace {found}")), "{said}");
    // The hint once was to use fewer threads, which a replay has no setting for.
    let (code, said, _) = replay(folder.path(), &["sqlite::memory:", "--find-max", "--limit", "p50=1ns"]);
    assert!(code == Some(2) && said.contains("hint: try a higher --limit, or other options of the target"), "{said}");
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
    let newer = [&b"BOURSETR"[..], &[9, 0, 0, 0], &[0; 28]].concat();
    for (bytes, words) in [
        (&whole[..20], "cut off within the record at byte 0"),
        (&whole[..40], "nothing in it can be replayed"),
        (&newer[..], "the trace has format 9"),
        (&b"SQLite format 3\0"[..], "this is no trace of a program"),
    ] {
        fs::write(&file, bytes).expect("written");
        let (code, said, _) = replay(folder, &["sqlite::memory:"]);
        assert!(code == Some(1) && said.contains(words), "{words}: {said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said}");
    }
    fs::remove_file(&file).expect("it was there");
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    assert!(code == Some(1) && said.contains("there is no trace in it"), "{said}");
}

/// A program in Python, recorded with the data that it found, on triggers, a virtual table, assigned numbers and threads.
#[test]
fn a_recorded_program_is_replayed_on_its_data() {
    if let Some(why) = super::record::no_python() {
        return bourse_testkit::skipped("replay::a_recorded_program_is_replayed_on_its_data", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "
import sqlite3
c = sqlite3.connect('x.db')
c.executescript('''CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b UNIQUE); CREATE INDEX i ON t(a);
CREATE TABLE log(n); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END;
CREATE VIRTUAL TABLE f USING fts5(x); CREATE VIEW v AS SELECT count(*) AS n FROM t;''')
c.executemany('INSERT INTO t(a, b) VALUES (?, ?)', [(i % 7, 'it''s %d' % i) for i in range(1000)])
c.execute('DELETE FROM t WHERE id > 990')
c.execute(\"INSERT INTO f VALUES ('one two'), ('two three')\")
c.execute('INSERT INTO t(a, b) VALUES (1.5e300, ?)', (b'\\\\0\\\\xff',))
c.execute('ANALYZE')
c.commit()
";
    let run = |program: &str| std::process::Command::new("python3").args(["-c", program]).current_dir(folder).status();
    assert!(run(made).expect("it runs").success());
    let program = "
import sqlite3, threading
def work(name):
    c = sqlite3.connect('x.db', timeout=60, isolation_level=None)
    for i in range(50):
        c.execute('BEGIN IMMEDIATE')
        c.execute('INSERT INTO t(a, b) VALUES (?, ?)', (i, name + str(i)))
        c.execute('SELECT max(id), (SELECT count(*) FROM log) FROM t').fetchall()
        c.execute('COMMIT')
        c.execute('SELECT a, b FROM t WHERE a = ? ORDER BY id', (i % 7,)).fetchall()
    c.close()
threads = [threading.Thread(target=work, args=('thread %d ' % i,)) for i in range(3)]
for it in threads: it.start()
for it in threads: it.join()
c = sqlite3.connect('x.db')
for sql in ['SELECT * FROM v', 'SELECT * FROM t ORDER BY id', \"SELECT x FROM f WHERE f MATCH 'two'\"]:
    c.execute(sql).fetchall()
c.execute('SELECT id FROM t').fetchone()
";
    let ended = output(folder, &["record", "-o", "t", "--", "python3", "-c", program]);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    for target in ["sqlite::memory:", "sqlite:z.db", "sqlite:z.db?journal=delete&sync=off"] {
        let (code, said, run) = replay(folder, &[target]);
        assert_eq!(code, Some(0), "{target}: {said}");
        assert_eq!(check(&run, "results").0, CheckStatus::Passed, "{target}: {said}");
        assert_eq!(check(&run, "refused statements").0, CheckStatus::Passed, "{:?}", check(&run, "refused statements"));
    }
    let copy = fs::read_dir(folder.join("t/databases")).expect("a folder").next().expect("a copy").expect("a copy");
    let change = format!(
        "import sqlite3\nc = sqlite3.connect('{}')\nc.execute('UPDATE t SET a = 3 WHERE id = 500')\nc.commit()",
        copy.path().display()
    );
    assert!(run(&change).expect("it runs").success());
    let (code, said, run) = replay(folder, &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "results").0), (Some(3), CheckStatus::Failed), "{said}");
    fs::remove_file(copy.path()).expect("it is there");
    let (code, said, _) = replay(folder, &["sqlite::memory:"]);
    assert!(code == Some(1) && said.contains("the copy of the database is missing"), "{said}");
}

/// The programs in `examples/`, recorded and replayed with their own settings and with Bourse's.
#[test]
fn examples_of_applications_give_the_recorded_rows_again() {
    if let Some(why) = super::record::no_python() {
        return bourse_testkit::skipped("replay::examples_of_applications_give_the_recorded_rows_again", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for (name, operations) in [("shop", "40"), ("browser", "25"), ("agent", "30")] {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).expect("there is room for a folder");
        let program = format!("{}/../../examples/{name}.py", env!("CARGO_MANIFEST_DIR"));
        let run = |operations| ["python3", &program, "x.db", "--operations", operations].map(str::to_owned);
        let made = std::process::Command::new("python3").args(&run("0")[1..]).current_dir(&folder).output();
        assert!(made.as_ref().is_ok_and(|made| made.status.success()), "{made:?}");
        let recorded = run(operations);
        let record: Vec<&str> =
            ["record", "-o", "t", "--"].into_iter().chain(recorded.iter().map(String::as_str)).collect();
        let ended = output(&folder, &record);
        assert!(text(&ended.stdout).starts_with(&format!("{operations} ")), "{name}: {}", text(&ended.stderr));
        for target in ["sqlite::memory:", "sqlite:y.db?defaults=sqlite&busy_timeout=5s&sync=off"] {
            let (code, said, run) = replay(&folder, &[target]);
            assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{name} on {target}: {said}");
            assert_eq!(check(&run, "refused statements").0, CheckStatus::Passed, "{name} on {target}: {said}");
        }
    }
}

/// A program in Python, recorded, on engines with another SQL: what they execute gives the recorded rows.
#[test]
fn a_recorded_program_is_replayed_on_other_engines() {
    const TEST: &str = "replay::a_recorded_program_is_replayed_on_other_engines";
    if let Some(why) = super::record::no_python() {
        return bourse_testkit::skipped(TEST, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "
import sqlite3
c = sqlite3.connect('x.db')
c.executescript(\"\"\"CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT NOT NULL DEFAULT 'a', price DECIMAL(10,2), note BLOB, UNIQUE (kind, id));
CREATE INDEX item_kind ON item(kind); CREATE INDEX cheap ON item(price) WHERE price < 3; CREATE TABLE mixed(a);
CREATE TABLE child(item INTEGER REFERENCES item(id));
CREATE TABLE pair(a INT, b VARCHAR(9), n REAL, PRIMARY KEY (a, b)) WITHOUT ROWID; CREATE VIEW v AS SELECT 1;\"\"\")
c.executemany('INSERT INTO item VALUES (?, ?, ?, ?)', [(i, 'k\u{fc}%d' % (i % 7), i * 1.25, b'x' if i % 3 else None) for i in range(1, 3001)])
c.executemany('INSERT INTO pair VALUES (?, ?, ?)', [(i, 'b', i) for i in range(100)])
c.execute(\"INSERT INTO mixed VALUES (1), ('a')\")
c.commit()
";
    let program = "
import sqlite3
c = sqlite3.connect('x.db', isolation_level=None)
c.execute('CREATE TABLE made(id INTEGER PRIMARY KEY, n INTEGER)')
for i in range(40):
    c.execute('INSERT INTO made(n) VALUES (?)', (i,))
    c.execute('SELECT id, n FROM made WHERE n = ?', (i,)).fetchall()
    c.execute('SELECT id, kind, price, note FROM item WHERE kind = ? ORDER BY id', ('k\u{fc}%d' % (i % 7),)).fetchall()
    c.execute('BEGIN')
    if i % 4 == 1:
        c.execute('SELECT json_array(1)').fetchall()
    c.execute('INSERT INTO item(kind, price) VALUES (:kind, :price)', {'kind': 'new', 'price': i / 3})
    c.execute('UPDATE pair SET n = n + ? WHERE a = ?', (0.1, i))
    c.execute('COMMIT')
    c.execute('SELECT count(*), max(id) FROM item WHERE id > ?', (i * 70,)).fetchall()
    c.execute('SELECT a, b, n FROM pair WHERE n > ?', (50.5,)).fetchall()
";
    let differs = "
import sqlite3
sqlite3.connect('x.db').execute(\"SELECT id, kind FROM item WHERE kind LIKE 'K%' AND id < 2\").fetchall()
";
    let ran = std::process::Command::new("python3").args(["-c", made]).current_dir(folder).status();
    assert!(ran.expect("it runs").success());
    let record = |program: &str| {
        // A folder may be left by an earlier one.
        let _ = fs::remove_dir_all(folder.join("t"));
        let ended = output(folder, &["record", "-o", "t", "--", "python3", "-c", program]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    };
    record(program);
    let postgres = "postgres+private:?shared_buffers=64MiB&fsync=off";
    #[cfg_attr(not(feature = "duckdb"), expect(unused_mut, reason = "DuckDB is one more"))]
    let mut targets = vec![
        (postgres, bourse_engine_postgres::installed(None).map(drop).map_err(|why| why.to_string())),
        (
            "mariadb+private:?innodb_buffer_pool=64MiB&log_file=64MiB&flush_log=0",
            bourse_engine_mysql::installed(Flavour::Mariadb, None).map(drop).map_err(|why| why.to_string()),
        ),
    ];
    #[cfg(feature = "duckdb")]
    targets.push(("duckdb:x.duckdb", bourse_engine_duckdb::info(None).map(drop).map_err(|why| why.to_string())));
    for (target, there) in &targets {
        if let Err(why) = there {
            bourse_testkit::skipped(TEST, why);
            continue;
        }
        let (code, said, run) = replay(folder, &[target]);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{target}: {said}");
        assert_eq!(check(&run, "undetermined results").0, CheckStatus::Passed, "{target}: {said}");
        let facts = &run.as_ref().expect("it ran").cases[0].rounds[0].facts;
        let (_, refused) = check(&run, "refused statements");
        assert!(!refused.contains("made"), "the engine assigns the key of a table that the recording makes: {refused}");
        for words in ["table mixed: ", "view v: ", "index cheap: ", "foreign key of child to item: "] {
            assert!(facts.iter().any(|it| it.name == "left out" && it.value.starts_with(words)), "{words}: {facts:?}");
        }
    }
    if targets[0].1.is_ok() {
        record(differs);
        let (code, said, run) = replay(folder, &[postgres]);
        assert_eq!((code, check(&run, "results").0), (Some(3), CheckStatus::Failed), "{said}");
        let (_, evidence) = check(&run, "results");
        assert!(evidence.contains("the first difference: recorded (1, 'k\u{fc}1'), found no row"), "{evidence}");
    }
}
