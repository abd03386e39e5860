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
    // The third engine has 2 % less in every round: less than its own interval is wide.
    let answer = "update: at the top, no difference shown: sqlite, sqlite-lean.";
    for text in [markdown(&file), html(&file)] {
        let fastest = text.find("point-read: lmdb is fastest (5.00 × sqlite); ").expect(&text);
        let close = text.find(answer).expect(&text);
        let figure = text.find("2.09M ±").expect(&text);
        assert!(fastest < close && close < figure, "{text}");
    }
    assert!(html(&file).contains("<h1>6 engines compared: point-read, update, tpce</h1>"), "{}", html(&file));
    insta::assert_snapshot!("overview_screen", shown(&file));
    // The page folds the rest, and draws both classes.
    let page = html(&file);
    assert!(
        page.contains("update, sqlite (volatile): 9.40k ") && page.contains("<summary>update: every figure"),
        "{page}"
    );
    // No name is cut.
    assert!(page.contains(">sqlite</text>") && page.contains(">sqlite-lean</text>"), "{page}");
    // A wide interval has its ends, which are not equally far away.
    let mut wide = file.clone();
    wide.cases[1].rounds.truncate(7);
    for (round, headline) in wide.cases[1].rounds.iter_mut().zip([1.0, 1.0, 1.0, 1.0, 1.0, 30.0, 30.0]) {
        round.headline = 1_000.0 * headline;
    }
    assert!(markdown(&wide).contains("| 1.00k (1.00k to 30.0k) |"), "{}", markdown(&wide));
    // A class in which every figure lacks an interval has no winner.
    let mut few = file;
    few.cases.iter_mut().for_each(|case| case.rounds.truncate(3));
    let text = markdown(&few);
    assert!(text.contains("point-read: not ranked, too few rounds for intervals of the ratios (8 needed)"), "{text}");
    assert!(!text.contains("fastest ("), "{text}");
}

/// Clauses of the answer on updates, of engines with these figures in each round, in files.
fn said_of_updates(rounds: &[(&str, [f64; 8])]) -> String {
    let engines: Vec<&str> = rounds.iter().map(|(engine, _)| *engine).collect();
    let mut file = fixture::quick(&engines);
    for (engine, figures) in rounds {
        let label = format!("update, {engine}:x");
        let case = file.cases.iter_mut().find(|case| case.label == label).expect("it is in the fixture");
        case.rounds.truncate(figures.len());
        case.rounds.iter_mut().zip(figures).for_each(|(round, figure)| round.headline = *figure);
    }
    let text = markdown(&file);
    let (_, said) = text.split_once("update: ").expect("it is answered");
    said.split([';', '\n']).next().expect("a text has a part").to_owned()
}

/// Engines whose intervals overlapped were once "not shown to differ" above a table whose ratios of pairs showed a difference.
#[test]
fn the_answer_is_decided_by_the_ratios_of_pairs_as_the_table_is() {
    const BASE: [f64; 8] = [100.0, 150.0, 90.0, 140.0, 110.0, 160.0, 120.0, 130.0];
    let times = |factor: f64| BASE.map(|it| it * factor);
    let by_turns = |high: f64, low: f64| std::array::from_fn(|at| BASE[at] * if at % 2 == 0 { high } else { low });
    // All of one engine's own figures lie within the other's interval.
    let said = said_of_updates(&[("sqlite", BASE), ("redb", times(1.04)), ("lmdb", times(0.97))]);
    assert!(said.starts_with("redb is fastest (1.04 × sqlite)"), "{said}");
    let said = said_of_updates(&[("sqlite", times(1.04)), ("redb", BASE)]);
    assert!(said.starts_with("sqlite is fastest (1.04 × redb)"), "{said}");
    // The leaders are named, the last is not among them.
    let said = said_of_updates(&[("sqlite", BASE), ("redb", by_turns(1.1, 0.95)), ("lmdb", times(0.5))]);
    assert!(said.starts_with("at the top, no difference shown: redb, sqlite"), "{said}");
    assert!(!said.contains("lmdb"), "{said}");
    // The highest is not shown to differ from the first, which differs from the last.
    let said = said_of_updates(&[("sqlite", BASE), ("redb", by_turns(1.4, 0.95)), ("lmdb", times(0.98))]);
    assert!(said.starts_with("at the top, no difference shown: redb, sqlite"), "{said}");
    assert!(!said.contains("lmdb"), "{said}");
    let alike = ["sqlite", "redb", "lmdb", "fjall", "turso"].map(|engine| (engine, BASE));
    let said = said_of_updates(&alike);
    assert!(said.starts_with("at the top, no difference shown: sqlite, redb, lmdb and 2 others"), "{said}");
}

/// The sentence once named engines that had no row, and the class in memory had none at all.
#[test]
fn rows_of_engines_that_the_answer_names_are_the_last_to_be_left_out() {
    let mut engines = MANY;
    engines.reverse();
    let file = fixture::quick(&engines);
    let shown = shown(&file);
    let rows: Vec<(&str, &str)> = shown
        .lines()
        .filter_map(|line| Some((line.split_whitespace().next()?, line.split_whitespace().nth(1)?)))
        .filter(|(_, class)| ["durable", "volatile"].contains(class))
        .collect();
    assert!(rows.len() < 2 * engines.len(), "some have no room: {shown}");
    for class in ["durable", "volatile"] {
        let of: Vec<&str> = rows.iter().filter(|it| it.1 == class).map(|it| it.0).collect();
        assert!(of.len() >= 2 && of.contains(&"lmdb") && of.contains(&engines[0]), "{class}: {shown}");
    }
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

/// Colours were counted as columns, and rows of results were left out for the room that they seemed to take.
#[test]
fn colours_take_no_room_on_a_screen() {
    let file = fixture::quick(&MANY);
    let painted = screen(&file, 80, true, PAGE);
    let plain: String = painted
        .split("\u{1b}[")
        .enumerate()
        .map(|(at, part)| &part[if at > 0 { part.find('m').expect("an end") + 1 } else { 0 }..])
        .collect();
    assert_eq!(plain, shown(&file));
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
        "- point-read, sqlite:x, 3 of 10 rounds: the machine was still busy when this round began\n",
        "- point-read, sqlite:x, 3 of 10 rounds, most in round 2: other processes used 0.90 CPUs in the measurement interval",
        "- x:a, x:b: a beta\n",
    ] {
        assert_eq!(text.matches(once).count(), 1, "{once}: {text}");
    }
    assert!(!text.contains("0.40 CPUs in the"), "{text}");
}
