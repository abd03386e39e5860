//! Four concurrent users, each of which performs three read transactions and one write transaction in turn, with each
//! storage of a database and each way to wait for the writer lock. Prints transactions a second and the longest wait of
//! each kind.
//!
//! `cargo bench -p bourse-engine-sqlite --bench contention [SECONDS] [NAME]`; only lines with NAME in their name are run

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use bourse_engine::{Access, Engine, ErrorKind, Isolation, Params, Result, RowExt as _, Session, SessionExt as _, Sql};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ROWS: i64 = 100_000;
const USERS: u64 = 4;

static READ: Sql = Sql::new("SELECT v FROM kv WHERE k = ?1");
static WRITE: Sql = Sql::new("UPDATE kv SET v = ?2 WHERE k = ?1");
static ADD: Sql = Sql::new("INSERT INTO log (v) VALUES (?1)");

#[derive(Default)]
struct Counts {
    reads: u64,
    writes: u64,
    conflicts: u64,
    read_us: Vec<u32>,
    write_us: Vec<u32>,
}

fn load(engine: &dyn Engine) -> Result<()> {
    let mut loader = engine.loader()?;
    loader.run("CREATE TABLE kv (k INTEGER PRIMARY KEY, v INTEGER NOT NULL)")?;
    loader.run("CREATE TABLE log (k INTEGER PRIMARY KEY, v INTEGER NOT NULL)")?;
    loader.run(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS} - 1)
         INSERT INTO kv SELECT i, i * 7 FROM n"
    ))?;
    loader.finish()
}

/// Performs twenty reads in a transaction, or four reads, four changes and an insert.
fn transaction(session: &mut dyn Session, access: Access, key: &mut u64) -> Result<()> {
    session.begin(Isolation::Serializable, access)?;
    let statements = if access == Access::Read { 20 } else { 4 };
    for _ in 0..statements {
        *key ^= *key << 13;
        *key ^= *key >> 7;
        *key ^= *key << 17;
        let k = (*key % ROWS as u64) as i64;
        let v: i64 = session.first(&READ, &[k.into()], |row| row.get(0))?.expect("the row is there");
        if access == Access::Write {
            session.execute(&WRITE, Params::of(&[k.into(), (v + 1).into()]))?;
        }
    }
    if access == Access::Write {
        session.execute(&ADD, Params::of(&[1.into()]))?;
    }
    session.commit()
}

fn user(engine: &dyn Engine, number: u64, over: &AtomicBool) -> Counts {
    let mut session = engine.session().expect("a session");
    let mut counts = Counts::default();
    let mut key = 0x9E37_79B9_7F4A_7C15 ^ (number << 32);
    while !over.load(Ordering::Relaxed) {
        let access = if (counts.reads + counts.writes + number) % 4 == 3 { Access::Write } else { Access::Read };
        let start = Instant::now();
        loop {
            match transaction(&mut *session, access, &mut key) {
                Ok(()) => break,
                Err(e) if e.kind() == ErrorKind::Conflict => {
                    counts.conflicts += 1;
                    session.rollback().expect("a rollback");
                }
                Err(e) => panic!("{e}"),
            }
        }
        let us = u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX);
        if access == Access::Write {
            counts.writes += 1;
            counts.write_us.push(us);
        } else {
            counts.reads += 1;
            counts.read_us.push(us);
        }
    }
    counts
}

fn quantiles(mut us: Vec<u32>) -> String {
    us.sort_unstable();
    let at = |q: f64| us.get(((us.len() as f64 * q) as usize).min(us.len().saturating_sub(1))).copied().unwrap_or(0);
    format!("{:>6} {:>7} {:>8}", at(0.5), at(0.99), at(1.0))
}

fn measure(name: &str, target: &str, time: Duration) {
    let is_number = |argument: &String| argument.parse::<f64>().is_ok();
    let filter = std::env::args().skip(1).find(|argument| !is_number(argument) && !argument.starts_with('-'));
    if filter.is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let engine = bourse_engine_sqlite::open(target).expect("a target");
    load(&engine).expect("a load");
    let over = AtomicBool::new(false);
    let start = Instant::now();
    let mut all = Counts::default();
    std::thread::scope(|scope| {
        let users: Vec<_> = (0..USERS)
            .map(|number| {
                scope.spawn({
                    let (engine, over) = (&engine, &over);
                    move || user(engine, number, over)
                })
            })
            .collect();
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        for user in users {
            let counts = user.join().expect("a user");
            all.reads += counts.reads;
            all.writes += counts.writes;
            all.conflicts += counts.conflicts;
            all.read_us.extend(counts.read_us);
            all.write_us.extend(counts.write_us);
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let footprint = engine.footprint().expect("sizes");
    println!(
        "{name:28} {:>8.0} {:>8.0} {:>6} | {} | {} | {:>6.1} s in locks",
        all.reads as f64 / seconds,
        all.writes as f64 / seconds,
        all.conflicts,
        quantiles(all.read_us),
        quantiles(all.write_us),
        footprint.locks.expect("SQLite's waits are counted").wait_ns as f64 / 1e9,
    );
}

fn main() {
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(3.0);
    let time = Duration::from_secs_f64(seconds);
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = |query: &str| format!("sqlite:{}?{query}", disk.path().join("x.db").display());
    println!("{:28} {:>8} {:>8} {:>6} | reads: 50 % 99 % max µs | writes", "", "reads/s", "writes/s", "confl.");
    for round in 1..=2 {
        println!("round {round}");
        for writers in ["queue", "busy"] {
            measure(&format!("file wal full {writers}"), &file(&format!("writers={writers}")), time);
            measure(&format!("file wal off {writers}"), &file(&format!("sync=off&writers={writers}")), time);
            measure(
                &format!("file delete off {writers}"),
                &file(&format!("journal=delete&sync=off&writers={writers}")),
                time,
            );
            measure(&format!("memory {writers}"), &format!("sqlite::memory:?writers={writers}"), time);
            measure(
                &format!("memory memdb {writers}"),
                &format!("sqlite::memory:?memory=memdb&writers={writers}"),
                time,
            );
            measure(
                &format!("memory shared {writers}"),
                &format!("sqlite::memory:?shared_cache=on&writers={writers}"),
                time,
            );
            if let Ok(shm) = tempfile::tempdir_in("/dev/shm") {
                let target = format!("sqlite:{}?sync=off&writers={writers}", shm.path().join("x.db").display());
                measure(&format!("tmpfs wal off {writers}"), &target, time);
            }
        }
    }
}
