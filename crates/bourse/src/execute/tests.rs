//! Tests of repeated rounds.

use super::*;
use bourse_record::{Case, Interference};

/// What a round was like.
#[derive(Clone, Copy)]
enum Was {
    /// Others took so many CPUs.
    Taken(f64),
    /// Nothing ended in it.
    Idle,
    /// It has no figure for another reason.
    Void,
}

/// A case whose rounds are these.
fn ran(rounds: &[Was], repeats: u32) -> (Case, u32) {
    let mut case = CaseRun::new(crate::plan::tests::case("a"));
    let mut given = rounds.iter();
    let mut wanted = 0;
    while !given.as_slice().is_empty() {
        wanted += 1;
        repeated(&mut case, repeats, |case| case.keep(outcome(*given.next().expect("another round")), 0.0)).unwrap();
    }
    (case.case.unwrap(), wanted)
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
        "warnings": [], "interrupted": false, "failure": null
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
    // Six rounds, the second and the third disturbed, the third twice.
    let (case, wanted) = ran(&[quiet, busy, quiet, busy, busy, quiet, quiet, quiet, quiet], 3);
    assert_eq!((case.rounds.len(), case.set_aside.len(), wanted), (6, 3, 6));
    assert!(case.rounds.iter().all(|round| !round.is_disturbed()));
    // A machine that never rests: then what there is counts, and says so.
    let (case, wanted) = ran(&[busy; 9], 3);
    assert_eq!((case.rounds.len(), case.set_aside.len(), wanted), (6, 3, 6));
    assert!(case.rounds.iter().all(bourse_record::Round::is_disturbed));
    // The host stood still for a whole round: another one takes its place, and if there is none it stays.
    let (case, _) = ran(&[Was::Idle, quiet], 1);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (1, 1));
    let (case, _) = ran(&[Was::Idle, Was::Idle], 1);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (1, 1));
    assert!(case.rounds[0].void.is_some());
    // Any other round without a figure is not made away with.
    let (case, _) = ran(&[Was::Void, quiet], 1);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (2, 0));
    let (case, _) = ran(&[busy], 0);
    assert_eq!((case.rounds.len(), case.set_aside.len()), (1, 0), "a single round is not repeated");
}
