//! Change points of a history of figures, one figure a run: positions at which the level changes.
//!
//! For every cut the Mann–Whitney sum of ranks is computed, in units of its standard deviation; the cut with the
//! largest is tested. Its probability by chance is found from random orders of the same figures, which needs no
//! assumption about their distribution, and holds for the best of all cuts. A change cuts the series in two, and each
//! part is searched again (binary segmentation). The level holds for each search, not for all of them together.
//!
//! Random orders assume that the figures are independent. Runs of one session, or of one day, are correlated; a level
//! that merely wanders then resembles one that changes. So the means on both sides of a change must also be `DISTANCE`
//! standard errors apart, computed from the correlation of neighbouring figures apart from the changes; the cut whose
//! means are closest is removed first, until all satisfy this. Rates of false and true detections, verified by this
//! module's test:
#![doc = include_str!("change_points.md")]

use crate::{Estimate, SplitMix, ratio_of_groups};

/// Minimum number of figures on either side of a change.
pub const MIN_SIDE_FIGURES: usize = 4;
/// Number of random orders that a cut is compared with.
const ORDERS: u64 = 1_999;
/// Probability of a false change in one search, if figures are independent.
const FALSE_CHANGE: f64 = 0.01;
/// Minimum distance of the means on both sides of a change, in standard errors.
const DISTANCE: f64 = 4.0;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first figure of the new level, from 0.
    pub at: usize,
    /// Ratio of the figures from here to the next change to those from the previous change to here.
    pub ratio: Estimate,
}

/// Changes in a series of figures in order of time. Empty for fewer than eight figures, or if one is not above 0.
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
    let logarithms: Vec<f64> = figures.iter().map(|it| it.ln()).collect();
    while let Some((at, nearest)) =
        distances(&logarithms, &cuts).into_iter().enumerate().min_by(|one, other| one.1.total_cmp(&other.1))
        && nearest < DISTANCE
    {
        cuts.remove(at);
    }
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

/// Distance of the means before and after each cut, in standard errors.
fn distances(values: &[f64], cuts: &[usize]) -> Vec<f64> {
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([values.len()]).collect();
    let parts: Vec<&[f64]> = edges.windows(2).map(|edge| &values[edge[0]..edge[1]]).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let off: Vec<f64> = parts.iter().flat_map(|part| part.iter().map(|it| it - mean(part))).collect();
    let (count, levels) = (values.len() as f64, parts.len() as f64);
    let square: f64 = off.iter().map(|it| it * it).sum();
    let common: f64 = off.windows(2).map(|it| it[0] * it[1]).sum();
    let raw = if square > 0.0 { common / square } else { 0.0 };
    // The correlation is underestimated next to fitted levels, the more so the larger it is; the factors are from
    // simulation.
    let alike = ((raw + 2.0 * levels / count) / (1.0 - 6.0 * levels / count).max(0.2)).clamp(0.0, 0.95);
    let variance = square / (count - levels).max(1.0) * (1.0 + alike) / (1.0 - alike);
    let apart = |pair: &[&[f64]]| {
        let error = (variance * (1.0 / pair[0].len() as f64 + 1.0 / pair[1].len() as f64)).sqrt();
        let apart = (mean(pair[0]) - mean(pair[1])).abs();
        if apart > 0.0 { apart / error } else { 0.0 }
    };
    parts.windows(2).map(apart).collect()
}

/// Ranks from 1; equal figures share their mean rank.
fn ranks(figures: &[f64]) -> Vec<f64> {
    let rank = |figure: &f64| {
        let below = figures.iter().filter(|it| *it < figure).count();
        let alike = figures.iter().filter(|it| *it == figure).count();
        below as f64 + (alike as f64 + 1.0) / 2.0
    };
    figures.iter().map(rank).collect()
}

/// Cut whose sum of ranks is farthest from its expectation, with that distance in standard deviations.
fn best_cut(ranks: &[f64]) -> Option<(usize, f64)> {
    let count = ranks.len();
    let mut sum: f64 = ranks.iter().take(MIN_SIDE_FIGURES - 1).sum();
    let mut best: Option<(usize, f64)> = None;
    for cut in MIN_SIDE_FIGURES..=count.saturating_sub(MIN_SIDE_FIGURES) {
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

    /// Figures that scatter by 3 %, with a change of level by a factor at an index.
    fn series(random: &mut SplitMix, count: usize, change: Option<(usize, f64)>) -> Vec<f64> {
        let level = |at: usize| change.filter(|(place, _)| at >= *place).map_or(1.0, |(_, factor)| factor);
        (0..count).map(|at| 100.0 * level(at) * (0.03 * random.normal()).exp()).collect()
    }

    /// A history of figures, as parts of their mean.
    #[derive(Clone, Copy)]
    enum FigureHistory {
        /// Autoregressive: each figure retains this share of the previous deviation.
        Alike(f64),
        /// Sessions of five runs: runs of a session scatter by 1 %, sessions by 3 %.
        Sessions,
    }

    impl FigureHistory {
        fn figures(self, count: usize, random: &mut SplitMix) -> Vec<f64> {
            let mut last = random.normal();
            let figure = |at: usize| {
                let fresh = random.normal();
                let off = match self {
                    Self::Alike(share) => {
                        last = share * last + (1.0 - share * share).sqrt() * fresh;
                        0.03 * last
                    }
                    Self::Sessions => {
                        if at.is_multiple_of(5) {
                            last = random.normal();
                        }
                        0.03 * last + 0.01 * fresh
                    }
                };
                100.0 * off.exp()
            };
            (0..count).map(figure).collect()
        }
    }

    #[test]
    fn changes_are_found_where_there_are_some_and_the_table_says_how_often() {
        const SERIES: u32 = 200;
        const LENGTHS: [usize; 4] = [12, 20, 30, 50];
        let mut table = String::from("\n| no change | 12 runs | 20 | 30 | 50 |\n|---|---|---|---|---|\n");
        let kinds = [
            ("independent, 3 %", FigureHistory::Alike(0.0), 2.5),
            ("neighbours share 0.3", FigureHistory::Alike(0.3), 5.0),
            ("neighbours share 0.5", FigureHistory::Alike(0.5), 6.0),
            ("neighbours share 0.8", FigureHistory::Alike(0.8), 10.0),
            ("sessions of 5 runs: 3 % between, 1 % within", FigureHistory::Sessions, 22.0),
        ];
        for (name, history, most) in kinds {
            let cells = LENGTHS.map(|count| {
                let mut random = SplitMix::new(count as u64);
                let has_change = |_: &u32| !change_points(&history.figures(count, &mut random)).is_empty();
                let share = 100.0 * (0..SERIES).filter(has_change).count() as f64 / f64::from(SERIES);
                assert!(share <= most, "{name}, {count} runs: {share} %");
                format!("{share:.0} %")
            });
            table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
        table.push_str("\n| change, independent runs | found within a run of its place |\n|---|---|\n");
        for (before, after, factor, deviation, least) in
            [(10, 10, 0.9, 0.03, 65), (20, 4, 0.9, 0.02, 50), (20, 5, 0.95, 0.02, 35), (25, 25, 0.98, 0.01, 70)]
        {
            let mut random = SplitMix::new(7);
            let found = |_: &u32| {
                let figure = |at: usize| {
                    let level = if at >= before { factor } else { 1.0 };
                    100.0 * level * (deviation * random.normal()).exp()
                };
                let figures: Vec<f64> = (0..before + after).map(figure).collect();
                change_points(&figures).iter().any(|it| it.at.abs_diff(before) <= 1)
            };
            let share = 100 * (0..SERIES).filter(found).count() / SERIES as usize;
            assert!(share >= least, "{before} + {after}, {factor}: {share} %");
            let (by, scatter) = (100.0 * (1.0 - factor), 100.0 * deviation);
            table.push_str(&format!(
                "| −{by:.0} % after {before} runs, {after} runs since, which scatter by {scatter:.0} % | {share} % |\n"
            ));
        }
        table.push_str("\nOf 200 histories each.\n");
        crate::table::check("change_points.md", include_str!("change_points.md"), &table);
    }

    #[test]
    fn a_change_of_a_tenth_is_found_where_it_is() {
        let mut random = SplitMix::new(6);
        let mut near = 0;
        for _ in 0..100 {
            let found = change_points(&series(&mut random, 20, Some((12, 0.9))));
            near += usize::from(found.iter().any(|it| it.at.abs_diff(12) <= 1 && (it.ratio.value - 0.9).abs() < 0.05));
        }
        assert!(near >= 65, "{near} of 100");
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
