//! Cost of the engine interface: point reads and prepared inserts through [`Session`], against the same calls of the C
//! library written out here, alternately on one database. The ratio is to be 0.98 or better.
//!
//! Rounds are short and many, and rates are by CPU time of the thread, so that other work on the machine cancels out.
//!
//! `cargo bench -p bourse-engine-sqlite --bench point_read [ROUNDS]`

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use bourse_engine::{Access, Engine as _, Isolation, Params, RowExt as _, Session, Sql};
use libsqlite3_sys as ffi;
use std::ffi::{CStr, CString};
use std::ptr;

const ROWS: i64 = 100_000;
const READS: i64 = 5_000;
const INSERTS: i64 = 5_000;

static READ: Sql = Sql::new("SELECT v FROM kv WHERE k = ?1");
static INSERT: Sql = Sql::new("INSERT INTO log (k, v) VALUES (?1, ?2)");

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Keys in a scrambled order, the same on both sides.
fn keys() -> impl Iterator<Item = i64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % ROWS as u64) as i64
    })
}

fn reads_through_the_seam(session: &mut dyn Session) -> f64 {
    let start = cpu_seconds();
    let mut sum = 0;
    for key in keys().take(READS as usize) {
        session
            .query_first(&READ, Params::of(&[key.into()]), &mut |row| {
                sum += row.get::<i64>(0)?;
                Ok(())
            })
            .expect("a read");
    }
    std::hint::black_box(sum);
    READS as f64 / (cpu_seconds() - start)
}

fn inserts_through_the_seam(session: &mut dyn Session) -> f64 {
    let start = cpu_seconds();
    session.begin(Isolation::Serializable, Access::Write).expect("begin");
    for key in 0..INSERTS {
        session.execute(&INSERT, Params::of(&[key.into(), "a text of some length".into()])).expect("an insert");
    }
    session.rollback().expect("rollback");
    INSERTS as f64 / (cpu_seconds() - start)
}

/// Direct calls of the C library.
struct Raw {
    db: *mut ffi::sqlite3,
    read: *mut ffi::sqlite3_stmt,
    insert: *mut ffi::sqlite3_stmt,
}

impl Raw {
    fn open(path: &str) -> Self {
        let path = CString::new(path).expect("no zero byte");
        let mut db = ptr::null_mut();
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_NOMUTEX;
        // SAFETY: as in a C program: valid texts and out pointers, results checked.
        unsafe {
            assert_eq!(ffi::sqlite3_open_v2(path.as_ptr(), &mut db, flags, ptr::null()), ffi::SQLITE_OK);
        }
        let mut this = Self { db, read: ptr::null_mut(), insert: ptr::null_mut() };
        this.exec(c"PRAGMA cache_size = -65536");
        this.read = this.prepare(c"SELECT v FROM kv WHERE k = ?1");
        this.insert = this.prepare(c"INSERT INTO log (k, v) VALUES (?1, ?2)");
        this
    }

    fn exec(&self, sql: &CStr) {
        // SAFETY: the connection is open; no callback.
        let code = unsafe { ffi::sqlite3_exec(self.db, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(code, ffi::SQLITE_OK);
    }

    fn prepare(&self, sql: &CStr) -> *mut ffi::sqlite3_stmt {
        let mut stmt = ptr::null_mut();
        // SAFETY: the connection is open; the text ends in zero.
        let code = unsafe {
            let flags = ffi::SQLITE_PREPARE_PERSISTENT;
            ffi::sqlite3_prepare_v3(self.db, sql.as_ptr(), -1, flags, &mut stmt, ptr::null_mut())
        };
        assert_eq!(code, ffi::SQLITE_OK);
        stmt
    }

    fn reads(&self) -> f64 {
        let start = cpu_seconds();
        let mut sum = 0;
        for key in keys().take(READS as usize) {
            // SAFETY: the statement is prepared on an open connection.
            unsafe {
                ffi::sqlite3_bind_int64(self.read, 1, key);
                if ffi::sqlite3_step(self.read) == ffi::SQLITE_ROW {
                    sum += ffi::sqlite3_column_int64(self.read, 0);
                }
                ffi::sqlite3_reset(self.read);
            }
        }
        std::hint::black_box(sum);
        READS as f64 / (cpu_seconds() - start)
    }

    fn inserts(&self) -> f64 {
        let start = cpu_seconds();
        self.exec(c"BEGIN IMMEDIATE");
        let text = "a text of some length";
        for key in 0..INSERTS {
            // SAFETY: the statement is prepared on an open connection; the text is static.
            unsafe {
                ffi::sqlite3_bind_int64(self.insert, 1, key);
                ffi::sqlite3_bind_text(self.insert, 2, text.as_ptr().cast(), text.len() as i32, ffi::SQLITE_STATIC());
                assert_eq!(ffi::sqlite3_step(self.insert), ffi::SQLITE_DONE);
                ffi::sqlite3_reset(self.insert);
            }
        }
        self.exec(c"ROLLBACK");
        INSERTS as f64 / (cpu_seconds() - start)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: each is finalized and closed once.
        unsafe {
            ffi::sqlite3_finalize(self.read);
            ffi::sqlite3_finalize(self.insert);
            ffi::sqlite3_close(self.db);
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Alternates rounds of both sides, reversing the order each time; prints the median rates and the median of their
/// ratios.
fn compare(what: &str, rounds: usize, mut seam: impl FnMut() -> f64, mut raw: impl FnMut() -> f64) {
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let (a, b) = if round % 2 == 0 {
            let a = seam();
            (a, raw())
        } else {
            let b = raw();
            (seam(), b)
        };
        ours.push(a);
        theirs.push(b);
        ratios.push(a / b);
    }
    println!("{what:38} seam {:>9.0}/s  C {:>9.0}/s  ratio {:.3}", median(ours), median(theirs), median(ratios));
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(801);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("point_read.db");
    let engine = bourse_engine_sqlite::open(&format!("sqlite:{}", path.display())).expect("a target");
    let mut loader = engine.loader().expect("a loader");
    for sql in [
        "CREATE TABLE kv (k INTEGER PRIMARY KEY, v INTEGER NOT NULL)",
        "CREATE TABLE log (k INTEGER PRIMARY KEY, v TEXT NOT NULL)",
    ] {
        loader.run(sql).expect("DDL");
    }
    let fill = format!(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS} - 1)
         INSERT INTO kv SELECT i, i * 7 FROM n"
    );
    loader.run(&fill).expect("rows");
    loader.finish().expect("a load");

    let mut session = engine.session().expect("a session");
    let raw = Raw::open(path.to_str().expect("a UTF-8 path"));
    compare(
        "point read, each its own transaction",
        rounds / 4,
        || reads_through_the_seam(&mut *session),
        || raw.reads(),
    );
    session.begin(Isolation::Serializable, Access::Read).expect("begin");
    raw.exec(c"BEGIN");
    compare("point read, within one", rounds, || reads_through_the_seam(&mut *session), || raw.reads());
    session.commit().expect("commit");
    raw.exec(c"COMMIT");
    compare("insert", rounds, || inserts_through_the_seam(&mut *session), || raw.inserts());
}
