//! Pairs of the cases of two runs, and the reasons against comparing them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use crate::likeness::{machine_words, unlike_settings};
use bourse_record::{Case, CheckStatus, Provenance, RunFile};
use thiserror::Error;

/// Two cases to compare.
#[derive(Debug, Clone)]
pub struct CasePair {
    /// The baseline.
    pub base: Case,
    /// The candidate.
    pub head: Case,
    /// Whether their rounds took turns, so that the first rounds of both belong together.
    pub in_turn: bool,
}

/// Runs that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Incomparable {
    /// No common case.
    #[error("the two runs have no case in common")]
    NothingInCommon,
    /// A check of the database failed after a round.
    #[error("{round} is void: checks of its database failed")]
    ChecksFailed {
        /// Case and round.
        round: String,
        /// The checks.
        failed: String,
    },
    /// A run was interrupted, so that its last round is shorter than the others and need not be like them.
    #[error("the {run} run was interrupted")]
    Interrupted {
        /// "first" or "second".
        run: &'static str,
    },
    /// A round has no figure.
    #[error("{round} is void: {why}")]
    Void {
        /// Case and round.
        round: String,
        /// The reason.
        why: String,
    },
    /// The cases ran different workloads, or count different things.
    #[error("the first run is {base} and counts {base_unit}, the second is {head} and counts {head_unit}")]
    Units {
        /// Workload and label of the baseline.
        base: String,
        /// Unit of the baseline's figure.
        base_unit: String,
        /// Workload and label of the candidate.
        head: String,
        /// Unit of the candidate's figure.
        head_unit: String,
    },
}

/// The cases of two stored runs by their labels, or by their places if no label is in both and there are as many.
#[derive(Debug, Clone)]
pub struct StoredPairs {
    /// Cases that both runs have.
    pub pairs: Vec<CasePair>,
    /// Reasons why their difference may have another cause, a sentence each.
    pub notes: Vec<String>,
    /// Cases that the first run has alone, a sentence each.
    pub missing: Vec<String>,
}

/// Pairs the cases of two stored runs.
///
/// # Errors
/// [`Incomparable`]: a run that was interrupted, nothing in common, or no figure.
pub fn stored_pairs(base: RunFile, head: RunFile) -> Result<StoredPairs, Incomparable> {
    for (run, file) in [("first", &base), ("second", &head)] {
        if file.interrupted {
            return Err(Incomparable::Interrupted { run });
        }
    }
    let (mut notes, mut missing) = (differences(&base, &head), Vec::new());
    let (of_base, of_head) = (base.provenance.clone(), head.provenance.clone());
    let same_count = base.cases.len() == head.cases.len();
    let by_label = base.cases.iter().any(|case| head.cases.iter().any(|other| other.label == case.label));
    let mut pairs = Vec::new();
    let mut others: Vec<Option<Case>> = head.cases.into_iter().map(Some).collect();
    for (at, case) in base.cases.into_iter().enumerate() {
        let place = if by_label {
            others.iter_mut().find(|other| other.as_ref().is_some_and(|other| other.label == case.label))
        } else {
            others.get_mut(at).filter(|_| same_count)
        };
        match place.and_then(Option::take) {
            Some(other) => pairs.push(CasePair { base: case, head: other, in_turn: false }),
            None => missing.push(format!("{} is in the first run only", case.label)),
        }
    }
    notes.extend(others.into_iter().flatten().map(|case| format!("{} is in the second run only", case.label)));
    if pairs.is_empty() {
        return Err(Incomparable::NothingInCommon);
    }
    for pair in &pairs {
        pair.check()?;
    }
    for pair in &mut pairs {
        (pair.base.label, pair.head.label) = labels(pair, &of_base, &of_head);
    }
    Ok(StoredPairs { pairs, notes, missing })
}

/// Labels of two cases of different runs: target, version, and the revision that was measured; or the time at which the run
/// began, if no revision distinguishes them.
fn labels(pair: &CasePair, base: &Provenance, head: &Provenance) -> (String, String) {
    let by_revision = base.revision.is_some() && head.revision.is_some() && base.revision != head.revision;
    let label = |case: &Case, of: &Provenance| {
        let run = of.revision.as_deref().filter(|_| by_revision).unwrap_or(&of.started_at);
        format!("{} ({} {}, {run})", case.label, case.engine.name, case.engine.version)
    };
    (label(&pair.base, base), label(&pair.head, head))
}

impl CasePair {
    /// Refuses pairs without figures.
    ///
    /// # Errors
    /// [`Incomparable`] with the round.
    pub fn check(&self) -> Result<(), Incomparable> {
        for case in [&self.base, &self.head] {
            for (number, round) in (1..).zip(&case.rounds) {
                let name = || format!("{}, round {number} of {}", case.label, case.rounds.len());
                let failed = round.checks.iter().filter(|it| it.status == CheckStatus::Failed);
                let failed: Vec<_> = failed.map(|check: &bourse_record::Check| check.name.as_str()).collect();
                if !failed.is_empty() {
                    return Err(Incomparable::ChecksFailed { round: name(), failed: failed.join(", ") });
                }
                if let Some(why) = &round.void {
                    return Err(Incomparable::Void { round: name(), why: why.clone() });
                }
            }
        }
        let (base, head) = (&self.base, &self.head);
        let (one, other) = (&base.workload, &head.workload);
        if (&one.name, &one.headline_unit) == (&other.name, &other.headline_unit) {
            return Ok(());
        }
        let name = |case: &Case| format!("{} of {}", case.workload.name, case.label);
        Err(Incomparable::Units {
            base: name(base),
            base_unit: base.workload.headline_unit.clone(),
            head: name(head),
            head_unit: head.workload.headline_unit.clone(),
        })
    }
}

/// Differences between two runs that may cause a difference of their figures, a sentence each.
fn differences(base: &RunFile, head: &RunFile) -> Vec<String> {
    let mut notes = Vec::new();
    let [one, other] = [base, head].map(|run| machine_words(&run.provenance.machine));
    if one != other {
        notes.push(format!("other machines: {one} and {other}"));
    }
    if base.provenance.build.profile != head.provenance.build.profile {
        notes.push(format!("a {} build and a {} build", base.provenance.build.profile, head.provenance.build.profile));
    }
    notes.push("the runs did not take turns: what changed on the machine in between is in the difference".to_owned());
    notes
}

/// Differences between two cases that may cause a difference of their figures, a sentence each.
pub(super) fn unlike(pair: &CasePair) -> Vec<String> {
    let mut notes = Vec::new();
    let (base, head) = (&pair.base, &pair.head);
    if base.engine.durability != head.engine.durability {
        notes.push(format!(
            "durability differs ({} and {}): what survives less is not the same work done faster",
            base.engine.durability, head.engine.durability
        ));
    }
    if let Some((one, other)) = unlike_ages(base, head) {
        notes.push(format!(
            "the market's age differs ({} and {} when the interval began): TR/s is not compared, since a younger market owes \
             fewer Trade-Results",
            crate::units::seconds(one),
            crate::units::seconds(other)
        ));
    }
    notes.extend(unlike_settings(base, head));
    notes
}

/// The ages of two markets that owe different shares of Trade-Results: more than a tenth apart, the younger one below 900 s,
/// the period of the price curve.
pub(super) fn unlike_ages(base: &Case, head: &Case) -> Option<(f64, f64)> {
    const FULL_S: f64 = 900.0;
    let age = |case: &Case| case.rounds.iter().filter_map(|round| round.market_age_s).reduce(f64::min);
    let (one, other) = (age(base)?, age(head)?);
    let (young, old) = (one.min(other), one.max(other).min(FULL_S));
    (young < FULL_S && old - young > 0.1 * FULL_S).then_some((one, other))
}
