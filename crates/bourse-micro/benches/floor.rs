//! Harness overhead of a classic workload's operation: the null engine, one sample an operation and in batches.
//!
//! `cargo bench -p bourse-micro --bench floor`

use bourse_driver::{Clock as _, MS, RealClock};
use bourse_engine::NullEngine;
use bourse_micro::{TimedOperations, Timing, find, run_round};
use std::sync::atomic::AtomicBool;

#[expect(clippy::print_stdout, reason = "a benchmark prints its result")]
fn main() {
    let timing = Timing {
        warm_up_ns: 50 * MS,
        measure_ns: Some(500 * MS),
        count: None,
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let never = AtomicBool::new(false);
    println!("a reading of the clock: {:.1} ns; a sample has two", reading_ns());
    for batch in ["1", "10", "100"] {
        for (name, options) in [("point-read", [("batch", batch)]), ("update", [("batch", batch)])] {
            let case = find(name).expect("it is there").plan(options).expect("its options are right");
            // The best of several rounds: time added by a busy machine is not the harness's.
            let best = (1..=5).map(|seed| {
                let clock = RealClock::start();
                let run = run_round(&case, &NullEngine, &timing, seed, &clock, &never, &mut |_| {});
                let round = run.expect("the null engine cannot fail").round;
                let operation = &round.operations[0];
                let each = round.measured_s * 1e9 / operation.valid() as f64;
                (each, operation.service.summary.mean_ns)
            });
            let (each, timed) = best.min_by(|a, b| a.0.total_cmp(&b.0)).expect("five rounds");
            println!("{name}, batches of {batch}: {each:.1} ns an operation in all, {timed:.1} ns of it timed");
        }
    }
}

/// Time of reading the clock, in nanoseconds: the best of several measurements.
fn reading_ns() -> f64 {
    const READINGS: u32 = 100_000;
    let clock = RealClock::start();
    let stretch = |_| {
        let from = clock.now();
        for _ in 0..READINGS {
            std::hint::black_box(clock.now());
        }
        (clock.now() - from) as f64 / f64::from(READINGS)
    };
    (0..20).map(stretch).fold(f64::INFINITY, f64::min)
}
