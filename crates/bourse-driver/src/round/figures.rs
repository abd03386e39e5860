//! Figures of a round that has ended.

use super::usage::{Mark, UsageMarks};
use crate::sampler::Sampler;
use crate::throughput::Throughput;
use crate::{Nanos, RoundControl, SECOND};
use bourse_engine::{FileIo, IoCounts};
use bourse_record::{
    Arrivals, CostCovers, FileActivity, FileKind, Interference, Operation, OperationSpec, Phase, PhaseKind, Recorder,
    Round, ServerUse, Stopping, Warning,
};

/// Valid completions that the headline counts: of one operation, or of all.
fn valid(operations: &[Operation], headline: Option<usize>) -> u64 {
    match headline {
        Some(at) => operations.get(at).map_or(0, Operation::valid),
        None => operations.iter().map(Operation::valid).sum(),
    }
}

/// Reason that an interval has no figure: no operation of the headline ended in it.
pub(super) fn nothing_ended(round: &Round, operations: &[OperationSpec], headline: Option<usize>) -> Option<String> {
    let name = headline.map_or(Some("operation"), |at| Some(operations.get(at)?.name))?;
    let valid = valid(&round.operations, headline);
    (round.measured_s > 0.0 && valid == 0)
        .then(|| format!("no {name} ended validly in the measurement interval of {:.1} s", round.measured_s))
}

/// Processors used by others between two marks, if the system reports them; `None` below one second of the interval.
fn interference(
    to: &Mark,
    from: &Mark,
    server: Option<ServerUse>,
    in_process: bool,
    measured_s: f64,
) -> Option<Interference> {
    let (machine, machine_then) = (to.machine?, from.machine?);
    // The machine counts in hundredths of a second.
    if measured_s < 1.0 {
        return None;
    }
    let between_s = to.at.saturating_sub(from.at) as f64 / SECOND as f64;
    let ours = to.process.cpu_s().unwrap_or(0.0) - from.process.cpu_s().unwrap_or(0.0);
    let servers = server.map_or(0.0, |server| server.cpu_user_s + server.cpu_system_s);
    let kernel = machine.interrupts_s - machine_then.interrupts_s + to.kernel.since(&from.kernel);
    let others = machine.busy_s - machine_then.busy_s - ours - servers - kernel;
    let host = machine.stolen_s - machine_then.stolen_s;
    // The counts are rounded apart: a hundredth less than nothing is nothing.
    let processors = |seconds: f64| if between_s > 0.0 { seconds.max(0.0) / between_s } else { 0.0 };
    Some(Interference {
        by_others: processors(others),
        by_kernel: processors(kernel),
        by_host: processors(host),
        includes_server: !in_process && server.is_none(),
    })
}

/// Warnings of interference above the threshold.
fn disturbed(interference: Interference) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Interference { by_others, by_host, includes_server, .. } = interference;
    if by_others > Interference::NOTICED {
        warnings.push(Warning::OtherProcesses { cpus: by_others, server_is_known: !includes_server });
    }
    if by_host > Interference::NOTICED {
        warnings.push(Warning::HostSteal { cpus: by_host });
    }
    warnings
}

/// Activity of each kind of file that was used, in the run file's form; none in an interval below the delay of the counter.
fn file_activity(counts: &IoCounts, measured_s: f64) -> Vec<FileActivity> {
    if measured_s * (SECOND as f64) < counts.delay_ns as f64 {
        return Vec::new();
    }
    let idle = |files: FileIo| FileIo { sync_ns: None, ..files } == FileIo::default();
    let kinds = [
        (FileKind::Database, counts.database),
        (FileKind::Log, counts.log),
        (FileKind::Journal, counts.journal),
        (FileKind::Temporary, counts.temporary),
        (FileKind::DataAndLog, counts.together),
    ];
    let used = kinds.into_iter().filter(|(kind, files)| *kind == FileKind::Database || !idle(*files));
    used.map(|(kind, files)| FileActivity {
        kind,
        syncs: files.syncs,
        sync_ns: files.sync_ns,
        writes: files.writes,
        written_bytes: files.written_bytes,
        reads: files.reads,
        read_bytes: files.read_bytes,
    })
    .collect()
}

/// The figures of a round that has ended, without its checks.
#[expect(clippy::too_many_arguments, reason = "what a round has left behind; its one caller has them all at hand")]
pub(super) fn figures(
    total: &Recorder,
    control: &RoundControl,
    marks: UsageMarks,
    sampler: Sampler<'_>,
    throughput: &Throughput,
    stopping: Option<Stopping>,
    headline: Option<usize>,
    in_process: bool,
    end: Nanos,
) -> Round {
    let begin = control.begin();
    let seconds = |at: Nanos| at.saturating_sub(begin) as f64 / SECOND as f64;
    let (from, to) = (control.measure_from(), control.measure_to());
    let stretch = |kind, from, to| (to > from).then(|| Phase { kind, from_s: seconds(from), to_s: seconds(to) });
    let phases = [
        stretch(PhaseKind::WarmUp, begin, from),
        stretch(PhaseKind::Measurement, from, to),
        stretch(PhaseKind::Drain, to, end),
    ];
    let measured_s = (to - from) as f64 / SECOND as f64;
    let operations = total.figures();
    let valid = valid(&operations, headline);
    let late_s = marks.late_ns(control) as f64 / SECOND as f64;
    let (engine_threads, not_warm) = marks.engine_threads();
    let (at_first, at_last) = (marks.from.unwrap_or_default(), marks.to.unwrap_or_default());
    let (first, last) = (at_first.process, at_last.process);
    let seconds_used =
        |last: Option<f64>, first: Option<f64>| last.zip(first).map_or(0.0, |(last, first)| last - first);
    let grown = |last: Option<u64>, first: Option<u64>| last.zip(first).map_or(0, |(last, first)| last - first);
    let mut warnings = Vec::new();
    let usage_late_s = Some(late_s).filter(|late_s| *late_s > Round::LATE_PART * measured_s && measured_s > 0.0);
    warnings.extend(usage_late_s.map(|late_s| Warning::UsageReadLate { late_s, measured_s }));
    if let Some(error) = &sampler.footprint_error {
        warnings.push(Warning::SizeUnknown { error: error.clone() });
    }
    warnings.extend(not_warm);
    let clamped: u64 = operations.iter().map(|operation| operation.response.clamped).sum();
    if clamped > 0 {
        warnings.push(Warning::LatencyClamped { count: clamped });
    }
    let arrivals = total.all_arrivals();
    if let Some(Arrivals { dropped, unstarted, due, .. }) = arrivals {
        if dropped > 0 {
            warnings.push(Warning::OperationsDropped { dropped, due });
        }
        if unstarted > 0 {
            warnings.push(Warning::OperationsWaiting { waiting: unstarted, due });
        }
    }
    let server = at_last.server_since(&at_first);
    let interference = interference(&at_last, &at_first, server, in_process, measured_s);
    warnings.extend(interference.into_iter().flat_map(disturbed));
    Round {
        offset_s: 0.0,
        phases: phases.into_iter().flatten().collect(),
        measured_s,
        headline: if measured_s > 0.0 { valid as f64 / measured_s } else { 0.0 },
        void: None,
        operations,
        arrivals,
        series: sampler.series,
        fine_series: bourse_record::Series::default(),
        throughput_series: throughput.series(headline.and_then(|at| total.specs().get(at)).map(|spec| spec.name)),
        response_map: sampler.responses.finish(),
        latency: None,
        history: None,
        stopping,
        cpu_user_s: seconds_used(last.cpu_user_s, first.cpu_user_s),
        cpu_system_s: seconds_used(last.cpu_system_s, first.cpu_system_s),
        read_bytes: grown(last.read_bytes, first.read_bytes),
        written_bytes: grown(last.written_bytes, first.written_bytes),
        major_faults: grown(last.major_faults, first.major_faults),
        io_source: at_last.io.map(|io| io.source.to_owned()).unwrap_or_default(),
        server,
        usage_late_s,
        cost_covers: Some(match (in_process, server) {
            (true, _) => CostCovers::Process,
            (false, Some(_)) => CostCovers::ClientAndServer,
            (false, None) => CostCovers::Client,
        }),
        interference,
        counters: at_last.counted_since(&at_first),
        engine_threads,
        statements: Vec::new(),
        conflicts: Vec::new(),
        market_age_s: None,
        slowdown: None,
        io: at_last
            .io
            .zip(at_first.io)
            .map_or_else(Vec::new, |(last, first)| file_activity(&last.since(first), measured_s)),
        facts: Vec::new(),
        time_split: None,
        shared: None,
        checks: Vec::new(),
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_late_counts_nothing_in_a_short_interval() {
        let log = FileIo { syncs: 7, ..FileIo::default() };
        let late = IoCounts { delay_ns: 2 * SECOND, log, ..IoCounts::default() };
        let syncs =
            |counts: &IoCounts, measured_s| file_activity(counts, measured_s).iter().map(|files| files.syncs).max();
        assert_eq!(
            [0.2, 1.9, 2.0].map(|measured_s| syncs(&late.since(IoCounts::default()), measured_s)),
            [None, None, Some(7)]
        );
        assert_eq!(syncs(&IoCounts { delay_ns: 0, ..late }, 0.2), Some(7));
    }
}
