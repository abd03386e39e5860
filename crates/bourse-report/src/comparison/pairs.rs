//! Which cases of two runs are compared with one another, and what speaks against it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_record::{Case, CheckStatus, Conditions, MemoryStore, RunFile, Scale, WriterWait};
use thiserror::Error;

/// Two cases to compare.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The baseline.
    pub base: Case,
    /// The candidate.
    pub head: Case,
    /// Whether their rounds took turns, so that the first goes with the first.
    pub in_turn: bool,
}

/// Runs that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Incomparable {
    /// No case of one is in the other.
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
    /// A round has no figure.
    #[error("{round} is void: {why}")]
    Void {
        /// Case and round.
        round: String,
        /// The reason.
        why: String,
    },
    /// The cases count different things.
    #[error("{base} counts {base_unit}, {head} counts {head_unit}")]
    Units {
        /// The one.
        base: String,
        /// Unit of the baseline's figure.
        base_unit: String,
        /// The other.
        head: String,
        /// Unit of the candidate's figure.
        head_unit: String,
    },
}

/// Whether two cases are the same work on the same target, measured in the same unit.
pub fn is_alike(one: &Case, other: &Case) -> bool {
    (&one.workload.name, &one.workload.headline_unit, &one.engine.target)
        == (&other.workload.name, &other.workload.headline_unit, &other.engine.target)
}

/// The cases of two stored runs by their labels, or where no label is in both and there are as many, by their places; and
/// what makes their difference one of something else, in words.
///
/// # Errors
/// [`Incomparable`]: nothing in common, or no figure.
pub fn stored_pairs(base: RunFile, head: RunFile) -> Result<(Vec<Pair>, Vec<String>), Incomparable> {
    let mut notes = differences(&base, &head);
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
            Some(other) => pairs.push(Pair { base: case, head: other, in_turn: false }),
            None => notes.push(format!("{} is in the first run only", case.label)),
        }
    }
    notes.extend(others.into_iter().flatten().map(|case| format!("{} is in the second run only", case.label)));
    if pairs.is_empty() {
        return Err(Incomparable::NothingInCommon);
    }
    for pair in &pairs {
        pair.check()?;
        notes.extend(unlike(pair));
    }
    Ok((pairs, notes))
}

impl Pair {
    /// Refuses what is no figure.
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
        if base.workload.headline_unit == head.workload.headline_unit {
            return Ok(());
        }
        Err(Incomparable::Units {
            base: base.label.clone(),
            base_unit: base.workload.headline_unit.clone(),
            head: head.label.clone(),
            head_unit: head.workload.headline_unit.clone(),
        })
    }
}

/// What about two runs makes their difference one of something else, in words.
fn differences(base: &RunFile, head: &RunFile) -> Vec<String> {
    let mut notes = Vec::new();
    let (one, other) = (&base.provenance.machine, &head.provenance.machine);
    if (&one.processor, one.cores, &one.system) != (&other.processor, other.cores, &other.system) {
        notes.push(format!(
            "other machines: {} with {} cores ({}) and {} with {} cores ({})",
            one.processor, one.cores, one.system, other.processor, other.cores, other.system
        ));
    }
    if base.provenance.build.profile != head.provenance.build.profile {
        notes.push(format!("a {} build and a {} build", base.provenance.build.profile, head.provenance.build.profile));
    }
    notes.push("the runs did not take turns: what changed on the machine in between is in the difference".to_owned());
    notes
}

/// What about two cases makes their difference one of something else, in words.
pub fn unlike(pair: &Pair) -> Vec<String> {
    let mut notes = Vec::new();
    let (base, head) = (&pair.base, &pair.head);
    if base.engine.durability != head.engine.durability {
        notes.push(format!(
            "durability differs ({} and {}): what survives less is not the same work done faster",
            base.engine.durability, head.engine.durability
        ));
    }
    let arrangements: [(&str, Option<&str>, Option<&str>); 2] = [
        (
            "how writers wait",
            base.engine.writer_wait.map(WriterWait::words),
            head.engine.writer_wait.map(WriterWait::words),
        ),
        (
            "what holds the database",
            base.engine.memory_store.map(MemoryStore::words),
            head.engine.memory_store.map(MemoryStore::words),
        ),
    ];
    for (name, one, other) in arrangements {
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            notes.push(format!("{name} differs: {one} and {other}"));
        }
    }
    if let Some((one, other)) = unlike_ages(base, head) {
        notes.push(format!(
            "the market's age differs ({} and {} when the interval began): TR/s is not compared, since a younger market owes \
             fewer Trade-Results",
            crate::units::seconds(one),
            crate::units::seconds(other)
        ));
    }
    notes.extend(unlike_conditions(&base.conditions, &head.conditions));
    for parameter in &base.workload.parameters {
        let other = head.workload.parameters.iter().find(|other| other.name == parameter.name);
        if let Some(other) = other.filter(|other| other.value != parameter.value) {
            notes.push(format!("{} differs: {} and {}", parameter.name, parameter.value, other.value));
        }
    }
    notes
}

/// The ages of two markets that owe different shares of Trade-Results: more than a tenth apart, and the younger of less than
/// 900 s, the period of the price curve.
pub(super) fn unlike_ages(base: &Case, head: &Case) -> Option<(f64, f64)> {
    const FULL_S: f64 = 900.0;
    let age = |case: &Case| case.rounds.iter().filter_map(|round| round.market_age_s).reduce(f64::min);
    let (one, other) = (age(base)?, age(head)?);
    let (young, old) = (one.min(other), one.max(other).min(FULL_S));
    (young < FULL_S && old - young > 0.1 * FULL_S).then_some((one, other))
}

/// A count among the conditions.
type Count = fn(&Conditions) -> Option<u64>;
/// A measure of a scale.
type Size = fn(Scale) -> u64;

/// What of the conditions of two cases differs, in words. Free space is not the same twice.
fn unlike_conditions(base: &Conditions, head: &Conditions) -> Vec<String> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let scale = |it: &Conditions, of: fn(Scale) -> u64| number(it.scale.map(of));
    let asked: [(&str, Count); 2] = [("users", |it| it.users), ("market users", |it| it.further_users)];
    let mut each: Vec<(&str, Option<String>, Option<String>)> =
        asked.into_iter().map(|(name, of)| (name, number(of(base)), number(of(head)))).collect();
    let sizes: [(&str, Size); 3] = [
        ("customers", |it| it.customers),
        ("scale factor", |it| it.scale_factor),
        ("initial trade days", |it| it.initial_days),
    ];
    each.extend(sizes.into_iter().map(|(name, of)| (name, scale(base, of), scale(head, of))));
    let rate = |it: &Conditions| it.requested_rate.map(|rate| rate.to_string());
    each.push(("requested rate", rate(base), rate(head)));
    let aged = |it: &Conditions| it.market_aged_at.map(|rate| rate.to_string());
    each.push(("rate at which the market was aged", aged(base), aged(head)));
    let isolation =
        |it: &Conditions| Some(crate::view::isolation_words(&it.isolation)).filter(|_| !it.isolation.is_empty());
    each.push(("isolation", isolation(base), isolation(head)));
    let tunables = |it: &Conditions| it.tunables.map(|tunables| tunables.name().to_owned());
    each.push(("workload parameters", tunables(base), tunables(head)));
    each.push(("constraints", base.constraints.clone(), head.constraints.clone()));
    each.push(("input data", base.input_data.clone(), head.input_data.clone()));
    // What only one of them tells is no difference.
    let both = each.into_iter().filter_map(|(name, one, other)| Some((name, one?, other?)));
    both.filter(|(_, one, other)| one != other)
        .map(|(name, one, other)| format!("{name} differs: {one} and {other}"))
        .collect()
}
