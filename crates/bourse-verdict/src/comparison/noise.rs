//! Difference between two runs of the same case by noise alone: differences of runs that did not take turns are judged by
//! it.

use super::CasePair;
use crate::likeness::Likeness;
use bourse_record::{Case, Machine, RunFile};
use bourse_stats::{grouped, quantile};

/// Fewest runs of one build from which noise is estimated.
const MIN_RUNS: usize = 5;

/// Noise between runs.
#[derive(Debug, Clone, Default)]
pub enum RunNoise {
    /// Neither stated nor estimated.
    #[default]
    Unknown,
    /// Stated, as a part of one.
    Stated(f64),
    /// Estimated from earlier runs like the first side.
    Runs {
        /// The runs.
        earlier: Vec<RunFile>,
        /// Machine of the first side.
        machine: Box<Machine>,
    },
}

impl RunNoise {
    /// The noise of a pair, as a part of one; `None` if it is unknown.
    ///
    /// In earlier runs it is the third quartile plus three interquartile ranges of the differences between consecutive runs
    /// of the same build, over the runs that are like the first side.
    ///
    /// # Errors
    /// Reason why the earlier runs give no estimate.
    pub(super) fn of(&self, pair: &CasePair) -> Result<Option<f64>, String> {
        match self {
            Self::Unknown => Ok(None),
            Self::Stated(part) => Ok(Some(*part)),
            Self::Runs { earlier, machine } => floor(earlier, machine, pair).map(Some),
        }
    }
}

fn floor(runs: &[RunFile], machine: &Machine, pair: &CasePair) -> Result<f64, String> {
    let (base, head) = (&pair.base, &pair.head);
    let wanted = Likeness::of(base, machine);
    // The compared runs may be in the same folder: their difference is the question.
    let is_other = |case: &Case| case.rounds != base.rounds && case.rounds != head.rounds;
    // Cases of the same work that differ in settings: their number, and the differences of the last.
    let (mut unlike, mut why) = (0_usize, String::new());
    let mut figures = Vec::new();
    for run in runs {
        for case in run.cases.iter().filter(|case| is_other(case)) {
            let likeness = Likeness::of(case, &run.provenance.machine);
            if likeness != wanted {
                if likeness.is_same_work(&wanted) {
                    unlike += 1;
                    why = wanted.differences(&likeness).join("; ");
                }
                continue;
            }
            let Some(figure) = case.estimate().map(|it| it.value).filter(|figure| *figure > 0.0) else { continue };
            figures.push((&run.provenance.build, (run.provenance.started_at.as_str(), figure)));
        }
    }
    let mut by_build = grouped(figures);
    let most = by_build.iter().map(|(_, figures)| figures.len()).max().unwrap_or(0);
    let mut apart = Vec::new();
    for (_, figures) in &mut by_build {
        if figures.len() >= MIN_RUNS {
            figures.sort_by(|one, other| one.0.cmp(other.0));
            apart.extend(figures.windows(2).map(|pair| (pair[1].1 / pair[0].1).ln().abs()));
        }
    }
    let (Some(first), Some(third)) = (quantile(&apart, 0.25), quantile(&apart, 0.75)) else {
        let others = match unlike {
            0 => String::new(),
            1 => format!("; another is not alike: {why}"),
            more => format!("; {more} others are not alike, the last of them: {why}"),
        };
        return Err(format!(
            "the earlier runs say nothing of its noise: {MIN_RUNS} runs of the same case and build are needed beside the two that are \
             compared, there are {most}{others}"
        ));
    };
    Ok((third + 3.0 * (third - first)).exp_m1())
}
