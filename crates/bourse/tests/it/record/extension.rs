//! Programs that load the recorder as an extension.

use super::{executions, has_ended, missing, no_shell, opened, output, text, traces};
use bourse_trace::{TraceBase, TraceValue};
use std::fs;
use std::process::Command;

#[test]
fn an_extension_records_where_nothing_is_preloaded() {
    if let Some(why) = missing("sqlite3", &[":memory:", "SELECT load_extension('no')"]).filter(|_| no_shell().is_some())
    {
        return bourse_testkit::skipped("record::extension::an_extension_records_where_nothing_is_preloaded", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let shell =
        |arguments: &[&str]| Command::new("sqlite3").args(arguments).current_dir(folder).output().expect("it runs");
    assert!(shell(&["x.db", "CREATE TABLE t(a, b); INSERT INTO t VALUES (0, 0)"]).status.success());
    let lines = output(folder, &["record", "--attach", "x.db", "-o", "t"]);
    assert!(text(&lines.stdout).contains("SELECT load_extension("), "{}", text(&lines.stderr));
    let script = ".load ./t/bourse_record\n.parameter init\n.parameter set ?1 \"'it''s ?'\"\n.parameter set :b 4.25\n\
                  INSERT INTO t VALUES (?1, :b);\nSELECT *, '?1' FROM t WHERE b >= :b OR a = -7 -- ?\n;\n";
    fs::write(folder.join("script.sql"), script).expect("written");
    let ended = shell(&["x.db", ".read script.sql"]);
    assert_eq!(text(&ended.stdout), "it's ?|4.25|?1\n", "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    let insert = executions(trace, "INSERT INTO t")[0];
    assert_eq!(insert.values, [TraceValue::Text(b"it's ?".to_vec()), TraceValue::Real(4.25)]);
    assert_eq!(insert.changes, 1);
    assert_eq!(executions(trace, "SELECT *")[0].rows.rows, 1);
    assert_eq!(opened(trace)[0].base, TraceBase::Copied);
    let shown = text(&output(folder, &["record", "show", "t"]).stdout);
    assert!(shown.contains("extension"), "{shown}");
    let refused = output(folder, &["record", "--attach", "script.sql", "-o", "u"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no database of SQLite"), "{}", text(&refused.stderr));
}

/// SQLite prints values into texts as far as a byte 0, and doubles with 15 digits: a replay of such values once failed.
#[test]
fn an_extension_records_values_whole() {
    let probe = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)";
    if let Some(why) = missing("python3", &["-c", probe]) {
        return bourse_testkit::skipped("record::extension::an_extension_records_values_whole", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::write(folder.join("x.db"), "").expect("there is room");
    assert!(output(folder, &["record", "--attach", "x.db", "-o", "t"]).status.success());
    let program = "
import sqlite3
c = sqlite3.connect('x.db', isolation_level=None)
c.enable_load_extension(True); c.load_extension('./t/bourse_record')
c.execute('CREATE TABLE t(a, b, c)')
c.execute('INSERT INTO t VALUES (?1, :b, ?)', ('one\\0two', 0.1 + 0.2, b'\\0\\1'))
c.execute('INSERT INTO t VALUES (?, ?, ?)', (None, -7, ''))
c.execute('SELECT * FROM t WHERE a = ?', ('one\\0two',)).fetchall()
";
    let ran = Command::new("python3").args(["-c", program]).current_dir(folder).output().expect("it runs");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    let of = |sql| &executions(trace, sql)[0].values[..];
    let word = || TraceValue::Text(b"one\0two".to_vec());
    assert_eq!(of(":b"), [word(), TraceValue::Real(0.1 + 0.2), TraceValue::Blob(vec![0, 1])]);
    assert_eq!(of("(?, ?, ?)"), [TraceValue::Null, TraceValue::Int(-7), TraceValue::Text(Vec::new())]);
    assert_eq!((of("a = ?"), executions(trace, "a = ?")[0].rows.rows), (&[word()][..], 1));
    let replayed = output(folder, &["replay", "t", "--rounds", "1"]);
    assert!(replayed.status.success(), "{}", text(&replayed.stdout) + &text(&replayed.stderr));
}

/// The extension once took each execution for one without error whose rows were all read: its replay was void, or without end. It
/// lost the rows of a statement that SQLite prepared anew.
#[test]
fn a_recording_of_the_extension_with_errors_and_rows_read_in_part_is_replayed() {
    let probe = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)";
    if let Some(why) = missing("python3", &["-c", probe]) {
        let name = "record::extension::a_recording_of_the_extension_with_errors_and_rows_read_in_part_is_replayed";
        return bourse_testkit::skipped(name, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::write(folder.join("x.db"), "").expect("there is room");
    assert!(output(folder, &["record", "--attach", "x.db", "-o", "t"]).status.success());
    let program = "
import sqlite3
c, other = [sqlite3.connect('x.db', isolation_level=None, timeout=0) for _ in range(2)]
c.enable_load_extension(True); c.load_extension('./t/bourse_record')
c.execute('CREATE TABLE t(a NOT NULL)'); c.execute('CREATE TABLE log(a)')
c.execute(\"\"\"CREATE TRIGGER tr AFTER INSERT ON t WHEN new.a > 90
    BEGIN INSERT INTO log VALUES (new.a); SELECT RAISE(ABORT, 'too much'); END\"\"\")
c.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(9)])
def fails(sql):
    try: c.execute(sql).fetchall(); print(sql)
    except sqlite3.Error: pass
fails('INSERT INTO t VALUES (NULL)')
fails('INSERT INTO t VALUES (91)')
other.execute('BEGIN IMMEDIATE'); fails('INSERT INTO t VALUES (10)'); other.execute('ROLLBACK')
c.set_progress_handler(lambda: 1, 100000)
fails('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r')
c.set_progress_handler(None, 0)
c.execute('SELECT a FROM t').fetchmany(3)
other.execute('CREATE TABLE u(a)')
c.execute('SELECT a FROM t WHERE a > 1').fetchall()
c.execute('SELECT a FROM t WHERE a > 1').fetchall()
";
    let ran = Command::new("python3").args(["-c", program]).current_dir(folder).output().expect("it runs");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    assert_eq!(text(&ran.stdout), "");
    let of = |sql| executions(trace, sql)[0];
    assert!(!of("SELECT a FROM t").is_complete && of("a > 1").is_complete && of("CREATE").is_complete);
    let codes = ["(NULL)", "(91)", "(10)", "r(n)"].map(|sql| (of(sql).code, of(sql).is_complete));
    assert_eq!(codes, [1299, 1811, 5, 9].map(|code| (code, false)));
    assert!(executions(trace, "VALUES (?)").iter().all(|it| it.code == 0));
    assert_eq!(executions(trace, "a > 1").iter().map(|it| it.rows.rows).collect::<Vec<_>>(), [7, 7]);
    let replayed = output(folder, &["replay", "t", "--rounds", "1", "-v"]);
    let said = text(&replayed.stdout) + &text(&replayed.stderr);
    let left_out = "2 × execution that ended with a lock conflict, an interruption";
    assert!(replayed.status.success() && said.contains(left_out) && !said.contains("undetermined"), "{said}");
}

/// A statement that went on after its connection was closed once used memory that the extension had freed.
#[test]
fn statements_go_on_after_their_connection_is_closed() {
    let probe = "import ctypes; ctypes.CDLL('libsqlite3.so.0').sqlite3_load_extension";
    if let Some(why) = missing("python3", &["-c", probe]) {
        return bourse_testkit::skipped("record::extension::statements_go_on_after_their_connection_is_closed", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::write(folder.join("x.db"), "").expect("there is room");
    assert!(output(folder, &["record", "--attach", "x.db", "-o", "t"]).status.success());
    let program = "
import ctypes
c = ctypes.CDLL('libsqlite3.so.0')
for i in range(50):
    db, first, second = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    c.sqlite3_open(b'x.db', ctypes.byref(db))
    c.sqlite3_enable_load_extension(db, 1)
    assert c.sqlite3_load_extension(db, b'./t/bourse_record', None, None) == 0
    for to in (first, second): c.sqlite3_prepare_v2(db, b'SELECT 1 UNION ALL SELECT 2', -1, ctypes.byref(to), None)
    c.sqlite3_step(first)
    c.sqlite3_close_v2(db)
    print([c.sqlite3_step(it) for it in (first, second, first, second)], [c.sqlite3_finalize(it) for it in (first, second)])
";
    let ran = Command::new("python3").args(["-c", program]).current_dir(folder).output().expect("it runs");
    assert_eq!(text(&ran.stdout), "[100, 100, 101, 100] [0, 0]\n".repeat(50), "{}", text(&ran.stderr));
    assert!(traces(&folder.join("t")).iter().all(|trace| has_ended(trace)));
}

/// SQLite shows a pointer as null, and a replay once bound null.
#[test]
fn an_extension_tells_pointers_from_null() {
    let probe = "import ctypes; ctypes.CDLL('libsqlite3.so.0').sqlite3_load_extension";
    if let Some(why) = missing("python3", &["-c", probe]) {
        return bourse_testkit::skipped("record::extension::an_extension_tells_pointers_from_null", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    fs::write(folder.join("x.db"), "").expect("there is room");
    assert!(output(folder, &["record", "--attach", "x.db", "-o", "t"]).status.success());
    let program = "
import ctypes
c, p = ctypes.CDLL('libsqlite3.so.0'), ctypes.c_void_p
db, s = p(), p()
c.sqlite3_open(b'x.db', ctypes.byref(db))
c.sqlite3_enable_load_extension(db, 1)
assert c.sqlite3_load_extension(db, b'./t/bourse_record', None, None) == 0
c.sqlite3_prepare_v2(db, b'SELECT ?, ?', -1, ctypes.byref(s), None)
assert c.sqlite3_bind_pointer(s, 2, p(8), b'carray', None) == 0
c.sqlite3_step(s); c.sqlite3_finalize(s); c.sqlite3_close(db)
";
    let ran = Command::new("python3").args(["-c", program]).current_dir(folder).output().expect("it runs");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    assert_eq!(
        executions(trace, "SELECT ?")[0].values[..],
        [TraceValue::Null, TraceValue::Pointer("carray".to_owned())]
    );
}
