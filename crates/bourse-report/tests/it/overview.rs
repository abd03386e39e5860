//! Several engines on several workloads: the answer in a sentence, a screen, a chart.

use crate::fixture;
use bourse_record::{CheckStatus, RunFile, Warning};
use bourse_report::{html, markdown, screen, terminal};
use unicode_width::UnicodeWidthStr as _;

const PAGE: Option<&str> = Some("bourse-runs/20260102-030405-quick/report.html");
const MANY: [&str; 14] = [
    "sqlite", "sqlite-lean", "turso", "duckdb", "firebird", "lmdb", "redb", "fjall", "rocksdb", "leveldb",
    "berkeleydb", "fastdb", "h2", "hsqldb",
];

fn shown(file: &RunFile) -> String {
    screen(file, 80, false, PAGE)
}

#[test]
fn the_answer_is_a_sentence_for_each_class_above_a_row_for_each_engine() {
    let file = fixture::quick(&MANY[..6]);
    let answer = "update: no difference shown between sqlite and 3 others";
    for text in [markdown(&file), html(&file)] {
        let fastest = text.find("point-read: lmdb is fastest (5.0 × sqlite); ").expect(&text);
        let close = text.find(answer).expect(&text);
        let figure = text.find("2.06M ±").expect(&text);
        assert!(fastest < close && close < figure, "{text}");
    }
    insta::assert_snapshot!("overview_screen", shown(&file));
    // The page folds the rest, and draws both classes.
    let page = html(&file);
    assert!(
        page.contains("update, sqlite (volatile): 9.27k ") && page.contains("<summary>update: every figure"),
        "{page}"
    );
    // No name is cut.
    assert!(page.contains(">sqlite</text>") && page.contains(">sqlite-lean</text>"), "{page}");
    // A wide interval has its ends, which are not equally far away.
    let mut wide = file.clone();
    for (round, headline) in wide.cases[1].rounds.iter_mut().zip([1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 30.0]) {
        round.headline = 1_000.0 * headline;
    }
    assert!(markdown(&wide).contains("| 1.00k (1.00k to 30.0k) |"), "{}", markdown(&wide));
    // A class in which every figure lacks an interval has no winner.
    let mut few = file;
    few.cases.iter_mut().for_each(|case| case.rounds.truncate(3));
    let text = markdown(&few);
    assert!(text.contains("point-read: not ranked, too few rounds for intervals"), "{text}");
    assert!(!text.contains("fastest ("), "{text}");
}

/// `quick` once filled 80 rows.
#[test]
fn many_engines_fit_a_screen_with_the_prompt_and_say_what_does_not() {
    for count in [6, 10, 14] {
        let mut file = fixture::quick(&MANY[..count]);
        file.warnings =
            (0..9).map(|at| Warning::of_engine(format!("warning {at}: {}", "much to say ".repeat(40)))).collect();
        let shown = shown(&file);
        // The command that repeats a run is one line, which the terminal wraps.
        let rows: usize = shown.lines().map(|line| line.width().div_ceil(80).max(1)).sum();
        let is_wide = |line: &str| line.width() > 80 && !line.starts_with("again:");
        assert!(rows <= 23 && !shown.lines().any(is_wide), "{count}: {rows} rows\n{shown}");
        let one_line = shown.replace("\n  ", " ");
        assert!(one_line.contains("not comparable with published TPC Benchmark E results"), "{shown}");
        assert!(shown.contains("sqlite ") && shown.contains("more remarks: -v)"), "{shown}");
        let left_out = 2 * count
            - shown.lines().filter(|line| line.contains("  durable ") || line.contains("  volatile ")).count();
        assert_eq!(shown.contains(&format!("{left_out} further rows")), left_out > 1, "{shown}");
        assert!(terminal(&file, 80, false).contains("point-read, hsqldb") == (count == 14), "the whole report has all");
    }
}

/// A case that had no figure was counted among those whose checks had passed.
#[test]
fn the_checks_of_a_void_case_are_not_among_those_that_passed() {
    let mut file = fixture::quick(&MANY[..2]);
    file.cases.iter_mut().flat_map(|case| &mut case.rounds).for_each(|round| {
        round.checks.retain(|check| check.status == CheckStatus::Passed);
    });
    assert!(shown(&file).contains("checks: passed in all 9 cases"), "{}", shown(&file));
    file.cases[1].rounds[3].make_void("no read ended validly");
    let shown = shown(&file);
    assert!(shown.contains("checks: passed in 8 of 9 cases; 1 void, without a figure"), "{shown}");
    assert!(shown.contains(" VOID "), "{shown}");
}

/// Regression: a warning was printed once for each round of a case, and once for each target of an engine.
#[test]
fn a_warning_of_several_rounds_is_said_once() {
    let mut file = fixture::quick(&MANY[..1]);
    file.cases.truncate(2);
    let busy = |cpus| Warning::OtherProcesses { cpus, server_is_known: true };
    let [.., case] = &mut file.cases[..] else { panic!("cases") };
    for (round, cpus) in case.rounds.iter_mut().zip([0.4, 0.9, 0.3]) {
        round.warnings = vec![Warning::NotQuiet, busy(cpus)];
    }
    file.warnings =
        ["x:a", "x:b"].map(|target| Warning::Engine { target: target.to_owned(), text: "a beta".to_owned() }).into();
    let text = markdown(&file);
    for once in [
        "- point-read, sqlite:x, 3 of 7 rounds: the machine was still busy when this round began\n",
        "- point-read, sqlite:x, 3 of 7 rounds, most in round 2: other processes used 0.90 CPUs in the measurement interval",
        "- x:a, x:b: a beta\n",
    ] {
        assert_eq!(text.matches(once).count(), 1, "{once}: {text}");
    }
    assert!(!text.contains("0.40 CPUs in the"), "{text}");
}
