//! A run on a person's own database: parameters from its columns, and the file that it is begun with.

use crate::support::{counted, fact, number, operation, run, sqlite};
use bourse_driver::RealClock;
use bourse_engine::Engine as _;
use bourse_micro::{RoundResult, find, operations_of, run_round, start_file};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A database in a file that no process has open.
fn database(folder: &Path, statements: &[&str]) -> PathBuf {
    let path = folder.join("own.db");
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}?journal=delete&sync=off", path.display())).unwrap();
    let mut session = engine.session().unwrap();
    for statement in statements {
        session.execute_text(statement, &[]).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    path
}

/// Customers 1 to 1,000: 900 in Rome, 90 in Oslo, 9 in Bern, one nowhere; the place again in reverse, behind an index.
const CUSTOMERS: [&str; 3] = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, city TEXT, code INTEGER)",
    "WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 1000) \
     INSERT INTO customer SELECT value, CASE WHEN value > 100 THEN 'Rome' WHEN value > 10 THEN 'Oslo' WHEN value > 1 THEN 'Bern' \
     END, 1000 - value FROM numbers",
    "CREATE INDEX by_code ON customer (code)",
];

/// Runs a file on SQLite with a database.
fn ran(
    database: &Path,
    name: &str,
    text: &str,
    count: u64,
) -> (impl bourse_engine::Engine, Result<RoundResult, String>) {
    let file = database.with_file_name(name);
    std::fs::write(&file, text).unwrap();
    let engine = sqlite();
    let options = [("file", file.to_str().unwrap()), ("from", database.to_str().unwrap())];
    let case = find("sql").unwrap().plan(options).unwrap();
    let never = AtomicBool::new(false);
    let ran = run_round(&case, &engine, &counted(count), 5, &RealClock::start(), &never, &mut |_| {});
    let folder = format!("{}/", database.parent().unwrap().display());
    (engine, ran.map_err(|error| error.to_string().replace(&folder, "")))
}

#[test]
fn parameters_are_drawn_from_columns() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path(), &CUSTOMERS);
    let sql = "--! parameter at row customer.id\n--! parameter code row customer.\"code\"\n--! parameter town row customer.city\n\
               --! parameter each distinct customer.city\n--! parameter often distinct_zipfian customer.city\n\
               --! setup\nCREATE TABLE seen (id INTEGER, code INTEGER, town TEXT, each TEXT, often TEXT);\n\
               --! setup repeat 1\nINSERT INTO seen VALUES (0, 1000, NULL, 'Rome', :often);\n\
               --! operation draw weight 1 rows 1\nINSERT INTO seen VALUES (:at, :code, :town, :each, :often);\n\
               --! operation find weight 1 rows 1\nSELECT city FROM customer WHERE id = :at AND code = :code;\n\
               --! operation town weight 1 rows 1\nSELECT 1 WHERE :town IS NULL OR :town <> '';\n";
    let toml = "[parameters]\nat = { row = \"customer.id\" }\ncode = { row = 'customer.\"code\"' }\ntown = { row = \"customer.city\" }\n\
                each = { distinct = \"customer.city\" }\noften = { distinct_zipfian = \"customer.city\" }\n\
                [[setup]]\nsql = \"CREATE TABLE seen (id INTEGER, code INTEGER, town TEXT, each TEXT, often TEXT)\"\n\
                [[operation]]\nname = \"draw\"\nrows = 1\nsql = \"INSERT INTO seen VALUES (:at, :code, :town, :each, :often)\"\n\
                [[operation]]\nname = \"find\"\nrows = 1\nsql = \"SELECT city FROM customer WHERE id = :at AND code = :code\"\n";
    for (name, text) in [("x.sql", sql), ("x.toml", toml)] {
        let (engine, result) = ran(&database, name, text, 9_000);
        let result = result.unwrap();
        assert_eq!(result.round.void, None, "{name}");
        assert_eq!(fact(&result, "data"), "1,000 rows, loaded anew");
        assert_eq!(fact(&result, "parameter at"), "\"customer\".\"id\": 1,000 rows");
        assert_eq!(fact(&result, "parameter each"), "\"customer\".\"city\": 3 distinct values");
        assert_eq!(number(&engine, "SELECT count(*) FROM customer"), 1_000);
        assert_eq!(number(&engine, "SELECT count(*) FROM seen WHERE id + code <> 1000"), 0, "of one row");
        let all = operation(&result, "draw").valid() as f64;
        let share = |column: &str, value: &str| {
            number(&engine, &format!("SELECT count(*) FROM seen WHERE {column} IS {value}")) as f64 / all
        };
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.03;
        assert!(near(share("town", "'Rome'"), 0.9) && near(share("town", "'Oslo'"), 0.09));
        assert!(["'Rome'", "'Oslo'", "'Bern'"].iter().all(|town| near(share("each", town), 1.0 / 3.0)));
        // 1, 2^-0.99 and 3^-0.99, of their sum.
        for (town, expected) in [("'Rome'", 0.544), ("'Oslo'", 0.274), ("'Bern'", 0.183)] {
            assert!(near(share("often", town), expected), "{town}: {}", share("often", town));
        }
        assert!(share("often", "NULL") + share("each", "NULL") < 1e-9);
    }
}

#[test]
fn what_the_database_does_not_have_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path(), &[&CUSTOMERS[..], &["CREATE TABLE nobody (id INTEGER)", BARE]].concat());
    let of = |text: &str| ran(&database, "x.sql", text, 1).1.map(|result| result.round.void).unwrap_err();
    let operation = "--! operation a\nSELECT 1;\n";
    for (text, expected) in [
        (
            format!("--! parameter a row customer.id\n--! parameter b row customer.idd\n{operation}"),
            "line 2: no such column: customer.idd",
        ),
        (format!("--! parameter a distinct custommer.id\n{operation}"), "line 1: no such table: custommer"),
        (
            format!("\n--! parameter a distinct_zipfian nobody.id\n{operation}"),
            "line 2: \"nobody\".\"id\" has no value to draw",
        ),
        ("--! operation a\n\nSELECT 1 FROM custommer;\n".to_owned(), "line 3: no such table: custommer"),
        (
            "--! operation a\nSELECT 1 FROM \"bare\";\n".to_owned(),
            "line 2: this engine's database is without virtual table bare: it has an index without content",
        ),
    ] {
        let found = of(&text);
        assert!(found.contains(&format!("x.sql, {expected}")), "{found}");
    }
    let file = folder.path().join("x.sql");
    std::fs::write(&file, format!("--! parameter a row customer.id\n{operation}")).unwrap();
    let refused = find("sql").unwrap().plan([("file", file.to_str().unwrap())]).err().unwrap().to_string();
    assert!(
        refused
            .ends_with("x.sql, line 1: parameter a is drawn from a column: --from DB names the database that has it")
    );
    std::fs::write(&file, format!("--! parameter a row customer\n{operation}")).unwrap();
    let refused = find("sql").unwrap().plan([("file", file.to_str().unwrap())]).err().unwrap().to_string();
    assert!(refused.contains("x.sql, line 1: parameter a: \"row\" with 1 is no distribution"), "{refused}");
    let file = folder.path().join("x.toml");
    std::fs::write(&file, "[parameters]\na = { row = \"customer\" }\n").unwrap();
    let refused = find("sql").unwrap().plan([("file", file.to_str().unwrap())]).err().unwrap().to_string();
    assert!(refused.contains("x.toml, line 2: \"customer\" is no column: expected TABLE.COLUMN"), "{refused}");
}

/// A full-text index without the texts.
const BARE: &str = "CREATE VIRTUAL TABLE bare USING fts5(words, content='')";

/// A schema with everything that a naive file of statements stumbles over.
const NASTY: &[&str] = &[
    "CREATE TABLE \"Order Lines\" (\"order\" INTEGER, \"line.no\" INTEGER, \"a\"\"b\" TEXT, PRIMARY KEY (\"order\", \"line.no\")) WITHOUT ROWID",
    "INSERT INTO \"Order Lines\" VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 1, NULL)",
    "CREATE TABLE \"select\" (\"from\" TEXT PRIMARY KEY, \"where\" BLOB)",
    "INSERT INTO \"select\" VALUES ('a', x'00ff'), (NULL, x'01'), (NULL, NULL)",
    "CREATE TABLE made (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, twice INTEGER AS (2 * n) STORED, half AS (n / 2))",
    "INSERT INTO made (id, n) VALUES (-5, 7), (9, 8)",
    "CREATE TABLE strictly (k BLOB PRIMARY KEY, v REAL, w ANY) STRICT",
    "INSERT INTO strictly VALUES (x'00', 1, 'one'), (x'ff', 2.5, 2)",
    "CREATE TABLE no_key (rowid TEXT, b TEXT)",
    "INSERT INTO no_key (_rowid_, rowid, b) VALUES (10, 'r', 'b'), (20, 's', 'c')",
    "CREATE TABLE empty (id INTEGER PRIMARY KEY, v)",
    "CREATE TABLE only_key (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "INSERT INTO only_key VALUES (1, 2)",
    "CREATE TABLE \"2\" (id INTEGER PRIMARY KEY, \"x\n--! setup\" TEXT, y TEXT)",
    "INSERT INTO \"2\" VALUES (1, 'x', 'y')",
    "CREATE TABLE \"a?1\" (id INTEGER PRIMARY KEY)",
    "INSERT INTO \"a?1\" VALUES (1)",
    "CREATE TABLE inf (id INTEGER PRIMARY KEY, at TEXT UNIQUE, parent INTEGER REFERENCES inf, low INTEGER, note TEXT, CHECK (low < id))",
    "INSERT INTO inf VALUES (1, 'now', NULL, 0, 'a'), (2, 'then', 1, 1, 'b'), (3, 'later', 2, 2, 'a')",
    "CREATE TABLE client (id INTEGER PRIMARY KEY, scale INTEGER)",
    "INSERT INTO client VALUES (1, 1), (2, 2)",
    "CREATE VIEW seen AS SELECT * FROM client",
    "CREATE VIRTUAL TABLE found USING fts5(words)",
    "INSERT INTO found VALUES ('one two'), ('three')",
    BARE,
    "INSERT INTO bare(rowid, words) VALUES (1, 'one two')",
];

#[test]
fn the_file_to_begin_with_runs_at_once_on_any_schema() {
    let folder = tempfile::tempdir().unwrap();
    let triggers = [
        "CREATE TRIGGER guarded BEFORE UPDATE ON made BEGIN SELECT raise(ABORT, 'made is never changed'); END",
        "CREATE TRIGGER noted AFTER UPDATE ON client BEGIN UPDATE no_key SET b = new.scale; END",
    ];
    for more in [&[][..], &triggers] {
        let database = database(folder.path(), &[NASTY, more].concat());
        let text = start_file(&database, "a title\nof two lines").unwrap();
        let (engine, result) = ran(&database, "x.sql", &text, 2_000);
        let result = result.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((result.round.void.as_deref(), result.fault.is_none()), (None, true), "{text}");
        assert_eq!(operations_of("x.sql", &text).unwrap(), result.round.operations.len());
        assert!(result.round.operations.iter().all(|it| it.valid() > 20), "{text}");
        assert!(text.starts_with("-- a title\n-- of two lines\n"), "{text}");
        let has = |words: &str| assert!(text.contains(words), "{words:?} is not in\n{text}");
        has("\n-- table Order Lines: 3 rows; order INTEGER (key), line.no INTEGER (key), a\"b TEXT\n");
        has("--! parameter line_no_of_order_lines row \"Order Lines\".\"line.no\"\n");
        has("WHERE \"order\" = :order_of_order_lines AND \"line.no\" = :line_no_of_order_lines;\n");
        has("UPDATE \"Order Lines\" SET \"a\"\"b\" = :a_b_of_order_lines WHERE");
        has("SELECT * FROM \"select\" WHERE rowid = :rowid_of_select;");
        has("SELECT * FROM no_key WHERE _rowid_ = :_rowid__of_no_key;");
        has("SELECT * FROM strictly WHERE k = :k_of_strictly;");
        has("\n-- table empty: 0 rows; id INTEGER (key), v\n-- not used: it has no row\n");
        has("-- no write: no column besides its key has several short values\n");
        has("-- not used: a name has a character that has another meaning in this file\n");
        has("half (generated)");
        has("--! operation read _2 weight 1");
        has("UPDATE inf SET note = :note_of_inf WHERE id = :id_of_inf;");
        has("--! parameter id_of_client row client.id\n");
        has("\n-- view seen: not used;");
        has("\n-- virtual table found, with its shadow tables: not used;");
        assert_eq!(text.contains(" rows 1\n"), more.is_empty(), "{text}");
        let left_out: Vec<_> = result.round.facts.iter().filter(|fact| fact.name == "left out").collect();
        assert!(left_out.len() == 1 && left_out[0].value.starts_with("virtual table bare: "), "{left_out:?}");
        assert_eq!(number(&engine, "SELECT count(*) FROM found WHERE found MATCH 'two'"), 1);
        assert_eq!(number(&engine, "SELECT sum(_rowid_) FROM no_key"), 30);
        let others = "SELECT count(*) FROM \"select\" WHERE \"where\" NOT IN (x'00ff', x'01')";
        assert_eq!(number(&engine, others), 0);
        if more.is_empty() {
            has(
                "--! parameter n_of_made distinct made.n\n--! operation write made weight 1 rows 1\nUPDATE made SET n = :n_of_made WHERE",
            );
        } else {
            assert!(!text.contains("UPDATE made"), "{text}");
            has("-- no write: made is never changed\n");
            has("\n-- trigger noted: executed by the statements that change client\n");
        }
        std::fs::remove_file(&database).unwrap();
    }
}

#[test]
fn a_database_and_a_set_up_go_together() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(folder.path(), &CUSTOMERS);
    let text = "--! setup\nCREATE INDEX by_city ON customer (city);\n--! operation look weight 1 rows 1\n\
                SELECT count(*) FROM customer INDEXED BY by_city WHERE city = 'Oslo';\n\
                --! check equals 90\nSELECT count(*) FROM customer WHERE city = 'Oslo';\n";
    let file = folder.path().join("x.sql");
    std::fs::write(&file, text).unwrap();
    let options = [("file", file.to_str().unwrap()), ("from", database.to_str().unwrap()), ("threads", "2")];
    let before = std::fs::read(&database).unwrap();
    for target in ["sqlite::memory:".to_owned(), format!("sqlite:{}/run.db", folder.path().display())] {
        let engine = bourse_engine_sqlite::open(&target).unwrap();
        for _ in 0..2 {
            let result = run(&engine, "sql", &options, counted(50));
            assert_eq!(operation(&result, "look").valid(), 100);
        }
    }
    assert!(std::fs::read(&database).unwrap() == before && !folder.path().join("own.db-journal").exists());
}
