//! Values that the template of a run's page is filled with.

use super::{Carried, Drawing, Grid, Head};
use crate::charts::{self, CHARTS, Chart, Drawn, Frame, Subject};
use crate::comparison::{self, Compared};
use crate::tables::{self, OfUnit, Table, Tone};
use crate::units;
use crate::view::{CaseView, Remark, Standing, Told, case_words, latency_case, not_tpce, notices, verdicts, warnings};
use bourse_record::{CheckStatus, RunFile, WorkloadKind};
use minijinja::Value;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Page {
    head: Head,
    title: String,
    /// The comparison that the run was made for.
    comparisons: Vec<Value>,
    /// Results over several cases.
    answers: Vec<Sentence>,
    groups: Vec<Group>,
    cases: Vec<CasePage>,
    warnings: Vec<String>,
    machines: Vec<Grid>,
    notices: Vec<String>,
}

/// Several cases of one workload and unit, side by side.
#[derive(Serialize)]
struct Group {
    id: String,
    name: String,
    answers: Vec<Sentence>,
    chart: Drawing,
    table: Grid,
    /// A curve for each option that was swept over numbers.
    scaling: Vec<Drawing>,
    overlays: Vec<Drawing>,
}

#[derive(Serialize)]
struct CasePage {
    id: String,
    label: String,
    /// The figure, or the reason why there is none.
    figure: String,
    unit: String,
    /// Whether the figure is valid.
    counts: bool,
    /// Uncertainty of a single round: `± 2.6 %`.
    sure: Option<String>,
    /// Trade-Results a second.
    results: Option<String>,
    spread: Option<String>,
    durability: &'static str,
    durability_reason: String,
    on: String,
    verdict: Sentence,
    /// Throughput over time: the picture that belongs to the answer.
    picture: Option<Drawing>,
    remarks: Vec<Sentence>,
    limited_by: Option<String>,
    waits: Option<Sentence>,
    not_tpce: Option<String>,
    checks: Checks,
    transactions: Grid,
    /// Operations of the phase at a part of the rate.
    latency: Option<Grid>,
    /// Columns left out because all their values are zero.
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
    /// Whether its first round is too short for charts over time.
    too_short: bool,
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

pub(super) fn page(file: &RunFile) -> Page {
    let views = CaseView::all(file);
    let told: Vec<Told> = views.iter().map(Told::of).collect();
    let title = title(file, &views);
    let document = serde_json::to_vec(file).expect("a run file has a form in JSON");
    let carried = Carried::script().document("run.json", &document).markdown(&crate::text::answer(file));
    let groups = if views.len() < 2 { Vec::new() } else { tables::by_unit(&views) };
    Page {
        head: Head::new(&title, &file.name, &file.provenance, file.interrupted, "").carrying(carried),
        title: match views.as_slice() {
            [only] => units::printable(&only.case.label),
            _ => units::printable(&format!("{}: {} cases", file.name, views.len())),
        },
        comparisons: Compared::of_run(file).iter().flat_map(comparison::sections).collect(),
        answers: if views.len() < 2 { Vec::new() } else { answers(file, &told) },
        groups: groups.iter().enumerate().map(|(at, of)| group(at, of)).collect(),
        cases: views.iter().zip(told).enumerate().map(|(at, (view, told))| case(at, view, told)).collect(),
        warnings: warnings(file).iter().map(|warning| units::printable(warning)).collect(),
        machines: Some(tables::time_spent(file))
            .filter(|table| !table.rows.is_empty())
            .into_iter()
            .chain(tables::machines(file))
            .map(Grid::from)
            .collect(),
        notices: notices(file).into_iter().map(units::printable).collect(),
    }
}

/// Results over several cases together.
fn answers(file: &RunFile, told: &[Told]) -> Vec<Sentence> {
    let interrupted = Remark::new(Tone::Bad, "interrupted: what was measured until then is here");
    let interrupted = file.interrupted.then_some(interrupted);
    interrupted.into_iter().chain(verdicts(told)).map(sentence).collect()
}

fn group(at: usize, of: &OfUnit<'_, '_>) -> Group {
    let id = format!("group-{}", at + 1);
    let views: Vec<&CaseView<'_>> = of.members.iter().map(|(_, view)| *view).collect();
    let in_order: Vec<&CaseView<'_>> =
        tables::by_class(views.iter().copied()).into_iter().flat_map(|(_, members)| members).collect();
    let frame = Frame {
        id: &format!("{id}-chart"),
        title: "Results by case",
        about: "A bar for each case, a dot for each of its rounds, and its interval. Durability classes stand apart: what \
                survives less is not the same work done faster.",
    };
    let chart = Drawn::still(|size| charts::comparison(&frame, &views, size));
    let overlays = charts::overlays(&of.members, &id).into_iter().filter_map(|(overlay, drawn)| {
        let id = format!("{id}-{}", overlay.id);
        Drawing::if_any(overlay.id, &Frame { id: &id, ..overlay }, drawn)
    });
    Group {
        answers: tables::rankings(views.iter().copied()).into_iter().map(sentence).collect(),
        name: units::printable(&of.name),
        chart: Drawing::new("comparison", &frame, chart),
        table: folded(tables::comparison(&in_order, &of.name)),
        scaling: scaling(&views, &id),
        overlays: if views.len() > 1 { overlays.collect() } else { Vec::new() },
        id,
    }
}

/// A drawing for each option that was swept over numbers.
fn scaling(views: &[&CaseView<'_>], id: &str) -> Vec<Drawing> {
    let draw = |option: &str| {
        let title = format!("Result by {option}");
        let option_id: String = option.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
        let frame = Frame {
            id: &format!("{id}-by-{option_id}"),
            title: &title,
            about: "A point for each case, at its result; the stroke through it is its interval, or goes from the lowest \
                    round to the highest. Below it the 90th percentile of the headline's responses.",
        };
        let drawn = Drawn::still(|size| charts::scaling(&frame, views, option, size));
        Drawing::if_any("scaling", &frame, drawn)
    };
    charts::swept(views).into_iter().filter_map(draw).collect()
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

fn case(at: usize, view: &CaseView<'_>, told: Told) -> CasePage {
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
    let mut charts = rounds.first().map(|_| drawings(view, at, 0, |_| true)).unwrap_or_default();
    let picture = (!charts.is_empty()).then(|| charts.remove(0));
    CasePage {
        id: format!("case-{}", at + 1),
        label: units::printable(&view.case.label),
        figure,
        unit: units::printable(view.unit()),
        counts: view.standing() == Standing::Counts,
        sure: view.sure(),
        results: view.results(),
        spread: view.spread(),
        durability: engine.durability.name(),
        durability_reason: units::printable(&engine.durability_reason),
        on: units::printable(&format!("{} · {}", engine.target, case_words(view.case))),
        verdict: sentence(told.verdict()),
        picture,
        remarks: told.remarks.into_iter().map(sentence).collect(),
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
        charts,
        too_short: rounds.first().is_some_and(charts::is_too_short),
        further: (1..rounds.len())
            .filter(|nth| !charts::is_too_short(&rounds[*nth]))
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
    let subject = Subject { view, round: &view.case.rounds[nth], case: at, nth, id };
    let draw = |chart: &'static Chart| {
        let id = format!("{}-{}", subject.id, chart.key);
        Drawing::new(chart.key, &Frame { id: &id, title: chart.title, about: chart.about }, chart.drawn(&subject))
    };
    let has_course = !charts::is_too_short(subject.round);
    CHARTS.iter().filter(|chart| wanted(chart) && (has_course || !chart.each_round)).map(draw).collect()
}
