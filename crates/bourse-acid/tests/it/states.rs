//! Power losses enumerated.

use bourse_acid::states::{Cases, StatesOptions, enumerate};
use std::sync::atomic::AtomicBool;

#[test]
fn measure() {
    let states = std::env::var("STATES").ok().and_then(|it| it.parse().ok());
    let fault_runs = std::env::var("RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let cases = if std::env::var("ALL").is_ok() { Cases::All } else { Cases::Usual };
    let options = StatesOptions { cases, states, seed: 1, fault_runs };
    let found = enumerate(&options, &AtomicBool::new(false), &|_| ()).unwrap();
    for row in &found.rows {
        println!(
            "{:28} {:10} {:10} ops {:6} syncs {:5} points {:5}/{:5} states {:7} distinct {:7} {:6.1}s {:7.0}/s lossy {} most {} corrupt {} broken {}",
            row.case,
            row.class,
            row.promised,
            row.operations,
            row.syncs,
            row.exhaustive_points,
            row.points,
            row.states,
            row.distinct,
            row.took_s,
            row.states as f64 / row.took_s,
            row.lossy,
            row.most_lost,
            row.corrupted,
            row.broken
        );
        if let Some(it) = &row.recovery {
            println!("      recovery {} states {} broken {} {:?}", it.recoveries, it.states, it.broken, it.example);
        }
        for example in row.examples.iter().take(2) {
            println!("      {} acked {}: {} {}", example.state, example.acknowledged, example.found, example.broken);
        }
    }
    for row in &found.faults {
        println!(
            "{:28} {:12} found {} of {}, {} of {} states",
            row.fault, row.case, row.found, row.runs, row.broken, row.states
        );
    }
    println!("{} states in {:.1} s", found.states, found.took_s);
}
