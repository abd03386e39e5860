//! Rules that end a warm-up and a measurement interval by what was measured in them.
//!
//! A warm-up ends when its rate shows no change beyond its scatter. That is no proof: a slow change may hide in noise
//! for as long as a warm-up may last. The rest of it shows in the interval, which is longer, and whose mean then has a
//! wide confidence interval ([`crate::batch`]). An interval is not ended because its mean looks narrow: it may look so
//! because a rare stall has not occurred yet.
//!
//! Length of simulated warm-ups, error of the mean of 40 s after them, and how often the error is detected:
#![doc = include_str!("warm_up.md")]

use crate::batch::{LinearTrend, batches};

/// Number of batches that the last two thirds of a warm-up are cut into.
const BATCHES: usize = 12;
/// Tolerated change of throughput in steady state, as a part of one.
pub const TOLERANCE: f64 = 0.1;
/// Ratio of an interval's lengths at consecutive looks: three looks double it.
const LONGER: f64 = 1.26;

/// Length of an interval at its next look, after a look at `passed`; none is beyond `longest`.
pub fn next_look(passed: u64, longest: u64) -> u64 {
    let next = (passed as f64 * LONGER) as u64;
    // A look just before the end would add nothing to the one at the end.
    if next as f64 > 0.99 * longest as f64 { u64::MAX / 2 } else { next }
}

/// Length of a warm-up at its next look, after a look at `passed`.
pub fn next_look_at_warm_up(passed: u64) -> u64 {
    passed + passed / 10
}

/// Whether the last two thirds of a warm-up's rates have no trend beyond its standard error, which includes the
/// correlation of neighbouring batches.
///
/// ```
/// use bourse_stats::stopping::is_warm;
/// let mut random = bourse_stats::SplitMix::new(1);
/// let level: Vec<f64> = (0..120).map(|_| 100.0 + 5.0 * random.normal()).collect();
/// let rising: Vec<f64> = level.iter().enumerate().map(|(at, rate)| rate + at as f64).collect();
/// assert!(is_warm(&level) && !is_warm(&rising));
/// ```
pub fn is_warm(rates: &[f64]) -> bool {
    let last = &rates[rates.len() / 3..];
    if last.len() < BATCHES {
        return false;
    }
    let means = batches(last, last.len() / BATCHES);
    let trend = LinearTrend::of(&means);
    // A line through so few leaves neighbours less alike than they are.
    let left = (trend.left + 2.0 / means.len() as f64).clamp(0.0, 0.9);
    means.iter().any(|it| *it > 0.0) && trend.change.abs() <= trend.error * ((1.0 + left) / (1.0 - left)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix;
    use crate::batch::mean_after;
    use crate::rates::{STEPS_PER_SECOND, WarmUp};
    use crate::steady::{Steady, judge};

    /// Lengths of an interval at its looks, the longest last.
    fn looks(shortest: u64, longest: u64) -> Vec<u64> {
        let mut looks = vec![shortest];
        while let Some(next) = looks.last().map(|last| next_look(*last, longest)).filter(|next| *next < longest) {
            looks.push(next);
        }
        looks.push(longest);
        looks
    }

    #[test]
    fn an_interval_is_looked_at_four_times() {
        assert_eq!(looks(200, 400), [200, 252, 317, 400]);
        assert_eq!(looks(60, 180).len(), 6);
    }

    /// Results of simulated rounds that warm up.
    struct SimulatedRounds {
        /// Mean length of the warm-up in seconds.
        length: f64,
        /// Mean deviation of the interval's mean from the final rate in per cent.
        off: f64,
        /// Per cent of the rounds with a confidence interval, and of those intervals the per cent that cover the final
        /// rate.
        told: f64,
        held: f64,
        /// Mean half width of the intervals in per cent.
        width: f64,
    }

    /// Simulates rounds with a warm-up of 10 to 30 s and an interval of 40 s.
    fn rounds(kind: WarmUp) -> SimulatedRounds {
        const ROUNDS: u32 = 400;
        const LONGEST: usize = 30 * STEPS_PER_SECOND;
        let mut random = SplitMix::new(1);
        let (mut length, mut off, mut told, mut held, mut width) = (0, 0.0, 0_u32, 0_u32, 0.0);
        for _ in 0..ROUNDS {
            let rates = kind.steps(LONGEST + 40 * STEPS_PER_SECOND, &mut random);
            let mut look = 10 * STEPS_PER_SECOND;
            while look < LONGEST && !is_warm(&rates[..look]) {
                look = next_look_at_warm_up(look as u64) as usize;
            }
            // It begins a step after the look.
            let from = (look + 1).min(LONGEST);
            let found = mean_after(&rates[..from], &rates[from..from + 40 * STEPS_PER_SECOND]).unwrap().mean;
            length += from;
            off += found.value - 1.0;
            if let Some(interval) = found.interval {
                told += 1;
                held += u32::from(interval.holds(1.0));
                width += interval.half_width();
            }
        }
        let percent = |part: f64, of: u32| 100.0 * part / f64::from(of.max(1));
        SimulatedRounds {
            length: length as f64 / f64::from(ROUNDS) / STEPS_PER_SECOND as f64,
            off: percent(off, ROUNDS),
            told: percent(told.into(), ROUNDS),
            held: percent(held.into(), told),
            width: percent(width, told),
        }
    }

    #[test]
    fn an_unfinished_warm_up_widens_the_interval_and_the_table_says_how_often_it_holds_the_final_rate() {
        let mut table = String::from(
            "\n| missing at first | lasts | warm-up | mean off by | has an interval | which holds the final rate | ± |\
             \n|---|---|---|---|---|---|---|\n",
        );
        for kind in WarmUp::KINDS {
            let found = rounds(kind);
            // What lasts as long as warm-up and interval together may be missed.
            let least = if kind.lasts < 60.0 { 87.0 } else { 70.0 };
            assert!(found.held >= least && found.told >= 99.0, "{kind:?}: {} % of {} %", found.held, found.told);
            assert!(kind.lasts > 4.0 || found.off.abs() < 0.3, "{kind:?}: {} %", found.off);
            table.push_str(&format!(
                "| {:.0} % | {:.0} s | {:.0} s | {:+.1} % | {:.0} % | {:.0} % | {:.1} % |\n",
                100.0 * kind.depth,
                kind.lasts,
                found.length,
                found.off,
                found.told,
                found.held,
                found.width,
            ));
        }
        table.push_str(
            "\nOf 400 rounds each: what is missing falls to a third in the time it lasts; below 0 % the rate falls. The rate scatters \
             by 5 % over what lasts 0.2 s.\n",
        );
        crate::table::check("warm_up.md", include_str!("warm_up.md"), &table);
    }

    #[test]
    fn a_warm_up_lasts_until_its_rate_no_longer_changes() {
        let rising = |from: usize, to: usize| {
            (from..to).map(|at| 100.0 - 80.0 * (-(at as f64) / 30.0).exp()).collect::<Vec<_>>()
        };
        assert!(!is_warm(&[]) && !is_warm(&[0.0; 90]) && !is_warm(&[5.0; 9]) && !is_warm(&rising(0, 100)));
        assert!(!is_warm(&rising(0, 240)), "without scatter even the end of a rise is one");
        assert!(is_warm(&[5.0; 90]));
    }

    #[test]
    fn looking_until_it_can_be_told_is_seldom_wrong() {
        let mut random = SplitMix::new(3);
        let mut answers = |shape: fn(usize) -> f64, share: f64| {
            let mut counts = [0; 3];
            for _ in 0..150 {
                let mut off = random.normal();
                let mut next = |at: usize| {
                    off = share * off + (1.0 - share * share).sqrt() * random.normal();
                    shape(at) * (1.0 + 0.05 * off)
                };
                let values: Vec<f64> = (0..180).map(&mut next).collect();
                let lengths = looks(60, 180).into_iter().map(|it| it as usize);
                let found = lengths.map(|it| judge(&values[..it], None, TOLERANCE).answer);
                let told = found.into_iter().find(|it| *it != Steady::Unknown).unwrap_or(Steady::Unknown);
                counts[told as usize] += 1;
            }
            counts
        };
        let [_, wrong, _] = answers(|_| 1.0, 0.0);
        assert!(wrong <= 8, "steady, independent: {wrong} of 150 not steady");
        let [_, wrong, _] = answers(|_| 1.0, 0.7);
        assert!(wrong <= 8, "steady, autocorrelated: {wrong} of 150 not steady");
        let [wrong, ..] = answers(|at| 1.0 - 0.2 * at as f64 / 60.0, 0.0);
        assert!(wrong <= 8, "a decay of 20 % a minute: {wrong} of 150 steady");
    }
}
