//! Small histories with verdicts that we know.

use crate::notation::history;
use bourse_isolation::Level::{
    self, MonotonicAtomicView, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable, SnapshotIsolation,
    StrictSerializable, StrongSessionSerializable,
};
use bourse_isolation::check;

/// Name, history, anomalies, and the weakest levels refuted.
type Row = (&'static str, &'static str, &'static str, &'static [Level]);

const NOTHING: &[Level] = &[];
const RU: &[Level] = &[ReadUncommitted];
const RC: &[Level] = &[ReadCommitted];
const MAV: &[Level] = &[MonotonicAtomicView];
const BOTH: &[Level] = &[RepeatableRead, SnapshotIsolation];
const RR: &[Level] = &[RepeatableRead];
const SI: &[Level] = &[SnapshotIsolation];
const SER: &[Level] = &[Serializable];
const SSS: &[Level] = &[StrongSessionSerializable];
const STRICT: &[Level] = &[StrictSerializable];

const ROWS: &[Row] = &[
    ("nothing", "", "", NOTHING),
    ("an empty transaction", "a:", "", NOTHING),
    ("serial updates", "a 0-10: r1=0 w1=1\nb 20-30: r1=1 w1=2\nc 40-50: r1=2", "", NOTHING),
    ("concurrent reads of one state", "a: r1=0 r2=0\nb: r1=0 r2=0", "", NOTHING),
    ("blind writes in any order", "a: w1=1 w2=2\nb: w1=3 w2=4\nc: r1=1 r2=2", "", NOTHING),
    ("a reader before a concurrent writer", "a 0-10: r1=0\nb 5-15: r1=0 w1=1", "", NOTHING),
    // Dirty writes.
    ("lists written across", "a: a1=1 a2=1\nb: a1=2 a2=2\nc: l1=1,2 l2=2,1", "G0", RU),
    ("a list between two appends", "a: a1=1 a1=3\nb: a1=2\nc: l1=1,2,3", "G0", RU),
    ("counters written across", "a: c1=1 c2=2\nb: c1=2 c2=1", "G0 G1c", RU),
    // Aborted and intermediate reads.
    ("aborted read", "a: w1=1 !\nb: r1=1", "G1a", RC),
    ("aborted read by an aborted transaction", "a: w1=1 !\nb: r1=1 !", "", NOTHING),
    ("aborted element", "a: a1=1 !\nb: l1=1", "G1a", RC),
    ("aborted element built on", "a: a1=1 !\nb: l1=1 a1=2\nc: l1=1,2", "G1a dirty-update", RC),
    ("aborted version built on", "a: w1=1 !\nb: r1=1 w1=2", "G1a dirty-update", RC),
    ("aborted increment", "a: c1=1 !\nb: c1=2", "G1a", RC),
    ("aborted increment undone", "a: c1=1 !\nb: c1=1", "", NOTHING),
    ("aborted deletion seen", "a 0-10: r1=0\nb 5-20: d1 !\nc 12-14: r1=-", "G1a", RC),
    ("intermediate read", "a: w1=1 w1=2\nb: r1=1", "G1b", RC),
    ("intermediate element", "a: a1=1 a1=2\nb: l1=1\nc: l1=1,2", "G1b", RC),
    ("last version of two", "a 0-9: w1=1 w1=2\nb 10-19: r1=2", "", NOTHING),
    ("deleted for a moment", "a 0-10: r1=0\nb 0-100: d1 w1=1\nc 50-60: r1=-", "G1b", RC),
    // Circular information flow.
    ("each saw the other", "a: w1=1 r2=2\nb: w2=2 r1=1", "G1c", RC),
    ("each saw the other's element", "a: a1=1 l2=1\nb: a2=1 l1=1", "G1c", RC),
    ("saw what it came before", "a: a1=1 l2=1\nb: a1=2 a2=1\nc: l1=1,2", "G1c", RC),
    ("updates of each other", "a: r1=2 w1=1\nb: r1=1 w1=2", "G1c", RC),
    ("three in a circle", "a: w1=1 r3=3\nb: w2=2 r1=1\nc: w3=3 r2=2", "G1c", RC),
    // What nobody wrote.
    ("version out of nothing", "a: r1=7", "garbage-read", RU),
    ("element out of nothing", "a: l1=7", "garbage-read", RU),
    ("row vanished", "a 0-9: r1=0\nb 10-19: r1=-", "garbage-read", RU),
    ("element twice", "a: a1=1\nb: l1=1,1", "duplicate-elements", RU),
    ("two orders of a list", "a: a1=1\nb: a1=2\nc: l1=1,2\nd: l1=2,1", "incompatible-order", RC),
    ("an element lost", "a: a1=1\nb: a1=2\nc: l1=1\nd: l1=2", "incompatible-order", RC),
    // Inside of one transaction.
    ("own write not seen", "a: w1=1 r1=0", "internal", RU),
    ("own append not seen", "a: a1=1 l1=", "internal", RU),
    ("own deletion not seen", "a: r1=0 d1 r1=0", "internal", RU),
    ("own write read before it", "a: r1=1 w1=1", "internal", RU),
    ("own increment not seen", "a: c1=1 c1=1", "internal", RU),
    ("own writes seen", "a: r1=0 w1=1 r1=1 d1 r1=- a2=3 l2=3 q1-9=", "", NOTHING),
    ("own append after others'", "a 0-9: a1=1\nb 10-19: a1=2 l1=1,2", "", NOTHING),
    (
        "two versions in one transaction",
        "a 0-100: r1=0 r1=1\nb 40-60: r1=0 w1=1",
        "non-repeatable-read G-single-item",
        BOTH,
    ),
    ("a list appears", "a 0-100: l1= l1=1\nb 40-60: a1=1", "phantom-read G-single", SI),
    (
        "two lengths in one transaction",
        "a 0-9: a1=1\nb 20-100: l1=1 l1=1,2\nc 40-60: a1=2",
        "non-repeatable-read G-single-item",
        BOTH,
    ),
    (
        "back to an older version",
        "a 0-100: r1=1 r1=0\nb 0-20: r1=0 w1=1",
        "G-monotonic non-repeatable-read G-single-item",
        MAV,
    ),
    ("a row appears", "a 0-100: q1-9= q1-9=3@1\nb 40-60: w3=1", "phantom-read G-single", SI),
    ("a row vanishes", "a 0-100: q1-9=3@0 q1-9=\nb 40-60: d3", "phantom-read G-single-item", BOTH),
    // Lost updates.
    ("lost update", "a: r1=0 w1=1\nb: r1=0 w1=2", "lost-update", BOTH),
    ("lost update of a later version", "a 0-9: r1=0 w1=1\nb 10-20: r1=1 w1=2\nc 10-20: r1=1 w1=3", "lost-update", BOTH),
    ("update and deletion", "a: r1=0 w1=1\nb: r1=0 d1", "lost-update", BOTH),
    ("lost increment", "a: c1=1\nb: c1=1", "lost-update", BOTH),
    ("a counter with a gap", "a: c1=1\nb: c1=3\nc: c1=2 ?", "", NOTHING),
    ("two inserts of one row", "a: r1=- w1=1\nb: r1=- w1=2", "G-single", SI),
    (
        "an update that saw the first on its second read",
        "a 0-100: r1=0 r1=1 w1=2\nb 10-20: r1=0 w1=1",
        "non-repeatable-read G-single-item",
        BOTH,
    ),
    // Read skew.
    ("read skew", "a 0-100: r1=0 r2=1\nb 40-60: r1=0 w1=1 r2=0 w2=1", "G-single-item", BOTH),
    ("read skew backwards", "a 0-100: r2=1 r1=0\nb 10-20: r1=0 w1=1 r2=0 w2=1", "G-monotonic G-single-item", MAV),
    ("read skew of lists", "z 0-9: a1=9\na: l1=9 l2=1\nb: a1=1 a2=1\nc: l1=9,1", "G-single-item", BOTH),
    ("read skew with a list that appears", "a: l1= l2=1\nb: a1=1 a2=1", "G-single", SI),
    ("read skew over two", "a: r1=0 r2=2\nb 0-9: w1=1\nc 10-19: r1=1 w2=2", "G-single-item", BOTH),
    ("read skew with a phantom", "a 0-100: q1-9= r20=1\nb 40-60: w3=1 w20=1", "G-single", SI),
    ("a deletion seen in part", "a: r1=0 r2=1\nb: r1=0 d1 w2=1", "G-single-item", BOTH),
    ("an unknown append comes last", "z 0-9: a1=9\na: a1=1 a2=1\nb: l1=9 l2=1", "G-single-item", BOTH),
    // Long forks.
    ("long fork", "a: w1=1\nb: w2=1\nc: r1=1 r2=0\nd: r1=0 r2=1", "G-nonadjacent-item", BOTH),
    ("long fork with phantoms", "a: w1=1\nb: w2=1\nc: q1-2=1@1\nd: q1-2=2@1", "G-nonadjacent", SI),
    (
        "long fork of lists",
        "z 0-9: a1=9 a2=9\na: a1=1\nb: a2=1\nc: l1=9,1 l2=9\nd: l1=9 l2=9,1",
        "G-nonadjacent-item",
        BOTH,
    ),
    ("long fork of lists that appear", "a: a1=1\nb: a2=1\nc: l1=1 l2=\nd: l1= l2=1", "G-nonadjacent", SI),
    // Write skew.
    ("write skew", "a: r1=0 r2=0 w1=1\nb: r1=0 r2=0 w2=2", "G2-item", RR),
    ("write skew of lists", "z 0-9: a1=9 a2=9\na: l1=9 l2=9 a1=1\nb: l1=9 l2=9 a2=1", "G2-item", RR),
    ("write skew of lists that appear", "a: l1= l2= a1=1\nb: l1= l2= a2=1", "G2", SER),
    ("write skew of three", "a: r1=0 w2=1\nb: r2=0 w3=2\nc: r3=0 w1=3", "G2-item", RR),
    ("write skew with phantoms", "a: q1-9= w1=1\nb: q1-9= w2=2", "G2", SER),
    ("write skew with one phantom", "a: q1-9= r20=0 w21=1\nb: w5=1 r21=0", "G2", SER),
    (
        "the read-only transaction's anomaly",
        "a 0-100: r1=0 r2=0 w1=1\nb 10-20: r2=0 w2=2\nc 30-40: r1=0 r2=2",
        "G2-item",
        RR,
    ),
    // Sessions.
    ("own write forgotten", "a 0-9: r1=0 w1=1\na 10-19: r1=0", "read-your-writes stale-read", SSS),
    ("own insert forgotten", "a 0-9: w1=1\na 10-19: r1=-", "read-your-writes stale-read", SSS),
    ("reads that go back", "b 0-100: w1=1\na 10-19: r1=1\na 20-29: r1=0", "monotonic-reads", SSS),
    ("own writes exchanged", "a 0-9: a1=1\na 10-19: a1=2\nb: l1=2,1", "monotonic-writes", SSS),
    ("a write before what was read", "b 0-100: r1=2 w1=1\na 10-19: r1=1\na 20-29: w1=2", "writes-follow-reads", SSS),
    ("a long fork of two sessions", "a 0-10: w1=1\na 10-19: r2=0\nb 0-10: w2=1\nb 10-19: r1=0", "G-session", SSS),
    // Real time.
    ("a stale read", "a 0-9: r1=0 w1=1\nb 10-19: r1=0", "stale-read", STRICT),
    ("a stale list", "a 0-9: a1=1\nb 10-19: l1=\nc: l1=1", "stale-read", STRICT),
    ("a stale range", "a 0-9: w1=1\nb 10-19: q1-9=", "stale-read", STRICT),
    ("a stale version among blind writes", "a 0-9: w1=1\nb 10-19: w1=2\nc 20-29: r1=1", "stale-read", STRICT),
    ("a row still absent", "a 0-9: d1\nb 10-19: w1=1\nc 20-29: d1\nd 30-39: w1=2\ne 40-49: r1=-", "stale-read", STRICT),
    ("a row absent as it may be", "a 0-9: d1\nb 10-19: w1=1\nc 20-29: d1\ne 40-49: r1=-", "", NOTHING),
    ("a list in the wrong order", "a 0-9: a1=1\nb 10-19: a1=2\nc: l1=2,1", "G-realtime", STRICT),
    ("a write that ended as the read began", "a 0-10: r1=0 w1=1\nb 10-20: r1=0", "", NOTHING),
    // Unknown outcomes.
    ("unknown and seen", "a: r1=0 w1=1 ?\nb: r1=1 w1=2\nc: r1=0 w1=3", "lost-update", BOTH),
    ("unknown and not seen", "a: r1=0 w1=1 ?\nb: r1=0 w1=2", "", NOTHING),
    ("unknown, seen by an unknown that is seen", "a: r1=0 w1=1 ?\nb: r1=1 w2=1 ?\nc: r2=1 r1=0", "G-single-item", BOTH),
    ("unknown may come late", "a 0-9: r1=0 w1=1 ?\nb 10-19: r1=0\nc 20-29: r1=1", "", NOTHING),
    ("unknown deletion", "a 0-9: r1=0\nb 10-19: d1 ?\nc 20-29: r1=-", "", NOTHING),
    // Absence.
    ("deleted and read so", "a 0-9: r1=0 d1\nb 10-19: r1=-\nc 20-29: r1=- w1=1\nd 30-39: r1=1", "", NOTHING),
    ("a deletion missed", "a 0-9: r1=0 d1 w2=1\nb: r2=1 q1-1=1@0", "G-monotonic G-single-item", MAV),
    ("inserted and deleted again", "a 0-100: r1=- w1=1 d1\nb 10-120: r1=- w1=2\nc 130-140: r1=2", "", NOTHING),
    ("one absence of several", "a: r1=0 d1\nb: w1=1 w2=1\nc: d1\nd: r1=- r2=0", "", NOTHING),
    (
        "an insert missed while a deletion is known",
        "a 0-9: r1=0 d1\nb 10-19: r1=- w1=1 w2=1\nc 15-30: r2=1 r1=-",
        "G-single",
        SI,
    ),
    ("two writes of one version say nothing", "a: w1=1\nb: w1=1\nc: r1=1", "", NOTHING),
];

/// Levels that are refuted with those given.
fn closed(weakest: &[Level]) -> Vec<Level> {
    let above = |level: Level| -> &[Level] {
        match level {
            ReadUncommitted => &Level::ALL,
            ReadCommitted => &Level::ALL[1..],
            MonotonicAtomicView => &Level::ALL[2..],
            RepeatableRead => &[RepeatableRead, Serializable, StrongSessionSerializable, StrictSerializable],
            SnapshotIsolation => &Level::ALL[4..],
            Serializable => &Level::ALL[5..],
            StrongSessionSerializable => &Level::ALL[6..],
            StrictSerializable => &Level::ALL[7..],
        }
    };
    let all: Vec<Level> = weakest.iter().flat_map(|level| above(*level)).copied().collect();
    Level::ALL.into_iter().filter(|level| all.contains(level)).collect()
}

#[test]
fn small_histories_have_the_verdicts_that_we_know() {
    assert!(ROWS.len() >= 60);
    let mut wrong = Vec::new();
    for (name, text, anomalies, weakest) in ROWS {
        let report = check(&history(text));
        let mut found: Vec<&str> = report.anomalies.iter().map(|anomaly| anomaly.kind.name()).collect();
        let mut expected: Vec<&str> = anomalies.split_whitespace().collect();
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected || report.refuted != closed(weakest) {
            wrong.push(format!("{name}: found {found:?} {:?}, expected {expected:?} {weakest:?}", report.refuted));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_excerpt_holds_its_anomaly_and_no_others_that_refute_more() {
    for (name, text, ..) in ROWS {
        let whole = check(&history(text));
        for anomaly in &whole.anomalies {
            let again = check(&anomaly.excerpt);
            let found = again.anomalies.iter().find(|other| other.kind == anomaly.kind);
            assert!(found.is_some(), "{name}: {} is not in its excerpt {:?}", anomaly.kind.name(), anomaly.excerpt);
            for level in &again.refuted {
                assert!(whole.refuted.contains(level), "{name}: the excerpt refutes {}", level.name());
            }
        }
    }
}

#[test]
fn order_of_lines_changes_nothing() {
    for (name, text, ..) in ROWS {
        let mut turned = history(text);
        turned.transactions.reverse();
        let (report, other) = (check(&history(text)), check(&turned));
        assert_eq!(report.refuted, other.refuted, "{name}");
        assert_eq!(report.edges, other.edges, "{name}");
    }
}
