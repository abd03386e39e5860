//! Speed of a check: a history of updates, reads and appends by 64 sessions in a serial store, and the same with stale reads.
//!
//! `cargo bench -p bourse-isolation --bench check -- [TRANSACTIONS]`, a million if not given. Peak memory: `/usr/bin/time -v`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use bourse_isolation::{Action, History, Operation, Transaction, TransactionOutcome, check};
use std::time::Instant;

const KEYS: u64 = 10_000;
const SESSIONS: u64 = 64;

/// Transactions of four operations: two registers updated, or a list appended to and read with two registers. One of `stale` reads, if
/// there is one, is of the version before.
fn history(transactions: u64, stale: Option<u64>) -> History {
    let mut versions = vec![(0, 0); KEYS as usize];
    let mut lists = vec![Vec::new(); (transactions / 20 + 1) as usize];
    let mut state = 1_u64;
    let mut draw = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut transaction = |number: u64| {
        let begin_ns = number * 1_000;
        let end_ns = begin_ns + SESSIONS * 900;
        let mut actions = Vec::with_capacity(4);
        for place in 0..2 {
            let key = draw(KEYS / 2) * 2 + place;
            let (version, before) = versions[key as usize];
            let is_stale = stale.is_some_and(|one_of| draw(one_of) == 0);
            actions.push(Action::Read { key, version: Some(if is_stale { before } else { version }) });
            if number.is_multiple_of(2) {
                let next = number * 2 + place + 1;
                versions[key as usize] = (next, version);
                actions.push(Action::Write { key, version: next });
            }
        }
        if number % 2 == 1 {
            let key = number / 20;
            let list: &mut Vec<u64> = &mut lists[key as usize];
            list.push(number);
            actions.push(Action::Append { key, element: number });
            actions.push(Action::ReadList { key, elements: list.clone() });
        }
        let operation = |action| Operation { begin_ns, end_ns, action };
        let operations = actions.into_iter().map(operation).collect();
        let session = (number % SESSIONS) as u32;
        Transaction { session, begin_ns, end_ns, outcome: TransactionOutcome::Committed, operations }
    };
    History { name: "bench".to_owned(), transactions: (0..transactions).map(&mut transaction).collect() }
}

fn main() {
    let given = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let transactions = given.unwrap_or(1_000_000);
    for (name, stale) in
        [("serial", None), ("one read of 10,000 stale", Some(10_000)), ("one read of 10 stale", Some(10))]
    {
        let history = history(transactions, stale);
        let begin = Instant::now();
        let report = check(&history);
        let seconds = begin.elapsed().as_secs_f64();
        println!("{name}: {transactions} transactions, {} edges, {seconds:.2} s", report.edges);
        for anomaly in &report.anomalies {
            println!("  {}: {}, the smallest of {}", anomaly.kind.name(), anomaly.count, anomaly.transactions.len());
        }
    }
}
