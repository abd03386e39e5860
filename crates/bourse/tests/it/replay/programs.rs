//! Programs in Python, recorded and replayed.

use super::super::record::no_python;
use super::{check, output, replay, text};
use bourse_engine_mysql::Flavour;
use bourse_record::CheckStatus;
use std::fs;

/// A program in Python, recorded with the data that it found, on triggers, a virtual table, assigned numbers and threads.
#[test]
fn a_recorded_program_is_replayed_on_its_data() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("replay::programs::a_recorded_program_is_replayed_on_its_data", &why);
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

/// A file that the program deleted and made anew was once replayed with its former rows, which `record show` did not foretell.
#[test]
fn a_database_that_the_program_makes_anew_is_another_one() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped(
            "replay::programs::a_database_that_the_program_makes_anew_is_another_one",
            &why,
        );
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "
import sqlite3, os
def fill(rows, connections=1):
    cs = [sqlite3.connect('x.db', isolation_level=None) for i in range(connections)]
    cs[0].execute('CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY)')
    for c in cs:
        for i in range(rows): c.execute('INSERT INTO t DEFAULT VALUES')
        c.execute('SELECT count(*) FROM t').fetchall()
    for c in cs: c.close()
";
    let again = "os.remove('x.db')\nfill(7)\nfill(7)\nos.remove('x.db')\nfill(5, 4)\nfill(3)\n";
    for begins_empty in [true, false] {
        let _ = fs::remove_dir_all(folder.join("t"));
        let _ = fs::remove_file(folder.join("x.db"));
        if !begins_empty {
            let mut ran = std::process::Command::new("python3");
            ran.args(["-c", &format!("{made}fill(20)")]).current_dir(folder);
            assert!(ran.status().expect("it runs").success());
        }
        let program = format!("{made}fill(3)\n{again}");
        let ended = output(folder, &["record", "-o", "t", "--", "python3", "-c", &program]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let shown = text(&output(folder, &["record", "show", "t"]).stdout);
        assert!(
            shown.split_whitespace().collect::<Vec<_>>().join(" ").contains("(began empty: made anew, and"),
            "{shown}"
        );
        for (database, statements) in
            [("most", 30), ("x.db", 5), ("x.db (made anew 1)", 18), ("x.db (made anew 2)", 30)]
        {
            let (code, said, run) = replay(folder, &["sqlite::memory:", "--database", database]);
            assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{database}: {said}");
            let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
            assert_eq!(round.operations.iter().map(|it| it.valid()).sum::<u64>(), statements, "{database}: {said}");
            assert!(said.contains("of the databases only"), "{said}");
        }
    }
}

/// A file that took the place of a database between two connections was once replayed with the rows of the one before.
#[test]
fn a_file_that_takes_the_place_of_a_database_is_another_one() {
    const TEST: &str = "replay::programs::a_file_that_takes_the_place_of_a_database_is_another_one";
    const KINDS: [(&str, u64); 9] = [
        ("renamed-delete", 1),
        ("renamed-wal", 1),
        ("copied-delete", 1),
        ("copied-wal", 1),
        ("removed-delete", 1),
        ("removed-wal", 1),
        ("elsewhere-delete", 1),
        ("open-delete", 1),
        ("twice-wal", 2),
    ];
    if let Some(why) = no_python() {
        return bourse_testkit::skipped(TEST, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let functions = "
import os, shutil, sqlite3
def make(name, rows, journal):
    c = sqlite3.connect(name, isolation_level=None)
    c.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a)')
    for i in range(rows): c.execute('INSERT INTO t(a) VALUES (zeroblob(500))')
    c.execute('PRAGMA journal_mode = ' + journal)
    c.close()
def use(name, rows, c=None):
    c = c or sqlite3.connect(name, isolation_level=None)
    for i in range(rows): c.execute('INSERT INTO t(a) VALUES (1)')
    c.execute('SELECT count(*), max(id) FROM t').fetchall()
    return c
def rename(name, other):
    shutil.copy(other, 'new')
    os.replace('new', name)
";
    // A copy over a file is seen by a smaller counter of changes: the databases had more changes than what replaces them.
    let made = "
from functions import *
import sys
for name in sys.argv[1:]:
    make(name, 20, name.split('-')[1])
    make('other-' + name, 3, name.split('-')[1])
";
    let program = "
from functions import *
import subprocess, sys
for name in sys.argv[1:]:
    kind, other = name.split('-')[0], 'other-' + name
    c = use(name, 4)
    if kind != 'open': c.close()
    if kind == 'copied': shutil.copy(other, name)
    elif kind == 'removed':
        os.remove(name)
        shutil.copy(other, name)
    elif kind != 'elsewhere': rename(name, other)
    if kind == 'elsewhere':
        again = 'from functions import *; import sys; rename(*sys.argv[1:]); use(sys.argv[1], 6).close()'
        subprocess.run([sys.executable, '-c', again, name, other], check=True)
    else: use(name, 6).close()
    if kind == 'twice':
        rename(name, other)
        use(name, 6).close()
    if kind == 'open': use(name, 0, c).close()
    use(name, 1).close()
";
    fs::write(folder.join("functions.py"), functions).expect("there is room");
    let names = KINDS.map(|(name, _)| name);
    let run = std::process::Command::new("python3").args(["-c", made]).args(names).current_dir(folder).status();
    assert!(run.expect("it runs").success());
    let ended = output(folder, &[&["record", "-o", "t", "--", "python3", "-c", program][..], &names].concat());
    let said = text(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    let shown = text(&output(folder, &["record", "show", "t", "--json"]).stdout);
    assert_eq!(shown.matches("\"copied: replaced by another file, and").count(), KINDS.len(), "{shown}");
    for (name, times) in KINDS {
        let named: Vec<&str> =
            said.lines().filter(|it| it.contains(&format!("/{name} was deleted, emptied or replaced"))).collect();
        assert_eq!(named.len(), 1, "{name}: {said}");
        assert_eq!(named[0].contains("2 times, first before connection "), times == 2, "{said}");
        let first = (name.to_owned(), 5 + u64::from(name == "open-delete"));
        let later = (1..=times).map(|time| (format!("{name} (replaced {time})"), if time == times { 9 } else { 7 }));
        for (database, statements) in std::iter::once(first).chain(later) {
            let (code, said, run) = replay(folder, &["sqlite::memory:", "--database", &database]);
            assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{database}: {said}");
            let round = &run.as_ref().expect("it ran").cases[0].rounds[0];
            assert_eq!(round.operations.iter().map(|it| it.valid()).sum::<u64>(), statements, "{database}: {said}");
            let recorded = round.facts.iter().find(|fact| fact.name == "recorded database");
            assert!(recorded.is_some_and(|it| it.value.ends_with(&format!("/{database}"))), "{recorded:?}");
        }
    }
    let copies = KINDS.iter().map(|(_, times)| 1 + times).sum::<u64>();
    assert_eq!(fs::read_dir(folder.join("t/databases")).expect("copies").count() as u64, copies);
}

/// No change by SQLite itself, of this program or of another one, makes another database of a file.
#[test]
fn a_database_that_sqlite_changes_in_place_is_the_same_one() {
    const TEST: &str = "replay::programs::a_database_that_sqlite_changes_in_place_is_the_same_one";
    if let Some(why) = no_python() {
        return bourse_testkit::skipped(TEST, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let change = "
import os, signal, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
for sql in sys.argv[2].split(';'):
    if sql == 'KILL': os.kill(os.getpid(), signal.SIGKILL)
    c.execute(sql).fetchall()
";
    let program = "
import os, sqlite3, subprocess, sys, threading
apart = {key: value for key, value in os.environ.items() if key not in ['LD_PRELOAD', 'BOURSE_RECORD_TO']}
def connect(name): return sqlite3.connect(name, isolation_level=None, timeout=60)
def use(name):
    c = connect(name)
    c.execute('PRAGMA journal_mode = ' + name.split('-')[1])
    c.execute('INSERT INTO t(a) VALUES (zeroblob(3000))')
    c.execute('UPDATE t SET a = 2 WHERE id = 1')
    return c
def change(name, sql, recorded=False):
    return subprocess.Popen([sys.executable, 'change.py', name, sql], env=None if recorded else apart)
changes = [
    'SELECT 1', 'INSERT INTO t(a) VALUES (5)', 'DELETE FROM t WHERE id > 3', 'CREATE TABLE IF NOT EXISTS more(a)',
    'DROP TABLE IF EXISTS more', 'VACUUM', 'PRAGMA page_size = 1024;VACUUM', 'PRAGMA user_version = 0',
    'PRAGMA schema_version = 1', 'REINDEX', 'PRAGMA journal_mode = wal;DELETE FROM t WHERE id = 2',
    'PRAGMA journal_mode = persist;INSERT INTO t(a) VALUES (7)',
    'PRAGMA cache_size = 1;BEGIN;UPDATE t SET a = zeroblob(9000);KILL',
    'PRAGMA locking_mode = exclusive;DELETE FROM t;INSERT INTO t(a) VALUES (1);DELETE FROM t',
]
for journal in ['delete', 'persist', 'off', 'wal']:
    name = 'x-' + journal
    c = connect(name)
    c.execute('PRAGMA journal_mode = ' + journal)
    c.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a)')
    c.close()
    for sql in changes:
        use(name).close()
        change(name, sql).wait()
        if 'DELETE' in sql: change(name, sql, True).wait()
        use(name).close()
    # A backup of an older database into it is a change of SQLite's too.
    source, to = connect('small'), connect(name)
    source.execute('CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, a)')
    source.backup(to)
    source.close()
    to.close()
    use(name).close()
    os.utime(name)
    use(name).close()
    # Several at once: threads, other processes, a fork.
    def often():
        for i in range(20): use(name).close()
    threads = [threading.Thread(target=often) for i in range(2)]
    sql = ';'.join(['INSERT INTO t(a) VALUES (9)', 'VACUUM'] * 5)
    others = [change(name, sql, recorded) for recorded in [True, False]]
    for it in threads: it.start()
    for it in threads: it.join()
    for it in others: it.wait()
    if os.fork() == 0:
        use(name).close()
        os._exit(0)
    os.wait()
    a, b = use(name), use(name)
    a.execute('INSERT INTO t(a) VALUES (1)')
    b.close()
    use(name).close()
    a.close()
";
    fs::write(folder.join("change.py"), change).expect("there is room");
    let ended = output(folder, &["record", "-o", "t", "--", "python3", "-c", program]);
    let said = text(&ended.stderr);
    assert!(ended.status.success() && !said.contains("replaced by another file"), "{said}");
    let shown = text(&output(folder, &["record", "show", "t", "--json"]).stdout);
    assert!(shown.contains("began empty: new file") && !shown.contains("another database"), "{shown}");
}

/// A database in UTF-16 was once replayed in UTF-8, in which texts have another order and other bytes.
#[test]
fn a_database_in_utf_16_is_replayed_in_utf_16() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("replay::programs::a_database_in_utf_16_is_replayed_in_utf_16", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "
import sqlite3
c = sqlite3.connect('x.db', isolation_level=None)
c.execute(\"PRAGMA encoding = 'UTF-16be'\"); c.execute('CREATE TABLE t(a)')
c.executemany('INSERT INTO t VALUES (?)', [('a',), ('\u{20ac}',), ('\u{1f600}',), ('\u{ff5e}',)])
";
    let read = "c.execute('SELECT hex(CAST(a AS BLOB)) FROM t ORDER BY a').fetchall()\n";
    let opened = "import sqlite3\nc = sqlite3.connect('x.db')\n";
    for (before, recorded) in [(made, format!("{opened}{read}")), ("", format!("{made}{read}"))] {
        let _ = fs::remove_dir_all(folder.join("t"));
        let _ = fs::remove_file(folder.join("x.db"));
        let ran = std::process::Command::new("python3").args(["-c", before]).current_dir(folder).status();
        assert!(ran.expect("it runs").success());
        let ended = output(folder, &["record", "-o", "t", "--", "python3", "-c", &recorded]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        for target in
            ["sqlite::memory:", "sqlite::memory:?memory=memdb", "sqlite::memory:?memory=private", "sqlite:y.db"]
        {
            let (code, said, run) = replay(folder, &[target]);
            assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{target}: {said}");
        }
    }
}

/// The programs in `examples/`, recorded and replayed with their own settings and with Bourse's.
#[test]
fn examples_of_applications_give_the_recorded_rows_again() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped(
            "replay::programs::examples_of_applications_give_the_recorded_rows_again",
            &why,
        );
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
    const TEST: &str = "replay::programs::a_recorded_program_is_replayed_on_other_engines";
    if let Some(why) = no_python() {
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
