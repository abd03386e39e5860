//! Reactions of engines to faults, as a document and as a report.

use bourse_record::crash::CrashFile;
use bourse_record::faults::{DataState, FaultCase, FaultRow, FaultVerdict, FaultsFile, Reaction};
use bourse_record::{Build, Document as _, DocumentKind, Durability, Machine, Provenance, SCHEMA_VERSION};
use bourse_report::{CsvText, faults};

fn file() -> FaultsFile {
    let case = |nth, reaction, signal, left, lost, verdict| FaultCase {
        nth,
        fired: 1,
        first_hit: "fsync of x<y>".into(),
        acknowledged: 120,
        committed_despite_error: 0,
        errors: vec!["transaction 7: disk I/O error".into()],
        reaction,
        signal,
        left,
        lost,
        evidence: if left == DataState::Whole { String::new() } else { "the state after transaction 6".into() },
        verdict,
    };
    let row = |name: &str, not_tried: &str, cases: Vec<FaultCase>| {
        let titles = [
            ("sync-error", "sync fails once (EIO)"),
            ("sync-error-power", "sync fails once, power lost later"),
            ("lying-disk", "syncs do nothing, power lost later"),
            ("map-error", "mapped pages unreadable"),
        ];
        let (_, title) = titles.iter().find(|(known, _)| *known == name).expect("there is one");
        FaultRow {
            target: "sqlite:?journal=wal&sync=full".into(),
            class: Some(Durability::Durable),
            class_reason: "sync=full".into(),
            fault: name.into(),
            title: (*title).into(),
            calls: "124 syncs".into(),
            not_tried: not_tried.into(),
            cases,
        }
    };
    FaultsFile {
        schema_version: SCHEMA_VERSION,
        document: DocumentKind::Faults,
        transactions: 120,
        provenance: Provenance {
            started_at: "2026-01-05T10:00:00+00:00".into(),
            command: vec!["bourse".into(), "faults".into()],
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
        rows: vec![
            row(
                "sync-error",
                "",
                vec![
                    case(1, Reaction::Reported, None, DataState::Whole, 0, FaultVerdict::Ok),
                    case(2, Reaction::Reported, None, DataState::Whole, 0, FaultVerdict::Ok),
                    case(3, Reaction::Died, Some(7), DataState::Whole, 0, FaultVerdict::Ok),
                ],
            ),
            row(
                "sync-error-power",
                "",
                vec![
                    case(1, Reaction::Reported, None, DataState::Lost, 114, FaultVerdict::Broken),
                    case(2, Reaction::WentOn, None, DataState::Lost, 14, FaultVerdict::Broken),
                    case(3, Reaction::WentOn, None, DataState::Whole, 0, FaultVerdict::Ok),
                ],
            ),
            row("lying-disk", "", vec![case(1, Reaction::WentOn, None, DataState::Lost, 9, FaultVerdict::Expected)]),
            row("map-error", "it maps no file of its data", Vec::new()),
        ],
        interrupted: false,
    }
}

#[test]
fn the_table_says_what_each_setting_does_about_each_fault() {
    let shown = faults(&file()).terminal(200, false, false);
    let line = |title: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(title)).expect("a line");
        line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        line("sync fails once (EIO)"),
        "sync fails once (EIO)|124 syncs|2× error, 1× died of SIGBUS|3× nothing lost|ok"
    );
    assert_eq!(
        line("sync fails once, power"),
        "sync fails once, power lost later|124 syncs|1× error, 2× continued|1× nothing lost, 2× 14 to 114 lost|BROKEN"
    );
    assert!(line("syncs do nothing").ends_with("1× 9 lost|expected"), "{shown}");
    assert!(shown.contains("not tried: mapped pages unreadable: it maps no file of its data"), "{shown}");
    assert!(
        shown.contains("call 1 (fsync of x<y>): error, transaction 7: disk I/O error; 120 acknowledged"),
        "{shown}"
    );
    assert_eq!(file().violated(), 1);
    let markdown = faults(&file()).markdown();
    assert!(markdown.contains("| sync fails once (EIO) | 124 syncs | 2× error, 1× died of SIGBUS |"), "{markdown}");
    assert!(markdown.contains("x&lt;y&gt;") && !markdown.contains("x<y>"), "{markdown}");

    let page = faults(&file()).html();
    roxmltree::Document::parse(&page.replacen("<!DOCTYPE html>", "", 1)).expect("well-formed");
    assert!(page.contains("1 guarantee violated") && page.contains("x&lt;y&gt;"));
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http://") && !page.contains("https://"), "it opens offline");
}

/// The rows of several targets filled several screens.
#[test]
fn every_target_has_rows_on_one_screen_and_the_broken_ones_first() {
    let mut file = file();
    file.rows.reverse();
    let other = file.rows.iter().cloned().map(|row| FaultRow { target: "lmdb:".into(), ..row }).collect::<Vec<_>>();
    file.rows.extend(other);
    let shown = faults(&file).screen(80, false, None);
    assert!(shown.lines().count() <= 23 && shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("BROKEN") && shown.contains("further rows: -v\n"), "{shown}");
}

#[test]
fn the_table_fits_its_schema_and_is_read_back() {
    let document = serde_json::to_value(file()).expect("can be written");
    let schema = jsonschema::validator_for(&FaultsFile::schema()).expect("a valid schema");
    let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("faults.json");
    std::fs::write(&path, document.to_string()).expect("written");
    assert_eq!(FaultsFile::read(&path).expect("can be read"), file());
    assert!(CrashFile::read(&path).is_err(), "it is no table of crashes");
}

#[test]
fn every_case_has_a_line_of_csv() {
    let csv = faults(&file()).csv(CsvText::Guarded);
    let heading = "sqlite:?journal=wal&sync=full (durable)\r\n";
    let tables: Vec<_> = csv.split(heading).skip(1).collect();
    let lines = |at: usize| tables[at].lines().filter(|line| !line.is_empty()).collect::<Vec<_>>();
    assert_eq!((lines(0).len(), lines(1).len()), (1 + 4, 1 + 7), "rows of faults, and every case: {csv}");
    assert!(lines(1)[1].starts_with("sync-error,1: fsync of x<y>,") && lines(1)[1].ends_with(",ok"), "{csv}");
    assert!(lines(0)[4].ends_with(",not tried"), "{csv}");
}
