//! Simulated rates of a round in steps of a tenth of a second with a known true mean, for testing the rules of warm-up
//! and interval.
#![cfg(test)]

use crate::SplitMix;

/// Steps per second.
pub(crate) const STEPS_PER_SECOND: usize = 10;
/// Standard deviation of a step without other disturbance.
const SCATTER: f64 = 0.1;

/// Kind of disturbance. Its number is a time in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NoiseKind {
    /// Autoregression of first order with this time constant.
    Lasting(f64),
    /// Rate halved for a fifth of each cycle of this length, as by checkpoints.
    Cycle(f64),
    /// Stalls with rate 0 that begin at random, with this mean distance and a twentieth of it as length.
    Stalls(f64),
    /// Stalls like those, but with a mean length of a tenth of a second.
    ShortStalls(f64),
    /// Rate a tenth up or down, changing at random after this mean time.
    Levels(f64),
    /// Drift about the mean by 5 % with this correlation time.
    Wander(f64),
    /// Stalls with a heavy-tailed length, most short and some of many seconds (Pareto's distribution of index 1.5), a
    /// second apart.
    Heavy,
}

impl NoiseKind {
    /// Kinds of disturbance that the interval of the default job is tested with.
    pub(crate) const KINDS: [Self; 21] = [
        Self::Lasting(0.0),
        Self::Lasting(0.1),
        Self::Lasting(0.4),
        Self::Lasting(1.2),
        Self::Lasting(2.4),
        Self::Lasting(5.0),
        Self::Lasting(10.0),
        Self::Cycle(1.0),
        Self::Cycle(3.0),
        Self::Cycle(7.0),
        Self::Cycle(15.0),
        Self::Stalls(1.0),
        Self::Stalls(5.0),
        Self::Stalls(15.0),
        Self::ShortStalls(30.0),
        Self::Levels(1.0),
        Self::Levels(3.0),
        Self::Levels(10.0),
        Self::Wander(5.0),
        Self::Wander(20.0),
        Self::Heavy,
    ];

    /// Name in tables.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Lasting(0.0) => "independent steps".to_owned(),
            Self::Lasting(lasts) => format!("what happens lasts {lasts} s"),
            Self::Cycle(period) => format!("a cycle of {period} s"),
            Self::Stalls(apart) => format!("stalls {apart} s apart"),
            Self::ShortStalls(apart) => format!("stalls of 0.1 s, {apart} s apart"),
            Self::Levels(lasts) => format!("two levels of {lasts} s"),
            Self::Wander(lasts) => format!("drift about the mean, {lasts} s"),
            Self::Heavy => "stalls of any length".to_owned(),
        }
    }

    /// Rates of `count` steps with a true mean of 1.
    pub(crate) fn steps(self, count: usize, random: &mut SplitMix) -> Vec<f64> {
        let step = 1.0 / STEPS_PER_SECOND as f64;
        let exponential = |mean: f64, random: &mut SplitMix| -mean * (1.0 - random.unit()).ln();
        match self {
            Self::Lasting(lasts) => lasting(count, lasts, random).into_iter().map(|off| 1.0 + SCATTER * off).collect(),
            Self::Wander(lasts) => {
                let drift = lasting(count, lasts, random);
                drift.into_iter().map(|off| 1.0 + 0.05 * off + SCATTER * random.normal()).collect()
            }
            Self::Cycle(period) => {
                let begin = period * random.unit();
                let inside = |at: usize| ((begin + at as f64 * step) / period).fract() < 0.2;
                (0..count).map(|at| (if inside(at) { 0.5 } else { 1.0 } + SCATTER * random.normal()) / 0.9).collect()
            }
            Self::Levels(lasts) => {
                let (mut up, mut left) = (random.unit() < 0.5, exponential(lasts, random));
                let mut next = || {
                    while left <= 0.0 {
                        up = !up;
                        left += exponential(lasts, random);
                    }
                    left -= step;
                    1.0 + if up { 0.1 } else { -0.1 } + 0.5 * SCATTER * random.normal()
                };
                (0..count).map(|_| next()).collect()
            }
            Self::Stalls(apart) => {
                let length = |random: &mut SplitMix| exponential(apart / 20.0, random);
                stalled(count, apart, apart / 20.0, random, length)
            }
            Self::ShortStalls(apart) => stalled(count, apart, 0.1, random, |random| exponential(0.1, random)),
            Self::Heavy => {
                const LEAST: f64 = 0.05;
                let length = |random: &mut SplitMix| LEAST * (1.0 - random.unit()).powf(-1.0 / 1.5);
                stalled(count, 1.0, 3.0 * LEAST, random, length)
            }
        }
    }
}

/// Values of mean 0 and deviation 1 with a correlation time of `lasts` seconds.
fn lasting(count: usize, lasts: f64, random: &mut SplitMix) -> Vec<f64> {
    let share = if lasts > 0.0 { (-1.0 / (STEPS_PER_SECOND as f64 * lasts)).exp() } else { 0.0 };
    let mut off = random.normal();
    let mut next = || {
        off = share * off + (1.0 - share * share).sqrt() * random.normal();
        off
    };
    (0..count).map(|_| next()).collect()
}

/// Rates with stalls of drawn lengths; `mean` is the mean length.
fn stalled(
    count: usize,
    apart: f64,
    mean: f64,
    random: &mut SplitMix,
    length: impl Fn(&mut SplitMix) -> f64,
) -> Vec<f64> {
    let step = 1.0 / STEPS_PER_SECOND as f64;
    let undisturbed = (apart + mean) / apart;
    let mut until = -apart * (1.0 - random.unit()).ln();
    let mut stall = 0.0;
    let mut rate = |at: usize| {
        let (begin, end) = (at as f64 * step, (at + 1) as f64 * step);
        let mut now = begin;
        let mut working = 0.0;
        while now < end {
            if stall > 0.0 {
                let part = f64::min(stall, end - now);
                stall -= part;
                now += part;
                if stall <= 0.0 {
                    until = now - apart * (1.0 - random.unit()).ln();
                }
            } else if until < end {
                working += (until - now).max(0.0);
                now = until.max(now);
                stall = length(random).max(1e-9);
            } else {
                working += end - now;
                now = end;
            }
        }
        let share = working / step;
        (undisturbed * share * (1.0 + SCATTER * random.normal())).max(0.0)
    };
    (0..count).map(&mut rate).collect()
}

/// Simulated warm-up: approach of the rate to its final value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WarmUp {
    /// Part of the final rate that is missing at the beginning; below 0 the rate falls.
    pub(crate) depth: f64,
    /// Seconds until a third of that is left.
    pub(crate) lasts: f64,
}

impl WarmUp {
    /// Kinds of warm-up that the rule is tested with.
    pub(crate) const KINDS: [Self; 15] = [
        Self::of(0.0, 1.0),
        Self::of(0.3, 2.0),
        Self::of(0.3, 4.0),
        Self::of(0.3, 8.0),
        Self::of(0.3, 15.0),
        Self::of(0.3, 30.0),
        Self::of(0.3, 60.0),
        Self::of(0.6, 4.0),
        Self::of(0.6, 8.0),
        Self::of(0.6, 15.0),
        Self::of(0.6, 30.0),
        Self::of(-0.3, 8.0),
        Self::of(-0.3, 15.0),
        Self::of(-0.3, 30.0),
        Self::of(-0.5, 60.0),
    ];

    const fn of(depth: f64, lasts: f64) -> Self {
        Self { depth, lasts }
    }

    /// Rates of `count` steps with a final mean of 1 and noise of 5 % that lasts 0.2 s.
    pub(crate) fn steps(self, count: usize, random: &mut SplitMix) -> Vec<f64> {
        let level = |at: usize| 1.0 - self.depth * (-(at as f64) / (STEPS_PER_SECOND as f64 * self.lasts)).exp();
        let noise = lasting(count, 0.2, random);
        noise.iter().enumerate().map(|(at, off)| level(at) * (1.0 + 0.05 * off)).collect()
    }
}
