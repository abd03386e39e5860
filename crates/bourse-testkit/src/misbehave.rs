//! Engines that stall, fail and lose writes on purpose, to show which checks notice.

use crate::misread::CopiedRow;
use bourse_engine::{
    Access, EachRow, Engine, EngineError, ErrorKind, Isolation, Params, Result, Session, Sql, Wrapper, forward_session,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Statements that are hit, counted from 1 over all sessions of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitStatements {
    /// Only the statement with this number.
    At(u64),
    /// Every n-th statement.
    Every(u64),
}

impl HitStatements {
    pub(crate) fn hits(self, number: u64) -> bool {
        match self {
            Self::At(at) => number == at,
            Self::Every(every) => every > 0 && number.is_multiple_of(every),
        }
    }
}

/// Effect on a statement that is hit.
#[derive(Debug, Clone, Copy)]
enum HitEffect {
    Sleep(Duration),
    Fail(ErrorKind),
    /// A change reports one row changed, and does nothing.
    Drop,
    /// A rollback of changes commits them.
    Keep,
    /// A commit of changes undoes them, and is acknowledged.
    Lose,
    /// A transaction gets the weakest isolation instead of the requested one.
    Weaken,
    /// A transaction of that access begins with its first change: what it reads before is not protected.
    BeginLate(Access),
    /// Queries of a transaction that reads alone return what they returned in an earlier one.
    ReadStale,
}

/// Counter of statements that decides which are hit.
#[derive(Debug, Clone)]
struct Trigger {
    fault: HitStatements,
    effect: HitEffect,
    /// Prefix of the statements that are counted; empty for all.
    only: &'static str,
    seen: Arc<AtomicU64>,
}

impl Trigger {
    /// Effect on the next statement, if it is hit.
    fn next(&self) -> Option<HitEffect> {
        let number = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        self.fault.hits(number).then_some(self.effect)
    }

    /// Hits the next statement instead of the only one, if that was hit and a rollback has undone its transaction.
    fn undone(&self, was_hit: bool) {
        if let (true, HitStatements::At(at)) = (was_hit, self.fault) {
            self.seen.store(at - 1, Ordering::Relaxed);
        }
    }

    /// Sleeps or fails if the next statement is hit.
    fn before(&self) -> Result<()> {
        match self.next() {
            Some(HitEffect::Sleep(time)) => std::thread::sleep(time),
            Some(HitEffect::Fail(kind)) => {
                return Err(EngineError::new(kind, "failed on purpose").with_code("ON_PURPOSE"));
            }
            Some(_) | None => {}
        }
        Ok(())
    }
}

/// Engine some of whose sessions' calls go wrong; the checks of a workload must notice.
#[derive(Debug, Clone)]
pub struct Misbehaving<E> {
    inner: E,
    trigger: Trigger,
}

impl<E> Misbehaving<E> {
    fn new(inner: E, fault: HitStatements, effect: HitEffect) -> Self {
        Self { inner, trigger: Trigger { fault, effect, only: "", seen: Arc::default() } }
    }

    /// Wraps `inner`; statements that `fault` hits sleep for `stall` first.
    pub fn stalling(inner: E, fault: HitStatements, stall: Duration) -> Self {
        Self::new(inner, fault, HitEffect::Sleep(stall))
    }

    /// Wraps `inner`; statements that `fault` hits fail with an error of that kind before they have any effect.
    pub fn failing(inner: E, fault: HitStatements, kind: ErrorKind) -> Self {
        Self::new(inner, fault, HitEffect::Fail(kind))
    }

    /// Wraps `inner`; changes that `fault` hits are not made, and reported as made. Only changes are counted. Where the
    /// transaction of the only change is rolled back, the next change is hit instead.
    pub fn dropping(inner: E, fault: HitStatements) -> Self {
        Self::new(inner, fault, HitEffect::Drop)
    }

    /// Counts only changes whose text begins with `text`.
    #[must_use]
    pub fn only(mut self, text: &'static str) -> Self {
        self.trigger.only = text;
        self
    }

    /// Wraps `inner`; rollbacks that `fault` hits commit. Only rollbacks of transactions with changes are counted.
    pub fn keeping(inner: E, fault: HitStatements) -> Self {
        Self::new(inner, fault, HitEffect::Keep)
    }

    /// Wraps `inner`; commits that `fault` hits undo the changes, and are acknowledged. Only commits of changes are counted.
    pub fn losing(inner: E, fault: HitStatements) -> Self {
        Self::new(inner, fault, HitEffect::Lose)
    }

    /// Wraps `inner`; transactions that `fault` hits run as read committed.
    pub fn weakening(inner: E, fault: HitStatements) -> Self {
        Self::new(inner, fault, HitEffect::Weaken)
    }

    /// Wraps `inner`; transactions that `fault` hits read without the lock or snapshot that they requested: those of
    /// `access` begin with their first change, and never without one.
    pub fn late(inner: E, fault: HitStatements, access: Access) -> Self {
        Self::new(inner, fault, HitEffect::BeginLate(access))
    }

    /// Wraps `inner`; in transactions that read alone and that `fault` hits, a query that the session has run before
    /// returns the rows of an earlier time.
    pub fn stale(inner: E, fault: HitStatements) -> Self {
        Self::new(inner, fault, HitEffect::ReadStale)
    }

    /// Statements seen so far, over all sessions.
    pub fn statements(&self) -> u64 {
        self.trigger.seen.load(Ordering::Relaxed)
    }
}

impl<E: Engine> Wrapper for Misbehaving<E> {
    fn inner(&self) -> &dyn Engine {
        &self.inner
    }
    fn wrap(&self, inner: Box<dyn Session>) -> Box<dyn Session> {
        Box::new(Spoilt {
            inner,
            trigger: self.trigger.clone(),
            has_changed: false,
            has_dropped: false,
            withheld: None,
            is_stale: false,
            seen: HashMap::new(),
        })
    }
}

struct Spoilt {
    inner: Box<dyn Session>,
    trigger: Trigger,
    /// Whether the open transaction has changed anything.
    has_changed: bool,
    /// Whether a change of the open transaction was not made.
    has_dropped: bool,
    /// Transaction that the engine below does not know yet.
    withheld: Option<(Isolation, Access)>,
    /// Whether the open transaction gets rows of an earlier time.
    is_stale: bool,
    /// Rows by statement and parameters, of the latest time that they were read.
    seen: HashMap<(usize, String), Vec<CopiedRow>>,
}

impl Spoilt {
    /// Runs a query, or returns the rows of an earlier time.
    fn remembering(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        let place = (std::ptr::from_ref(sql).addr(), format!("{params:?}"));
        if let (true, Some(rows)) = (self.is_stale, self.seen.get(&place)) {
            return rows.iter().try_for_each(|row| each(row));
        }
        let mut rows = Vec::new();
        let done = self.inner.query(sql, params, &mut |row| {
            rows.push(CopiedRow::of(row));
            each(row)
        });
        self.seen.insert(place, rows);
        done
    }
}

impl Session for Spoilt {
    forward_session!(inner: dialect, plan, query_text, execute_text);
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.has_changed = false;
        self.has_dropped = false;
        self.is_stale = matches!(self.trigger.effect, HitEffect::ReadStale)
            && access == Access::Read
            && self.trigger.next().is_some();
        if matches!(self.trigger.effect, HitEffect::BeginLate(of) if of == access) && self.trigger.next().is_some() {
            self.withheld = Some((isolation, access));
            return Ok(());
        }
        let is_weak = matches!(self.trigger.effect, HitEffect::Weaken) && self.trigger.next().is_some();
        self.inner.begin(if is_weak { Isolation::ReadCommitted } else { isolation }, access)
    }
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        if matches!(self.trigger.effect, HitEffect::Sleep(_) | HitEffect::Fail(_)) {
            self.trigger.before().map_err(|e| e.with_statement(sql.text()))?;
        }
        match self.trigger.effect {
            HitEffect::ReadStale => self.remembering(sql, params, each),
            _ => self.inner.query(sql, params, each),
        }
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.has_changed = true;
        if let Some((isolation, access)) = self.withheld.take() {
            self.inner.begin(isolation, access)?;
        }
        match self.trigger.effect {
            HitEffect::Drop => {
                if sql.text().trim_start().starts_with(self.trigger.only) && self.trigger.next().is_some() {
                    self.has_dropped = true;
                    return Ok(1);
                }
            }
            HitEffect::Keep | HitEffect::Lose | HitEffect::Weaken | HitEffect::BeginLate(_) | HitEffect::ReadStale => {}
            HitEffect::Sleep(_) | HitEffect::Fail(_) => {
                self.trigger.before().map_err(|e| e.with_statement(sql.text()))?
            }
        }
        self.inner.execute(sql, params)
    }
    fn commit(&mut self) -> Result<()> {
        let changed = std::mem::take(&mut self.has_changed);
        if self.withheld.take().is_some() {
            return Ok(());
        }
        if changed && matches!(self.trigger.effect, HitEffect::Lose) && self.trigger.next().is_some() {
            return self.inner.rollback();
        }
        let dropped = std::mem::take(&mut self.has_dropped);
        self.inner.commit().inspect_err(|_| self.trigger.undone(dropped))
    }
    fn rollback(&mut self) -> Result<()> {
        let changed = std::mem::take(&mut self.has_changed);
        self.trigger.undone(std::mem::take(&mut self.has_dropped));
        if self.withheld.take().is_some() {
            return Ok(());
        }
        if changed && matches!(self.trigger.effect, HitEffect::Keep) && self.trigger.next().is_some() {
            return self.inner.commit();
        }
        self.inner.rollback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::NullEngine;

    static CHANGE: Sql = Sql::new("UPDATE holding SET h_qty = 1");

    fn results(engine: &dyn Engine, statements: usize) -> Vec<Result<u64, ErrorKind>> {
        let mut session = engine.session().unwrap();
        (0..statements).map(|_| session.execute(&CHANGE, Params::NONE).map_err(|e| e.kind())).collect()
    }

    #[test]
    fn the_chosen_statements_fail() {
        let engine = Misbehaving::failing(NullEngine, HitStatements::Every(3), ErrorKind::Conflict);
        let failed = Err(ErrorKind::Conflict);
        assert_eq!(results(&engine, 6), [Ok(1), Ok(1), failed, Ok(1), Ok(1), failed]);
        assert_eq!(engine.statements(), 6);
    }

    #[test]
    fn the_chosen_statement_stalls() {
        let stall = Duration::from_millis(20);
        let engine = Misbehaving::stalling(NullEngine, HitStatements::At(2), stall);
        let mut session = engine.session().unwrap();
        let mut took = || {
            let start = std::time::Instant::now();
            session.execute(&CHANGE, Params::NONE).unwrap();
            start.elapsed()
        };
        let times = [took(), took(), took()];
        assert!(times[1] >= stall && times[1] > times[0] && times[1] > times[2], "{times:?}");
    }

    #[test]
    fn only_named_changes_are_lost() {
        static OTHER: Sql = Sql::new("DELETE FROM holding");
        let engine = Misbehaving::dropping(
            Misbehaving::failing(NullEngine, HitStatements::Every(1), ErrorKind::Other),
            HitStatements::At(1),
        )
        .only("DELETE");
        let mut session = engine.session().unwrap();
        assert!(session.execute(&CHANGE, Params::NONE).is_err(), "it reaches the engine below");
        assert_eq!(session.execute(&OTHER, Params::NONE).unwrap(), 1, "it does not");
    }

    #[test]
    fn a_change_whose_transaction_is_rolled_back_is_not_the_one_that_is_lost() {
        let engine = Misbehaving::dropping(
            Misbehaving::failing(NullEngine, HitStatements::Every(1), ErrorKind::Other),
            HitStatements::At(1),
        );
        let mut session = engine.session().unwrap();
        for _ in 0..2 {
            session.begin(Isolation::Serializable, Access::Write).unwrap();
            assert_eq!(session.execute(&CHANGE, Params::NONE).unwrap(), 1, "it does not reach the engine below");
            session.rollback().unwrap();
        }
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        assert_eq!(session.execute(&CHANGE, Params::NONE).unwrap(), 1);
        session.commit().unwrap();
        assert!(session.execute(&CHANGE, Params::NONE).is_err(), "one is lost");
    }

    #[test]
    fn a_lost_change_is_reported_as_made() {
        let engine = Misbehaving::dropping(
            Misbehaving::failing(NullEngine, HitStatements::At(2), ErrorKind::Other),
            HitStatements::At(2),
        );
        // The failing engine below would have refused its second statement, which is now the third change.
        assert_eq!(results(&engine, 3), [Ok(1), Ok(1), Err(ErrorKind::Other)]);
    }
}
