//! Faults: the work is the same every time, and what is written down of them.

use bourse_acid::faults::document::{Conduct, FaultCase, FaultVerdict, Left};
use bourse_acid::faults::work::{self, Event};
use bourse_acid::faults::{
    FAULTS, FAULTS_SCHEMA_VERSION, FaultRow, FaultsFile, Through, faults_file_schema, faults_html, faults_markdown,
    faults_text,
};
use bourse_acid::read;
use bourse_engine::Engine as _;
use bourse_engine_sqlite::open;
use bourse_record::{Build, DocumentKind, Machine, Provenance};

#[test]
fn the_work_is_told_compared_and_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let engine = || open(&format!("sqlite:{}?journal=delete&sync=off", path.display())).expect("a target");
    work::fill(&engine(), 5).expect("can be filled");
    let found = |progress| Event::Found { progress, differs: None, damage: Vec::new() };
    assert_eq!(work::look(&engine(), 5), found(0));
    let mut events = Vec::new();
    drop(work::work(&engine(), 5, 12, &mut |event| events.push(event)));
    assert_eq!(events, (1..=12).map(Event::Acknowledged).collect::<Vec<_>>());
    assert_eq!(work::look(&engine(), 5), found(12));
    assert!(matches!(work::look(&engine(), 6), Event::Found { differs: Some(_), .. }), "another seed has other rows");

    // A row that is another, one that is missing, and one too many are each found.
    for (change, words) in [
        ("UPDATE fault_rows SET version = 3 WHERE id = 400 + 7", "row 407 has version 3, not 7"),
        ("UPDATE fault_rows SET filler = 'x' WHERE id = 400 + 7", "row 407 has another text"),
        ("DELETE FROM fault_rows WHERE id = 400 + 7", "412 rows, not 413"),
        ("INSERT INTO fault_rows VALUES (9999, 1, 'x')", "row 9999 should not be there"),
    ] {
        std::fs::copy(&path, folder.path().join("kept")).expect("copied");
        engine().connect().expect("opens").execute_text(change, &[]).expect("can be changed");
        let Event::Found { differs: Some(differs), .. } = work::look(&engine(), 5) else { panic!("{change}") };
        assert_eq!(differs, words);
        std::fs::rename(folder.path().join("kept"), &path).expect("put back");
    }
    // Wrong data is told while the work goes on, too.
    engine()
        .connect()
        .expect("opens")
        .execute_text("UPDATE fault_rows SET filler = 'x' WHERE id BETWEEN 1 AND 400", &[])
        .expect("can be changed");
    let mut events = Vec::new();
    drop(work::work(&engine(), 5, 14, &mut |event| events.push(event)));
    assert!(matches!(events[..], [Event::Wrong { transaction: 1, .. }]), "{events:?}");
    std::fs::write(&path, b"no database").expect("written");
    assert!(matches!(work::look(&engine(), 5), Event::Unreadable(_)));
}

fn file() -> FaultsFile {
    let case = |nth, conduct, signal, left, lost, verdict| FaultCase {
        nth,
        fired: 1,
        met: "fsync of x<y>".into(),
        acknowledged: 120,
        stood: 0,
        errors: vec!["transaction 7: disk I/O error".into()],
        conduct,
        signal,
        left,
        lost,
        evidence: if left == Left::Whole { String::new() } else { "the state after transaction 6".into() },
        verdict,
    };
    let row = |name: &str, not_tried: &str, cases: Vec<FaultCase>| {
        let fault = FAULTS.iter().find(|fault| fault.name == name).expect("there is one");
        FaultRow {
            target: "sqlite:?journal=wal&sync=full".into(),
            class: "durable".into(),
            class_reason: "sync=full".into(),
            through: Through::Preload,
            fault: name.into(),
            title: fault.title.into(),
            calls: "124 syncs".into(),
            not_tried: not_tried.into(),
            cases,
        }
    };
    FaultsFile {
        schema_version: FAULTS_SCHEMA_VERSION,
        document: DocumentKind::Faults,
        transactions: 120,
        provenance: Provenance {
            started_at: "2026-01-05T10:00:00+00:00".into(),
            command: vec!["bourse".into(), "faults".into()],
            seed: 1,
            build: Build { version: "0.1.0".into(), profile: "debug".into(), target: "x".into() },
            machine: Machine {
                system: "Linux".into(),
                processor: "a processor".into(),
                cores: 2,
                memory_bytes: 1,
                load_average: None,
                details: Vec::new(),
            },
        },
        rows: vec![
            row(
                "sync-error",
                "",
                vec![
                    case(1, Conduct::Reported, None, Left::Whole, 0, FaultVerdict::Ok),
                    case(2, Conduct::Reported, None, Left::Whole, 0, FaultVerdict::Ok),
                    case(3, Conduct::Died, Some(7), Left::Whole, 0, FaultVerdict::Ok),
                ],
            ),
            row(
                "sync-error-power",
                "",
                vec![
                    case(1, Conduct::Reported, None, Left::Lost, 114, FaultVerdict::Broken),
                    case(2, Conduct::WentOn, None, Left::Lost, 14, FaultVerdict::Broken),
                    case(3, Conduct::WentOn, None, Left::Whole, 0, FaultVerdict::Ok),
                ],
            ),
            row("lying-disk", "", vec![case(1, Conduct::WentOn, None, Left::Lost, 9, FaultVerdict::Expected)]),
            row("map-error", "it maps no file of its data", Vec::new()),
        ],
        interrupted: false,
    }
}

#[test]
fn the_table_says_what_each_setting_does_about_each_fault() {
    let shown = faults_text(&file(), 120, false);
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
        "sync fails once, power lost later|124 syncs|1× error, 2× went on|1× nothing lost, 2× 14 to 114 lost|BROKEN"
    );
    assert!(line("syncs do nothing").ends_with("1× 9 lost|expected"), "{shown}");
    assert!(shown.contains("not tried: mapped pages unreadable: it maps no file of its data"), "{shown}");
    assert!(
        shown.contains("call 1 (fsync of x<y>): error, transaction 7: disk I/O error; 120 acknowledged"),
        "{shown}"
    );
    assert_eq!(file().broken(), 1);
    let markdown = faults_markdown(&file());
    assert!(markdown.contains("| sync fails once (EIO) | 124 syncs | 2× error, 1× died of SIGBUS |"), "{markdown}");
    assert!(markdown.contains("x&lt;y&gt;") && !markdown.contains("x<y>"), "{markdown}");

    let page = faults_html(&file());
    roxmltree::Document::parse(&page.replacen("<!DOCTYPE html>", "", 1)).expect("well-formed");
    assert!(page.contains("1 guarantees broken") && page.contains("x&lt;y&gt;"));
    assert!(!page.contains("http://") && !page.contains("https://"), "it opens offline");
}

#[test]
fn the_document_fits_its_schema_and_is_read_back() {
    let document = serde_json::to_value(file()).expect("can be written");
    let schema = jsonschema::validator_for(&faults_file_schema()).expect("a valid schema");
    let errors: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("faults.json");
    std::fs::write(&path, document.to_string()).expect("written");
    assert_eq!(read::faults(&path).expect("can be read"), file());
    assert!(read::crash(&path).is_err(), "it is no table of crashes");
}
