//! Results that the recording does not determine: beside other connections and rollbacks, by clocks, random numbers and masks.

use super::{Trace, check, planted, replay, shop};
use bourse_record::CheckStatus;
use bourse_trace::{Event, EventKind, Note, Record, TraceValue};

/// An error is compared where the trace has its code and the data its cause; once others ended the replay, or were differences.
#[test]
fn errors_of_the_programs_state_and_unknown_ones_are_undetermined() {
    const ENDLESS: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r";
    let fail = |trace: &mut Trace, sql: &str, code| trace.execute_as(1, sql, &[], &[], 0, [true, true], code);
    let elsewhere = |why: &str| format!("not executed: {why}");
    type Adding<'f> = &'f dyn Fn(&mut Trace);
    let cases: [(Adding<'_>, String); 10] = [
        (
            &|it| fail(it, "INSERT INTO t VALUES (7, 'x')", 8),
            elsewhere("the program had the database open for reading alone"),
        ),
        (&|it| fail(it, "VACUUM", 1), elsewhere("the program had another statement of the connection open")),
        (&|it| fail(it, "DELETE FROM t", 17), elsewhere("the schema had changed since the program prepared it")),
        (&|it| fail(it, "DELETE FROM t", 18), elsewhere("a value was longer than the program's limit")),
        (
            &|it| {
                it.event(1, EventKind::Noted { note: Note::Hook, number: 9, name: "sqlite3_limit".to_owned() });
                fail(it, "DELETE FROM t", 1);
            },
            "an error in the recording, maybe of a limit that the program set".to_owned(),
        ),
        (&|it| fail(it, "DELETE FROM t", 13), elsewhere("the program's disk or database was full")),
        (
            &|it| {
                it.execute(1, "PRAGMA max_page_count = 3", &[], &[&[3]], 0);
                it.execute(1, "INSERT INTO t(a) VALUES (zeroblob(100000))", &[], &[], 1);
            },
            elsewhere("a replay has other pages, with Bourse's own tables"),
        ),
        (
            &|it| {
                it.lacks_codes = true;
                it.execute(1, ENDLESS, &[], &[&[1], &[2]], 0);
            },
            "an extension records no errors".to_owned(),
        ),
        (
            &|it| {
                it.lacks_codes = true;
                fail(it, "INSERT INTO t VALUES (7, 'busy')", 0);
            },
            "an extension records no errors".to_owned(),
        ),
        (
            &|it| {
                it.execute(1, "ANALYZE", &[], &[], 0);
                it.execute(1, "SELECT count(*) FROM sqlite_stat1", &[], &[&[1]], 0);
            },
            "its rows depend on more than the data".to_owned(),
        ),
    ];
    for (add, why) in cases {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut trace = shop(3);
        add(&mut trace);
        for id in 1..60 {
            trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
        }
        trace.write(folder.path());
        let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{why}: {said}");
        let (_, evidence) = check(&run, "undetermined results");
        assert!(evidence.starts_with("1 of ") && evidence.contains(&why), "{why}: {evidence}");
    }
}

/// One trigger, virtual table or foreign key's action once kept the numbers of changed rows of all tables from being compared.
#[test]
fn numbers_of_changed_rows_are_compared_but_of_tables_with_triggers_and_actions() {
    const SCHEMA: [&str; 9] = [
        "CREATE TABLE u(v)",
        "CREATE TABLE log(v)",
        "CREATE TRIGGER x AFTER INSERT ON u BEGIN INSERT INTO log VALUES (new.v), (0); END",
        "CREATE VIEW w AS SELECT v FROM u",
        "CREATE TRIGGER y INSTEAD OF DELETE ON w BEGIN DELETE FROM u WHERE v = old.v; END",
        "CREATE TABLE p(id INTEGER PRIMARY KEY)",
        "CREATE TABLE c(p REFERENCES p(id) ON DELETE CASCADE, half AS (p / 2) VIRTUAL)",
        "CREATE VIRTUAL TABLE f USING fts5(words)",
        "CREATE TABLE r(p REFERENCES p(id))",
    ];
    let changes = |sql: &str, changes| {
        planted(|trace| {
            SCHEMA.iter().for_each(|sql| trace.execute(1, sql, &[], &[], 0));
            for (sql, changes) in [
                ("INSERT INTO u VALUES (7), (8)", 6),
                ("INSERT INTO p VALUES (1), (2)", 2),
                ("INSERT INTO c VALUES (1), (1), (2)", 3),
                ("INSERT INTO r VALUES (2)", 1),
                ("ALTER TABLE u RENAME TO n", 0),
                (sql, changes),
            ] {
                trace.execute(1, sql, &[], &[], changes);
            }
        })
    };
    let why = "× the recorded number has rows that triggers, foreign keys or a virtual table changed too";
    for (sql, recorded) in [
        ("INSERT INTO n VALUES (9)", 3),
        ("DELETE FROM w WHERE v = 7", 1),
        ("DELETE FROM p WHERE id = 1", 3),
        ("INSERT INTO f VALUES ('a b')", 5),
    ] {
        let (code, said, run) = changes(sql, recorded);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{sql}: {said}");
        assert!(said.contains(&format!("2 of 71 undetermined (2 {why})")), "{sql}: {said}");
    }
    for (sql, recorded) in [
        ("UPDATE t SET a = 'x'", 6),
        ("DELETE FROM c WHERE p = 1", 3),
        ("UPDATE log SET v = 1", 5),
        ("INSERT INTO r VALUES (1)", 2),
        // Others can only add to the number.
        ("DELETE FROM p WHERE id = 1", 0),
    ] {
        let (code, said, _) = changes(sql, recorded);
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// Statements that compare by what masks do not keep once counted as differences.
#[test]
fn numbers_of_rows_that_masks_do_not_keep_are_undetermined() {
    let masked = |sql: &str, rows: &[&[i64]], changes: u64| {
        planted(|trace| {
            trace.is_masked = true;
            trace.execute(1, "CREATE TABLE u(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, log)", &[], &[], 0);
            trace.execute(1, "CREATE VIEW v AS SELECT id FROM u WHERE name LIKE 'a%'", &[], &[], 0);
            trace.execute(1, "INSERT INTO u VALUES (1, 'a', 1), (2, 'b', 2)", &[], &[], 2);
            trace.execute(1, sql, &[TraceValue::Int(3)], rows, changes);
            let is_write = sql.starts_with("DELETE");
            is_write.then(|| trace.execute(1, "SELECT id FROM u", &[], &[], 0));
        })
    };
    let why = "masks keep equality and order alone";
    for (sql, rows, changes, words) in [
        ("SELECT id FROM u WHERE name = ?", &[&[1_i64][..]][..], 0, format!("(1 × {why})")),
        ("SELECT id FROM t WHERE id + 2 > ?", &[&[1]], 0, format!("(1 × {why})")),
        ("SELECT id FROM t ORDER BY id LIMIT ?", &[&[1]], 0, format!("(1 × {why})")),
        ("SELECT id FROM v WHERE id < ?", &[], 0, "rows of v: masks, a clock, random numbers".to_owned()),
        ("DELETE FROM u WHERE abs(id) = ?", &[], 1, format!("{why}, 1 × rows of u: masks, a clock")),
    ] {
        let (code, said, run) = masked(sql, rows, changes);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{sql}: {said}");
        assert!(said.contains(&words), "{sql}: {said}");
    }
    for (sql, changes) in [
        ("SELECT id FROM u WHERE id < ?", 0),
        ("SELECT lower(name) FROM u WHERE log < ? ORDER BY name", 0),
        ("UPDATE u SET name = 'x' WHERE log < ?", 1),
    ] {
        let (code, said, _) = masked(sql, &[], changes);
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// Answers of a connection about its own writes once differed on a target whose writes are another connection's.
#[test]
fn what_the_one_writer_would_answer_is_undetermined() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "DELETE FROM t WHERE id < 3", &[], &[], 2);
    trace.execute(1, "SELECT changes()", &[], &[&[2]], 0);
    trace.execute(1, "INSERT INTO t(a) VALUES ('x')", &[], &[], 1);
    trace.execute(1, "SELECT last_insert_rowid()", &[], &[&[4]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite:x.db?writers=one"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let (_, evidence) = check(&run, "undetermined results");
    assert!(evidence.starts_with("2 of ") && evidence.contains("SELECT changes(): with writers=one"), "{evidence}");
    assert_eq!(replay(folder.path(), &["sqlite:y.db"]).0, Some(0));
    trace.execute(1, "SELECT changes()", &[], &[&[7]], 0);
    trace.write(folder.path());
    assert_eq!(replay(folder.path(), &["sqlite:z.db"]).0, Some(3));
}

/// One default that is a clock once kept every value of a recording from being compared.
#[test]
fn a_clock_keeps_its_own_columns_alone_from_being_compared() {
    let with_clock = |trace: &mut Trace, sql: &str, rows: &[&[i64]]| {
        trace.execute(1, "CREATE TABLE log(m, at DEFAULT CURRENT_TIMESTAMP)", &[], &[], 0);
        trace.execute(1, "INSERT INTO log(m) VALUES (7)", &[], &[], 1);
        trace.execute(1, "UPDATE t SET a = random() WHERE id = 2", &[], &[], 1);
        trace.execute(1, "SELECT m, at FROM log", &[], &[&[7, 0]], 0);
        trace.execute(1, "SELECT a FROM t WHERE id = 2", &[], &[&[0]], 0);
        trace.execute(1, sql, &[], rows, 0);
    };
    let (code, said, run) = planted(|trace| with_clock(trace, "SELECT m FROM log", &[&[7]]));
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let words = "2 of 72 undetermined (1 × log.at: values of a clock or random numbers, 1 × t.a: values of";
    assert!(said.contains(words), "{said}");
    for sql in ["SELECT m FROM log", "SELECT id + 5 FROM t WHERE id = 1"] {
        let (code, said, _) = planted(|trace| with_clock(trace, sql, &[&[8]]));
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// Numbers of rows that depend on a clock or random numbers once counted as differences, or as following from refusals.
#[test]
fn what_a_clock_or_a_random_key_decides_is_undetermined() {
    let table = "CREATE TABLE s(id PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))), k, at DEFAULT (unixepoch()))";
    let bound = TraceValue::Text(b"recorded".to_vec());
    let begun = |trace: &mut Trace| {
        trace.execute(1, table, &[], &[], 0);
        trace.execute(1, "CREATE TABLE item(s REFERENCES s(id), n)", &[], &[], 0);
        trace.execute(1, "INSERT INTO s(k) VALUES (1), (2)", &[], &[], 2);
    };
    let one = [TraceValue::Int(i64::MAX)];
    type Judged<'j> = (&'j str, Vec<TraceValue>, &'j [&'j [i64]], u64, &'j str);
    let judged: [Judged<'_>; 6] = [
        ("SELECT k FROM s WHERE at > ?", one.to_vec(), &[&[1]], 0, "its rows depend on s.at: values"),
        ("SELECT k FROM s WHERE id = ?", vec![bound.clone()], &[&[1]], 0, "s.id: values of a clock or random"),
        ("UPDATE s SET k = 3 WHERE id = ?", vec![bound.clone()], &[], 1, "s.id: values of a clock or random"),
        ("INSERT INTO item VALUES (?, 7)", vec![bound.clone()], &[], 1, "s.id: values of a clock or random"),
        (
            "WITH r AS (SELECT k, at AS x FROM s) SELECT k FROM r WHERE x > ?",
            one.to_vec(),
            &[&[1]],
            0,
            "s.at: values of a clock or random",
        ),
        ("DELETE FROM s WHERE at < unixepoch() + 9", Vec::new(), &[], 1, "its rows depend on more than the data"),
    ];
    for (sql, values, rows, changes, words) in &judged {
        let (code, said, run) = planted(|trace| {
            begun(trace);
            trace.execute(1, sql, values, rows, *changes);
            // What a write with such a condition leaves is undetermined too.
            if *changes > 0 {
                let table = if sql.contains("item") { "item" } else { "s" };
                trace.execute(1, &format!("SELECT 9 FROM {table}"), &[], &[&[9][..]; 7], 0);
            }
        });
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{sql}: {said}");
        assert!(said.contains(words) && !said.contains("lacks writes"), "{sql}: {said}");
        let follows = said.contains("a clock, random numbers or another connection's writes decided them");
        assert_eq!(follows, *changes > 0, "{sql}: {said}");
    }
    // Other conditions are compared.
    for (sql, rows, changes) in [
        ("SELECT k FROM s WHERE k > 1", &[&[2_i64][..], &[3]][..], 0),
        ("SELECT k FROM s WHERE k > 0 ORDER BY at", &[&[1][..]][..], 0),
        ("UPDATE s SET at = 5 WHERE k = 1", &[], 2),
    ] {
        let (code, said, _) = planted(|trace| {
            begun(trace);
            trace.execute(1, sql, &[], rows, changes);
        });
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// The last digit of a sum, which SQLite 3.40 adds up otherwise, once failed the replays of programs on Debian 12.
#[test]
fn sums_of_doubles_are_undetermined_by_another_version_alone() {
    let sum = "SELECT sum(id / 10.0) FROM t";
    let (code, said, run) = planted(|trace| trace.execute(1, sum, &[], &[&[1]], 0));
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    assert!(said.contains("1 × sums of doubles, which SQLite adds up otherwise from 3.43 on"), "{said}");
    for sql in ["SELECT sum(id) FROM t", "SELECT id / 10.0 FROM t WHERE id = 1"] {
        let (code, said, _) = planted(|trace| trace.execute(1, sql, &[], &[&[1]], 0));
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
}

/// A function of time without a time was once taken for one of the data alone.
#[test]
fn the_present_time_is_undetermined() {
    let (code, said, run) = planted(|trace| {
        trace.execute(1, "SELECT datetime()", &[], &[&[0]], 0);
        trace.execute(1, "SELECT id + 5, strftime('%s') FROM t WHERE id = 1", &[], &[&[6, 0]], 0);
    });
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    assert!(said.contains("undetermined (2 × its rows depend on more than the data)"), "{said}");
    let (code, said, _) =
        planted(|trace| trace.execute(1, "SELECT unixepoch(id) FROM t WHERE id = 1", &[], &[&[0]], 0));
    assert_eq!(code, Some(3), "{said}");
}

/// Lets the last execution have begun so long before its end.
fn lasts(trace: &mut Trace, ns: u64) {
    let Some(Record::Event(Event { kind: EventKind::Executed(last), .. })) = trace.records.last_mut() else {
        panic!("an execution")
    };
    last.duration_ns = ns;
}

/// A statement that the program had open once counted as ended, so that what it kept from being seen was a difference.
#[test]
fn an_open_statement_keeps_the_state_that_its_connection_reads() {
    // Connection 2 writes while connection 1 has a statement open; 1 reads before and after the end of that statement.
    let holds = |more: fn(&mut Trace), table: &str, is_ended: bool| {
        planted(|trace| {
            trace.execute(1, "CREATE TABLE u(id INTEGER PRIMARY KEY, v)", &[], &[], 0);
            trace.execute(1, "INSERT INTO u VALUES (1, 1)", &[], &[], 1);
            let begun_ns = trace.at_ns + 500_000;
            trace.execute(2, "UPDATE u SET v = 2", &[], &[], 1);
            more(trace);
            let read = format!("SELECT v FROM {table} WHERE id = 1");
            trace.execute(1, &read, &[], &[&[if is_ended { 2 } else { 1 }]], 0);
            trace.execute(1, "SELECT count(*) FROM t", &[], &[&[5]], 0);
            lasts(trace, trace.at_ns - begun_ns);
            trace.execute(1, &read, &[], &[&[if is_ended { 1 } else { 2 }]], 0);
        })
    };
    let (code, said, _) = holds(|_| (), "u", false);
    assert!(code == Some(0) && said.contains("1 × another connection wrote meanwhile"), "{said}");
    let (code, said, _) = holds(|trace| trace.execute(1, "SELECT 1 FROM t WHERE id = 1", &[], &[&[1]], 0), "u", false);
    assert!(code == Some(0) && said.contains("1 × another connection wrote meanwhile"), "{said}");
    // With the statement ended, or a write of its own, the connection reads the newest state.
    let (code, said, _) = holds(|_| (), "u", true);
    assert_eq!(code, Some(3), "{said}");
    let (code, said, _) = holds(|trace| trace.execute(1, "DELETE FROM t WHERE id = 99", &[], &[], 0), "u", false);
    assert_eq!(code, Some(3), "{said}");
}

/// Changes of temporary tables, and declarations of what was there, once had their transaction wait for those of other connections, whose
/// rows were then differences.
#[test]
fn a_transaction_whose_changes_nobody_else_sees_may_have_read_the_state_before_others() {
    let open = [false, false];
    let judged = |changes: &str, copies: bool| {
        planted(|trace| {
            trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
            trace.execute_as(1, "SELECT count(*) FROM t", &[], &[&[5]], 0, open, 0);
            trace.execute_as(1, changes, &[], &[], 0, open, 0);
            trace.execute(2, "INSERT INTO t(id) VALUES (70)", &[], &[], 1);
            if copies {
                trace.execute_as(1, "INSERT INTO u SELECT id FROM t", &[], &[], 5, open, 0);
                trace.execute_as(1, "SELECT count(*) FROM u", &[], &[&[5]], 0, open, 0);
            }
            trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
        })
    };
    for changes in [
        "CREATE TEMP TABLE u(v)",
        "CREATE TABLE temp.u(v)",
        "CREATE TABLE IF NOT EXISTS t(id)",
        "DROP TABLE IF EXISTS temp.u",
    ] {
        let (code, said, _) = judged(changes, false);
        assert!(code == Some(0) && said.contains("1 × another connection wrote meanwhile"), "{changes}: {said}");
    }
    let (code, said, _) = judged("CREATE TEMP TABLE u(v)", true);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 × another connection wrote meanwhile"), "{said}");
    assert!(
        said.contains("1 × rows of u: a clock, random numbers or another connection's writes decided them"),
        "{said}"
    );
    // A column may have such a name, and a query such a condition.
    for changes in
        ["CREATE TABLE u(v)", "CREATE TABLE u(temp)", "CREATE TABLE u AS SELECT id FROM t WHERE NOT EXISTS (SELECT 1)"]
    {
        let (code, said, _) = judged(changes, true);
        assert_eq!(code, Some(3), "{changes}: {said}");
    }
}

/// A statement that was aborted, and returned when the transaction had ended, once ended it where the statement had begun.
#[test]
fn a_statement_that_a_rollback_aborted_ends_no_transaction() {
    let (code, said, run) = planted(|trace| {
        trace.execute_as(1, "SAVEPOINT s", &[], &[], 0, [true, false], 0);
        trace.execute_as(1, "CREATE TABLE u(v)", &[], &[], 0, [false, false], 0);
        trace.execute_as(1, "ROLLBACK TO s", &[], &[], 0, [false, false], 0);
        trace.execute_as(1, "RELEASE s", &[], &[], 0, [false, true], 0);
        trace.execute_as(1, "SELECT id FROM t", &[], &[&[1]], 0, [false, true], 516);
        lasts(trace, 3_500_000);
    });
    assert_eq!((code, check(&run, "refused statements").0), (Some(0), CheckStatus::Passed), "{said}");
}

/// Rows that the program read on after a rollback were once a difference, as were those beside a write within its transaction.
#[test]
fn rows_beside_the_writes_and_rollbacks_of_their_own_transaction_are_undetermined() {
    let judged = |first: &str, then: &str, [before, after]: [bool; 2]| {
        planted(|trace| {
            trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
            trace.execute_as(1, "SAVEPOINT s", &[], &[], 0, [false, false], 0);
            trace.execute_as(1, first, &[], &[], 1, [false, false], 0);
            trace.execute_as(1, then, &[], &[], u64::from(then.starts_with("DELETE")), [before, after], 0);
            // The replay finds that of the first statement.
            trace.execute_as(1, "SELECT id FROM t WHERE id > 4", &[], &[&[60]], 0, [before, after], 0);
            lasts(trace, 1_500_000);
            if !after {
                trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
            }
        })
    };
    let first = "UPDATE t SET id = 70 WHERE id = 5";
    for (then, autocommit) in [
        ("ROLLBACK", [false, true]),
        ("ROLLBACK TO s", [false, false]),
        ("DELETE FROM t WHERE id = 70", [false, false]),
    ] {
        let (code, said, _) = judged(first, then, autocommit);
        assert!(code == Some(0) && said.contains("1 × the program wrote while it read the rows"), "{then}: {said}");
    }
    for (first, then, autocommit) in [
        ("CREATE TABLE u(v)", "ROLLBACK", [false, true]),
        ("CREATE TABLE u(v)", "ROLLBACK TO s", [false, false]),
        (first, "RELEASE s", [false, false]),
    ] {
        let (code, said, _) = judged(first, then, autocommit);
        assert_eq!(code, Some(3), "{first}; {then}: {said}");
    }
}

/// Each `LIMIT`, each reader beside a writer, and each order once left a result undetermined.
#[test]
fn results_that_keys_and_tables_determine_are_compared() {
    let differs = |sql: &str, rows: &[&[i64]]| planted(|trace| trace.execute(1, sql, &[], rows, 0));
    for (sql, rows) in [
        ("SELECT id + 1 FROM t WHERE id = 1 LIMIT 21", &[&[1_i64][..]][..]),
        ("SELECT id FROM t WHERE (t.id = 1 AND a <> '') LIMIT 1", &[&[2]]),
        ("SELECT id FROM t WHERE id = 9 LIMIT 1", &[&[9]]),
        ("SELECT a = '' FROM t LIMIT 3", &[&[0]]),
        ("SELECT id FROM t WHERE id < 3 LIMIT 3", &[&[1], &[3]]),
        ("SELECT id FROM t ORDER BY id LIMIT 2", &[&[1], &[3]]),
        ("SELECT id FROM t ORDER BY a, t.id DESC LIMIT 1", &[&[3]]),
        ("SELECT a FROM t ORDER BY a DESC LIMIT 1", &[&[3]]),
        ("SELECT DISTINCT a <> '' FROM t ORDER BY 1 LIMIT 1", &[&[0]]),
        ("SELECT a <> '', count(*) FROM t GROUP BY a <> '' ORDER BY 2, a <> '' LIMIT 1", &[&[1, 4]]),
        ("SELECT id FROM t WHERE id < 3 ORDER BY id", &[&[2], &[1]]),
        ("SELECT EXISTS (SELECT 1 FROM t WHERE id = 1 LIMIT 1)", &[&[0]]),
    ] {
        let (code, said, _) = differs(sql, rows);
        assert_eq!(code, Some(3), "{sql}: {said}");
    }
    for (sql, rows, words) in [
        ("SELECT id FROM t LIMIT 1", &[&[3_i64][..]][..], "1 × LIMIT among rows whose order may tie"),
        ("SELECT id FROM t ORDER BY a <> '' LIMIT 1", &[&[3]], "1 × LIMIT among rows whose order may tie"),
        ("SELECT id FROM t ORDER BY a <> '' LIMIT 2", &[&[2], &[1]], "1 × the same rows in another order"),
        ("SELECT -id AS id FROM t WHERE id < 3 ORDER BY id", &[&[-1], &[-2]], "1 × the same rows in another order"),
        ("SELECT (SELECT id FROM t LIMIT 1)", &[&[3]], "1 × its rows depend on more than the data"),
    ] {
        let (code, said, _) = differs(sql, rows);
        assert!(code == Some(0) && said.contains(words), "{sql}: {said}");
    }
    let beside = |trace: &mut Trace, rows: &[&[i64]], wrong: i64| {
        trace.execute(1, "CREATE TABLE u(v)", &[], &[], 0);
        trace.execute(1, "INSERT INTO u VALUES (4)", &[], &[], 1);
        trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
        trace.execute_as(1, "INSERT INTO t(id) VALUES (50)", &[], &[], 1, [false, false], 0);
        trace.execute(2, "SELECT v FROM u", &[], &[&[4 + wrong]], 0);
        trace.execute(2, "SELECT id FROM t WHERE id > 9", &[], rows, 0);
        trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
    };
    // It may see the row of the other connection or not; 60 is neither.
    let (code, said, _) = planted(|trace| beside(trace, &[&[60]], 0));
    assert!(code == Some(0) && said.contains("1 × another connection wrote meanwhile"), "{said}");
    let (code, said, _) = planted(|trace| beside(trace, &[], 1));
    assert_eq!(code, Some(3), "{said}");
    // A writer that waits for another one's end changes nothing by then.
    let waits = |rows: &[&[i64]]| {
        planted(|trace| {
            trace.execute(1, "CREATE TABLE u(v)", &[], &[], 0);
            trace.open(3);
            trace.execute_as(3, "BEGIN", &[], &[], 0, [true, false], 0);
            trace.execute_as(3, "INSERT INTO u VALUES (4)", &[], &[], 1, [false, false], 0);
            trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
            trace.execute(2, "SELECT id FROM t WHERE id > 9", &[], rows, 0);
            trace.execute_as(3, "COMMIT", &[], &[], 0, [false, true], 0);
            trace.execute_as(1, "INSERT INTO t(id) VALUES (50)", &[], &[], 1, [false, false], 0);
            lasts(trace, 2_500_000);
            trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
        })
    };
    let (code, said, _) = waits(&[&[60]]);
    assert_eq!(code, Some(3), "{said}");
    let (code, said, _) = waits(&[]);
    assert!(code == Some(0) && !said.contains("undetermined"), "{said}");
    // A program that writes while it reads has no other connection.
    let (code, said, _) = planted(|trace| {
        trace.execute(1, "UPDATE t SET id = 70 WHERE id = 5", &[], &[], 1);
        trace.execute(1, "SELECT id FROM t WHERE id > 3", &[], &[&[4], &[6]], 0);
        lasts(trace, 1_500_000);
    });
    assert!(code == Some(0) && said.contains("1 × the program wrote while it read the rows"), "{said}");
}

#[test]
fn a_replay_of_undetermined_results_alone_shows_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    (0..9).for_each(|_| trace.execute(1, "SELECT id FROM t LIMIT 1", &[], &[&[3]], 0));
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "unlike the recording: whether results are right is not shown: 9 of 15 undetermined (9 × LIMIT";
    assert!(code == Some(0) && said.contains(words), "{said}");
    let (status, evidence) = check(&run, "results");
    assert!(
        status == CheckStatus::NotApplicable && evidence.starts_with("not run: whether results are right"),
        "{evidence}"
    );
}
