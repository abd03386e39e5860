//! The page of results: the run files below `results/`, checked and drawn, never typed. `cargo xtask results` writes the page.

use crate::pages::{docs, hold_part};
use crate::{output, text};
use bourse_crash::PROFILES;
use bourse_record::{DocumentKind, document_bytes};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Largest size of all stored results, in bytes.
const BYTES_MAX: u64 = 3 << 20;

/// The run that the tables are drawn from, made by `bourse quick --all`.
const ENGINES: &str = "engines.json.gz";

/// The document of power losses, made by `bourse crash`.
const POWER_LOSS: &str = "power-loss.json.gz";

/// Results of a day as printed, by workload and target.
type Results = BTreeMap<(String, String), String>;

/// Entries of a folder in the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("stored results are complete")
        .map(|entry| entry.expect("stored results are complete").path())
        .collect();
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().expect("stored results are complete").to_str().expect("stored results are complete")
}

/// Rows of one table of a run.
fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let lines =
        std::fs::read_to_string(folder.join(table).with_extension("ndjson")).expect("stored results are complete");
    lines.lines().map(|line| serde_json::from_str(line).expect("stored results are complete")).collect()
}

/// A count, or a number with four digits that count, with commas between its thousands.
fn number(value: &Value) -> String {
    let is_count = value.is_u64();
    let Some(value) = value.as_f64() else { return "–".to_owned() };
    let decimals = if is_count || value >= 1_000.0 { 0 } else { usize::from(value < 100.0) + 1 };
    let digits = format!("{value:.decimals$}");
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let grouped: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().map(|it| str::from_utf8(it).expect("stored results are complete")).collect();
    grouped.join(",") + rest
}

/// A case of a run, as its place in the tables: workload, target.
fn place(case: &Value) -> (String, String) {
    let target = case["target"].as_str().expect("stored results are complete").replace("bourse-data/", "");
    (case["workload"].as_str().expect("stored results are complete").to_owned(), target)
}

/// The strictest level of an engine as it is by default, and whether the recorded histories keep it.
fn isolation(target: &str, runs: &[Value]) -> String {
    let engine = target.split(':').next().expect("stored results are complete");
    let is_its = |run: &&Value| {
        let (of, rest) = run["target"]
            .as_str()
            .expect("stored results are complete")
            .split_once(':')
            .expect("stored results are complete");
        of == engine && !rest.contains(['?', ' '])
    };
    runs.iter().rfind(is_its).map_or("not run".to_owned(), |run| {
        let kept =
            if run["broken"].as_array().expect("stored results are complete").is_empty() { "kept" } else { "refuted" };
        format!("{}: {kept}", run["promised"].as_str().expect("stored results are complete"))
    })
}

/// Tables of one machine on one day; `before`: results of the day before it, with its name.
fn machine(page: &mut String, tables: &Path, before: Option<(&str, &Results)>) -> Results {
    let isolated: Vec<Value> = serde_json::from_str(
        &std::fs::read_to_string(docs().join("isolation.json")).expect("stored results are complete"),
    )
    .expect("stored results are complete");
    let run = &rows(tables, "runs")[0];
    let field = |name: &str| run[name].as_str().unwrap_or("?").to_owned();
    let memory = run["memory_bytes"].as_f64().expect("stored results are complete") / f64::from(1 << 30);
    writeln!(
        page,
        "{}, {} cores, {memory:.0} GiB of memory, {}. Bourse {} at {}, a {} build: `bourse {}`.\n",
        field("processor"),
        run["cores"],
        field("system"),
        field("bourse_version"),
        field("bourse_commit"),
        field("bourse_profile"),
        field("command").split_once(' ').expect("stored results are complete").1,
    )
    .expect("a text takes all");
    if run["is_interrupted"] == true {
        page.push_str("The run was ended early: workloads are missing.\n\n");
    }
    // A microbenchmark of a few rounds says too little.
    let mut cases = rows(tables, "cases");
    cases.retain(|case| case["workload"] == "tpce" || !case["result_low"].is_null());
    let mut workloads: Vec<&str> =
        cases.iter().map(|case| case["workload"].as_str().expect("stored results are complete")).collect();
    workloads.dedup();
    let mut found = BTreeMap::new();
    for workload in workloads {
        let mut of: Vec<&Value> = cases.iter().filter(|case| case["workload"] == workload).collect();
        // By durability class: figures of different classes are no competitors.
        let key = |case: &Value| {
            (
                case["durability"].as_str().expect("stored results are complete").to_owned(),
                -case["result"].as_f64().expect("stored results are complete"),
            )
        };
        of.sort_by(|a, b| key(a).partial_cmp(&key(b)).expect("stored results are complete"));
        let unit = of[0]["result_unit"].as_str().expect("stored results are complete");
        let (more, rule) = before.map_or((String::new(), ""), |(day, _)| (format!(" {day} |"), "---:|"));
        let isolation_column = if workload == "tpce" { (" isolation |", "---|") } else { ("", "") };
        writeln!(
            page,
            "### {workload}, {unit}\n\n| target | version | durability | {unit} | interval | CPU/op, µs |{}{more}\n\
             |---|---|---|---:|---:|---:|{}{rule}",
            isolation_column.0, isolation_column.1
        )
        .expect("a text takes all");
        for case in of {
            let (place, result) = (place(case), number(&case["result"]));
            let interval = match &case["result_low"] {
                Value::Null => "none".to_owned(),
                low => format!("{} to {}", number(low), number(&case["result_high"])),
            };
            let cpu = case["cpu_ns_per_operation"].as_f64().map_or(Value::Null, |ns| (ns / 1e3).into());
            write!(
                page,
                "| `{}` | {} | {} | {result} | {interval} | {} |",
                place.1,
                case["engine_version"].as_str().expect("stored results are complete"),
                case["durability"].as_str().expect("stored results are complete"),
                number(&cpu)
            )
            .expect("a text takes all");
            if workload == "tpce" {
                write!(page, " {} |", isolation(&place.1, &isolated)).expect("a text takes all");
            }
            if let Some((_, results)) = before {
                write!(page, " {} |", results.get(&place).map_or("–", String::as_str)).expect("a text takes all");
            }
            page.push('\n');
            found.insert(place, result);
        }
        page.push('\n');
    }
    found
}

/// A case of the enumeration, as `reload-wal-full@lying-cache` or `lmdb:?sync=full`: its target, what is interrupted, and the
/// profile of its disk.
fn power_loss_case(case: &str) -> (String, &str, &str) {
    let (settings, profile) = case.rsplit_once('@').unwrap_or((case, PROFILES[0].name));
    if settings.contains(':') {
        return (settings.to_owned(), "commits", profile);
    }
    let mut parts = settings.rsplit('-');
    let (sync, journal) = parts.next().zip(parts.next()).expect("stored results are complete");
    (format!("sqlite:?journal={journal}&sync={sync}"), parts.next().unwrap_or("commits"), profile)
}

/// Table of a document of power losses, and its profiles.
fn power_losses(page: &mut String, file: &Path) {
    let document: Value = serde_json::from_slice(&document_bytes(file).expect("stored results are complete"))
        .expect("stored results are complete");
    page.push_str(
        "### What a power loss left\n\n| target | interrupted | disk | durability | states of the disk | with commits lost | corrupted |\n\
         |---|---|---|---|---:|---:|---:|\n",
    );
    let mut used = BTreeSet::new();
    for row in document["states"]["rows"].as_array().expect("stored results are complete") {
        let figures = ["states", "lossy", "corrupted"].map(|name| number(&row[name]));
        let (target, interrupted, profile) =
            power_loss_case(row["case"].as_str().expect("stored results are complete"));
        let class = row["class"].as_str().expect("stored results are complete");
        writeln!(page, "| `{target}` | {interrupted} | {profile} | {class} | {} |", figures.join(" | "))
            .expect("a text takes all");
        used.insert(profile);
    }
    page.push_str("\nDisks, by the profiles of `bourse crash --profile`:\n\n");
    for device in PROFILES.iter().filter(|device| used.contains(device.name)) {
        writeln!(page, "* {}: {}.", device.name, device.title).expect("a text takes all");
    }
    page.push('\n');
}

#[test]
fn the_page_of_results_is_what_the_stored_runs_say() {
    let results = docs().join("../results");
    let folder = tempfile::tempdir().unwrap();
    let (mut sections, mut bytes) = (Vec::new(), 0);
    let mut before: BTreeMap<String, (String, Results)> = BTreeMap::new();
    for day in entries(&results).iter().filter(|path| path.is_dir()) {
        for of_machine in entries(day) {
            let title = format!("{}, {}", name(&of_machine), name(day));
            let mut page = format!("## {title}\n\n");
            for file in entries(&of_machine) {
                bytes += file.metadata().unwrap().len();
                let tables = folder.path().join(format!("{}-{}-{}", name(day), name(&of_machine), name(&file)));
                if file.ends_with(POWER_LOSS) {
                    power_losses(&mut page, &file);
                    continue;
                }
                // Other documents are drawn by the site alone.
                let document = serde_json::from_slice(&document_bytes(&file).unwrap()).unwrap();
                if DocumentKind::of(&document) != Some(DocumentKind::Run) {
                    continue;
                }
                let arguments =
                    ["report", file.to_str().unwrap(), "--format", "ndjson", "-o", tables.to_str().unwrap()];
                let read = output(folder.path(), &arguments);
                assert!(read.status.success(), "{}: {}", file.display(), text(&read.stderr));
                for case in rows(&tables, "cases") {
                    let is_sound = case["standing"] == "counts" && case["checks_failed"] == 0;
                    assert!(is_sound, "{}: {} does not count: {case}", file.display(), case["case_label"]);
                }
                if file.ends_with(ENGINES) {
                    let earlier = before.get(name(&of_machine)).map(|(day, results)| (day.as_str(), results));
                    let found = machine(&mut page, &tables, earlier);
                    before.insert(name(&of_machine).to_owned(), (name(day).to_owned(), found));
                }
            }
            sections.push(page);
        }
    }
    assert!(!sections.is_empty() && bytes <= BYTES_MAX, "{} sections, {bytes} bytes", sections.len());
    sections.reverse();
    hold_part("results.md", sections.concat().trim_end_matches('\n'));
}
