//! A case of a run: its answer, its operations, and what is behind them.

use super::sheet::{LinePlace, SheetAnswer, SheetFold, SheetLine, SheetPart, ShownForms};
use crate::charts::{self, CHARTS, Chart, ChartFrame, ChartSubject};
use crate::html::Drawing;
use crate::tables::{self, SheetTable, Tone};
use crate::text::curve;
use crate::units;
use crate::view::{
    CaseVerdict, CaseView, FigureValidity, Remark, RuleStatus, case_words, checks_words, is_named_by_statement,
    latency_case, not_available, not_tpce, outcome_word, rules, values,
};
use bourse_record::{CheckStatus, Outcome, StatementFigures, WorkloadKind};

/// Letters of a curve over time.
const LETTERS: usize = 54;

/// The case with all that the run file has of it. `is_only` says whether the run has no other.
pub(super) fn case(
    at: usize,
    view: &CaseView<'_>,
    verdict: &CaseVerdict,
    is_only: bool,
    with_charts: bool,
) -> Vec<SheetPart> {
    let id = |id: &str| if is_only { id.to_owned() } else { String::new() };
    let mut drawings = match view.case.rounds.first() {
        Some(_) if with_charts => drawings(view, at, 0, |_| true),
        _ => Vec::new(),
    };
    let mut parts = headline(view, verdict);
    let picture: Vec<Drawing> = drawings.drain(..drawings.len().min(1)).collect();
    parts.push(SheetPart::Charts(picture));
    parts.extend(transactions(view, &id("transactions")));
    parts.push(SheetPart::Table(tables::under_way(view)));
    parts.push(SheetPart::Table(tables::quantiles(view)));
    parts.extend(latency_case(view).map(|case| SheetPart::Table(tables::latency(&CaseView::new(view.file, &case)))));
    parts.push(SheetPart::Table(tables::server_times(view)));
    parts.extend(statements(view));
    parts.push(SheetPart::Table(tables::functions(view)));
    parts.push(SheetPart::Only(ShownForms::Terminal, other_outcomes(view)));
    if with_charts {
        parts.push(SheetPart::Only(ShownForms::Html, charts_of(view, at, drawings, id("charts"))));
    }
    parts.push(SheetPart::Table(tables::search(view)));
    if let Some(why) = not_available(view) {
        parts.push(SheetPart::heading(2, "Where the users' time went"));
        parts.push(SheetPart::toned(Tone::Doubtful, format!("not available: {why}")));
    }
    parts.push(SheetPart::Table(tables::time_split(view)));
    parts.push(SheetPart::Table(tables::resources(view)));
    parts.push(SheetPart::Only(ShownForms::Terminal, growth(view)));
    let [facts, grouped] = facts(view);
    parts.push(SheetPart::Table(facts));
    let (tone, said) = checks_words(view);
    parts.extend([
        SheetPart::Heading(2, id("checks"), "Checks of the database".to_owned()),
        SheetPart::toned(tone, said),
    ]);
    let checks = tables::checks(view);
    if !checks.rows.is_empty() {
        let summary = format!("{} checks in words, with what was found", checks.rows.len());
        let fold = SheetPart::fold(summary, vec![SheetPart::Table(SheetTable { title: String::new(), ..checks })]);
        parts.push(SheetPart::Only(ShownForms::Whole, vec![fold]));
    }
    parts.push(SheetPart::Only(ShownForms::Terminal, compliance(view)));
    parts.push(SheetPart::Only(ShownForms::Whole, details(view, grouped, id("settings"))));
    parts
}

/// Tables that a terminal has no room for.
fn details(view: &CaseView<'_>, facts: SheetTable, settings_id: String) -> Vec<SheetPart> {
    let engine = &view.case.engine;
    let mut parts: Vec<SheetPart> =
        not_tpce(view).map(|line| SheetPart::toned(Tone::Doubtful, line)).into_iter().collect();
    parts.extend([tables::rules_met(view), tables::steadiness(view)].map(SheetPart::Table));
    if view.case.rounds.len() + view.case.set_aside.len() > 1 {
        parts.push(SheetPart::Table(tables::rounds(view)));
    }
    let outcomes = [tables::outcomes(view), tables::service_times(view)].map(SheetPart::Table);
    parts.push(SheetPart::fold("Outcomes, and service times", outcomes.to_vec()));
    parts.push(SheetPart::Heading(2, settings_id, "Settings".to_owned()));
    let left = vec![SheetPart::Table(tables::parameters(view))];
    parts.push(SheetPart::Pair(left, vec![SheetPart::Table(tables::engine_settings(view))]));
    if !facts.rows.is_empty() {
        let summary = format!("{} further details of the rounds", facts.rows.len());
        parts.push(SheetPart::fold(summary, vec![SheetPart::Table(SheetTable { title: String::new(), ..facts })]));
    }
    if !engine.durability_reason.is_empty() {
        parts.push(SheetPart::class(engine.durability, &engine.durability_reason));
    }
    if !engine.compile_options.is_empty() {
        let summary = format!("{} options the engine was compiled with", engine.compile_options.len());
        parts.push(SheetPart::fold(summary, vec![SheetPart::text(engine.compile_options.join(" · "))]));
    }
    parts
}

/// The figure of a case with its durability class.
pub(crate) fn figure(view: &CaseView<'_>) -> SheetAnswer {
    let unit = units::printable(view.unit());
    let sure = view.uncertainty().map(|it| format!(" {it}")).unwrap_or_default();
    let (figure, unit) = match (view.figure(), view.validity()) {
        (Some(figure), validity) if validity.has_rounds() => (units::number(figure), format!("{unit}{sure}")),
        (_, FigureValidity::Void) => {
            let why = view.void_rounds().next().map(|(_, why)| format!(": {why}")).unwrap_or_default();
            (format!("VOID: no {unit}{why}"), String::new())
        }
        _ => (format!("no {unit}: nothing measured"), String::new()),
    };
    let class = view.case.engine.durability.to_string();
    let mut beside: Vec<String> = view.results().into_iter().chain(view.per_minute()).collect();
    // The answer to a search is its rate; what was completed at it stands next to that, or first if it is less.
    if let Some(found) = view.search_answer() {
        if let Some([reached, requested]) = view.short_of_rate().filter(|_| found.is_confirmed) {
            let results = units::printable(&view.case.workload.headline_unit);
            let requested = units::plain(requested);
            let within = format!("{results} of {requested} requested, within every limit: the others wait for a price");
            let beside = vec![format!("{figure} {unit}")];
            return SheetAnswer { figure: units::number(reached), unit: within, is_bad: false, class, beside };
        }
        beside.insert(0, format!("{figure} {unit}"));
        return SheetAnswer { figure: found.rate, unit: found.unit, is_bad: !found.is_confirmed, class, beside };
    }
    SheetAnswer { figure, unit, is_bad: view.validity() != FigureValidity::Counts, class, beside }
}

/// Target and engine of a case, and the driver whose part it is.
pub(crate) fn on(view: &CaseView<'_>) -> String {
    let more = view.drivers().into_iter().chain(view.memory());
    let more: String = more.map(|words| format!(" · {words}")).collect();
    format!("{} · {}{more}", view.case.engine.target, case_words(view.case))
}

/// The answer of a case: figure, verdict, remarks, failed checks.
pub(super) fn headline(view: &CaseView<'_>, verdict: &CaseVerdict) -> Vec<SheetPart> {
    let said = verdict.verdict();
    let mut parts = vec![SheetPart::Answer(figure(view)), SheetPart::at(LinePlace::Target, Tone::Plain, on(view))];
    parts.extend(view.spread().map(|spread| SheetPart::at(LinePlace::Beside, Tone::Plain, spread)));
    parts.extend(view.runs_here().map(|runs| SheetPart::at(LinePlace::Beside, Tone::Plain, runs)));
    let place = LinePlace::Verdict;
    parts.push(SheetPart::Line(SheetLine {
        place,
        tone: said.tone,
        text: said.text,
        spans: verdict.parts(),
        ..SheetLine::default()
    }));
    let limit = view.limited_by().map(|limit| Remark::new(Tone::Plain, limit.sentence()));
    let remarks = verdict.remarks.iter().cloned().chain(limit).chain(view.waits());
    parts.push(SheetPart::List(remarks.map(|it| (0, it)).collect()));
    let several = view.case.rounds.len() > 1;
    for (round, check) in view.checks().filter(|(_, check)| check.status == CheckStatus::Failed) {
        let round = if several { format!(", round {round}") } else { String::new() };
        let words = format!("FAILED {} ({}){round}: {}", check.name, check.source, check.condition);
        parts.push(SheetPart::at(LinePlace::Failed, Tone::Bad, words));
        // Evidence may be rows, a line each.
        let lines = check.evidence.lines().map(|line| (0, Remark::new(Tone::Plain, line)));
        parts.push(SheetPart::List(lines.collect()));
    }
    parts
}

/// The table by transaction.
pub(super) fn transactions(view: &CaseView<'_>, id: &str) -> Vec<SheetPart> {
    let table = tables::transactions(view);
    let noun = match view.case.workload.kind {
        WorkloadKind::Brokerage => "a transaction",
        WorkloadKind::Micro => "an operation",
    };
    let heading = SheetPart::Heading(2, id.to_owned(), table.title.clone());
    if table.rows.is_empty() {
        return vec![heading, SheetPart::toned(Tone::Bad, "Nothing was measured.")];
    }
    let about = SheetPart::faint(format!("Response time is from when {noun} was due to its end."));
    let table = SheetPart::Table(SheetTable { title: String::new(), ..table });
    vec![heading, table, SheetPart::Only(ShownForms::Html, vec![about])]
}

/// A statement's text, behind its operation unless that has the same name.
fn named(of: &StatementFigures, text: &str) -> String {
    if is_named_by_statement(of) { text.to_owned() } else { format!("{}: {text}", of.operation) }
}

/// Hints at the plans of statements, each behind the name of its statement with so many letters of the text, which an operation with one
/// statement needs not.
pub(crate) fn hints(of: &[StatementFigures], letters: usize) -> Vec<Remark> {
    let is_only = |it: &StatementFigures| of.iter().filter(|other| other.operation == it.operation).count() == 1;
    let all = of.iter().flat_map(|it| {
        let text = tables::short(&it.statement, letters);
        let named = if is_only(it) && !is_named_by_statement(it) { it.operation.clone() } else { named(it, &text) };
        let remark = move |hint| Remark::new(Tone::Doubtful, format!("{named}: {hint}"));
        crate::view::hints(it).into_iter().map(remark)
    });
    all.collect()
}

/// Statements with most time, their texts and plans, and the others.
fn statements(view: &CaseView<'_>) -> Vec<SheetPart> {
    let all = crate::view::statements(&view.case.rounds);
    if all.is_empty() {
        return Vec::new();
    }
    let (dearest, others) = all.split_at(all.len().min(tables::DEAREST));
    let hints = hints(dearest, tables::LETTERS).into_iter().map(|it| (0, it));
    let mut parts = vec![SheetPart::Table(tables::statements(view, &all, dearest)), SheetPart::List(hints.collect())];
    let with_plan = |of: &StatementFigures| {
        let plan: Vec<String> = of.plan.iter().map(|step| format!("    {step}")).collect();
        [named(of, &of.statement)].into_iter().chain(plan).collect::<Vec<_>>()
    };
    let texts = vec![SheetPart::Pre(dearest.iter().flat_map(with_plan).collect())];
    let summary = "Texts and plans of these statements".to_owned();
    parts.push(SheetPart::Fold(SheetFold { summary, is_open: true, parts: texts, ..SheetFold::default() }));
    if !others.is_empty() {
        let table = SheetTable { title: String::new(), ..tables::statements(view, &all, others) };
        let summary = units::counted(others.len() as u64, "further statement", "further statements");
        parts.push(SheetPart::Only(ShownForms::Whole, vec![SheetPart::fold(summary, vec![SheetPart::Table(table)])]));
    }
    parts
}

/// Outcomes other than success, with their codes explained, and examples of failures.
fn other_outcomes(view: &CaseView<'_>) -> Vec<SheetPart> {
    let mut table = tables::outcomes(view);
    "Other outcomes".clone_into(&mut table.title);
    // Without the successes, and without the column of examples.
    table.rows.retain(|row| row[1].text != outcome_word(Outcome::Completed) || !row[2].is_empty());
    let last = table.heads.len() - 1;
    table.retain(|at, _| at != last);
    let mut parts = vec![SheetPart::Table(table)];
    for (operation, it) in view.operations.iter().flat_map(|it| it.outcomes.iter().map(move |of| (it, of))) {
        if let (Outcome::Failed | Outcome::Dropped, Some(example)) = (it.outcome, &it.example) {
            let code = if it.code == 0 { String::new() } else { format!(" ({:+})", it.code) };
            parts.push(SheetPart::toned(Tone::Bad, format!("for instance {}{code}: {example}", operation.name)));
        }
    }
    parts
}

/// The curves of closely sampled sizes, of the first round; those of other rounds are in the page.
fn growth(view: &CaseView<'_>) -> Vec<SheetPart> {
    let Some(round) = view.case.rounds.first() else { return Vec::new() };
    let mut parts = Vec::new();
    for (metric, title) in [("log_bytes", "Write-ahead log"), ("journal_bytes", "Rollback journal")] {
        if round.fine_series.column(metric).is_none() {
            continue;
        }
        let points: Vec<_> = values(round, metric).filter_map(|(time, value)| Some((time, value?))).collect();
        let lines = curve(&points, LETTERS, units::bytes);
        if !lines.is_empty() {
            let of = if view.case.rounds.len() > 1 { ", round 1" } else { "" };
            parts.push(SheetPart::heading(2, format!("{title} over time{of}")));
            parts.push(SheetPart::Pre(lines.iter().map(|line| format!("  {line}")).collect()));
        }
    }
    parts
}

/// Facts of the rounds, such as pauses of the customers, and trades of earlier runs; those of a group (`group: name`), which
/// are many, in a table of their own.
fn facts(view: &CaseView<'_>) -> [SheetTable; 2] {
    [false, true].map(|grouped| {
        let mut facts = tables::round_facts(view);
        facts.rows.retain(|row| row[1].text.contains(": ") == grouped);
        facts
    })
}

/// Rules of the specification: those that were not met with their demands, the others by name.
fn compliance(view: &CaseView<'_>) -> Vec<SheetPart> {
    let rules = rules(view);
    if rules.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![SheetPart::heading(2, "Compliance: rules of the specification")];
    parts.extend(not_tpce(view).map(|line| SheetPart::toned(Tone::Doubtful, line)));
    for (status, tone) in [(RuleStatus::Yes, Tone::Good), (RuleStatus::Unknown, Tone::Faint)] {
        let named = rules.iter().filter(|rule| rule.status == status);
        let named: Vec<String> = named.map(|rule| format!("{} ({})", rule.name, rule.found)).collect();
        parts.extend(
            (!named.is_empty()).then(|| SheetPart::toned(tone, format!("{}: {}", status.name(), named.join(" · ")))),
        );
    }
    parts.extend(rules.iter().filter(|rule| rule.status == RuleStatus::No).map(|rule| {
        let (status, name, found, demands) = (rule.status.name(), rule.name, &rule.found, rule.demands);
        SheetPart::toned(Tone::Doubtful, format!("{status}: {name}: {found} (required: {demands})"))
    }));
    parts
}

/// The charts of the first round, those of further rounds folded.
fn charts_of(view: &CaseView<'_>, at: usize, first: Vec<Drawing>, id: String) -> Vec<SheetPart> {
    let rounds = &view.case.rounds;
    let mut parts = vec![SheetPart::Heading(2, id, "Charts".to_owned())];
    if rounds.first().is_some_and(charts::is_too_short) {
        parts.push(SheetPart::faint("The round is too short for charts over time: they have a point for each second."));
    }
    parts.push(SheetPart::Charts(first));
    for nth in (1..rounds.len()).filter(|nth| !charts::is_too_short(&rounds[*nth])) {
        let drawn = drawings(view, at, nth, |chart| chart.each_round);
        parts.push(SheetPart::Fold(SheetFold {
            summary: format!("Charts of round {}", nth + 1),
            parts: vec![SheetPart::Charts(drawn)],
            ..SheetFold::default()
        }));
    }
    parts
}

fn drawings(view: &CaseView<'_>, at: usize, nth: usize, wanted: fn(&Chart) -> bool) -> Vec<Drawing> {
    let id = format!("case-{}-round-{}", at + 1, nth + 1);
    let subject = ChartSubject { view, round: &view.case.rounds[nth], case: at, nth, id };
    let draw = |chart: &'static Chart| {
        let id = format!("{}-{}", subject.id, chart.key);
        Drawing::new(chart.key, &ChartFrame { id: &id, title: chart.title, about: chart.about }, chart.drawn(&subject))
    };
    let has_course = !charts::is_too_short(subject.round);
    CHARTS.iter().filter(|chart| wanted(chart) && (has_course || !chart.each_round)).map(draw).collect()
}
