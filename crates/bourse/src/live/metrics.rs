//! State of a run in the text format of Prometheus, version 0.0.4.

use super::state::{CaseState, RunPhase, RunState};
use bourse_record::{METRICS, Metric, OperationProgress};
use std::fmt::Write as _;

/// Content type of the response.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const QUANTILES: [&str; 3] = ["0.5", "0.9", "0.99"];

/// A text under construction.
struct MetricsText {
    text: String,
    run: String,
}

/// Labels of a sample, in addition to that of its run.
type Labels<'a> = &'a [(&'a str, &'a str)];

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl MetricsText {
    /// Writes a metric: kind, help and all its samples together.
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a String takes all");
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: f64) {
        write!(self.text, "{name}{{run=\"{}\"", self.run).expect("a String takes all");
        for (label, value) in labels {
            write!(self.text, ",{label}=\"{}\"", escaped(value)).expect("a String takes all");
        }
        writeln!(self.text, "}} {value}").expect("a String takes all");
    }
}

/// The text of a run after `running_s` seconds.
pub(super) fn text(state: &RunState, running_s: f64) -> String {
    let run = state.run.as_ref();
    let mut text = MetricsText { text: String::new(), run: escaped(run.map_or("", |run| &run.name)) };
    about_run(&mut text, state, running_s);
    about_operations(&mut text, state);
    for metric in METRICS {
        about_metric(&mut text, state, metric);
    }
    text.text
}

fn about_run(text: &mut MetricsText, state: &RunState, running_s: f64) {
    let running_s = state.at_s.max(running_s);
    text.metric("bourse_info", "gauge", "The run and the program.");
    let (program, started) = state.run.as_ref().map_or(("", ""), |run| (&run.program, &run.started_at));
    text.sample("bourse_info", &[("version", program), ("started_at", started)], 1.0);
    text.metric("bourse_run_seconds", "gauge", "Time since the run began.");
    text.sample("bourse_run_seconds", &[], running_s);
    if let Some(left) = state.left_s(running_s) {
        text.metric("bourse_run_left_seconds", "gauge", "Time that is left of the run, about.");
        text.sample("bourse_run_left_seconds", &[], left);
    }
    text.metric("bourse_rounds_planned", "gauge", "Rounds of the run, over all cases.");
    text.sample("bourse_rounds_planned", &[], state.run.as_ref().map_or(0.0, |run| f64::from(run.rounds)));
    text.metric("bourse_rounds_done_total", "counter", "Rounds that are done.");
    text.sample("bourse_rounds_done_total", &[], f64::from(state.done));
    text.metric("bourse_phase", "gauge", "1 for what is done now, 0 for everything else.");
    let now = state.phase().0;
    for phase in RunPhase::ALL {
        text.sample("bourse_phase", &[("phase", phase.name())], if phase == now { 1.0 } else { 0.0 });
    }
    text.metric("bourse_case_active", "gauge", "1 for the case whose round it is.");
    for (name, case) in &state.cases {
        let is_active = state.round.as_ref().is_some_and(|round| round.case == *name);
        text.sample("bourse_case_active", &of_case(name, case), if is_active { 1.0 } else { 0.0 });
    }
}

fn of_case<'a>(name: &'a str, case: &'a CaseState) -> [(&'a str, &'a str); 2] {
    [("case", name), ("workload", &case.workload)]
}

fn about_operations(text: &mut MetricsText, state: &RunState) {
    let name = "bourse_operations_total";
    text.metric(name, "counter", "Operations that ended, over all rounds of the case, warm-up and drain too.");
    for (case, known) in &state.cases {
        for (operation, [valid, failed]) in known.totals() {
            let [case, workload] = of_case(case, known);
            for (outcome, count) in [("valid", valid), ("failed", failed)] {
                let labels = [case, workload, ("operation", operation), ("outcome", outcome)];
                text.sample(name, &labels, count as f64);
            }
        }
    }
    type Quantiles = fn(&OperationProgress) -> Option<[f64; 3]>;
    let of_last_second: Quantiles = |operation| operation.response_ns;
    let of_round: Quantiles = |operation| operation.whole_response_ns;
    let metrics = [
        ("bourse_latency_seconds", "Response time in the last second of the case.", of_last_second),
        ("bourse_round_latency_seconds", "Response time since the last round of the case began.", of_round),
    ];
    for (name, help, of) in metrics {
        text.metric(name, "gauge", help);
        for (case, known) in &state.cases {
            for operation in &known.operations {
                let Some(values) = of(operation) else { continue };
                let [case, workload] = of_case(case, known);
                for (quantile, ns) in QUANTILES.into_iter().zip(values) {
                    let labels = [case, workload, ("operation", &operation.name), ("quantile", quantile)];
                    text.sample(name, &labels, ns / 1e9);
                }
            }
        }
    }
}

/// Name of a metric, its kind, and whether it is a sum over time; `None` for those exported elsewhere.
fn named(metric: &Metric) -> Option<(String, &'static str, bool)> {
    if metric.name == "throughput" || metric.name == "failures" || metric.name.starts_with("response_ns_p") {
        // Exported by operation, with their outcomes.
        return None;
    }
    Some(match metric.unit {
        "s/s" => (format!("bourse_{}_seconds_total", metric.name), "counter", true),
        "bytes/s" | "1/s" => (format!("bourse_{}_total", metric.name), "counter", true),
        "ns" => (format!("bourse_{}_seconds", metric.name.replace("_ns_", "_")), "gauge", false),
        _ => (format!("bourse_{}", metric.name), "gauge", false),
    })
}

/// Writes a metric of the series: rates as totals, levels unchanged.
fn about_metric(text: &mut MetricsText, state: &RunState, metric: &Metric) {
    let Some((name, kind, is_sum)) = named(metric) else { return };
    let value = |case: &CaseState| if is_sum { &case.used } else { &case.row }.get(metric.name).copied();
    let of_cases: Vec<_> = state.cases.iter().filter_map(|(name, case)| Some((name, case, value(case)?))).collect();
    if of_cases.is_empty() {
        return;
    }
    let mut help = metric.title.to_owned();
    if let Some(first) = help.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text.metric(&name, kind, &format!("{help}{}.", if is_sum { ", over all rounds of the case" } else { "" }));
    for (case, known, value) in of_cases {
        let value = if metric.unit == "ns" { value / 1e9 } else { value };
        text.sample(&name, &of_case(case, known), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::line::{RunEvent, RunOutcome};
    use crate::live::state::tests::{round, run, second, state};
    use bourse_record::PhaseKind;
    use std::collections::{BTreeMap, BTreeSet};

    /// Samples by name and labels, read by the rules of the format, which it asserts.
    fn parsed(text: &str) -> BTreeMap<(String, BTreeMap<String, String>), f64> {
        assert!(text.ends_with('\n'));
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        };
        let (mut samples, mut seen, mut current) = (BTreeMap::new(), BTreeSet::new(), None);
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let (word, rest) = comment.split_once(' ').expect("a word and a name");
                let (name, rest) = rest.split_once(' ').expect("a name and more");
                match word {
                    "HELP" => assert!(seen.insert(name.to_owned()) && !rest.is_empty(), "{name} comes twice"),
                    "TYPE" => {
                        assert!(seen.contains(name) && ["counter", "gauge"].contains(&rest), "{line}");
                        assert_eq!(rest == "counter", name.ends_with("_total"), "{line}");
                        current = Some(name.to_owned());
                    }
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (name, rest) = line.split_once('{').expect("labels");
            assert_eq!(current.as_deref(), Some(name), "samples stand below what they are");
            assert!(is_name(name), "{name}");
            let mut labels = BTreeMap::new();
            let mut rest = rest.chars();
            loop {
                let label: String = rest.by_ref().take_while(|it| *it != '=').collect();
                assert!(is_name(&label) && !label.starts_with("__"), "{label}: {line}");
                assert_eq!(rest.next(), Some('"'));
                let mut value = String::new();
                loop {
                    match rest.next().expect("a label ends") {
                        '"' => break,
                        '\\' => value.push(match rest.next().expect("something is escaped") {
                            'n' => '\n',
                            other => {
                                assert!(['\\', '"'].contains(&other), "{line}");
                                other
                            }
                        }),
                        other => value.push(other),
                    }
                }
                assert!(labels.insert(label, value).is_none(), "{line}");
                match rest.next() {
                    Some(',') => {}
                    Some('}') => break,
                    other => panic!("{other:?}: {line}"),
                }
            }
            let value: f64 = rest.as_str().trim_start().parse().expect("a number");
            assert!(samples.insert((name.to_owned(), labels), value).is_none(), "{line} comes twice");
        }
        samples
    }

    #[test]
    fn the_text_obeys_the_formats_rules_and_has_every_figure() {
        let events = [
            (0.0, run()),
            (0.1, round("a\n\"b\"\\")),
            (1.0, second(1.0, 100, PhaseKind::WarmUp)),
            (2.0, second(2.0, 300, PhaseKind::Measurement)),
            (3.0, RunEvent::RoundDone { expected_s: 4.0 }),
            (3.1, round("c")),
            (4.5, second(1.0, 1_000, PhaseKind::Measurement)),
        ];
        let state = state(events);
        let samples = parsed(&text(&state, 5.0));
        let value = |name: &str, labels: &[(&str, &str)]| {
            let found: Vec<f64> = samples
                .iter()
                .filter(|((known, of), _)| {
                    known == name && labels.iter().all(|(label, value)| of.get(*label).is_some_and(|it| it == value))
                })
                .map(|(_, value)| *value)
                .collect();
            let [value] = found[..] else { panic!("{name} {labels:?}: {found:?}") };
            value
        };
        let run = ("run", "micro-point-read");
        let (a, c) = (("case", "a\n\"b\"\\"), ("case", "c"));
        let operations = "bourse_operations_total";
        assert_eq!(value(operations, &[run, a, ("operation", "read"), ("outcome", "valid")]), 300.0);
        assert_eq!(value(operations, &[run, c, ("operation", "read"), ("outcome", "valid")]), 1_000.0);
        assert_eq!(value(operations, &[c, ("operation", "up\"date\\"), ("outcome", "failed")]), 2.0);
        let latency = [c, ("workload", "point-read"), ("operation", "read"), ("quantile", "0.99")];
        assert_eq!(value("bourse_latency_seconds", &latency), 3.4e-3);
        assert_eq!(value("bourse_round_latency_seconds", &latency), 4e-3);
        assert_eq!(value("bourse_cpu_user_seconds_total", &[a]), 1.0, "half a core for 2 s");
        assert_eq!(value("bourse_written_bytes_total", &[a]), 8_192.0);
        assert_eq!(value("bourse_sync_time_seconds_total", &[c]), 0.25);
        assert_eq!(value("bourse_memory_resident_bytes", &[c]), 12.5e6);
        assert_eq!(value("bourse_response_max_seconds", &[c]), 5e-3);
        assert_eq!(value("bourse_phase", &[("phase", "measuring")]), 1.0);
        assert_eq!(value("bourse_phase", &[("phase", "warm_up")]), 0.0);
        assert_eq!((value("bourse_case_active", &[a]), value("bourse_case_active", &[c])), (0.0, 1.0));
        assert_eq!((value("bourse_rounds_done_total", &[]), value("bourse_rounds_planned", &[])), (1.0, 6.0));
        assert_eq!(value("bourse_run_seconds", &[]), 5.0);
    }

    #[test]
    fn a_run_that_has_only_begun_and_one_that_has_ended_are_text_too() {
        assert!(parsed(&text(&RunState::default(), 0.0)).len() > 5);
        let ended = state([(0.0, run()), (1.0, RunEvent::Ended { outcome: RunOutcome::Failed })]);
        let samples = parsed(&text(&ended, 1.0));
        let phases = samples.iter().filter(|((name, _), value)| name == "bourse_phase" && **value == 1.0);
        assert_eq!(phases.map(|((_, labels), _)| labels["phase"].as_str()).collect::<Vec<_>>(), ["ended"]);
        assert!(samples.keys().all(|(name, _)| name != "bourse_run_left_seconds"));
    }
}
