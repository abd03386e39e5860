//! The charts over time, as data: the metrics of each panel.

use super::ChartSubject;
use super::axis::AxisUnit;
use super::overlay::of_metrics;
use super::plot::{Curve, Events, Panel, Plot, Thinning};
use bourse_record::{FileKind, WorkloadKind};

fn curve(subject: &ChartSubject<'_>, metric: &str, label: &str, thin: Thinning) -> Curve {
    sum(subject, &[metric], label, thin)
}

fn sum(subject: &ChartSubject<'_>, metrics: &[&str], label: &str, thin: Thinning) -> Curve {
    let metrics = metrics.iter().map(|metric| (*metric).to_owned()).collect();
    of_metrics(subject.view, (subject.case, subject.nth), metrics, label, thin)
}

/// The panels over the time of the subject's round. If the database has a log, its own files are written by checkpoints,
/// which are marked.
fn over_time(subject: &ChartSubject<'_>, panels: Vec<Panel>) -> Plot {
    let has_log = subject.round.io.iter().any(|files| files.kind == FileKind::Log && files.writes > 0);
    let checkpoints = if_any(curve(subject, "data_written_bytes", "checkpoints", Thinning::Max)).filter(|_| has_log);
    let events = checkpoints.map(|curve| Events { name: "| checkpoint", curve });
    Plot::over_time(panels, &subject.round.phases, events)
}

/// The curve, if it is ever above zero: metrics that an engine does not have are not drawn as a line at the bottom.
fn if_any(curve: Curve) -> Option<Curve> {
    curve.points.iter().any(|(_, value)| value.is_some_and(|value| value > 0.0)).then_some(curve)
}

pub(super) fn throughput(subject: &ChartSubject<'_>) -> Plot {
    let workload = &subject.view.case.workload;
    let headline = workload.headline_operation.as_ref().map(|operation| {
        let curve = curve(subject, &workload.headline_metric(), operation, Thinning::Mean);
        Panel::new(format!("{operation}, a second"), AxisUnit::PerSecond, vec![curve])
    });
    let all = Panel::new(
        format!("all {}s, a second", subject.view.noun()),
        AxisUnit::PerSecond,
        vec![curve(subject, "throughput", "all", Thinning::Mean)],
    );
    // The headline's operations first. With a single operation both curves would be the same.
    let mut panels = match (workload.kind, headline, subject.round.operations.len()) {
        (_, None, _) => vec![all],
        (WorkloadKind::Brokerage, Some(headline), _) => vec![all, headline],
        (WorkloadKind::Micro, Some(headline), 1) => vec![headline],
        (WorkloadKind::Micro, Some(headline), _) => vec![headline, all],
    };
    // Only a figure that counts is drawn as the result.
    let result = subject.view.figure_of(subject.round);
    let counts = subject.view.valid_figure().is_some() && result.is_finite() && result > 0.0;
    panels[0].marks.extend(counts.then(|| (result, format!("result {}", crate::units::number(result)))));
    over_time(subject, panels)
}

pub(super) fn response(subject: &ChartSubject<'_>) -> Plot {
    let quantiles = [
        ("response_ns_max", "worst"),
        ("response_ns_p99", "p99"),
        ("response_ns_p90", "p90"),
        ("response_ns_p50", "median"),
    ];
    let curves = quantiles.map(|(metric, label)| curve(subject, metric, label, Thinning::Max)).into_iter().collect();
    let heat = subject.round.response_map.as_ref().map(|_| (subject.case, subject.nth));
    let panel = Panel { logarithmic: true, heat, ..Panel::new("response time", AxisUnit::Nanoseconds, curves) };
    over_time(subject, vec![panel])
}

pub(super) fn processor(subject: &ChartSubject<'_>) -> Plot {
    let user = curve(subject, "cpu_user", "user", Thinning::Mean);
    let system = curve(subject, "cpu_system", "system", Thinning::Mean);
    let both = sum(subject, &["cpu_user", "cpu_system"], "both", Thinning::Mean);
    let cores = subject.view.machine().cores;
    let mut curves = vec![both, user, system];
    curves.extend(if_any(curve(subject, "server_cpu_user", "server, user", Thinning::Mean)));
    curves.extend(if_any(curve(subject, "server_cpu_system", "server, system", Thinning::Mean)));
    curves.extend(if_any(curve(subject, "cpu_others", "other processes", Thinning::Mean)));
    curves.extend(if_any(curve(subject, "cpu_stolen", "taken by the host", Thinning::Mean)));
    let mut panel = Panel::new("cores busy", AxisUnit::Count, curves);
    panel.marks.extend((cores > 0).then(|| (f64::from(cores), format!("all {cores} cores"))));
    over_time(subject, vec![panel])
}

pub(super) fn memory(subject: &ChartSubject<'_>) -> Plot {
    let engine = if_any(curve(subject, "engine_memory_bytes", "engine's count", Thinning::Max));
    let mut ours = vec![curve(subject, "memory_resident_bytes", "our process", Thinning::Max)];
    ours.extend(engine);
    let mut machine = vec![
        curve(subject, "machine_memory_used_bytes", "used", Thinning::Max),
        curve(subject, "machine_memory_free_bytes", "free", Thinning::Mean),
    ];
    machine.extend(if_any(curve(subject, "machine_swap_used_bytes", "swap", Thinning::Max)));
    let panels =
        vec![Panel::new("our process", AxisUnit::Bytes, ours), Panel::new("the machine", AxisUnit::Bytes, machine)];
    over_time(subject, panels)
}

pub(super) fn sizes(subject: &ChartSubject<'_>) -> Plot {
    let data = if_any(curve(subject, "data_bytes", "database", Thinning::Max));
    let logs = [("log_bytes", "write-ahead log"), ("journal_bytes", "rollback journal")];
    let logs = logs.into_iter().filter_map(|(metric, label)| if_any(curve(subject, metric, label, Thinning::Max)));
    let panels = vec![
        Panel::new("database", AxisUnit::Bytes, data.into_iter().collect()),
        Panel::new("write-ahead log and rollback journal", AxisUnit::Bytes, logs.collect()),
    ];
    over_time(subject, panels)
}

pub(super) fn storage(subject: &ChartSubject<'_>) -> Plot {
    let curves = [("written_bytes", "written"), ("read_bytes", "read")];
    let curves = curves.map(|(metric, label)| curve(subject, metric, label, Thinning::Mean)).into_iter().collect();
    let syncs = if_any(curve(subject, "syncs", "syncs", Thinning::Mean));
    let in_syncs = if_any(curve(subject, "sync_time", "in syncs", Thinning::Mean));
    let panels = vec![
        Panel::new("bytes a second", AxisUnit::BytesPerSecond, curves),
        Panel::new("syncs, a second", AxisUnit::PerSecond, syncs.into_iter().collect()),
        Panel::new("users waiting for a sync, on average", AxisUnit::Count, in_syncs.into_iter().collect()),
    ];
    over_time(subject, panels)
}

pub(super) fn waiting(subject: &ChartSubject<'_>) -> Plot {
    let locks = curve(subject, "lock_wait", "locks", Thinning::Mean);
    let waits = if_any(curve(subject, "lock_waits", "waits for locks", Thinning::Mean));
    let retries = if_any(curve(subject, "retries", "retries", Thinning::Mean));
    let queue = if_any(curve(subject, "queue_length", "queue", Thinning::Max));
    let backlog = if_any(curve(subject, "backlog", "backlog", Thinning::Max));
    let queue_title =
        subject.view.case.workload.metric_title("queue_length").unwrap_or("waiting between the workload's parts");
    let panels = vec![
        Panel::new("users waiting for a lock, on average", AxisUnit::Count, vec![locks]),
        Panel::new("waits and retries, a second", AxisUnit::PerSecond, waits.into_iter().chain(retries).collect()),
        Panel::new(queue_title, AxisUnit::Count, queue.into_iter().collect()),
        Panel::new("due and waiting for a user", AxisUnit::Count, backlog.into_iter().collect()),
    ];
    over_time(subject, panels)
}
