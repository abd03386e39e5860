//! The charts over time, as data: which metrics stand in which panel.

use super::axis::Unit;
use super::time::{Curve, Panel, Thin, time_chart};
use super::{Chart, Size, Subject};
use crate::view::values;

fn curve(subject: &Subject<'_>, metric: &str, label: &str, thin: Thin) -> Curve {
    Curve { label: label.to_owned(), points: values(subject.round, metric).collect(), thin }
}

/// A curve only if it is ever above zero: what an engine does not have is not drawn as a line at the bottom.
fn if_any(curve: Curve) -> Option<Curve> {
    curve.points.iter().any(|(_, value)| value.is_some_and(|value| value > 0.0)).then_some(curve)
}

fn panel(title: impl Into<String>, unit: Unit, curves: Vec<Curve>) -> Panel {
    Panel { title: title.into(), unit, logarithmic: false, curves, mark: None }
}

pub(super) fn throughput(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let operation = &subject.view.case.workload.headline_operation;
    let headline = curve(subject, &format!("throughput.{operation}"), operation, Thin::Mean);
    let all = curve(subject, "throughput", "all", Thin::Mean);
    let mut first = panel(format!("{operation}, a second"), Unit::PerSecond, vec![headline]);
    // Only a figure that counts is drawn as the result.
    first.mark = subject.view.valid_figure().map(|_| {
        let result = subject.round.headline;
        (result, format!("result {}", crate::units::number(result)))
    });
    first.mark = first.mark.filter(|(result, _)| result.is_finite() && *result > 0.0);
    time_chart(
        subject,
        chart,
        size,
        vec![first, panel(format!("all {}s, a second", subject.view.noun()), Unit::PerSecond, vec![all])],
    )
}

pub(super) fn response(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let quantiles = [
        ("response_ns_max", "worst"),
        ("response_ns_p99", "p99"),
        ("response_ns_p90", "p90"),
        ("response_ns_p50", "median"),
    ];
    let curves = quantiles.map(|(metric, label)| curve(subject, metric, label, Thin::Max)).into_iter().collect();
    let panel = Panel { logarithmic: true, ..panel("response time", Unit::Nanoseconds, curves) };
    time_chart(subject, chart, size, vec![panel])
}

pub(super) fn processor(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let user = curve(subject, "cpu_user", "user", Thin::Mean);
    let system = curve(subject, "cpu_system", "system", Thin::Mean);
    let sum = |(time, user): &(f64, Option<f64>), (_, system): &(f64, Option<f64>)| {
        (*time, user.zip(*system).map(|(user, system)| user + system))
    };
    let points = user.points.iter().zip(&system.points).map(|(user, system)| sum(user, system)).collect();
    let both = Curve { label: "both".to_owned(), points, thin: Thin::Mean };
    let cores = subject.view.machine().cores;
    let mut curves = vec![both, user, system];
    curves.extend(if_any(curve(subject, "server_cpu_user", "server, user", Thin::Mean)));
    curves.extend(if_any(curve(subject, "server_cpu_system", "server, system", Thin::Mean)));
    curves.extend(if_any(curve(subject, "cpu_others", "other processes", Thin::Mean)));
    curves.extend(if_any(curve(subject, "cpu_stolen", "taken by the host", Thin::Mean)));
    let mut panel = panel("cores busy", Unit::SecondsPerSecond, curves);
    panel.mark = (cores > 0).then(|| (f64::from(cores), format!("all {cores} cores")));
    time_chart(subject, chart, size, vec![panel])
}

pub(super) fn memory(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let engine = if_any(curve(subject, "engine_memory_bytes", "engine's count", Thin::Max));
    let mut ours = vec![curve(subject, "memory_resident_bytes", "our process", Thin::Max)];
    ours.extend(engine);
    let mut machine = vec![
        curve(subject, "machine_memory_used_bytes", "used", Thin::Max),
        curve(subject, "machine_memory_free_bytes", "free", Thin::Mean),
    ];
    machine.extend(if_any(curve(subject, "machine_swap_used_bytes", "swap", Thin::Max)));
    let panels = vec![panel("our process", Unit::Bytes, ours), panel("the machine", Unit::Bytes, machine)];
    time_chart(subject, chart, size, panels)
}

pub(super) fn sizes(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let data = if_any(curve(subject, "data_bytes", "database", Thin::Max));
    let logs = [("log_bytes", "write-ahead log"), ("journal_bytes", "rollback journal")];
    let logs = logs.into_iter().filter_map(|(metric, label)| if_any(curve(subject, metric, label, Thin::Max)));
    let panels = vec![
        panel("database", Unit::Bytes, data.into_iter().collect()),
        panel("write-ahead log and rollback journal", Unit::Bytes, logs.collect()),
    ];
    time_chart(subject, chart, size, panels)
}

pub(super) fn storage(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let curves = [("written_bytes", "written"), ("read_bytes", "read")];
    let curves = curves.map(|(metric, label)| curve(subject, metric, label, Thin::Mean)).into_iter().collect();
    time_chart(subject, chart, size, vec![panel("bytes a second", Unit::BytesPerSecond, curves)])
}

pub(super) fn waiting(subject: &Subject<'_>, chart: &Chart, size: Size) -> Option<String> {
    let locks = curve(subject, "lock_wait", "locks", Thin::Mean);
    let waits = if_any(curve(subject, "lock_waits", "waits for locks", Thin::Mean));
    let retries = if_any(curve(subject, "retries", "retries", Thin::Mean));
    let queue = if_any(curve(subject, "queue_length", "queue", Thin::Max));
    let backlog = if_any(curve(subject, "backlog", "backlog", Thin::Max));
    let queue_title =
        subject.view.case.workload.metric_title("queue_length").unwrap_or("waiting between the workload's parts");
    let panels = vec![
        panel("users waiting for a lock, on average", Unit::SecondsPerSecond, vec![locks]),
        panel("waits and retries, a second", Unit::PerSecond, waits.into_iter().chain(retries).collect()),
        panel(queue_title, Unit::Count, queue.into_iter().collect()),
        panel("due and waiting for a user", Unit::Count, backlog.into_iter().collect()),
    ];
    time_chart(subject, chart, size, panels)
}
