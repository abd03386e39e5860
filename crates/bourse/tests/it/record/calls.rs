//! Programs that call SQLite's interface in C.

use super::{executions, has_ended, missing, python, text, traces};
use bourse_trace::digest::{self, RowValue, RowsDigest};
use bourse_trace::{EventKind, Note, Record, TraceValue};
use std::fs;
use std::process::Command;

/// A program in Python that calls the C interface as `c`, run without and with the recorder: its trace, if it wrote the same.
/// A program that hangs is ended.
fn calls_in_c(test: &str, program: &str) -> Option<Vec<Record>> {
    let begin = "import ctypes, signal, threading\nctypes.CDLL('libsqlite3.so.0', ctypes.RTLD_GLOBAL)\n\
                 c = ctypes.CDLL(None)\nc.sqlite3_errmsg.restype = ctypes.c_char_p\nsignal.alarm(60)\n\
                 p = ctypes.c_void_p\ndb, s, other, message = p(), p(), p(), ctypes.c_char_p()\n\
                 c.sqlite3_open(b'x.db', ctypes.byref(db))\n\
                 def prepare(sql, to): c.sqlite3_prepare_v2(db, sql, -1, ctypes.byref(to), None)\n";
    if let Some(why) = missing("python3", &["-c", "import ctypes; ctypes.CDLL('libsqlite3.so.0')"]) {
        bourse_testkit::skipped(test, &why);
        return None;
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let program = begin.to_owned() + program;
    let plain = Command::new("python3").args(["-c", &program]).current_dir(folder).output().expect("it runs");
    assert!(plain.status.success(), "{}", text(&plain.stderr));
    fs::remove_file(folder.join("x.db")).expect("the program has made it");
    let ended = python(folder, &[], &program);
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), text(&plain.stdout)), "{}", text(&ended.stderr));
    traces(&folder.join("t")).pop()
}

/// A refused value was once recorded, as null, and one that SQLite would not have read ended the program.
#[test]
fn values_that_sqlite_refuses_to_bind_are_not_recorded() {
    let program = "
prepare(b'SELECT ?, ?', s)
print(c.sqlite3_bind_int(s, 1, 1), c.sqlite3_bind_text(s, 2, b'a', 1, None), c.sqlite3_step(s))
print(c.sqlite3_bind_null(s, 1), c.sqlite3_bind_text(s, 2, b'b', 1, None), c.sqlite3_bind_int(s, 9, 2))
print(c.sqlite3_reset(s), c.sqlite3_step(s), c.sqlite3_clear_bindings(s), c.sqlite3_reset(s))
print(c.sqlite3_step(s), c.sqlite3_reset(s))
print(c.sqlite3_bind_int(s, 1, 2), c.sqlite3_bind_text(s, 2, b'too long', 2 ** 31 - 1, None))
prepare(b'SELECT ?, ?, 3', other)
print(c.sqlite3_transfer_bindings(s, other), c.sqlite3_step(other), c.sqlite3_step(s))
print(c.sqlite3_finalize(s), c.sqlite3_finalize(other), c.sqlite3_close(db))
";
    let Some(trace) = calls_in_c("record::calls::values_that_sqlite_refuses_to_bind_are_not_recorded", program) else {
        return;
    };
    let found = executions(&trace, "SELECT ?, ?");
    let of = |first, second: Option<&str>| {
        let first = if first == 0 { TraceValue::Null } else { TraceValue::Int(first) };
        vec![first, second.map_or(TraceValue::Null, |it| TraceValue::Text(it.into()))]
    };
    let found: Vec<_> = found.into_iter().map(|it| it.values.clone()).collect();
    assert_eq!(found, [of(1, Some("a")), of(1, Some("a")), of(0, None), of(0, None), of(2, None)]);
}

/// The error after a callback that aborts, and after no statement, was once that of the statement before; bytes of a text in
/// UTF-16 were once those of UTF-8.
#[test]
fn a_recorded_program_sees_what_sqlite_itself_gives() {
    let program = "
names = ctypes.POINTER(ctypes.c_char_p)
kind = ctypes.CFUNCTYPE(ctypes.c_int, p, ctypes.c_int, names, names)
def execute(sql, code):
    def called(_, count, values, names):
        print([names[i] for i in range(count)], [values[i] for i in range(count)] if values else None)
        return code
    ended = c.sqlite3_exec(db, sql, kind(called), None, ctypes.byref(message))
    print(ended, message.value, c.sqlite3_errcode(db), c.sqlite3_errmsg(db))
execute(b'SELECT nope', 0); execute(b'', 0); execute(b'SELECT nope', 0); execute(None, 0)
execute(b'SELECT 1 AS a; SELECT 2', 1)
execute(b\"PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a); INSERT INTO t VALUES ('ab')\", 0)
prepare(b'SELECT a FROM t', s)
c.sqlite3_column_blob.restype = p
for i in range(2):
    print(c.sqlite3_step(s), ctypes.string_at(c.sqlite3_column_blob(s, 0), 4)); c.sqlite3_reset(s)
c.sqlite3_finalize(s)
execute(b'PRAGMA empty_result_callbacks = 1; SELECT 3 AS b WHERE 0', 0)
execute(b'SELECT 4 AS b WHERE 0', 0)
hook = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
c.sqlite3_commit_hook(db, hook, None)
print(c.sqlite3_db_config(db, 1002, 1, None), c.sqlite3_limit(db, 5, 100), c.sqlite3_limit(db, 5, -1), c.sqlite3_close(db))
";
    let Some(trace) = calls_in_c("record::calls::a_recorded_program_sees_what_sqlite_itself_gives", program) else {
        return;
    };
    let mut digest = RowsDigest::default();
    digest.add(digest::row(1, [RowValue::Text(b"ab")]));
    assert!(executions(&trace, "SELECT a FROM t").iter().all(|it| it.rows == digest), "{trace:#?}");
    let noted = |it: &Record| match it {
        Record::Event(bourse_trace::Event { kind: EventKind::Noted { note, name, .. }, .. }) => {
            Some((*note, name.clone()))
        }
        _ => None,
    };
    let hook = |name: &str| (Note::Hook, format!("sqlite3_{name}"));
    let unseen = (Note::Unseen, "sqlite3_exec after PRAGMA empty_result_callbacks".to_owned());
    let noted: Vec<_> = trace.iter().filter_map(noted).collect();
    assert_eq!(noted, [unseen.clone(), unseen, hook("commit_hook"), hook("db_config"), hook("limit")]);
}

/// A blob was once recorded as the value before it, since SQLite binds it by its function for blobs.
#[test]
fn values_of_columns_that_are_bound_are_recorded() {
    let program = "
c.sqlite3_column_value.restype = p
prepare(b\"SELECT x'0102', 't', 3, zeroblob(2), 0.5, NULL\", other)
prepare(b'SELECT ?1', s)
c.sqlite3_step(other)
for i in range(6):
    print(c.sqlite3_bind_value(s, 1, p(c.sqlite3_column_value(other, i))), c.sqlite3_step(s), c.sqlite3_reset(s))
";
    let Some(trace) = calls_in_c("record::calls::values_of_columns_that_are_bound_are_recorded", program) else {
        return;
    };
    let found: Vec<_> = executions(&trace, "SELECT ?1").into_iter().flat_map(|it| it.values.clone()).collect();
    let blob = |bytes: &[u8]| TraceValue::Blob(bytes.to_vec());
    let (text, number) = (TraceValue::Text(b"t".to_vec()), TraceValue::Real(0.5));
    assert_eq!(found, [blob(&[1, 2]), text, TraceValue::Int(3), blob(&[0, 0]), number, TraceValue::Null]);
}

/// A text of the other order was once recorded as one that is not known, and a process that became a daemon as one that was killed.
#[test]
fn texts_in_both_orders_of_utf_16_are_recorded_and_daemons_end_their_trace() {
    let program = r"
prepare(b'SELECT ?1', s)
for text, encoding in ((b'\0a\x20\xac\xd8\x3d\xde\x00', 3), (b'a\0\xac\x20\x3d\xd8\x00\xde', 2)):
    print(c.sqlite3_bind_text64(s, 1, text, ctypes.c_uint64(8), None, encoding), c.sqlite3_step(s), c.sqlite3_reset(s))
print(c.sqlite3_finalize(s), c.sqlite3_close(db), flush=True)
c.daemon(1, 1)
";
    let test = "record::calls::texts_in_both_orders_of_utf_16_are_recorded_and_daemons_end_their_trace";
    let Some(trace) = calls_in_c(test, program) else { return };
    let found: Vec<_> = executions(&trace, "SELECT ?1").into_iter().flat_map(|it| it.values.clone()).collect();
    let text = TraceValue::Text("a\u{20ac}\u{1f600}".into());
    assert_eq!((found, has_ended(&trace)), (vec![text.clone(), text], true));
}

/// The old sqlite3_prepare's step returns 1 for each error: that was once recorded, and a changed schema was a difference.
#[test]
fn errors_of_the_old_prepare_have_their_codes() {
    let program = "
def old(sql, to): c.sqlite3_prepare(db, sql, -1, ctypes.byref(to), None)
def run(sql): c.sqlite3_exec(db, sql, None, None, None)
run(b'CREATE TABLE t(a PRIMARY KEY NOT NULL)')
old(b'INSERT INTO t VALUES (1)', s)
print(c.sqlite3_step(s), c.sqlite3_reset(s), c.sqlite3_step(s), c.sqlite3_step(s), c.sqlite3_errcode(db), c.sqlite3_reset(s))
run(b'CREATE TABLE u(a)')
print(c.sqlite3_step(s), c.sqlite3_finalize(s), c.sqlite3_errcode(db))
";
    let Some(trace) = calls_in_c("record::calls::errors_of_the_old_prepare_have_their_codes", program) else { return };
    let codes: Vec<_> = executions(&trace, "VALUES (1)").into_iter().map(|it| it.code).collect();
    assert_eq!(codes, [0, 1, 1555, 17], "an execution that is not reset has the code of its step");
}

/// The trace was once written into the file that got the number of its descriptor, and a limit of a file's size ended the program.
#[test]
fn programs_that_close_descriptors_or_limit_files_go_on() {
    let test = "record::calls::programs_that_close_descriptors_or_limit_files_go_on";
    let program = |limit: &str| {
        format!(
            "
import os, resource
c.sqlite3_open(b':memory:', ctypes.byref(db))
prepare(b'SELECT ?', s)
def read(count):
    for i in range(count): c.sqlite3_bind_int(s, 1, i), c.sqlite3_step(s), c.sqlite3_reset(s)
read(10)
os.closerange(3, 64)
own = [os.open('own%d' % i, os.O_RDWR | os.O_CREAT) for i in range(8)]
{limit}
read(90000)
print([(os.fstat(it).st_size, os.fstat(it).st_blocks) for it in own])
"
        )
    };
    let Some(trace) = calls_in_c(test, &program("")) else { return };
    assert_eq!(executions(&trace, "SELECT ?").len(), 90_010);
    let limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))";
    let Some(trace) = calls_in_c(test, &program(limit)) else { return };
    let is_ended = |it: &Record| matches!(it, Record::Event(bourse_trace::Event { kind: EventKind::Noted { note: Note::Trouble, name, .. }, .. }) if name.contains("File too large"));
    assert!(trace.iter().any(is_ended) && executions(&trace, "SELECT ?").len() > 10_000, "{:?}", trace.last());
}

/// A refused statement once waited for a connection whose user waited for the recorder.
#[test]
fn threads_that_share_a_connection_do_not_wait_for_one_another() {
    let program = "
def executes():
    for i in range(300): c.sqlite3_exec(db, b'SELECT 1;' * 40, None, None, None)
def is_refused():
    for i in range(3000): c.sqlite3_prepare_v2(db, b'SELECT nope', -1, ctypes.byref(s), None)
threads = [threading.Thread(target=it) for it in (executes, is_refused)]
for it in threads: it.start()
for it in threads: it.join()
";
    let test = "record::calls::threads_that_share_a_connection_do_not_wait_for_one_another";
    let Some(trace) = calls_in_c(test, program) else { return };
    assert_eq!(executions(&trace, "SELECT 1").len(), 12_000);
}

/// A pointer was once recorded without its type.
#[test]
fn pointers_that_are_bound_have_the_names_of_their_types() {
    let program = "
prepare(b'SELECT ?', s)
print(c.sqlite3_bind_pointer(s, 1, p(8), b'carray', None), c.sqlite3_step(s), c.sqlite3_reset(s))
print(c.sqlite3_bind_int(s, 1, 7), c.sqlite3_step(s), c.sqlite3_reset(s))
";
    let test = "record::calls::pointers_that_are_bound_have_the_names_of_their_types";
    let Some(trace) = calls_in_c(test, program) else { return };
    let found: Vec<_> = executions(&trace, "SELECT ?").into_iter().flat_map(|it| it.values.clone()).collect();
    assert_eq!(found, [TraceValue::Pointer("carray".to_owned()), TraceValue::Int(7)]);
}

/// Functions that a program got by a handle, as those of ctypes, .NET and Dart, were once not recorded. Those of a second SQLite, whose
/// calls would go to the first one, are not replaced.
#[test]
fn functions_that_a_program_gets_by_dlsym_are_recorded() {
    let test = "record::calls::functions_that_a_program_gets_by_dlsym_are_recorded";
    if let Some(why) = missing("python3", &["-c", "import ctypes; ctypes.CDLL('libsqlite3.so.0')"]) {
        return bourse_testkit::skipped(test, &why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program = "
import ctypes, shutil
def read(library, number):
    c, db, s = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_void_p()
    c.sqlite3_open(b':memory:', ctypes.byref(db))
    c.sqlite3_prepare_v2(db, b'SELECT ?', -1, ctypes.byref(s), None)
    c.sqlite3_bind_int(s, 1, number)
    print(c.sqlite3_step(s), c.sqlite3_column_int(s, 0), c.sqlite3_finalize(s), c.sqlite3_close(db))
read('libsqlite3.so.0', 5)
shutil.copy(next(it.split()[-1] for it in open('/proc/self/maps') if 'libsqlite3' in it), 'second.so')
read('./second.so', 6)
";
    let ended = python(folder.path(), &[], program);
    assert_eq!(text(&ended.stdout), "100 5 0 0\n100 6 0 0\n", "{}", text(&ended.stderr));
    let [trace] = &traces(&folder.path().join("t"))[..] else { panic!("one process, one trace") };
    let found: Vec<_> = executions(trace, "SELECT ?").into_iter().flat_map(|it| it.values.clone()).collect();
    assert_eq!(found, [TraceValue::Int(5)]);
    let is_second = |it: &Record| matches!(it, Record::Event(bourse_trace::Event { kind: EventKind::Noted { note: Note::Unseen, name, .. }, .. }) if name == "functions of a second SQLite, got by dlsym");
    assert_eq!(trace.iter().filter(|it| is_second(it)).count(), 1);
}

/// A library that is preloaded behind the recorder finds what it replaces by RTLD_NEXT, which depends on the caller.
#[test]
fn other_preloaded_libraries_find_what_they_replace() {
    let test = "record::calls::other_preloaded_libraries_find_what_they_replace";
    let (Ok(library), None) = (bourse_preload::FILE_CALLS.bytes(), super::no_shell()) else {
        return bourse_testkit::skipped(test, "there is no sqlite3 that loads SQLite, or nothing can be preloaded");
    };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let other = folder.path().join("other.so");
    fs::write(&other, library).expect("there is room");
    let recorded = ["record", "-o", "t", "--", "sqlite3", "x.db", "CREATE TABLE t(a); SELECT 7"];
    let ended = super::super::bourse(folder.path(), &recorded).env("LD_PRELOAD", &other).output().expect("it runs");
    assert_eq!((ended.status.code(), &*text(&ended.stdout)), (Some(0), "7\n"), "{}", text(&ended.stderr));
    assert_eq!(executions(&traces(&folder.path().join("t"))[0], "SELECT 7").len(), 1);
}
