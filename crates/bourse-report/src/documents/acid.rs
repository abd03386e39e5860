//! The ACID tests of a target.

use super::sheet::{LinePlace, Sheet, SheetAnswer, SheetFold, SheetPart, ShownForms};
use crate::tables::{ColumnHead, SheetTable, TableCell, Tone, heads, row};
use crate::units;
use crate::view::{isolation_not_given, warning};
use bourse_record::BROKERAGE_NOTICE;
use bourse_record::acid::{AcidCase, AcidFile, AcidTest, AcidVerdict};

const fn tone(verdict: AcidVerdict) -> Tone {
    match verdict {
        AcidVerdict::Passed => Tone::Good,
        AcidVerdict::Failed => Tone::Bad,
        AcidVerdict::NotApplicable => Tone::Faint,
    }
}

/// The document: verdicts first, then each test with its cases, and the settings in force.
pub fn acid(file: &AcidFile) -> Sheet {
    let engine = &file.engine;
    let [passed, failed, left_out] = AcidVerdict::ALL.map(|verdict| file.count(verdict));
    // Tests that passed until they were cut short are no result of the whole.
    let ended = units::counted(file.tests.len() as u64, "test", "tests");
    let incomplete = file.interrupted.then(|| format!("incomplete: interrupted after {ended}"));
    let mut parts = vec![
        SheetPart::Answer(SheetAnswer {
            figure: match (failed, &incomplete) {
                (1.., _) => format!("{failed} failed"),
                (0, Some(incomplete)) => incomplete.clone(),
                (0, None) => format!("{passed} passed"),
            },
            is_bad: failed > 0 || incomplete.is_some(),
            beside: vec![match (failed, &incomplete) {
                (0, None) => format!("{failed} failed, {left_out} not applicable"),
                _ => format!("{passed} passed, {failed} failed, {left_out} not applicable"),
            }],
            ..SheetAnswer::default()
        }),
        SheetPart::at(
            LinePlace::Target,
            Tone::Plain,
            format!("{} · {} {}", engine.target, engine.name, engine.version),
        ),
    ];
    parts.extend(incomplete.filter(|_| failed > 0).map(|text| SheetPart::toned(Tone::Bad, text)));
    parts.push(SheetPart::class(engine.durability, &engine.durability_reason));
    parts.push(SheetPart::faint(format!("{}; seed {}", file.database, file.provenance.seed)));
    if !file.isolation.is_empty() {
        parts.push(SheetPart::faint(match isolation_not_given(&file.isolation) {
            None => "isolation: the engine gives each transaction the level that it demands".to_owned(),
            Some(short) => format!("isolation lower than demanded: {short}"),
        }));
    }
    parts.extend(file.warnings.iter().map(|it| SheetPart::toned(Tone::Doubtful, format!("warning: {}", warning(it)))));

    parts.push(SheetPart::Only(ShownForms::Brief, vec![passed_by_property(file)]));
    let others = |test: &&AcidTest| test.verdict != AcidVerdict::Passed;
    parts.push(SheetPart::Only(
        ShownForms::Brief,
        vec![verdicts("Tests that did not pass", &mut file.tests.iter().filter(others))],
    ));
    parts.push(SheetPart::Only(ShownForms::Whole, vec![verdicts("Verdicts", &mut file.tests.iter())]));
    let evidence = file.tests.iter().flat_map(|test| {
        let shown = test.verdict == AcidVerdict::Failed;
        let first = shown.then(|| test.cases.iter().position(|case| !case.holds())).flatten();
        let cases = test.cases.iter().enumerate().map(move |(at, it)| case(it, first == Some(at)));
        let about = vec![
            SheetPart::Heading(3, test.id.clone(), format!("{} {}: {}", test.id, test.title, test.verdict.name())),
            SheetPart::faint(format!("{}; {}", test.property.name(), test.source)),
            SheetPart::text(format!("Demanded: {}.", test.demanded)),
            SheetPart::text(test.reason.clone()),
        ];
        about.into_iter().map(move |part| (part, shown)).chain(cases.map(move |part| (part, shown)))
    });
    // The terminal shows what failed.
    let (failed, others): (Vec<_>, Vec<_>) = evidence.partition(|(_, shown)| *shown);
    let [failed, others] = [failed, others].map(|all| all.into_iter().map(|(part, _)| part).collect::<Vec<_>>());
    if !failed.is_empty() {
        parts.push(SheetPart::heading(2, "Evidence of what failed"));
        parts.extend(failed);
    }
    let settings = engine.settings.iter().map(|it| row![&it.name, &it.value]).collect();
    let settings =
        SheetTable { title: "Settings in force".to_owned(), ..SheetTable::of(&["setting", "value"], settings) };
    let others = [vec![SheetPart::heading(2, "Evidence")], others, vec![SheetPart::Table(settings)]].concat();
    parts.push(SheetPart::Only(ShownForms::Whole, others));
    parts.push(SheetPart::again(&file.provenance));
    let sheet = Sheet::of_run("ACID tests", "ACID tests", &file.provenance, file.interrupted);
    let window = Some(format!("ACID tests of {}", engine.target));
    let notices = vec![file.notice.clone().unwrap_or_else(|| BROKERAGE_NOTICE.to_owned())];
    Sheet { parts, window, notices, ..sheet }
}

/// Properties with the tests that passed, and the number of their findings.
fn passed_by_property(file: &AcidFile) -> SheetPart {
    let mut table = SheetTable::new("Passed", heads![left "property", left "tests", right "findings", right "took"]);
    let passed = file.tests.iter().filter(|test| test.verdict == AcidVerdict::Passed);
    for tests in passed.collect::<Vec<_>>().chunk_by(|one, next| one.property == next.property) {
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        let findings: usize = tests.iter().flat_map(|test| &test.cases).map(|case| case.findings.len()).sum();
        let took_s: f64 = tests.iter().map(|test| test.took_s).sum();
        table.push(row![tests[0].property.name(), ids.join(" "), findings.to_string(), format!("{took_s:.1} s")]);
    }
    SheetPart::Table(table)
}

/// A row for each test, with its verdict and the reason.
fn verdicts(title: &str, tests: &mut dyn Iterator<Item = &AcidTest>) -> SheetPart {
    let heads = heads![
        left "test", left "verdict", left "property" .rank(1), left "what is tried", left "why", right "took" .rank(2),
    ];
    let mut table = SheetTable::new(title, heads);
    for test in tests {
        table.push(row![
            TableCell::text(&test.id).link(format!("#{}", test.id)),
            TableCell::text(test.verdict.name()).tone(tone(test.verdict)),
            test.property.name(),
            &test.title,
            &test.reason,
            format!("{:.1} s", test.took_s)
        ]);
    }
    SheetPart::Table(table)
}

/// A case with its steps and findings, folded.
pub(super) fn case(case: &AcidCase, is_open: bool) -> SheetPart {
    let heads = ["session", "did", "outcome", "read", "statement"];
    let mut steps = SheetTable::new("", heads.map(|head| ColumnHead::left(head).folds()).to_vec());
    for step in &case.steps {
        let (read, statement) = (step.read.join(", "), step.statement.as_deref().unwrap_or_default());
        let texts = [step.session.as_str(), &step.did, &step.outcome, &read, statement];
        steps.push(texts.map(TableCell::text).to_vec());
    }
    let mut findings = SheetTable::of(&["looked at", "wanted", "found"], Vec::new());
    for it in &case.findings {
        let found = TableCell::text(&it.found).tone(Tone::of(it.holds));
        findings.push(row![&it.what, &it.wanted, found]);
    }
    let parts = [steps, findings].into_iter().filter(|table| !table.rows.is_empty()).map(SheetPart::Table).collect();
    let second_session =
        if case.second_session.is_empty() { String::new() } else { format!(": {}", case.second_session) };
    SheetPart::Fold(SheetFold {
        summary: format!("{}{second_session}", case.label),
        is_open,
        parts,
        ..SheetFold::default()
    })
}
