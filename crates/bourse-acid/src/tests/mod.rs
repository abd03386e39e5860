//! The tests, and the function that judges one.
//!
//! | file | what |
//! |---|---|
//! | [`atomicity`] | a transaction is there whole or not at all |
//! | [`consistency`] | the conditions of Clause 7.3 hold before and after concurrent work |
//! | [`isolation`] | sessions halted amid their transactions while others come |
//! | [`durability`] | what a crash leaves of acknowledged trades |

pub(crate) mod atomicity;
pub(crate) mod consistency;
pub(crate) mod durability;
pub(crate) mod isolation;

use crate::test_bed::AcidError;
use bourse_engine::server_wait;
use bourse_oltp::acid::TestSpec;
use bourse_record::acid::{AcidCase, AcidFinding, AcidTest, AcidVerdict, Property};
use std::time::Instant;

/// Tests by id: property, title, source and demanded result.
macro_rules! tests {
    ($($id:literal $property:ident: $title:expr, $source:expr, $demanded:expr;)+) => {
        [$(TestSpec {
            id: $id,
            property: Property::$property,
            title: $title,
            source: $source,
            demanded: $demanded,
        }),+]
    };
}

/// All tests of TPC-E, in the order in which they are run.
pub static TESTS: &[TestSpec] = &tests![
    "A1" Atomicity: "Trade-Order that is committed", "Clause 7.2",
        "one new trade with its history, and its request if it waits for a price; nothing else has changed";
    "A2" Atomicity: "Trade-Order that is rolled back as asked", "Clause 7.2",
        "no row of it in any table, and nothing sent to the market";
    "A3" Atomicity: "transactions that give up amid their changes", "follows from Clause 7.2",
        "no row of them in any table; balances, holdings and brokers as before";
    "A4" Atomicity: "clients that vanish amid their transactions", "follows from Clause 7.2",
        "no row of them in any table, and no session waits for them";
    "C1" Consistency: "brokers' trades", "Clause 7.3.2.1",
        "a broker's number of trades is the number of completed trades of his accounts";
    "C2" Consistency: "brokers' commissions", "Clause 7.3.2.2",
        "a broker's commission is the sum of the commissions of those trades";
    "C3" Consistency: "holding summaries", "Clause 7.3.2.3",
        "a holding summary is the sum of the account's lots of the security, and each lot has one";
    "C4" Consistency: "further conditions of `bourse tpce check`", "follows from Clause 3.3",
        "no row breaks any of them";
    "C5" Consistency: "reconciliation of the work done", "follows from Clause 3.3",
        "the database has gained what was acknowledged to its users: orders, results, settlements, cash";
    "I1" Isolation: "phantoms and lost updates: Trade-Result beside Trade-Result of the same position",
        "Clause 7.4.2, P3 for read-write, which demands P2 too",
        "the position is the sum of both, and only one of them saw it as it was before both";
    "I2" Isolation: "unrepeatable reads: Trade-Order beside Market-Feed", "Clause 7.4.2, P2 for read-write",
        "both reads of the price within a Trade-Order agree; the new price stands in the end";
    "I3" Isolation: "dirty reads and writes: Trade-Result beside Trade-Result of the same account",
        "Clause 7.4.2, P0 and P1 for read-write",
        "balance and broker have gained what was committed, and nothing that was rolled back";
    "I4" Isolation: "dirty reads: Customer-Position beside Trade-Result", "Clause 7.4.2, P1 for read-only",
        "the balance before the Trade-Result until it is committed, and the one after it then";
    "D1" Durability: "the engine's process is killed amid its work", "Clause 7.5, failure of the system",
        "each acknowledged trade is there, nothing half-done is";
    "D2" Durability: "the power fails (simulated disk): the database is whole", "Clause 7.5, loss of power",
        "the database recovers undamaged, and nothing half-done is in it";
    "D3" Durability: "the power fails (simulated disk): nothing acknowledged is lost", "Clause 7.5, loss of power",
        "each acknowledged trade is there";
];

/// The test of TPC-E with this name.
pub(crate) fn spec(id: &str) -> &'static TestSpec {
    TESTS.iter().find(|spec| spec.id == id).expect("tests are run by their names in the table")
}

/// Runs a test and judges it by its findings.
pub(crate) fn judged(spec: &TestSpec, run: impl FnOnce(&mut Vec<AcidCase>) -> Result<(), AcidError>) -> AcidTest {
    let began = Instant::now();
    let mut cases = Vec::new();
    let outcome = run(&mut cases);
    let (verdict, reason) = match outcome {
        Err(_) if server_wait::is_interrupted() => {
            (AcidVerdict::NotApplicable, "it was interrupted before it had an outcome".to_owned())
        }
        Err(error) => (AcidVerdict::Failed, format!("the test could not be carried out: {error}")),
        Ok(()) => match cases.iter().find_map(first_wrong) {
            Some((case, wrong)) => {
                let at = if case.label.is_empty() { String::new() } else { format!("{}: ", case.label) };
                let failed = cases.iter().filter(|case| !case.holds()).count();
                let of = if cases.len() > 1 { format!(" ({failed} of {} tries)", cases.len()) } else { String::new() };
                (AcidVerdict::Failed, format!("{at}{}: {} wanted, {} found{of}", wrong.what, wrong.wanted, wrong.found))
            }
            None => (AcidVerdict::Passed, what_was_met(&cases)),
        },
    };
    finished(spec, verdict, reason, cases, began.elapsed().as_secs_f64())
}

fn first_wrong(case: &AcidCase) -> Option<(&AcidCase, &AcidFinding)> {
    case.findings.iter().find(|finding| !finding.holds).map(|wrong| (case, wrong))
}

/// Test with its verdict.
pub(crate) fn finished(
    spec: &TestSpec,
    verdict: AcidVerdict,
    reason: String,
    cases: Vec<AcidCase>,
    took_s: f64,
) -> AcidTest {
    AcidTest {
        id: spec.id.to_owned(),
        property: spec.property,
        title: spec.title.to_owned(),
        source: spec.source.to_owned(),
        demanded: spec.demanded.to_owned(),
        verdict,
        reason,
        cases,
        took_s,
    }
}

/// Counts of the outcomes met in the cases, as text.
fn what_was_met(cases: &[AcidCase]) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for case in cases.iter().filter(|case| !case.second_session.is_empty()) {
        match counted.iter_mut().find(|(second_session, _)| *second_session == case.second_session) {
            Some((_, count)) => *count += 1,
            None => counted.push((&case.second_session, 1)),
        }
    }
    if counted.is_empty() {
        let findings: usize = cases.iter().map(|case| case.findings.len()).sum();
        return format!("{findings} findings, all as demanded");
    }
    let words: Vec<_> =
        counted.iter().map(|(second_session, count)| format!("{second_session}: {count} of {}", cases.len())).collect();
    words.join("; ")
}
