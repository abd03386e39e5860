//! The level of comparisons, by simulated sessions of A against A: the tables of docs/comparing.md.

use bourse_stats::sessions::{
    IntermittentDisturbance, PairOrder, RepeatRule, SessionNoise, simulate, simulate_repeats, simulate_sequential,
    simulate_tables,
};

/// Prints the rate of intervals of A against A that do not hold 1, for each kind of noise, in either order.
pub(crate) fn print(sessions: Option<&str>) -> Result<(), String> {
    let sessions: u32 = match sessions {
        None => 10_000,
        Some(typed) => typed.parse().map_err(|_| format!("expected a number of sessions, found '{typed}'"))?,
    };
    println!("{sessions} sessions of A against A for each row; missed: the interval does not hold 1\n");
    println!("| pairs | noise | may miss | missed, random order | missed, alternating order |");
    println!("|---:|---|---:|---:|---:|");
    for pairs in [6, 7, 8, 12] {
        for noise in SessionNoise::KINDS {
            let [random, alternating] = [PairOrder::Random, PairOrder::Alternating].map(|order| {
                simulate(sessions, pairs, noise, order).ok_or_else(|| format!("{pairs} pairs have no interval"))
            });
            let (random, alternating) = (random?, alternating?);
            let (allowed, name) = (percent(random.allowed), noise.name);
            println!("| {pairs} | {name} | {allowed} | {} | {} |", percent(random.missed), percent(alternating.missed));
        }
    }
    repeats(sessions)?;
    until_decided(sessions);
    tables(sessions);
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Prints the rate of misses with repeats of disturbed rounds.
fn repeats(sessions: u32) -> Result<(), String> {
    println!(
        "\n| pairs | a round is disturbed | stays so | no repeats | a budget for each side | whole pairs from one budget |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for pairs in [8, 16] {
        for machine in IntermittentDisturbance::KINDS {
            let rules = [RepeatRule::Never, RepeatRule::EachSide, RepeatRule::WholePairs];
            let missed = rules.map(|rule| simulate_repeats(sessions, pairs, machine, rule).map(percent));
            let [never, each, whole] = missed.map(|it| it.ok_or_else(|| format!("{pairs} pairs have no interval")));
            let (begins, stays) = (100.0 * machine.begins, 100.0 * machine.stays);
            println!("| {pairs} | {begins:.0} % | {stays:.0} % | {} | {} | {} |", never?, each?, whole?);
        }
    }
    Ok(())
}

/// Prints for a comparison of at most 32 pairs that ends when it is decided: the rates of misses and of decisions, and the
/// number of pairs.
fn until_decided(sessions: u32) {
    println!("\n| true difference | tolerance | missed | decided | pairs on average | missed by who adds pairs |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for (truth, tolerance) in [(1.0, 0.05), (0.97, 0.05), (0.95, 0.05), (0.93, 0.05), (0.9, 0.05), (1.0, 0.0)] {
        let found = simulate_sequential(sessions, 32, truth, tolerance, false);
        let added = simulate_sequential(sessions, 32, truth, tolerance, true);
        println!(
            "| {:.0} % | {:.0} % | {} | {} | {:.1} | {} |",
            100.0 * (truth - 1.0),
            100.0 * tolerance,
            percent(found.missed),
            percent(found.decided),
            found.pairs,
            percent(added.missed)
        );
    }
}

/// Prints the number of tables of equal cases with a ratio that excludes 1.
fn tables(sessions: u32) {
    println!("\n| equal cases | rounds | to the best, 95 % each | to the first, 95 % together |");
    println!("|---:|---:|---:|---:|");
    for (cases, rounds) in [(3, 7), (5, 8), (8, 6), (8, 9), (8, 12)] {
        let [best, first] = [true, false].map(|best| percent(simulate_tables(sessions, cases, rounds, best)));
        println!("| {cases} | {rounds} | {best} | {first} |");
    }
}
