//! Results of a replay that differ from those recorded: rows, numbers and errors, and how differences are shown.

use super::{Trace, check, planted, replay, shop};
use bourse_record::CheckStatus;
use bourse_trace::{Event, EventKind, Note, Record, TraceValue};

#[test]
fn a_wrong_row_is_found_and_shown() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "SELECT id, 7 FROM t WHERE id > ?", &[TraceValue::Int(1)], &[&[2, 7], &[3, 8]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(3), "{said}");
    let (status, evidence) = check(&run, "results");
    let shown = "1 × SELECT id, 7 FROM t WHERE id > ? with (1): recorded 2 rows, found others: (2, 7) (3, 7)";
    assert!(status == CheckStatus::Failed && evidence.contains(shown), "{evidence}");
    assert!(evidence.starts_with("1 of "), "{evidence}");
}

/// A statement that differed once ran a second time to show its rows, so that what followed differed too.
#[test]
fn what_writes_is_not_executed_again_to_show_its_rows() {
    let (code, said, run) = planted(|trace| {
        trace.execute(1, "INSERT INTO t(a) VALUES ('more') RETURNING id", &[], &[&[9]], 1);
        trace.execute(1, "SELECT count(*) FROM t", &[], &[&[6]], 0);
    });
    assert_eq!(code, Some(3), "{said}");
    let (_, evidence) = check(&run, "results");
    assert!(evidence.starts_with("1 of ") && evidence.contains("recorded 1 row, found others: (6)"), "{evidence}");
}

/// A double once looked like a whole number, and a blob had no bytes, so that a difference could not be seen.
#[test]
fn values_that_differ_are_shown_as_they_are() {
    let sql = "SELECT 1000.0, 1e-320, x'00fe', zeroblob(99)";
    let (_, _, run) = planted(|trace| trace.execute(1, sql, &[], &[&[1000, 0, 0, 0]], 0));
    let (_, evidence) = check(&run, "results");
    let shown = "found others: (1000.0, 1e-320, x'00fe', 99 bytes); the recorded rows are not known";
    assert!(evidence.contains(shown), "{evidence}");
}

/// A commit that a deferred foreign key refused was once left out as a lock conflict.
#[test]
fn a_commit_that_failed_by_a_constraint_is_executed() {
    let open = [false, false];
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "CREATE TABLE p(id INTEGER PRIMARY KEY)", &[], &[], 0);
    trace.execute(1, "CREATE TABLE c(p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)", &[], &[], 0);
    for is_mended in [true, false] {
        trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
        trace.execute_as(1, "INSERT INTO c VALUES (?)", &[TraceValue::Int(i64::from(is_mended))], &[], 1, open, 0);
        trace.execute_as(1, "COMMIT", &[], &[], 0, open, 787);
        if is_mended {
            trace.execute_as(1, "INSERT INTO p VALUES (1)", &[], &[], 1, open, 0);
        }
        trace.execute_as(1, if is_mended { "COMMIT" } else { "ROLLBACK" }, &[], &[], 0, [false, true], 0);
    }
    trace.execute(1, "SELECT p FROM c", &[], &[&[1]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:?foreign_keys=off"]);
    assert_eq!(code, Some(3), "{said}");
    let (_, evidence) = check(&run, "results");
    assert!(evidence.contains("2 × COMMIT: recorded SQLite's error 787, found no error"), "{evidence}");
    assert!(
        evidence.starts_with("3 of ") && evidence.contains("SELECT p FROM c: recorded 1 row, found 2 rows"),
        "{evidence}"
    );
}

/// The recorded rows of a difference were once not known after such a commit, since what the transaction had written before was lost.
#[test]
fn rows_are_known_after_a_commit_that_failed() {
    let (folder, open) = (tempfile::tempdir().expect("there is room for a folder"), [false, false]);
    for failed in 0..3 {
        let mut trace = shop(3);
        trace.execute(1, "CREATE TABLE p(id INTEGER PRIMARY KEY)", &[], &[], 0);
        let child =
            "CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER DEFAULT 0 REFERENCES p(id) ON DELETE SET DEFAULT)";
        trace.execute(1, child, &[], &[], 0);
        trace.execute(1, "CREATE TABLE late(p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)", &[], &[], 0);
        trace.execute(1, "INSERT INTO p VALUES (0), (5), (7)", &[], &[], 3);
        trace.execute(1, "INSERT INTO c VALUES (1, 5), (2, 7)", &[], &[], 2);
        trace.execute_as(1, "BEGIN", &[], &[], 0, [true, false], 0);
        trace.execute_as(1, "INSERT INTO c VALUES (8, 5)", &[], &[], 1, open, 0);
        trace.execute_as(1, "INSERT INTO late VALUES (9)", &[], &[], 1, open, 0);
        for id in 0..failed {
            trace.execute_as(1, "COMMIT", &[], &[], 0, open, 787);
            trace.execute_as(1, "INSERT INTO c VALUES (?, 5)", &[TraceValue::Int(10 + id)], &[], 1, open, 0);
        }
        trace.execute_as(1, "INSERT INTO p VALUES (9)", &[], &[], 1, open, 0);
        trace.execute_as(1, "DELETE FROM p WHERE id = 7", &[], &[], 1, open, 0);
        let rows: [&[i64]; 5] = [&[2, 0], &[1, 5], &[8, 5], &[10, 5], &[11, 5]];
        let rows = &rows[..3 + failed as usize];
        trace.execute_as(1, "SELECT id, p FROM c ORDER BY p, id", &[], rows, 0, open, 0);
        trace.execute_as(1, "COMMIT", &[], &[], 0, [false, true], 0);
        trace.write(folder.path());
        let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
        assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{failed}: {said}");
        let (code, said, run) = replay(folder.path(), &["sqlite::memory:?foreign_keys=off"]);
        assert_eq!(code, Some(3), "{failed}: {said}");
        let (_, evidence) = check(&run, "results");
        assert!(evidence.contains("the first difference: recorded (2, 0), found (1, 5)"), "{failed}: {evidence}");
    }
}

/// The first difference once paired rows of different places, and the first rows of a result were called those that differ.
#[test]
fn the_first_difference_of_ordered_rows_is_one_of_a_place() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "CREATE TABLE p(id INTEGER PRIMARY KEY)", &[], &[], 0);
    let child = "CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER DEFAULT 0 REFERENCES p(id) ON DELETE SET DEFAULT)";
    trace.execute(1, child, &[], &[], 0);
    trace.execute(1, "INSERT INTO p VALUES (0), (5), (7)", &[], &[], 3);
    trace.execute(1, "INSERT INTO c VALUES (1, 5), (2, 7), (3, 5), (4, 7), (5, 5), (6, 7)", &[], &[], 6);
    trace.execute(1, "DELETE FROM p WHERE id = 7", &[], &[], 1);
    let rows: [&[i64]; 6] = [&[2, 0], &[4, 0], &[6, 0], &[1, 5], &[3, 5], &[5, 5]];
    trace.execute(1, "SELECT id, p FROM c ORDER BY p, id", &[], &rows, 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:?foreign_keys=off"]);
    assert_eq!(code, Some(3), "{said}");
    let (_, evidence) = check(&run, "results");
    let shown = "recorded 6 rows, found others: first rows (1, 5) (3, 5) (5, 5); the first difference: recorded (2, 0), \
                 found (1, 5)";
    assert!(evidence.contains(shown), "{evidence}");
}

/// Differences of several targets were once those of the first one alone, in lines of thousands of columns.
#[test]
fn each_target_shows_its_first_difference_in_lines_that_can_be_read() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    let wide =
        format!("SELECT {} FROM t WHERE id = 1", (2..90).map(|n| format!("id + {n}")).collect::<Vec<_>>().join(", "));
    trace.execute(1, &wide, &[], &[&[7; 88]], 0);
    trace.execute(1, "SELECT id FROM t WHERE id = ?", &[TraceValue::Int(9)], &[&[9]], 0);
    trace.write(folder.path());
    for more in [&[][..], &["-v"]] {
        let targets = ["sqlite::memory:", "sqlite:x.db", "sqlite:y.db?journal=delete"];
        let (code, said, _) = replay(folder.path(), &[&targets, more].concat());
        assert_eq!(code, Some(3), "{said}");
        for target in targets {
            assert!(said.contains(&format!("{target}, results: 2 of 19 executions\n    1 × SELECT id + 2,")), "{said}");
        }
        let again = |line: &&str| !line.starts_with("again: ");
        let widest = said.lines().filter(again).map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 120), "{widest:?} {said}");
    }
    let (_, said, _) = replay(folder.path(), &["sqlite::memory:"]);
    assert!(said.contains("1 × SELECT id FROM t WHERE id = ? with (9): recorded 1 row, found 0 rows"), "{said}");
}

#[test]
fn wrong_numbers_of_rows_and_errors_are_found() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "SELECT id FROM t WHERE id = ?", &[TraceValue::Int(9)], &[&[9]], 0);
    trace.execute(1, "UPDATE t SET a = id", &[], &[], 2);
    trace.execute(1, "INSERT INTO t VALUES (3, 'x')", &[], &[], 1);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!(code, Some(3), "{said}");
    let (_, evidence) = check(&run, "results");
    for words in
        ["3 of ", "with (9): recorded 1 row, found 0 rows\n", "recorded 2 rows changed, found 3 rows changed", "UNIQUE"]
    {
        assert!(evidence.contains(words), "{words}: {evidence}");
    }
}

/// One refused write once voided a replay, since later reads found another table.
#[test]
fn what_differs_because_a_write_was_refused_is_told_as_such() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    for id in 1..40 {
        trace.execute(1, "SELECT ?", &[TraceValue::Int(id)], &[&[id]], 0);
    }
    trace.execute(1, "INSERT INTO t SELECT own(id) FROM t", &[], &[], 3);
    trace.execute(2, "SELECT id FROM t WHERE id > 3", &[], &[&[4], &[5], &[6]], 0);
    trace.execute(1, "SELECT a FROM t WHERE id = 1 AND 0", &[], &[], 0);
    trace.open_file(3, "/home/other.db");
    trace.execute(3, "SELECT 1", &[], &[&[1]], 0);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "results").0), (Some(0), CheckStatus::Passed), "{said}");
    let (status, evidence) = check(&run, "results after refusals");
    assert_eq!(status, CheckStatus::NotApplicable);
    assert!(evidence.contains("1 × SELECT id FROM t WHERE id > 3: t lacks writes"), "{evidence}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "1 of 59 executions were refused or left out",
        "1 of 59 results differ on tables that lack refused writes",
        "of the databases only /home/x.db, not /home/other.db (1 executions)",
        "2 not run (refused statements, results after refusals)",
        "recorded with 3.40.1, whose plans and times may be others",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A table that lacks nothing differs.
    trace.execute(1, "SELECT 1 WHERE 0", &[], &[&[1]], 0);
    trace.write(folder.path());
    assert_eq!(replay(folder.path(), &["sqlite::memory:"]).0, Some(3));
}

/// A refused write to a table of an attached database once exempted that of the same name.
#[test]
fn a_refused_write_to_another_database_exempts_no_table_of_that_name() {
    let with_attached = |trace: &mut Trace, id: i64| {
        trace.execute(1, "ATTACH '/etc/other.db' AS z", &[], &[], 0);
        trace.execute(1, "INSERT INTO z.t VALUES (9, 9)", &[], &[], 1);
        trace.execute(1, "SELECT id FROM t WHERE id = 1", &[], &[&[id]], 0);
    };
    let (code, said, _) = planted(|trace| with_attached(trace, 1));
    assert_eq!(code, Some(0), "{said}");
    let (code, said, _) = planted(|trace| with_attached(trace, 2));
    assert_eq!(code, Some(3), "{said}");
}

/// A blob that was opened for writing once exempted its table from the beginning on.
#[test]
fn a_blob_that_is_written_exempts_its_table_from_then_on() {
    let blob = |trace: &mut Trace, wrong_before: i64| {
        trace.execute(1, "SELECT id FROM t WHERE id = 1", &[], &[&[1 + wrong_before]], 0);
        trace.event(1, EventKind::Noted { note: Note::Blob, name: "T".to_owned(), number: 1 });
        trace.execute(1, "SELECT id FROM t WHERE id = 2", &[], &[&[9]], 0);
    };
    let (code, said, run) = planted(|trace| blob(trace, 0));
    assert_eq!(code, Some(0), "{said}");
    assert!(
        check(&run, "results after refusals").1.contains("1 × SELECT id FROM t WHERE id = 2: t lacks writes"),
        "{said}"
    );
    let (code, said, _) = planted(|trace| blob(trace, 1));
    assert_eq!(code, Some(3), "{said}");
}

/// Rows that were missing in a masked recording's replay were once said to be in another order.
#[test]
fn missing_rows_of_a_masked_recording_are_counted() {
    let (code, said, run) = planted(|trace| {
        trace.is_masked = true;
        trace.execute(1, "SELECT id FROM t WHERE id > 99", &[], &[&[1]], 0);
        let Some(Record::Event(Event { kind: EventKind::Executed(read), .. })) = trace.records.last_mut() else {
            panic!("an execution")
        };
        (read.rows.ordered, read.rows.unordered) = (0, 0);
    });
    let (_, evidence) = check(&run, "results");
    assert!(code == Some(3) && evidence.contains("recorded 1 row, found 0 rows"), "{evidence}: {said}");
}

#[test]
fn constraints_that_the_program_did_not_enforce_are_hinted_at() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "CREATE TABLE k(p REFERENCES t(id))", &[], &[], 0);
    trace.execute(1, "INSERT INTO k VALUES (99)", &[], &[], 1);
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite:x.db?defaults=sqlite"]);
    assert_eq!(code, Some(3), "{said}");
    let shown = "1 × INSERT INTO k VALUES (99): recorded no error, found FOREIGN KEY constraint failed, which \
                 `foreign_keys=off` in the target does not enforce";
    assert!(check(&run, "results").1.contains(shown), "{:?}", check(&run, "results"));
    let (code, said, _) = replay(folder.path(), &["sqlite:y.db?defaults=sqlite&foreign_keys=off"]);
    assert_eq!(code, Some(0), "{said}");
    let mut trace = shop(3);
    trace.execute(1, "CREATE TABLE k(p CHECK (p < 9))", &[], &[], 0);
    trace.execute(1, "INSERT INTO k VALUES (99)", &[], &[], 1);
    trace.write(folder.path());
    let (_, _, run) = replay(folder.path(), &["sqlite::memory:"]);
    let shown = "found CHECK constraint failed: p < 9, which `checks=off` in the target does not enforce";
    assert!(check(&run, "results").1.contains(shown), "{:?}", check(&run, "results"));
    let (code, said, _) = replay(folder.path(), &["sqlite::memory:?checks=off"]);
    assert_eq!(code, Some(0), "{said}");
}

/// Results that differed because of writes that were left out, without a refusal, once gave the exit code of a wrong argument.
#[test]
fn a_replay_that_lacks_too_much_without_a_refusal_fails_its_check() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = Trace::new();
    trace.event(1, EventKind::Noted { note: Note::Blob, number: 1, name: "t".to_owned() });
    (0..5).for_each(|_| trace.execute(1, "SELECT id FROM t", &[], &[&[1]], 0));
    trace.write(folder.path());
    let (code, said, run) = replay(folder.path(), &["sqlite::memory:"]);
    assert_eq!((code, check(&run, "results after refusals").0), (Some(3), CheckStatus::Failed), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("a part was not replayed: 5 of 6 results differ on tables that lack writes"), "{said}");
}

/// A recording whose results differ once ended `bourse tune` with the advice to keep the defaults, and exit code 0.
#[test]
fn a_search_for_settings_has_no_answer_where_results_differ() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut trace = shop(3);
    trace.execute(1, "SELECT 7", &[], &[&[8]], 0);
    trace.write(folder.path());
    let search = ["--sweep", "journal=delete,truncate", "--states", "100", "--budget", "90s"];
    let ended = crate::output(folder.path(), &[&["tune", "sqlite:x.db", "--trace", "t"], &search[..]].concat());
    let (answer, said) = (crate::text(&ended.stdout), crate::text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(3), "{answer}{said}");
    let first = answer.lines().skip(1).find(|line| !line.trim().is_empty()).expect("an answer");
    let headline = "no answer: no round of the target as it is has a figure: check results failed: 1 of ";
    assert!(first.trim_start().starts_with(headline) && !answer.contains("keep the defaults"), "{answer}");
    assert!(said.contains("found others: (7)") && !said.contains("stage 1"), "{said}");
}
