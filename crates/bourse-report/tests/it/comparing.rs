//! Comparison of two cases by pairs of rounds: verdicts on the other metrics, rounds without a figure, ranking tables.

use crate::fixture;
use bourse_record::{Case, Counts, Durability, NameValue, Round, RunFile, TunedLine, Tuning, Verdict, Workload};
use bourse_report::{DataValue, DrawComparison as _, comparison_screen, data_tables, markdown};
use bourse_verdict::comparison::{CaseComparison, CasePair, ComparedCases, RunNoise};
use bourse_verdict::tuning::{LineGain, line_gains};

/// A case with rounds of these numbers of decks.
fn case(label: &str, decks: &[u64]) -> Case {
    let mut case = fixture::case(label, Durability::Durable, 30);
    case.rounds = decks.iter().map(|decks| fixture::round(*decks)).collect();
    case
}

fn compared(base: Case, head: Case) -> CaseComparison {
    let pair = CasePair { base, head, in_turn: true };
    ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown).comparisons.remove(0)
}

/// The verdict on the metric whose name begins with `name`: a response time's name has a suffix. Panics without the metric.
fn verdict(compared: &CaseComparison, name: &str) -> Option<Verdict> {
    compared.metrics.iter().find(|it| it.name.starts_with(name)).expect(name).verdict
}

/// A comparison of `pairs` pairs whose second side is changed in each round by `change`.
fn changed(pairs: usize, change: impl Fn(usize, &mut Round)) -> CaseComparison {
    let base = case("a", &[30; 8][..pairs]);
    let mut head = base.clone();
    head.rounds.iter_mut().enumerate().for_each(|(at, round)| change(at, round));
    compared(base, head)
}

const BESIDE: [&str; 4] = ["response p90", "response p99", "processor time each", "bytes written/op"];

#[test]
fn metrics_beside_the_headline_have_verdicts_from_eight_pairs_on() {
    let worse = |at: usize, round: &mut Round| {
        let slow = 4_000 + 100 * at as u64;
        for operation in &mut round.operations {
            operation.response = fixture::distribution(operation.response.summary.count, slow);
        }
        round.cpu_user_s *= 0.70 + 0.01 * at as f64;
        round.cpu_system_s *= 0.70;
        for files in &mut round.io {
            files.written_bytes = files.written_bytes * (150 + at as u64) / 100;
        }
        round.written_bytes = round.written_bytes * (150 + at as u64) / 100;
    };
    let eight = changed(8, worse);
    assert_eq!(
        BESIDE.map(|name| verdict(&eight, name)),
        [Verdict::SlowerBeyond, Verdict::SlowerBeyond, Verdict::Faster, Verdict::SlowerBeyond].map(Some)
    );
    let median = eight.metrics.iter().find(|it| it.name.starts_with("response p50")).expect("it is shown");
    assert!(median.ratio > 1.5 && median.interval.is_some_and(|it| it.low > 1.0), "{median:?}");
    assert_eq!(median.verdict, None, "what is shown beside has no verdict, however large");
    assert_eq!(eight.result().expect("there are figures").verdict, Some(Verdict::Equivalent));
    // Not even seven pairs on one side are enough for four verdicts together.
    let seven = changed(7, worse);
    assert_eq!(BESIDE.map(|name| verdict(&seven, name)), [None; 4]);
    assert_eq!(seven.result().expect("there are figures").verdict, Some(Verdict::Equivalent));
}

#[test]
fn one_metric_of_four_needs_more_than_one_alone() {
    // Seven of eight pairs are cheaper, the eighth hardly dearer: by chance 1.6 % of the time, and the smallest of four may be 1.25 %.
    let cheaper = |dearer: usize| {
        move |at: usize, round: &mut Round| {
            let factor = if at == dearer { 1.001 } else { 0.70 + 0.01 * at as f64 };
            (round.cpu_user_s, round.cpu_system_s) = (factor * round.cpu_user_s, factor * round.cpu_system_s);
        }
    };
    assert_eq!(verdict(&changed(8, cheaper(8)), "processor time each"), Some(Verdict::Faster));
    let almost = changed(8, cheaper(7));
    assert_eq!(verdict(&almost, "processor time each"), None);
    let shown = almost.metrics.iter().find(|it| it.name == "processor time each").expect("it is shown");
    assert!(shown.interval.is_some_and(|it| it.high < 1.0), "its interval by itself would tell: {shown:?}");
}

/// Rounds once were paired after those without a figure had been left out on each side.
#[test]
fn a_round_without_a_figure_takes_its_partner_with_it() {
    let decks = [2, 4, 8, 16, 32, 64, 3, 6];
    let mut base = case("a", &decks);
    let mut head = case("b", &decks.map(|decks| 2 * decks));
    base.rounds[1].headline = f64::NAN;
    head.rounds[4].headline = f64::NAN;
    let found = compared(base.clone(), head.clone());
    let result = found.result().expect("there are figures");
    let interval = result.interval.expect("six pairs are whole");
    for ratio in [result.ratio, interval.low, interval.high] {
        assert!((ratio - 2.0).abs() < 1e-9, "{result:?}");
    }
    let mut file = fixture::normal();
    file.cases = vec![base, head];
    let tables = data_tables(&[file]);
    let table = tables.iter().find(|table| table.name == "ratios").expect("of cases");
    let at = |name: &str| table.columns.iter().position(|column| column.name == name).expect(name);
    for name in ["ratio", "ratio_low", "ratio_high"] {
        let DataValue::Real(ratio) = table.rows[0][at(name)] else { panic!("{name} is a number") };
        assert!((ratio - 2.0).abs() < 1e-9, "{name}: {ratio}");
    }
}

#[test]
fn a_ranking_says_which_cases_show_no_difference() {
    let mut file = fixture::normal();
    file.cases = vec![
        case("slower", &[15, 16, 14, 15, 16, 14, 15]),
        case("first", &[30, 31, 29, 30, 32, 28, 30]),
        case("alike", &[31, 30, 30, 29, 31, 30, 29]),
    ];
    let shown = markdown(&file);
    let ranking: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("| case")).take(5).collect();
    insta::assert_snapshot!("ranking", ranking.join("\n"));
    let row = |label: &str| ranking.iter().find(|line| line.contains(label)).expect(label);
    // Ratios are to the case that was given first, whichever is best.
    assert!(row("alike").contains("| × 2") && row("slower").contains("| reference"), "{ranking:#?}");
    // No difference between the two others is reported: the better one was selected by the figures.
    assert!(!bourse_report::html(&file).contains("fastest: "));
    file.cases.rotate_left(1);
    let shown = markdown(&file);
    let row =
        |label: &str| shown.lines().find(|line| line.starts_with(&format!("| {label}"))).expect("a row").to_owned();
    assert!(row("alike").contains("| = × ") && row("slower").contains("| × 0.5"), "{shown}");
    // One round fewer has no intervals that hold together for two ratios, and none is called one of 95 %.
    file.cases.iter_mut().for_each(|case| drop(case.rounds.pop()));
    assert!(!markdown(&file).contains("ratio from"), "six rounds of three cases");
}

/// "No difference shown between the highest and the next: × 0.940" was once said of a case that was higher by another estimate.
#[test]
fn the_sentence_of_a_ranking_is_about_the_reference() {
    let mut file = fixture::normal();
    file.cases = vec![
        case("a", &[30, 31, 29, 30, 32, 28, 30]),
        case("b", &[31, 30, 30, 29, 31, 30, 30]),
        case("c", &[15, 16, 14, 15, 16, 14, 15]),
    ];
    let said = |file: &RunFile| bourse_report::html(file);
    assert!(said(&file).contains("no difference"), "of a and b");
    file.cases.remove(1);
    assert!(said(&file).contains("fastest: a, ") && said(&file).contains("; the next, c, has × 0.5"), "of a and c");
    file.cases.rotate_left(1);
    assert!(said(&file).contains("fastest: a, ") && said(&file).contains(" of c"), "of c and a");
}

#[test]
fn a_narrow_terminal_gets_the_same_words() {
    let decks = [100, 101, 99, 102, 98, 100, 101, 99];
    let pair = CasePair { base: case("a", &[100; 8]), head: case("b", &decks), in_turn: true };
    let compared = ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown);
    let wide = compared.text(&[], usize::MAX);
    // The command is as on the page.
    let of = fixture::normal().provenance;
    assert!(compared.text(&[("A and B in turn", &of)], 80).contains("\nagain: bourse "), "one run");
    let both = compared.text(&[("A", &of), ("B", &of)], 80);
    assert!(both.contains("\nagain, A: bourse ") && both.contains("\nagain, B: bourse "), "{both}");
    assert!(wide.contains("\n  these rounds can show a difference from ±"), "{wide}");
    for width in [60, 80, 100] {
        let text = compared.text(&[], width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        let words = |text: &str| text.split_whitespace().flat_map(str::chars).filter(|it| it.is_numeric()).count();
        assert_eq!(words(&text), words(&wide), "{text}");
    }
}

/// The verdict was scrolled away by remarks below it.
#[test]
fn a_comparison_in_brief_fits_a_terminal_and_counts_the_remarks_that_do_not() {
    let decks = [100, 101, 99, 102, 98, 100, 101, 99];
    let pair = CasePair { base: case("a", &[100; 8]), head: case("b", &decks), in_turn: true };
    let note = |at: usize| format!("remark {at} {}", "of the machine ".repeat(12));
    let of = fixture::normal().provenance;
    let brief = |notes: usize| {
        let compared =
            ComparedCases::of(std::slice::from_ref(&pair), (0..notes).map(note).collect(), 0.05, &RunNoise::Unknown);
        comparison_screen(&compared, &[("A and B in turn", &of)], 100, Some("runs/x/comparison.html"))
    };
    let text = brief(20);
    let rows = |text: &str| text.lines().map(|line| line.chars().count().div_ceil(100).max(1)).sum::<usize>();
    assert!(text.starts_with("verdict: ") && rows(&text) <= 23, "{}: {text}", rows(&text));
    let shown = text.matches("note: remark").count();
    assert!(shown > 0, "{text}");
    // One of the remarks is of the rounds.
    assert!(text.contains("these rounds can show"), "{text}");
    assert!(text.ends_with(&format!("\nreport: runs/x/comparison.html ({} more remarks: -v)\n", 20 - shown)), "{text}");
    let text = brief(0);
    assert!(text.ends_with("\nreport: runs/x/comparison.html\n") && text.contains("\nagain: bourse "), "{text}");
}

/// An open loop's metrics, with long labels and commands, took 26 rows of 80 columns.
#[test]
fn the_metrics_that_have_no_room_are_counted() {
    let decks = [100, 101, 99, 102, 98, 100, 101, 99];
    let label = "sqlite:bourse-data/a-database.db?journal=wal&sync=full ".repeat(4);
    let pair = CasePair { base: case(&label, &[100; 8]), head: case(&label, &decks), in_turn: true };
    let compared = ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown);
    let of = fixture::normal().provenance;
    let text = comparison_screen(&compared, &[("A", &of), ("B", &of)], 80, Some("runs/x/comparison.html"));
    let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum();
    assert!(rows <= 23 && text.contains(" further rows: -v\n"), "{rows}: {text}");
    assert!(text.starts_with("verdict: ") && text.contains("/s "), "{text}");
}

/// A dash next to an interval far from zero read as undecided.
#[test]
fn a_metric_that_is_not_judged_says_so() {
    let sides = [[100, 101, 99, 102, 98, 100, 101, 99], [50, 51, 49, 50, 51, 49, 50, 51]];
    let compared = |pairs: usize| {
        let [base, head] = sides.map(|decks| case("x", &decks[..pairs]));
        ComparedCases::of(&[CasePair { base, head, in_turn: true }], Vec::new(), 0.05, &RunNoise::Unknown)
    };
    let words = |compared: &ComparedCases, name: &str| {
        let metrics = &compared.comparisons[0].metrics;
        metrics.iter().find(|it| it.name.starts_with(name)).expect("it is compared").verdict_words()
    };
    let eight = compared(8);
    assert_eq!([words(&eight, "response p50"), words(&eight, "response p90")], ["not judged", "no difference shown"]);
    assert!(eight.text(&[], 120).contains("  not judged\n"), "{}", eight.text(&[], 120));
    assert_eq!(words(&compared(7), "response p90"), "not judged");
}

#[test]
fn lines_that_are_not_shown_to_bring_anything_stand_apart() {
    let mut file = fixture::normal();
    let (slow, fast) = ([100, 101, 99, 102, 98, 100, 101, 99], [150, 151, 149, 152, 148, 150, 151, 149]);
    let like_fast = [151, 150, 150, 151, 149, 149, 152, 148];
    file.cases = vec![case("base", &slow), case("all", &fast), case("without a", &slow), case("without b", &like_fast)];
    let pair = CasePair { base: file.cases[0].clone(), head: file.cases[1].clone(), in_turn: true };
    file.comparison = ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown).stored();
    let line = |change: &str, without: &str| TunedLine { change: change.to_owned(), without: without.to_owned() };
    let found = Tuning {
        promise: Durability::Process,
        race: Vec::new(),
        elimination: Vec::new(),
        lines: vec![line("a=1", "without a"), line("b=2", "without b")],
        statements: vec!["SET a = 1;".to_owned()],
        target: Some("e:x?a=1".to_owned()),
        unshown: vec!["SET b = 2;".to_owned()],
        crashes: Vec::new(),
        left_out: Vec::new(),
    };
    assert_eq!(line_gains(&file, &found).iter().map(LineGain::is_shown).collect::<Vec<_>>(), [true, false]);
    file.tuning = Some(found);
    let text = markdown(&file);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}: {text}"));
    let order =
        ["Lines to paste", "e:x?a=1", "SET a = 1;", "Not among them", "SET b = 2;", "not shown to differ"].map(at);
    assert!(order.is_sorted(), "{text}");
    assert!(!text.contains("others disturbed"), "{text}");
    // A gain whose rounds were all disturbed was once shown as one of a quiet machine.
    let mut disturbed = file.clone();
    for case in &mut disturbed.cases[..2] {
        case.rounds.iter_mut().for_each(|it| it.slowdown = Some(2.0));
    }
    let text = markdown(&disturbed);
    assert!(text.contains("rounds of the proof: on a quiet machine the gain may be another"), "{text}");
    let compared = file.comparison.as_mut().expect("it was compared");
    compared.verdict = Verdict::Withheld;
    let text = markdown(&file);
    let headline = "the gain of +50.0 % (+49.5 % to +50.5 %) is withheld, since other processes disturbed the rounds";
    assert!(text.contains(headline) && !text.contains("not shown to be faster"), "{text}");
    // The loop's slowdown is the part that others may have made.
    for case in &mut file.cases[..2] {
        case.rounds.iter_mut().for_each(|it| (it.interference, it.slowdown) = (None, Some(2.0)));
    }
    let text = markdown(&file);
    assert!(text.contains("and may have made a difference of up to +100.0 %; repeat it on a quiet machine"), "{text}");
    let compared = file.comparison.as_mut().expect("it was compared");
    (compared.verdict, compared.ratio, compared.interval) = (Verdict::Inconclusive, Some(0.937), Some([0.9, 1.1]));
    let text = markdown(&file);
    assert!(text.contains("the selected settings are no faster: -6.3 % (-10.0 % to +10.0 %)"), "{text}");
    // A target as it is without a figure once ended with the advice to keep the defaults.
    let mut void = file.clone();
    void.comparison = None;
    void.tuning.as_mut().expect("a search").lines.clear();
    assert!(markdown(&void).contains("keep the defaults: no setting was faster in the race"), "{}", markdown(&void));
    void.cases[0].rounds.iter_mut().for_each(|it| it.make_void("a part was not replayed"));
    let text = markdown(&void);
    let headline = "no answer: no round of the target as it is has a figure: a part was not replayed";
    assert!(text.contains(headline) && !text.contains("keep the defaults"), "{text}");
    file.interrupted = true;
    let text = markdown(&file);
    assert!(text.contains("no answer: interrupted before the settings were proven"), "{text}");
}

/// Rounds of a run that ended early were ranked against whole ones.
#[test]
fn cases_of_unlike_lengths_are_not_ranked() {
    let mut file = fixture::normal();
    file.cases = vec![case("a", &[30, 31, 29, 30, 32, 28, 30]), case("b", &[15, 16, 14, 15, 16, 14, 15])];
    file.cases[1].rounds.iter_mut().for_each(|round| round.measured_s *= 3.0);
    let html = bourse_report::html(&file);
    assert!(html.contains("; not compared: rounds of unlike lengths") && !html.contains("fastest: "));
    assert!(markdown(&file).contains("| other length"), "{}", markdown(&file));
    // As many operations last as long as they take.
    let count = NameValue { name: Workload::COUNT.to_owned(), value: "1000".to_owned() };
    file.cases.iter_mut().for_each(|case| case.workload.parameters.push(count.clone()));
    assert!(!markdown(&file).contains("other length"), "{}", markdown(&file));
}

/// A column of ratios had a dash for each of these reasons.
#[test]
fn a_case_without_a_ratio_has_the_reason() {
    let mut file = fixture::normal();
    file.cases = vec![case("a", &[30, 31]), case("b", &[15, 16])];
    assert!(markdown(&file).contains("| (× 0.508) |"), "{}", markdown(&file));
    file.cases[1].engine.durability = bourse_record::Durability::Volatile;
    assert_eq!(markdown(&file).matches("other class").count(), 2, "{}", markdown(&file));
    file.cases[1] = case("b", &[]);
    assert!(markdown(&file).contains("only one"), "{}", markdown(&file));
}

#[test]
fn a_plan_that_differs_between_the_sides_is_found_with_both_times() {
    let timed = |round: &mut Round| round.statements = vec![crate::screen::scan()];
    let mut base = case("a", &[30; 6]);
    base.rounds.iter_mut().for_each(timed);
    let drawn = |head: Case| {
        let pair = CasePair { base: base.clone(), head, in_turn: true };
        let all = ComparedCases::of(&[pair], Vec::new(), 0.05, &RunNoise::Unknown);
        [all.text(&[], 120), all.markdown(), all.html(&[("run", &fixture::normal().provenance)])]
    };
    for drawn in drawn(base.clone()) {
        assert!(drawn.contains("no plan differs (1 statement compared)"), "{drawn}");
    }
    let mut head = base.clone();
    let mut times = Counts::new();
    times.record_many(9_000, 20);
    for round in &mut head.rounds {
        round.statements[0].plan = vec!["SEARCH orders USING INDEX by_user (user_id=?)".to_owned()];
        round.statements[0].service = times.distribution();
    }
    // A run of several targets has the same words.
    let mut file = fixture::normal();
    file.cases = vec![base.clone(), base.clone()];
    for (has_changed, head) in [(false, base.clone()), (true, head.clone())] {
        file.cases[1] = Case { label: "b".to_owned(), ..head };
        let words =
            if has_changed { "another plan in b: 1 of 1 statement" } else { "no plan differs (1 statement compared)" };
        for shown in [bourse_report::screen(&file, 120, false, None), markdown(&file)] {
            assert_eq!(shown.matches(words).count(), 1, "{shown}");
            assert_eq!(shown.contains("b: SEARCH orders USING INDEX by_user"), has_changed, "{shown}");
        }
    }
    for drawn in drawn(head) {
        for words in
            ["another plan in B: 1 of 1 statement", "A: SCAN orders", "B: SEARCH orders USING INDEX by_user", "0.001"]
        {
            assert!(drawn.contains(words), "{words}: {drawn}");
        }
    }
    let unasked = compared(case("a", &[30; 6]), case("b", &[30; 6]));
    assert_eq!((unasked.plans.compared, unasked.plans.changed.len()), (0, 0));
}
