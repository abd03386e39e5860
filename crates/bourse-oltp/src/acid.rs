//! Tests of atomicity, isolation and durability as data of a workload: its transactions, where they halt, and which of them meet.
//!
//! `bourse-acid` performs them, and judges each by the workload's transactions on plain collections
//! ([`Transactions::expected`](crate::mix::Transactions::expected)): outputs and rows must be those of one order of the
//! transactions that were committed.

use crate::workload::Size;
use bourse_record::acid::Property;

/// Description of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSpec {
    /// Short name.
    pub id: &'static str,
    /// ACID property that it tests.
    pub property: Property,
    /// Scenario, in one line.
    pub title: &'static str,
    /// Source: a clause, or another reason.
    pub source: &'static str,
    /// Demanded result.
    pub demanded: &'static str,
}

/// Point where a transaction halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HaltPoint {
    /// Description of the point, such as `after frame 1`.
    pub name: &'static str,
    /// Place of the point among the transaction's statements.
    pub place: HaltPlace,
}

/// Place of a point among a transaction's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltPlace {
    /// After the statement whose text, with single blanks, contains this.
    After(&'static str),
    /// Before the commit.
    Commit,
}

/// Point before the commit of any transaction.
pub const COMMIT: HaltPoint = HaltPoint { name: "before the commit", place: HaltPlace::Commit };

/// A transaction's input with a description of it.
pub type Described<I> = (String, I);

/// A transaction with the point where it halts.
pub type Halting<I> = (Described<I>, HaltPoint);

/// Transactions that meet: the first halts, and the others, one or two, begin meanwhile.
#[derive(Debug, Clone)]
pub struct Meeting<I> {
    /// Rows that they meet on.
    pub label: String,
    /// The first transaction.
    pub first: Described<I>,
    /// Point where it halts.
    pub halts: HaltPoint,
    /// The others, in the order in which they begin.
    pub others: Vec<Described<I>>,
}

/// Work of a test, on a database of that size.
#[derive(Debug)]
pub enum TestWork<I> {
    /// Transactions that are performed alone, and commit or roll back as their inputs say.
    Alone(fn(&Size) -> Vec<Described<I>>),
    /// Transactions that halt at a point and are rolled back.
    GivesUp(fn(&Size) -> Vec<Halting<I>>),
    /// Transactions that halt at a point, where their client vanishes.
    Vanishes(fn(&Size) -> Vec<Halting<I>>),
    /// Transactions that meet, by the number of the repetition.
    Meet(fn(&Size, u32) -> Meeting<I>),
}

/// Transactions whose commits are logged by the client, and looked for after a crash: they are recognised by a row that they alone
/// add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcknowledgedKind {
    /// Word of its lines in the log.
    pub word: &'static str,
    /// Name of the transactions, in the plural.
    pub transactions: &'static str,
    /// Name of what they add, in the plural, and of what has all its rows.
    pub things: [&'static str; 2],
    /// Beginning of the statement that adds the row; its first parameters are the row's key.
    pub statement: &'static str,
    /// Number of those parameters.
    pub keys: usize,
    /// Query for the keys of what has all its rows; `{last}` is the last number of before the load, if the workload numbers them.
    pub rows: &'static str,
}

/// The tests of a workload.
#[derive(Debug)]
pub struct AcidTests<I: 'static> {
    /// Tests of atomicity and isolation. Those of consistency are the workload's conditions.
    pub tests: &'static [(TestSpec, TestWork<I>)],
    /// Short name and source of the reconciliation, the test of consistency beyond the conditions.
    pub books: [&'static str; 2],
    /// Source of the tests of durability.
    pub crashes: &'static str,
    /// Transactions that are looked for after a crash; the last kind is counted.
    pub acknowledged: &'static [AcknowledgedKind],
}
