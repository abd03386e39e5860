//! Faults: the work is the same every time.

use bourse_acid::known_work::{self as work, WorkEvent};
use bourse_engine::Engine as _;
use bourse_engine_sqlite::open;

#[test]
fn the_work_is_told_compared_and_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let engine = || open(&format!("sqlite:{}?journal=delete&sync=off", path.display())).expect("a target");
    work::fill(&engine(), 5).expect("can be filled");
    let found = |progress| WorkEvent::Found { progress, differs: None, damage: Vec::new() };
    assert_eq!(work::look(&engine(), 5), found(0));
    let mut events = Vec::new();
    drop(work::work(&engine(), 5, 12, &mut |event| events.push(event)));
    assert_eq!(events, (1..=12).map(WorkEvent::Acknowledged).collect::<Vec<_>>());
    assert_eq!(work::look(&engine(), 5), found(12));
    assert!(
        matches!(work::look(&engine(), 6), WorkEvent::Found { differs: Some(_), .. }),
        "another seed has other rows"
    );

    // A row that is another, one that is missing, and one too many are each found.
    for (change, words) in [
        ("UPDATE fault_rows SET version = 3 WHERE id = 400 + 7", "row 407 has version 3, not 7"),
        ("UPDATE fault_rows SET filler = 'x' WHERE id = 400 + 7", "row 407 has another text"),
        ("DELETE FROM fault_rows WHERE id = 400 + 7", "412 rows, not 413"),
        ("INSERT INTO fault_rows VALUES (9999, 1, 'x')", "row 9999 should not be there"),
    ] {
        std::fs::copy(&path, folder.path().join("kept")).expect("copied");
        engine().session().expect("opens").execute_text(change, &[]).expect("can be changed");
        let WorkEvent::Found { differs: Some(differs), .. } = work::look(&engine(), 5) else { panic!("{change}") };
        assert_eq!(differs, words);
        std::fs::copy(folder.path().join("kept"), &path).expect("put back");
    }
    // Wrong data is also reported while the work continues.
    engine()
        .session()
        .expect("opens")
        .execute_text("UPDATE fault_rows SET filler = 'x' WHERE id BETWEEN 1 AND 400", &[])
        .expect("can be changed");
    let mut events = Vec::new();
    drop(work::work(&engine(), 5, 14, &mut |event| events.push(event)));
    assert!(matches!(events[..], [WorkEvent::Wrong { transaction: 1, .. }]), "{events:?}");
    std::fs::write(&path, b"no database").expect("written");
    assert!(matches!(work::look(&engine(), 5), WorkEvent::Unreadable(_)));
}
