//! Short rounds with each number of customers and market users in turn, on one database: to choose the number of users.
//!
//! `cargo run --release -p bourse-tpce --example rounds -- sqlite::memory: 1,2,4 1,2 10` loads 1,000 customers with ten
//! days and prints a line a round: Trade-Results and transactions a second, response times, pauses, processor time.

use bourse_driver::{RealClock, RoundPlan, SECOND};
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine as _;
use bourse_engine_sqlite::open;
use bourse_record::{CheckStatus, LatencySummary, Outcome};
use bourse_tpce::load::{LoadOptions, load};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{RunOptions, RunResult, run, verify};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

#[expect(clippy::print_stdout, reason = "an experiment prints its result")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| arguments.get(at).map_or(default, String::as_str).to_owned();
    let numbers =
        |text: String| -> Vec<usize> { text.split(',').map(|word| word.parse().expect("a number")).collect() };
    let seconds: u64 = argument(3, "10").parse().expect("a number of seconds");
    let part = Part::whole(1_000, 10).expect("a valid part");
    let inputs = Inputs::builtin();
    let engine = open(&argument(0, "sqlite::memory:")).expect("a target of SQLite");
    if !engine.exists().expect("the target can be looked at") {
        let options = LoadOptions { threads: 2, ..LoadOptions::default() };
        load(&engine, &inputs, part, &options, &mut |_| ControlFlow::Continue(())).expect("loads");
    }
    println!("users market    TR/s    tx/s  TR p50  TR p90  TO p90  TS p90 ms  late failed pause s  cpu s/s wait s/s");
    for seed in 0..2 {
        for users in numbers(argument(1, "1,2,4")) {
            for market_users in numbers(argument(2, "1,2")) {
                let plan = RoundPlan { warm_up_ns: 5 * SECOND, measure_ns: seconds * SECOND, ..RoundPlan::default() };
                let options = RunOptions { users, market_users, plan, seed, ..RunOptions::new(part) };
                let clock = RealClock::start();
                let ran = run(&engine, &inputs, &options, &clock, &AtomicBool::new(false), &mut |_| {}).expect("runs");
                println!("{users:5} {market_users:6} {}", line(&ran, seconds));
                if seed == 1 {
                    let checks = verify(&engine, part, Some(&ran), &clock, &mut |_| {}).expect("checks");
                    let failed = checks.iter().filter(|check| check.status == CheckStatus::Failed);
                    failed.for_each(|check| println!("FAILED {}: {}", check.name, check.evidence));
                }
            }
        }
    }
}

fn line(ran: &RunResult, seconds: u64) -> String {
    let round = &ran.round;
    let ms = |transaction: Transaction, of: fn(&LatencySummary) -> u64| {
        of(&round.operations[transaction as usize].response.summary) as f64 / 1e6
    };
    let all: u64 = round.operations.iter().map(bourse_record::Operation::ended).sum();
    let outcomes = round.operations.iter().flat_map(|operation| &operation.outcomes);
    let failed: u64 = outcomes.filter(|it| it.outcome == Outcome::Failed).map(|it| it.count).sum();
    let pause = round.facts.iter().find(|fact| fact.name == "pacing").map_or("", |fact| &fact.value);
    let waits = round.series.column("lock_wait").unwrap_or_default();
    let waits = waits.iter().skip(5).take(seconds as usize).flatten().sum::<f64>() / seconds as f64;
    format!(
        "{:7.1} {:7.0} {:7.2} {:7.2} {:7.2} {:7.2}    {:5} {failed:6} {:>7} {:8.2} {waits:8.2}",
        round.headline,
        all as f64 / round.measured_s,
        ms(Transaction::TradeResult, |it| it.p50_ns),
        ms(Transaction::TradeResult, |it| it.p90_ns),
        ms(Transaction::TradeOrder, |it| it.p90_ns),
        ms(Transaction::TradeStatus, |it| it.p90_ns),
        round.operations.iter().map(|operation| operation.late).sum::<u64>(),
        pause.split(' ').nth(2).unwrap_or_default(),
        (round.cpu_user_s + round.cpu_system_s) / round.measured_s,
    )
}
