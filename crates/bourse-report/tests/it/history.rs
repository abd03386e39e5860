//! The history of stored runs.

use crate::fixture::normal;
use bourse_record::RunFile;
use bourse_report::{CsvText, Sheet, StoredRun, csv_file, history_tables};

fn drawn(runs: &[StoredRun]) -> Sheet {
    bourse_report::runs(runs, "1.2.3", "")
}

/// Twelve runs, one a day, the later half slower by a fifth.
fn runs() -> Vec<StoredRun> {
    let run = |day: u32| {
        let mut run: RunFile = normal();
        run.provenance.started_at = format!("2026-11-{day:02}T08:00:00+00:00");
        run.provenance.revision = Some(if day <= 6 { "old" } else { "new" }.to_owned());
        let mut stored = StoredRun::of_run(&format!("202611{day:02}-080000-tpce"), &run, 1 << 20);
        let value = if day <= 6 { 1000.0 } else { 800.0 } + f64::from(day % 3);
        let figure = &mut stored.figures[0];
        (figure.value, figure.low, figure.high) = (Some(value), Some(value * 0.98), Some(value * 1.02));
        stored
    };
    (1..=12).map(run).collect()
}

#[test]
fn the_index_shows_where_the_level_changes_and_what_was_new() {
    let page = drawn(&runs()).html();
    let parsed = roxmltree::Document::parse_with_options(
        &page,
        roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() },
    )
    .unwrap();
    let text: String = parsed.descendants().filter_map(|node| node.text()).collect();
    assert!(text.contains("-20.0 % from 20261107-080000-tpce on"), "{text}");
    assert!(text.contains("new in that run: new"), "{text}");
    let links: Vec<&str> = parsed.descendants().filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links.iter().filter(|link| link.ends_with("-tpce/report.html")).count(), 12, "{links:?}");
    // The latest run is first.
    assert_eq!(links.iter().find(|link| link.contains("tpce")), Some(&"20261112-080000-tpce/report.html"));
}

/// Runs once were one line in spite of different numbers of users, and a change of users a change of the figure.
#[test]
fn runs_of_other_users_are_another_trend() {
    let run = |day: u32| {
        let mut run: RunFile = normal();
        run.provenance.started_at = format!("2026-11-{day:02}T08:00:00+00:00");
        run.cases[0].conditions.users = Some(if day <= 6 { 2 } else { 16 });
        let mut stored = StoredRun::of_run(&format!("202611{day:02}-080000-tpce"), &run, 1 << 20);
        stored.figures[0].value = Some(if day <= 6 { 1000.0 } else { 800.0 } + f64::from(day % 3));
        stored
    };
    let page = drawn(&(1..=12).map(run).collect::<Vec<_>>()).html();
    let same = |users: u64| page.matches(&format!("users={users};")).count();
    assert!(same(2) == 1 && same(16) == 1 && !page.contains("-20.0 %"), "{page}");
}

/// A list of many runs ended below the screen that showed its beginning.
#[test]
fn a_screen_has_the_newest_runs_and_counts_the_others() {
    let runs: Vec<StoredRun> = (0..4).flat_map(|_| runs()).collect();
    let shown = drawn(&runs).screen(80, false, None);
    assert!(shown.lines().count() <= 23 && shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let named: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(named.contains(&"20261112-080000-tpce") && shown.contains("48 result folders"), "{shown}");
    let count = named.iter().filter(|it| it.ends_with("-tpce")).count();
    assert!(count > 4 && shown.contains(&format!("\n{} further rows: -v\n", 48 - count)), "{count}: {shown}");
}

#[test]
fn each_form_has_every_run() {
    let runs = runs();
    let text = drawn(&runs).terminal(120, false, false);
    assert_eq!(text.lines().filter(|line| line.starts_with("2026")).count(), 12, "{text}");
    assert!(text.contains("\n12 result folders, 12.0 MiB"), "{text}");
    // Each has its verdict, and the revision where there is room.
    assert_eq!(text.matches("checks: 2").count(), 12, "{text}");
    let [wide, narrow] = [200, 80].map(|width| drawn(&runs).terminal(width, false, false));
    assert!(
        wide.contains("  revision\n") && wide.lines().filter(|line| line.ends_with("  new")).count() == 6,
        "{wide}"
    );
    assert!(narrow.contains("(narrow terminal): began, interval, revision\n"), "{narrow}");
    assert_eq!(narrow.matches("checks:").count(), 12, "{narrow}");
    let page = drawn(&runs).html();
    assert!(page.contains(">verdict</th>") && page.contains(">revision</th>"), "{page}");
    assert!(drawn(&runs).markdown().lines().filter(|line| line.contains("-tpce |")).count() >= 12);
    let csv = csv_file(&history_tables(&runs), CsvText::Guarded);
    assert_eq!(csv.lines().count(), 1 + 13, "{csv}");
    assert!(csv.starts_with("folders\r\nfolder,started_at,document,workload,target,"), "{csv}");
    assert!(drawn(&[]).html().contains("no trend to draw"));
}
