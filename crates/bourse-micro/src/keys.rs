//! Which keys are asked for: drawn before the clock starts.

use crate::options::{Kind, OptionSpec, Options};
use bourse_record::SplitMix;
use std::sync::Arc;

/// How often each of `n` keys is drawn.
#[derive(Debug, Clone)]
pub enum Distribution {
    /// All as often.
    Uniform,
    /// A few very often: the k-th most popular of n in proportion to k^-0.99, as YCSB has it. The popular ones lie
    /// scattered over the range.
    Zipfian(Arc<Zipf>),
    /// One after the other, around and around; each thread begins at another place.
    Sequential,
}

/// The option by which a workload lets its distribution be chosen.
pub(crate) const KEYS: OptionSpec = OptionSpec {
    name: "keys",
    kind: Kind::Word(&["uniform", "zipfian", "sequential"]),
    default: "uniform",
    meaning: "distribution of keys: uniform, zipfian (exponent 0.99, scattered), or sequential",
};

impl Distribution {
    /// The one that the option [`KEYS`] names, over `n` keys.
    pub(crate) fn chosen(options: &Options, n: u64) -> Self {
        match options.text(KEYS.name) {
            "zipfian" => Self::Zipfian(Arc::new(Zipf::new(n))),
            "sequential" => Self::Sequential,
            _ => Self::Uniform,
        }
    }
}

/// Constants of Zipf's distribution over `n` ranks (Gray et al., "Quickly Generating Billion-Record Synthetic
/// Databases", SIGMOD 1994, section 3.2).
#[derive(Debug)]
pub struct Zipf {
    n: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
    /// Coprime to `n`: multiplying by it scatters ranks over keys, each to another.
    scatter: u64,
}

const THETA: f64 = 0.99;

impl Zipf {
    /// Over so many ranks, at least one.
    pub fn new(n: u64) -> Self {
        let n = n.max(1);
        let zeta: f64 = (1..=n).map(|rank| (rank as f64).powf(-THETA)).sum();
        let two = 1.0 + 0.5f64.powf(THETA);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - THETA)) / (1.0 - two / zeta);
        let divides = |a: u64, b: u64| {
            let (mut a, mut b) = (a, b);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        // Near the golden section of the range, so that neighbours in rank end up far apart.
        let mut scatter = (n as f64 * 0.618_033_988_749_895) as u64 | 1;
        while divides(scatter, n) != 1 {
            scatter += 2;
        }
        Self { n, zeta, alpha: 1.0 / (1.0 - THETA), eta, scatter }
    }

    /// The rank that the uniform number `u` falls to, from 0.
    fn rank(&self, u: f64) -> u64 {
        let at = u * self.zeta;
        if at < 1.0 {
            return 0;
        }
        if at < 1.0 + 0.5f64.powf(THETA) {
            return 1.min(self.n - 1);
        }
        ((self.n as f64 * (self.eta * u - self.eta + 1.0).powf(self.alpha)) as u64).min(self.n - 1)
    }
}

/// One thread's keys, from 0 to n − 1.
#[derive(Debug, Clone)]
pub struct KeyStream {
    distribution: Distribution,
    n: u64,
    random: SplitMix,
    at: u64,
}

impl KeyStream {
    /// Keys of thread number `thread` of `threads`, of a seed that all threads share.
    pub fn new(distribution: Distribution, n: u64, seed: u64, thread: usize, threads: usize) -> Self {
        let mut seeds = SplitMix::new(seed);
        let own = (0..=thread).map(|_| seeds.next()).last().unwrap_or(seed);
        let at = n / (threads.max(1) as u64) * thread as u64;
        Self { distribution, n: n.max(1), random: SplitMix::new(own), at }
    }

    /// Draws so many keys and adds to `drawn` what `each` makes of them.
    #[inline]
    pub fn draw<T>(&mut self, count: u64, drawn: &mut Vec<T>, mut each: impl FnMut(u64) -> T) {
        if let Distribution::Uniform = self.distribution {
            // What most draw: by numbers that stay in registers.
            let (mut random, n) = (self.random.clone(), self.n);
            drawn.extend((0..count).map(|_| each(random.below(n))));
            self.random = random;
        } else {
            drawn.extend((0..count).map(|_| each(self.next_key())));
        }
    }

    /// The next key.
    pub fn next_key(&mut self) -> u64 {
        match &self.distribution {
            Distribution::Uniform => self.random.below(self.n),
            Distribution::Zipfian(zipf) => {
                let rank = zipf.rank(self.random.unit());
                (u128::from(rank) * u128::from(zipf.scatter) % u128::from(self.n)) as u64
            }
            Distribution::Sequential => {
                let key = self.at;
                self.at = (self.at + 1) % self.n;
                key
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(distribution: Distribution, n: u64) -> Vec<u64> {
        let mut stream = KeyStream::new(distribution, n, 1, 0, 1);
        let mut counts = vec![0; n as usize];
        (0..200_000).for_each(|_| counts[stream.next_key() as usize] += 1);
        counts
    }

    #[test]
    fn uniform_keys_come_as_often() {
        let counts = counts(Distribution::Uniform, 100);
        assert!(counts.iter().all(|count| (1_800..2_200).contains(count)), "{counts:?}");
    }

    #[test]
    fn zipfian_keys_come_by_their_rank() {
        let n = 1_000;
        let mut counts = counts(Distribution::Zipfian(Arc::new(Zipf::new(n))), n);
        assert!(counts.iter().filter(|count| **count > 0).count() > 900, "all keys are in reach");
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let zeta: f64 = (1..=n).map(|rank| (rank as f64).powf(-THETA)).sum();
        for rank in [1, 2, 10, 100] {
            let expected = 200_000.0 * (rank as f64).powf(-THETA) / zeta;
            let found = counts[rank - 1] as f64;
            // The approximation's own error is a few percent in the middle ranks.
            assert!((found / expected - 1.0).abs() < 0.2, "rank {rank}: {found}, expected {expected}");
        }
        for n in 1..40 {
            let zipf = Zipf::new(n);
            let mut keys: Vec<_> = (0..n).map(|rank| rank * zipf.scatter % n).collect();
            keys.sort_unstable();
            assert_eq!(keys, (0..n).collect::<Vec<_>>(), "scattering {n} keys loses none");
        }
    }

    #[test]
    fn keys_drawn_together_are_those_drawn_one_by_one() {
        for distribution in [Distribution::Uniform, Distribution::Sequential] {
            let mut stream = KeyStream::new(distribution, 1_000, 7, 0, 1);
            let mut alone = stream.clone();
            let mut drawn = vec![0];
            (0..2).for_each(|_| stream.draw(10, &mut drawn, |key| key + 1));
            assert!(drawn.into_iter().skip(1).eq((0..20).map(|_| alone.next_key() + 1)));
        }
    }

    #[test]
    fn threads_begin_apart_and_seeds_repeat() {
        let first = |thread| KeyStream::new(Distribution::Sequential, 100, 7, thread, 4).next_key();
        assert_eq!([first(0), first(1), first(3)], [0, 25, 75]);
        let some = |seed, thread| {
            let mut stream = KeyStream::new(Distribution::Uniform, 1 << 40, seed, thread, 4);
            [stream.next_key(), stream.next_key()]
        };
        assert_eq!(some(7, 2), some(7, 2));
        assert_ne!(some(7, 2), some(7, 3));
        assert_ne!(some(7, 2), some(8, 2));
    }
}
