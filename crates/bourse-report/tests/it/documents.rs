//! Published forms of documents: JSON, page, terminal.

use bourse_record::acid::{AcidCase, AcidFile, AcidFinding, AcidStep, AcidTest, AcidVerdict, Property};
use bourse_record::crash::{
    CrashFile, CrashOutcome, CrashRow, Guarantee, SampledState, SampledStates, StatesRow, StatesSection,
};
use bourse_record::{
    Build, Document as _, DocumentKind, Durability, Engine, FoundAnomaly, HistoryFigures, IsolationLevel, Machine,
    NameValue, OperationIsolation, Provenance, SCHEMA_VERSION, Warning,
};
use bourse_report::{CsvText, acid, crash, html, markdown, screen, terminal};

fn file() -> AcidFile {
    let finding =
        |holds| AcidFinding { what: "CA_BAL <seen>".into(), wanted: "1.00".into(), found: "2.00".into(), holds };
    let step = AcidStep {
        session: "S1".into(),
        did: "Trade-Result of 7".into(),
        outcome: "halted before the commit".into(),
        read: vec!["hs_qty = 0".into()],
        statement: Some("COMMIT".into()),
    };
    let case = |holds| AcidCase {
        label: "account 43".into(),
        second_session: "the second waits".into(),
        steps: vec![step.clone()],
        findings: vec![finding(holds)],
    };
    let test = |id: &str, property, verdict, reason: &str, cases| AcidTest {
        id: id.into(),
        property,
        title: "what is tried".into(),
        source: "Clause 7.4.2".into(),
        demanded: "that it holds".into(),
        verdict,
        reason: reason.into(),
        cases,
        took_s: 0.25,
    };
    AcidFile {
        schema_version: SCHEMA_VERSION,
        document: DocumentKind::Acid,
        provenance: Provenance {
            started_at: "2026-01-05T10:00:00+00:00".into(),
            command: vec!["bourse".into(), "tpce".into(), "acid".into()],
            seed: 1,
            build: Build { version: "0.1.0".into(), commit: None, profile: "debug".into(), target: "x".into() },
            machine: Machine {
                system: "Linux".into(),
                processor: "a processor".into(),
                cores: 2,
                memory_bytes: 1,
                load_average: None,
                harness_ns: None,
                details: Vec::new(),
            },
            revision: None,
        },
        engine: Engine {
            name: "sqlite".into(),
            version: "3".into(),
            target: "sqlite:x.db".into(),
            durability: Durability::Durable,
            may_lose: None,
            durability_reason: "journal=wal, sync=full: the log is made durable at each commit".into(),
            writer_wait: None,
            memory_store: None,
            settings: vec![NameValue { name: "journal_mode".into(), value: "wal".into() }],
            compile_options: Vec::new(),
        },
        database: "1,000 customers, 1 day".into(),
        isolation: vec![OperationIsolation {
            operation: "Trade-Result".into(),
            demanded: IsolationLevel::Serializable,
            provided: IsolationLevel::RepeatableRead,
        }],
        tests: vec![
            test("A1", Property::Atomicity, AcidVerdict::Passed, "2 findings, all as demanded", vec![case(true)]),
            test(
                "I4",
                Property::Isolation,
                AcidVerdict::Failed,
                "CA_BAL: 1.00 wanted, 2.00 found",
                vec![case(true), case(false)],
            ),
            test("D1", Property::Durability, AcidVerdict::NotApplicable, "class volatile promises nothing", Vec::new()),
        ],
        warnings: vec![Warning::of_engine("a warning")],
        interrupted: false,
        notice: None,
    }
}

#[test]
fn the_document_fits_its_schema_and_is_read_back() {
    let file = file();
    let document = serde_json::to_value(&file).expect("can be written");
    let schema = jsonschema::validator_for(&AcidFile::schema()).expect("a valid schema");
    let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(serde_json::from_value::<AcidFile>(document.clone()).expect("can be read"), file);
    let mut wrong = document;
    wrong["tests"][0]["verdict"] = "perhaps".into();
    assert!(!schema.is_valid(&wrong), "there are three verdicts");
}

fn crashes() -> CrashFile {
    let AcidFile { provenance: Provenance { build, machine, .. }, tests, .. } = file();
    let outcome = |lost, corrupted, promised, holds| CrashOutcome {
        crashes: 2,
        acknowledged: 130,
        lost,
        corrupted,
        recovery_s: 0.004,
        promised,
        holds,
        cases: tests[1].cases.clone(),
    };
    let row = |target: &str, class, killed, power| CrashRow {
        target: target.into(),
        class,
        class_reason: "sync=full".into(),
        killed,
        power,
        sampled: None,
        not_tried: "nothing is promised".into(),
    };
    let none = outcome(0, 0, Guarantee::Everything, true);
    let state = |number: u64, broken: bool| SampledState {
        number,
        state: "12:one-3".into(),
        acknowledged: 60,
        lost: u64::from(broken),
        corrupted: false,
        broken,
        wrong: match broken {
            true => vec![AcidFinding {
                what: "acknowledged Trade-Results lost".into(),
                wanted: "none".into(),
                found: "1: 7".into(),
                holds: false,
            }],
            false => Vec::new(),
        },
    };
    let sampled = SampledStates {
        trace: "bourse-runs/1-crash/trace-1.bin".into(),
        base_bytes: 4_096,
        base_sha256: "ab".repeat(32),
        ended: "100 trades were acknowledged".into(),
        acknowledged: 100,
        operations: 5_000,
        syncs: 150,
        points: 140,
        promised: Guarantee::Everything,
        states: vec![state(1, false), state(2, true)],
    };
    let mut first =
        row("sqlite:x.db", Durability::Durable, Some(none.clone()), Some(outcome(1, 0, Guarantee::Everything, false)));
    first.sampled = Some(sampled);
    CrashFile {
        schema_version: SCHEMA_VERSION,
        document: DocumentKind::Crash,
        provenance: Provenance {
            started_at: "2026-01-05T10:00:00+00:00".into(),
            command: vec!["bourse".into(), "crash".into()],
            seed: 1,
            build,
            machine,
            revision: None,
        },
        database: "1,000 customers, 1 day".into(),
        rows: vec![
            first,
            row(
                "sqlite:x.db?sync=normal",
                Durability::Consistent,
                Some(none),
                Some(outcome(44, 0, Guarantee::Whole, true)),
            ),
            row("sqlite::memory:", Durability::Volatile, None, None),
        ],
        states: None,
        interrupted: false,
    }
}

#[test]
fn the_table_of_crashes_says_what_was_lost_and_which_promise_is_broken() {
    let shown = crash(&crashes()).terminal(200, false, false);
    let line = |target: &str| shown.lines().find(|line| line.starts_with(target)).expect("a line").to_owned();
    let words = |target: &str| {
        line(target).split("  ").map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        words("sqlite:x.db "),
        "sqlite:x.db|durable|VIOLATED|0 of 130 lost|whole, 1 of 130 lost|2 states: whole, 1 with losses|4 ms"
    );
    assert!(shown.contains("bourse crash --replay bourse-runs/1-crash/trace-1.bin#2"), "{shown}");
    assert!(!shown.contains("trace-1.bin#1"), "{shown}");
    assert_eq!(
        words("sqlite:x.db?sync=normal"),
        "sqlite:x.db?sync=normal|consistent|met|0 of 130 lost|whole, 44 of 130 lost|not tried|4 ms"
    );
    assert_eq!(words("sqlite::memory:").split('|').nth(2), Some("nothing is promised"));
    assert!(shown.contains("sqlite:x.db guarantees everything:"), "{shown}");
    assert_eq!(crashes().violated(), 1);

    let page = crash(&crashes()).html();
    roxmltree::Document::parse(&page.replacen("<!DOCTYPE html>", "", 1)).expect("well-formed");
    assert!(page.contains("trace-1.bin: 5000 file operations"), "{page}");
    let markdown = crash(&crashes()).markdown();
    assert!(markdown.contains("| 1 | 12:one-3 | whole, 0 of 60 acknowledged Trade-Results lost | met |"), "{markdown}");
    assert!(page.contains("1 guarantee violated") && page.contains("CA_BAL &lt;seen&gt;"));

    let document = serde_json::to_value(crashes()).expect("can be written");
    let schema = jsonschema::validator_for(&CrashFile::schema()).expect("a valid schema");
    assert!(schema.is_valid(&document));
    assert_eq!(serde_json::from_value::<CrashFile>(document).expect("can be read"), crashes());
}

fn states_row(class: Durability, promised: Guarantee, device: &str, [lossy, corrupted]: [u64; 2]) -> StatesRow {
    StatesRow {
        case: "wal-full".into(),
        device: device.into(),
        class,
        class_reason: "sync=full".into(),
        promised,
        commits: 400,
        operations: 5_000,
        syncs: 400,
        points: 50,
        exhaustive_points: 10,
        states: 105,
        distinct: 90,
        took_s: 1.0,
        lossy,
        most_lost: 9,
        corrupted,
        broken: 0,
        recovery: None,
        examples: Vec::new(),
    }
}

/// The tables of a crash test filled several screens, and its verdict was scrolled away.
#[test]
fn a_document_fits_a_screen_with_the_prompt_and_what_it_found_wrong() {
    let mut rows = vec![states_row(Durability::Durable, Guarantee::Everything, "any order", [0, 0]); 40];
    rows[33].broken = 2;
    rows[33].case = "wal-broken".into();
    let section = StatesSection { seed: 1, bound: "all".into(), states: 4_200, took_s: 1.0, rows, faults: Vec::new() };
    let document = crash(&CrashFile { states: Some(section), ..crashes() });
    for width in [80, 120] {
        let plain = document.screen(width, false, Some("bourse-runs/1-crash/crash.html"));
        assert!(plain.lines().count() <= 23 && plain.lines().all(|line| line.chars().count() <= width), "{plain}");
        assert!(plain.contains("wal-broken") && plain.contains("\nagain: bourse crash\n"), "{plain}");
        assert!(plain.contains(" further rows: -v\n"), "{plain}");
        assert!(plain.ends_with("\nreport: bourse-runs/1-crash/crash.html\n"), "{plain}");
        // Colours take no room.
        let painted = document.screen(width, true, Some("bourse-runs/1-crash/crash.html"));
        assert_eq!(painted.lines().count(), plain.lines().count(), "{painted}");
    }
    assert!(!document.terminal(80, false, true).contains("further rows"));
}

/// The headline was *no guarantee violated* above a table of lost commits.
#[test]
fn losses_on_a_cache_that_lies_are_in_the_headline() {
    let drawn = |rows: Vec<StatesRow>| {
        let (seed, bound, states) = (1, "all".into(), rows.iter().map(|row| row.states).sum());
        let section = StatesSection { seed, bound, states, took_s: 1.0, rows, faults: Vec::new() };
        let document = crash(&CrashFile { rows: Vec::new(), states: Some(section), ..crashes() });
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (one_line(document.terminal(80, false, false)), document.html())
    };
    let lying = || states_row(Durability::Durable, Guarantee::Nothing, "a cache that lies", [76, 0]);
    let sound = || states_row(Durability::Durable, Guarantee::Everything, "any order", [0, 0]);
    let why = "as expected: no engine can keep its guarantee on this device (a cache that lies)";
    let (text, page) = drawn(vec![lying(), lying()]);
    assert!(text.contains(&format!(" acknowledged commits lost in 152 of 210 states, {why}")), "{text}");
    assert!(page.contains("acknowledged commits lost in 152 of 210 states,") && page.contains(why), "{page}");
    assert!(!text.contains("no guarantee violated"), "{text}");
    let (text, _) =
        drawn(vec![sound(), states_row(Durability::Durable, Guarantee::Nothing, "a cache that lies", [76, 2])]);
    let both = "no guarantee violated; acknowledged commits lost in 76, databases corrupted in 2 of 105 states, as";
    assert!(text.contains(both), "{text}");
    // Settings that never gave a guarantee: their losses are the answer where all are such.
    let loose = || states_row(Durability::Process, Guarantee::Nothing, "any order", [72, 15]);
    let (text, _) = drawn(vec![loose()]);
    let lost =
        "acknowledged commits lost in 72, databases corrupted in 15 of 105 states, as allowed: no guarantee is given";
    assert!(text.contains(lost) && !text.contains("no guarantee violated"), "{text}");
    let (text, _) = drawn(vec![sound(), states_row(Durability::Process, Guarantee::Nothing, "any order", [50, 0])]);
    assert!(text.contains("no guarantee violated Simulated"), "{text}");
}

#[test]
fn the_page_is_well_formed_and_escapes_what_it_is_given() {
    let page = acid(&file()).html();
    // XML wants a doctype that roxmltree does not read.
    let body = page.replacen("<!DOCTYPE html>", "", 1);
    roxmltree::Document::parse(&body).expect("well-formed");
    assert!(page.contains("CA_BAL &lt;seen&gt;"), "what is not ours is escaped");
    assert!(page.contains("1 failed"), "the answer comes first");
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http://") && !page.contains("https://"), "it opens offline");
}

#[test]
fn the_terminal_shows_why_something_failed_and_everything_when_asked() {
    let short = acid(&file()).terminal(100, false, false);
    assert!(short.contains("I4    FAILED") && !short.contains("A1    passed"), "{short}");
    assert!(short.lines().any(|line| line.starts_with("atomicity  A1")), "tests that passed, by property: {short}");
    assert!(short.contains("CA_BAL <seen>  1.00    2.00"), "{short}");
    assert_eq!(short.matches("account 43").count(), 1, "only the case that failed: {short}");
    assert!(short.contains("1 passed, 1 failed, 1 not applicable"), "{short}");
    assert!(short.contains("not comparable with published TPC Benchmark E"), "{short}");
    let all = acid(&file()).terminal(120, false, true);
    assert!(all.contains("A1    passed") && !all.contains("Tests that did not pass"), "{all}");
    assert_eq!(all.matches("account 43").count(), 3, "{all}");
    assert!(all.contains("S1       Trade-Result of 7  halted before the commit  hs_qty = 0  COMMIT"), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= 120), "{all}");
}

#[test]
fn a_level_that_is_not_given_is_told_in_every_form() {
    let lower = "isolation lower than demanded: Trade-Result repeatable read instead of serializable";
    let given = "isolation: the engine gives each transaction the level that it demands";
    let mut file = file();
    let forms = |file: &AcidFile| [acid(file).terminal(100, false, false), acid(file).html(), acid(file).markdown()];
    assert!(forms(&file).iter().all(|shown| shown.contains(lower)), "{:?}", forms(&file));
    file.isolation[0].provided = IsolationLevel::Serializable;
    assert!(forms(&file).iter().all(|shown| shown.contains(given)), "{:?}", forms(&file));
    // A document of an earlier version has no levels.
    file.isolation.clear();
    assert!(forms(&file).iter().all(|shown| !shown.contains("isolation: ") && !shown.contains("isolation lower")));
}

#[test]
fn markdown_tells_verdicts_steps_and_settings_and_nothing_in_it_acts() {
    let all = acid(&file()).markdown();
    for line in [
        "# Bourse: ACID tests, 2026-01-05T10:00:00+00:00",
        "**1 failed** · 1 passed, 1 failed, 1 not applicable",
        "| I4 | **FAILED** | isolation | what is tried | CA\\_BAL: 1.00 wanted, 2.00 found | 0.2 s |",
        "| S1 | Trade-Result of 7 | halted before the commit | hs\\_qty = 0 | COMMIT |",
        "| CA\\_BAL &lt;seen&gt; | 1.00 | **2.00** |",
        "| journal\\_mode | wal |",
        "` bourse tpce acid `",
    ] {
        assert!(all.lines().any(|found| found == line), "{line}\n{all}");
    }
    // A table without an empty line before it is none.
    let lines: Vec<_> = all.lines().collect();
    assert!(
        lines.windows(2).all(|two| !two[1].starts_with('|') || two[0].is_empty() || two[0].starts_with('|')),
        "{all}"
    );
    let crashed = crash(&crashes()).markdown();
    assert!(
        crashed.contains("| sqlite:x.db | durable | **VIOLATED** | 0 of 130 lost | whole, 1 of 130 lost | 2 states: whole, 1 with losses | 4 ms |"),
        "{crashed}"
    );
}

#[test]
fn documents_are_read_back_and_what_is_none_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("acid.json");
    let write = |value: &serde_json::Value| std::fs::write(&path, value.to_string()).expect("written");
    let mut value = serde_json::to_value(file()).expect("can be written");
    write(&value);
    assert_eq!(AcidFile::read(&path).expect("can be read"), file());
    let why = CrashFile::read(&path).unwrap_err().to_string();
    assert!(why.contains("acid.json is not a report of crash tests: it is a report of ACID tests"), "{why}");
    value["schema_version"] = 7.into();
    write(&value);
    assert!(
        AcidFile::read(&path)
            .unwrap_err()
            .to_string()
            .contains("has version 7 of its format, this program reads version 1")
    );
    std::fs::write(&path, "{").expect("written");
    assert!(AcidFile::read(&path).unwrap_err().to_string().contains("EOF"));
    assert!(AcidFile::read(folder.path()).unwrap_err().to_string().starts_with("cannot read "));
}

#[test]
fn tests_and_crashes_are_tables_of_csv_too() {
    let tests = acid(&file()).csv(CsvText::Guarded);
    assert!(
        tests.starts_with("Verdicts\r\ntest,verdict,property,") && tests.contains("\r\nI4,FAILED,isolation,"),
        "{tests}"
    );
    assert!(tests.contains("\r\nS1,Trade-Result of 7,") && tests.contains("\r\njournal_mode,wal\r\n"), "{tests}");
    let crashes = crash(&crashes()).csv(CsvText::Guarded);
    assert!(crashes.starts_with("Crashes\r\ntarget,class,guarantee,process killed,"), "{crashes}");
    assert!(crashes.contains("sqlite:x.db,durable,VIOLATED,0 of 130 lost,\"whole, 1 of 130 lost\","), "{crashes}");
    assert!(crashes.contains("\r\nnumber,state,found,guarantee\r\n1,12:one-3,"), "{crashes}");
}

#[test]
fn a_broken_promise_is_told_with_its_story_in_every_form() {
    let mut file = crate::fixture::normal();
    let story = vec!["write skew (G2-item): neither can come first".to_owned(), "  T1 begins".to_owned()];
    let skew = FoundAnomaly {
        name: "write skew (G2-item)".to_owned(),
        count: 3,
        refutes: vec!["serializable".to_owned()],
        is_excluded: true,
        story,
    };
    let history = HistoryFigures {
        level: "serializable".to_owned(),
        promised: "serializable".to_owned(),
        is_broken: true,
        not_refuted: "snapshot isolation".to_owned(),
        committed: 1_500,
        rolled_back: 70,
        conflicts: 9,
        unknown: 0,
        unknown_seen: 0,
        overlapping: 800,
        anomalies: vec![skew],
    };
    file.cases[0].rounds[0].history = Some(history.clone());
    for shown in [terminal(&file, 120, false), html(&file), markdown(&file), screen(&file, 120, false, None)] {
        for words in ["BROKEN", "2,000", "3 × write skew (G2-item), which the promise excludes", "T1 begins"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }
    // Allowed where less is promised, and no evidence where nothing overlapped.
    let anomalies = vec![FoundAnomaly { is_excluded: false, ..history.anomalies[0].clone() }];
    let allowed = HistoryFigures { promised: "snapshot".to_owned(), is_broken: false, anomalies, ..history.clone() };
    file.cases[0].rounds[0].history = Some(allowed);
    let shown = terminal(&file, 120, false);
    assert!(shown.contains("  kept  ") && shown.contains("found and allowed: 3 × write skew"), "{shown}");
    let alone = HistoryFigures { is_broken: false, overlapping: 0, anomalies: Vec::new(), ..history };
    file.cases[0].rounds[0].history = Some(alone);
    assert!(terminal(&file, 200, false).contains("not tested"));
}
