//! Simulated sessions of A against A in turn: how often the interval of the ratio misses 1, by the noise and by the order.
//!
//! In each pair of rounds the order is random. Under no difference each pair's logarithm then has either sign with the same
//! probability, whatever its size and whatever the pairs before it, so that the signed-rank level holds exactly: for noise that
//! lasts over several rounds, for bursts and for drift alike. The order A B, B A, A B … brings neighbouring rounds of one side
//! together: where half of a round's noise lasts to the next, it misses 6.7 % instead of 4.7 (seven pairs).

use crate::{SplitMix, ratio_of_pairs};

/// Order of two cases in the pairs of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A B, B A, A B …
    Alternating,
    /// Each pair's order drawn by itself.
    Random,
}

/// Noise of a session's rounds, as parts of a round's figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// What it is, in words.
    pub name: &'static str,
    /// Standard deviation of a round.
    pub deviation: f64,
    /// Share of a round's noise that is the noise of the round before.
    pub lasting: f64,
    /// What the session loses from its beginning to its end.
    pub drift: f64,
    /// Probability that a round begins a burst of one to four rounds, which take 20 to 40 %.
    pub bursts: f64,
}

impl Noise {
    /// Kinds of noise that the level is asked for.
    pub const KINDS: [Self; 6] = [
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
pub struct Simulated {
    /// Share of sessions whose interval does not hold the truth, which is 1.
    pub missed: f64,
    /// Share that the level allows.
    pub allowed: f64,
    /// Half width of the interval, on average.
    pub half_width: f64,
}

/// Simulates sessions of so many pairs of rounds, always with the same random numbers. None where so few pairs have no
/// interval.
pub fn simulate(sessions: u32, pairs: u32, noise: Noise, order: Order) -> Option<Simulated> {
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
                    Order::Alternating => pair % 2 == 0,
                    Order::Random => random.below(2) == 0,
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
    Some(Simulated { missed: share(missed.into()), allowed: 1.0 - level, half_width: share(widths) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_and_a_in_random_order_are_told_apart_as_seldom_as_the_level_says() {
        const SESSIONS: u32 = 2_000;
        for pairs in [6, 7, 8] {
            for noise in Noise::KINDS {
                let found = simulate(SESSIONS, pairs, noise, Order::Random).unwrap();
                // Three standard deviations of a share of that size.
                let chance = 3.0 * (found.allowed * (1.0 - found.allowed) / f64::from(SESSIONS)).sqrt();
                assert!((found.missed - found.allowed).abs() <= chance, "{pairs} pairs, {}: {found:?}", noise.name);
            }
        }
        assert_eq!(simulate(1, 5, Noise::KINDS[0], Order::Random), None);
    }

    /// Why the order is random.
    #[test]
    fn the_alternating_order_misses_more_where_noise_lasts() {
        let lasting = Noise::KINDS[1];
        let [alternating, random] =
            [Order::Alternating, Order::Random].map(|order| simulate(4_000, 12, lasting, order).unwrap());
        assert!(alternating.missed > random.missed + 0.005, "{alternating:?} {random:?}");
        // And it costs nothing.
        assert!((random.half_width / alternating.half_width - 1.0).abs() < 0.05, "{alternating:?} {random:?}");
    }
}
