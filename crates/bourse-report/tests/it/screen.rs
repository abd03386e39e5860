//! The report on one screen.

use crate::fixture;
use bourse_record::{Durability, RunFile, Warning};
use bourse_report::{screen, terminal};

const PAGE: Option<&str> = Some("bourse-runs/20260102-030405-tpce/report.html");

#[test]
fn screens() {
    for (name, file) in fixture::all() {
        insta::assert_snapshot!(format!("screen_{name}"), screen(&file, 80, false, PAGE));
    }
}

#[test]
fn a_run_of_one_case_fits_a_screen_whatever_it_has_to_say() {
    let mut file = fixture::normal();
    file.warnings =
        (0..50).map(|at| Warning::of_engine(format!("warning {at}: {}", "much to say ".repeat(40)))).collect();
    for width in [80, 100, 120, 200] {
        let shown = screen(&file, width, false, PAGE);
        assert!(shown.lines().count() <= 24, "{width}: {} lines\n{shown}", shown.lines().count());
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}\n{shown}");
        assert!(shown.contains(" more remarks: -v)"), "{shown}");
        assert!(terminal(&file, width, false).contains("warning 49"), "the whole report has them all");
    }
}

#[test]
fn the_values_of_a_sweep_stay_in_their_order() {
    let mut file = fixture::normal();
    file.cases = [(1, 30), (2, 90), (4, 60)]
        .into_iter()
        .map(|(users, decks)| {
            let mut case = fixture::case(&format!("users={users}"), Durability::Durable, decks);
            case.varied = vec![fixture::pair("users", &users.to_string())];
            case
        })
        .collect();
    let order = |file: &RunFile| {
        let shown = screen(file, 120, false, PAGE);
        let rows = shown.lines().filter_map(|line| line.split_whitespace().next()?.strip_prefix("users="));
        rows.take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(order(&file), ["1", "2", "4"]);
    assert!(bourse_report::html(&file).contains("highest: users=2, "), "the highest is still named");
    file.cases.iter_mut().for_each(|case| case.varied.clear());
    assert_eq!(order(&file), ["2", "4", "1"], "targets are ranked");
}

#[test]
fn what_voids_the_figure_comes_first() {
    let mut file = fixture::void();
    file.warnings = vec![Warning::of_engine("small matter".to_owned()); 5];
    let shown = screen(&file, 80, false, PAGE);
    let [void, small] = ["void", "small matter"].map(|words| shown.find(words));
    assert!(void < small || small.is_none(), "{shown}");
    assert!(shown.contains("VOID") && shown.contains("FAILED"), "{shown}");
}

#[test]
fn every_screen_says_what_it_is_no_result_of() {
    for (name, file) in
        fixture::all().into_iter().filter(|(_, file)| file.cases.iter().any(|it| it.workload.name == "tpce"))
    {
        let shown = screen(&file, 80, false, PAGE).replace("\n  ", " ");
        assert!(shown.contains("results are not comparable with published TPC Benchmark E results"), "{name}\n{shown}");
        assert!(shown.contains("report: bourse-runs/"), "{name}\n{shown}");
    }
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let shown = screen(&fixture::hostile(), 80, false, Some("a\u{1b}[2Jb"));
    assert!(shown.chars().all(|each| each == '\n' || !each.is_control()), "{shown:?}");
}
