//! Stories: an example is told so that it is understood at first reading.

use crate::notation::history;
use bourse_isolation::{Action, FINAL_SESSION, Transaction, check};

fn story(text: &str) -> String {
    let report = check(&history(text));
    let [anomaly] = &report.anomalies[..] else { panic!("one anomaly, found {:#?}", report.anomalies) };
    anomaly.story(|_, _| None)
}

#[test]
fn a_write_skew_is_told() {
    let text = story("a 0-3000000: r1=0 r2=0 w1=1\nb 1500000-4500000: r1=0 r2=0 w2=2");
    insta::assert_snapshot!(text);
}

#[test]
fn a_stale_read_is_told() {
    insta::assert_snapshot!(story("x 0-5: w9=1\na 10-1000000: r1=0 w1=1\nb 2000000-3000000: r1=0 r9=1"));
}

#[test]
fn an_aborted_read_is_told_with_its_statements() {
    let report = check(&history("a 0-2000000: w1=7 !\nb 500000-1500000: r1=7 r2=0"));
    let statement = |_: &Transaction, action: &Action| match action {
        Action::Read { key, .. } => Some(format!("SELECT version FROM t WHERE id = {key}")),
        _ => None,
    };
    insta::assert_snapshot!(report.anomalies[0].story(statement));
}

#[test]
fn a_lost_update_is_told() {
    insta::assert_snapshot!(story("a 0-3000000: r1=0 w1=1\nb 1500000-4500000: r1=0 w1=2"));
}

#[test]
fn a_long_fork_is_told() {
    insta::assert_snapshot!(story(
        "a 0-3000000: a1=1\nb 0-3000000: a2=1\nc 0-3000000: l1=1 l2=\nd 0-3000000: l1= l2=1"
    ));
}

/// Anomalies of a history that ends with the final state.
fn ended(text: &str) -> Vec<String> {
    let mut history = history(text);
    history.transactions.last_mut().expect("the final state").session = FINAL_SESSION;
    check(&history).anomalies.iter().map(|found| format!("{} × {}", found.count, found.kind.name())).collect()
}

#[test]
fn an_acknowledged_write_that_the_final_state_lacks_is_lost() {
    let lost = ["1 × lost-write"];
    assert_eq!(ended("a 0-10: w1=1\nb 20-30: w1=2\nz 40-50: r1=2"), [""; 0], "it was overwritten");
    assert_eq!(ended("a 0-10: w1=1\nb 5-30: w1=2\nz 40-50: r1=1"), [""; 0], "either may be the last");
    let found = ended("a 0-10: w1=1\nb 20-30: w1=2\nz 40-50: r1=1");
    assert!(found.contains(&"1 × lost-write".to_owned()) && !found.iter().any(|it| it.contains("G2")), "{found:?}");
    assert_eq!(ended("a 0-10: w1=1 ?\nb 20-30: w1=2 ?\nz 40-50: r1=1"), [""; 0], "nobody knows of the second");
    assert_eq!(ended("a 0-10: w1=1 ?\nb 20-30: w1=2\nz 40-50: r1=1"), [""; 0], "an unknown one may come late");
    assert!(ended("a 0-10: a1=5\nb 20-30: a1=6\nz 40-50: l1=5").contains(&lost[0].to_owned()));
    assert_eq!(ended("a 0-10: a1=5\nb 20-30: a1=6 ?\nz 40-50: l1=5"), [""; 0]);
    assert!(ended("a 0-10: w1=1\nz 40-50: r1=-").contains(&lost[0].to_owned()), "the row is gone");
    assert_eq!(ended("a 0-10: w1=1\nb 20-30: d1\nz 40-50: r1=-"), [""; 0]);
    assert!(ended("a 0-10: w1=1\nb 20-30: d1\nz 40-50: q1-9=1@1").contains(&lost[0].to_owned()), "a lost deletion");
}

#[test]
fn a_lost_write_is_told() {
    let mut history = history("a 0-1000000: w1=1\nb 2000000-3000000: w1=2\nz 4000000-5000000: r1=1");
    history.transactions[2].session = FINAL_SESSION;
    let report = check(&history);
    insta::assert_snapshot!(report.anomalies.last().expect("it is lost").story(|_, _| None));
}

#[test]
fn transactions_of_unknown_outcome_that_others_saw_are_counted() {
    let report = check(&history("a 0-10: w1=1 ?\nb 0-10: w2=1 ?\nc 20-30: r1=1"));
    assert_eq!((report.unknown, report.unknown_seen), (2, 1));
}
