//! Conditions that must be equal for the figures of two runs to be comparable: used by the noise between earlier runs, the
//! search for a baseline, and the history.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use crate::view::{CaseView, isolation_words};
use bourse_record::{
    Case, Conditions, EarlierRuns, Machine, MemoryStore, NameValue, PhaseKind, RunFile, Scale, UsersOfProcess,
    WorkloadKind, WriterWait,
};

/// Identity of a figure: workload, target, unit, durability class, machine, and all settings of the case. Engine, build and
/// revision are not in it, since runs are compared for these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness(Vec<NameValue>);

impl Likeness {
    /// Likeness of a case that ran on that machine.
    pub fn of(case: &Case, machine: &Machine) -> Self {
        let own = [
            ("workload", case.workload.name.clone()),
            ("target", case.engine.target.clone()),
            ("unit", case.workload.figure_unit().to_owned()),
            ("durability", case.engine.durability.name().to_owned()),
            ("machine", machine_words(machine)),
        ];
        let memory = memory_words(&case.conditions).map(|words| NameValue::new("memory", words));
        Self(
            own.into_iter()
                .map(|(name, value)| NameValue::new(name, value))
                .chain(settings(case))
                .chain(memory)
                .collect(),
        )
    }

    /// Differences, a sentence each; empty if the figures are comparable.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let only = |it: &NameValue| format!("{} is known of one run only: {}", it.name, it.value);
        let mut found: Vec<String> = Vec::new();
        for it in &self.0 {
            match other.0.iter().find(|other| other.name == it.name) {
                Some(other) => found.extend(differs(it, other)),
                None => found.push(only(it)),
            }
        }
        found.extend(other.0.iter().filter(|it| self.0.iter().all(|own| own.name != it.name)).map(only));
        found
    }

    /// Whether both are of one workload, target and unit, regardless of other differences.
    pub fn is_same_work(&self, other: &Self) -> bool {
        let own = |it: &Self| it.0.iter().take(3).cloned().collect::<Vec<_>>();
        own(self) == own(other)
    }
}

/// Figures that count of the cases of earlier runs that are like one of a run, by the same build and version of the engine.
pub fn earlier_runs(run: &RunFile, case: &Case, earlier: &[RunFile]) -> Option<EarlierRuns> {
    let wanted = Likeness::of(case, &run.provenance.machine);
    let same = earlier
        .iter()
        .filter(|it| it.provenance.build == run.provenance.build && it.provenance.revision == run.provenance.revision);
    let cases = same.flat_map(CaseView::all);
    let alike = cases.filter(|it| {
        it.case.engine.version == case.engine.version && Likeness::of(it.case, &it.file.provenance.machine) == wanted
    });
    let figures: Vec<f64> = alike.filter_map(|it| it.valid_figure()).collect();
    (!figures.is_empty()).then_some(EarlierRuns { figures })
}

/// Sentence about two values of one name that differ.
fn differs(one: &NameValue, other: &NameValue) -> Option<String> {
    (one.value != other.value).then(|| format!("{} differs: {} and {}", one.name, one.value, other.value))
}

/// The settings that two cases have with different values, a sentence each. Settings of only one of them are left out:
/// engines have different options.
pub fn unlike_settings(one: &Case, other: &Case) -> Vec<String> {
    let others = settings(other);
    let both = settings(one).into_iter().filter_map(|it| {
        let other = others.iter().find(|other| other.name == it.name)?;
        differs(&it, other)
    });
    // Memory that is as it was is a condition too.
    let memory = |case: &Case| memory_words(&case.conditions).unwrap_or_else(|| "as it was".to_owned());
    let memory = differs(&NameValue::new("memory", memory(one)), &NameValue::new("memory", memory(other)));
    both.chain(memory).collect()
}

/// The page cache that rounds begin with, and the limit of their memory; `None` if both are as they were.
pub fn memory_words(it: &Conditions) -> Option<String> {
    let cache = it.page_cache.map(|cache| format!("{} page cache", cache.name()));
    let limit = it.memory_limit_bytes.map(|bytes| format!("{} of memory", crate::units::bytes(bytes as f64)));
    let words: Vec<String> = cache.into_iter().chain(limit).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Processor, cores and system.
pub fn machine_words(machine: &Machine) -> String {
    format!("{}, {} cores, {}", machine.processor, machine.cores, machine.system)
}

/// Settings of a case. Free space and the time of a sync are never the same twice.
pub fn settings(case: &Case) -> Vec<NameValue> {
    let engine = &case.engine;
    let arrangements = [
        ("how writers wait", engine.writer_wait.map(WriterWait::name)),
        ("what holds the database", engine.memory_store.map(MemoryStore::name)),
        ("what was timed", case.rounds.iter().any(|it| !it.statements.is_empty()).then_some("each statement")),
    ];
    let arrangements =
        arrangements.into_iter().filter_map(|(name, value)| Some(NameValue::new(name, value?.to_owned())));
    arrangements
        .chain(of_conditions(&case.conditions))
        .chain(case.workload.parameters.clone())
        .chain(lengths(case))
        .collect()
}

fn of_conditions(it: &Conditions) -> impl Iterator<Item = NameValue> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let scale = |of: fn(Scale) -> u64| number(it.scale.map(of));
    let each = [
        ("users", number(it.users)),
        ("market users", number(it.further_users)),
        ("users of each process", processes(&it.processes)),
        ("customers", scale(|it| it.customers)),
        ("scale factor", scale(|it| it.scale_factor)),
        ("initial trade days", scale(|it| it.initial_days)),
        ("requested rate", it.requested_rate.map(|rate| rate.to_string())),
        ("rate at which the market was aged", it.market_aged_at.map(|rate| rate.to_string())),
        ("isolation", (!it.isolation.is_empty()).then(|| isolation_words(&it.isolation))),
        ("workload parameters", it.tunables.map(|tunables| tunables.name().to_owned())),
        ("constraints", it.constraints.clone()),
        ("input data", it.input_data.clone()),
        ("file system", it.storage.as_ref().map(|storage| storage.file_system.clone())),
    ];
    each.into_iter().filter_map(|(name, value)| Some(NameValue::new(name, value?)))
}

fn processes(processes: &[UsersOfProcess]) -> Option<String> {
    let words = processes.iter().map(|it| format!("{} + {}", it.users, it.further_users));
    (!processes.is_empty()).then(|| words.collect::<Vec<_>>().join(", "))
}

/// Lengths of warm-up and interval of a classic workload that runs until its time is over; the brokerage's are parameters.
fn lengths(case: &Case) -> impl Iterator<Item = NameValue> {
    let has_lengths = case.workload.kind == WorkloadKind::Micro && case.workload.is_timed();
    let phases = case.rounds.first().filter(|_| has_lengths).map_or(&[][..], |round| &round.phases);
    phases.iter().filter_map(|phase| {
        let name = match phase.kind {
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Measurement => "measurement interval",
            PhaseKind::Drain => return None,
        };
        Some(NameValue::new(name, format!("{:.1} s", phase.to_s - phase.from_s)))
    })
}
