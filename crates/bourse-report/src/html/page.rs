//! What the page is filled with.

use super::Head;
use crate::charts::{self, CHARTS, Chart, Size, Subject};
use crate::tables::{self, Align, Table};
use crate::units;
use crate::view::{CaseView, Remark, Standing, case_words, latency_case, not_tpce, notices, warnings};
use bourse_record::{CheckStatus, RunFile, WorkloadKind};
use minijinja::Value;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Page {
    head: Head,
    comparison: Option<Drawing>,
    comparisons: Vec<Grid>,
    scaling: Vec<ScalingDrawing>,
    cases: Vec<CasePage>,
    warnings: Vec<String>,
    machines: Vec<Grid>,
    notices: Vec<String>,
}

#[derive(Serialize)]
struct CasePage {
    id: String,
    label: String,
    /// The figure, or why there is none.
    figure: String,
    unit: String,
    /// Whether the figure is valid.
    counts: bool,
    /// `± 2.6 %`, of a single round.
    plus_minus: Option<String>,
    /// Trade-Results a second.
    results: Option<String>,
    spread: Option<String>,
    durability: &'static str,
    durability_reason: String,
    on: String,
    remarks: Vec<Sentence>,
    limited_by: Option<String>,
    waits: Option<Sentence>,
    not_tpce: Option<String>,
    checks: Checks,
    transactions: Grid,
    /// The same at a part of the rate.
    latency: Option<Grid>,
    /// Columns left out because nothing of it happened.
    none: Vec<&'static str>,
    /// `a transaction`, `an operation`.
    noun: &'static str,
    service: Grid,
    quantiles: Option<Grid>,
    under_way: Option<Grid>,
    server: Option<Grid>,
    outcomes: Grid,
    resources: Grid,
    all_checks: Grid,
    rules: Grid,
    steadiness: Grid,
    search: Grid,
    rounds: Option<Grid>,
    parameters: Grid,
    settings: Grid,
    compile_options: Vec<String>,
    facts: Grid,
    /// Charts of the case and of its first round.
    charts: Vec<Drawing>,
    /// Charts of the further rounds.
    further: Vec<RoundPage>,
}

#[derive(Serialize)]
struct RoundPage {
    number: usize,
    charts: Vec<Drawing>,
}

#[derive(Serialize)]
struct Sentence {
    class: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Checks {
    class: &'static str,
    text: String,
    failed: Vec<FailedCheck>,
}

#[derive(Serialize)]
struct FailedCheck {
    name: String,
    words: String,
    source: String,
    round: Option<usize>,
    evidence: Vec<String>,
}

#[derive(Serialize)]
struct Drawing {
    key: &'static str,
    title: &'static str,
    about: &'static str,
    /// Wide and narrow; empty if nothing was recorded.
    sizes: Vec<Sized>,
}

/// A drawing whose title and words come from the run.
#[derive(Serialize)]
struct ScalingDrawing {
    key: &'static str,
    title: String,
    about: &'static str,
    sizes: Vec<Sized>,
}

#[derive(Serialize)]
struct Sized {
    class: &'static str,
    svg: Value,
}

/// A table as the templates draw it.
#[derive(Serialize)]
pub(crate) struct Grid {
    title: String,
    heads: Vec<GridHead>,
    rows: Vec<Vec<GridCell>>,
}

#[derive(Serialize)]
struct GridHead {
    title: &'static str,
    right: bool,
}

#[derive(Serialize)]
struct GridCell {
    text: String,
    class: String,
}

impl From<Table> for Grid {
    fn from(table: Table) -> Self {
        let right: Vec<bool> = table.heads.iter().map(|head| head.align == Align::Right).collect();
        let cell = |(cell, right): (tables::Cell, &bool)| GridCell {
            class: [if *right { "number" } else { "" }, cell.tone.class()].join(" ").trim().to_owned(),
            text: cell.text,
        };
        let rows = table.rows.into_iter().map(|row| row.into_iter().zip(&right).map(cell).collect()).collect();
        let heads = table.heads.iter().zip(&right).map(|(head, right)| GridHead { title: head.title, right: *right });
        Self { title: table.title, heads: heads.collect(), rows }
    }
}

pub(super) fn page(file: &RunFile) -> Page {
    let views = CaseView::all(file);
    let draw = |size: Size| {
        let svg = charts::comparison(&views, size)?;
        Some(Sized { class: size.class(), svg: Value::from_safe_string(svg) })
    };
    let sizes: Vec<Sized> = Size::ALL.into_iter().filter_map(draw).collect();
    let comparison = (!sizes.is_empty()).then_some(Drawing {
        key: "comparison",
        title: "Results by case",
        about: "A bar for each case, a dot for each of its rounds. Durability classes stand apart: what survives less is \
                not the same work done faster.",
        sizes,
    });
    Page {
        head: Head::new(&title(file, &views), &file.name, &file.provenance, file.interrupted, ""),
        comparison,
        comparisons: tables::comparisons(&views).into_iter().map(folded).collect(),
        scaling: scaling(&views),
        cases: views.iter().enumerate().map(|(at, view)| case(at, view)).collect(),
        warnings: warnings(file).iter().map(|warning| units::printable(warning)).collect(),
        machines: tables::machines(file).into_iter().map(Grid::from).collect(),
        notices: notices(file).into_iter().map(units::printable).collect(),
    }
}

/// A drawing for each option that was swept over numbers.
fn scaling(views: &[CaseView<'_>]) -> Vec<ScalingDrawing> {
    let draw = |option: &str| {
        let sizes = Size::ALL.into_iter().filter_map(|size| {
            let svg = charts::scaling(views, option, size)?;
            Some(Sized { class: size.class(), svg: Value::from_safe_string(svg) })
        });
        let title = units::printable(&format!("Result by {option}"));
        let about = "A point for each case, at its result; the stroke through it goes from the lowest round to the highest. \
                     Below it the 90th percentile of the headline's responses.";
        ScalingDrawing { key: "scaling", title, about, sizes: sizes.collect() }
    };
    charts::swept(views).into_iter().map(draw).filter(|drawing| !drawing.sizes.is_empty()).collect()
}

fn folded(mut table: Table) -> Grid {
    table.fold();
    table.into()
}

fn title(file: &RunFile, views: &[CaseView<'_>]) -> String {
    let answer = match views {
        [only] => match (only.valid_figure(), only.standing()) {
            (Some(figure), _) => format!("{} {}, ", units::number(figure), only.unit()),
            (None, Standing::Void) => "VOID, ".to_owned(),
            (None, _) => "nothing measured, ".to_owned(),
        },
        _ => String::new(),
    };
    units::printable(&format!("{answer}{} {} · Bourse", file.name, file.provenance.started_at))
}

fn case(at: usize, view: &CaseView<'_>) -> CasePage {
    let (workload, engine) = (&view.case.workload, &view.case.engine);
    let figure = match (view.valid_figure(), view.standing()) {
        (Some(figure), _) => units::number(figure),
        (None, Standing::Void) => "VOID".to_owned(),
        (None, _) => "Nothing measured".to_owned(),
    };
    let mut transactions = tables::transactions(view);
    let none = transactions.fold();
    let service = folded(tables::service_times(view));
    let quantiles = Some(tables::quantiles(view)).filter(|table| !table.rows.is_empty()).map(folded);
    let under_way = Some(tables::under_way(view)).filter(|table| !table.rows.is_empty()).map(folded);
    let server = Some(tables::server_times(view)).filter(|table| !table.rows.is_empty()).map(folded);
    let rounds = &view.case.rounds;
    CasePage {
        id: format!("case-{}", at + 1),
        label: units::printable(&view.case.label),
        figure,
        unit: units::printable(view.unit()),
        counts: view.standing() == Standing::Counts,
        plus_minus: view.plus_minus(),
        results: view.results(),
        spread: view.spread(),
        durability: engine.durability.name(),
        durability_reason: units::printable(&engine.durability_reason),
        on: units::printable(&format!("{} · {}", engine.target, case_words(view.case))),
        remarks: view.remarks().into_iter().map(sentence).collect(),
        limited_by: view.limited_by().map(|limit| units::printable(&limit.sentence())),
        waits: view.waits().map(sentence),
        not_tpce: not_tpce(view),
        latency: latency_case(view).map(|case| folded(tables::latency(&CaseView::new(view.file, &case)))),
        checks: checks(view),
        transactions: transactions.into(),
        none,
        noun: match workload.kind {
            WorkloadKind::Brokerage => "a transaction",
            WorkloadKind::Micro => "an operation",
        },
        service,
        quantiles,
        under_way,
        server,
        outcomes: folded(tables::outcomes(view)),
        resources: tables::resources(view).into(),
        all_checks: tables::checks(view).into(),
        rules: tables::rules_kept(view).into(),
        steadiness: tables::steadiness(view).into(),
        search: tables::search(view).into(),
        rounds: (rounds.len() > 1).then(|| tables::rounds(view).into()),
        parameters: tables::parameters(view).into(),
        settings: tables::engine_settings(view).into(),
        compile_options: engine.compile_options.iter().map(|option| units::printable(option)).collect(),
        facts: tables::round_facts(view).into(),
        charts: rounds.first().map(|_| drawings(view, at, 0, |_| true)).unwrap_or_default(),
        further: (1..rounds.len())
            .map(|nth| RoundPage { number: nth + 1, charts: drawings(view, at, nth, |chart| chart.each_round) })
            .collect(),
    }
}

fn sentence(remark: Remark) -> Sentence {
    Sentence { class: remark.tone.class(), text: units::printable(&remark.text) }
}

fn checks(view: &CaseView<'_>) -> Checks {
    let several = view.case.rounds.len() > 1;
    let (passed, failed) = (view.checks_that(CheckStatus::Passed), view.checks_that(CheckStatus::Failed));
    let (class, text) = match (passed, failed) {
        (0, 0) => ("doubtful", "the database was not checked".to_owned()),
        (_, 0) => ("good", format!("{} of the database passed", units::counted(passed, "check", "checks"))),
        _ => {
            let all = units::counted(passed + failed, "check", "checks");
            ("bad", format!("{} of {all} of the database failed", units::count(failed)))
        }
    };
    let failed = view.checks().filter(|(_, check)| check.status == CheckStatus::Failed);
    let failed = failed.map(|(round, check)| FailedCheck {
        name: units::printable(&check.name),
        words: units::printable(&check.condition),
        source: units::printable(&check.source),
        round: several.then_some(round),
        evidence: check.evidence.lines().map(units::printable).collect(),
    });
    Checks { class, text, failed: failed.collect() }
}

fn drawings(view: &CaseView<'_>, at: usize, nth: usize, wanted: fn(&Chart) -> bool) -> Vec<Drawing> {
    let id = format!("case-{}-round-{}", at + 1, nth + 1);
    let subject = Subject { view, round: &view.case.rounds[nth], id };
    let draw = |chart: &'static Chart| {
        let sizes = Size::ALL.into_iter().filter_map(|size| {
            let svg = (chart.draw)(&subject, chart, size)?;
            Some(Sized { class: size.class(), svg: Value::from_safe_string(svg) })
        });
        Drawing { key: chart.key, title: chart.title, about: chart.about, sizes: sizes.collect() }
    };
    CHARTS.iter().filter(|chart| wanted(chart)).map(draw).collect()
}
