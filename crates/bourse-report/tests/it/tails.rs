//! Operations without a time of their own, and batches: the same in tables of several cases, in curves and in comparisons.

use crate::fixture;
use bourse_record::{Arrivals, Case, Outcome, RunFile};
use bourse_report::{DataValue, DrawComparison as _, data_tables, svg, terminal};
use bourse_verdict::comparison::{CasePair, ComparedCases, RunNoise, TOLERANCE};

/// Two values of a sweep over one workload; `change` changes the second case.
fn swept(change: impl Fn(&mut Case)) -> RunFile {
    let mut file = fixture::micro();
    let mut base = file.cases[0].clone();
    let operation = &mut base.rounds[0].operations[0];
    operation.response = fixture::distribution(3_000, 1_000);
    operation.service = operation.response.clone();
    operation.outcomes = vec![fixture::outcome(Outcome::Completed, 0, 3_000)];
    let mut head = base.clone();
    change(&mut head);
    file.cases = vec![base, head];
    for (case, rate) in file.cases.iter_mut().zip(["100", "200"]) {
        case.label = format!("rate={rate}");
        case.varied = vec![fixture::pair("rate", rate)];
    }
    file
}

/// The p90 and p99 of the second case in the table of several: as text, and for programs.
fn second(file: &RunFile) -> [String; 2] {
    let text = terminal(file, 400, false);
    let row = text.lines().find(|line| line.starts_with("rate=200 ")).expect("a row for each case").to_owned();
    let tables = data_tables(std::slice::from_ref(file));
    let table = tables.iter().find(|table| table.name == "operations").expect("a table of both");
    let row_of_second = table.rows.iter().find(|row| row[1] == DataValue::Text("rate=200".to_owned())).expect("a row");
    let of = |name: &str| match &row_of_second[table.columns.iter().position(|it| it.name == name).expect("a column")] {
        DataValue::Count(ns) => ns.to_string(),
        _ => String::new(),
    };
    [row, format!("{} {}", of("response_p90_ns"), of("response_p99_ns"))]
}

/// Ranking tables once took the quantiles of the operations that had a time alone: of a rate beyond capacity, where a fifth was
/// never started, they showed a fine p99.
#[test]
fn what_was_dropped_or_never_started_is_slower_than_all_in_a_table_of_several_cases() {
    let [row, values] = second(&swept(|_| ()));
    assert!(row.contains(" 1.93 ms  2.29 ms ") && !row.contains('>'), "{row}");
    assert!(values.split(' ').all(|value| value.parse::<u64>().is_ok()), "{values}");
    let dropped = |count: u64| {
        move |case: &mut Case| {
            case.rounds[0].operations[0].outcomes.push(fixture::outcome(Outcome::Dropped, 0, count));
        }
    };
    let unstarted = |count: u64| {
        move |case: &mut Case| {
            case.rounds[0].operations[0].by_schedule = true;
            case.rounds[0].arrivals =
                Some(Arrivals { due: 3_000 + count, started: 3_000, unstarted: count, ..Arrivals::default() });
        }
    };
    for (file, is_beyond) in [
        (swept(dropped(100)), [false, true]),
        (swept(unstarted(100)), [false, true]),
        (swept(dropped(600)), [true, true]),
        (swept(unstarted(600)), [true, true]),
    ] {
        let [row, values] = second(&file);
        assert_eq!(row.matches("> 13.").count(), is_beyond.iter().filter(|it| **it).count(), "{row}");
        let values: Vec<bool> = values.split(' ').map(str::is_empty).collect();
        assert_eq!(values, is_beyond, "there is no number for a program: {row}");
    }
}

#[test]
fn a_quantile_of_few_operations_is_blank_in_a_table_of_several_cases() {
    let few = |count: u64| {
        second(&swept(|case| {
            let operation = &mut case.rounds[0].operations[0];
            operation.response = fixture::distribution(count, 1_000);
            operation.outcomes = vec![fixture::outcome(Outcome::Completed, 0, count)];
        }))
    };
    for (count, blank) in [(99, [true, true]), (100, [false, true]), (999, [false, true]), (1_000, [false, false])] {
        let [row, values] = few(count);
        let found: Vec<bool> = values.split(' ').map(str::is_empty).collect();
        assert_eq!(found, blank, "{count}: {row}");
    }
}

/// A hundred at a time.
fn in_batches(case: &mut Case) {
    let operation = &mut case.rounds[0].operations[0];
    operation.samples = operation.service.summary.count / 100;
}

#[test]
fn quantiles_of_batches_say_so_wherever_they_stand() {
    let each = swept(|_| ());
    let batched = swept(in_batches);
    assert!(terminal(&batched, 400, false).contains("p90 of batches  p99 of batches"));
    assert!(svg(&batched).expect("a curve").contains("90th percentile of the response times of batches<"));
    assert!(!svg(&each).expect("a curve").contains("of batches"));
    let compared = |file: &RunFile| {
        let [base, head] = [&file.cases[0], &file.cases[1]].map(Clone::clone);
        ComparedCases::of(&[CasePair { base, head, in_turn: true }], Vec::new(), TOLERANCE, &RunNoise::Unknown)
            .text(&[], usize::MAX)
    };
    // Thirty timings have a median alone.
    assert!(compared(&batched).contains("\nresponse p50 of batches "), "{}", compared(&batched));
    let text = compared(&each);
    assert!(text.contains("\nresponse p90  ") && !text.contains("of batches"), "{text}");
}

#[test]
fn a_sweep_beyond_capacity_has_a_line_upwards_instead_of_a_fine_quantile() {
    let beyond = svg(&swept(|case| {
        case.rounds[0].operations[0].outcomes.push(fixture::outcome(Outcome::Dropped, 0, 600));
    }));
    let beyond = beyond.expect("a curve");
    assert!(beyond.contains("more than the dot where a line goes up"), "{beyond}");
    assert!(beyond.contains("rate 200: &gt; 13."), "{beyond}");
    let fine = svg(&swept(|_| ())).expect("a curve");
    assert!(!fine.contains("&gt;") && !fine.contains("goes up"), "{fine}");
    // Too few for a quantile: no dot in that panel.
    let few = svg(&swept(|case| case.rounds[0].operations[0].response = fixture::distribution(50, 1_000)));
    let dots = |picture: &str| picture.matches("dot f").count();
    assert_eq!((dots(&few.expect("a curve")), dots(&fine)), (3, 4));
}

#[test]
fn a_comparison_and_a_sweep_name_the_queue_that_is_part_of_their_response_times() {
    let mut file = fixture::several();
    file.cases.truncate(2);
    for (case, users) in file.cases.iter_mut().zip(["2", "4"]) {
        case.varied = vec![fixture::pair("users", users)];
    }
    let texts = |file: &RunFile| {
        let [base, head] = [&file.cases[0], &file.cases[1]].map(Clone::clone);
        let compared =
            ComparedCases::of(&[CasePair { base, head, in_turn: true }], Vec::new(), TOLERANCE, &RunNoise::Unknown);
        [compared.text(&[], usize::MAX), compared.markdown(), svg(file).expect("a curve")]
    };
    let [text, markdown, curve] = texts(&file);
    assert!(
        text.contains("response p90 with driver's queue") && markdown.contains("response p90 with driver"),
        "{text}"
    );
    assert!(curve.contains("response times, which include the driver") && curve.contains("queue of 16<"), "{curve}");
    file.cases.iter_mut().for_each(|case| case.conditions.driver_queue = None);
    assert!(texts(&file).iter().all(|text| !text.contains("queue")));
}
