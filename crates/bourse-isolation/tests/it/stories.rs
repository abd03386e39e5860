//! Stories: an example is told so that it is understood at first reading.

use crate::notation::history;
use bourse_isolation::{Action, Transaction, check};

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
