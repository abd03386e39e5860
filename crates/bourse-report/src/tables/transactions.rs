use super::{Cell, Head, Table, Tone};
use crate::units;
use crate::view::{CaseView, Clock, Latency, OperationView, ServerLatency, over_rounds};
use bourse_record::{Interval, LatencySummary, Outcome};

/// A figure of a latency distribution.
#[derive(Debug, Clone, Copy)]
enum Figure {
    Mean,
    /// Quantile, from 0 to 1.
    Quantile(f64),
    Max,
}

/// A column of a latency: title, title for operations timed in batches, rank, figure.
type Column = (&'static str, &'static str, u8, Figure);

const COLUMNS: [Column; 7] = [
    ("mean", "mean", 3, Figure::Mean),
    ("p50", "p50 of batches", 1, Figure::Quantile(0.5)),
    ("p90", "p90 of batches", 0, Figure::Quantile(0.9)),
    ("p95", "p95 of batches", 5, Figure::Quantile(0.95)),
    ("p99", "p99 of batches", 0, Figure::Quantile(0.99)),
    ("p99.9", "p99.9 of batches", 4, Figure::Quantile(0.999)),
    ("max", "max of batches", 2, Figure::Max),
];

fn latency_heads(view: &CaseView<'_>) -> impl Iterator<Item = Head> {
    let in_batches = view.operations.iter().any(|operation| operation.batches().is_some());
    COLUMNS
        .iter()
        .map(move |(title, of_batches, rank, _)| Head::time(if in_batches { of_batches } else { title }).rank(*rank))
}

/// The cells of a latency.
fn latency_cells(latency: &Latency) -> impl Iterator<Item = Cell> + use<'_> {
    let summary = latency.summary.filter(|summary| summary.count > 0);
    COLUMNS.iter().map(move |(.., figure)| match figure {
        Figure::Mean => Cell::or_missing(summary.map(|summary| Cell::duration_ns(summary.mean_ns))),
        Figure::Quantile(quantile) => Cell::quantile(latency.quantile(*quantile)),
        Figure::Max => Cell::quantile(latency.longest()),
    })
}

/// The table by transaction, or operation: counts, response times and outcomes.
pub(crate) fn transactions(view: &CaseView<'_>) -> Table {
    let noun = view.noun();
    let title = format!("By {noun}, over {} of measuring; response times", units::seconds(view.measured_s()));
    let mut heads = vec![
        Head::left(noun),
        Head::right("count"),
        Head::right("mix"),
        Head::right("target").rank(6).folds(),
        Head::right("due").rank(6).folds(),
    ];
    heads.extend(latency_heads(view));
    heads.extend([
        Head::time("harness").folds(),
        Head::right("round trips").folds().rank(5),
        Head::right("in batches of").rank(7).folds(),
        Head::right("timed").rank(1).folds(),
        Head::time("limit").folds(),
        Head::left("within").folds(),
        Head::right("late").folds(),
        Head::right("failed").folds(),
    ]);
    // Outcomes that a workload's operations cannot have get no column.
    type Ending = (Outcome, &'static str, fn(&OperationView) -> u64);
    let endings: [Ending; 3] = [
        (Outcome::RolledBack, "rolled back", |operation| operation.rolled_back),
        (Outcome::Warned, "warned", |operation| operation.warned),
        (Outcome::TooFewRows, "few rows", |operation| operation.too_few_rows),
    ];
    let endings: Vec<_> = endings.into_iter().filter(|(outcome, ..)| view.can_end(*outcome)).collect();
    heads.extend(endings.iter().map(|(_, title, _)| Head::right(*title).folds().rank(9)));
    heads.push(Head::right("retried").folds().rank(8));
    let can_drop = view.can_end(Outcome::Dropped);
    heads.extend(can_drop.then(|| Head::right("dropped").folds()));
    heads.push(Head::left(DRIVER_QUEUE).folds().rank(10));
    let mut table = Table::new(title, heads);
    for operation in &view.operations {
        let mut row = vec![
            Cell::text(&operation.name),
            Cell::count(operation.ended()),
            share(operation),
            Cell::or_missing(operation.target_percent.map(|target| Cell::percent(target).tone(Tone::Faint))),
            Cell::or_missing(operation.expected_percent.map(|share| Cell::percent(share).tone(Tone::Faint))),
        ];
        row.extend(latency_cells(operation.latency(Clock::Response)));
        row.push(Cell::or_missing(operation.harness_overhead_ns.map(Cell::duration_ns)));
        row.push(Cell::or_missing(
            operation.round_trips.map(|trips| Cell::figure(trips, |trips| format!("{trips:.1}"))),
        ));
        row.push(batch(operation));
        row.push(Cell::or_missing(
            operation.one_in.map(|it| Cell::figure(it, |it| format!("1 in {}", units::significant(it, 3)))),
        ));
        row.extend([limit(operation), limit_cell(operation)]);
        row.extend([troubling(operation.late, Tone::Doubtful), troubling(operation.failed, Tone::Bad)]);
        row.extend(endings.iter().map(|(.., of)| Cell::count(of(operation))));
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
pub(super) fn queue(view: &CaseView<'_>, operation: &OperationView) -> Cell {
    Cell::or_missing(view.driver_queue(&operation.name).map(|queue| Cell::text(&queue)))
}

/// Takes that column out of a table, for outputs that have a line below it instead; returns the line, if any row has that
/// queue.
pub(crate) fn take_queue(table: &mut Table) -> Option<String> {
    let at = table.heads.iter().position(|head| head.title == DRIVER_QUEUE)?;
    // A void case has no times that anything could be part of.
    let times: Vec<bool> = table.heads.iter().map(|head| head.is_time).collect();
    let is_timed = |row: &[Cell]| row.iter().zip(&times).any(|(cell, is_time)| *is_time && cell.text != units::NOTHING);
    let rows = table.rows.iter().filter(|row| is_timed(row));
    let rows: Vec<[Cell; 2]> = rows.map(|row| [row[0].clone(), row[at].clone()]).collect();
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
pub(crate) fn latency(view: &CaseView<'_>) -> Table {
    let mut table = transactions(view);
    let noun = view.noun();
    table.title =
        format!("What a customer waits, by {noun}, over {} at the lower rate", units::seconds(view.measured_s()));
    table
}

/// Service times: inside the engine and its locks alone.
pub(crate) fn service_times(view: &CaseView<'_>) -> Table {
    let mut heads = vec![Head::left(view.noun()), Head::right("count")];
    heads.push(Head::time("least"));
    heads.extend(latency_heads(view));
    heads.push(Head::right("beyond the range").folds());
    let mut table = Table::new("Service times: from start to end, without waiting for a client", heads);
    for operation in &view.operations {
        let service = operation.latency(Clock::Service);
        let summary = service.summary.filter(|summary| summary.count > 0);
        let under_way = operation.under_way.map_or(0, |it| it.timed());
        let count = summary.map_or(0, |summary| summary.count).saturating_sub(under_way);
        let mut row = vec![Cell::text(&operation.name), Cell::count(count)];
        row.push(Cell::or_missing(summary.map(|summary| Cell::duration_ns(summary.min_ns as f64))));
        row.extend(latency_cells(service));
        row.push(Cell::count(service.clamped));
        let columns = row.len();
        table.push(row);
        if let Some([_, service]) = &operation.failed_times {
            let mut row = vec![failed_name(operation), Cell::count(operation.failed)];
            row.push(Cell::or_missing(service.summary.map(|summary| Cell::duration_ns(summary.min_ns as f64))));
            row.extend(latency_cells(service));
            row.resize_with(columns, Cell::missing);
            table.push(row);
        }
    }
    table
}

/// Response times over the rounds, by operation, with their intervals; no rows below six rounds.
pub(crate) fn quantiles(view: &CaseView<'_>) -> Table {
    let rounds = view.case.rounds.len();
    let mut heads = vec![Head::left(view.noun())];
    for (name, rank) in [("p50", 3), ("p90", 2), ("p99", 0)] {
        heads.extend([name, "from", "to"].map(|title| Head::time(title).rank(rank).folds()));
    }
    heads.push(Head::right("level").rank(1));
    let mut table = Table::new(format!("Response times over {rounds} rounds, with intervals"), heads);
    for operation in &view.operations {
        let found =
            [0, 1, 2].map(|at| over_rounds(&operation.by_round, at).and_then(|it| Some((it.value, it.interval?))));
        let Some((_, interval)) = found.iter().flatten().next() else { continue };
        let level = Cell::percent(100.0 * interval.level);
        let mut row = vec![Cell::text(&operation.name)];
        for estimate in found {
            let cell =
                |of: fn(&(f64, Interval)) -> f64| Cell::or_missing(estimate.map(|it| Cell::duration_ns(of(&it))));
            row.extend([cell(|it| it.0), cell(|it| it.1.low), cell(|it| it.1.high)]);
        }
        row.push(level);
        table.push(row);
    }
    table
}

/// Operations under way at the end of the interval; no rows if there were none.
pub(crate) fn under_way(view: &CaseView<'_>) -> Table {
    let title = "Under way at the end of the interval: in quantiles, in no count";
    let heads = vec![
        Head::left(view.noun()),
        Head::right("under way"),
        Head::time("longest"),
        Head::right("failed").folds(),
        Head::right("end not known").folds(),
    ];
    let mut table = Table::new(title, heads);
    for (operation, under_way) in view.operations.iter().filter_map(|it| Some((it, it.under_way?))) {
        table.push(vec![
            Cell::text(&operation.name),
            Cell::count(under_way.count),
            Cell::duration_ns(under_way.longest_ns as f64),
            troubling(under_way.failed, Tone::Bad),
            troubling(under_way.unended, Tone::Bad),
        ]);
    }
    table
}

/// Split of the time of transactions behind an application server; no rows without one.
pub(crate) fn server_times(view: &CaseView<'_>) -> Table {
    let title =
        "Where the time went: response = waiting for a client + network + server; engine time is part of server time";
    let heads = vec![
        Head::left("transaction"),
        Head::right("count"),
        Head::time("response, mean"),
        Head::time("server, mean"),
        Head::time("server, p90").rank(2),
        Head::time("engine, mean"),
        Head::time("engine, p90").rank(2),
        Head::time("network, mean"),
        Head::time("network, p50").rank(1),
        Head::time("network, p90"),
        Head::time("network, p99").rank(3),
        Head::time("network, max").rank(4),
    ];
    let mut table = Table::new(title, heads);
    for operation in &view.operations {
        let Some(ServerLatency { server, engine, network }) = &operation.server else { continue };
        let cell = |latency: &Latency, of: fn(&LatencySummary) -> f64| {
            let summary = latency.summary.filter(|summary| summary.count > 0);
            Cell::or_missing(summary.map(|summary| Cell::duration_ns(of(&summary))))
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

/// A row for the times of failed operations, which are in no quantile of the row above.
fn failed_row(operation: &OperationView, response: &Latency, columns: usize) -> Vec<Cell> {
    let mut row = vec![failed_name(operation), Cell::count(operation.failed), Cell::missing(), Cell::missing()];
    row.extend(latency_cells(response));
    row.resize_with(columns, Cell::missing);
    row
}

fn failed_name(operation: &OperationView) -> Cell {
    Cell::text(&format!("{}, failed", operation.name)).tone(Tone::Bad)
}

fn batch(operation: &OperationView) -> Cell {
    Cell::or_missing(operation.batches().map(|batch| Cell::figure(batch, |batch| units::significant(batch, 3))))
}

fn troubling(count: u64, tone: Tone) -> Cell {
    if count == 0 { Cell::count(0) } else { Cell::count(count).tone(tone) }
}

/// The share, marked if it is off by more than its tolerance.
fn share(operation: &OperationView) -> Cell {
    let Some(share) = operation.share_percent else { return Cell::missing() };
    let cell = Cell::percent(share);
    if operation.mix_kept() == Some(false) {
        return Cell { text: format!("{} !", cell.text), tone: Tone::Doubtful, ..cell };
    }
    cell
}

fn limit(operation: &OperationView) -> Cell {
    let Some(limit_ns) = operation.limit_ns else { return Cell::missing() };
    let text = units::duration_ns(limit_ns as f64).replace(".00 ", " ").replace(".0 ", " ");
    Cell { text, ..Cell::default() }
}

fn limit_cell(operation: &OperationView) -> Cell {
    match operation.limit_kept() {
        Some(true) => Cell::text("yes").tone(Tone::Good),
        Some(false) => Cell::text("NO").tone(Tone::Bad),
        None => Cell::missing(),
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
