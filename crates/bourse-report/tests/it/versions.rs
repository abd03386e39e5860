//! Documents of older programs are drawn by this one.

use bourse_record::{RunFile, SCHEMA_VERSION, Warning};
use bourse_report::{CsvText, csv, html, markdown, terminal};
use std::path::Path;

/// A document for each version, as the program of that version wrote it.
const DOCUMENTS: [(&str, &[u8]); 2] = [
    ("version 1, tpce", include_bytes!("documents/run-version-1-tpce.json")),
    ("version 1, micro", include_bytes!("documents/run-version-1-micro.json")),
];

fn read(name: &str) -> RunFile {
    let (_, bytes) = DOCUMENTS.iter().find(|(known, _)| *known == name).expect("there is such a document");
    RunFile::parse(bytes, Path::new(name)).expect("an old document is read")
}

#[test]
fn a_brokerage_run_of_version_1_is_drawn_as_one_of_today() {
    let file = read("version 1, tpce");
    assert_eq!(file.schema_version, SCHEMA_VERSION);
    assert!(file.warnings.iter().all(|warning| matches!(warning, Warning::Told { .. })), "{:?}", file.warnings);
    insta::assert_snapshot!("terminal_version_1_tpce", terminal(&file, 120, false));
    // Demands of the rules are in conditions now.
    let csv = csv(&file, CsvText::Raw);
    let rules = [
        "customers,not met,\"at least 5,000 configured customers\",\"1,000\"",
        "initial days,not met,300 days of initial trades,1",
        "isolation,met,",
        "durability,met,",
        "tunables,met,inputs as the specification has them,the specification's",
    ];
    for rule in rules {
        assert!(csv.contains(rule), "{rule}\n{csv}");
    }
    assert!(!csv.contains("growth space,unknown"), "free space is read: {csv}");
}

#[test]
fn a_classic_run_of_version_1_is_drawn_as_one_of_today() {
    let file = read("version 1, micro");
    let shown = terminal(&file, 120, false);
    insta::assert_snapshot!("terminal_version_1_micro", shown);
    // Closely sampled sizes, and outcomes that a point read cannot have.
    assert!(shown.contains("Write-ahead log over time") || shown.contains("Rollback journal over time"), "{shown}");
    assert!(!shown.contains("few rows") && !shown.contains("rolled back"), "{shown}");
}

#[test]
fn every_old_document_is_drawn_in_every_form_and_written_as_the_newest_version() {
    for (name, _) in DOCUMENTS {
        let file = read(name);
        assert!(html(&file).contains("</html>") && markdown(&file).starts_with("# Bourse: "), "{name}");
        let again = serde_json::to_vec(&file).expect("a run file is JSON");
        assert_eq!(RunFile::parse(&again, Path::new(name)).expect("it is read again"), file, "{name}");
    }
}

/// Draws the run files that the documentation shows as pages.
#[test]
fn samples_of_the_documentation_are_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/samples");
    let files = std::fs::read_dir(folder).expect("the samples are there").map(|entry| entry.expect("an entry").path());
    let mut count = 0;
    for file in files {
        let run = RunFile::read(&file).expect("a run file of a version that is read");
        let page = html(&run);
        assert!(page.contains("<h1") && page.contains(&run.name), "{}", file.display());
        count += 1;
    }
    assert!(count >= 3, "{count} samples");
}
