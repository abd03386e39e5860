//! `bourse record`: traces of programs that use the system's SQLite.

mod calls;
mod extension;

use super::{bourse, output, text};
use bourse_trace::digest::{self, RowValue, RowsDigest};
use bourse_trace::{EventKind, Execution, Note, Opened, Record, TraceBase, TraceReader, TraceValue};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Reason that a program cannot be recorded here; `None` if it can.
fn missing(program: &str, probe: &[&str]) -> Option<String> {
    if let Err(why) = bourse_preload::SQLITE_CALLS.bytes() {
        // A mistake in the sources is no property of this machine.
        assert!(!why.contains("sqlite/"), "{why}");
        return Some(why.to_owned());
    }
    let works = Command::new(program).args(probe).output().is_ok_and(|it| it.status.success());
    (!works).then(|| format!("there is no {program} that loads SQLite"))
}

pub(crate) fn no_python() -> Option<String> {
    missing("python3", &["-c", "import sqlite3"])
}

fn no_shell() -> Option<String> {
    missing("sqlite3", &[":memory:", "SELECT 1"])
}

/// Traces of a folder, each with its records before the first error.
fn traces(folder: &Path) -> Vec<Vec<Record>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
    files.retain(|it| it.extension().is_some_and(|ending| ending == "trace"));
    files.sort();
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).expect("a trace");
        TraceReader::new(&bytes[..]).expect("a trace").map_while(Result::ok).collect()
    };
    files.iter().map(read).collect()
}

fn texts(trace: &[Record]) -> Vec<&str> {
    trace.iter().filter_map(|it| if let Record::Text(text) = it { Some(text.sql.as_str()) } else { None }).collect()
}

fn executions<'t>(trace: &'t [Record], sql: &str) -> Vec<&'t Execution> {
    let texts = texts(trace);
    let of = |it: &'t Record| match it {
        Record::Event(event) => match &event.kind {
            EventKind::Executed(it) if texts[it.text as usize].contains(sql) => Some(it),
            _ => None,
        },
        Record::Text(_) => None,
    };
    trace.iter().filter_map(of).collect()
}

fn opened(trace: &[Record]) -> Vec<&Opened> {
    let of = |it| match it {
        &Record::Event(bourse_trace::Event { kind: EventKind::Opened(ref opened), .. }) => Some(opened),
        _ => None,
    };
    trace.iter().filter_map(of).collect()
}

fn has_ended(trace: &[Record]) -> bool {
    matches!(trace.last(), Some(Record::Event(event)) if event.kind == EventKind::Ended)
}

fn python(folder: &Path, options: &[&str], program: &str) -> std::process::Output {
    output(folder, &[&["record", "-o", "t"], options, &["--", "python3", "-c", program]].concat())
}

#[test]
fn a_program_in_python_is_recorded_with_values_rows_errors_and_transactions() {
    if let Some(why) = no_python() {
        let name = "record::a_program_in_python_is_recorded_with_values_rows_errors_and_transactions";
        return bourse_testkit::skipped(name, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "import sqlite3\nc = sqlite3.connect('x.db')\n\
                c.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)')\nc.execute(\"INSERT INTO t VALUES (1, 'old', NULL)\")\nc.commit()";
    assert!(Command::new("python3").args(["-c", made]).current_dir(folder).status().expect("it runs").success());
    let before = fs::read(folder.join("x.db")).expect("a database");
    let program = "
import sqlite3, sys
c = sqlite3.connect('x.db')
with c:
    for i in range(3):
        c.execute('INSERT INTO t(a, b) VALUES (?, :b)', ('näme %d' % i, i * 1.5))
rows = c.execute('SELECT a, b, id FROM t WHERE id > ? ORDER BY id', (1,)).fetchall()
c.execute('SELECT id FROM t').fetchone()
c.execute('SELECT ?, ?', (b'\\0\\xff', None)).fetchall()
for wrong in ['SELECT nope FROM t', 'INSERT INTO t(id) VALUES (1)']:
    try: c.execute(wrong)
    except sqlite3.Error as error: print(error)
c.rollback()
c.create_function('twice', 1, lambda x: 2 * x)
c.execute('SELECT twice(4)').fetchall()
c.execute('ATTACH ? AS other', ('y.db',))
c.close()
sys.exit(7)
";
    let ended = python(folder, &[], program);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(7), "{said}");
    assert_eq!(text(&ended.stdout), "no such column: nope\nUNIQUE constraint failed: t.id\n");
    assert!(said.contains("1 process, 1 connection,") && said.contains("2 errors"), "{said}");
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace: {said}") };
    assert!(has_ended(trace));
    let inserts = executions(trace, "VALUES (?, :b)");
    assert_eq!(inserts.len(), 3);
    assert_eq!(inserts[2].values, [TraceValue::Text("näme 2".into()), TraceValue::Real(3.0)]);
    assert!(inserts.iter().all(|it| it.changes == 1 && it.code == 0 && it.is_complete && !it.autocommit_after));
    assert!(executions(trace, "COMMIT").iter().all(|it| !it.autocommit_before && it.autocommit_after));
    let mut digest = RowsDigest::default();
    for id in 0..3 {
        let name = format!("näme {id}");
        let row = [RowValue::Text(name.as_bytes()), RowValue::Real(id as f64 * 1.5), RowValue::Int(id + 2)];
        digest.add(digest::row(3, row));
    }
    assert_eq!(executions(trace, "WHERE id > ?")[0].rows, digest);
    let first_only = executions(trace, "SELECT id FROM t");
    assert_eq!((first_only.len(), first_only[0].is_complete), (1, false));
    assert_eq!(executions(trace, "SELECT ?, ?")[0].values, [TraceValue::Blob(vec![0, 255]), TraceValue::Null]);
    assert_eq!(executions(trace, "INTO t(id)")[0].code, 1555, "the extended code of a primary key");
    let noted = |note: Note, name: &str| {
        trace.iter().any(|it| {
            matches!(it, Record::Event(event) if matches!(&event.kind,
                EventKind::Noted { note: found, name: of, .. } if *found == note && of.contains(name)))
        })
    };
    assert!(noted(Note::Function, "twice") && noted(Note::Attached, "/y.db\tdatabases/y.db-"), "{trace:#?}");
    let [connection] = &opened(trace)[..] else { panic!("one connection") };
    assert_eq!((connection.base, connection.name.as_str()), (TraceBase::Copied, "x.db"));
    assert_eq!(fs::read(folder.join("t").join(&connection.copy)).expect("a copy").len(), before.len());
    let shown = output(folder, &["record", "show", "t"]);
    let shown = text(&shown.stdout);
    for words in
        ["SELECT twice(4)", "SQL function of the program: twice", "copied", "INSERT INTO t(a, b) VALUES (?, :b)"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("/x.db (copied), SQLite 3"), "{shown}");
    fs::remove_file(folder.join("t").join(&connection.copy)).expect("the copy is there");
    let shown = text(&output(folder, &["record", "show", "t"]).stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(its copy is removed: cannot be replayed), SQLite 3"), "{shown}");
    let again = python(folder, &[], "pass");
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("-o chooses another folder"), "{}", text(&again.stderr));
}

/// Records are made in place: of texts and blobs whose last word is of each length, and of such as need more space than is mapped.
#[test]
fn values_of_every_length_have_their_digests() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::values_of_every_length_have_their_digests", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = "
import sqlite3
c = sqlite3.connect('x.db', isolation_level=None)
for n in [*range(40), 127, 128, 16384, 1 << 20, 3 << 20, 1]:
    c.execute('SELECT ?, ?', ('x' * n, bytes(i % 251 for i in range(n)))).fetchall()
";
    let ended = python(folder.path(), &[], program);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.path().join("t"))[..] else { panic!("one process, one trace") };
    let lengths = (0..40).chain([127, 128, 16_384, 1 << 20, 3 << 20, 1]);
    let found = executions(trace, "SELECT ?, ?");
    assert!(has_ended(trace) && found.len() == 46);
    for (length, executed) in lengths.zip(found) {
        let (words, bytes) = (vec![b'x'; length], (0..length).map(|at| (at % 251) as u8).collect::<Vec<_>>());
        let mut digest = RowsDigest::default();
        digest.add(digest::row(2, [RowValue::Text(&words), RowValue::Blob(&bytes)]));
        assert_eq!(executed.rows, digest, "{length} bytes");
        assert!(executed.values == [TraceValue::Text(words), TraceValue::Blob(bytes)], "{length} bytes");
    }
}

#[test]
fn a_killed_program_leaves_all_that_it_finished() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::a_killed_program_leaves_all_that_it_finished", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = "
import sqlite3, os, signal
c = sqlite3.connect('x.db', isolation_level=None)
c.execute('PRAGMA journal_mode=WAL')
c.execute('CREATE TABLE t(a)')
for i in range(1000):
    c.execute('INSERT INTO t VALUES (?)', (i,))
os.kill(os.getpid(), signal.SIGKILL)
";
    let ended = python(folder.path(), &[], program);
    assert_eq!(ended.status.code(), Some(137));
    assert!(text(&ended.stderr).contains("the process was killed"), "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.path().join("t"))[..] else { panic!("one process, one trace") };
    let inserts = executions(trace, "INSERT");
    assert_eq!(inserts.len(), 1000);
    assert_eq!(inserts[999].values, [TraceValue::Int(999)]);
    assert!(!has_ended(trace));
    let [connection] = &opened(trace)[..] else { panic!("one connection") };
    assert_eq!(connection.base, TraceBase::New);
    let files = fs::read_dir(folder.path().join("t")).expect("a folder");
    let longest = files.map(|it| it.expect("a file").metadata().expect("its size").len()).max();
    assert!(longest.expect("files") < 100_000, "the space that was allocated ahead is given back");
}

/// Regression: an interruption that was sent to `bourse record` alone ended nothing, since only a terminal's reaches the program too.
#[test]
fn a_signal_that_is_sent_to_the_recording_is_the_programs() {
    if let Some(why) = no_python() {
        let name = "record::a_signal_that_is_sent_to_the_recording_is_the_programs";
        return bourse_testkit::skipped(name, &why);
    }
    const PROGRAM: &str = "import signal, sqlite3, sys, time\n\
        c = sqlite3.connect('x.db')\n\
        def ends(number, frame):\n  c.execute('SELECT 7').fetchall(); c.close(); sys.exit(40 + number)\n\
        for it in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(it, ends)\n\
        open('begun', 'w').close()\n\
        time.sleep(100)";
    let hangs_up = !crate::waiting::ignores_hangups();
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)].into_iter().filter(|it| it.1 != 1 || hangs_up) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut recording = bourse(folder.path(), &["record", "-o", "t", "--", "python3", "-c", PROGRAM]);
        let mut recording = recording.spawn().expect("the program can be started");
        crate::waiting::wait_for("the program", || folder.path().join("begun").exists().then_some(()));
        let sent = Command::new("kill").args([signal, &recording.id().to_string()]).status().expect("kill can be run");
        assert!(sent.success());
        assert_eq!(recording.wait().expect("it ends").code(), Some(40 + number), "{signal}");
        let traces = traces(&folder.path().join("t"));
        assert!(has_ended(&traces[0]) && executions(&traces[0], "SELECT 7").len() == 1, "{signal}: {traces:?}");
    }
}

/// Ctrl-C, which the terminal sends to all of its foreground, was passed on beside.
#[test]
fn ctrl_c_in_a_terminal_reaches_the_program_once() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::ctrl_c_in_a_terminal_reaches_the_program_once", &why);
    }
    // Counts interruptions until two seconds after the first, and ends with their number.
    const PROGRAM: &str = "import signal, sqlite3, sys, time\n\
        seen = []\n\
        signal.signal(signal.SIGINT, lambda number, frame: seen.append(time.monotonic()))\n\
        c = sqlite3.connect('x.db')\n\
        open('begun', 'w').close()\n\
        while not seen or time.monotonic() < seen[0] + 2: time.sleep(0.05)\n\
        c.close(); sys.exit(40 + len(seen))";
    // Runs its arguments in a terminal of their own, types Ctrl-C, and ends with their exit code.
    const TERMINAL: &str = "import os, pty, sys, time\n\
        child, terminal = pty.fork()\n\
        if child == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
        while not os.path.exists('begun'): time.sleep(0.05)\n\
        os.write(terminal, b'\\x03')\n\
        while True:\n\
        \x20 try:\n    if not os.read(terminal, 4096): break\n\
        \x20 except OSError: break\n\
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = ["record", "-o", "t", "--", "python3", "-c", PROGRAM];
    let mut terminal = Command::new("python3");
    terminal.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_bourse")]).args(program).current_dir(folder.path());
    assert_eq!(terminal.status().expect("the terminal can be started").code(), Some(41));
}

/// A recording that a full disk ended, or a limit of a file's size, was once told as that of a killed program.
#[test]
fn a_recording_that_ends_before_the_program_says_why() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::a_recording_that_ends_before_the_program_says_why", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = "
import resource, sqlite3
c = sqlite3.connect(':memory:', isolation_level=None)
c.execute('SELECT 1').fetchall()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
for i in range(90000): c.execute('SELECT ?', (i,)).fetchall()
";
    let ended = python(folder.path(), &[], program);
    let said = text(&ended.stderr);
    let why = "the trace cannot be extended: File too large; nothing is recorded from here on";
    assert!(ended.status.success() && said.contains(&format!(".trace: {why}")) && !said.contains("killed"), "{said}");
    let shown = text(&output(folder.path(), &["record", "show", "t"]).stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let times = words.matches(why).count();
    assert!(words.contains(&format!("incomplete: {why}")) && times == 1 && !shown.contains("killed"), "{shown}");
}

#[test]
fn forks_threads_and_several_connections_are_told_apart() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::forks_threads_and_several_connections_are_told_apart", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = "
import sqlite3, os, threading
def work(name):
    c = sqlite3.connect('x.db', timeout=60, isolation_level=None)
    for i in range(200):
        c.execute('INSERT INTO t VALUES (?, ?)', (name, i))
    c.close()
main = sqlite3.connect('x.db', isolation_level=None)
main.execute('PRAGMA journal_mode=DELETE')
main.execute('CREATE TABLE t(a, b)')
threads = [threading.Thread(target=work, args=('thread %d' % i,)) for i in range(2)]
for it in threads: it.start()
for it in threads: it.join()
child = os.fork()
if child == 0:
    work('child')
    os._exit(0)
os.waitpid(child, 0)
print(main.execute('SELECT count(*) FROM t').fetchone()[0])
";
    let ended = python(folder.path(), &[], program);
    assert_eq!(text(&ended.stdout), "600\n", "{}", text(&ended.stderr));
    let traces = traces(&folder.path().join("t"));
    let [parent, child] = {
        let mut traces: Vec<_> = traces.iter().collect();
        traces.sort_by_key(|it| std::cmp::Reverse(it.len()));
        <[_; 2]>::try_from(traces).expect("two processes")
    };
    assert_eq!(opened(parent).len(), 3);
    let inserts = |trace: &[Record], who: &str| {
        let mut of_who = executions(trace, "INSERT");
        of_who.retain(|it| it.values[0] == TraceValue::Text(who.into()));
        of_who.iter().filter(|it| it.code == 0).map(|it| it.values[1].clone()).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..200).map(TraceValue::Int).collect();
    for who in ["thread 0", "thread 1"] {
        assert_eq!(inserts(parent, who), all);
    }
    assert_eq!(inserts(child, "child"), all);
    let threads: std::collections::BTreeSet<_> =
        parent.iter().filter_map(|it| if let Record::Event(event) = it { Some(event.thread) } else { None }).collect();
    assert_eq!(threads.len(), 3);
}

/// A replay met the first of these only while it ran, and an index on an own function ended it.
#[test]
fn what_a_replay_will_lack_is_named_before_it() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::what_a_replay_will_lack_is_named_before_it", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let own = "import sqlite3, os\nc = sqlite3.connect('x.db', isolation_level=None)\n\
               c.create_function('own', 1, lambda it: it, deterministic=True)\n";
    let made = "c.executescript('CREATE TABLE t(a); CREATE INDEX i ON t(own(a)); CREATE TABLE u(a); \
                CREATE TRIGGER r AFTER INSERT ON u BEGIN SELECT own(new.a); END')\n\
                sqlite3.connect('y.db').executescript('CREATE TABLE v(b); CREATE TABLE w(a)')\n";
    let ran = Command::new("python3").args(["-c", &(own.to_owned() + made)]).current_dir(folder).status();
    assert!(ran.expect("it runs").success());
    let used = "c.execute('CREATE TABLE IF NOT EXISTS main.w(a)'); c.execute('SELECT a FROM w').fetchall()\n\
                c.execute('PRAGMA synchronous = OFF'); c.execute('PRAGMA user_version'); c.execute('ATTACH ? AS o', ('y.db',))\n\
                c.execute('INSERT INTO u VALUES (1)')\n\
                for i in range(40): c.execute('INSERT INTO t VALUES (?)', (i,)); c.execute('SELECT a FROM t').fetchall()\n\
                c.execute('SELECT a FROM u').fetchall()\n\
                c.execute('SELECT b FROM \"o\".v').fetchall(); c.execute('SELECT b FROM v').fetchall()\n\
                if os.fork() == 0: sqlite3.connect('x.db').execute('SELECT 1').fetchall(); os._exit(0)\n\
                os.wait()\n";
    let ended = python(folder, &[], &(own.to_owned() + used));
    let said = text(&ended.stderr);
    assert!(ended.status.success() && said.contains("2 processes") && !said.contains("killed"), "{said}");
    let shown = text(&output(folder, &["record", "show", "t"]).stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "refused: ATTACH ? AS o 1 execution",
        "on an attached database 2 executions",
        "PRAGMA synchronous = OFF, which the target's option sync sets 1 execution",
        "SQL function of the program: own: index i is left out 1 time",
        "SQL function of the program: own: trigger r: changes of u are refused 1 time",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("PRAGMA user_version, which"), "{shown}");
    let replayed = output(folder, &["replay", "t", "--rounds", "1"]);
    let said = text(&replayed.stdout) + &text(&replayed.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(replayed.status.code(), Some(0), "{said}");
    assert!(said.contains("the database without index i: no such function: own"), "{said}");
    assert!(said.contains("4 of 89 executions were refused or left out; 1 of 89 results differ"), "{said}");
}

/// The list once ended after twenty statements without a word, had no other form, and was wider than a terminal.
#[test]
fn a_trace_is_shown_in_eighty_columns_and_whole_and_as_json() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::a_trace_is_shown_in_eighty_columns_and_whole_and_as_json", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let program = "import sqlite3\nc = sqlite3.connect('x.db', isolation_level=None)\n\
                   c.execute('CREATE TABLE t(a)')\n\
                   for i in range(24): c.execute(f'SELECT a AS a_name_that_takes_some_place, a + {i} AS another_one FROM t WHERE a = ?', (i,)).fetchall()\n";
    let ended = python(folder, &[], program);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let shown = |more: &[&str]| {
        let mut command = bourse(folder, &[&["record", "show", "t"], more].concat());
        let ended = command.env("COLUMNS", "80").env_remove("BOURSE_VERBOSE").output().expect("it runs");
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        text(&ended.stdout)
    };
    let brief = shown(&[]);
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
    assert_eq!(
        brief.lines().filter(|line| line.contains("SELECT a AS")).count() + brief.matches("CREATE").count(),
        20,
        "{brief}"
    );
    assert!(brief.contains("5 more statements with less time: -v shows all"), "{brief}");
    let words = brief.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 connection to ") && words.contains("(began empty: new file), SQLite 3"), "{brief}");
    let first = shown(&["-n", "2"]);
    assert!(first.contains("23 more statements"), "{first}");
    let whole = shown(&["-v"]);
    assert!(whole.matches("SELECT a AS").count() == 24 && !whole.contains("more statement"), "{whole}");
    let json: serde_json::Value = serde_json::from_str(&shown(&["--json"])).expect("JSON");
    assert_eq!(json["statements"].as_array().map(Vec::len), Some(25), "{json:#}");
    assert_eq!((&json["processes"][0]["executions"], &json["statements"][3]["executions"]), (&25.into(), &1.into()));
    assert_eq!(json["processes"][0]["connections"][0]["connections"], 1);
}

#[test]
fn statements_of_virtual_tables_and_triggers_are_not_taken_for_the_programs() {
    if let Some(why) = no_shell() {
        let name = "record::statements_of_virtual_tables_and_triggers_are_not_taken_for_the_programs";
        return bourse_testkit::skipped(name, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let script = "
PRAGMA journal_mode=WAL;
CREATE TABLE t(a); CREATE TABLE log(a); CREATE TEMP TABLE tmp(a);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;
CREATE VIRTUAL TABLE f USING fts5(x);
BEGIN; INSERT INTO t VALUES (1), (2); INSERT INTO f VALUES ('one two'); COMMIT;
SELECT * FROM f WHERE f MATCH 'two';
";
    fs::write(folder.path().join("script.sql"), script).expect("written");
    let ended = output(folder.path(), &["record", "-o", "t", "--", "sqlite3", "x.db", ".read script.sql"]);
    assert_eq!(text(&ended.stdout), "wal\none two\n", "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.path().join("t"))[..] else { panic!("one process, one trace") };
    let own = texts(trace);
    assert!(!own.iter().any(|sql| sql.contains("f_data") || sql.contains("f_content")), "{own:#?}");
    assert_eq!(executions(trace, "INSERT INTO t")[0].changes, 4, "rows of the trigger count");
    assert_eq!(executions(trace, "MATCH").iter().map(|it| it.rows.rows).sum::<u64>(), 1);
}

#[test]
fn a_statement_that_gets_more_columns_keeps_its_values() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::a_statement_that_gets_more_columns_keeps_its_values", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    // Python keeps a statement, which SQLite prepares anew after each change of the schema.
    let program = "import sqlite3\nc = sqlite3.connect('x.db', isolation_level=None)\n\
                   c.execute('CREATE TABLE t(a)')\nc.execute(\"INSERT INTO t VALUES (1), ('x'), (NULL)\")\n\
                   for name in 'bcdb':\n  print(c.execute('SELECT * FROM t').fetchall())\n  \
                   c.execute(f\"ALTER TABLE t DROP COLUMN {name}\" if name in str(c.execute('PRAGMA table_info(t)').fetchall()) \
                   else f\"ALTER TABLE t ADD COLUMN {name} DEFAULT '{name * 9}'\")\n\
                   print(c.execute('SELECT * FROM t').fetchall())";
    let plain = Command::new("python3").args(["-c", program]).current_dir(folder).output().expect("it runs");
    assert!(plain.status.success(), "{}", text(&plain.stderr));
    fs::remove_file(folder.join("x.db")).expect("the program has made it");
    let ended = python(folder, &[], program);
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), text(&plain.stdout)), "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    assert_eq!(executions(trace, "SELECT * FROM t").len(), 5);
    let replayed = output(folder, &["replay", "t", "--rounds", "1"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
}

/// The loader splits the paths of preloaded libraries at spaces and colons: such a folder once recorded nothing.
#[test]
fn a_path_that_the_loader_splits_is_recorded_and_quoted() {
    if let Some(why) = no_shell() {
        return bourse_testkit::skipped("record::a_path_that_the_loader_splits_is_recorded_and_quoted", &why);
    }
    let temporary = tempfile::tempdir().expect("there is room for a folder");
    for name in ["my shop", "a:b", "it's $ORIGIN"] {
        let folder = tempfile::Builder::new().prefix(name).tempdir().expect("there is room for a folder");
        let folder = folder.path();
        let recorded = ["record", "-o", "t", "--", "sqlite3", "x.db", "CREATE TABLE t(a); SELECT 7"];
        let ended = super::bourse(folder, &recorded).env("TMPDIR", temporary.path()).output().expect("it runs");
        let said = text(&ended.stderr);
        assert_eq!((ended.status.code(), &*text(&ended.stdout)), (Some(0), "7\n"), "{name}: {said}");
        // A shell takes a colon as it is.
        let hint = if name == "a:b" { "hint: bourse record show /" } else { "hint: bourse record show '" };
        assert!(!said.contains("ld.so") && said.contains(hint), "{name}: {said}");
        assert_eq!(executions(&traces(&folder.join("t"))[0], "SELECT 7").len(), 1, "{name}");
        let lines = output(folder, &["record", "--attach", "x.db", "-o", "u"]);
        let lines = text(&lines.stdout);
        let line = lines.lines().find_map(|line| line.strip_prefix("sqlite3 ")).expect("a line").trim().to_owned();
        let script = format!("{line} 'SELECT 8'");
        let ran = Command::new("sh").args(["-c", &script]).current_dir(folder).output().expect("it runs");
        assert_eq!(text(&ran.stdout), "8\n", "{script}: {}", text(&ran.stderr));
        assert_eq!(executions(&traces(&folder.join("u"))[0], "SELECT 8").len(), 1, "{script}");
        let refused = super::bourse(folder, &["record", "-o", "v", "--", "true"]).env("TMPDIR", folder).output();
        let refused = refused.expect("it runs");
        assert_eq!(refused.status.code(), Some(1), "{name}");
        let said = text(&refused.stderr);
        assert!(said.contains("a space, a colon or a dollar sign") && !folder.join("v").exists(), "{name}: {said}");
    }
    assert_eq!(fs::read_dir(temporary.path()).expect("a folder").count(), 0, "the links are removed");
}

/// The inner recorder once called functions that the outer one does not have.
#[test]
fn a_recorded_program_may_record() {
    if let Some(why) = no_shell() {
        return bourse_testkit::skipped("record::a_recorded_program_may_record", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = env!("CARGO_BIN_EXE_bourse");
    let nested = ["record", "-o", "t", "--", program, "record", "-o", "u", "--", "sqlite3", "x.db", "SELECT 7"];
    let ended = output(folder.path(), &nested);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).starts_with("7\n"), "{}", text(&ended.stdout));
}

#[test]
fn statements_of_callbacks_and_connections_opened_there_are_recorded() {
    if let Some(why) = no_python() {
        let name = "record::statements_of_callbacks_and_connections_opened_there_are_recorded";
        return bourse_testkit::skipped(name, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let program = "
import sqlite3
c = sqlite3.connect('x.db', isolation_level=None)
c.execute('CREATE TABLE t(a)'); c.execute('CREATE TABLE log(a)'); c.execute('INSERT INTO t VALUES (1), (2)')
c.execute('CREATE VIRTUAL TABLE f USING fts5(x)')
def logged(a):
    c.execute('INSERT INTO log VALUES (?)', (a,))
    other = sqlite3.connect('y.db', isolation_level=None)
    other.execute('CREATE TABLE IF NOT EXISTS u(a)')
    other.close()
    return a + 1
c.create_function('logged', 1, logged)
print(c.execute('SELECT logged(a) FROM t').fetchall())
c.execute(\"INSERT INTO f VALUES ('one')\")
print(c.execute('SELECT * FROM log').fetchall())
";
    let ended = python(folder, &[], program);
    assert_eq!(text(&ended.stdout), "[(2,), (3,)]\n[(1,), (2,)]\n", "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    let logged: Vec<_> = executions(trace, "INTO log").iter().map(|it| it.values.clone()).collect();
    assert_eq!(logged, [[TraceValue::Int(1)], [TraceValue::Int(2)]]);
    assert_eq!((opened(trace).len(), executions(trace, "EXISTS u").len()), (3, 2));
    assert_eq!((executions(trace, "logged").len(), texts(trace).iter().filter(|it| it.contains("'f")).count()), (1, 0));
}

#[test]
fn masks_leave_no_value_and_the_same_answers() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::masks_leave_no_value_and_the_same_answers", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let made = "import sqlite3\nc = sqlite3.connect('x.db')\nc.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE)')\n\
                c.executemany('INSERT INTO t VALUES (?, ?)', [(471100 + 7 * i, 'customer ' + chr(65 + i)) for i in range(9)])\nc.commit()";
    assert!(Command::new("python3").args(["-c", made]).current_dir(folder).status().expect("it runs").success());
    let program = "import sqlite3\nc = sqlite3.connect('x.db')\n\
                   for i in range(9): c.execute('SELECT id FROM t WHERE name = ?', ('customer ' + chr(65 + i),)).fetchall()\n\
                   c.execute('SELECT 1 FROM t WHERE id BETWEEN ? AND ?', (471107, 471121)).fetchall()\n\
                   c.execute('SELECT id FROM t WHERE name = \\'fixed\\'').fetchall()";
    let ended = python(folder, &["--mask"], program);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let unmasked =
        "1 statement with values in the text, which is not masked, as: SELECT id FROM t WHERE name = 'fixed'";
    assert!(text(&ended.stderr).contains(unmasked), "{}", text(&ended.stderr));
    for file in fs::read_dir(folder.join("t/databases"))
        .expect("a folder")
        .chain(fs::read_dir(folder.join("t")).expect("a folder"))
    {
        let path = file.expect("a file").path();
        if path.is_file() {
            assert!(!fs::read(&path).expect("a file").windows(8).any(|it| it == b"customer"), "{}", path.display());
        }
    }
    let shown = output(folder, &["record", "show", "t"]);
    assert!(text(&shown.stdout).contains("preloaded, masked"), "{}", text(&shown.stdout));
    let [trace] = &traces(&folder.join("t"))[..] else { panic!("one process, one trace") };
    assert!(executions(trace, "SELECT").iter().all(|it| (it.rows.ordered, it.rows.unordered) == (0, 0)));
    let replayed = output(folder, &["replay", "t", "--rounds", "1"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    let copy = folder.join("t").join(&opened(trace)[0].copy);
    let target = format!("sqlite:{}", copy.display());
    let (mut names, mut ids) = (Vec::new(), Vec::new());
    bourse_engine_sqlite::stored_values(&copy, &mut |_| (), &mut |it| match it {
        bourse_engine_sqlite::StoredValue::Text(name) => names.push(TraceValue::Text(name.into_bytes())),
        bourse_engine_sqlite::StoredValue::Int(id) => ids.push(id),
        _ => {}
    })
    .unwrap_or_else(|error| panic!("{target}: {error}"));
    // As a recording that was killed before its values were masked.
    fs::write(folder.join("t/values-are-not-masked"), "").expect("written");
    for arguments in [&["record", "show", "t"][..], &["replay", "t"]] {
        let refused = output(folder, arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        assert!(text(&refused.stderr).contains("was to be masked, and is not"), "{}", text(&refused.stderr));
    }
    let asked: Vec<_> = executions(trace, "name = ?").iter().map(|it| it.values[0].clone()).collect();
    assert_eq!(asked, names, "each name that was asked for is in the copy, in the same order");
    let between = executions(trace, "BETWEEN")[0];
    let [TraceValue::Int(from), TraceValue::Int(to)] = between.values[..] else { panic!("{between:?}") };
    assert_eq!(ids.iter().filter(|id| (from..=to).contains(*id)).count(), 3);
    assert!(ids.iter().all(|id| id.to_string().len() == 6) && ids.iter().is_sorted());
}

/// A recorded program once waited for ten seconds at each connection to a locked database.
#[test]
fn a_locked_database_is_named_and_not_copied() {
    if let Some(why) = no_python() {
        return bourse_testkit::skipped("record::a_locked_database_is_named_and_not_copied", &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let program = "import sqlite3, subprocess, sys\n\
                   hold = 'import sqlite3, sys; c = sqlite3.connect(\"x.db\"); c.execute(\"CREATE TABLE t(a)\"); c.commit(); \
                   c.execute(\"BEGIN EXCLUSIVE\"); print(flush=True); sys.stdin.read()'\n\
                   import os; environment = {k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}\n\
                   held = subprocess.Popen([sys.executable, '-c', hold], stdin=-1, stdout=-1, env=environment)\n\
                   held.stdout.readline()\n\
                   try: sqlite3.connect('x.db', timeout=0).execute('SELECT * FROM t')\n\
                   except sqlite3.OperationalError as error: print(error)\n\
                   held.communicate(b'')";
    let ended = python(folder, &[], program);
    assert_eq!(text(&ended.stdout), "database is locked\n", "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("x.db could not be copied for some connections"), "{}", text(&ended.stderr));
    let shown = text(&output(folder, &["record", "show", "t"]).stdout);
    assert!(shown.contains("others had it locked for a second"), "{shown}");
}

#[test]
fn what_is_no_trace_and_what_records_nothing_is_said() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let said = |arguments: &[&str], code: i32, words: &str| {
        let ended = bourse(folder, arguments).output().expect("it runs");
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    };
    said(&["record", "show", "."], 1, "there is no trace in .");
    fs::write(folder.join("a.trace"), b"SQLite format 3\0").expect("written");
    said(&["record", "show", "a.trace"], 1, "this is no trace of a program");
    fs::write(folder.join("a.trace"), b"").expect("written");
    said(&["record", "show", "a.trace"], 1, "the trace is empty: nothing could be written to it, as on a full disk");
    let head = [&b"BOURSETR"[..], &[9, 0, 0, 0], &[0; 28]].concat();
    let check = bourse_trace::digest::bytes(0, &head) as u32;
    let newer = [&head[..], &check.to_le_bytes()].concat();
    fs::write(folder.join("a.trace"), newer).expect("written");
    let newer = "the trace has format 9, and this program reads formats up to 1: a newer bourse reads it";
    said(&["record", "show", "a.trace"], 1, newer);
    // The file was once named twice.
    said(&["replay", "a.trace"], 1, &format!("error: a.trace: {newer}"));
    said(&["record"], 1, "<PROGRAM>");
    said(&["record", "--attach", "no/x.db", "-o", "n"], 1, "the database cannot be read");
    if bourse_preload::SQLITE_CALLS.bytes().is_ok() {
        said(&["record", "-o", "t", "--", "false"], 1, "no call of SQLite passed the library");
        said(&["record", "--attach", "new.db", "-o", "n"], 0, "new.db does not exist yet");
        said(&["record", "-o", "t", "--", "./not-there"], 2, "the program cannot be started");
        assert!(!folder.join("t").exists());
    }
}
