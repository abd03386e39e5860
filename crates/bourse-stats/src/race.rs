//! Race of settings by successive halving: many settings in few rounds, the better half of them in twice as many, until few
//! are left (Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, 2013; Jamieson and Talwalkar,
//! Non-stochastic Best Arm Identification and Hyperparameter Optimization, 2016).
//!
//! A race selects and proves nothing: the best of several equal settings looks better than the reference in the very pairs
//! that it was selected by. Its winner is compared with the reference on fresh pairs, and the level of their interval holds
//! whatever was selected. A test simulates races of equal settings, and counts how often the winner is called faster:
#![doc = include_str!("race.md")]

use crate::median;

/// A stage of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceStage {
    /// Settings in the stage, without the reference.
    pub settings: usize,
    /// Rounds of each.
    pub rounds: u32,
}

/// Stages of a race of `settings`, the first of `unit` rounds. Each further stage has the better half of the settings, and twice
/// the rounds; the last has at most `finalists`.
///
/// ```
/// use bourse_stats::race::stages;
/// let sizes: Vec<_> = stages(21, 6, 1).iter().map(|stage| (stage.settings, stage.rounds)).collect();
/// assert_eq!(sizes, [(21, 1), (11, 2), (6, 4)]);
/// ```
pub fn stages(settings: usize, finalists: usize, unit: u32) -> Vec<RaceStage> {
    let mut stages = vec![RaceStage { settings, rounds: unit }];
    while let Some(RaceStage { settings, rounds }) = stages.last().copied().filter(|it| it.settings > finalists.max(1))
    {
        stages.push(RaceStage { settings: settings.div_ceil(2), rounds: rounds.saturating_mul(2) });
    }
    stages
}

/// The `places` best settings, best first: by the medians of their ratios to the reference's rounds. Settings without ratios
/// are never among them.
///
/// ```
/// let ratios = [vec![0.9, 1.0], vec![1.2, 1.1], vec![], vec![1.0, 1.05]];
/// assert_eq!(bourse_stats::race::best(&ratios, 2), [1, 3]);
/// ```
pub fn best(ratios: &[Vec<f64>], places: usize) -> Vec<usize> {
    let medians = ratios.iter().enumerate().filter_map(|(at, ratios)| Some((at, median(ratios)?)));
    let mut order: Vec<(usize, f64)> = medians.collect();
    order.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    order.truncate(places);
    order.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed_rank::p_of_pairs;
    use crate::{LEVEL, SplitMix};

    const RACES: u32 = 1_000;
    const FINALISTS: usize = 6;
    const FRESH: usize = 8;

    /// Figure of a round on a quiet machine: it scatters by 3 %.
    fn quiet(random: &mut SplitMix) -> f64 {
        (0.03 * random.normal()).exp()
    }

    /// Figure of a round on a busy machine: it scatters by 30 %, and every fifth is a third of the others.
    fn busy(random: &mut SplitMix) -> f64 {
        let others = if random.unit() < 0.2 { 3.0 } else { 1.0 };
        (0.3 * random.normal()).exp() / others
    }

    /// Whether the interval of the pairs excludes 1 on the faster side.
    fn is_faster(pairs: &[(f64, f64)]) -> bool {
        let ratios: Vec<f64> = pairs.iter().map(|(one, other)| other / one).collect();
        p_of_pairs(pairs).is_some_and(|p| p <= 1.0 - LEVEL) && median(&ratios).is_some_and(|it| it > 1.0)
    }

    /// Shares of races of so many settings, all equal to the reference, whose winner is called faster: by the pairs of the race,
    /// and by fresh ones.
    fn false_choices(settings: usize, unit: u32, round: fn(&mut SplitMix) -> f64) -> [f64; 2] {
        let mut random = SplitMix::new(settings as u64);
        let mut found = [0_u32; 2];
        for _ in 0..RACES {
            let mut pairs: Vec<Vec<(f64, f64)>> = vec![Vec::new(); settings];
            let mut alive: Vec<usize> = (0..settings).collect();
            let ratios = |pairs: &[(f64, f64)]| pairs.iter().map(|(one, other)| other / one).collect::<Vec<f64>>();
            for stage in stages(settings, FINALISTS, unit) {
                let of_alive: Vec<_> = alive.iter().map(|at| ratios(&pairs[*at])).collect();
                if alive.len() > stage.settings {
                    alive = best(&of_alive, stage.settings).into_iter().map(|at| alive[at]).collect();
                }
                for _ in 0..stage.rounds {
                    let reference = round(&mut random);
                    for at in &alive {
                        pairs[*at].push((reference, round(&mut random)));
                    }
                }
            }
            let all: Vec<_> = alive.iter().map(|at| ratios(&pairs[*at])).collect();
            let winner = alive[best(&all, 1)[0]];
            let fresh: Vec<_> = (0..FRESH).map(|_| (round(&mut random), round(&mut random))).collect();
            found[0] += u32::from(is_faster(&pairs[winner]));
            found[1] += u32::from(is_faster(&fresh));
        }
        found.map(|count| 100.0 * f64::from(count) / f64::from(RACES))
    }

    #[test]
    fn the_winner_of_equal_settings_is_called_faster_no_more_often_than_the_level_allows() {
        let mut table = String::from(
            "\n| equal settings | by the pairs of the race | by fresh pairs | both, busy |\n|---:|---:|---:|---:|\n",
        );
        for settings in [1, 2, 6, 12, 24] {
            let [race, fresh] = false_choices(settings, FRESH as u32, quiet);
            let [race_busy, fresh_busy] = false_choices(settings, FRESH as u32, busy);
            assert!(fresh <= 5.0 && (settings == 1 || race > fresh), "{settings}: {race} %, {fresh} %");
            assert!(fresh_busy <= 5.0, "{settings}: {fresh_busy} %");
            table.push_str(&format!(
                "| {settings} | {race:.0} % | {fresh:.0} % | {race_busy:.0} %, {fresh_busy:.0} % |\n"
            ));
        }
        table.push_str(&format!(
            "\nWinners called faster than the defaults that they are equal to, of {RACES} races each, whose first stage has {FRESH} \
             rounds, and of {FRESH} fresh pairs. Rounds scatter by 3 %; busy: by 30 %, and every fifth has a third of the figure.\n"
        ));
        crate::table::check("race.md", include_str!("race.md"), &table);
    }

    #[test]
    fn a_race_ends_with_few_settings() {
        assert_eq!(stages(3, 6, 2), [RaceStage { settings: 3, rounds: 2 }]);
        assert_eq!(stages(0, 6, 1).len(), 1);
        assert_eq!(stages(2, 0, 1).last(), Some(&RaceStage { settings: 1, rounds: 2 }));
        assert!(best(&[vec![], vec![]], 1).is_empty());
    }
}
