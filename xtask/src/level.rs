//! The level of comparisons, by simulated sessions of A against A: the table of docs/measuring.md.

use bourse_stats::sessions::{Noise, Order, simulate};

/// Prints how often the interval of A against A does not hold 1, for each kind of noise, in either order.
pub(crate) fn print(sessions: Option<&str>) -> Result<(), String> {
    let sessions: u32 = match sessions {
        None => 10_000,
        Some(typed) => typed.parse().map_err(|_| format!("expected a number of sessions, found '{typed}'"))?,
    };
    println!("{sessions} sessions of A against A for each row; missed: the interval does not hold 1\n");
    println!("| pairs | noise | may miss | missed, random order | missed, alternating order |");
    println!("|---:|---|---:|---:|---:|");
    for pairs in [6, 7, 8, 12] {
        for noise in Noise::KINDS {
            let [random, alternating] = [Order::Random, Order::Alternating].map(|order| {
                simulate(sessions, pairs, noise, order).ok_or_else(|| format!("{pairs} pairs have no interval"))
            });
            let (random, alternating) = (random?, alternating?);
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let (allowed, name) = (percent(random.allowed), noise.name);
            println!("| {pairs} | {name} | {allowed} | {} | {} |", percent(random.missed), percent(alternating.missed));
        }
    }
    Ok(())
}
