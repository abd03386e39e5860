//! Interruption of statements.

use bourse_engine::{Engine, ErrorKind};
use std::time::Duration;

/// Checks that an engine interrupts a statement without end, and none that comes later. A confined session runs the statements
/// `prepared` before it, and the query `later` after it.
pub fn interrupts_statements(engine: &dyn Engine, prepared: &[&str], endless: &str, later: &str) {
    let sql = engine.sql().unwrap();
    sql.confine();
    let mut session = engine.session().unwrap();
    for statement in prepared {
        session.execute_text(statement, &[]).unwrap();
    }
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| session.query_text(endless, &[], &mut |_| Ok(())));
        while !running.is_finished() {
            sql.interrupt_statements();
            std::thread::sleep(Duration::from_millis(5));
        }
        running.join().unwrap()
    });
    let ended = ended.unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::Interrupted, "{ended:?}");
    session.query_text(later, &[], &mut |_| Ok(())).unwrap();
    // One that meets no statement ends none that comes later.
    sql.interrupt_statements();
    session.query_text(later, &[], &mut |_| Ok(())).unwrap();
    drop(session);
    // No connection is left that is closed.
    sql.interrupt_statements();
}
