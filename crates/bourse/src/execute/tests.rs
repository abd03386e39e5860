//! Tests of repeated rounds.
#![cfg(test)]

use super::*;
use bourse_record::{Case, Interference};
use bourse_stats::repeats::Budget;

/// Course of a simulated round.
#[derive(Clone, Copy)]
enum Was {
    /// Others took so many CPUs.
    Taken(f64),
    /// Nothing ended in it.
    Idle,
    /// No figure for another reason.
    Void,
}

/// Adds a round to the case.
fn run(case: &mut CaseRun, was: Was) {
    case.keep(outcome(was), 0.0).expect("it did not fail");
}

/// A case of so many rounds, run until these are used up.
fn ran(of: u32, rounds: &[Was]) -> Case {
    let mut cases = [CaseRun::new(crate::plan::tests::case("a"))];
    let mut budget = Budget::new(1, of);
    let mut given = rounds.iter();
    let mut number = 0;
    while let Some(was) = given.next() {
        run(&mut cases[0], *was);
        while repeats::again(&mut budget, number, &[0], &mut cases).is_some() {
            run(&mut cases[0], *given.next().expect("another round"));
        }
        number += 1;
    }
    let [case] = cases;
    case.case.expect("it has rounds")
}

fn outcome(was: Was) -> RoundOutcome {
    let times =
        serde_json::json!({ "summary": bourse_record::LatencySummary::default(), "hdr_base64": "", "clamped": 0 });
    let ended = if matches!(was, Was::Idle) { 0 } else { 5 };
    let outcome = serde_json::json!({
        "round": {
            "offset_s": 0, "phases": [], "measured_s": 1, "headline": 5,
            "operations": [{
                "name": "read", "retries": 0, "late": 0, "response": times, "service": times,
                "outcomes": [{ "outcome": "completed", "code": 0, "count": ended, "example": null }],
                "mix_target_percent": null, "mix_tolerance_points": null, "limit_ns": null
            }],
            "series": { "time_s": [], "columns": [] }, "cpu_user_s": 0, "cpu_system_s": 0, "read_bytes": 0,
            "written_bytes": 0, "facts": [], "checks": [], "warnings": []
        },
        "engine": { "name": "null", "version": "", "target": "null:", "durability": "volatile", "durability_reason": "",
                    "settings": [], "compile_options": [] },
        "workload": { "name": "point-read", "kind": "micro", "parameters": [], "headline_operation": "read",
                      "headline_unit": "reads/s", "nominal": null, "outcomes": [], "notice": null },
        "conditions": bourse_record::Conditions::default(),
        "warnings": [], "interrupted": false, "spent": {}, "instructions": 0, "failure": null
    });
    let mut outcome: RoundOutcome = serde_json::from_value(outcome).expect("it is an outcome");
    match was {
        Was::Taken(by_others) => {
            let (by_kernel, by_host, includes_server) = (0.0, 0.0, false);
            outcome.round.interference = Some(Interference { by_others, by_kernel, by_host, includes_server });
        }
        Was::Idle => outcome.round.make_void("no read ended validly"),
        Was::Void => outcome.round.make_void("the database could not be checked"),
    }
    outcome
}

#[test]
fn disturbed_rounds_are_repeated_half_as_many_times_as_there_are() {
    let quiet = Was::Taken(0.02);
    let busy = Was::Taken(0.8);
    // Six rounds: the second is disturbed once, the third twice, when there is one repeat left for it.
    let case = ran(6, &[quiet, busy, quiet, busy, busy, quiet, quiet, quiet]);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (6, 2));
    assert_eq!(case.rounds.iter().filter(|round| round.is_disturbed()).count(), 1);
    // A machine that is never quiet: the disturbed rounds count, with a warning; the first round does not use all repeats.
    let case = ran(6, &[busy; 9]);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (6, 3));
    assert!(case.rounds.iter().all(bourse_record::Round::is_disturbed));
    // The host stalled for a whole round: another one takes its place, even if disturbed ones have used up the budget.
    let case = ran(2, &[busy, Was::Idle, Was::Idle, quiet, quiet]);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (2, 3));
    assert!(case.rounds.iter().all(|round| round.void.is_none()));
    let case = ran(2, &[Was::Idle; 4]);
    assert!(case.rounds.len() == 1 && case.rounds[0].void.is_some(), "there is an end to it");
    // Any other round without a figure is not repeated.
    let case = ran(2, &[Was::Void, quiet]);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (2, 0));
    let case = ran(1, &[busy]);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (1, 0), "a single round is not repeated");
}

#[test]
fn both_rounds_of_a_pair_are_repeated_and_of_more_cases_the_disturbed_ones() {
    let after = |rounds: &[Was]| {
        let mut cases: Vec<CaseRun> = rounds.iter().map(|_| CaseRun::new(crate::plan::tests::case("a"))).collect();
        cases.iter_mut().zip(rounds).for_each(|(case, was)| run(case, *was));
        let order: Vec<usize> = (0..rounds.len()).collect();
        let mut budget = Budget::new(u32::try_from(rounds.len()).expect("few"), 8);
        repeats::again(&mut budget, 0, &order, &mut cases).map(|again| again.cases)
    };
    let (quiet, busy) = (Was::Taken(0.0), Was::Taken(0.8));
    assert_eq!(after(&[quiet, quiet]), None);
    assert_eq!(after(&[quiet, busy]), Some(vec![0, 1]));
    assert_eq!(after(&[Was::Void, busy]), None, "not the one that failed, and not the other alone");
    assert_eq!(after(&[quiet, busy, Was::Void]), Some(vec![1]));
    assert_eq!(after(&[busy, busy, busy]), Some(vec![0, 1]), "an eighth of twelve rounds, those that ran first");
}

/// Regression: a server's setting that was changed between two rounds was mixed into a figure of the first one's class.
#[test]
fn a_setting_that_changes_between_rounds_voids_the_later_one() {
    let mut case = CaseRun::new(crate::plan::tests::case("a"));
    let with = |name: &str, value: &str, durability| {
        let mut outcome = outcome(Was::Taken(0.0));
        outcome.engine.settings = vec![bourse_record::NameValue::new(name, value)];
        outcome.engine.durability = durability;
        outcome
    };
    use bourse_record::Durability::{Durable, Process};
    let rounds = [("sync", "on", Durable), ("sync", "on", Durable), ("sync", "off", Durable), ("other", "on", Process)];
    for (name, value, durability) in rounds {
        case.keep(with(name, value, durability), 0.0).expect("it did not fail");
    }
    let voids: Vec<_> = case.rounds().iter().map(|round| round.void.as_deref()).collect();
    let [changed, class] = ["sync was on, and is off", "durability was durable, and is process"]
        .map(|change| format!("a setting changed between two rounds: {change}"));
    assert_eq!(voids, [None, None, Some(changed.as_str()), Some(class.as_str())]);
    assert!(case.rounds()[2].headline.is_nan());
}

/// `quick` on a busy machine ended with 1, since one of its 31 cases had no figure.
#[test]
fn a_case_without_a_figure_fails_a_run_that_may_leave_it_out_only_if_no_other_has_one() {
    let file = |rounds: &[Was]| {
        let head = crate::provenance::provenance(1);
        RunFile { cases: rounds.iter().map(|was| ran(1, &[*was])).collect(), ..RunFile::new("x".to_owned(), head) }
    };
    let ends = |rounds: &[Was], on_failure| {
        let plan = Plan { on_failure, ..crate::plan::tests::plan(false) };
        verdict::verdict(&file(rounds), &plan, Ok(())).map_err(|failure| failure.exit)
    };
    let [quiet, void] = [Was::Taken(0.0), Was::Void];
    assert_eq!(ends(&[quiet, void], OnFailure::LeaveOutCase), Ok(()));
    assert_eq!(ends(&[void, void], OnFailure::LeaveOutCase), Err(Exit::Usage));
    assert_eq!(ends(&[quiet, void], OnFailure::EndRun), Err(Exit::Usage));
}
