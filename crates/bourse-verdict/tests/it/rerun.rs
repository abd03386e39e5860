use bourse_record::{
    Build, Check, CheckStatus, Document as _, Durability, Engine, LatencySummary, Machine, Provenance, Round,
};
use bourse_verdict::suite::document::{EngineUsed, Incomplete, RerunFacts, SuiteCaseOutcome};
use bourse_verdict::suite::{CellPlan, CellState, FindingVerdict, Measure, Suite, SuiteFile};
use std::collections::BTreeMap;

const DATA: &str = r#"
name = "made-up"
title = "made up"
published_on = []
rounds = 6
cap_s = 10.0
targets.a = { url = "sqlite:{data}/a.db", title = "A" }
targets.b = { url = "sqlite:{data}/b.db", title = "B" }

[[tables]]
id = "1"
title = "1. Reads"
rows_are = "threads"
counted = "reads"
measures = ["rate", "time_ms"]
case = { workload = "point-read", scaled = { rows = 1000 }, scaled_count = 1000, work = 1000 }
columns = [
  { id = "a", title = "A", case = { target = "a" } },
  { id = "b", title = "B", case = { target = "b" } },
  { id = "both", title = "together", sum_of = ["a", "b"] },
]
[[tables.rows]]
id = "1"
title = "1"
published.a = { mean_ms = 500.0 }
published.b = { mean_ms = 1000.0, rate = 10000.0 }

[[findings]]
claim = "A is twice as fast"
rests_on = "500 against 1000 ms"
tests = [{ claim = "A over B", cell = "1/1/a", by = "1/1/b", measure = "rate", at_least = 1.5, at_most = 2.5 }]

[[findings]]
claim = "B is faster"
rests_on = "nothing"
tests = [{ claim = "B over A", cell = "1/1/b", by = "1/1/a", measure = "rate", at_least = 1.0 }]

[[findings]]
claim = "it is warm"
rests_on = "nothing"
untested = "there is no thermometer"
"#;

/// A round with only the fields that a cell is computed from; the others have their defaults.
fn round(done: u64, seconds: f64) -> Round {
    let nothing = serde_json::json!({
        "summary": LatencySummary::default(), "hdr_base64": "", "clamped": 0
    });
    serde_json::from_value(serde_json::json!({
        "offset_s": 0.0, "phases": [], "measured_s": seconds, "headline": done as f64 / seconds,
        "operations": [{
            "name": "read",
            "outcomes": [{ "outcome": "completed", "code": 0, "count": done, "example": null }],
            "retries": 0, "late": 0, "mix_target_percent": null, "mix_tolerance_points": null, "limit_ns": null,
            "response": nothing, "service": nothing,
        }],
        "series": { "time_s": [], "columns": [] },
        "cpu_user_s": 0.5 * seconds, "cpu_system_s": 0.0, "read_bytes": 0, "written_bytes": 0,
        "facts": [], "checks": [], "warnings": [],
    }))
    .expect("it is a round")
}

fn rounds(all: &[(u64, f64)]) -> SuiteCaseOutcome {
    SuiteCaseOutcome { rounds: all.iter().map(|(done, seconds)| round(*done, *seconds)).collect(), trouble: None }
}

fn file(scale: f64, outcomes: &[SuiteCaseOutcome]) -> SuiteFile {
    of(DATA, scale, outcomes)
}

fn of(data: &str, scale: f64, outcomes: &[SuiteCaseOutcome]) -> SuiteFile {
    let suite = Suite::parse(data).expect("the data is whole");
    let plan = CellPlan::new(&suite, scale, None, &[]).expect("the scale is one");
    assert_eq!(plan.cases.len(), 2);
    let engine = |durability: Durability| Engine {
        name: "sqlite".to_owned(),
        version: "3".to_owned(),
        target: "sqlite:a.db".to_owned(),
        durability,
        may_lose: None,
        durability_reason: String::new(),
        writer_wait: None,
        memory_store: None,
        settings: Vec::new(),
        compile_options: Vec::new(),
    };
    let used =
        |title: &str| EngineUsed { title: title.to_owned(), engine: Some(engine(Durability::Durable)), not_run: None };
    let facts = RerunFacts {
        provenance: Provenance {
            started_at: "2026-11-21T09:00:00+00:00".to_owned(),
            command: vec!["bourse".to_owned()],
            seed: 1,
            build: Build::of("0.1.0"),
            machine: Machine::this(),
            revision: None,
        },
        rounds: 6,
        engines: BTreeMap::from([("a".to_owned(), used("A")), ("b".to_owned(), used("B"))]),
        warnings: Vec::new(),
        interrupted: false,
    };
    SuiteFile::of(&plan, outcomes, facts)
}

fn figure(file: &SuiteFile, column: &str, measure: Measure) -> bourse_verdict::suite::CellFigure {
    let cell = file.tables[0].cells.iter().find(|cell| cell.column == column).expect("there is such a column");
    cell.figures.iter().find(|figure| figure.measure == measure).expect("there is such a figure").clone()
}

/// A table of two durations with their mean.
const MEANS: &str = r#"
name = "made-up"
title = "made up"
published_on = []
rounds = 6
cap_s = 10.0
targets.a = { url = "sqlite:{data}/a.db", title = "A" }

[[tables]]
id = "1"
title = "1. Reads"
rows_are = "duration"
counted = "reads"
measures = ["rate"]
case = { workload = "point-read", scaled = { rows = 1000 }, target = "a" }
columns = [{ id = "a", title = "A" }]
[[tables.rows]]
id = "1"
title = "1 s"
case = { seconds = 1.0 }
[[tables.rows]]
id = "9"
title = "9 s"
case = { seconds = 9.0 }
[tables.mean]
title = "mean"
published.a = { rate = 2.0 }

[[findings]]
claim = "A is fast"
rests_on = "the mean"
tests = [{ claim = "over the durations: A", cell = "1/mean/a", measure = "rate", at_least = 1.0 }]
"#;

/// A run that ended early had findings on the mean of the durations that it had.
#[test]
fn a_mean_of_some_rows_is_no_finding() {
    let six = || rounds(&[(1000, 0.1); 6]);
    let test = |outcomes: &[SuiteCaseOutcome]| of(MEANS, 1.0, outcomes).findings[0].tests[0].clone();
    assert!(test(&[six(), six()]).value.is_some());
    let early = test(&[six(), rounds(&[])]);
    assert_eq!((early.value, early.verdict), (None, FindingVerdict::NotShown));
    assert_eq!(early.why.as_deref(), Some("1/mean/a: 1 of 2 rows have a figure"));
}

#[test]
fn cells_stand_beside_what_was_published() {
    let file = file(
        1.0,
        &[rounds(&[0.1, 0.11, 0.09, 0.1, 0.11, 0.09].map(|seconds| (1000, seconds))), rounds(&[(1000, 0.2); 6])],
    );
    let rate = figure(&file, "a", Measure::Rate);
    // The middle of all means of two rounds; six rounds have their ends for an interval.
    assert!(rate.measured.is_some_and(|measured| (measured - 10_101.0).abs() < 0.1), "{rate:?}");
    assert_eq!((rate.published, rate.level), (Some(2_000.0), Some(0.96875)));
    assert!(rate.low.is_some_and(|low| low < 10_000.0) && rate.ratio.is_some_and(|ratio| ratio > 5.0), "{rate:?}");
    // The rate that was printed is shown, though the printed time says another.
    assert_eq!(figure(&file, "b", Measure::Rate).published, Some(10_000.0));
    let sum = figure(&file, "both", Measure::TimeMs);
    assert!((sum.measured.expect("both were measured") - 300.0).abs() < 1e-6, "{sum:?}");
    let verdicts: Vec<FindingVerdict> = file.findings.iter().map(|finding| finding.verdict).collect();
    assert_eq!(verdicts, [FindingVerdict::Holds, FindingVerdict::DoesNotHold, FindingVerdict::NotShown]);
    assert_eq!(file.findings[0].level, Some(0.96875), "every verdict says how sure it is");
    assert_eq!(file.findings[2].level, None);
}

/// Regression: with fewer cores than threads, "gains nothing from more threads" held trivially.
#[test]
fn a_finding_that_cannot_be_tested_here_has_no_verdict() {
    let measured = || [rounds(&[(1000, 0.1); 6]), rounds(&[(1000, 0.2); 6])];
    let with = |more: &str| {
        let data = DATA.replacen("rests_on = \"500 against 1000 ms\"", &format!("rests_on = \"x\"\n{more}"), 1);
        of(&data, 0.5, &measured()).findings.remove(0)
    };
    let met = with("needs_cores = 1\nneeds_scale = 0.5\ndeparture = \"another order\"");
    assert_eq!((met.verdict, met.departure.as_deref()), (FindingVerdict::Holds, Some("another order")));
    for (needs, words) in
        [("needs_cores = 4096", "it takes 4096 cores"), ("needs_scale = 0.6", "a scale of 0.6 or more")]
    {
        let finding = with(needs);
        assert_eq!((finding.verdict, finding.level), (FindingVerdict::NotTestable, None), "{needs}");
        assert!(finding.untested.as_deref().is_some_and(|why| why.contains(words)), "{finding:?}");
        assert_eq!(finding.tests[0].value.map(f64::round), Some(2.0), "what was measured is shown");
    }
}

/// Regression: "a hundred times as fast in one transaction" is a finding about disks that take long to sync; a fast
/// disk gave "does not hold".
#[test]
fn a_finding_is_judged_where_its_condition_holds() {
    let with = |at_most: f64| {
        let given = format!(
            "rests_on = \"x\"\ngiven = [{{ claim = \"B is slow\", cell = \"1/1/b\", measure = \"rate\", at_most = {at_most:?} }}]"
        );
        let data = DATA.replacen("rests_on = \"500 against 1000 ms\"", &given, 1);
        of(&data, 1.0, &[rounds(&[(1000, 0.1); 6]), rounds(&[(1000, 0.2); 6])]).findings.remove(0)
    };
    assert_eq!(with(6_000.0).verdict, FindingVerdict::Holds);
    let unmet = with(4_000.0);
    assert_eq!(unmet.verdict, FindingVerdict::NotTestable);
    assert_eq!(unmet.untested.as_deref(), Some("it was found where this holds: B is slow; here it is 5000"));
}

#[test]
fn another_amount_of_work_has_no_ratio_of_times() {
    let file = file(0.1, &[rounds(&[(100, 0.01); 6]), rounds(&[(100, 0.02); 6])]);
    let time = figure(&file, "a", Measure::TimeMs);
    assert_eq!((time.ratio, time.no_ratio.as_deref()), (None, Some("another amount of work")));
    assert_eq!(figure(&file, "a", Measure::Rate).ratio, Some(5.0));
    assert_eq!(file.scale, 0.1);
}

#[test]
fn a_capped_round_tells_what_was_done_and_nothing_more() {
    let file = file(1.0, &[rounds(&[(400, 10.0); 6]), rounds(&[(1000, 0.2); 6])]);
    let cell = &file.tables[0].cells[0];
    assert!(cell.rounds.iter().all(|round| round.capped && round.done == 400));
    assert_eq!(figure(&file, "a", Measure::Rate).measured, Some(40.0));
    let time = figure(&file, "a", Measure::TimeMs);
    assert_eq!((time.measured, time.ratio), (None, None), "the time of a capped round is the cap's");
    assert_eq!(figure(&file, "both", Measure::TimeMs).measured, None, "a sum with a part of it missing is none");
}

#[test]
fn what_was_not_run_says_why_and_its_findings_are_not_shown() {
    let why = "its library is not here".to_owned();
    let absent = SuiteCaseOutcome { rounds: Vec::new(), trouble: Some(Incomplete::NotRun(why.clone())) };
    let file = file(1.0, &[absent, rounds(&[(1000, 0.2); 6])]);
    assert_eq!(file.tables[0].cells[0].state, CellState::NotRun(why));
    assert_eq!(file.findings[0].verdict, FindingVerdict::NotShown);
    // Its table has the reason.
    assert!(file.findings[0].tests[0].why.as_ref().is_some_and(|words| words.ends_with("was not run")));
    assert!(file.has_figures());
}

#[test]
fn a_failed_check_voids_its_cell() {
    let mut outcome = rounds(&[(1000, 0.1); 6]);
    outcome.rounds[1].checks.push(Check {
        name: "rows".to_owned(),
        condition: "there are as many rows as were inserted".to_owned(),
        source: "our own".to_owned(),
        status: CheckStatus::Failed,
        evidence: "999".to_owned(),
        took_s: 0.0,
    });
    let file = file(1.0, &[outcome, rounds(&[(1000, 0.2); 6])]);
    assert!(matches!(file.tables[0].cells[0].state, CellState::Void(_)));
    assert_eq!(figure(&file, "a", Measure::Rate).measured, None);
}

#[test]
fn five_rounds_have_no_interval_and_show_nothing() {
    let file = file(1.0, &[rounds(&[(1000, 0.1); 5]), rounds(&[(1000, 0.2); 5])]);
    assert_eq!(file.findings[0].verdict, FindingVerdict::NotShown);
    assert_eq!(file.findings[0].tests[0].value, Some(2.0));
}

#[test]
fn a_document_is_read_as_it_was_written_and_fits_its_schema() {
    let absent = SuiteCaseOutcome { rounds: Vec::new(), trouble: Some(Incomplete::NotRun("no".to_owned())) };
    let file = file(0.5, &[rounds(&[(500, 0.1); 6]), absent]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("suite.json");
    std::fs::write(&path, file.to_json()).expect("it can be written");
    assert_eq!(SuiteFile::read(&path).expect("it is one"), file);
    let schema = jsonschema::validator_for(&SuiteFile::schema()).expect("it is a schema");
    let value: serde_json::Value = serde_json::from_slice(&file.to_json()).expect("it is JSON");
    let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    std::fs::write(&path, "{\"schema_version\": 9}").expect("it can be written");
    let refused = SuiteFile::read(&path).expect_err("it is of another version").to_string();
    assert!(refused.contains("has version 9 of its format, this program reads version 1"), "{refused}");
}

#[test]
fn a_dangling_name_is_an_error() {
    let check = |from: &str, to: &str, words: &str| {
        let error = Suite::parse(&DATA.replace(from, to)).expect_err("it is wrong").to_string();
        assert!(error.contains(words), "{error}");
    };
    check("target = \"b\"", "target = \"c\"", "1/1/b: no target is called \"c\"");
    check("cell = \"1/1/a\"", "cell = \"1/2/a\"", "refers to \"1/2/a\", which is no measured cell");
    check("sum_of = [\"a\", \"b\"]", "sum_of = [\"x\"]", "no column is called \"x\"");
    check("at_least = 1.0 }", "}", "has no range");
    check("rounds = 6", "rounds = 6\nround = 2", "unknown field");
    check("untested = \"there is no thermometer\"", "", "needs tests, or why there are none");
    let like = "[[tables]]\nid = \"2\"\ntitle = \"\"\nrows_are = \"\"\nmeasures = [\"rate\"]\ncounted = \"\"\nlike = \"3\"\n[[findings]]";
    check("[[findings]]", like, "table 2 has no cells of its own, or of the table that it is like");
}
