//! The reference generator's random numbers (EGen `CRandom`): one 64-bit linear congruential sequence that can be
//! entered at any step, and the ranges, doubles and texts drawn from it.
//!
//! All `f64` arithmetic here rounds after every single operation, as the reference does: no fused multiply-add, no
//! re-association. A draw that a range does not need (a single value, or bounds the wrong way round) is not made.

use std::fmt;

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1;

/// For each bit of a jump's length the affine map `x -> multiplier * x + increment` of so many steps.
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
    /// The sequence that continues after `state`.
    pub const fn new(state: u64) -> Self {
        Self(state)
    }

    /// The sequence of `seed`, `steps` numbers further on.
    pub fn at(seed: u64, steps: u64) -> Self {
        let mut rng = Self(seed);
        rng.skip(steps);
        rng
    }

    /// The last number drawn, which is all there is to know.
    pub const fn state(self) -> u64 {
        self.0
    }

    /// Passes over `steps` numbers, in time that does not depend on how many.
    pub fn skip(&mut self, steps: u64) {
        let mut left = steps;
        while left != 0 {
            let (multiplier, increment) = JUMPS[left.trailing_zeros() as usize];
            self.0 = multiplier.wrapping_mul(self.0).wrapping_add(increment);
            left &= left - 1;
        }
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        self.0
    }

    /// Where the present number falls among `count` equal parts of the whole range: 0 to `count - 1`, without a draw.
    #[inline]
    pub const fn scaled(self, count: u64) -> u64 {
        ((self.0 as u128 * count as u128) >> 64) as u64
    }

    /// An integer of 0 to `count - 1`; no draw if `count` is 1 or 0.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        if count <= 1 {
            return 0;
        }
        self.draw();
        self.scaled(count)
    }

    /// An integer of `min` to `max`, both included; `min` without a draw unless `max` is greater.
    #[inline]
    pub fn range(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        min.wrapping_add(self.below((max.wrapping_sub(min) as u64).wrapping_add(1)) as i64)
    }

    /// An integer of `low` to `high` that is not `excluded`.
    pub fn range_excluding(&mut self, low: i64, high: i64, excluded: i64) -> i64 {
        let value = self.range(low, high - 1);
        if value >= excluded { value + 1 } else { value }
    }

    /// An integer of 1 to 100.
    #[inline]
    pub fn percentage(&mut self) -> i64 {
        self.range(1, 100)
    }

    /// True so many times in a hundred.
    #[inline]
    pub fn percent(&mut self, chance: i64) -> bool {
        self.percentage() <= chance
    }

    /// A multiple of `step` above `min`, up to `max`.
    #[inline]
    pub fn stepped(&mut self, min: f64, max: f64, step: f64) -> f64 {
        let steps = ((max - min) / step) as i64;
        let taken = self.range(0, steps);
        min + taken as f64 * step
    }

    /// A delay of that mean, exponentially distributed. Infinite once in 10^12 draws.
    pub fn negative_exponential(&mut self, mean: f64) -> f64 {
        let u = self.stepped(0.0, 1.0, 1e-12);
        -u.ln() * mean
    }

    /// The same, in whole nanoseconds.
    pub fn negative_exponential_ns(&mut self, mean: f64) -> f64 {
        nanoseconds(self.negative_exponential(mean))
    }

    /// A number of `min` to `max`, not uniform (Clause 2.5; EGen `NURnd`): two draws, the second of 0 to `a` shifted
    /// left by `shift`, overlaid.
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

/// Seconds rounded to whole nanoseconds, as the reference does.
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
