//! Histories in a compact notation: a transaction a line.
//!
//! `a 0-100: r1=0 w1=7 ?` is a transaction of session `a` from 0 to 100 ns, its operations at equal distances. At its end `!` is rolled
//! back, `?` of unknown outcome. Without a time it overlaps with all others.
//!
//! | token | operation |
//! |---|---|
//! | `r1=7`, `r1=-` | read of register 1: version 7, or no such row |
//! | `w1=7`, `d1` | write, deletion |
//! | `a1=7`, `l1=5,7` | append to list 1, read of it |
//! | `q1-9=2@7,3@0` | read of registers 1 to 9: those found with their versions |
//! | `c1=7` | increment of counter 1 to 7 |

use bourse_isolation::{Action, History, Operation, Transaction, TransactionOutcome};

pub(crate) fn history(text: &str) -> History {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    History { name: "test".to_owned(), transactions: lines.map(transaction).collect() }
}

fn transaction(line: &str) -> Transaction {
    let (head, tokens) = line.split_once(':').expect("a head");
    let (session, time) = head.split_once(' ').unwrap_or((head, "0-1000"));
    let (begin_ns, end_ns) = pair(time, '-');
    let mut outcome = TransactionOutcome::Committed;
    let mut actions = Vec::new();
    for token in tokens.split_whitespace() {
        match token {
            "!" => outcome = TransactionOutcome::RolledBack,
            "?" => outcome = TransactionOutcome::Unknown,
            _ => actions.push(action(token)),
        }
    }
    let at = |place: usize| begin_ns + (end_ns - begin_ns) * place as u64 / actions.len().max(1) as u64;
    let operation = |(place, action): (usize, &Action)| Operation {
        begin_ns: at(place),
        end_ns: at(place + 1),
        action: action.clone(),
    };
    let operations = actions.iter().enumerate().map(operation).collect();
    let session = session.bytes().fold(0, |number, byte| number * 26 + u32::from(byte - b'a'));
    Transaction { session, begin_ns, end_ns, outcome, operations }
}

fn action(token: &str) -> Action {
    let (kind, rest) = token.split_at(1);
    let (target, value) = rest.split_once('=').unwrap_or((rest, ""));
    let key = || target.parse().expect("a key");
    let number = || value.parse().expect("a number");
    match kind {
        "r" => Action::Read { key: key(), version: (value != "-").then(number) },
        "w" => Action::Write { key: key(), version: number() },
        "d" => Action::Delete { key: key() },
        "a" => Action::Append { key: key(), element: number() },
        "l" => Action::ReadList {
            key: key(),
            elements: list(value).map(|element| element.parse().expect("an element")).collect(),
        },
        "q" => {
            let (from, to) = pair(target, '-');
            Action::ReadRange { from, to, rows: list(value).map(|row| pair(row, '@')).collect() }
        }
        "c" => Action::Count { key: key(), value: number() },
        _ => panic!("{token} is no operation"),
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

fn pair(text: &str, mark: char) -> (u64, u64) {
    let (one, other) = text.split_once(mark).expect("a pair");
    (one.parse().expect("a number"), other.parse().expect("a number"))
}
