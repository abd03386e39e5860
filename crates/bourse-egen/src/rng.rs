//! Random numbers of the reference generator (EGen `CRandom`): one 64-bit linear congruential sequence that can be
//! entered at any step, and the ranges, doubles and texts drawn from it.
//!
//! All `f64` arithmetic here rounds after every single operation, as in the reference: no fused multiply-add, no
//! re-association. A draw that a range does not need (a single value, or inverted bounds) is not made.

use std::fmt;

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1;

/// Affine map `x -> multiplier * x + increment` of 2^bit steps, for each bit of a jump's length.
static JUMPS: [(u64, u64); 64] = jumps();

const fn jumps() -> [(u64, u64); 64] {
    let mut maps = [(MULTIPLIER, INCREMENT); 64];
    let mut bit = 1;
    while bit < 64 {
        let (m, i) = maps[bit - 1];
        maps[bit] = (m.wrapping_mul(m), m.wrapping_mul(i).wrapping_add(i));
        bit += 1;
    }
    maps
}

/// A running random sequence. The state is the last number drawn, and any state is a legal seed.
///
/// ```
/// use bourse_egen::Rng;
/// let mut rng = Rng::new(1);
/// assert_eq!(rng.draw(), 6_364_136_223_846_793_006);
/// assert_eq!(Rng::at(1, 1), rng);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rng(u64);

impl Rng {
    /// Sequence that continues after `state`.
    pub const fn new(state: u64) -> Self {
        Self(state)
    }

    /// Sequence of `seed`, `steps` numbers further on.
    pub fn at(seed: u64, steps: u64) -> Self {
        let mut rng = Self(seed);
        rng.skip(steps);
        rng
    }

    /// Last number drawn, which is the complete state.
    pub const fn state(self) -> u64 {
        self.0
    }

    /// Skips `steps` numbers, in time that does not depend on how many.
    pub fn skip(&mut self, steps: u64) {
        let mut left = steps;
        while left != 0 {
            let (multiplier, increment) = JUMPS[left.trailing_zeros() as usize];
            self.0 = multiplier.wrapping_mul(self.0).wrapping_add(increment);
            left &= left - 1;
        }
    }

    /// Draws the next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        self.0
    }

    /// Scales the present number to 0 to `count - 1`, without a draw.
    #[inline]
    pub const fn scaled(self, count: u64) -> u64 {
        ((self.0 as u128 * count as u128) >> 64) as u64
    }

    /// Draws an integer of 0 to `count - 1`; no draw if `count` is 1 or 0.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        if count <= 1 {
            return 0;
        }
        self.draw();
        self.scaled(count)
    }

    /// Draws an integer of `min` to `max`, both included; `min` without a draw unless `max` is greater.
    #[inline]
    pub fn range(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        min.wrapping_add(self.below((max.wrapping_sub(min) as u64).wrapping_add(1)) as i64)
    }

    /// Draws an integer of `low` to `high` that is not `excluded`.
    pub fn range_excluding(&mut self, low: i64, high: i64, excluded: i64) -> i64 {
        let value = self.range(low, high - 1);
        if value >= excluded { value + 1 } else { value }
    }

    /// Draws an integer of 1 to 100.
    #[inline]
    pub fn percentage(&mut self) -> i64 {
        self.range(1, 100)
    }

    /// Draws true with a chance of `chance` per cent.
    #[inline]
    pub fn percent(&mut self, chance: i64) -> bool {
        self.percentage() <= chance
    }

    /// Draws a multiple of `step` above `min`, up to `max`.
    #[inline]
    pub fn stepped(&mut self, min: f64, max: f64, step: f64) -> f64 {
        let steps = ((max - min) / step) as i64;
        let taken = self.range(0, steps);
        min + taken as f64 * step
    }

    /// Draws an exponentially distributed delay with that mean. Infinite once in 10^12 draws.
    pub fn negative_exponential(&mut self, mean: f64) -> f64 {
        let u = self.stepped(0.0, 1.0, 1e-12);
        -u.ln() * mean
    }

    /// Draws an exponentially distributed delay with that mean, rounded to whole nanoseconds.
    pub fn negative_exponential_ns(&mut self, mean: f64) -> f64 {
        nanoseconds(self.negative_exponential(mean))
    }

    /// Draws a number of `min` to `max`, not uniform (Clause 2.5; EGen `NURnd`): two draws combined by a bitwise or,
    /// the second of 0 to `a` shifted left by `shift`.
    ///
    /// With `max < min` the first draw is not made and the modulus is negative, as in the reference; with `max` one
    /// below `min` the reference divides by zero, and this returns `min` after the second draw.
    pub fn non_uniform(&mut self, min: i64, max: i64, a: i64, shift: u32) -> i64 {
        let first = self.range(min, max);
        let second = self.range(0, a) << shift;
        (first | second).checked_rem(max - min + 1).unwrap_or(0) + min
    }

    /// Writes `format` with each `a` replaced by a drawn capital letter and each `n` by a drawn digit.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn alphanumeric(&mut self, format: &str, out: &mut impl fmt::Write) -> fmt::Result {
        for c in format.chars() {
            out.write_char(match c {
                'a' => (b'A' + self.below(26) as u8) as char,
                'n' => (b'0' + self.below(10) as u8) as char,
                other => other,
            })?;
        }
        Ok(())
    }
}

/// Rounds seconds to whole nanoseconds, as in the reference.
pub(crate) fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1_000_000_000.0 + 0.5) as i64 as f64 / 1_000_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_is_drawing_unseen() {
        let mut drawn = Rng::new(37_039_940);
        for steps in 0..300 {
            assert_eq!(Rng::at(37_039_940, steps), drawn, "{steps} steps");
            drawn.draw();
        }
    }

    #[test]
    fn ranges_without_a_choice_draw_nothing() {
        let mut rng = Rng::new(5);
        assert_eq!((rng.range(7, 7), rng.range(7, 3), rng.below(1), rng.below(0)), (7, 7, 0, 0));
        assert_eq!(rng, Rng::new(5));
    }

    #[test]
    fn an_empty_non_uniform_range_does_not_divide_by_zero() {
        let mut rng = Rng::new(5);
        assert_eq!(rng.non_uniform(1, 0, 4_095, 16), 1);
        assert_eq!(rng, Rng::at(5, 1));
    }
}
