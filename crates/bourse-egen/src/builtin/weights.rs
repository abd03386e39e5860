//! Weights with a given total that decrease like frequencies of names and sizes of towns.

use std::fmt::{Display, Write};

/// `count` descending weights of at least 1 whose sum is `total`: close to `c / (rank + flatness)`.
///
/// With a smaller `flatness` the first weights stand out more.
pub(super) fn descending(count: usize, total: usize, flatness: usize) -> Vec<usize> {
    debug_assert!(flatness > 0 && count <= total);
    // The largest c whose weights do not exceed the total; c = 0 gives the least, `count`.
    let (mut low, mut high) = (0, total * flatness);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(count, total, middle, flatness) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let mut weights: Vec<usize> = (0..count).map(|rank| weight(rank, low, flatness)).collect();
    // One step of c changes each weight by 1 at most, so that what is missing goes once round.
    let missing = total - weights.iter().sum::<usize>();
    for weight in &mut weights[..missing] {
        *weight += 1;
    }
    weights
}

fn weight(rank: usize, c: usize, flatness: usize) -> usize {
    (c / (rank + flatness)).max(1)
}

/// Whether the sum of the weights for `c` is at most `total`. Sums no more of them than necessary.
fn fits(count: usize, total: usize, c: usize, flatness: usize) -> bool {
    // What is left for weights above 1, once every value has its 1; from a certain rank on they have no more than that.
    let mut left = total - count;
    for rank in 0..c.saturating_sub(flatness).min(count) {
        match left.checked_sub(weight(rank, c, flatness) - 1) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

/// A weighted file: each value after its weight, weights falling to a sum of `total`.
pub(super) fn weighted_lines<T: Display>(values: &[T], total: usize, flatness: usize) -> String {
    let mut text = String::with_capacity(values.len() * 12);
    for (value, weight) in values.iter().zip(descending(values.len(), total, flatness)) {
        writeln!(text, "{weight}\t{value}").expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_fall_and_sum_up() {
        for (count, total, flatness) in
            [(1, 1, 1), (5, 5, 1), (5, 23, 1), (284, 306, 3), (1220, 9554, 8), (65000, 69195, 8)]
        {
            let weights = descending(count, total, flatness);
            assert_eq!((weights.len(), weights.iter().sum::<usize>()), (count, total));
            assert!(weights.is_sorted_by(|a, b| a >= b) && weights[count - 1] >= 1);
        }
    }
}
