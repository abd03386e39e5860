//! A driver's place among the drivers of a round.

use bourse_driver::SplitMix;
use std::fmt;

/// Place of a driver among the drivers of a round: number `number` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    number: u32,
    of: u32,
    is_process: bool,
}

impl Share {
    /// The only driver.
    pub const WHOLE: Self = Self { number: 1, of: 1, is_process: false };
    /// The most drivers of one round.
    pub const MOST: u32 = 64;

    /// Driver `number` of `of`; `None` if there is no such driver.
    pub const fn new(number: u32, of: u32) -> Option<Self> {
        if number >= 1 && number <= of && of <= Self::MOST {
            Some(Self { number, of, is_process: false })
        } else {
            None
        }
    }

    /// Process `number` of `of` on one machine, which together are as one driver; `None` if there is no such process.
    pub const fn process(number: u32, of: u32) -> Option<Self> {
        match Self::new(number, of) {
            Some(share) => Some(Self { is_process: true, ..share }),
            None => None,
        }
    }

    /// Its number, counted from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Number of drivers of the round.
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Whether other processes of this machine have the rest of the round.
    pub const fn is_process(self) -> bool {
        self.is_process
    }

    /// Whether there is one driver only.
    pub const fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Seeds of this driver, from a seed that all drivers of the round may have been given: they must not draw the same.
    pub fn seeds(self, seed: u64) -> SplitMix {
        let mut seeds = SplitMix::new(seed);
        if self.is_whole() {
            return seeds;
        }
        let own = (0..self.number).map(|_| seeds.next()).last();
        SplitMix::new(own.unwrap_or(seed))
    }

    /// Number in the whole round of one of this driver's users, both counted from 0: drivers take turns.
    pub const fn number_of(self, user: usize) -> usize {
        user * self.of as usize + self.number as usize - 1
    }

    /// Part of a whole that is shared out among all drivers as evenly as it can be.
    pub fn part(self, whole: usize) -> usize {
        let (number, of) = (self.number as usize, self.of as usize);
        whole * number / of - whole * (number - 1) / of
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_draw_different_seeds_and_parts_are_the_whole() {
        let shares = [1, 2, 3].map(|number| Share::new(number, 3).unwrap());
        let mut first: Vec<u64> = shares.map(|share| share.seeds(7).next()).into();
        first.push(Share::WHOLE.seeds(7).next());
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 4);
        let mut numbers: Vec<_> = shares.iter().flat_map(|share| [0, 1].map(|user| share.number_of(user))).collect();
        numbers.sort_unstable();
        assert_eq!((numbers, Share::WHOLE.number_of(7)), ((0..6).collect(), 7));
        for whole in [0, 2, 3, 64, 100] {
            assert_eq!(shares.map(|share| share.part(whole)).iter().sum::<usize>(), whole);
        }
        assert_eq!((Share::new(0, 2), Share::new(3, 2), Share::new(1, 65)), (None, None, None));
    }
}
