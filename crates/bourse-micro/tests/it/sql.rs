//! A person's own statements: the examples run, and a defect of a file is reported with its line.

use crate::support::{counted, number, of_database, operation, run, sqlite};
use bourse_driver::RealClock;
use bourse_engine::Engine as _;
use bourse_micro::{RoundResult, TimedOperations, Timing, WorkloadCase, find, run_round};
use bourse_record::{CheckStatus, Warning};
use std::sync::atomic::AtomicBool;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_examples_do_what_they_say() {
    let engine = sqlite();
    for statements in ["prepared", "parsed"] {
        let options = [("file", &*example("shop.toml")), ("threads", "2"), ("statements", statements)];
        let result = run(&engine, "sql", &options, counted(2_000));
        let (looks, orders) = (operation(&result, "look").valid(), operation(&result, "order").valid());
        assert_eq!(looks + orders, 4_000);
        assert!((600..1_000).contains(&orders), "two of ten: {orders}");
        assert_eq!(number(&engine, "SELECT count(*) FROM orders") as u64, orders);
        assert_eq!(
            number(&engine, "SELECT count(*) FROM item WHERE length(label) = 20 AND id BETWEEN 1 AND 1000"),
            1_000
        );
        assert_eq!(number(&engine, "SELECT count(DISTINCT state) FROM orders"), 3);
        // Popular items sell far more often than a thousandth of all.
        let most = "SELECT max(n) FROM (SELECT count(*) AS n FROM orders GROUP BY item)";
        assert!(number(&engine, most) as u64 > orders / 50);
        assert_eq!(of_database(&result), 1);
        let all = (looks + orders) as f64 / result.round.measured_s;
        assert!((result.round.headline / all - 1.0).abs() < 1e-9, "the headline is of all operations: {all}");
        let share = operation(&result, "look").mix_target_percent.unwrap();
        assert!((share - 80.0).abs() < 1e-9);
    }
    let result = run(&engine, "sql", &[("file", &*example("shop.sql"))], counted(400));
    let counted = operation(&result, "look and count").valid();
    assert_eq!(number(&engine, "SELECT sum(seen) FROM item") as u64, counted);
    assert_eq!(operation(&result, "look").valid() + counted, 400);
}

/// Writes a file and returns the reason that it is refused, without the folder's name.
fn refused(name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let error = find("sql").unwrap().plan([("file", path.to_str().unwrap())]).err().expect("must be refused");
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let operation = "[[operation]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let check = |name: &str, text: &str, expected: &str| assert_eq!(refused(name, text), expected);
    check("x.toml", "", "x.toml: it has no operation: there is nothing to measure");
    check("x.txt", "", "x.txt: its name says no form: .toml or .sql is expected");
    check(
        "x.toml",
        &format!("{operation}weigth = 3\n"),
        "x.toml, line 4: unknown field `weigth`, expected one of `name`, `weight`, `sql`, `transaction`, `rows`",
    );
    check(
        "x.toml",
        "[parameters]\nid = { unifrom = [1, 2] }\n",
        "x.toml, line 2: unknown variant `unifrom`, expected one of `uniform`, `zipfian`, `sequential`, `unique`, `real`, \
         `text`, `choice`, `constant`, `row`, `distinct`, `distinct_zipfian`",
    );
    check(
        "x.toml",
        &format!("[parameters]\nid = {{ uniform = [9, 2] }}\n{operation}"),
        "x.toml, line 2: parameter id: from 9 to 2 there is no number: the smaller one stands first",
    );
    check(
        "x.toml",
        "[parameters]\nid = { text = 2 }\n[[operation]]\nname = \"a\"\nsql = \"SELECT :idd\"\n",
        "x.toml, line 5: `:idd` is no parameter; declared: id",
    );
    check(
        "x.toml",
        "[[operation]]\nname = \"a\"\n",
        "x.toml, line 2: operation \"a\" needs either `sql`, one statement, or `transaction`, a list of some",
    );
    check(
        "x.toml",
        "setup = [\"CREATE TABLE t (a INTEGER)\"]\n",
        "x.toml, line 1: invalid type: string \"CREATE TABLE t (a INTEGER)\", expected a table for each statement: [[setup]] and \
         below it sql = \"…\"",
    );
    check("x.toml", "[parameters]\nid = 7\n", "x.toml, line 2: wanted string or table");
    check("x.toml", "[parameters]\nid = { constant = [1] }\n", "x.toml, line 2: expected a number or a text");
    check("x.toml", &format!("{operation}{operation}"), "x.toml, line 5: two operations are called \"a\"");
    check(
        "x.toml",
        "[parameters]\nid = { constant = nan }\n",
        "x.toml, line 2: parameter id: nan is not a value that every engine has (SQLite makes NULL of it); for NULL write NULL \
         into the statement",
    );
    check(
        "x.sql",
        "--! operation a\rSELECT 1;\r",
        "x.sql, line 1: its lines end in a carriage return alone: a line feed, with or without one before it, is expected",
    );
    // Without these tables every later run would refuse the database.
    for table in ["bourse_inventory", "main.BOURSE_inventory", "\"bourse_inventory\"", "bourse_micro"] {
        let refused = refused("x.sql", &format!("--! setup\n\nDROP TABLE {table};\n"));
        assert!(refused.starts_with("x.sql, line 3: the statement names bourse_"), "{table}: {refused}");
    }
    assert!(refused("x.sql", "--! setup\nDROP TABLE bourse_micro_of_mine;\n").contains("no operation"));
    check("x.sql", "--! setup\n\nSELECT ?;\n", "x.sql, line 3: parameters are written :name, not ?");
    check(
        "x.sql",
        "--! steup\n",
        "x.sql, line 1: \"steup\" is not known behind --!; known: parameter, hole, setup, operation, transaction, check",
    );
    check(
        "x.sql",
        "-- a comment\nSELECT 1;\n",
        "x.sql, line 1: what this statement is for is not said: a line with --! setup, operation, transaction or check before it",
    );
    check("x.sql", "--! operation a weight x\nSELECT 1;\n", "x.sql, line 1: weight x: an integer is expected");
    let misspelt = "behind a name, weight NUMBER and rows NUMBER alone are known, and a name has no word that is a number or \
                    holds \"=\"";
    for words in ["a wieght 5", "a 5", "a weight=5"] {
        let file = format!("--! operation {words}\nSELECT 1;\n");
        check("x.sql", &file, &format!("x.sql, line 1: {words}: {misspelt}"));
    }
    check(
        "x.sql",
        "--! operation a\nSELECT 1;\nSELECT ';';\n",
        "x.sql, line 1: \"a\" has 2 statements: one, or --! transaction for several expected",
    );
    check(
        "x.sql",
        "--! parameter id uniform 1\n",
        "x.sql, line 1: parameter id: \"uniform\" with 1 is no distribution: uniform, zipfian, sequential, unique, real, \
         text, choice, constant, row, distinct, distinct_zipfian, with its bounds, width, values or TABLE.COLUMN",
    );
    assert!(
        find("sql").unwrap().plan([("file", "/nowhere.sql")]).err().unwrap().to_string().contains("cannot be read")
    );
}

/// Compares the built-in example with the file in the folder of examples.
#[test]
fn the_example_is_the_one_in_the_folder() {
    let of_people = std::fs::read_to_string(example("shop.toml")).unwrap();
    assert_eq!(of_people, include_str!("../../src/sql/shop.toml"), "examples/shop.toml differs from the program's own");
}

#[test]
fn words_that_a_dialect_does_not_have_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sql");
    std::fs::write(&path, "--! hole mysql kind BIGINT\n--! operation a\nSELECT {kind} FROM {other};\n").unwrap();
    let case = find("sql").unwrap().plan([("file", path.to_str().unwrap())]).unwrap();
    assert_eq!(
        case.missing_holes(sqlite().sql().unwrap().dialect()),
        ["the file has no word for {kind} in dialect sqlite", "the file has no word for {other} in dialect sqlite"]
    );
}

#[test]
fn a_word_of_the_standard_is_every_dialects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sql");
    let holes = "--! hole standard kind BIGINT\n--! hole standard start 1\n--! hole sqlite start 2\n";
    let text = "--! setup\nCREATE TABLE t (a {kind});\n--! setup\nINSERT INTO t VALUES ({start});\n\
                --! operation a\nSELECT a FROM t;\n--! check equals 2\nSELECT a FROM t;\n";
    std::fs::write(&path, format!("{holes}{text}")).unwrap();
    let case = find("sql").unwrap().plan([("file", path.to_str().unwrap())]).unwrap();
    assert!(case.missing_holes(&bourse_engine::Dialect::STANDARD).is_empty());
    assert_eq!(outcome(&format!("{holes}{text}")), [CheckStatus::Passed]);
}

/// Writes a file to a folder of its own and plans it.
fn planned(name: &str, text: &str) -> (tempfile::TempDir, WorkloadCase) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let case = find("sql").unwrap().plan([("file", path.to_str().unwrap())]).unwrap();
    (folder, case)
}

/// Runs three operations of a file on SQLite.
fn ran(name: &str, text: &str) -> Result<RoundResult, String> {
    let (folder, case) = planned(name, text);
    let timing = Timing {
        warm_up_ns: 0,
        measure_ns: None,
        count: Some(3),
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let never = AtomicBool::new(false);
    let ran = run_round(&case, &sqlite(), &timing, 1, &RealClock::start(), &never, &mut |_| {});
    ran.map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// Status of each check of a file.
fn outcome(text: &str) -> Vec<CheckStatus> {
    let result = ran("x.sql", text).unwrap();
    let checks = result.round.checks.iter().filter(|check| check.is_of_database());
    checks.map(|check| check.status).collect()
}

#[test]
fn what_does_not_hold_is_found() {
    let text = "--! setup\nCREATE TABLE t (a TEXT);\n--! setup repeat 5\nINSERT INTO t VALUES ('x');\n\
                --! operation a rows 5\nSELECT a FROM t;\n--! check equals 6\nSELECT count(*) FROM t;\n\
                --! check equals x\nSELECT min(a) FROM t;\n";
    assert_eq!(outcome(text), [CheckStatus::Failed, CheckStatus::Passed]);
    let result = ran("x.sql", &text.replace("rows 5", "rows 4")).unwrap();
    let void = result.round.void.unwrap();
    assert!(void.contains("x.sql, line 6: 5 rows where the file says 4"), "{void}");
    assert!(result.fault.is_some(), "the first error ends the round");
    let one = ran("x.sql", "--! operation a rows 2\nSELECT 1;\n").unwrap().round.void.unwrap();
    assert!(one.contains(": 1 row where the file says 2"), "{one}");
}

/// Regression: a check looked at the first value of a result alone, and might change the database.
#[test]
fn a_check_has_one_value_and_changes_nothing() {
    let of = |check: &str| {
        let setup =
            "--! setup\nCREATE TABLE t (id INTEGER, b INTEGER);\n--! setup repeat 3\nINSERT INTO t VALUES (5, 5);\n";
        format!("{setup}--! operation a\nSELECT id FROM t;\n--! check equals 5\n{check};\n")
    };
    for (check, found) in [
        ("SELECT max(id) FROM t", None),
        ("WITH one AS (SELECT id FROM t LIMIT 1) SELECT id FROM one", None),
        ("SELECT replace(id, 'insert', '') FROM t LIMIT 1", None),
        ("SELECT id FROM t", Some("found 3 rows of 1 column: a check has one row of one column")),
        ("SELECT 5 UNION ALL SELECT 6", Some("found 2 rows of 1 column: a check has one row of one column")),
        ("SELECT 5, 6", Some("found 1 row of 2 columns: a check has one row of one column")),
        ("SELECT 5, 5 FROM t", Some("found 3 rows of 2 columns: a check has one row of one column")),
        ("SELECT id FROM t WHERE id = 6", Some("found no row: a check has one row of one column")),
    ] {
        let result = ran("x.sql", &of(check)).unwrap();
        let ended = result.round.checks.iter().find(|check| check.is_of_database()).unwrap();
        let status = if found.is_some() { CheckStatus::Failed } else { CheckStatus::Passed };
        assert_eq!(ended.status, status, "{check}: {ended:?}");
        assert!(found.is_none_or(|found| format!("{ended:?}").contains(found)), "{check}: {ended:?}");
    }
    for change in [
        "INSERT INTO t VALUES (5, 5) RETURNING 5",
        "insert into t VALUES (5, 5)",
        "WITH one AS (SELECT 5) UPDATE t SET id = 5 RETURNING id",
        "REPLACE INTO t VALUES (5, 5)",
        "DROP TABLE t",
        "/* all of it */ TRUNCATE t",
        "SELECT id INTO other FROM t",
    ] {
        let expected = "a check changes nothing: it is a query with a result of one row and one column";
        assert_eq!(refused("x.sql", &of(change)), format!("x.sql, line 8: {expected}"), "{change}");
        let toml =
            format!("[[operation]]\nname = \"a\"\nsql = \"SELECT 1\"\n[[check]]\nsql = \"{change}\"\nequals = 5\n");
        assert_eq!(refused("x.toml", &toml), format!("x.toml, line 5: {expected}"), "{change}");
    }
}

/// Regression: SQLite takes `@x` and `$x` for parameters, whose values were missing only in the round.
#[test]
fn parameters_of_other_forms_are_refused_before_the_clock_starts() {
    for (words, count) in [("@x, $y", "2 parameters"), ("$y", "1 parameter"), ("$y, $y", "1 parameter")] {
        for statements in ["operation", "transaction"] {
            let refused = ran("x.sql", &format!("--! {statements} a\n\nSELECT {words};\n")).unwrap_err();
            let expected = format!("user 1 cannot prepare its statements: x.sql, line 3: the statement has {count}");
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }
    let one = "--! parameter id uniform 1 9\n--! operation a\nSELECT :id, @x;\n";
    assert!(ran("x.sql", one).unwrap_err().contains("the statement has 2 parameters, 1 value"), "{one}");
    assert_eq!(ran("x.sql", "--! operation a\nSELECT '@x, $y' AS \"$z\" /* @x */;\n").unwrap().round.void, None);
}

#[test]
fn what_the_engine_refuses_ends_the_run_before_the_clock_starts() {
    let text = "--! setup\nCREATE TABLE t (a TEXT);\n--! operation good\nSELECT a FROM t;\n\n\
                --! operation bad\nSELECT a\n  FROM tt;\n";
    assert_eq!(
        ran("x.sql", text).unwrap_err(),
        "user 1 cannot prepare its statements: x.sql, line 7: no such table: tt (SQLITE_ERROR)\n  statement: SELECT a FROM tt"
    );
    // In the set-up it is the line of the statement too, made by the loader or by a session.
    for (setup, line) in
        [("--! setup\nCREATE TABL t (a);\n", 2), ("--! setup repeat 2\n\nINSERT INTO tt VALUES (1);\n", 3)]
    {
        let error = ran("x.sql", &format!("{setup}--! operation a\nSELECT 1;\n")).unwrap_err();
        assert!(error.starts_with(&format!("x.sql, line {line}: ")), "{error}");
    }
    // Statements on a table that an operation creates cannot be prepared before: their errors end the round.
    let text = "--! transaction make\nCREATE TEMP TABLE IF NOT EXISTS t (a TEXT);\nSELECT a FROM t;\n";
    assert_eq!(ran("x.sql", text).unwrap().round.void, None);
    let result = ran("x.sql", &text.replace("FROM t;", "FROM tt;")).unwrap();
    assert!(result.round.void.unwrap().contains("x.sql, line 3: no such table: tt"), "{:?}", result.fault);
}

/// Swapped blocks of a file are the same work; the headline once counted only the first block's operations.
#[test]
fn the_order_of_operations_changes_no_figure() {
    let blocks =
        ["--! operation pay weight 1\nUPDATE t SET a = a + 1;\n", "--! operation look weight 9\nSELECT a FROM t;\n"];
    let setup = "--! setup\nCREATE TABLE t (a INTEGER);\n--! setup repeat 1\nINSERT INTO t VALUES (0);\n";
    for [first, second] in [[0, 1], [1, 0]] {
        let text = format!("{setup}{}{}", blocks[first], blocks[second]);
        let (_folder, case) = planned("x.sql", &text);
        assert_eq!((case.headline_operation(), case.unit()), (None, "operations/s"));
        let never = AtomicBool::new(false);
        let result = run_round(&case, &sqlite(), &counted(1_000), 1, &RealClock::start(), &never, &mut |_| {}).unwrap();
        let round = &result.round;
        assert_eq!(round.operations.iter().map(bourse_record::Operation::valid).sum::<u64>(), 1_000);
        assert!((round.headline * round.measured_s - 1_000.0).abs() < 1e-6, "{}", round.headline);
        let names: Vec<_> = round.operations.iter().map(|operation| operation.name.as_str()).collect();
        assert_eq!(names, [["pay", "look"][first], ["pay", "look"][second]]);
    }
    // A single operation is all of them, and searches of both kinds are one figure.
    let (_folder, case) = planned("x.sql", "--! operation only\nSELECT 1;\n");
    assert_eq!(case.headline_operation(), Some("only"));
    assert_eq!(find("index-search").unwrap().plan([("by", "both")]).unwrap().headline_operation(), None);
    assert_eq!(find("read-write").unwrap().plan([]).unwrap().headline_operation(), Some("read"));
}

/// Accepts files of other tools: a trigger's body, a semicolon in a comment, a byte order mark.
#[test]
fn files_that_other_tools_take_are_taken() {
    let body = "--! setup\nCREATE TABLE a (id INTEGER PRIMARY KEY);\n--! operation add\nSELECT count(*) FROM a;\n";
    let trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a WHERE id < 0; END;\n--! operation";
    for text in [
        body.replace("--! operation", trigger),
        body.replace("SELECT", "/* one; two */ SELECT"),
        format!("\u{feff}{body}"),
        body.replace('\n', "\r\n"),
    ] {
        let result = ran("x.sql", &text).unwrap();
        assert_eq!((result.round.void, result.round.operations[0].outcomes[0].count), (None, 3), "{text}");
    }
}

/// Two scripts of pgbench: a transfer between accounts of one branch, and a look, by weight.
#[test]
fn scripts_of_pgbench_run_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let transfer = written(
        "transfer.sql",
        "-- between two accounts of a branch\n\\set aid random_zipfian(1, 99999 * :scale, 1.2)\n\\set other :aid + 1\n\
         \\set delta random(-5000, 5000)\nBEGIN;\n\
         UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
         UPDATE pgbench_accounts SET abalance = abalance - :delta WHERE aid = :other;\n\
         INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:client_id, 1, :aid, :delta, CURRENT_TIMESTAMP);\n\
         END;\n",
    );
    let look = written(
        "look.sql",
        "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
         SELECT bbalance FROM pgbench_branches WHERE bid = (:aid - 1) / 100000 + 1;\n",
    );
    let engine = sqlite();
    let files = format!("{transfer}@3,{look}");
    let result = run(&engine, "sql", &[("file", &files), ("threads", "2"), ("scale", "2")], counted(400));
    let (transfers, looks) = (operation(&result, "transfer").valid(), operation(&result, "look").valid());
    assert_eq!(transfers + looks, 800);
    assert!((520..680).contains(&transfers), "three of four: {transfers}");
    let rows = |sql: &str| number(&engine, sql) as u64;
    assert_eq!(rows("SELECT count(*) FROM pgbench_accounts WHERE bid = (aid - 1) / 100000 + 1"), 200_000);
    assert_eq!(rows("SELECT count(*) FROM pgbench_tellers WHERE bid = (tid - 1) / 10 + 1"), 20);
    assert_eq!(rows("SELECT count(*) FROM pgbench_branches"), 2);
    assert_eq!(rows("SELECT count(*) FROM pgbench_history WHERE tid IN (0, 1)"), transfers);
    assert_eq!(rows("SELECT count(*) FROM pgbench_accounts WHERE length(filler) = 84"), 200_000);
    assert_eq!(rows("SELECT sum(abalance) + 1 FROM pgbench_accounts"), 1, "each transfer is one transaction");
    assert!(rows("SELECT count(*) FROM pgbench_accounts WHERE abalance <> 0") > 100);
}

#[test]
fn faults_of_a_script_of_pgbench_are_named() {
    let check = |text: &str, expected: &str| assert_eq!(refused("x.sql", text), expected);
    let known = "cannot be run: of pgbench's commands \\set alone is known";
    for (command, instead) in [
        ("sleep 1 s", "leave it out, and give --rate"),
        ("if :a > 1", "write a script for each branch, and give their shares, as a.sql@3,b.sql@1"),
        ("gset", "use the value within one statement, by a subquery or WITH"),
        ("crosstabview", "leave it out, or write it as a statement"),
    ] {
        let word = command.split(' ').next().unwrap();
        let expected = format!("x.sql, line 2: \\{word} {known}; {instead}");
        check(&format!("\\set a 1\n\\{command}\nSELECT :a;\n"), &expected);
    }
    let unset = "`:b` is not set before: \\set b VALUE above it, as for pgbench's -D";
    check("\\set a :b + 1\nSELECT :a;\n", &format!("x.sql, line 1: \\set a: {unset}"));
    check("\\set a 1\n\\set a 2\nSELECT :a;\n", "x.sql, line 2: parameter a is declared twice");
    check("\\set a\nSELECT :a;\n", "x.sql, line 1: \\set a: a value is expected at its end");
    check("\\set a 1\n", "x.sql, line 1: the script has no statement");
    let begun = "operation \"x\" begins or ends a transaction itself: Bourse commits each operation; \
                 `--! transaction NAME` makes its statements one transaction, without BEGIN and COMMIT of their own";
    check("\\set a 1\nBEGIN;\nSELECT :a;\n", &format!("x.sql, line 2: {begun}"));
    // Values are computed where they are drawn: the round ends with the fault.
    let divided = ran("x.sql", "\\set a 1 / (:client_id - :client_id)\nSELECT :a;\n").unwrap().round.void.unwrap();
    assert!(divided.contains("x.sql: \\set a: /: division by zero"), "{divided}");
    // A file with directives is not taken for a pgbench script, and may set variables too.
    let own = "--! setup\nCREATE TABLE pgbench_accounts (aid INTEGER);\n--! operation a\n\\set low 3\n\
               SELECT aid FROM pgbench_accounts WHERE aid > :low;\n--! operation b\n\\set low 4\nSELECT :low;\n";
    assert_eq!(ran("x.sql", own).unwrap().round.void, None);
}

/// Regression: statements that turned syncs off, and on again before the end, left the figure labelled durable.
#[test]
fn a_statement_of_an_operation_changes_no_setting() {
    let text = "--! operation pragma\nPRAGMA cache_size = 77;\n";
    let refused = ran("x.sql", text).map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.contains("x.sql, line 2") && refused.contains("change no setting that the target makes"),
        "{refused}"
    );
    assert_eq!(ran("x.sql", &text.replace(" = 77", "")).unwrap().round.void, None, "asking changes nothing");
}

/// A savepoint that was never released once gave a figure called durable, of work that nothing committed.
#[test]
fn transactions_are_begun_and_ended_by_bourse_alone() {
    let of = |kind: &str, statements: &str| format!("--! {kind} own\n{statements}\n");
    for (kind, statements) in [
        ("operation", "SAVEPOINT s;"),
        ("operation", "BEGIN;"),
        ("operation", "SET @@session.autocommit = 0;"),
        ("transaction", "SELECT 1; ROLLBACK; BEGIN;"),
        ("transaction", "/* all */ commit; SELECT 1;"),
        ("transaction", "SELECT 1; START TRANSACTION;"),
    ] {
        let found = refused("x.sql", &of(kind, statements));
        assert!(found.contains("operation \"own\" begins or ends a transaction itself"), "{statements}: {found}");
    }
    let found = refused("x.sql", "--! setup\nBEGIN;\n--! operation own\nSELECT 1;\n");
    assert!(found.starts_with("x.sql, line 2: the set-up begins or ends a transaction itself"), "{found}");
    let inside = "SAVEPOINT s; SELECT 1; ROLLBACK TO s; RELEASE s;";
    assert_eq!(ran("x.sql", &of("transaction", inside)).unwrap().round.void, None);
}

#[test]
fn a_change_that_matches_no_row_is_remarked_on() {
    let of = |value: u32| {
        let text = format!(
            "--! setup\nCREATE TABLE t (a INTEGER);\n--! setup repeat 1\nINSERT INTO t VALUES (1);\n\
             --! operation pay\nUPDATE t SET a = a WHERE a = {value};\n"
        );
        ran("x.sql", &text).unwrap().round.warnings.contains(&Warning::NothingChanged)
    };
    assert_eq!((of(1), of(2)), (false, true));
}

#[test]
fn an_error_has_the_start_of_a_long_statement() {
    let long = format!("--! operation a\nSELECT '{}' FROM nothing;\n", "x".repeat(400_000));
    let refused = ran("x.sql", &long).map(|_| ()).unwrap_err();
    assert!(refused.len() < 3_000 && refused.contains("xxx… (4000"), "{}", refused.len());
}

#[test]
fn a_count_that_the_time_cuts_short_is_told() {
    let (_folder, case) = planned("x.sql", "--! operation only\nSELECT 1;\n");
    let timing = Timing { measure_ns: Some(50_000_000), count: Some(u64::MAX / 2), ..counted(1) };
    let never = AtomicBool::new(false);
    let result = run_round(&case, &sqlite(), &timing, 1, &RealClock::start(), &never, &mut |_| {}).unwrap();
    let done = result.round.operations[0].valid();
    let expected = Warning::CountNotReached { after_s: 0.05, done, of: u64::MAX / 2 };
    assert!(result.round.warnings.contains(&expected), "{:?}", result.round.warnings);
    let whole = run_round(&case, &sqlite(), &counted(10), 1, &RealClock::start(), &never, &mut |_| {}).unwrap();
    assert!(!whole.round.warnings.iter().any(|it| matches!(it, Warning::CountNotReached { .. })));
}
