//! Change points of a series of figures, one for each run of a history: where the figures before differ from those after.
//!
//! Of every cut the Mann–Whitney sum of ranks is taken, in units of its standard deviation; the cut with the largest is
//! tested. Its probability by chance is found from random orders of the same figures, which needs no assumption about how they
//! scatter, and holds for the best of all cuts. What is found cuts the series in two, and each part is searched again
//! (binary segmentation). The level holds for each search, not for all of them together.

use crate::{Estimate, SplitMix, ratio_of_groups};

/// Fewest figures on either side of a change.
pub const FEWEST: usize = 4;
/// Random orders that a cut is held against.
const ORDERS: u64 = 1_999;
/// Probability of a change where there is none, for one search.
const FALSE_CHANGE: f64 = 0.01;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Place of the first figure of the new level, from 0.
    pub at: usize,
    /// Ratio of the figures after it, up to the next change, to those before it, from the one before.
    pub ratio: Estimate,
}

/// Changes in a series of figures in their order of time, the earliest first. None where there are fewer than eight figures, or one is
/// not above 0.
///
/// ```
/// use bourse_stats::change_points::change_points;
/// let figures = [100.0, 101.0, 99.0, 100.5, 98.7, 101.2, 90.1, 89.5, 91.0, 90.4, 89.9, 90.8];
/// let found = change_points(&figures);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].at, 6);
/// assert!((found[0].ratio.value - 0.9).abs() < 0.01);
/// assert!(change_points(&figures[..6]).is_empty());
/// ```
pub fn change_points(figures: &[f64]) -> Vec<ChangePoint> {
    if figures.iter().any(|it| !it.is_finite() || *it <= 0.0) {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    search(figures, 0, &mut cuts);
    cuts.sort_unstable();
    let ends = |nth: usize| {
        let before = if nth == 0 { 0 } else { cuts[nth - 1] };
        (before, cuts[nth], cuts.get(nth + 1).copied().unwrap_or(figures.len()))
    };
    let change = |nth: usize| {
        let (before, at, after) = ends(nth);
        Some(ChangePoint { at, ratio: ratio_of_groups(&figures[before..at], &figures[at..after])? })
    };
    (0..cuts.len()).filter_map(change).collect()
}

fn search(figures: &[f64], first: usize, cuts: &mut Vec<usize>) {
    let Some((cut, most)) = best_cut(&ranks(figures)) else { return };
    // The same figures always give the same answer.
    let mut random = SplitMix::new(figures.len() as u64);
    let mut order = ranks(figures);
    let mut as_far = 0;
    for _ in 0..ORDERS {
        random.shuffle(&mut order);
        as_far += u64::from(best_cut(&order).is_some_and(|(_, by_chance)| by_chance >= most - 1e-9));
    }
    // The order that was seen is one of them.
    let probability = (as_far + 1) as f64 / (ORDERS + 1) as f64;
    if probability > FALSE_CHANGE {
        return;
    }
    cuts.push(first + cut);
    search(&figures[..cut], first, cuts);
    search(&figures[cut..], first + cut, cuts);
}

/// Ranks from 1; equal figures share the mean of theirs.
fn ranks(figures: &[f64]) -> Vec<f64> {
    let rank = |figure: &f64| {
        let below = figures.iter().filter(|it| *it < figure).count();
        let alike = figures.iter().filter(|it| *it == figure).count();
        below as f64 + (alike as f64 + 1.0) / 2.0
    };
    figures.iter().map(rank).collect()
}

/// The cut whose sum of ranks is the farthest from its mean, with that distance in standard deviations.
fn best_cut(ranks: &[f64]) -> Option<(usize, f64)> {
    let count = ranks.len();
    let mut sum: f64 = ranks.iter().take(FEWEST - 1).sum();
    let mut best: Option<(usize, f64)> = None;
    for cut in FEWEST..=count.saturating_sub(FEWEST) {
        sum += ranks[cut - 1];
        let (before, after) = (cut as f64, (count - cut) as f64);
        let mean = before * (count as f64 + 1.0) / 2.0;
        let deviation = (before * after * (count as f64 + 1.0) / 12.0).sqrt();
        let distance = (sum - mean).abs() / deviation;
        if best.is_none_or(|(_, known)| distance > known) {
            best = Some((cut, distance));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures that scatter by 3 %, with a change of level by `factor` at a place.
    fn series(random: &mut SplitMix, count: usize, change: Option<(usize, f64)>) -> Vec<f64> {
        let level = |at: usize| change.filter(|(place, _)| at >= *place).map_or(1.0, |(_, factor)| factor);
        (0..count).map(|at| 100.0 * level(at) * (0.03 * random.normal()).exp()).collect()
    }

    #[test]
    fn a_level_series_has_a_change_as_seldom_as_the_level_says() {
        let mut random = SplitMix::new(5);
        for count in [8, 12, 30] {
            let wrong = (0..300).filter(|_| !change_points(&series(&mut random, count, None)).is_empty()).count();
            assert!(wrong <= 9, "{count} figures: {wrong} of 300"); // 3 expected at 1 %
        }
    }

    #[test]
    fn a_change_of_a_tenth_is_found_where_it_is() {
        let mut random = SplitMix::new(6);
        let mut near = 0;
        for _ in 0..100 {
            let found = change_points(&series(&mut random, 20, Some((12, 0.9))));
            near += usize::from(found.iter().any(|it| it.at.abs_diff(12) <= 1 && (it.ratio.value - 0.9).abs() < 0.05));
        }
        assert!(near >= 90, "{near} of 100");
    }

    #[test]
    fn two_changes_are_told_apart() {
        let mut random = SplitMix::new(7);
        let mut figures = series(&mut random, 24, Some((8, 1.3)));
        figures.iter_mut().skip(16).for_each(|it| *it *= 0.6);
        let places: Vec<usize> = change_points(&figures).iter().map(|it| it.at).collect();
        assert_eq!(places, [8, 16]);
    }

    #[test]
    fn what_has_no_logarithm_has_no_changes() {
        assert!(change_points(&[1.0, 1.0, 1.0, 1.0, 0.0, 2.0, 2.0, 2.0]).is_empty());
        assert!(change_points(&[3.0; 20]).is_empty());
        assert!(change_points(&[]).is_empty());
    }
}
