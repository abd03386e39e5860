//! A person's own statements: the examples do what they say, and what is wrong in a file is told with its line.

use crate::support::{counted, fact, number, of_database, operation, run, sqlite};
use bourse_driver::RealClock;
use bourse_engine::Engine as _;
use bourse_micro::{Timed, Timing, find, run_round};
use bourse_record::CheckStatus;
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
        assert!(fact(&result, "all operations a second").parse::<f64>().unwrap() > 0.0);
        let share = operation(&result, "look").mix_target_percent.unwrap();
        assert!((share - 80.0).abs() < 1e-9);
    }
    let result = run(&engine, "sql", &[("file", &*example("shop.sql"))], counted(400));
    let counted = operation(&result, "look and count").valid();
    assert_eq!(number(&engine, "SELECT sum(seen) FROM item") as u64, counted);
    assert_eq!(operation(&result, "look").valid() + counted, 400);
}

/// Writes a file and says why it is refused, without the folder's name.
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
         `text`, `choice`, `constant`",
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
    check("x.toml", &format!("{operation}{operation}"), "x.toml, line 5: two operations are called \"a\"");
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
    check(
        "x.sql",
        "--! operation a\nSELECT 1;\nSELECT ';';\n",
        "x.sql, line 1: \"a\" has 2 statements: one, or --! transaction for several expected",
    );
    check(
        "x.sql",
        "--! parameter id uniform 1\n",
        "x.sql, line 1: parameter id: \"uniform\" with 1 is no distribution: uniform, zipfian, sequential, unique, real, \
         text, choice, constant, with its bounds, width or values",
    );
    assert!(
        find("sql").unwrap().plan([("file", "/nowhere.sql")]).err().unwrap().to_string().contains("cannot be read")
    );
}

/// The program has the example within its crate, and the folder of examples has it for people.
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
        case.wordless(sqlite().sql().unwrap().dialect()),
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
    assert!(case.wordless(&bourse_engine::Dialect::STANDARD).is_empty());
    assert_eq!(outcome(&format!("{holes}{text}")).0, [CheckStatus::Passed]);
}

/// Runs a file once on SQLite and says how its checks and its first operation came out.
fn outcome(text: &str) -> (Vec<CheckStatus>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sql");
    std::fs::write(&path, text).unwrap();
    let case = find("sql").unwrap().plan([("file", path.to_str().unwrap())]).unwrap();
    let timing = Timing { warm_up_ns: 0, measure_ns: None, count: Some(3), timed: Timed::Batched, open_loop: None };
    let never = AtomicBool::new(false);
    let result = run_round(&case, &sqlite(), &timing, 1, &RealClock::start(), &never, &mut |_| {}).unwrap();
    let example = result.round.operations[0].outcomes.iter().find_map(|outcome| outcome.example.clone());
    let checks = result.round.checks.iter().filter(|check| check.is_of_database());
    (checks.map(|check| check.status).collect(), example)
}

#[test]
fn what_does_not_hold_is_found() {
    let text = "--! setup\nCREATE TABLE t (a TEXT);\n--! setup repeat 5\nINSERT INTO t VALUES ('x');\n\
                --! operation a rows 4\nSELECT a FROM t;\n--! check equals 6\nSELECT count(*) FROM t;\n\
                --! check equals x\nSELECT min(a) FROM t;\n";
    let (checks, example) = outcome(text);
    assert_eq!(checks, [CheckStatus::Failed, CheckStatus::Passed]);
    assert!(example.unwrap().starts_with("5 rows where the file says 4"));
}
