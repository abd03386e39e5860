//! `point-read` and `bulk-load` on SQLite against a C program that does the same with the same library: rounds in turn
//! (A B B A), the rate of each, and the ratio of each pair. The ratio is to be 0.98 or better.
//!
//! `cargo bench -p bourse-bench --bench rows [wall|cpu] [PAIRS] [PART OF A NAME]`. With `cpu` seconds are the process's
//! processor time: other work on the machine cancels out, and so does waiting for the disk.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_bench::{CREATE, CSession, Time};
use bourse_driver::{Clock, MS, Nanos, RealClock, SECOND};
use bourse_micro::{Timing, find, run_round};
use std::error::Error;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROWS: u64 = 100_000;
/// Rows of a load: so many that the start of a round, some hundred microseconds on either side, is nothing beside them.
const LOADED: u64 = 500_000;
const WIDTH: usize = 100;
const WARM_UP_NS: u64 = 100 * MS;
const MEASURE_NS: u64 = 300 * MS;
/// Operations that are timed together: many, since processor time is dear to read.
const TOGETHER: u32 = 200;

/// Processor time of the process, as a clock.
struct ProcessorClock(RealClock);

impl Clock for ProcessorClock {
    fn now(&self) -> Nanos {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as u64 * SECOND + time.tv_nsec as u64
    }
    fn sleep_until(&self, _: Nanos) {}
    fn timestamp(&self) -> bourse_schema::Timestamp {
        self.0.timestamp()
    }
}

/// Where the rows are, on either side.
struct Place {
    name: &'static str,
    /// Our target.
    target: String,
    /// What the C program opens.
    c_name: String,
    c_setup: &'static str,
    is_file: bool,
}

/// Our file system in memory, which the engine makes known to SQLite.
const RAM: &str = "bourse-ram";
/// The C program's database in it.
const IN_RAM: &str = "/yardstick";

fn places(folder: &Path) -> Vec<Place> {
    let file = |name, file: &str, c_setup| Place {
        name,
        target: format!("sqlite:{}", folder.join(file).display()),
        c_name: folder.join(format!("c-{file}")).display().to_string(),
        c_setup,
        is_file: true,
    };
    let memory = |name, target: &str, c_name: &str, c_setup| Place {
        name,
        target: target.to_owned(),
        c_name: c_name.to_owned(),
        c_setup,
        is_file: false,
    };
    let cache = "PRAGMA cache_size = -65536";
    let as_ours = "PRAGMA journal_mode = WAL; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536";
    vec![
        file("file", "rows.db", "PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536"),
        memory("memory", "sqlite::memory:", &format!("file:{IN_RAM}?vfs={RAM}"), as_ours),
        memory("memory=memdb", "sqlite::memory:?memory=memdb", "file:/yardstick-a?vfs=memdb", cache),
        memory("memory against memdb", "sqlite::memory:", "file:/yardstick-b?vfs=memdb", cache),
    ]
}

/// Rate of ours.
fn ours(workload: &str, target: &str, options: &[(&str, &str)], seed: u64, time: Time) -> Result<f64> {
    let engine = bourse_engine_sqlite::open(target)?;
    let case = find(workload)?.plan(options.iter().copied())?;
    let timing = Timing { warm_up_ns: WARM_UP_NS, measure_ns: Some(MEASURE_NS), count: None };
    let timing = if workload == "bulk-load" { Timing { measure_ns: None, ..timing } } else { timing };
    let wall = RealClock::start();
    let processor = ProcessorClock(wall.clone());
    let clock: &dyn Clock = if time == Time::Wall { &wall } else { &processor };
    Ok(run_round(&case, &engine, &timing, seed, clock, &AtomicBool::new(false), &mut |_| {})?.round.headline)
}

fn a_second(count: u64, ns: u64) -> f64 {
    count as f64 * SECOND as f64 / ns as f64
}

/// A new database of the C program, with its table in it.
fn created_in_c(place: &Place) -> Result<CSession> {
    if place.is_file {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", place.c_name));
        }
    }
    // What is in memdb goes with its last connection; what is in our file system stays.
    CSession::remove(RAM, IN_RAM)?;
    Ok(CSession::open(&place.c_name, &format!("{}; {CREATE}", place.c_setup))?)
}

fn reads_in_c(place: &Place, threads: usize, seed: u64, time: Time) -> Result<f64> {
    // As ours, it makes its rows first: a machine that has just written is another than one that has not. What is in
    // memory stays as long as a connection to it.
    let mut made = created_in_c(place)?;
    made.inserts(ROWS, WIDTH, time)?;
    let made = (!place.is_file).then_some(made);
    let open = || CSession::open(&place.c_name, place.c_setup);
    let sessions = std::iter::repeat_with(open).take(threads).collect::<std::result::Result<Vec<_>, _>>()?;
    let begin = Barrier::new(threads);
    let run = &|mut session: CSession, seed| {
        session.reads(ROWS, seed, TOGETHER, WARM_UP_NS, time)?;
        begin.wait();
        let done = session.reads(ROWS, seed + 1, TOGETHER, MEASURE_NS, time)?;
        Ok(a_second(done.count, done.ns))
    };
    let rates = std::thread::scope(|scope| {
        let start = |(session, seed)| scope.spawn(move || run(session, seed));
        let started: Vec<_> = sessions.into_iter().zip(seed..).map(start).collect();
        started.into_iter().map(|thread| thread.join().expect("reading does not panic")).collect::<Result<Vec<f64>>>()
    })?;
    drop(made);
    Ok(rates.iter().sum())
}

/// On a thread of its own, as ours: memory that the main thread has used before is no advantage.
fn inserts_in_c(place: &Place, time: Time) -> Result<f64> {
    let mut session = created_in_c(place)?;
    let insert = || session.inserts(LOADED, WIDTH, time);
    let ns = std::thread::scope(|scope| scope.spawn(insert).join().expect("inserting does not panic"))?;
    Ok(a_second(LOADED, ns))
}

/// Pairs of both sides in turn, the order turned each time.
fn compare(
    name: &str,
    pairs: usize,
    mut ours: impl FnMut(u64) -> Result<f64>,
    mut theirs: impl FnMut(u64) -> Result<f64>,
) -> Result<()> {
    let mut found = Vec::new();
    for pair in 0..pairs {
        let seed = 1_000 * pair as u64;
        let (a, b) = if pair % 2 == 0 {
            let a = ours(seed)?;
            (a, theirs(seed)?)
        } else {
            let b = theirs(seed)?;
            (ours(seed)?, b)
        };
        found.push((a, b, a / b));
    }
    let median = |of: fn(&(f64, f64, f64)) -> f64| {
        let mut values: Vec<f64> = found.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2], values[values.len() / 4], values[values.len() * 3 / 4])
    };
    let (ratio, low, high) = median(|it| it.2);
    let (a, b) = (median(|it| it.0).0, median(|it| it.1).0);
    println!("{name:<42} {a:>10.0} {b:>10.0} {ratio:>7.3} {low:>7.3} {high:>7.3}");
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench").peekable();
    let time = arguments.next_if(|argument| argument == "wall" || argument == "cpu");
    let time = if time.is_some_and(|word| word == "cpu") { Time::Processor } else { Time::Wall };
    let pairs: usize = arguments.next().map_or(Ok(31), |text| text.parse())?;
    let wanted = arguments.next().unwrap_or_default();
    let folder = tempfile::tempdir()?;
    println!("{:<42} {:>10} {:>10} {:>7} {:>7} {:>7}", "a second", "bourse", "C", "ratio", "25 %", "75 %");
    let (rows, loaded, together) = (ROWS.to_string(), LOADED.to_string(), TOGETHER.to_string());
    for place in places(folder.path()) {
        for threads in [1usize, 2] {
            let name = format!("point-read, {}, threads={threads}", place.name);
            if name.contains(&wanted) {
                let number = threads.to_string();
                let options = [("rows", &*rows), ("threads", &*number), ("batch", &*together)];
                let ours = |seed| ours("point-read", &place.target, &options, seed, time);
                compare(&name, pairs, ours, |seed| reads_in_c(&place, threads, seed, time))?;
            }
        }
        let name = format!("bulk-load in one transaction, {}", place.name);
        if name.contains(&wanted) {
            let ours = |seed| ours("bulk-load", &place.target, &[("rows", &*loaded)], seed, time);
            compare(&name, pairs, ours, |_| inserts_in_c(&place, time))?;
        }
    }
    Ok(())
}
