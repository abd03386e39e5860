//! `point-read` and `bulk-load` on SQLite, compared with a C program that does the same with the same library: both run
//! concurrently, in turns of 20 ms, each on a separate database that is created anew for each pair. Prints the rate of
//! each, and the ratio of each pair, which should be 0.98 or better.
//!
//! `cargo bench -p bourse-bench --bench rows -- [PAIRS] [PART OF A NAME]`.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_bench::{CREATE, CSession, Relay, RelayPlace, Side};
use bourse_driver::{MS, SECOND};
use bourse_engine::Engine as _;
use bourse_micro::{TimedOperations, Timing, find, run_round};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ROWS: u64 = 100_000;
/// Rows of a load: so many that the start of a round, some hundred microseconds on either side, is negligible.
const LOADED: u64 = 500_000;
const TEXT_BYTES: usize = 100;
/// Warm-up after which every connection has all pages in its cache.
const WARM_UP_NS: u64 = 500 * MS;
const MEASURE_NS: u64 = 500 * MS;
/// Number of operations timed together.
const OPERATIONS_PER_TIMING: u32 = 200;

/// Location of the rows on either side.
struct Place {
    name: &'static str,
    /// Target of Bourse.
    target: String,
    /// Name that the C program opens.
    c_name: String,
    c_setup: &'static str,
    is_file: bool,
}

/// Bourse's file system in memory, which the engine registers with SQLite.
const RAM: &str = "bourse-ram";
/// Name of the C program's database in it.
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

/// Rate of Bourse.
fn ours(
    workload: &str,
    target: &str,
    options: &[(&str, &str)],
    seed: u64,
    (relay, side): (&Arc<Relay>, Side),
) -> Result<f64> {
    let engine = bourse_engine_sqlite::open(target)?;
    let case = find(workload)?.plan(options.iter().copied())?;
    let timing = Timing {
        warm_up_ns: WARM_UP_NS,
        measure_ns: Some(MEASURE_NS),
        count: None,
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let is_load = workload == "bulk-load";
    let timing = if is_load { Timing { measure_ns: None, ..timing } } else { timing };
    let clock = relay.clock(side, if is_load { "loader" } else { "reader" });
    Ok(run_round(&case, &engine, &timing, seed, &clock, &AtomicBool::new(false), &mut |_| {})?.round.headline)
}

fn a_second(count: u64, ns: u64) -> f64 {
    count as f64 * SECOND as f64 / ns as f64
}

/// A new database of the C program, with its table.
fn created_in_c(place: &Place) -> Result<CSession> {
    if place.is_file {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", place.c_name));
        }
    }
    // A database in memdb disappears with its last connection; one in Bourse's file system stays.
    CSession::remove(RAM, IN_RAM)?;
    Ok(CSession::open(&place.c_name, &format!("{}; {CREATE}", place.c_setup))?)
}

/// Creates the rows and returns a connection for each thread to read them. Like Bourse, it creates its rows first: a
/// machine that has just written behaves differently.
fn readers_in_c(place: &Place, threads: usize) -> Result<Vec<CSession>> {
    let mut made = created_in_c(place)?;
    made.inserts(ROWS, TEXT_BYTES, &mut alone()?)?;
    // A database in memory exists as long as a connection to it. A file's log is removed with the last connection, and
    // without it SQLite reads the file's length before each read: so on both sides.
    let _made = (!place.is_file).then_some(made);
    let open = || CSession::open(&place.c_name, place.c_setup);
    Ok(std::iter::repeat_with(open).take(threads).collect::<std::result::Result<Vec<_>, _>>()?)
}

/// A place in a relay without other participants.
fn alone() -> Result<RelayPlace> {
    let relay = Relay::new(1);
    relay.closes(Side::Second);
    relay.place(Side::First).ok_or_else(|| "a new relay has a place".into())
}

/// Runs the two sides of a pair concurrently: Bourse on `side`, and the C program, whose threads each do `theirs` on a
/// connection. Returns both rates.
fn pair(
    side: Side,
    ours: impl Fn((&Arc<Relay>, Side)) -> Result<f64>,
    sessions: Vec<CSession>,
    theirs: impl Fn(&mut CSession, u64, &mut RelayPlace) -> Result<f64> + Sync,
) -> Result<(f64, f64)> {
    let relay = Relay::new(sessions.len());
    let theirs = &theirs;
    std::thread::scope(|scope| {
        let play = |(thread, mut session): (usize, CSession)| {
            let mut place = relay.place(side.other()).expect("one for each connection");
            scope.spawn(move || theirs(&mut session, thread as u64, &mut place))
        };
        let started: Vec<_> = sessions.into_iter().enumerate().map(play).collect();
        let ours = ours((&relay, side));
        // Also if Bourse's side failed before it began: the C program's threads would wait for it forever.
        relay.closes(side);
        let rates = started.into_iter().map(|thread| thread.join().expect("the C program's threads do not panic"));
        let theirs = rates.sum::<Result<f64>>();
        Ok((ours?, theirs?))
    })
}

fn compare(name: &str, pairs: usize, mut pair: impl FnMut(u64, Side) -> Result<(f64, f64)>) -> Result<()> {
    // The side that is first finishes first, and the other has its last turn alone.
    let sides = [Side::First, Side::Second].into_iter().cycle();
    let pairs = (0..pairs as u64).zip(sides).map(|(number, side)| pair(1_000 * number, side));
    let rates = pairs.collect::<Result<Vec<_>>>()?;
    let quartiles = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = rates.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        (values[values.len() / 2], values[values.len() / 4], values[values.len() * 3 / 4])
    };
    let (ratio, low, high) = quartiles(|rates| rates.0 / rates.1);
    let (ours, theirs) = (quartiles(|rates| rates.0).0, quartiles(|rates| rates.1).0);
    println!("{name:<50} {ours:>10.0} {theirs:>10.0} {ratio:>7.3} {low:>7.3} {high:>7.3}");
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let pairs: usize = arguments.next().map_or(Ok(31), |text| text.parse())?;
    let wanted = arguments.next().unwrap_or_default();
    let folder = tempfile::tempdir()?;
    // Makes our file system in memory known to SQLite, for the C program too.
    drop(bourse_engine_sqlite::open("sqlite::memory:")?.session()?);
    println!("{:<50} {:>10} {:>10} {:>7} {:>7} {:>7}", "a second", "bourse", "C", "ratio", "25 %", "75 %");
    let (rows, loaded, together) = (ROWS.to_string(), LOADED.to_string(), OPERATIONS_PER_TIMING.to_string());
    for place in places(folder.path()) {
        for threads in [1usize, 2] {
            let name = format!("point-read, {}, threads={threads}", place.name);
            if name.contains(&wanted) {
                let number = threads.to_string();
                let options = [("rows", &*rows), ("threads", &*number), ("batch", &*together)];
                compare(&name, pairs, |seed, side| {
                    let ours = |seat: (&Arc<Relay>, Side)| ours("point-read", &place.target, &options, seed, seat);
                    pair(side, ours, readers_in_c(&place, threads)?, |session, thread, turn| {
                        let read =
                            session.reads(ROWS, seed + thread, OPERATIONS_PER_TIMING, WARM_UP_NS, MEASURE_NS, turn)?;
                        Ok(a_second(read.count, read.ns))
                    })
                })?;
            }
        }
        let name = format!("bulk-load in one transaction, {}", place.name);
        if name.contains(&wanted) {
            compare(&name, pairs, |seed, side| {
                let ours =
                    |seat: (&Arc<Relay>, Side)| ours("bulk-load", &place.target, &[("rows", &*loaded)], seed, seat);
                pair(side, ours, vec![created_in_c(&place)?], |session, _, turn| {
                    Ok(a_second(LOADED, session.inserts(LOADED, TEXT_BYTES, turn)?))
                })
            })?;
        }
    }
    Ok(())
}
