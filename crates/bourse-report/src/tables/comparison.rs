use super::transactions::{DRIVER_QUEUE, queue};
use super::{ColumnHead, SheetTable, TableCell, Tone, row};
use crate::units;
use crate::view::{CaseView, FigureValidity, Remark};
use bourse_record::{Durability, Estimate, Interval, Round};
use bourse_stats::grouped;
use bourse_stats::signed_rank::{fewest, level_of_each, ratio_of_pairs_at};

/// The cases by durability class, since figures of different classes are never ranked together: the strongest class first,
/// by workload and by unit. Within them the best case is first, void ones are last; the values of a sweep stay in their
/// order. Each group has its name.
pub(crate) fn by_class<'v, 'a: 'v>(
    views: impl IntoIterator<Item = &'v CaseView<'a>>,
) -> Vec<(String, Vec<&'v CaseView<'a>>)> {
    let views: Vec<&CaseView<'a>> = views.into_iter().collect();
    type Class<'v> = (Durability, &'v str, &'v str);
    let class = |view: &'v CaseView<'a>| (view.case.engine.durability, view.case.workload.name.as_str(), view.unit());
    let mut classes = grouped(views.iter().map(|view| (class(view), *view)));
    let one_workload = classes.windows(2).all(|pair| pair[0].0.1 == pair[1].0.1);
    // A workload whose phases count different things has several units.
    let several_units = |name: &str| {
        let mut units = views.iter().filter(|view| view.case.workload.name == name).map(|view| view.unit());
        let first = units.next();
        units.any(|unit| Some(unit) != first)
    };
    classes.sort_by_key(|((class, ..), _)| std::cmp::Reverse(*class));
    for (_, members) in &mut classes {
        if members.iter().all(|view| view.case.varied.is_empty()) {
            best_first(members);
        }
    }
    let name = |(class, workload, unit): Class<'_>| {
        let mut name = class.to_string();
        if !one_workload {
            name = format!("{name}, {workload}");
        }
        if several_units(workload) { format!("{name}, {unit}") } else { name }
    };
    classes.into_iter().map(|(class, members)| (name(class), members)).collect()
}

/// Puts void cases last.
fn best_first(members: &mut [&CaseView<'_>]) {
    let figure = |view: &CaseView<'_>| view.valid_figure().unwrap_or(f64::NEG_INFINITY);
    members.sort_by(|a, b| figure(b).total_cmp(&figure(a)));
}

/// Cases of one workload whose results have one unit, with their indices in the run.
pub(crate) struct UnitGroup<'v, 'a> {
    pub(crate) name: String,
    pub(crate) members: Vec<(usize, &'v CaseView<'a>)>,
}

/// The cases by workload and unit, in their order.
pub(crate) fn by_unit<'v, 'a>(views: &'v [CaseView<'a>]) -> Vec<UnitGroup<'v, 'a>> {
    let kind = |view: &'v CaseView<'a>| (view.case.workload.name.as_str(), view.unit());
    let groups = grouped(views.iter().enumerate().map(|(at, view)| (kind(view), (at, view))));
    let names: Vec<&str> = groups.iter().map(|((name, _), _)| *name).collect();
    let group = |((name, unit), members): ((&str, &str), Vec<_>)| {
        let is_unique = names.iter().filter(|other| **other == name).count() == 1;
        UnitGroup { name: if is_unique { name.to_owned() } else { format!("{name}, {unit}") }, members }
    };
    groups.into_iter().map(group).collect()
}

/// Case with the highest result in each durability class, and its lead; among cases of one unit.
pub(crate) fn rankings<'v, 'a: 'v>(views: impl IntoIterator<Item = &'v CaseView<'a>>) -> Vec<Remark> {
    by_class(views)
        .into_iter()
        .map(|(class, mut members)| {
            best_first(&mut members);
            let (tone, words) = ranking(&members);
            Remark::new(tone, format!("{class}: {words}"))
        })
        .collect()
}

fn ranking(members: &[&CaseView<'_>]) -> (Tone, String) {
    let result = |view: &CaseView<'_>, figure: f64| {
        let plus_minus = view.plus_minus().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{} {}{plus_minus}", units::number(figure), view.unit())
    };
    let valid: Vec<(&CaseView<'_>, f64)> =
        members.iter().filter_map(|view| Some((*view, view.valid_figure()?))).collect();
    let (best, figure) = match valid.as_slice() {
        [] => return (Tone::Bad, "no figure that counts".to_owned()),
        [(only, figure)] => return (Tone::Plain, format!("{}: {}", only.case.label, result(only, *figure))),
        [best, ..] => *best,
    };
    let told = format!("{}, {}", best.case.label, result(best, figure));
    let Some(reference) = Reference::of(members) else { return (Tone::Plain, format!("highest: {told}")) };
    if let Some(why) = reference.doubt(&valid.iter().map(|(view, _)| *view).collect::<Vec<_>>()) {
        return (Tone::Doubtful, format!("highest: {told}; {why}"));
    }
    let others: Vec<(&CaseView<'_>, Option<Estimate>)> = valid
        .iter()
        .filter(|(view, _)| !reference.is(view))
        .map(|(view, _)| (*view, reference.relative(view)))
        .collect();
    let apart = |ratio: &Estimate| ratio.interval.is_some_and(|it| !it.holds(1.0));
    let words = |ratio: &Estimate| {
        let sure = ratio.interval.map(|it| units::interval(&it, |end| units::significant(end, 3)));
        format!("× {} ({})", units::significant(ratio.value, 3), sure.unwrap_or_default())
    };
    let first = &reference.view.case.label;
    // The first case of the run, or another compared with it: two cases selected by their figures would need a wider
    // interval.
    if !reference.is(best) {
        let ratio = others.iter().find_map(|(view, ratio)| ratio.filter(|_| std::ptr::eq(*view, best)));
        return match ratio.filter(apart) {
            Some(ratio) if others.len() == 1 => (Tone::Good, format!("fastest: {told}: {} of {first}", words(&ratio))),
            Some(ratio) => (Tone::Good, format!("highest: {told}: {} of {first}", words(&ratio))),
            None => (Tone::Plain, format!("highest: {told}; no difference from {first} shown")),
        };
    }
    let alike: Vec<&str> = others
        .iter()
        .filter(|(_, ratio)| !ratio.as_ref().is_some_and(apart))
        .map(|(view, _)| view.case.label.as_str())
        .collect();
    match (alike.as_slice(), others.first()) {
        ([], Some((next, Some(ratio)))) => {
            (Tone::Good, format!("fastest: {told}; the next, {}, has {} of it", next.case.label, words(ratio)))
        }
        _ => (Tone::Plain, format!("highest: {told}; no difference shown from {}", alike.join(", "))),
    }
}

/// The cases at the top of one workload, unit and durability class, by the ratios of pairs of rounds, each at the level that the
/// table of the same cases has.
///
/// A case is at the top unless another is shown to be faster, by an interval of their ratio beyond 1. The best figure selects
/// nothing that counts, so the level has to hold whichever of k cases is truly the fastest. Call it t. It is missing at the top only
/// if one of its k − 1 intervals is wrong, on one side: with (1 − [`LEVEL`](bourse_stats::LEVEL)) / (k − 1) for both sides of
/// each, the probability is at most (1 − `LEVEL`) / 2. So the k − 1 ratios of the table are the family, not all k (k − 1) / 2 pairs. A
/// case alone at the top is wrongly the fastest if it is not t, or if it is and another is as fast and missing: together at most
/// 1 − `LEVEL`. This is conservative: the sum over the k − 1 intervals takes none of them as dependent. The claim is that the
/// fastest is among these, not that any other differs from all of them.
pub(crate) struct Lead<'v, 'a> {
    /// The case with the highest figure first. No two are shown to differ. Empty if each is shown to be slower than another.
    pub(crate) top: Vec<&'v CaseView<'a>>,
    /// Other cases from which one that is alone at the top is not shown to differ.
    pub(crate) near: Vec<&'v CaseView<'a>>,
    /// Ratio of the fastest to the table's reference, or to the next case if it is the reference; `None` without a fastest.
    pub(crate) ratio: Option<(f64, &'v CaseView<'a>)>,
}

impl<'v, 'a> Lead<'v, 'a> {
    /// The lead among cases of one kind, or the reason why there is none; `None` unless two have a figure.
    pub(crate) fn of(alike: &[&'v CaseView<'a>]) -> Option<Result<Self, String>> {
        let reference = Reference::of(alike)?;
        let mut valid: Vec<&'v CaseView<'a>> =
            alike.iter().copied().filter(|view| view.valid_figure().is_some()).collect();
        best_first(&mut valid);
        if let Some(why) = reference.doubt(&valid) {
            return Some(Err(why));
        }
        let ratio = |view: &CaseView<'_>, to: &'v CaseView<'a>| Reference { view: to, ..reference }.relative(view);
        let is_slower = |view: &CaseView<'_>, than: &'v CaseView<'a>| {
            ratio(view, than).and_then(|it| it.interval).is_some_and(|it| it.high < 1.0)
        };
        let is_top = |view: &&'v CaseView<'a>| !valid.iter().any(|other| is_slower(view, other));
        let top: Vec<&'v CaseView<'a>> = valid.iter().copied().filter(is_top).collect();
        let mut lead = Self { top, near: Vec::new(), ratio: None };
        if let [best] = lead.top[..] {
            valid.retain(|view| !std::ptr::eq(*view, best));
            let to = if reference.is(best) { valid.first().copied() } else { Some(reference.view) };
            lead.near = valid.into_iter().filter(|view| !is_slower(view, best)).collect();
            let to = to.filter(|_| lead.near.is_empty());
            lead.ratio = to.and_then(|to| Some((ratio(best, to)?.value, to)));
        }
        Some(Ok(lead))
    }
}

/// The cases side by side, in their order.
pub(crate) fn comparison(views: &[&CaseView<'_>], class: &str) -> SheetTable {
    let in_batches = views.iter().filter_map(|view| view.headline_operation()).any(|it| it.batches().is_some());
    let of_batches = |batches, each| if in_batches { batches } else { each };
    let heads = vec![
        ColumnHead::left("case"),
        ColumnHead::left("durability"),
        ColumnHead::right("library").rank(1).folds(),
        ColumnHead::right("result"),
        ColumnHead::left("unit"),
        ColumnHead::right("rounds from").rank(3).folds(),
        ColumnHead::right("to").rank(3).folds(),
        ColumnHead::right("interval from").rank(3).folds(),
        ColumnHead::right("to").rank(3).folds(),
        ColumnHead::right("pair ratio"),
        ColumnHead::right("ratio from").rank(2).folds(),
        ColumnHead::right("ratio to").rank(2).folds(),
        ColumnHead::time(of_batches("p90 of batches", "p90")).rank(1),
        ColumnHead::right("p90 pair ratio").rank(4).folds(),
        ColumnHead::right("from").rank(7).folds(),
        ColumnHead::right("to").rank(7).folds(),
        ColumnHead::time(of_batches("p99 of batches", "p99")).rank(2),
        ColumnHead::right("p99 pair ratio").rank(4).folds(),
        ColumnHead::right("from").rank(7).folds(),
        ColumnHead::right("to").rank(7).folds(),
        // Shown whenever a quantile has room.
        ColumnHead::left(DRIVER_QUEUE).rank(1).folds(),
        ColumnHead::right("instructions/op").folds(),
        ColumnHead::right("CPU/op").rank(4),
        ColumnHead::right("server CPU/op").rank(4).folds(),
        ColumnHead::right("bytes written/op").rank(5),
        ColumnHead::right("by server's count").rank(6).folds(),
        ColumnHead::right("syncs each").rank(6),
        ColumnHead::right("database / memory").folds(),
        ColumnHead::right("bytes read/op").rank(1).folds(),
        ColumnHead::right("misses/op").rank(1).folds(),
        ColumnHead::right("log at most").rank(2).folds(),
        ColumnHead::right("journal at most").rank(2).folds(),
        ColumnHead::right("failed").folds(),
    ];
    let mut table = SheetTable::new(format!("Compared: {}", units::printable(class)), heads);
    for view in views {
        table.push(row(view, views));
    }
    table
}

/// Whether the rounds of two cases that run for a time are alike in length: not those of unlike requests, nor of a run that
/// ended early.
fn lasts_as_long(one: &CaseView<'_>, other: &CaseView<'_>) -> bool {
    const ALIKE: f64 = 1.5;
    let length = |view: &CaseView<'_>| view.measured_s() / view.case.rounds.len().max(1) as f64;
    let (one_s, other_s) = (length(one), length(other));
    let is_timed = one.case.workload.is_timed() && other.case.workload.is_timed();
    !is_timed || (one_s <= ALIKE * other_s && other_s <= ALIKE * one_s)
}

/// The case that a case is compared with: another workload's figure, or one of another unit, durability class or length, is no
/// measure of it.
fn reference_of<'v, 'a>(view: &CaseView<'_>, views: &[&'v CaseView<'a>]) -> Option<Reference<'v, 'a>> {
    let kind = |it: &CaseView<'_>| (it.case.engine.durability, it.case.workload.name.clone(), it.unit().to_owned());
    let is_like = |other: &&CaseView<'a>| kind(other) == kind(view) && lasts_as_long(other, view);
    let alike: Vec<&CaseView<'_>> = views.iter().copied().filter(is_like).collect();
    Reference::of(&alike)
}

/// Label of each case that is compared with another, a metric, and its ratio.
pub(crate) fn ratios<'a>(views: &[CaseView<'a>]) -> Vec<(&'a str, &'static str, Estimate)> {
    let all: Vec<&CaseView<'_>> = views.iter().collect();
    let of = |view: &&CaseView<'a>| {
        let reference = reference_of(view, &all).filter(|it| !it.is(view));
        let quantile = |at| reference.as_ref().filter(|_| view.valid_figure().is_some())?.relative_quantile(view, at);
        let result = reference.as_ref().and_then(|it| it.relative(view));
        let each = [("result", result), ("response_p90", quantile(1)), ("response_p99", quantile(2))];
        let label = view.case.label.as_str();
        each.into_iter().filter_map(move |(metric, it)| Some((label, metric, it?))).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

/// The case that others of its kind are compared with, and the level of their ratios.
#[derive(Clone, Copy)]
struct Reference<'v, 'a> {
    view: &'v CaseView<'a>,
    /// Level of each ratio, so that all intervals hold together.
    level: f64,
}

impl<'v, 'a> Reference<'v, 'a> {
    /// The first of these cases in the run whose figure counts: not the best, whose selection would depend on the figures.
    /// `None` for a single case, which has nothing to be compared with.
    fn of(alike: &[&'v CaseView<'a>]) -> Option<Self> {
        let valid: Vec<&'v CaseView<'a>> = alike.iter().copied().filter(|view| view.valid_figure().is_some()).collect();
        let given = |view: &CaseView<'_>| view.file.cases.iter().position(|case| std::ptr::eq(case, view.case));
        let view = valid.iter().copied().min_by_key(|view| given(view)).filter(|_| valid.len() > 1)?;
        Some(Self { view, level: level_of_each(valid.len() - 1) })
    }

    fn is(&self, view: &CaseView<'_>) -> bool {
        std::ptr::eq(self.view.case, view.case)
    }

    /// The reason why cases, it among them, cannot be ranked; `None` if all have ratios with intervals.
    fn doubt(&self, valid: &[&CaseView<'_>]) -> Option<String> {
        if !valid.iter().all(|view| lasts_as_long(view, self.view)) {
            return Some("not compared: rounds of unlike lengths".to_owned());
        }
        let has_interval = |view: &&CaseView<'_>| self.relative(view).is_some_and(|it| it.interval.is_some());
        if valid.iter().filter(|view| !self.is(view)).all(has_interval) {
            return None;
        }
        Some(match valid.iter().all(|view| view.case.origin == self.view.case.origin) {
            true => format!("too few rounds for intervals of the ratios ({} needed)", fewest(self.level)),
            false => "no intervals, since the rounds did not take turns".to_owned(),
        })
    }

    /// Ratio of another case to it, with the interval of pairs of rounds that took turns. Rounds of different runs never
    /// took turns.
    fn relative(&self, view: &CaseView<'_>) -> Option<Estimate> {
        let first = self.view;
        let figure = first.valid_figure().filter(|it| *it > 0.0)?;
        let plain = Estimate { value: view.valid_figure()? / figure, interval: None };
        if self.is(view) || view.case.origin != first.case.origin {
            return Some(plain);
        }
        let figure = |case: &CaseView<'_>, round: &Round| {
            Some(case.figure_of(round)).filter(|it| round.measured_s > 0.0 && it.is_finite())
        };
        let rounds = first.case.rounds.iter().zip(&view.case.rounds);
        // Pairs are by round number, even if another round of one side has no figure.
        let pairs: Vec<(f64, f64)> =
            rounds.filter_map(|(one, other)| figure(first, one).zip(figure(view, other))).collect();
        Some(ratio_of_pairs_at(&pairs, self.level).filter(|it| it.interval.is_some()).unwrap_or(plain))
    }

    /// Ratio of a quantile of the headline's response times to the first case's; `None` without an interval.
    fn relative_quantile(&self, view: &CaseView<'_>, at: usize) -> Option<Estimate> {
        let first = self.view;
        if self.is(view) || view.case.origin != first.case.origin {
            return None;
        }
        let of = |case: &CaseView<'_>| -> Option<Vec<f64>> {
            case.headline_operation()?.by_round.iter().map(|round| round.get(at).copied().flatten()).collect()
        };
        let pairs: Vec<(f64, f64)> = of(first)?.into_iter().zip(of(view)?).collect();
        ratio_of_pairs_at(&pairs, self.level).filter(|it| it.interval.is_some())
    }
}

/// A ratio in readable form: preceded by `=` if its interval holds 1.
fn ratio_text(ratio: &Estimate) -> String {
    let alike = if ratio.interval.is_some_and(|it| it.holds(1.0)) { "= " } else { "" };
    format!("{alike}× {}", units::significant(ratio.value, 3))
}

/// The ratio of a case to its reference, in brackets without an interval; or the reason why there is none.
fn relative(view: &CaseView<'_>, reference: Option<&Reference<'_, '_>>, views: &[&CaseView<'_>]) -> TableCell {
    if view.valid_figure().is_none() {
        return TableCell::missing();
    }
    let is_other = |it: &&&CaseView<'_>| {
        let is_like = it.case.workload.name == view.case.workload.name && it.unit() == view.unit();
        is_like && it.valid_figure().is_some() && !std::ptr::eq(it.case, view.case)
    };
    let others = || views.iter().filter(is_other);
    match reference.and_then(|it| Some((it, it.relative(view)?))) {
        None if others().any(|it| it.case.engine.durability == view.case.engine.durability) => {
            TableCell::text("other length")
        }
        // What survives less, or more, is other work.
        None if others().next().is_some() => TableCell::text("other class"),
        None => TableCell::text("only one"),
        Some((it, ratio)) if it.is(view) => TableCell::figure(ratio.value, |_| "reference".to_owned()),
        Some((_, ratio)) if ratio.interval.is_some() => TableCell::figure(ratio.value, |_| ratio_text(&ratio)),
        Some((it, _)) if view.case.origin != it.view.case.origin => TableCell::text("no turns"),
        // Too few rounds for an interval.
        Some((_, ratio)) => {
            TableCell::figure(ratio.value, |_| format!("({})", ratio_text(&ratio))).tone(Tone::Doubtful)
        }
    }
}

fn row(view: &CaseView<'_>, views: &[&CaseView<'_>]) -> Vec<TableCell> {
    let reference = reference_of(view, views);
    let reference = reference.as_ref();
    let figures = view.figures();
    let figure = view.valid_figure();
    let result = match (figure, view.validity()) {
        (Some(figure), _) => TableCell::figure(figure, units::number),
        (None, FigureValidity::Void) => TableCell::text("VOID").tone(Tone::Bad),
        (None, validity @ FigureValidity::Unconfirmed) => TableCell::text(validity.name()).tone(Tone::Bad),
        (None, _) => TableCell::missing(),
    };
    // The extremes of a void case are as void as its result.
    let bound = |bound: Option<&f64>| {
        let bound = bound.filter(|_| figure.is_some() && figures.len() > 1);
        TableCell::or_missing(bound.map(|bound| TableCell::figure(*bound, units::number)))
    };
    let certain = view.estimate().and_then(|it| it.interval).filter(|_| figure.is_some());
    let sure =
        |of: fn(&Interval) -> f64| TableCell::or_missing(certain.map(|it| TableCell::figure(of(&it), units::number)));
    let ratio = reference.and_then(|it| it.relative(view));
    let interval = ratio.and_then(|it| it.interval);
    let end = |of: fn(&Interval) -> f64| {
        TableCell::or_missing(interval.map(|it| TableCell::figure(of(&it), |end| units::significant(end, 3))))
    };
    let headline = figure.and(view.headline_operation());
    let quantile = |at: f64| TableCell::quantile(headline.and_then(|operation| operation.response.quantile(at)));
    let [[p90, p90_low, p90_high], [p99, p99_low, p99_high]] = [1, 2].map(|at| {
        let ratio = reference.filter(|_| figure.is_some()).and_then(|it| it.relative_quantile(view, at));
        let interval = ratio.and_then(|it| it.interval);
        let end = |of: fn(&Interval) -> f64| {
            TableCell::or_missing(interval.map(|it| TableCell::figure(of(&it), |end| units::significant(end, 3))))
        };
        let value = ratio.map(|ratio| TableCell::figure(ratio.value, |_| ratio_text(&ratio)));
        [TableCell::or_missing(value), end(|it| it.low), end(|it| it.high)]
    });
    let cost = view.cost();
    let reads = cost.filter(|_| view.memory().is_some());
    row![
        &view.case.label,
        view.case.engine.durability.name(),
        TableCell::or_missing(view.library_bytes().map(|bytes| TableCell::figure(bytes, units::decimal_bytes))),
        result,
        view.unit(),
        bound(figures.first()),
        bound(figures.last()),
        sure(|it| it.low),
        sure(|it| it.high),
        relative(view, reference, views),
        end(|it| it.low),
        end(|it| it.high),
        quantile(0.9),
        p90,
        p90_low,
        p90_high,
        quantile(0.99),
        p99,
        p99_low,
        p99_high,
        TableCell::or_missing(headline.map(|operation| queue(view, operation))),
        TableCell::or_missing(view.instructions().map(|each| TableCell::figure(each, units::instructions))),
        TableCell::or_missing(cost.and_then(|it| it.own_cpu_ns).map(TableCell::duration_ns)),
        TableCell::or_missing(cost.and_then(|it| it.server_cpu_ns).map(TableCell::duration_ns)),
        TableCell::or_missing(cost.and_then(|it| it.written_bytes).map(|bytes| TableCell::figure(bytes, units::bytes))),
        TableCell::or_missing(
            cost.and_then(|it| it.server_counted_bytes).map(|bytes| TableCell::figure(bytes, units::bytes)),
        ),
        TableCell::or_missing(cost.and_then(|it| it.syncs).map(|syncs| TableCell::figure(syncs, units::number))),
        TableCell::or_missing(view.times_memory().map(|times| TableCell::figure(times, units::number))),
        TableCell::or_missing(reads.and_then(|it| it.read_bytes).map(|bytes| TableCell::figure(bytes, units::bytes))),
        TableCell::or_missing(reads.and_then(|it| it.misses).map(|misses| TableCell::figure(misses, units::number))),
        largest(view, "log_bytes"),
        largest(view, "journal_bytes"),
        TableCell::count(view.failed())
    ]
}

/// The largest value of a size that was sampled closely; of others one sample a second misses peaks.
fn largest(view: &CaseView<'_>, metric: &str) -> TableCell {
    let fine = view.case.rounds.iter().filter_map(|round| round.fine_series.column(metric));
    let largest = fine.flatten().flatten().copied().filter(|bytes| bytes.is_finite()).reduce(f64::max);
    TableCell::or_missing(largest.filter(|bytes| *bytes > 0.0).map(|bytes| TableCell::figure(bytes, units::bytes)))
}
