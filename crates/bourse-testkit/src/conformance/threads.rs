//! Sessions on several threads.

use super::{FIRST_CHARGE, load_small, read, set, without_conflict};
use bourse_engine::{Access, Engine, Isolation, Result, Session};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Runs a transaction again until it meets no conflict.
fn retried<T>(session: &mut dyn Session, access: Access, mut body: impl FnMut(&mut dyn Session) -> Result<T>) -> T {
    without_conflict(
        session,
        |session| {
            session.begin(Isolation::Serializable, access)?;
            let value = body(session)?;
            session.commit()?;
            Ok(value)
        },
        |session| session.rollback(),
    )
}

/// Connects, and tries again while other sessions at work make the engine refuse.
fn connected(engine: &dyn Engine) -> Box<dyn Session> {
    without_conflict(&mut (), |()| engine.session(), |()| Ok(()))
}

pub(super) fn no_lost_update(engine: &dyn Engine) {
    const THREADS: i64 = 4;
    const EACH: i64 = 25;
    load_small(engine);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut session = connected(engine);
                for _ in 0..EACH {
                    retried(&mut *session, Access::Write, |session| {
                        let now = read(session, "TMB", 1)?;
                        set(session, "TMB", 1, now + 1)
                    });
                }
            });
        }
    });
    let mut session = connected(engine);
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), FIRST_CHARGE + THREADS * EACH);
}

/// Transfers between two rows while readers add them up: every writer and reader makes progress.
pub(super) fn nobody_starves(engine: &dyn Engine) {
    const WRITES: u64 = 50;
    const READS: u64 = 50;
    load_small(engine);
    let deadline = Instant::now() + Duration::from_secs(60);
    let (writes, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let reads = [const { AtomicU64::new(0) }; 2];
    let is_enough =
        || writes.load(Ordering::Relaxed) >= WRITES && reads.iter().all(|reads| reads.load(Ordering::Relaxed) >= READS);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = connected(engine);
            while !over.load(Ordering::Relaxed) {
                retried(&mut *session, Access::Write, |session| {
                    let (from, to) = (read(session, "TMB", 1)?, read(session, "TMS", 1)?);
                    // A check constraint requires charges above 0: transferred money is returned in the next transaction.
                    let moved = if from > 1 { 1 } else { from - to };
                    set(session, "TMB", 1, from - moved)?;
                    set(session, "TMS", 1, to + moved)
                });
                writes.fetch_add(1, Ordering::Relaxed);
            }
        });
        for reads in &reads {
            let over = &over;
            scope.spawn(move || {
                let mut session = connected(engine);
                while !over.load(Ordering::Relaxed) {
                    let sum = retried(&mut *session, Access::Read, |session| {
                        Ok(read(session, "TMB", 1)? + read(session, "TMS", 1)?)
                    });
                    assert_eq!(sum, 2 * FIRST_CHARGE, "a half-done transfer was seen");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while !is_enough() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(is_enough(), "in a minute: {writes:?} writes of {WRITES}, {reads:?} reads of {READS}");
}
