use super::{ColumnHead, SheetTable, TableCell, Tone, heads, row};
use crate::units;
use crate::view::{CaseView, Latency, LatencyClock, OperationView, ServerTimeSplit, over_rounds};
use bourse_record::{Interval, LatencySummary, Outcome};

/// A figure of a latency distribution.
#[derive(Debug, Clone, Copy)]
enum LatencyFigure {
    Mean,
    /// Quantile, from 0 to 1.
    Quantile(f64),
    Max,
}

/// A column of a latency: title, title for operations timed in batches, rank, figure.
type LatencyColumn = (&'static str, &'static str, u8, LatencyFigure);

const COLUMNS: [LatencyColumn; 7] = [
    ("mean", "mean", 3, LatencyFigure::Mean),
    ("p50", "p50 of batches", 1, LatencyFigure::Quantile(0.5)),
    ("p90", "p90 of batches", 0, LatencyFigure::Quantile(0.9)),
    ("p95", "p95 of batches", 5, LatencyFigure::Quantile(0.95)),
    ("p99", "p99 of batches", 0, LatencyFigure::Quantile(0.99)),
    ("p99.9", "p99.9 of batches", 4, LatencyFigure::Quantile(0.999)),
    ("max", "max of batches", 2, LatencyFigure::Max),
];

fn latency_heads(view: &CaseView<'_>) -> impl Iterator<Item = ColumnHead> {
    let in_batches = view.operations.iter().any(|operation| operation.batches().is_some());
    COLUMNS.iter().map(move |(title, of_batches, rank, _)| {
        ColumnHead::time(if in_batches { of_batches } else { title }).rank(*rank)
    })
}

/// The cells of a latency.
fn latency_cells(latency: &Latency) -> impl Iterator<Item = TableCell> + use<'_> {
    let summary = latency.summary.filter(|summary| summary.count > 0);
    COLUMNS.iter().map(move |(.., figure)| match figure {
        LatencyFigure::Mean => TableCell::or_missing(summary.map(|summary| TableCell::duration_ns(summary.mean_ns))),
        LatencyFigure::Quantile(quantile) => TableCell::quantile(latency.quantile(*quantile)),
        LatencyFigure::Max => TableCell::quantile(latency.longest()),
    })
}

/// The table by transaction, or operation: counts, response times and outcomes.
pub(crate) fn transactions(view: &CaseView<'_>) -> SheetTable {
    let noun = view.noun();
    let title = format!("By {noun}, over {} of measuring; response times", units::seconds(view.measured_s()));
    let mut heads = vec![
        ColumnHead::left(noun),
        ColumnHead::right("count"),
        ColumnHead::right("mix"),
        ColumnHead::right("target").rank(6).folds(),
        ColumnHead::right("due").rank(6).folds(),
    ];
    heads.extend(latency_heads(view));
    heads.extend([
        ColumnHead::time("harness").folds(),
        ColumnHead::right("round trips").folds().rank(5),
        ColumnHead::right("in batches of").rank(7).folds(),
        ColumnHead::right("timed").rank(1).folds(),
        ColumnHead::time("limit").folds(),
        ColumnHead::left("within").folds(),
        ColumnHead::right("late").folds(),
        ColumnHead::right("failed").folds(),
    ]);
    // Outcomes that a workload's operations cannot have get no column.
    type Ending = (Outcome, &'static str, fn(&OperationView) -> u64);
    let endings: [Ending; 3] = [
        (Outcome::RolledBack, "rolled back", |operation| operation.rolled_back),
        (Outcome::Warned, "warned", |operation| operation.warned),
        (Outcome::TooFewRows, "few rows", |operation| operation.too_few_rows),
    ];
    let endings: Vec<_> = endings.into_iter().filter(|(outcome, ..)| view.can_end(*outcome)).collect();
    heads.extend(endings.iter().map(|(_, title, _)| ColumnHead::right(*title).folds().rank(9)));
    heads.push(ColumnHead::right("retried").folds().rank(8));
    let can_drop = view.can_end(Outcome::Dropped);
    heads.extend(can_drop.then(|| ColumnHead::right("dropped").folds()));
    heads.push(ColumnHead::left(DRIVER_QUEUE).folds().rank(10));
    let mut table = SheetTable::new(title, heads);
    for operation in &view.operations {
        let mut row = row![
            &operation.name,
            TableCell::count(operation.ended()),
            share(operation),
            TableCell::or_missing(operation.target_percent.map(|target| TableCell::percent(target).tone(Tone::Faint))),
            TableCell::or_missing(operation.expected_percent.map(|share| TableCell::percent(share).tone(Tone::Faint)))
        ];
        row.extend(latency_cells(operation.latency(LatencyClock::Response)));
        row.push(TableCell::or_missing(operation.harness_overhead_ns.map(TableCell::duration_ns)));
        row.push(TableCell::or_missing(
            operation.round_trips.map(|trips| TableCell::figure(trips, |trips| format!("{trips:.1}"))),
        ));
        row.push(batch(operation));
        row.push(TableCell::or_missing(
            operation.one_in.map(|it| TableCell::figure(it, |it| format!("1 in {}", units::significant(it, 3)))),
        ));
        row.extend([limit(operation), limit_cell(operation)]);
        // Nothing is late by a limit that it does not have; by a schedule, its response time shows how late it was.
        let is_judged = operation.limit_ns.is_some() || view.arrivals().is_none();
        row.push(TableCell::or_missing(is_judged.then(|| troubling(operation.late, Tone::Doubtful))));
        row.push(troubling(operation.failed, Tone::Bad));
        row.extend(endings.iter().map(|(.., of)| TableCell::count(of(operation))));
        row.push(troubling(operation.retries, Tone::Plain));
        row.extend(can_drop.then(|| troubling(operation.dropped, Tone::Bad)));
        row.push(queue(view, operation));
        let columns = row.len();
        table.push(row);
        if let Some([response, _]) = &operation.failed_times {
            table.push(failed_row(operation, response, columns));
        }
    }
    table
}

/// Title of the column with the driver's own queue.
pub(super) const DRIVER_QUEUE: &str = "includes";

/// The driver's own queue, if the response times include it.
pub(super) fn queue(view: &CaseView<'_>, operation: &OperationView) -> TableCell {
    TableCell::or_missing(view.driver_queue(&operation.name).map(|queue| TableCell::text(&queue)))
}

/// Takes that column out of a table, for outputs that have a line below it instead; returns the line, if any row has that
/// queue.
pub(crate) fn take_queue(table: &mut SheetTable) -> Option<String> {
    let at = table.heads.iter().position(|head| head.title == DRIVER_QUEUE)?;
    // A void case has no times that anything could be part of.
    let times: Vec<bool> = table.heads.iter().map(|head| head.is_time).collect();
    let is_timed =
        |row: &[TableCell]| row.iter().zip(&times).any(|(cell, is_time)| *is_time && cell.text != units::NOTHING);
    let rows = table.rows.iter().filter(|row| is_timed(row));
    let rows: Vec<[TableCell; 2]> = rows.map(|row| [row[0].clone(), row[at].clone()]).collect();
    table.retain(|_, head| head.title != DRIVER_QUEUE);
    let (with, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|[_, queue]| !queue.is_empty());
    let queue = &with.first()?[1].text;
    let names: Vec<&str> = with.iter().map(|[name, _]| name.text.as_str()).collect();
    let of = if others.is_empty() { String::new() } else { format!(" of {}", first_names(&names)) };
    Some(format!("response times{of} include the {queue}"))
}

/// Up to three names, or the first two and the number of others.
fn first_names(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        [first, second, others @ ..] if others.len() > 1 => format!("{first}, {second} and {} others", others.len()),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Table of the transactions in the phase at a part of the rate, after the rounds.
pub(crate) fn latency(view: &CaseView<'_>) -> SheetTable {
    let mut table = transactions(view);
    let noun = view.noun();
    table.title =
        format!("What a customer waits, by {noun}, over {} at the lower rate", units::seconds(view.measured_s()));
    table
}

/// Service times: inside the engine and its locks alone.
pub(crate) fn service_times(view: &CaseView<'_>) -> SheetTable {
    let mut heads = vec![ColumnHead::left(view.noun()), ColumnHead::right("count")];
    heads.push(ColumnHead::time("least"));
    heads.extend(latency_heads(view));
    heads.push(ColumnHead::right("beyond the range").folds());
    let mut table = SheetTable::new("Service times: from start to end, without waiting for a client", heads);
    for operation in &view.operations {
        let service = operation.latency(LatencyClock::Service);
        let summary = service.summary.filter(|summary| summary.count > 0);
        let under_way = operation.under_way.map_or(0, |it| it.timed());
        let count = summary.map_or(0, |summary| summary.count).saturating_sub(under_way);
        let mut row = row![&operation.name, TableCell::count(count)];
        row.push(TableCell::or_missing(summary.map(|summary| TableCell::duration_ns(summary.min_ns as f64))));
        row.extend(latency_cells(service));
        row.push(TableCell::count(service.clamped));
        let columns = row.len();
        table.push(row);
        if let Some([_, service]) = &operation.failed_times {
            let mut row = vec![failed_name(operation), TableCell::count(operation.failed)];
            row.push(TableCell::or_missing(
                service.summary.map(|summary| TableCell::duration_ns(summary.min_ns as f64)),
            ));
            row.extend(latency_cells(service));
            row.resize_with(columns, TableCell::missing);
            table.push(row);
        }
    }
    table
}

/// Response times over the rounds, by operation, with their intervals; no rows below six rounds.
pub(crate) fn quantiles(view: &CaseView<'_>) -> SheetTable {
    let rounds = view.case.rounds.len();
    let mut heads = vec![ColumnHead::left(view.noun())];
    for (name, rank) in [("p50", 3), ("p90", 2), ("p99", 0)] {
        heads.extend([name, "from", "to"].map(|title| ColumnHead::time(title).rank(rank).folds()));
    }
    heads.push(ColumnHead::right("level").rank(1));
    let mut table = SheetTable::new(format!("Response times over {rounds} rounds, with intervals"), heads);
    for operation in &view.operations {
        let found =
            [0, 1, 2].map(|at| over_rounds(&operation.by_round, at).and_then(|it| Some((it.value, it.interval?))));
        let Some((_, interval)) = found.iter().flatten().next() else { continue };
        let level = TableCell::percent(100.0 * interval.level);
        let mut row = row![&operation.name];
        for estimate in found {
            let cell = |of: fn(&(f64, Interval)) -> f64| {
                TableCell::or_missing(estimate.map(|it| TableCell::duration_ns(of(&it))))
            };
            row.extend([cell(|it| it.0), cell(|it| it.1.low), cell(|it| it.1.high)]);
        }
        row.push(level);
        table.push(row);
    }
    table
}

/// Operations under way at the end of the interval; no rows if there were none.
pub(crate) fn under_way(view: &CaseView<'_>) -> SheetTable {
    let title = "Under way at the end of the interval: in quantiles, in no count";
    let heads = vec![
        ColumnHead::left(view.noun()),
        ColumnHead::right("under way"),
        ColumnHead::time("longest"),
        ColumnHead::right("failed").folds(),
        ColumnHead::right("end not known").folds(),
    ];
    let mut table = SheetTable::new(title, heads);
    for (operation, under_way) in view.operations.iter().filter_map(|it| Some((it, it.under_way?))) {
        table.push(row![
            &operation.name,
            TableCell::count(under_way.count),
            TableCell::duration_ns(under_way.longest_ns as f64),
            troubling(under_way.failed, Tone::Bad),
            troubling(under_way.unended, Tone::Bad)
        ]);
    }
    table
}

/// Split of the time of transactions behind an application server; no rows without one.
pub(crate) fn server_times(view: &CaseView<'_>) -> SheetTable {
    let title =
        "Where the time went: response = waiting for a client + network + server; engine time is part of server time";
    let heads = heads![
        left "transaction", right "count", time "response, mean", time "server, mean", time "server, p90" .rank(2),
        time "engine, mean", time "engine, p90" .rank(2), time "network, mean", time "network, p50" .rank(1),
        time "network, p90", time "network, p99" .rank(3), time "network, max" .rank(4),
    ];
    let mut table = SheetTable::new(title, heads);
    for operation in &view.operations {
        let Some(ServerTimeSplit { server, engine, network }) = &operation.server else { continue };
        let cell = |latency: &Latency, of: fn(&LatencySummary) -> f64| {
            let summary = latency.summary.filter(|summary| summary.count > 0);
            TableCell::or_missing(summary.map(|summary| TableCell::duration_ns(of(&summary))))
        };
        let mean = |it: &LatencySummary| it.mean_ns;
        let p90 = |it: &LatencySummary| it.p90_ns as f64;
        table.push(row![
            &operation.name,
            TableCell::count(network.summary.map_or(0, |summary| summary.count)),
            cell(&operation.response, mean),
            cell(server, mean),
            cell(server, p90),
            cell(engine, mean),
            cell(engine, p90),
            cell(network, mean),
            cell(network, |it| it.p50_ns as f64),
            cell(network, p90),
            cell(network, |it| it.p99_ns as f64),
            cell(network, |it| it.max_ns as f64)
        ]);
    }
    table
}

/// A row for the times of failed operations, which are in no quantile of the row above.
fn failed_row(operation: &OperationView, response: &Latency, columns: usize) -> Vec<TableCell> {
    let mut row =
        vec![failed_name(operation), TableCell::count(operation.failed), TableCell::missing(), TableCell::missing()];
    row.extend(latency_cells(response));
    row.resize_with(columns, TableCell::missing);
    row
}

fn failed_name(operation: &OperationView) -> TableCell {
    TableCell::text(&format!("{}, failed", operation.name)).tone(Tone::Bad)
}

fn batch(operation: &OperationView) -> TableCell {
    TableCell::or_missing(
        operation.batches().map(|batch| TableCell::figure(batch, |batch| units::significant(batch, 3))),
    )
}

fn troubling(count: u64, tone: Tone) -> TableCell {
    if count == 0 { TableCell::count(0) } else { TableCell::count(count).tone(tone) }
}

/// The share, marked if it is off by more than its tolerance.
fn share(operation: &OperationView) -> TableCell {
    let Some(share) = operation.share_percent else { return TableCell::missing() };
    let cell = TableCell::percent(share);
    if operation.mix_kept() == Some(false) {
        return TableCell { text: format!("{} !", cell.text), tone: Tone::Doubtful, ..cell };
    }
    cell
}

fn limit(operation: &OperationView) -> TableCell {
    let Some(limit_ns) = operation.limit_ns else { return TableCell::missing() };
    let text = units::duration_ns(limit_ns as f64).replace(".00 ", " ").replace(".0 ", " ");
    TableCell { text, ..TableCell::default() }
}

fn limit_cell(operation: &OperationView) -> TableCell {
    match operation.limit_kept() {
        Some(true) => TableCell::text("yes").tone(Tone::Good),
        Some(false) => TableCell::text("NO").tone(Tone::Bad),
        None => TableCell::missing(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_names;

    #[test]
    fn many_names_are_counted() {
        let names = ["a", "b", "c", "d", "e"];
        let told = [1, 2, 3, 4, 5].map(|count| first_names(&names[..count]));
        assert_eq!(told, ["a", "a and b", "a, b and c", "a, b and 2 others", "a, b and 3 others"]);
    }
}
