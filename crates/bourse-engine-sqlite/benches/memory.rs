//! Which kind of memory serves sessions of several threads best.
//!
//! Each thread runs transactions of a hundred point reads and, one in five, of ten updates, on a table of 200,000 rows.
//! Rounds of the targets take turns; the median of the rounds is printed.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_engine::{Access, Engine, EngineError, Isolation, Session, Sql, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static READ: Sql = Sql::new("SELECT n FROM t WHERE id = ?1");
static WRITE: Sql = Sql::new("UPDATE t SET n = n + 1 WHERE id = ?1");
static ADD: Sql = Sql::new("INSERT INTO t VALUES (?1, 0, ?2)");

const ROWS: i64 = 200_000;
const TARGETS: [&str; 3] =
    ["sqlite::memory:?memory=ram", "sqlite::memory:?memory=memdb", "sqlite::memory:?memory=shared"];
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(1);

fn main() -> Result<(), EngineError> {
    let engines = TARGETS.map(|target| bourse_engine_sqlite::open(target).expect("the targets of this file are right"));
    for engine in &engines {
        fill(engine)?;
    }
    println!("{:<34} {:>7} {:>16}", "target", "threads", "transactions/s");
    for threads in [1, 2, 4] {
        let mut rates = TARGETS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (engine, rates) in engines.iter().zip(&mut rates) {
                rates.push(round(engine, threads));
            }
        }
        for (target, rates) in TARGETS.iter().zip(&mut rates) {
            rates.sort_by(f64::total_cmp);
            println!("{target:<34} {threads:>7} {:>16.0}", rates[ROUNDS / 2]);
        }
    }
    Ok(())
}

fn fill(engine: &dyn Engine) -> Result<(), EngineError> {
    let mut loader = engine.loader()?;
    loader.run("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, pad TEXT)")?;
    loader.finish()?;
    let mut session = engine.connect()?;
    let pad = "x".repeat(120);
    session.begin(Isolation::Serializable, Access::Write)?;
    for id in 0..ROWS {
        session.execute(&ADD, &[id.into(), Value::Text(&pad)])?;
    }
    session.commit()
}

/// Transactions a second.
fn round(engine: &dyn Engine, threads: u64) -> f64 {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (stop, done) = (&stop, &done);
            scope.spawn(move || {
                let mut session = engine.connect().expect("a session can be had");
                let mut random = thread;
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    match transaction(session.as_mut(), number % 5 == 0, &mut random) {
                        Ok(()) => _ = done.fetch_add(1, Ordering::Relaxed),
                        Err(_) => session.rollback().expect("a rollback is always allowed"),
                    }
                }
            });
        }
        std::thread::sleep(ROUND);
        stop.store(true, Ordering::Relaxed);
    });
    done.into_inner() as f64 / start.elapsed().as_secs_f64()
}

fn transaction(session: &mut dyn Session, writes: bool, random: &mut u64) -> Result<(), EngineError> {
    session.begin(Isolation::Serializable, if writes { Access::Write } else { Access::Read })?;
    for _ in 0..if writes { 10 } else { 100 } {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = Value::Int((*random >> 33) as i64 % ROWS);
        if writes {
            session.execute(&WRITE, &[id])?;
        } else {
            session.query(&READ, &[id], &mut |_| Ok(()))?;
        }
    }
    session.commit()
}
