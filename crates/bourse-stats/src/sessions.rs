//! Simulated sessions of A against A: rate at which the interval of the ratio misses 1, by kind of noise and by order.
//!
//! In each pair of rounds the order is random. Without a difference each pair's logarithm then has either sign with the
//! same probability, whatever its size and whatever the pairs before it, so the signed-rank level holds exactly: for
//! noise that lasts over several rounds, for bursts and for drift alike. The order A B, B A, A B … groups neighbouring
//! rounds of one side: if half of a round's noise lasts to the next, it misses 6.7 % instead of 4.7 (seven pairs).
#![cfg(test)]

use crate::repeats::Budget;
use crate::signed_rank::{level_of_each, ratio_of_pairs_at};
use crate::table::check;
use crate::{LEVEL, SplitMix, center, ratio_of_pairs, sequential};

/// Order of two cases in the pairs of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairOrder {
    /// A B, B A, A B …
    Alternating,
    /// Order drawn independently for each pair.
    Random,
}

/// Noise of a session's rounds, as parts of a round's figure.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SessionNoise {
    /// Description for tables.
    name: &'static str,
    /// Standard deviation of a round.
    deviation: f64,
    /// Share of a round's noise that is the noise of the round before.
    lasting: f64,
    /// Loss of the session from beginning to end.
    drift: f64,
    /// Probability that a round begins a burst of one to four rounds that takes 20 to 40 %.
    bursts: f64,
}

impl SessionNoise {
    /// Kinds of noise that the level is tested with.
    const KINDS: [Self; 6] = [
        Self::of("independent", 0.05, 0.0, 0.0, 0.0),
        Self::of("half lasts to the next round", 0.05, 0.5, 0.0, 0.0),
        Self::of("four fifths last", 0.05, 0.8, 0.0, 0.0),
        Self::of("drift of 15 %, quiet otherwise", 0.01, 0.0, 0.15, 0.0),
        Self::of("four fifths last, drift of 15 %", 0.05, 0.8, 0.15, 0.0),
        Self::of("bursts", 0.02, 0.5, 0.0, 0.1),
    ];

    const fn of(name: &'static str, deviation: f64, lasting: f64, drift: f64, bursts: f64) -> Self {
        Self { name, deviation, lasting, drift, bursts }
    }
}

/// Result of simulated sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SimulatedSessions {
    /// Share of sessions whose interval does not cover the truth, which is 1.
    missed: f64,
    /// Share that the level allows.
    allowed: f64,
    /// Mean half width of the interval.
    half_width: f64,
}

/// Simulates sessions of `pairs` pairs of rounds, always with the same random numbers. `None` if so few pairs have no
/// interval.
fn simulate(sessions: u32, pairs: u32, noise: SessionNoise, order: PairOrder) -> Option<SimulatedSessions> {
    let mut random = SplitMix::new(u64::from(pairs));
    let (mut missed, mut widths, mut level) = (0_u32, 0.0, 1.0);
    for _ in 0..sessions {
        let (mut last, mut at) = (random.normal(), 0_u32);
        let (mut left, mut burst) = (0, 0.0);
        let mut round = |random: &mut SplitMix| {
            last = noise.lasting * last + (1.0 - noise.lasting * noise.lasting).sqrt() * random.normal();
            at += 1;
            if left > 0 {
                left -= 1;
            } else {
                burst = 0.0;
                if random.unit() < noise.bursts {
                    left = random.below(4);
                    burst = -0.2 - 0.2 * random.unit();
                }
            }
            (noise.deviation * last + burst - noise.drift * f64::from(at) / f64::from(2 * pairs)).exp()
        };
        let pairs: Vec<(f64, f64)> = (0..pairs)
            .map(|pair| {
                let first_is_a = match order {
                    PairOrder::Alternating => pair % 2 == 0,
                    PairOrder::Random => random.below(2) == 0,
                };
                let (first, second) = (round(&mut random), round(&mut random));
                if first_is_a { (first, second) } else { (second, first) }
            })
            .collect();
        let interval = ratio_of_pairs(&pairs)?.interval?;
        level = interval.level;
        missed += u32::from(!interval.holds(1.0));
        widths += interval.half_width();
    }
    let share = |sum: f64| sum / f64::from(sessions.max(1));
    Some(SimulatedSessions { missed: share(missed.into()), allowed: 1.0 - level, half_width: share(widths) })
}

/// Intermittent disturbance by other processes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct IntermittentDisturbance {
    /// Probability that a round is disturbed after an undisturbed one.
    begins: f64,
    /// Additional probability that a round is disturbed after a disturbed one.
    stays: f64,
}

impl IntermittentDisturbance {
    /// Machines that the level is tested with.
    const KINDS: [Self; 4] = [Self::of(0.3, 0.0), Self::of(0.5, 0.0), Self::of(0.5, 0.8), Self::of(0.7, 0.0)];
    /// Part of a round's figure that a disturbance takes.
    const TAKES: f64 = 0.15;

    const fn of(begins: f64, stays: f64) -> Self {
        Self { begins, stays }
    }
}

/// Rule by which disturbed rounds are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepeatRule {
    /// No round is repeated.
    Never,
    /// Single rounds, half as many as there are for each side: a rule that does not hold the level.
    EachSide,
    /// Whole pairs from one [`Budget`].
    WholePairs,
}

/// Share of simulated sessions of A against A whose interval does not cover 1, with disturbed rounds repeated. `None`
/// if so few pairs have no interval.
fn simulate_repeats(sessions: u32, pairs: u32, machine: IntermittentDisturbance, rule: RepeatRule) -> Option<f64> {
    let mut random = SplitMix::new(u64::from(pairs) << 8);
    let mut missed = 0_u32;
    for _ in 0..sessions {
        let mut is_disturbed = false;
        // Whether it was disturbed, and its figure.
        let mut round = |random: &mut SplitMix| {
            is_disturbed = (is_disturbed && random.unit() < machine.stays) || random.unit() < machine.begins;
            let taken = if is_disturbed { (1.0 - IntermittentDisturbance::TAKES).ln() } else { 0.0 };
            (is_disturbed, (0.02 * random.normal() + taken).exp())
        };
        let mut budget = if rule == RepeatRule::WholePairs { Budget::new(2, pairs) } else { Budget::none() };
        let mut of_sides = if rule == RepeatRule::EachSide { [pairs / 2; 2] } else { [0; 2] };
        let mut one = |number: u32, random: &mut SplitMix| {
            let first = random.below(2) as usize;
            loop {
                let mut figures = [0.0; 2];
                let mut any = false;
                for side in [first, 1 - first] {
                    let (mut disturbed, mut figure) = round(random);
                    while disturbed && of_sides[side] > 0 {
                        of_sides[side] -= 1;
                        (disturbed, figure) = round(random);
                    }
                    any |= disturbed;
                    figures[side] = figure;
                }
                if !(any && budget.take(number, 2, false)) {
                    return (figures[0], figures[1]);
                }
            }
        };
        let pairs: Vec<(f64, f64)> = (0..pairs).map(|number| one(number, &mut random)).collect();
        missed += u32::from(!ratio_of_pairs(&pairs)?.interval?.holds(1.0));
    }
    Some(f64::from(missed) / f64::from(sessions.max(1)))
}

/// Result of simulated comparisons that end when they are decided.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SequentialResult {
    /// Share whose interval, at the look that ended them, does not cover the truth.
    missed: f64,
    /// Share that ended with an interval entirely beyond the tolerance or within it.
    decided: f64,
    /// Mean number of pairs.
    pairs: f64,
}

/// Simulates comparisons of at most `most` pairs that end at the first look at which they are decided: the interval
/// excludes a slowdown of more than `tolerance`, or contains nothing else. `truth` is the true ratio. With `add`, each
/// pair from the sixth on is examined with an interval of 95 %, as by a person who adds rounds: a rule that does not
/// hold the level.
fn simulate_sequential(sessions: u32, most: u32, truth: f64, tolerance: f64, add: bool) -> SequentialResult {
    let mut random = SplitMix::new(u64::from(most) << 16);
    let looks: Vec<u32> = if add { (6..=most).collect() } else { sequential::looks(most) };
    let (mut missed, mut decided, mut count) = (0_u32, 0_u32, 0_u32);
    for _ in 0..sessions {
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for look in &looks {
            while pairs.len() < *look as usize {
                let one = if pairs.len() % 5 == 4 { 0.12 } else { 0.04 };
                pairs.push((1.0, truth * (one * random.normal()).exp()));
            }
            let found = if add { ratio_of_pairs(&pairs) } else { sequential::ratio_at_look(&pairs) };
            let Some(interval) = found.and_then(|it| it.interval) else { continue };
            let limit = 1.0 - tolerance;
            let is_decided = interval.low >= limit || interval.high < limit;
            if is_decided || Some(look) == looks.last() {
                missed += u32::from(!interval.holds(truth));
                decided += u32::from(is_decided);
                count += look;
                break;
            }
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(sessions.max(1));
    SequentialResult { missed: share(missed), decided: share(decided), pairs: share(count) }
}

/// Share of simulated tables of equal cases that show a ratio whose interval excludes 1. With `best_first`, ratios are
/// to the best case and each interval has 95 % by itself: a rule that does not hold the level. Otherwise they are to
/// the first case, and the intervals hold their level together.
fn simulate_tables(tables: u32, cases: u32, rounds: u32, best_first: bool) -> f64 {
    let mut random = SplitMix::new(u64::from(cases) << 24);
    let level = if best_first { LEVEL } else { level_of_each(cases as usize - 1) };
    let mut wrong = 0_u32;
    for _ in 0..tables {
        let mut figures: Vec<Vec<f64>> = vec![Vec::new(); cases as usize];
        for _ in 0..rounds {
            // Rounds of one time share some of their noise.
            let shared = 0.05 * random.normal();
            figures.iter_mut().for_each(|it| it.push((shared + 0.03 * random.normal()).exp()));
        }
        if best_first {
            let figure = |it: &Vec<f64>| center(it).map_or(0.0, |it| it.value);
            figures.sort_by(|one, other| figure(other).total_cmp(&figure(one)));
        }
        let excludes = |head: &Vec<f64>| {
            let pairs: Vec<(f64, f64)> = figures[0].iter().copied().zip(head.iter().copied()).collect();
            ratio_of_pairs_at(&pairs, level).and_then(|it| it.interval).is_some_and(|it| !it.holds(1.0))
        };
        wrong += u32::from(figures[1..].iter().any(excludes));
    }
    f64::from(wrong) / f64::from(tables.max(1))
}

#[test]
fn a_and_a_in_random_order_are_told_apart_as_seldom_as_the_level_says() {
    const SESSIONS: u32 = 2_000;
    for pairs in [6, 7, 8] {
        for noise in SessionNoise::KINDS {
            let found = simulate(SESSIONS, pairs, noise, PairOrder::Random).unwrap();
            // Three standard deviations of a share of that size.
            let chance = 3.0 * (found.allowed * (1.0 - found.allowed) / f64::from(SESSIONS)).sqrt();
            assert!((found.missed - found.allowed).abs() <= chance, "{pairs} pairs, {}: {found:?}", noise.name);
        }
    }
    assert_eq!(simulate(1, 5, SessionNoise::KINDS[0], PairOrder::Random), None);
}

/// Reason for the random order.
#[test]
fn the_alternating_order_misses_more_where_noise_lasts() {
    let lasting = SessionNoise::KINDS[1];
    let [alternating, random] =
        [PairOrder::Alternating, PairOrder::Random].map(|order| simulate(4_000, 12, lasting, order).unwrap());
    assert!(alternating.missed > random.missed + 0.005, "{alternating:?} {random:?}");
    // And it costs nothing.
    assert!((random.half_width / alternating.half_width - 1.0).abs() < 0.05, "{alternating:?} {random:?}");
}

// Simulations of the tables take minutes: `cargo xtask full` makes them.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[test]
fn the_table_of_the_level_is_what_the_simulation_gives() {
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        return;
    }
    let mut table = "| pairs | noise | may miss | missed, random order | missed, alternating order |\n\
                     |---:|---|---:|---:|---:|\n"
        .to_owned();
    for pairs in [8, 12] {
        for noise in SessionNoise::KINDS {
            let [random, alternating] =
                [PairOrder::Random, PairOrder::Alternating].map(|order| simulate(10_000, pairs, noise, order).unwrap());
            let cells = [random.allowed, random.missed, alternating.missed].map(percent).join(" | ");
            table.push_str(&format!("| {pairs} | {} | {cells} |\n", noise.name));
        }
    }
    check("sessions.md", include_str!("sessions.md"), &table);
}

#[test]
fn the_table_of_repeats_is_what_the_simulation_gives() {
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        return;
    }
    let mut table =
        "| pairs | a round is disturbed | stays so | no repeats | a budget for each side | whole pairs from one \
                     budget |\n|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for pairs in [8, 16] {
        for machine in IntermittentDisturbance::KINDS {
            let missed = [RepeatRule::Never, RepeatRule::EachSide, RepeatRule::WholePairs]
                .map(|rule| percent(simulate_repeats(10_000, pairs, machine, rule).unwrap()));
            let (begins, stays) = (100.0 * machine.begins, 100.0 * machine.stays);
            table.push_str(&format!("| {pairs} | {begins:.0} % | {stays:.0} % | {} |\n", missed.join(" | ")));
        }
    }
    check("repeats.md", include_str!("repeats.md"), &table);
}

#[test]
fn the_table_of_decided_comparisons_is_what_the_simulation_gives() {
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        return;
    }
    let mut table =
        "| true difference | tolerance | missed | decided | pairs on average | missed by who adds pairs |\n\
                     |---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for (truth, tolerance) in [(1.0, 0.05), (0.97, 0.05), (0.95, 0.05), (0.93, 0.05), (0.9, 0.05), (1.0, 0.0)] {
        let [found, added] = [false, true].map(|add| simulate_sequential(2_000, 32, truth, tolerance, add));
        let (difference, tolerance) = (100.0 * (truth - 1.0), 100.0 * tolerance);
        let [missed, decided, added] = [found.missed, found.decided, added.missed].map(percent);
        let pairs = found.pairs;
        table.push_str(&format!(
            "| {difference:.0} % | {tolerance:.0} % | {missed} | {decided} | {pairs:.1} | {added} |\n"
        ));
    }
    check("sequential.md", include_str!("sequential.md"), &table);
}

#[test]
fn the_table_of_equal_cases_is_what_the_simulation_gives() {
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        return;
    }
    let mut table = "| equal cases | rounds | to the best, 95 % each | to the first, 95 % together |\n\
                     |---:|---:|---:|---:|\n"
        .to_owned();
    for (cases, rounds) in [(3, 7), (5, 8), (8, 6), (8, 9), (8, 12)] {
        let [best, first] = [true, false].map(|best| percent(simulate_tables(2_000, cases, rounds, best)));
        table.push_str(&format!("| {cases} | {rounds} | {best} | {first} |\n"));
    }
    check("tables.md", include_str!("tables.md"), &table);
}

/// Upper bound: three standard deviations above a share.
fn at_most(share: f64, sessions: u32) -> f64 {
    share + 3.0 * (share * (1.0 - share) / f64::from(sessions)).sqrt()
}

#[test]
fn whole_pairs_repeated_from_one_budget_hold_the_level() {
    const SESSIONS: u32 = 3_000;
    for (pairs, allowed) in [(8, 0.0391), (16, 0.0443)] {
        for machine in IntermittentDisturbance::KINDS {
            let missed = simulate_repeats(SESSIONS, pairs, machine, RepeatRule::WholePairs).unwrap();
            assert!(missed <= at_most(allowed, SESSIONS), "{pairs} pairs, {machine:?}: {missed}");
        }
    }
    // A budget for each side does not.
    let [once, each] = [RepeatRule::Never, RepeatRule::EachSide]
        .map(|rule| simulate_repeats(SESSIONS, 16, IntermittentDisturbance::KINDS[1], rule).unwrap());
    assert!(once <= at_most(0.0443, SESSIONS) && each > 0.08, "{once} {each}");
}

/// Asserts that sessions which end when they are decided miss the truth as seldom as the level says; returns those of a tolerance of 5 %.
fn assert_decided_sessions_hold_the_level(truth: f64) -> SequentialResult {
    const SESSIONS: u32 = 1_000;
    let [found, _] = [0.05, 0.0].map(|tolerance| {
        let found = simulate_sequential(SESSIONS, 32, truth, tolerance, false);
        assert!(found.missed <= at_most(0.05, SESSIONS), "{truth}, {tolerance}: {found:?}");
        found
    });
    found
}

#[test]
fn a_comparison_of_equal_cases_that_ends_when_it_is_decided_holds_its_level() {
    let found = assert_decided_sessions_hold_the_level(1.0);
    // Where there is nothing to find, no round is saved in vain: half of the pairs do.
    assert!(found.decided > 0.9 && found.pairs < 20.0, "{found:?}");
}

#[test]
fn a_comparison_of_a_small_difference_that_ends_when_it_is_decided_holds_its_level() {
    assert_decided_sessions_hold_the_level(0.95);
}

#[test]
fn a_comparison_of_a_large_difference_that_ends_when_it_is_decided_holds_its_level() {
    assert_decided_sessions_hold_the_level(0.9);
}

#[test]
fn who_adds_rounds_until_it_is_decided_does_not_hold_the_level() {
    let added = simulate_sequential(250, 32, 1.0, 0.0, true);
    assert!(added.missed > 0.09, "{added:?}");
}

#[test]
fn a_table_of_equal_cases_seldom_shows_a_difference() {
    const TABLES: u32 = 2_000;
    for (cases, rounds) in [(3, 7), (8, 6), (8, 9), (8, 12)] {
        let wrong = simulate_tables(TABLES, cases, rounds, false);
        assert!(wrong <= at_most(0.05, TABLES), "{cases} cases, {rounds} rounds: {wrong}");
    }
    let best_first = simulate_tables(TABLES, 8, 6, true);
    assert!(best_first > 0.25, "{best_first}");
}
