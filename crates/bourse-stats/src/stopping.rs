//! When a measurement has lasted long enough: rules that end a warm-up and an interval by what was measured in them.
//!
//! Who looks several times and stops when the interval is narrow stops too often where chance made it narrow. Three things
//! make up for that: [`mean`] takes exactly [`BATCHES`] batches, no shorter than the autocorrelation time, and a look ends an
//! interval only where they are twice as long; each look has a
//! level of 98 %, and what is found is called 95 %; and there are no more than four looks. The simulation of this module
//! holds it to at least 93 %, where the length is enough for what the neighbours share.

use crate::batch::{SeriesMean, autocorrelation_time, batches, interval_of};
use crate::{Estimate, Interval, LEVEL};

/// Batches of a mean that is looked at.
pub const BATCHES: usize = 15;
/// How near to its mean both ends of the interval are to be, relative to it.
pub const WITHIN: f64 = 0.05;
/// Level of each look, so that the one which ends the interval still holds [`LEVEL`].
const LOOK_LEVEL: f64 = 0.98;
/// Batches are at least this many autocorrelation times long: what they still share widens the interval. Two would find an
/// interval less often, and where chance made the autocorrelation look short: of series of 400 values worth 25 independent ones
/// 88 % of those intervals hold the mean, with one time 96 %.
const LENGTHS: f64 = 1.0;
/// Batches are at least that long where a look ends the interval: it picks the series that chance made look independent.
const LENGTHS_TO_END: f64 = 2.0;
/// How near two windows of a warm-up are to be to one another.
const AGREE_WITHIN: f64 = 0.05;
/// How much a throughput may change in steady state.
pub const TOLERANCE: f64 = 0.1;
/// Each look comes when the interval is so much longer than at the last: three times is twice as long.
const LONGER: f64 = 1.26;

/// Length of an interval at which it is looked at next, after a look at `passed`; none beyond its `longest` comes.
pub fn next_look(passed: u64, longest: u64) -> u64 {
    let next = (passed as f64 * LONGER) as u64;
    // What is left after a look just before the end is no new look.
    if next as f64 > 0.99 * longest as f64 { u64::MAX / 2 } else { next }
}

/// Whether the last third of a warm-up's rates has the mean of the third before it.
pub fn agree(rates: &[f64]) -> bool {
    let window = rates.len() / 3;
    if window == 0 {
        return false;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, last) =
        (mean(&rates[rates.len() - 2 * window..rates.len() - window]), mean(&rates[rates.len() - window..]));
    last > 0.0 && (last - before).abs() <= AGREE_WITHIN * last
}

/// Mean of an interval that one of several looks may have ended, with its interval of [`LEVEL`]; no interval where the series
/// is too short for its autocorrelation. None without values.
pub fn mean(rates: &[f64]) -> Option<SeriesMean> {
    if rates.is_empty() {
        return None;
    }
    let autocorrelation = autocorrelation_time(rates);
    let batch = (rates.len() / BATCHES).max(1);
    let means = batches(rates, batch);
    let value = means.iter().sum::<f64>() / means.len() as f64;
    let is_told = means.len() >= BATCHES && batch as f64 >= LENGTHS * autocorrelation;
    let interval = is_told.then(|| Interval { level: LEVEL, ..interval_of(&means, value, LOOK_LEVEL) });
    // Batches are whole values long.
    let needs = BATCHES as f64 * (LENGTHS * autocorrelation).ceil();
    Some(SeriesMean { mean: Estimate { value, interval }, autocorrelation, batch, batches: means.len(), needs })
}

/// Whether the mean is known within [`WITHIN`].
pub fn is_known(rates: &[f64]) -> bool {
    mean(rates).is_some_and(|found| {
        let is_narrow = |it: Interval| it.high - it.low <= 2.0 * WITHIN * found.mean.value;
        found.batch as f64 >= LENGTHS_TO_END * found.autocorrelation && found.mean.interval.is_some_and(is_narrow)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix;
    use crate::steady::{Answer, judge};

    /// Lengths of an interval at which it is looked at, the longest last.
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

    /// Runs whose neighbouring values share `share`: of those that a look ended before the longest, and of all that have an
    /// interval, how many there were in 1,000 and which share of their intervals held the mean.
    fn simulated(share: f64, deviation: f64) -> [(u32, f64); 2] {
        let mut random = SplitMix::new(7);
        let mut counts = [(0_u32, 0_u32); 2];
        for _ in 0..1_000 {
            let mut off = random.normal();
            let mut next = || {
                off = share * off + (1.0 - share * share).sqrt() * random.normal();
                100.0 * (1.0 + deviation * off)
            };
            let values: Vec<f64> = (0..400).map(|_| next()).collect();
            for length in looks(200, 400).into_iter().map(|it| it as usize) {
                let is_last = length == values.len();
                let Some(interval) = mean(&values[..length]).unwrap().mean.interval else { continue };
                if !is_last && !is_known(&values[..length]) {
                    continue;
                }
                for (told, held) in counts.iter_mut().skip(usize::from(is_last)) {
                    *told += 1;
                    *held += u32::from(interval.holds(100.0));
                }
                break;
            }
        }
        counts.map(|(told, held)| (told, f64::from(held) / f64::from(told.max(1))))
    }

    #[test]
    fn a_mean_without_an_interval_needs_more_values_than_there_are() {
        let mut random = SplitMix::new(11);
        for share in [0.0_f64, 0.3, 0.5, 0.7, 0.9] {
            let mut off = random.normal();
            for length in 1..=120 {
                let mut next = || {
                    off = share * off + (1.0 - share * share).sqrt() * random.normal();
                    100.0 + off
                };
                let values: Vec<f64> = (0..length).map(|_| next()).collect();
                let found = mean(&values).unwrap();
                assert_eq!(
                    found.mean.interval.is_none(),
                    found.needs > length as f64,
                    "{length} of {share}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn the_interval_that_ends_a_measurement_holds_the_mean_as_often_as_it_says() {
        let mut judged = 0;
        // Of 400 steps of 0.1 s neighbours share this where what happens lasts 0 to 1.2 s.
        for lasts in [0.0_f64, 0.1, 0.2, 0.4, 0.8, 1.2] {
            let share = if lasts > 0.0 { (-0.1 / lasts).exp() } else { 0.0 };
            for deviation in [0.05, 0.1, 0.15, 0.2, 0.25] {
                let [(ended, held), (told, held_of_all)] = simulated(share, deviation);
                assert!(held_of_all >= 0.93, "{lasts} s, {deviation}: {held_of_all} of {told}");
                // Where hardly any run ends early, those that do are the ones that chance made narrow.
                if ended >= 300 {
                    judged += 1;
                    assert!(held >= 0.93, "{lasts} s, {deviation}: {held} of {ended} that a look ended");
                }
            }
        }
        assert!(judged >= 10, "{judged} kinds of series were ended by a look often enough");
    }

    #[test]
    fn neighbours_that_share_too_much_leave_no_interval() {
        for (lasts, most) in [(2.4_f64, 350), (4.0, 150)] {
            let [_, (told, held)] = simulated((-0.1 / lasts).exp(), 0.1);
            assert!(told < most, "{lasts} s: {told} of 1,000");
            let missed = f64::from(told) * (1.0 - held);
            assert!(missed < 70.0, "{lasts} s: {missed} of 1,000 runs have an interval that does not hold the mean");
        }
    }

    #[test]
    fn a_warm_up_lasts_until_its_rate_no_longer_rises() {
        let rising = |from: usize, to: usize| {
            (from..to).map(|at| 100.0 - 80.0 * (-(at as f64) / 30.0).exp()).collect::<Vec<_>>()
        };
        assert!(!agree(&[]) && !agree(&[0.0; 9]) && !agree(&rising(0, 50)));
        assert!(agree(&rising(0, 240)) && agree(&[5.0; 9]));
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
                let told = found.into_iter().find(|it| *it != Answer::Unknown).unwrap_or(Answer::Unknown);
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
