//! Customers' response times, in a sentence: over all operations due at the lower rate, including those that failed or were
//! never started.

use crate::fixture;
use bourse_record::{Arrivals, LatencyPhase, Outcome, Round, Times, is_of_customers};
use bourse_report::screen;

/// A phase of so many Trade-Orders and Trade-Status, a hundredth of each twelve times as slow, and slow Trade-Results that
/// no customer waits for; so many of each failed immediately.
fn phase(each: u64, failed: u64) -> Round {
    let mut round = fixture::round(30);
    round.operations.retain(|it| ["Trade-Order", "Trade-Status", "Trade-Result"].contains(&it.name.as_str()));
    for operation in &mut round.operations {
        let typical_us = if is_of_customers(&operation.name) { 1_000 } else { 900_000 };
        operation.by_schedule = is_of_customers(&operation.name);
        operation.outcomes =
            vec![fixture::outcome(Outcome::Completed, 0, each - failed), fixture::outcome(Outcome::Failed, 1, failed)];
        operation.response = fixture::distribution(each, typical_us);
        operation.service = operation.response.clone();
        // These are among the times above.
        let times = fixture::distribution(failed, typical_us);
        operation.failed = (failed > 0).then(|| Times { response: times.clone(), service: times });
    }
    round
}

/// The sentence below the headline of a run with that phase, in which `unstarted` operations never started.
fn told(round: Round, unstarted: u64) -> String {
    let ended = round.operations.iter().filter(|it| it.by_schedule).flat_map(|it| &it.outcomes);
    let started: u64 = ended.map(|it| it.count).sum();
    let arrivals = Arrivals { due: started + unstarted, started, unstarted, ..Arrivals::default() };
    let round = Round { arrivals: Some(arrivals), ..round };
    let mut file = fixture::normal();
    file.cases[0].rounds[0].latency = Some(Box::new(LatencyPhase { part: 0.7, per_second: 700.0, round }));
    let shown = screen(&file, 200, false, None);
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("what a customer waits at 70 % "));
    line.unwrap_or_else(|| panic!("it is told: {shown}")).to_owned()
}

#[test]
fn the_rate_has_to_be_kept() {
    // 980 of 1,000 of each would do for a p90 only.
    assert_eq!(
        told(phase(4_945, 0), 110),
        "of the customers' rate (700.0/s without the market's, one stream of arrivals): no figure: only 98.9 % of scheduled transactions started (99 % required)"
    );
    assert!(told(phase(4_975, 0), 50).starts_with("of the customers' rate: p50 "));
}

/// The p99 was once that of the started operations: half a percent that never starts makes it a p99.5 of theirs.
#[test]
fn what_was_never_started_or_failed_counts_as_slower_than_all() {
    // A hundredth takes 12 ms, fifteen take 2 ms.
    assert_eq!(told(phase(5_000, 0), 0), "of the customers' rate: p50 1.03 ms, p99 2.29 ms");
    let unstarted = told(phase(4_975, 0), 50);
    assert!(unstarted.starts_with("of the customers' rate: p50 1.03 ms, p99 1"), "{unstarted}");
    assert!(unstarted.ends_with(" ms") && !unstarted.contains('>'), "{unstarted}");
    // Failures in addition move the p99 to an operation without a time.
    let failed = told(phase(4_975, 75), 50);
    assert!(failed.contains("p50 1.03 ms, p99 > 1"), "{failed}");
    let failed = told(phase(5_000, 3_000), 0);
    assert!(failed.contains("p50 > 1") && failed.contains("p99 > 1"), "fast failures make nothing faster: {failed}");
}

#[test]
fn a_quantile_has_ten_beyond_it_or_is_not_told() {
    let few = ": no figure (too few transactions)";
    for (each, p50, p99) in [(9, false, false), (10, true, false), (499, true, false), (500, true, true)] {
        let told = told(phase(each, 0), 0);
        assert_eq!(told.contains(&format!("p50{few}")), !p50, "{each}: {told}");
        assert_eq!(told.contains(&format!("p99{few}")), !p99, "{each}: {told}");
    }
}
