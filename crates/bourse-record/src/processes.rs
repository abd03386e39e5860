//! Merges a round whose users were in several processes of one machine. All parts began at one moment of one clock, so
//! throughput too is added row by row.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::drivers::{both, facts, one_operation, one_series, total};
use crate::{
    Check, CheckStatus, Column, ConflictCount, FileActivity, HistogramError, Interference, Operation, Round, Series,
    TimeSplit, Warning,
};

/// Merges the rounds of all processes, without a headline and without the checks that passed: the caller compares the
/// sum with its own count. `None` without any round.
///
/// # Errors
/// A histogram that cannot be read.
pub fn of_processes(rounds: &[Round]) -> Result<Option<Round>, HistogramError> {
    let parts: Vec<&Round> = rounds.iter().collect();
    let Some((first, others)) = parts.split_first() else { return Ok(None) };
    let mut round = (*first).clone();
    round.measured_s = parts.iter().map(|part| part.measured_s).fold(0.0, f64::max);
    round.void = None;
    // They began together; one that drains longer ends later.
    if let Some(last) = round.phases.last_mut() {
        last.to_s = parts.iter().filter_map(|part| part.phases.last()).map(|it| it.to_s).fold(last.to_s, f64::max);
    }
    round.cpu_user_s = parts.iter().map(|part| part.cpu_user_s).sum();
    round.cpu_system_s = parts.iter().map(|part| part.cpu_system_s).sum();
    round.read_bytes = total(&parts, |part| part.read_bytes);
    round.written_bytes = total(&parts, |part| part.written_bytes);
    for operation in &mut round.operations {
        let same: Vec<&Operation> =
            parts.iter().flat_map(|part| &part.operations).filter(|other| other.name == operation.name).collect();
        one_operation(operation, &same)?;
    }
    round.arrivals = parts.iter().filter_map(|part| part.arrivals).reduce(both);
    round.series = one_series(&parts.iter().map(|part| &part.series).collect::<Vec<_>>());
    round.fine_series = Series::default();
    round.throughput_series = rates(&parts.iter().map(|part| &part.throughput_series).collect::<Vec<_>>());
    round.response_map = None;
    round.time_split = TimeSplit::merged(parts.iter().map(|part| part.time_split.as_ref()));
    // A server counts for all that it serves.
    if round.io_source.is_empty() {
        others.iter().for_each(|part| add_files(&mut round.io, &part.io));
    }
    for part in others {
        add_conflicts(&mut round.conflicts, &part.conflicts);
    }
    round.interference = interference(first, others);
    round.usage_late_s = parts.iter().filter_map(|part| part.usage_late_s).reduce(f64::max);
    let who: Vec<String> = (1..=parts.len()).map(|number| format!("process {number}/{}", parts.len())).collect();
    round.facts = facts(&parts, &who);
    round.checks = failed_checks(&parts, &who);
    round.warnings = warnings(&parts, &round);
    Ok(Some(round))
}

/// Checks of one process's figures that failed.
fn failed_checks(parts: &[&Round], who: &[String]) -> Vec<Check> {
    let failed = |part: &&Round| -> Vec<Check> {
        part.checks.iter().filter(|check| check.status == CheckStatus::Failed).cloned().collect()
    };
    let named = |(part, who)| -> Vec<Check> {
        let of_part: Vec<Check> = failed(part);
        of_part.into_iter().map(|check| Check { name: format!("{}, {who}", check.name), ..check }).collect()
    };
    parts.iter().zip(who).flat_map(named).collect()
}

/// Interference by processes other than Bourse's: each of Bourse's own counted its siblings as others.
fn interference(first: &Round, others: &[&Round]) -> Option<Interference> {
    let seen = first.interference?;
    let ours: f64 = others.iter().map(|part| part.cpu_user_s + part.cpu_system_s).sum();
    let cpus = if first.measured_s > 0.0 { ours / first.measured_s } else { 0.0 };
    Some(Interference { by_others: (seen.by_others - cpus).max(0.0), ..seen })
}

/// Warnings of all processes; those about sums are recomputed from the sums.
fn warnings(parts: &[&Round], whole: &Round) -> Vec<Warning> {
    let is_of_sums = |warning: &Warning| {
        use Warning::{HostSteal, OperationsDropped, OperationsWaiting, OtherProcesses};
        matches!(
            warning,
            OtherProcesses { .. } | HostSteal { .. } | OperationsDropped { .. } | OperationsWaiting { .. }
        )
    };
    let of = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let mut warnings = Vec::new();
    for (number, part) in (1..).zip(parts) {
        for warning in part.warnings.iter().filter(|warning| !is_of_sums(warning)) {
            let everywhere = parts.iter().all(|part| part.warnings.contains(warning));
            let said = match everywhere {
                true => warning.clone(),
                false => Warning::Process { number, of, warning: Box::new(warning.clone()) },
            };
            if !warnings.contains(&said) {
                warnings.push(said);
            }
        }
    }
    if let Some(arrivals) = whole.arrivals {
        let due = arrivals.due;
        let dropped = (arrivals.dropped > 0).then_some(Warning::OperationsDropped { dropped: arrivals.dropped, due });
        let waiting = arrivals.unstarted;
        warnings.extend(dropped);
        warnings.extend((waiting > 0).then_some(Warning::OperationsWaiting { waiting, due }));
    }
    if let Some(Interference { by_others, by_host, includes_server, .. }) = whole.interference {
        let server_is_known = !includes_server;
        let others = Warning::OtherProcesses { cpus: by_others, server_is_known };
        warnings.extend((by_others > Interference::NOTICED).then_some(others));
        warnings.extend((by_host > Interference::NOTICED).then_some(Warning::HostSteal { cpus: by_host }));
    }
    warnings
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

/// Summed rates in the rows of the first part; the other parts' counts are interpolated at the ends of these rows.
fn rates(parts: &[&Series]) -> Series {
    let Some((first, others)) = parts.split_first() else { return Series::default() };
    let columns = first.columns.iter().map(|column| {
        let others: Vec<Vec<(f64, f64)>> = others.iter().map(|series| done(series, &column.metric)).collect();
        let mut from = 0.0;
        let values = first.time_s.iter().zip(&column.values).map(|(&to, value)| {
            let length = to - from;
            let gained: f64 = others.iter().map(|done| done_by(done, to) - done_by(done, from)).sum();
            from = to;
            value.map(|value| if length > 0.0 { value + gained / length } else { value })
        });
        Column { metric: column.metric.clone(), values: values.collect() }
    });
    Series { columns: columns.collect(), time_s: first.time_s.clone() }
}

/// Cumulative count at the end of each row of a rate series, as pairs of time and count.
fn done(series: &Series, metric: &str) -> Vec<(f64, f64)> {
    let values = series.column(metric).unwrap_or_default();
    let mut ends = vec![(0.0, 0.0)];
    let (mut from, mut sum) = (0.0, 0.0);
    for (&to, value) in series.time_s.iter().zip(values) {
        sum += value.unwrap_or(0.0) * (to - from);
        from = to;
        ends.push((to, sum));
    }
    ends
}

/// Cumulative count at a moment, interpolated linearly between ends of rows.
fn done_by(ends: &[(f64, f64)], at: f64) -> f64 {
    let after = ends.partition_point(|(time, _)| *time < at);
    let last = ends.last().map_or(0.0, |(_, sum)| *sum);
    let (Some(&(to, sum)), Some(&(from, before))) =
        (ends.get(after), after.checked_sub(1).and_then(|before| ends.get(before)))
    else {
        return if after == 0 { 0.0 } else { last };
    };
    if to > from { before + (sum - before) * (at - from) / (to - from) } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: &[(f64, f64)]) -> Series {
        let mut series = Series::default();
        for (time, rate) in rows {
            series.push(*time, [("throughput".to_owned(), Some(*rate))]);
        }
        series
    }

    #[test]
    fn nothing_that_was_done_is_lost_between_rows() {
        let one = series(&[(0.1, 10.0), (0.2, 20.0), (0.3, 30.0)]);
        // Its rows end a little later, and it missed one.
        let other = series(&[(0.11, 100.0), (0.3, 100.0)]);
        let both = rates(&[&one, &other]);
        assert_eq!(both.time_s, one.time_s);
        let values: Vec<f64> = both.column("throughput").unwrap().iter().map(|it| it.unwrap()).collect();
        let wanted = [110.0, 120.0, 130.0];
        assert!(values.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{values:?}");
        // One that ends sooner gains nothing more.
        let both = rates(&[&one, &series(&[(0.1, 5.0)])]);
        let values: Vec<f64> = both.column("throughput").unwrap().iter().map(|it| it.unwrap()).collect();
        assert!((values[0] - 15.0).abs() < 1e-6 && (values[2] - 30.0).abs() < 1e-6, "{values:?}");
    }

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
}
