//! The report on one screen.

use crate::fixture;
use bourse_record::{Arrivals, Counts, Durability, RunFile, Search, StatementFigures, StatementWork, Warning};
use bourse_report::{html, markdown, screen, terminal};

const PAGE: Option<&str> = Some("bourse-runs/20260102-030405-tpce/report.html");

#[test]
fn screens() {
    for (name, file) in fixture::all() {
        insta::assert_snapshot!(format!("screen_{name}"), screen(&file, 80, false, PAGE));
    }
}

/// Rows of a terminal that a text takes. The command that repeats a run is one line, which the terminal wraps.
fn rows(shown: &str, width: usize) -> usize {
    let of = |line: &str| match line.chars().count() {
        long if line.starts_with("again") => long.div_ceil(width),
        fits => {
            assert!(fits <= width, "{width}: {line}");
            1
        }
    };
    shown.lines().map(of).sum()
}

#[test]
fn a_run_of_one_case_fits_a_screen_whatever_it_has_to_say() {
    let mut file = fixture::normal();
    file.warnings =
        (0..50).map(|at| Warning::of_engine(format!("warning {at}: {}", "much to say ".repeat(40)))).collect();
    for width in [80, 100, 120, 200] {
        let shown = screen(&file, width, false, PAGE);
        assert!(rows(&shown, width) < 24, "{width}: {} rows\n{shown}", rows(&shown, width));
        assert!(shown.contains(" more remarks: -v)"), "{shown}");
        assert!(terminal(&file, width, false).contains("warning 49"), "the whole report has them all");
    }
}

/// The default run, with ten transactions, took 26 rows: its first line was gone above the prompt.
#[test]
fn ten_transactions_with_all_that_is_around_them_fit_a_terminal_with_the_prompt() {
    let mut file = fixture::normal();
    file.cases[0].earlier = Some(bourse_record::EarlierRuns { figures: vec![100.0, 101.0, 99.0, 98.0] });
    for warnings in [0, 9, 10] {
        file.warnings = vec![Warning::of_engine("much to say ".repeat(40)); warnings];
        if warnings == 10 {
            let others = Warning::OtherProcesses { cpus: 1.64, server_is_known: true };
            file.cases[0].rounds[0].warnings = vec![Warning::NotQuiet, others];
        }
        for width in [80, 100, 120] {
            let shown = screen(&file, width, false, PAGE);
            assert!(rows(&shown, width) < 24, "{warnings}, {width}: {} rows\n{shown}", rows(&shown, width));
            assert!(shown.contains("\nTrade-Update "), "every transaction has its row: {shown}");
        }
    }
}

/// Trade-Results of a young market are fewer than at its full age, at any rate: the figure alone looked too low.
#[test]
fn results_stand_beside_the_share_that_is_due() {
    let with_age = |age_s, expected| {
        let mut file = fixture::normal();
        file.cases[0].rounds[0].market_age_s = age_s;
        file.cases[0].rounds[0].operations[0].mix_expected_percent = expected;
        file
    };
    let young = with_age(Some(6.0), Some(8.41));
    let shown = screen(&young, 80, false, PAGE);
    assert!(shown.contains("durable\n    100.0 TR/s, 8.4 % of the mix (target 10 %)\n"), "{shown}");
    assert!(rows(&shown, 80) < 24, "{shown}");
    for text in [terminal(&young, 80, false), markdown(&young), html(&young)] {
        assert!(text.contains("100.0 TR/s, 8.4 % of the mix (target 10 %)"), "{text}");
    }
    for (age_s, expected) in [(Some(900.0), Some(9.98)), (None, None), (Some(6.0), None)] {
        let shown = screen(&with_age(age_s, expected), 80, false, PAGE);
        assert!(shown.contains("durable   100.0 TR/s\n"), "{shown}");
    }
}

/// Pauses below a tenth were not reported, and the remark above was cut before it was.
#[test]
fn response_times_that_a_queue_of_ours_is_part_of_are_marked() {
    let line = "response times of Trade-Result and Market-Feed include the driver's queue of 16\n";
    let mut file = fixture::normal();
    file.cases[0].rounds[0].time_split = None;
    assert!(screen(&file, 80, false, PAGE).contains(line));
    // An open loop has no such pauses.
    file.cases[0].conditions.driver_queue = None;
    assert!(!screen(&file, 80, false, PAGE).contains("driver's queue"));
    let several = "response times include the driver's queue of 16\n";
    assert!(screen(&fixture::several(), 80, false, PAGE).contains(several));
    assert!(!screen(&fixture::several(), 60, false, PAGE).contains(several), "no quantile has room");
    let wide = screen(&fixture::several(), 120, false, PAGE);
    assert!(wide.contains(several) && wide.contains("p90"), "{wide}");
    // A case without the queue next to cases with it.
    let mut mixed = fixture::several();
    mixed.cases[0].conditions.driver_queue = None;
    let wide = screen(&mixed, 120, false, PAGE);
    assert!(wide.contains("response times of sqlite durable and sqlite in memory include the driver's"), "{wide}");
    assert!(
        markdown(&mixed).contains("include the driver's queue of 16") && html(&mixed).contains("driver's queue of 16")
    );
}

/// The cost of an operation was once the usage of all, divided by the operations of the first kind alone.
#[test]
fn the_cost_of_an_operation_is_by_all_that_the_headline_counts() {
    let with_cpu = |cpu_s: f64, headline: Option<&str>, order: [usize; 2], late_s: Option<f64>| {
        let mut file = fixture::micro();
        file.cases.truncate(1);
        let workload = &mut file.cases[0].workload;
        workload.headline_operation = headline.map(str::to_owned);
        workload.headline_unit = "operations/s".to_owned();
        let round = &mut file.cases[0].rounds[0];
        let (mut pay, mut look) = (round.operations[0].clone(), round.operations[0].clone());
        (pay.name, look.name) = ("pay".to_owned(), "look".to_owned());
        (pay.outcomes[0].count, look.outcomes[0].count) = (1_000, 9_000);
        let blocks = [pay, look];
        round.operations = order.map(|at| blocks[at].clone()).into();
        (round.cpu_user_s, round.cpu_system_s, round.written_bytes) = (cpu_s - 0.01, 0.01, 10_000_000);
        (round.headline, round.measured_s, round.usage_late_s) = (10_000.0 / 20.0, 20.0, late_s);
        screen(&file, 80, false, PAGE)
    };
    let shown = |headline, order, late_s| with_cpu(1.0, headline, order, late_s);
    for order in [[0, 1], [1, 0]] {
        let text = shown(None, order, None);
        assert!(text.contains("cost of each operation: CPU 100 µs, 1,000 B written"), "{text}");
        assert!(text.contains("500.0 operations/s"), "{text}");
        let text = shown(Some("pay"), order, None);
        assert!(text.contains("cost of each pay: CPU 1.00 ms"), "{text}");
    }
    assert!(!shown(None, [0, 1], Some(5.0)).contains("cost of"), "it was read too late");
    let text = with_cpu(0.09, None, [0, 1], None);
    assert!(text.contains("cost of each operation: 1,000 B written"), "nine hundredths are no figure: {text}");
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
fn what_was_measured_instead_of_the_request_is_on_the_screen() {
    for (warning, words) in [
        (
            Warning::NodeLost { node: "n2".to_owned(), after_s: 12.0, pause_s: 6.5, in_doubt: 3 },
            "node n2 was lost 12.0 s into the round: nothing ended for 6.5 s, 3 outcomes are unknown",
        ),
        (
            Warning::CountNotReached { after_s: 1.0, done: 357_864, of: 10_000_000_000 },
            "ended by --for after 1 s: 357,864 of 10,000,000,000 operations; a longer --for, or a smaller --count",
        ),
        (Warning::DriversVanished { numbers: vec![2], of: 3 }, "vanished before the end: driver 2"),
        (Warning::NothingChanged, "no statement changed a row"),
        (Warning::ReplayedInPart { parts: vec!["masked".to_owned()] }, "unlike the recording: masked"),
        (Warning::EndedEarly { after_s: 3.0 }, "ended after 3 s as asked, before its work was done"),
    ] {
        let mut file = fixture::normal();
        file.warnings = vec![Warning::of_engine("small matter".to_owned()); 9];
        file.cases[0].rounds[0].warnings = [vec![Warning::NotQuiet; 9], vec![warning]].concat();
        assert!(screen(&file, 120, false, PAGE).contains(words), "{}", screen(&file, 120, false, PAGE));
        assert_eq!(terminal(&file, 120, false).matches(words).count(), 1);
    }
}

/// The remark that others had most of the machine was once among "5 more remarks", and a small matter was shown.
#[test]
fn what_others_took_is_the_first_doubt_of_every_screen() {
    for mut file in [fixture::normal(), fixture::void()] {
        file.warnings = vec![Warning::Oversubscribed { threads: 4, cpus: 2 }; 5];
        let others = Warning::OtherProcesses { cpus: 1.64, server_is_known: true };
        file.cases[0].rounds[0].warnings = vec![Warning::NotQuiet, others];
        let shown = screen(&file, 80, false, PAGE);
        let [others, small] = ["other processes used 1.64 CPUs", "4 busy threads"].map(|words| shown.find(words));
        assert!(others.is_some() && small.is_none_or(|small| others < Some(small)), "{shown}");
    }
}

/// The answer of a search was on the page, and not on the screen.
#[test]
fn the_rate_that_was_searched_for_is_the_answer_on_the_screen() {
    let mut file = fixture::normal();
    for (confirmed, words) in [
        (true, "  32.10 TR/s meets every limit, 33 TR/s does not: 0 rounds, and this run of full length confirms it"),
        (
            false,
            "  the highest rate is between 32.10 and 33 TR/s: only short rounds met every limit at 32.10, 0 rounds in all",
        ),
    ] {
        file.cases[0].search = Some(Search {
            unit: "TR/s".to_owned(),
            limits: Vec::new(),
            highest_passing: Some(32.1),
            lowest_failing: Some(33.0),
            confirmed,
            probes: Vec::new(),
        });
        let shown = screen(&file, 200, false, PAGE);
        let answer = if confirmed {
            "  32.10 TR/s within every limit   "
        } else {
            "  between 32.10 and 33 TR/s, not confirmed   "
        };
        assert!(shown.lines().nth(1).is_some_and(|line| line.starts_with(answer)), "{shown}");
        assert!(shown.lines().nth(3).is_some_and(|line| line.starts_with(words)), "{shown}");
        assert_eq!(shown.matches(words.trim_start()).count(), 1, "{shown}");
        let mut several = file.clone();
        several.cases.push(file.cases[0].clone());
        let shown = screen(&several, 200, false, PAGE);
        assert_eq!(shown.matches(words.trim_start()).count(), 2);
        // A rate that is not confirmed is no result that others are compared with.
        let listed = terminal(&several, 250, true);
        assert_eq!(shown.matches("  not confirmed  ").count(), if confirmed { 0 } else { 2 }, "{shown}");
        assert_eq!(listed.contains("highest: ") || listed.contains("fastest: "), confirmed, "{listed}");
        assert_eq!(listed.contains(": no figure that counts"), !confirmed, "{listed}");
    }
}

/// A rate of which a part was measured was once called reached.
#[test]
fn a_rate_that_was_not_reached_is_not_called_so() {
    let mut file = fixture::normal();
    let case = &mut file.cases[0];
    case.conditions.requested_rate = Some(200.0);
    case.rounds[0].arrivals = Some(Arrivals { due: 60_000, started: 60_000, ..Arrivals::default() });
    case.search = Some(Search {
        unit: "TR/s".to_owned(),
        limits: Vec::new(),
        highest_passing: Some(200.0),
        lowest_failing: None,
        confirmed: true,
        probes: Vec::new(),
    });
    let shown = screen(&file, 200, false, PAGE);
    let answer = "  100.0 TR/s of 200 requested, within every limit: the others wait for a price   ";
    assert!(shown.lines().nth(1).is_some_and(|line| line.starts_with(answer)), "{shown}");
    assert!(shown.contains("bottleneck: the requested rate\n") && !shown.contains("reached"), "{shown}");
}

/// A command that was broken in a quoted argument was another command when pasted.
#[test]
fn the_command_is_the_same_for_a_shell_however_narrow_the_terminal_is() {
    let mut file = fixture::normal();
    let arguments =
        ["bourse", "micro", "run", "commit", "sqlite:my  file.db", "--sweep", "sync=full,off", "-o", "a b  c"];
    file.provenance.command = arguments.map(str::to_owned).to_vec();
    for width in [60, 80, 200] {
        for shown in [screen(&file, width, false, None), terminal(&file, width, false)] {
            let command = shown.split("\nagain: ").nth(1).expect("it is there").replace(" \\\n ", "");
            let line = "bourse micro run commit 'sqlite:my  file.db' --sweep sync=full,off -o 'a b  c'";
            assert_eq!(command.lines().next(), Some(line), "{width}: {shown}");
        }
    }
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

/// A report without them has no heading for them, which the other snapshots show.
pub(crate) fn scan() -> StatementFigures {
    let mut times = Counts::new();
    times.record_many(9_000_000, 20);
    StatementFigures {
        operation: "orders".to_owned(),
        statement: format!("SELECT {} FROM orders WHERE user_id = ?1", ["amount"; 20].join(", ")),
        failed: 0,
        rows: 60,
        service: times.distribution(),
        plan: vec!["SCAN orders".to_owned()],
        work: Some(StatementWork { scanned_rows: 1_999_980, ..StatementWork::default() }),
    }
}

#[test]
fn statements_are_on_the_screen_with_hints_and_their_plans_in_the_whole_report() {
    let mut file = fixture::normal();
    let quick = StatementFigures { statement: "COMMIT".to_owned(), plan: vec![], work: None, ..scan() };
    file.cases[0].rounds[0].statements = vec![scan(), quick];
    let (short, whole) = (screen(&file, 120, false, PAGE), terminal(&file, 120, false));
    for words in ["50.00 %", "scans whole tables: 100,000 rows", "COMMIT", "SELECT … FROM orders WHERE user_id"] {
        assert!(short.contains(words) && whole.contains(words), "{words}: {short}");
    }
    assert!(!short.contains("SCAN orders") && whole.contains("    SCAN orders"), "{whole}");
    assert!(html(&file).contains("SCAN orders") && markdown(&file).contains("SCAN orders"));
    // Hints at the ten dearest statements once were most of a screen of a hundred lines.
    let numbered = |number| StatementFigures { statement: format!("SELECT {number} FROM orders"), ..scan() };
    file.cases[0].rounds[0].statements = (0..12).map(numbered).collect();
    let (short, whole) = (screen(&file, 120, false, PAGE), terminal(&file, 120, false));
    let hints = |shown: &str| shown.matches("FROM orders: scans whole tables").count();
    assert_eq!((hints(&short), hints(&whole)), (3, 10), "{short}");
    assert!(short.contains("7 more hints: -v, and the page"), "{short}");
}

/// The statements of the default job once took 44 rows of a terminal.
#[test]
fn statements_fit_one_screen_with_the_prompt() {
    let [mut job, mut alone] = [fixture::normal(), fixture::normal()];
    alone.cases[0].rounds[0].operations.truncate(1);
    for count in [1, 2, 5, 12, 80] {
        let of = |number: usize| {
            let operation = ["Customer-Position", "Trade-Lookup", "Trade-Order"][number % 3].to_owned();
            let statement =
                format!("SELECT {} FROM trade, security_{number} WHERE t_id = ?1", ["t_price"; 9].join(", "));
            StatementFigures { operation, statement, ..scan() }
        };
        let statements: Vec<StatementFigures> = (0..count).map(of).collect();
        for file in [&mut job, &mut alone] {
            file.cases[0].rounds[0].statements = statements.clone();
            file.warnings = vec![Warning::of_engine("much to say ".repeat(40)); 9];
            for width in [80, 100, 120, 200] {
                let shown = screen(file, width, false, PAGE);
                assert!(rows(&shown, width) < 24, "{count}, {width}: {}\n{shown}", rows(&shown, width));
                let lines: Vec<&str> = shown.lines().filter(|it| it.contains(" ms  SELECT … FROM")).collect();
                assert!(lines.len() >= count.min(3) && lines[0].contains(" %  "), "{count}, {width}\n{shown}");
                let hint = "scans whole tables: 100,000 rows a call for a result of 3";
                assert!(shown.replace("\n    ", " ").contains(hint), "{count}, {width}\n{shown}");
                let more = count.checked_sub(lines.len()).filter(|more| *more > 0);
                assert!(more.is_none_or(|more| shown.contains(&format!("{more} further statement"))), "{shown}");
            }
            let shown = screen(file, 80, false, PAGE);
            let has_operations = shown.contains("\nTrade-Result  ");
            assert_eq!(
                shown.contains("  10 transactions") || shown.contains("  1 transaction:"),
                !has_operations,
                "{shown}"
            );
        }
        assert!(screen(&alone, 80, false, PAGE).contains("\nTrade-Result  "), "{count}: there is room for both");
    }
}
