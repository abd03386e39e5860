//! Keys of operations, drawn before the clock starts.

use crate::options::{OptionKind, WorkloadOption, WorkloadOptions, option};
use bourse_record::SplitMix;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Distribution of keys over a range of `n`.
#[derive(Debug, Clone)]
pub enum KeyDistribution {
    /// All keys equally often.
    Uniform,
    /// A few keys very often: the k-th most popular of n with a probability proportional to k^-0.99, YCSB's exponent.
    /// Popular keys are scattered over the range.
    Zipfian(Arc<Zipf>),
    /// The k-th latest of the keys with the probability of the k-th most popular: YCSB's distribution of that name.
    Latest(Zipf),
    /// Keys in ascending order, cyclically; each thread begins at another one.
    Sequential,
}

/// Option: the distribution of a workload's keys.
pub(crate) const KEYS: WorkloadOption = option!("keys" => OptionKind::Word(&["uniform", "zipfian", "latest", "sequential"]), "uniform",
    "distribution of keys: uniform, zipfian (exactly, exponent 0.99, scattered), latest (the same, from the \
     last key on), or sequential");

impl KeyDistribution {
    /// Distribution that the option [`KEYS`] selects, over `n` keys.
    pub(crate) fn chosen(options: &WorkloadOptions, n: u64) -> Self {
        match options.text(KEYS.name) {
            "zipfian" => Self::Zipfian(Arc::new(Zipf::new(n))),
            "latest" => Self::Latest(Zipf::new(n)),
            "sequential" => Self::Sequential,
            _ => Self::Uniform,
        }
    }
}

/// Zipf's distribution over `n` ranks: rank k with a probability proportional to k^-0.99, exactly, by
/// rejection-inversion (Hörmann & Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996).
///
/// A point under the curve x^-0.99 between ½ and n + ½ is drawn by inverting the curve's integral, and the rank is the integer
/// next to it. Each rank's strip of the curve is larger than its bar, since the curve is convex: a point outside of the bar is
/// rejected, and another one is drawn.
#[derive(Debug, Clone)]
pub struct Zipf {
    n: u64,
    /// Integral at the upper end of the first rank's bar, less that bar: the lower bound of points.
    from: f64,
    /// Integral at n + ½: the upper bound of points.
    to: f64,
    /// Distance below a rank within which every point belongs to its bar.
    sure: f64,
    /// Multiplier coprime to `n`, which maps ranks to scattered keys one to one.
    scatter: u64,
}

/// Exponent of the distribution.
const THETA: f64 = 0.99;

/// Height of rank x's bar.
fn height(x: f64) -> f64 {
    x.powf(-THETA)
}

/// An integral of the heights.
fn integral(x: f64) -> f64 {
    100.0 * x.powf(0.01)
}

/// The inverse of [`integral`]: (y / 100)^100, by products, which are the same on every machine.
fn inverse(y: f64) -> f64 {
    let square = |x: f64| x * x;
    let fourth = square(square(y * 0.01));
    let thirty_second = square(square(square(fourth)));
    square(thirty_second) * thirty_second * fourth
}

impl Zipf {
    /// Maximum number of ranks: with as many the bounds between ranks are still exact to a hundred-thousandth of a
    /// rank.
    pub const MAX_RANKS: u64 = 1_000_000_000;

    /// A distribution over `n` ranks, at least one.
    pub fn new(n: u64) -> Self {
        let n = n.max(1);
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
        let sure = 2.0 - inverse(integral(2.5) - height(2.0));
        Self { n, from: integral(1.5) - height(1.0), to: integral(n as f64 + 0.5), sure, scatter }
    }

    /// Changes the number of ranks, but not the scattered keys.
    fn resize(&mut self, n: u64) {
        if self.n != n {
            self.n = n;
            self.to = integral(n as f64 + 0.5);
        }
    }

    /// Draws a rank, from 0.
    fn rank(&self, random: &mut SplitMix) -> u64 {
        loop {
            let at = self.from + random.unit() * (self.to - self.from);
            let x = inverse(at);
            let rank = ((x + 0.5) as u64).clamp(1, self.n);
            let rank_x = rank as f64;
            if rank_x - x <= self.sure || at >= integral(rank_x + 0.5) - height(rank_x) {
                return rank - 1;
            }
        }
    }
}

/// Keys of a table that grows, from 0: each is inserted by one user, and drawn by others once all before it are committed.
#[derive(Debug)]
pub(crate) struct GrowingKeys {
    /// Number of keys that can be drawn.
    visible: AtomicU64,
    inserts: Mutex<Inserts>,
}

#[derive(Debug)]
struct Inserts {
    next: u64,
    /// Keys whose insertion failed.
    failed: Vec<u64>,
    /// Committed keys with others before them that are not.
    committed: BTreeSet<u64>,
}

impl GrowingKeys {
    /// A table with the keys below `rows`.
    pub(crate) fn new(rows: u64) -> Self {
        let inserts = Inserts { next: rows, failed: Vec::new(), committed: BTreeSet::new() };
        Self { visible: AtomicU64::new(rows), inserts: Mutex::new(inserts) }
    }

    /// Number of keys that can be drawn.
    pub(crate) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    fn inserts(&self) -> MutexGuard<'_, Inserts> {
        self.inserts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key to insert, of no other user.
    pub(crate) fn take(&self) -> u64 {
        let mut inserts = self.inserts();
        inserts.failed.pop().unwrap_or_else(|| {
            inserts.next += 1;
            inserts.next - 1
        })
    }

    /// Ends the insertion of a key; one that failed is inserted by the next user who takes a key.
    pub(crate) fn ended(&self, key: u64, is_committed: bool) {
        let mut inserts = self.inserts();
        if !is_committed {
            return inserts.failed.push(key);
        }
        inserts.committed.insert(key);
        let mut visible = self.visible();
        while inserts.committed.remove(&visible) {
            visible += 1;
        }
        self.visible.store(visible, Ordering::Release);
    }
}

/// Keys of one thread, from 0 to n − 1.
#[derive(Debug, Clone)]
pub struct KeyStream {
    distribution: KeyDistribution,
    n: u64,
    random: SplitMix,
    at: u64,
    growth: Option<Arc<GrowingKeys>>,
}

impl KeyStream {
    /// Keys of thread number `thread` of `threads`; all threads share the seed.
    pub fn new(distribution: KeyDistribution, n: u64, seed: u64, thread: usize, threads: usize) -> Self {
        let mut seeds = SplitMix::new(seed);
        let own = (0..=thread).map(|_| seeds.next()).last().unwrap_or(seed);
        let at = n / (threads.max(1) as u64) * thread as u64;
        Self { distribution, n: n.max(1), random: SplitMix::new(own), at, growth: None }
    }

    /// Leaves out the keys that are not yet in a growing table: popular keys stay so, as in YCSB.
    pub(crate) fn within(self, growth: Option<Arc<GrowingKeys>>) -> Self {
        Self { growth, ..self }
    }

    /// Draws `count` keys and adds to `drawn` what `each` converts them to.
    #[inline]
    pub fn draw<T>(&mut self, count: u64, drawn: &mut Vec<T>, mut each: impl FnMut(u64) -> T) {
        if let (KeyDistribution::Uniform, None) = (&self.distribution, &self.growth) {
            // The usual case, with its state in registers.
            let (mut random, n) = (self.random.clone(), self.n);
            drawn.extend((0..count).map(|_| each(random.below(n))));
            self.random = random;
        } else {
            drawn.extend((0..count).map(|_| each(self.next_key())));
        }
    }

    /// The next key.
    pub fn next_key(&mut self) -> u64 {
        let Some(growth) = &self.growth else { return self.any_key(self.n) };
        let visible = growth.visible();
        loop {
            let key = self.any_key(visible);
            if key < visible {
                return key;
            }
        }
    }

    /// The next key; `n` is the number of keys there are.
    fn any_key(&mut self, n: u64) -> u64 {
        match &mut self.distribution {
            KeyDistribution::Uniform => self.random.below(self.n),
            KeyDistribution::Latest(zipf) => {
                zipf.resize(n);
                n - 1 - zipf.rank(&mut self.random)
            }
            KeyDistribution::Zipfian(zipf) => {
                let rank = zipf.rank(&mut self.random);
                (u128::from(rank) * u128::from(zipf.scatter) % u128::from(self.n)) as u64
            }
            KeyDistribution::Sequential => {
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

    fn counts(distribution: KeyDistribution, n: u64) -> Vec<u64> {
        let mut stream = KeyStream::new(distribution, n, 1, 0, 1);
        let mut counts = vec![0; n as usize];
        (0..200_000).for_each(|_| counts[stream.next_key() as usize] += 1);
        counts
    }

    #[test]
    fn uniform_keys_come_as_often() {
        let counts = counts(KeyDistribution::Uniform, 100);
        assert!(counts.iter().all(|count| (1_800..2_200).contains(count)), "{counts:?}");
    }

    /// Compares many drawn ranks of `n` with their exact probabilities: Pearson's χ² is at most five standard deviations
    /// above its mean. Gray's approximation, which YCSB uses, exceeds it: it draws the third of 1,000 ranks 19 % too often.
    fn check_ranks(n: u64, mut rank: impl FnMut() -> u64) {
        const DRAWN: usize = 1_000_000;
        let mut counts = vec![0.0; n as usize];
        (0..DRAWN).for_each(|_| counts[rank() as usize] += 1.0);
        let zeta: f64 = (1..=n).map(|rank| height(rank as f64)).sum();
        let deviation = |(rank, found): (u64, &f64)| {
            let expected = DRAWN as f64 * height(rank as f64) / zeta;
            (found - expected).powi(2) / expected
        };
        let chi_square: f64 = (1..).zip(&counts).map(deviation).sum();
        let freedom = (n - 1) as f64;
        let bound = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
        assert!(chi_square < bound, "{n} ranks: χ² {chi_square:.1}, at most {bound:.1}: {counts:?}");
    }

    #[test]
    fn zipfian_ranks_come_with_their_exact_probabilities() {
        for n in [1, 2, 3, 10, 1_000] {
            let (zipf, mut random) = (Zipf::new(n), SplitMix::new(n + 11));
            check_ranks(n, || zipf.rank(&mut random));
        }
    }

    #[test]
    fn the_latest_keys_come_with_the_probabilities_of_ranks_as_their_number_grows() {
        let growth = Arc::new(GrowingKeys::new(3));
        let latest = KeyStream::new(KeyDistribution::Latest(Zipf::new(3)), 3, 5, 0, 1);
        let mut latest = latest.within(Some(Arc::clone(&growth)));
        for n in [3, 4, 500, 1_000] {
            (growth.visible()..n).for_each(|_| growth.ended(growth.take(), true));
            check_ranks(n, || n - 1 - latest.next_key());
        }
    }

    #[test]
    fn keys_are_inserted_once_and_drawn_when_all_before_them_are_there() {
        let growth = GrowingKeys::new(10);
        let taken = [(); 4].map(|()| growth.take());
        assert_eq!(taken, [10, 11, 12, 13]);
        for (key, is_committed, visible) in [(11, true, 10), (13, true, 10), (10, true, 12), (12, false, 12)] {
            growth.ended(key, is_committed);
            assert_eq!(growth.visible(), visible, "after {key}");
        }
        assert_eq!([growth.take(), growth.take()], [12, 14], "the one that failed is inserted again");
        growth.ended(12, true);
        assert_eq!(growth.visible(), 14);
    }

    #[test]
    fn popular_keys_stay_so_while_a_table_grows() {
        let growth = Arc::new(GrowingKeys::new(500));
        let zipfian = KeyDistribution::Zipfian(Arc::new(Zipf::new(1_000)));
        let mut stream = KeyStream::new(zipfian, 1_000, 7, 0, 1).within(Some(Arc::clone(&growth)));
        let mut drawn = |below: u64| {
            let mut counts = vec![0; 1_000];
            (0..100_000).for_each(|_| counts[stream.next_key() as usize] += 1);
            assert!(counts[below as usize..].iter().all(|count| *count == 0), "what is not there is not drawn");
            counts
        };
        let before = drawn(500);
        (0..500).for_each(|_| growth.ended(growth.take(), true));
        let after = drawn(1_000);
        let most = |counts: &[i32]| (0..500).max_by_key(|at| counts[*at]);
        assert_eq!(most(&before), most(&after));
        assert!(after[500..].iter().sum::<i32>() > 20_000, "inserted keys are drawn too");
    }

    #[test]
    fn bounds_between_the_last_ranks_are_exact() {
        for x in [1.5, 2.5, 1_000.5, Zipf::MAX_RANKS as f64 + 0.5] {
            let found = inverse(integral(x));
            assert!((found - x).abs() < x * 1e-12, "{found}, expected {x}");
        }
        let (zipf, mut random) = (Zipf::new(Zipf::MAX_RANKS), SplitMix::new(1));
        assert!((0..100_000).all(|_| zipf.rank(&mut random) < Zipf::MAX_RANKS));
    }

    #[test]
    fn zipfian_ranks_are_scattered_over_the_keys() {
        let n = 1_000;
        let mut counts = counts(KeyDistribution::Zipfian(Arc::new(Zipf::new(n))), n);
        assert!(counts.iter().filter(|count| **count > 0).count() > 900, "all keys are in reach");
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        assert!(counts[0] > 20_000, "{}", counts[0]);
        for n in 1..40 {
            let zipf = Zipf::new(n);
            let mut keys: Vec<_> = (0..n).map(|rank| rank * zipf.scatter % n).collect();
            keys.sort_unstable();
            assert_eq!(keys, (0..n).collect::<Vec<_>>(), "scattering {n} keys loses none");
        }
    }

    #[test]
    fn keys_drawn_together_are_those_drawn_one_by_one() {
        for distribution in [KeyDistribution::Uniform, KeyDistribution::Sequential] {
            let mut stream = KeyStream::new(distribution, 1_000, 7, 0, 1);
            let mut alone = stream.clone();
            let mut drawn = vec![0];
            (0..2).for_each(|_| stream.draw(10, &mut drawn, |key| key + 1));
            assert!(drawn.into_iter().skip(1).eq((0..20).map(|_| alone.next_key() + 1)));
        }
    }

    #[test]
    fn threads_begin_apart_and_seeds_repeat() {
        let first = |thread| KeyStream::new(KeyDistribution::Sequential, 100, 7, thread, 4).next_key();
        assert_eq!([first(0), first(1), first(3)], [0, 25, 75]);
        let some = |seed, thread| {
            let mut stream = KeyStream::new(KeyDistribution::Uniform, 1 << 40, seed, thread, 4);
            [stream.next_key(), stream.next_key()]
        };
        assert_eq!(some(7, 2), some(7, 2));
        assert_ne!(some(7, 2), some(7, 3));
        assert_ne!(some(7, 2), some(8, 2));
    }
}
