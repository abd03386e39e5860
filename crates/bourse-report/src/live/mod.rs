//! Views of an unfinished run: the texts of the full-screen view, and a page that follows it.
//!
//! Pure, as all reports: the follower passes the run's state, and draws again when there is more.

mod page;

pub(crate) use page::points_of;
pub use page::{LIVE_SCRIPT, LIVE_STYLE, live_fragment, live_page};

use crate::units::{NOTHING, bytes, count, duration_ns, number, printable, seconds, significant};
use bourse_record::{OperationProgress, SeriesRow};

/// State of an unfinished run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRun {
    /// Name of the run.
    pub name: String,
    /// The case whose round it is.
    pub case: String,
    /// Number of the round in the run, from 1, and number of all rounds; `None` before the first.
    pub round: Option<[u32; 2]>,
    /// Current phase, as text.
    pub phase: String,
    /// Seconds of the round's warm-up or interval: passed and planned; `None` outside of them.
    pub phase_s: Option<[f64; 2]>,
    /// Seconds since the run began.
    pub running_s: f64,
    /// Approximate time left, in seconds.
    pub left_s: Option<f64>,
    /// The operations of the round.
    pub operations: Vec<OperationProgress>,
    /// The last row of the round's series.
    pub row: SeriesRow,
    /// The last seconds of the run.
    pub points: Vec<LivePoint>,
    /// Outcome of the run, once it has ended.
    pub ended: Option<String>,
}

/// One second of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LivePoint {
    /// Seconds since the run began.
    pub time_s: f64,
    /// Completed per second.
    pub throughput: f64,
    /// Response time: median and 99th percentile, in nanoseconds.
    pub response_ns: Option<[f64; 2]>,
}

/// Heads of the table of operations.
pub const LIVE_HEADS: [&str; 8] =
    ["operation", "count", "a second", "p50 now", "p99 now", "p50 all", "p99 all", "failed"];

/// Texts of the view of an unfinished run.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveText {
    /// Name of the run and its case.
    pub title: String,
    /// Number of the round and of all rounds; empty before the first.
    pub round: String,
    /// Current phase, and its progress.
    pub phase: String,
    /// Time that has passed and time left.
    pub time: String,
    /// Current throughput.
    pub throughput: String,
    /// A row for each operation, with the columns of [`LIVE_HEADS`].
    pub operations: Vec<[String; LIVE_HEADS.len()]>,
    /// Current resource usage, by name.
    pub resources: Vec<(&'static str, String)>,
}

impl LiveRun {
    /// Texts of the run.
    pub fn text(&self) -> LiveText {
        let case = if self.case.is_empty() { String::new() } else { format!(" · {}", printable(&self.case)) };
        let phase = match self.phase_s {
            Some([passed, planned]) if self.ended.is_none() => {
                format!("{}, {:.0} of {}", printable(&self.phase), passed.min(planned).floor(), seconds(planned))
            }
            _ => printable(self.ended.as_ref().unwrap_or(&self.phase)),
        };
        let left = match self.left_s {
            Some(left) if left > 0.0 && self.ended.is_none() => format!(", about {} left", seconds(left.ceil())),
            _ => String::new(),
        };
        LiveText {
            title: format!("{}{case}", printable(&self.name)),
            round: self.round.map_or_else(String::new, |[nth, of]| format!("round {nth} of {of}")),
            phase,
            time: format!("{} since the start{left}", seconds(self.running_s.floor())),
            throughput: match self.row.get("throughput") {
                Some(rate) => format!("{} a second", number(*rate)),
                None => NOTHING.to_owned(),
            },
            operations: self.operations.iter().map(row_of).collect(),
            resources: self.resources(),
        }
    }

    /// Current resource usage. Metrics that are not reported are left out.
    fn resources(&self) -> Vec<(&'static str, String)> {
        let value = |metric: &str| self.row.get(metric).copied();
        let cores = |value: f64| format!("{} cores", significant(value, 3));
        let a_second = |value: f64| format!("{}/s", bytes(value));
        let shown = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
        let mut all = vec![
            ("processor, user", shown(value("cpu_user").map(cores))),
            ("system", shown(value("cpu_system").map(cores))),
            ("other processes", shown(value("cpu_others").map(cores))),
            ("memory", shown(value("memory_resident_bytes").map(bytes))),
            ("written", shown(value("written_bytes").map(a_second))),
            ("read", shown(value("read_bytes").map(a_second))),
        ];
        // An engine without such a counter has no such line; nor is there a server's line without a server.
        let further = [
            ("syncs", value("syncs").map(|syncs| format!("{}/s", number(syncs)))),
            ("database", value("data_bytes").map(bytes)),
            ("log", value("log_bytes").filter(|bytes| *bytes > 0.0).map(bytes)),
            ("server, processor", value("server_cpu_user").zip(value("server_cpu_system")).map(|(a, b)| cores(a + b))),
            ("server, memory", value("server_memory_resident_bytes").map(bytes)),
            ("retries", value("retries").filter(|rate| *rate > 0.0).map(|rate| format!("{}/s", number(rate)))),
            ("waiting", value("backlog").filter(|waiting| *waiting > 0.0).map(number)),
        ];
        all.extend(further.into_iter().filter_map(|(name, text)| Some((name, text?))));
        all
    }

    /// The run in one line, for a log.
    pub fn line(&self) -> String {
        let text = self.text();
        let mut parts = vec![text.title, text.round, text.phase];
        if self.row.contains_key("throughput") && self.phase_s.is_some() && self.ended.is_none() {
            parts.push(text.throughput);
            if let Some([p50, p99]) = self.points.last().and_then(|point| point.response_ns) {
                parts.push(format!("p50 {}, p99 {}", duration_ns(p50), duration_ns(p99)));
            }
            let failed: u64 = self.operations.iter().map(|operation| operation.failed).sum();
            parts.push(format!("{} failed", count(failed)));
        }
        parts.push(text.time);
        parts.retain(|part| !part.is_empty());
        parts.join("  ")
    }
}

fn row_of(operation: &OperationProgress) -> [String; LIVE_HEADS.len()] {
    let quantile =
        |of: Option<[f64; 3]>, at: usize| of.map_or_else(|| NOTHING.to_owned(), |quantiles| duration_ns(quantiles[at]));
    [
        printable(&operation.name),
        count(operation.valid),
        number(operation.per_second),
        quantile(operation.response_ns, 0),
        quantile(operation.response_ns, 2),
        quantile(operation.whole_response_ns, 0),
        quantile(operation.whole_response_ns, 2),
        count(operation.failed),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn run() -> LiveRun {
        let operation = |name: &str, valid, failed| OperationProgress {
            name: name.to_owned(),
            valid,
            failed,
            per_second: 1_234.7,
            response_ns: Some([10e3, 20e3, 3.4e6]),
            whole_response_ns: (failed == 0).then_some([11e3, 21e3, 4e6]),
        };
        let row = [("throughput", 2_469.0), ("cpu_user", 0.98), ("cpu_system", 0.02), ("cpu_others", 0.113)];
        let row =
            row.into_iter().chain([("memory_resident_bytes", 12.5e6), ("written_bytes", 4_096.0), ("syncs", 12.0)]);
        let point = |at: u32| LivePoint {
            time_s: f64::from(at),
            throughput: 2_000.0 + f64::from(at * at % 17) * 30.0,
            response_ns: (at != 3).then_some([10e3 + f64::from(at), 3.4e6]),
        };
        LiveRun {
            name: "tpce".to_owned(),
            case: "sqlite:\u{1b}[2J<x>.db".to_owned(),
            round: Some([2, 6]),
            phase: "measuring".to_owned(),
            phase_s: Some([12.2, 40.0]),
            running_s: 71.9,
            left_s: Some(130.2),
            operations: vec![operation("Trade-Order", 12_345, 0), operation("Market-<Feed>", 7, 3)],
            row: row.map(|(name, value)| (name.to_owned(), value)).collect(),
            points: (1..60).map(point).collect(),
            ended: None,
        }
    }

    #[test]
    fn numbers_are_words() {
        let text = run().text();
        assert_eq!(text.title, "tpce · sqlite:\\u{1b}[2J<x>.db");
        assert_eq!((text.round.as_str(), text.phase.as_str()), ("round 2 of 6", "measuring, 12 of 40 s"));
        assert_eq!(text.time, "71 s since the start, about 2 min 11 s left");
        assert_eq!(text.operations[1], ["Market-<Feed>", "7", "1,235", "10.0 µs", "3.40 ms", "–", "–", "3"]);
        let used: Vec<String> = text.resources.iter().map(|(name, text)| format!("{name} {text}")).collect();
        let expected = [
            "processor, user 0.980 cores",
            "system 0.0200 cores",
            "other processes 0.113 cores",
            "memory 11.9 MiB",
            "written 4.00 KiB/s",
            "read –",
            "syncs 12.00/s",
        ];
        assert_eq!(used, expected);
    }

    #[test]
    fn a_run_is_one_line() {
        let line = "tpce · sqlite:\\u{1b}[2J<x>.db  round 2 of 6  measuring, 12 of 40 s  2,469 a second  \
                    p50 10.1 µs, p99 3.40 ms  3 failed  71 s since the start, about 2 min 11 s left";
        assert_eq!(run().line(), line);
        let begun = LiveRun { name: "x".to_owned(), phase: "loading".to_owned(), running_s: 1.0, ..LiveRun::default() };
        assert_eq!(begun.line(), "x  loading  1 s since the start");
        let ended = LiveRun { ended: Some("finished".to_owned()), ..run() };
        assert!(ended.line().ends_with("round 2 of 6  finished  71 s since the start"), "{}", ended.line());
    }
}
