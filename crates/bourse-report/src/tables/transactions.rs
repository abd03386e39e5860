use super::{Cell, Head, Table, Tone};
use crate::units;
use crate::view::{CaseView, Clock, Latency, OperationView, ServerLatency};
use bourse_record::{LatencySummary, Outcome, WorkloadKind};

/// A quantile: title, CSV name, rank, value.
type Quantile = (&'static str, &'static str, u8, fn(&LatencySummary) -> f64);

const QUANTILES: [Quantile; 7] = [
    ("mean", "mean_ns", 3, |summary| summary.mean_ns),
    ("p50", "p50_ns", 1, |summary| summary.p50_ns as f64),
    ("p90", "p90_ns", 0, |summary| summary.p90_ns as f64),
    ("p95", "p95_ns", 5, |summary| summary.p95_ns as f64),
    ("p99", "p99_ns", 0, |summary| summary.p99_ns as f64),
    ("p99.9", "p999_ns", 4, |summary| summary.p999_ns as f64),
    ("max", "max_ns", 2, |summary| summary.max_ns as f64),
];

fn quantile_heads() -> impl Iterator<Item = Head> {
    QUANTILES.iter().map(|(title, csv, rank, _)| Head::right(title, csv).rank(*rank))
}

fn quantiles(operation: &OperationView, clock: Clock) -> impl Iterator<Item = Cell> + use<'_> {
    let summary = operation.latency(clock).summary.filter(|summary| summary.count > 0);
    QUANTILES
        .iter()
        .map(move |(_, _, _, of)| Cell::or_nothing(summary.as_ref().map(|summary| Cell::duration_ns(of(summary)))))
}

/// The table by transaction, or operation: how many, how fast for those who waited, and how they ended.
pub(crate) fn transactions(view: &CaseView<'_>) -> Table {
    let noun = view.noun();
    let title = format!("By {noun}, over {} of measuring; response times", units::seconds(view.measured_s()));
    let mut heads = vec![
        Head::left(noun, noun),
        Head::right("count", "count"),
        Head::right("mix", "mix_percent"),
        Head::right("target", "mix_target_percent").rank(6).folds(),
    ];
    heads.extend(quantile_heads());
    heads.extend([
        Head::right("harness", "harness_overhead_ns").folds(),
        Head::right("in batches of", "timed_together").rank(7).folds(),
        Head::right("limit", "limit_ns").folds(),
        Head::left("within", "limit_kept").folds(),
        Head::right("late", "late").folds(),
        Head::right("failed", "failed").folds(),
    ]);
    // What cannot happen to a workload's operations has no column.
    type Ending = (Outcome, &'static str, &'static str, fn(&OperationView) -> u64);
    let endings: [Ending; 3] = [
        (Outcome::RolledBack, "rolled back", "rolled_back", |operation| operation.rolled_back),
        (Outcome::Warned, "warned", "warned", |operation| operation.warned),
        (Outcome::TooFewRows, "few rows", "too_few_rows", |operation| operation.too_few_rows),
    ];
    let endings: Vec<_> = endings.into_iter().filter(|(outcome, ..)| view.can_end(*outcome)).collect();
    heads.extend(endings.iter().map(|(_, title, csv, _)| Head::right(title, csv).folds().rank(9)));
    heads.push(Head::right("retried", "retried").folds().rank(8));
    let can_drop = view.can_end(Outcome::Dropped);
    heads.extend(can_drop.then(|| Head::right("dropped", "dropped").folds()));
    let key = match view.case.workload.kind {
        WorkloadKind::Brokerage => "transactions",
        WorkloadKind::Micro => "operations",
    };
    let mut table = Table::new(key, title, heads);
    for operation in &view.operations {
        let mut row = vec![
            Cell::text(&operation.name),
            Cell::count(operation.ended()),
            share(operation),
            Cell::or_nothing(operation.target_percent.map(|target| Cell::percent(target).tone(Tone::Faint))),
        ];
        row.extend(quantiles(operation, Clock::Response));
        row.push(Cell::or_nothing(operation.harness_overhead_ns.map(Cell::duration_ns)));
        row.push(batch(operation));
        row.extend([limit(operation), kept(operation)]);
        row.extend([troubling(operation.late, Tone::Doubtful), troubling(operation.failed, Tone::Bad)]);
        row.extend(endings.iter().map(|(.., of)| Cell::count(of(operation))));
        row.push(troubling(operation.retries, Tone::Plain));
        row.extend(can_drop.then(|| troubling(operation.dropped, Tone::Bad)));
        table.push(row);
    }
    table
}

/// The same of what followed the rounds at a part of their rate.
pub(crate) fn latency(view: &CaseView<'_>) -> Table {
    let mut table = transactions(view);
    let noun = view.noun();
    table.key = "latency";
    table.title =
        format!("What a customer waits, by {noun}, over {} at the lower rate", units::seconds(view.measured_s()));
    table
}

/// The times spent inside the engine and its locks alone.
pub(crate) fn service_times(view: &CaseView<'_>) -> Table {
    let mut heads = vec![Head::left(view.noun(), view.noun()), Head::right("count", "count")];
    heads.push(Head::right("least", "min_ns"));
    heads.extend(quantile_heads());
    heads.push(Head::right("beyond the range", "clamped").folds());
    let mut table =
        Table::new("service_times", "Service times: from start to end, without waiting for a client", heads);
    for operation in &view.operations {
        let service = operation.latency(Clock::Service);
        let summary = service.summary.filter(|summary| summary.count > 0);
        let mut row = vec![Cell::text(&operation.name), Cell::count(summary.map_or(0, |summary| summary.count))];
        row.push(Cell::or_nothing(summary.map(|summary| Cell::duration_ns(summary.min_ns as f64))));
        row.extend(quantiles(operation, Clock::Service));
        row.push(Cell::count(service.clamped));
        table.push(row);
    }
    table
}

/// Where the time went of transactions behind an application server; no rows without one.
pub(crate) fn server_times(view: &CaseView<'_>) -> Table {
    let title =
        "Where the time went: response = waiting for a client + network + server; engine time is part of server time";
    let heads = vec![
        Head::left("transaction", "transaction"),
        Head::right("count", "count"),
        Head::right("response, mean", "response_mean_ns"),
        Head::right("server, mean", "server_mean_ns"),
        Head::right("server, p90", "server_p90_ns").rank(2),
        Head::right("engine, mean", "engine_mean_ns"),
        Head::right("engine, p90", "engine_p90_ns").rank(2),
        Head::right("network, mean", "network_mean_ns"),
        Head::right("network, p50", "network_p50_ns").rank(1),
        Head::right("network, p90", "network_p90_ns"),
        Head::right("network, p99", "network_p99_ns").rank(3),
        Head::right("network, max", "network_max_ns").rank(4),
    ];
    let mut table = Table::new("server_times", title, heads);
    for operation in &view.operations {
        let Some(ServerLatency { server, engine, network }) = &operation.server else { continue };
        let cell = |latency: &Latency, of: fn(&LatencySummary) -> f64| {
            let summary = latency.summary.filter(|summary| summary.count > 0);
            Cell::or_nothing(summary.map(|summary| Cell::duration_ns(of(&summary))))
        };
        let mean = |it: &LatencySummary| it.mean_ns;
        let p90 = |it: &LatencySummary| it.p90_ns as f64;
        table.push(vec![
            Cell::text(&operation.name),
            Cell::count(network.summary.map_or(0, |summary| summary.count)),
            cell(&operation.response, mean),
            cell(server, mean),
            cell(server, p90),
            cell(engine, mean),
            cell(engine, p90),
            cell(network, mean),
            cell(network, |it| it.p50_ns as f64),
            cell(network, p90),
            cell(network, |it| it.p99_ns as f64),
            cell(network, |it| it.max_ns as f64),
        ]);
    }
    table
}

/// How many were timed together, where that was more than one.
fn batch(operation: &OperationView) -> Cell {
    let batches = operation.batch.filter(|batch| *batch > 1.05);
    Cell::or_nothing(batches.map(|batch| Cell::figure(batch, |batch| units::significant(batch, 3))))
}

fn troubling(count: u64, tone: Tone) -> Cell {
    if count == 0 { Cell::count(0) } else { Cell::count(count).tone(tone) }
}

/// The share, marked where it is off by more than its tolerance.
fn share(operation: &OperationView) -> Cell {
    let Some(share) = operation.share_percent else { return Cell::nothing() };
    let cell = Cell::percent(share);
    if operation.mix_kept() == Some(false) {
        return Cell { text: format!("{} !", cell.text), tone: Tone::Doubtful, ..cell };
    }
    cell
}

fn limit(operation: &OperationView) -> Cell {
    let Some(limit_ns) = operation.limit_ns else { return Cell::nothing() };
    let text = units::duration_ns(limit_ns as f64).replace(".00 ", " ").replace(".0 ", " ");
    Cell { text, value: limit_ns.to_string(), ..Cell::default() }
}

fn kept(operation: &OperationView) -> Cell {
    match operation.limit_kept() {
        Some(true) => Cell::text("yes").tone(Tone::Good),
        Some(false) => Cell { text: "NO".to_owned(), value: "no".to_owned(), tone: Tone::Bad, ..Cell::default() },
        None => Cell::nothing(),
    }
}
