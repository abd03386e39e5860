//! Trends: figures of the same case on the same machine, in their order of time.

use super::{StoredFigure, StoredRun};
use bourse_stats::change_points::{ChangePoint, change_points};
use bourse_stats::grouped;
use bourse_verdict::likeness::Likeness;

/// A run with a valid figure.
type RunPoint<'a> = (&'a StoredRun, &'a StoredFigure, f64);

/// Figures of one case over runs.
pub(super) struct CaseTrend<'a> {
    /// Workload and target.
    pub(super) name: String,
    /// Common settings, durability class and machine.
    pub(super) same: String,
    pub(super) unit: &'a str,
    /// Runs with their figures, the earliest first.
    pub(super) points: Vec<RunPoint<'a>>,
    /// Points at which the level changes.
    pub(super) changes: Vec<ChangePoint>,
}

impl<'a> CaseTrend<'a> {
    /// Every case with at least two valid figures, those with the most first.
    pub(super) fn all(runs: &'a [StoredRun]) -> Vec<Self> {
        let figures = runs.iter().flat_map(|run| run.figures.iter().map(move |figure| (run, figure)));
        let mut groups: Vec<(&Likeness, Vec<RunPoint<'a>>)> =
            grouped(figures.filter_map(|(run, figure)| Some((&figure.likeness, (run, figure, figure.value?)))));
        groups.retain(|(_, points)| points.len() > 1);
        groups.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
        let trend = |mut points: Vec<RunPoint<'a>>| {
            // Times of one machine have the same offset, but for the change to summer time and back.
            points.sort_by(|one, other| one.0.started_at.cmp(&other.0.started_at));
            let (run, first, _) = *points.first()?;
            let figures: Vec<f64> = points.iter().map(|(_, _, value)| *value).collect();
            let same = [&first.settings, &first.durability, &run.machine].into_iter().filter(|it| !it.is_empty());
            Some(Self {
                name: format!("{} on {}", first.workload, first.target),
                same: same.map(String::as_str).collect::<Vec<_>>().join(" · "),
                unit: &first.unit,
                points,
                changes: change_points(&figures),
            })
        };
        groups.into_iter().filter_map(|(_, points)| trend(points)).collect()
    }

    /// Changes at a point, compared to the one before: engine, revision, version of Bourse.
    pub(super) fn changes_at(&self, at: usize) -> Vec<String> {
        let (run, figure, _) = self.points[at];
        let Some((before, old, _)) = at.checked_sub(1).map(|before| self.points[before]) else { return Vec::new() };
        let mut news = Vec::new();
        if figure.engine != old.engine {
            news.push(figure.engine.clone());
        }
        if run.revision != before.revision {
            news.push(run.revision.clone().unwrap_or_else(|| "no revision".to_owned()));
        }
        if run.bourse != before.bourse {
            news.push(format!("Bourse {}", run.bourse));
        }
        news
    }
}
