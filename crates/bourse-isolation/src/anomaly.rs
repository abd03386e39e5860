//! Isolation levels, anomalies, and the table of which anomaly refutes which level.

use Level::{
    MonotonicAtomicView, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable, SnapshotIsolation,
    StrictSerializable, StrongSessionSerializable,
};
use serde::{Deserialize, Serialize};

/// Isolation level, defined by the anomalies that it excludes.
///
/// Adya's thesis of 1999 defines the levels PL-1 to PL-3 by cycles in a graph of dependencies; the names here are those of the SQL
/// standard where it has one. Repeatable read is Adya's PL-2.99, which locks on rows would give: it excludes write skew, which
/// engines that call snapshot isolation "repeatable read" allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// PL-1: writes of two transactions do not interleave.
    ReadUncommitted,
    /// PL-2: only final versions of committed transactions are read.
    ReadCommitted,
    /// Monotonic atomic view: after a transaction has seen one effect of another, it misses none of the others.
    MonotonicAtomicView,
    /// PL-2.99: serializable, except that rows may appear in a range that was read.
    RepeatableRead,
    /// Snapshot isolation: reads see one moment, and of two concurrent transactions only one changes a row.
    SnapshotIsolation,
    /// PL-3: some order of the transactions explains all that they read.
    Serializable,
    /// Serializable in an order that keeps each session's own.
    StrongSessionSerializable,
    /// Serializable in an order in which each transaction follows those that ended before it began.
    StrictSerializable,
}

impl Level {
    /// All levels, weaker ones first. Repeatable read and snapshot isolation are incomparable.
    pub const ALL: [Self; 8] = [
        ReadUncommitted,
        ReadCommitted,
        MonotonicAtomicView,
        RepeatableRead,
        SnapshotIsolation,
        Serializable,
        StrongSessionSerializable,
        StrictSerializable,
    ];

    /// Name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            ReadUncommitted => "read uncommitted",
            ReadCommitted => "read committed",
            MonotonicAtomicView => "monotonic atomic view",
            RepeatableRead => "repeatable read",
            SnapshotIsolation => "snapshot isolation",
            Serializable => "serializable",
            StrongSessionSerializable => "strong session serializable",
            StrictSerializable => "strict serializable",
        }
    }
}

/// Row of the table of anomalies.
#[derive(Debug, Clone, Copy)]
pub struct AnomalyFacts {
    /// Kind of the anomaly.
    pub kind: AnomalyKind,
    /// Name: Adya's or Elle's where they have one.
    pub name: &'static str,
    /// Name in plain words.
    pub title: &'static str,
    /// Meaning, as a sentence without full stop.
    pub meaning: &'static str,
    /// Levels that exclude it: a history that holds it refutes them. None of what durability excludes.
    pub refutes: &'static [Level],
    /// Unit of its count.
    pub counted: &'static str,
}

// Levels from one upwards. Snapshot isolation does not imply repeatable read, which is before it in the list.
const ANY: &[Level] = &Level::ALL;
const COMMITTED: &[Level] = ANY.split_at(1).1;
const VIEW: &[Level] = ANY.split_at(2).1;
const ITEM: &[Level] = ANY.split_at(3).1;
const SNAPSHOT: &[Level] = ANY.split_at(4).1;
const REPEATABLE: &[Level] = &[RepeatableRead, Serializable, StrongSessionSerializable, StrictSerializable];
const SERIAL: &[Level] = ANY.split_at(5).1;
const SESSION: &[Level] = ANY.split_at(6).1;
const STRICT: &[Level] = ANY.split_at(7).1;
const DURABLE: &[Level] = &[];

const GROUPS: &str = "groups of transactions that depend on one another in circles";

macro_rules! facts {
    ($($kind:ident $name:literal $title:literal $meaning:literal $refutes:ident $counted:expr;)*) => {
        /// Kind of an anomaly. [`AnomalyKind::facts`] has its name, meaning and the levels that it refutes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AnomalyKind { $(#[doc = $meaning] $kind),* }

        /// All anomalies, in the order of [`AnomalyKind`]: those that refute the most first.
        ///
        /// Sources: A. Adya, "Weak Consistency: A Generalized Theory and Optimistic Implementations for Distributed Transactions", MIT,
        /// 1999 (G0 to G2, G-single, G-monotonic); K. Kingsbury and P. Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
        /// Observations", VLDB 2020 (internal, incompatible order, dirty update, cycles through session and real time); A. Cerone and
        /// A. Gotsman, "Analysing Snapshot Isolation", PODC 2016 (G-nonadjacent); D. Terry and others, "Session Guarantees for Weakly
        /// Consistent Replicated Data", PDIS 1994.
        pub static ANOMALIES: &[AnomalyFacts] = &[$(AnomalyFacts {
            kind: AnomalyKind::$kind, name: $name, title: $title, meaning: $meaning, refutes: $refutes, counted: $counted,
        }),*];
    };
}

facts! {
    GarbageRead "garbage-read" "read of what nobody wrote" "a transaction read a state that no transaction made" ANY "reads";
    DuplicateElement "duplicate-elements" "write applied twice" "a list has an element twice that was appended once" ANY "lists";
    Internal "internal" "own write not seen" "a transaction did not see what it had written itself" ANY "reads";
    G0 "G0" "dirty write" "writes of transactions interleave: each overwrote a write of the other" ANY GROUPS;
    G1a "G1a" "aborted read" "a committed transaction saw a write of one that was rolled back" COMMITTED "reads";
    G1b "G1b" "intermediate read" "a transaction saw a version that its writer replaced before it committed" COMMITTED "reads";
    G1c "G1c" "circular information flow" "transactions saw or overwrote each other's writes in a circle" COMMITTED GROUPS;
    DirtyUpdate "dirty-update" "update of an aborted write" "a committed transaction built on a version that was rolled back" COMMITTED "updates";
    IncompatibleOrder "incompatible-order" "two orders of one list" "two reads of a list show its elements in different orders" COMMITTED "reads";
    GMonotonic "G-monotonic" "effects seen in part" "a transaction saw one effect of another, and afterwards missed another one" VIEW "reads";
    LostUpdate "lost-update" "lost update" "two transactions changed a row from the same version, so one change is lost" ITEM "versions";
    NonRepeatableRead "non-repeatable-read" "non-repeatable read" "a transaction read a row twice and found two versions" ITEM "reads";
    PhantomRead "phantom-read" "phantom" "a row appeared or vanished between two reads of one transaction" SNAPSHOT "reads";
    GSingleItem "G-single-item" "read skew" "a transaction saw one effect of another and missed another one" ITEM GROUPS;
    GSingle "G-single" "read skew with a phantom" "a transaction saw one effect of another and missed that it inserted or deleted a row" SNAPSHOT GROUPS;
    GNonadjacentItem "G-nonadjacent-item" "long fork" "transactions saw independent writes in different orders" ITEM GROUPS;
    GNonadjacent "G-nonadjacent" "long fork with a phantom" "transactions saw independent writes, inserts or deletions in different orders" SNAPSHOT GROUPS;
    G2Item "G2-item" "write skew" "transactions each missed what the other wrote, so neither can come first" REPEATABLE GROUPS;
    G2 "G2" "write skew with a phantom" "transactions each missed a row that the other inserted or deleted, so neither can come first" SERIAL GROUPS;
    ReadYourWrites "read-your-writes" "own earlier write missed" "a session did not see what an earlier transaction of its own had written" SESSION GROUPS;
    MonotonicReads "monotonic-reads" "reads that go back" "a session read an older version after a newer one" SESSION GROUPS;
    MonotonicWrites "monotonic-writes" "own writes in the wrong order" "a session's later write came before its earlier one" SESSION GROUPS;
    WritesFollowReads "writes-follow-reads" "write before what was read" "a session's write came before a version that it had read earlier" SESSION GROUPS;
    SessionCycle "G-session" "order of a session broken" "no order of the transactions keeps the order of each session" SESSION GROUPS;
    StaleRead "stale-read" "stale read" "a transaction missed a write that was acknowledged before it began" STRICT GROUPS;
    RealTimeCycle "G-realtime" "real time broken" "no order of the transactions keeps the order in which they were acknowledged" STRICT GROUPS;
    LostWrite "lost-write" "acknowledged write lost" "the final state lacks a write that was acknowledged and that nothing overwrote" DURABLE "rows and elements";
}

impl AnomalyKind {
    /// Row of the table of anomalies.
    pub fn facts(self) -> &'static AnomalyFacts {
        &ANOMALIES[self as usize]
    }

    /// Name: Adya's or Elle's where they have one.
    pub fn name(self) -> &'static str {
        self.facts().name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_kinds_and_refute_every_stronger_level() {
        let stronger: [(Level, &[Level]); 7] = [
            (ReadUncommitted, &[ReadCommitted]),
            (ReadCommitted, &[MonotonicAtomicView]),
            (MonotonicAtomicView, &[RepeatableRead, SnapshotIsolation]),
            (RepeatableRead, &[Serializable]),
            (SnapshotIsolation, &[Serializable]),
            (Serializable, &[StrongSessionSerializable]),
            (StrongSessionSerializable, &[StrictSerializable]),
        ];
        for (place, facts) in ANOMALIES.iter().enumerate() {
            assert_eq!(facts.kind as usize, place, "{}", facts.name);
            for (level, above) in stronger {
                let holds = !facts.refutes.contains(&level) || above.iter().all(|above| facts.refutes.contains(above));
                assert!(holds, "{} refutes {} and not what is stronger", facts.name, level.name());
            }
        }
    }
}
