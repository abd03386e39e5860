//! Merges a round.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::operation::{one_operation, total};
use super::series::{one_series, rates};
use super::{MergeError, one_value, remove_duplicates};
use crate::{
    Arrivals, Check, CheckStatus, ConflictCount, FileActivity, Interference, NameValue, Operation, Round, Series,
    SharedRound, TimeSplit, Warning,
};

/// Merges the parts of a round whose drivers were processes of one machine, which began at one moment of one clock.
///
/// # Errors
/// [`MergeError`].
///
/// # Panics
/// Panics if `parts` is empty.
pub fn of_processes(parts: &[&Round]) -> Result<Round, MergeError> {
    let mut round = (*parts.first().expect("a round has a process at least")).clone();
    one_round(&mut round, parts)?;
    round.throughput_series = rates(&parts.iter().map(|part| &part.throughput_series).collect::<Vec<_>>());
    round.interference = interference(parts);
    round.shared = None;
    // Warnings about others are recomputed, since each process counts its siblings among them. The failure of a process is
    // the run's own.
    round.warnings.retain(|warning| {
        let of_driver = if let Warning::Driver { warning, .. } = warning { warning } else { warning };
        !matches!(
            of_driver,
            Warning::OtherProcesses { .. } | Warning::HostSteal { .. } | Warning::DriversVanished { .. }
        )
    });
    if let Some(Interference { by_others, by_host, includes_server, .. }) = round.interference {
        let others = Warning::OtherProcesses { cpus: by_others, server_is_known: !includes_server };
        round.warnings.extend((by_others > Interference::NOTICED).then_some(others));
        round.warnings.extend((by_host > Interference::NOTICED).then_some(Warning::HostSteal { cpus: by_host }));
    }
    Ok(round)
}

/// Turns `round`, the first of the parts, into the merged round.
pub(super) fn one_round(round: &mut Round, parts: &[&Round]) -> Result<(), MergeError> {
    let shared: Vec<&SharedRound> = parts.iter().filter_map(|part| part.shared.as_ref()).collect();
    let Some((name, of)) = shared.first().map(|first| (first.round.clone(), first.of)) else { return Ok(()) };
    let mut vanished: Vec<u32> = shared.iter().flat_map(|shared| &shared.vanished).copied().collect();
    vanished.sort_unstable();
    vanished.dedup();
    for number in 1..=of {
        match shared.iter().filter(|shared| shared.number == number).count() {
            1 => {}
            0 if vanished.contains(&number) => {}
            0 => return Err(MergeError::Missing { number, of, round: name }),
            _ => return Err(MergeError::Twice { number, of, round: name }),
        }
    }
    // They began together; one that drains longer ends later.
    if let Some(last) = round.phases.last_mut() {
        last.to_s = parts.iter().filter_map(|part| part.phases.last()).map(|it| it.to_s).fold(last.to_s, f64::max);
    }
    let longest = parts.iter().map(|part| part.measured_s).fold(0.0, f64::max);
    let shortest = parts.iter().map(|part| part.measured_s).fold(f64::INFINITY, f64::min);
    round.measured_s = longest;
    round.headline = parts.iter().map(|part| part.headline).sum();
    round.cpu_user_s = parts.iter().map(|part| part.cpu_user_s).sum();
    round.cpu_system_s = parts.iter().map(|part| part.cpu_system_s).sum();
    round.read_bytes = total(parts, |part| part.read_bytes);
    round.written_bytes = total(parts, |part| part.written_bytes);
    round.major_faults = total(parts, |part| part.major_faults);
    for operation in &mut round.operations {
        let same: Vec<&Operation> =
            parts.iter().flat_map(|part| &part.operations).filter(|other| other.name == operation.name).collect();
        let name = operation.name.clone();
        one_operation(operation, &same).map_err(|cause| MergeError::Histogram { operation: name, cause })?;
    }
    round.arrivals = parts.iter().filter_map(|part| part.arrivals).reduce(both);
    // The steps of several drivers do not end together.
    round.fine_series = Series::default();
    round.series = one_series(&parts.iter().map(|part| &part.series).collect::<Vec<_>>());
    // Drivers began at different moments: sums of their rows would be the throughput of no moment.
    round.throughput_series = Series::default();
    round.response_map = None;
    round.time_split = TimeSplit::merged(parts.iter().map(|part| part.time_split.as_ref()));
    let others = parts.get(1..).unwrap_or_default();
    // A server counts for all that it serves.
    if !round.has_server_counts() {
        others.iter().for_each(|part| add_files(&mut round.io, &part.io));
    }
    others.iter().for_each(|part| add_conflicts(&mut round.conflicts, &part.conflicts));
    round.usage_late_s = parts.iter().filter_map(|part| part.usage_late_s).reduce(f64::max);
    let who: Vec<String> = shared.iter().map(|it| format!("driver {}/{}", it.number, it.of)).collect();
    round.facts = facts(parts, &who);
    round.checks = checks(parts, &who);
    round.void = parts.iter().find_map(|part| part.void.clone());
    round.warnings = warnings(parts, round.arrivals);
    if longest - shortest > 0.01 * longest + 0.1 {
        round.warnings.insert(0, Warning::DifferentLengths { shortest_s: shortest, longest_s: longest });
    }
    round.shared = Some(SharedRound { round: name, number: 0, of, vanished });
    Ok(())
}

/// Warnings of all drivers; those about sums are recomputed from the sums.
fn warnings(parts: &[&Round], arrivals: Option<Arrivals>) -> Vec<Warning> {
    let is_of_sums =
        |it: &&Warning| matches!(it, Warning::OperationsDropped { .. } | Warning::OperationsWaiting { .. });
    let mut warnings = Vec::new();
    for (part, shared) in parts.iter().filter_map(|part| Some((part, part.shared.as_ref()?))) {
        for warning in part.warnings.iter().filter(|warning| !is_of_sums(warning)) {
            let everywhere = parts.iter().all(|part| part.warnings.contains(warning));
            let (number, of) = (shared.number, shared.of);
            warnings.push(match everywhere {
                true => warning.clone(),
                false => Warning::Driver { number, of, warning: Box::new(warning.clone()) },
            });
        }
    }
    remove_duplicates(&mut warnings);
    if let Some(Arrivals { due, dropped, unstarted: waiting, .. }) = arrivals {
        warnings.extend((dropped > 0).then_some(Warning::OperationsDropped { dropped, due }));
        warnings.extend((waiting > 0).then_some(Warning::OperationsWaiting { waiting, due }));
    }
    warnings
}

/// Interference by processes other than Bourse's: each of Bourse's own counted its siblings as others.
fn interference(parts: &[&Round]) -> Option<Interference> {
    let (first, others) = parts.split_first()?;
    let seen = first.interference?;
    let siblings: f64 = others.iter().map(|part| part.own_cpu_s()).sum();
    let cpus = if first.measured_s > 0.0 { siblings / first.measured_s } else { 0.0 };
    Some(Interference { by_others: (seen.by_others - cpus).max(0.0), ..seen })
}

/// Checks of the database, which were made once for all drivers, and each driver's checks of its own figures: once if all
/// passed, otherwise those that failed with the name of their driver.
fn checks(parts: &[&Round], who: &[String]) -> Vec<Check> {
    let of_database = |part: &&Round| part.checks.iter().filter(|check| check.is_of_database()).cloned().collect();
    let once: Vec<Check> = parts.iter().map(of_database).find(|checks: &Vec<_>| !checks.is_empty()).unwrap_or_default();
    let of_figures: Vec<(&Check, &String)> = parts
        .iter()
        .zip(who)
        .flat_map(|(part, who)| part.checks.iter().filter(|check| !check.is_of_database()).map(move |it| (it, who)))
        .collect();
    let mut checks: Vec<Check> = Vec::new();
    for (check, who) in &of_figures {
        if check.status == CheckStatus::Failed {
            checks.push(Check { name: format!("{}, {who}", check.name), ..(*check).clone() });
        } else if checks.iter().all(|known| known.name != check.name) {
            let same = of_figures.iter().filter(|(it, _)| it.name == check.name && it.status != CheckStatus::Failed);
            let evidence = one_value(&same.map(|(it, _)| it.evidence.as_str()).collect::<Vec<_>>());
            checks.push(Check { evidence, ..(*check).clone() });
        }
    }
    checks.extend(once);
    checks
}

fn both(one: Arrivals, other: Arrivals) -> Arrivals {
    Arrivals {
        due: one.due.saturating_add(other.due),
        started: one.started.saturating_add(other.started),
        dropped: one.dropped.saturating_add(other.dropped),
        unstarted: one.unstarted.saturating_add(other.unstarted),
        backlog_limit: one.backlog_limit.saturating_add(other.backlog_limit),
        backlog_longest: one.backlog_longest.max(other.backlog_longest),
        unstarted_ns_longest: one.unstarted_ns_longest.max(other.unstarted_ns_longest),
        started_of_warm_up: one.started_of_warm_up.saturating_add(other.started_of_warm_up),
        behind_ns: one.behind_ns.max(other.behind_ns),
    }
}

/// Facts of the parts: those that all share once, others with the name of their part.
fn facts(parts: &[&Round], who: &[String]) -> Vec<NameValue> {
    let mut facts: Vec<NameValue> = Vec::new();
    for (part, who) in parts.iter().zip(who) {
        for fact in &part.facts {
            let everywhere = parts.iter().all(|part| part.facts.contains(fact));
            let fact = if everywhere {
                fact.clone()
            } else {
                NameValue { name: format!("{who}: {}", fact.name), ..fact.clone() }
            };
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    facts
}

fn add_files(sum: &mut Vec<FileActivity>, other: &[FileActivity]) {
    for files in other {
        let Some(known) = sum.iter_mut().find(|it| it.kind == files.kind) else {
            sum.push(files.clone());
            continue;
        };
        for (mine, theirs) in [
            (&mut known.syncs, files.syncs),
            (&mut known.writes, files.writes),
            (&mut known.written_bytes, files.written_bytes),
            (&mut known.reads, files.reads),
            (&mut known.read_bytes, files.read_bytes),
        ] {
            *mine = mine.saturating_add(theirs);
        }
        known.sync_ns = known.sync_ns.zip(files.sync_ns).map(|(mine, theirs)| mine.saturating_add(theirs));
    }
}

fn add_conflicts(sum: &mut Vec<ConflictCount>, other: &[ConflictCount]) {
    for conflicts in other {
        match sum.iter_mut().find(|it| it.name == conflicts.name) {
            Some(known) => known.count = known.count.saturating_add(conflicts.count),
            None => sum.push(conflicts.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = r#"{ "offset_s": 0, "phases": [], "measured_s": 20, "headline": 1, "operations": [], "cpu_user_s": 0,
        "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
        "checks": [], "warnings": [] }"#;

    #[test]
    fn files_and_conflicts_add_up_by_kind() {
        let files = |kind, syncs| FileActivity {
            kind,
            syncs,
            sync_ns: Some(5 * syncs),
            writes: 1,
            written_bytes: 2,
            reads: 3,
            read_bytes: 4,
        };
        let mut sum = vec![files(crate::FileKind::Log, 2)];
        add_files(&mut sum, &[files(crate::FileKind::Log, 3), files(crate::FileKind::Database, 1)]);
        assert_eq!((sum[0].syncs, sum[0].sync_ns, sum[0].read_bytes, sum[1].syncs), (5, Some(25), 8, 1));
        let count = |name: &str, count| ConflictCount { name: name.to_owned(), count };
        let mut sum = vec![count("SQLITE_BUSY", 2)];
        add_conflicts(&mut sum, &[count("SQLITE_BUSY", 1), count("SQLITE_BUSY_SNAPSHOT", 4)]);
        assert_eq!(sum, [count("SQLITE_BUSY", 3), count("SQLITE_BUSY_SNAPSHOT", 4)]);
    }

    /// A round that users of several processes share was valid though a setting had changed in one of them.
    #[test]
    fn a_process_without_a_figure_voids_the_round_and_a_failed_check_names_its_process() {
        let check = |status, evidence: &str| Check {
            name: "response times".to_owned(),
            condition: String::new(),
            source: Check::RECONCILIATION.to_owned(),
            status,
            evidence: evidence.to_owned(),
            took_s: 0.0,
        };
        let part = |number, status, void: Option<&str>| Round {
            shared: Some(SharedRound { round: "r".to_owned(), number, of: 2, vanished: Vec::new() }),
            headline: if void.is_some() { f64::NAN } else { 5.0 },
            void: void.map(str::to_owned),
            checks: vec![check(status, &number.to_string())],
            ..serde_json::from_str(EMPTY).expect("a round")
        };
        use CheckStatus::{Failed, Passed};
        let merged = of_processes(&[&part(1, Passed, None), &part(2, Passed, None)]).unwrap();
        assert_eq!((merged.headline, &merged.void, &merged.shared), (10.0, &None, &None));
        assert_eq!(merged.checks, [check(Passed, "1; 2")]);
        let merged = of_processes(&[&part(1, Passed, None), &part(2, Failed, Some("a setting changed"))]).unwrap();
        assert_eq!((merged.headline.is_nan(), merged.void.as_deref()), (true, Some("a setting changed")));
        let names: Vec<&str> = merged.checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["response times", "response times, driver 2/2"]);
        let missing = of_processes(&[&part(1, Passed, None)]);
        assert_eq!(missing, Err(MergeError::Missing { number: 2, of: 2, round: "r".to_owned() }));
    }
}
