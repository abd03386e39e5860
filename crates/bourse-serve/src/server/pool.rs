//! The sessions that transactions use in turn.

use super::lock;
use crate::wire::TICK;
use bourse_engine::{Engine, EngineError, ErrorKind, Result, Session};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::sync::Mutex;

/// Pool with one session per worker, each made when first needed.
///
/// A connection gets the session it had before, as long as there are as many sessions as connections: a session that moves
/// between connections loses the contents of its cache, and a user in process has its own as well.
pub(super) struct Pool<'s> {
    engine: &'s dyn Engine,
    /// Permits, one per session, made or not: a transaction that has received one may use a session.
    places: (Sender<()>, Receiver<()>),
    sessions: Mutex<Sessions>,
    most: usize,
}

#[derive(Default)]
struct Sessions {
    /// Unused sessions, the last used at the end, each with the connection that had it.
    idle: Vec<(Option<u64>, Box<dyn Session>)>,
    /// Number of sessions that exist, idle or not.
    made: usize,
}

impl Sessions {
    /// Session for a connection: its own, or one without a connection, or another one's if no more may be made.
    fn pick(&mut self, owner: u64, most: usize) -> Option<Box<dyn Session>> {
        let of = |wanted: Option<u64>| move |(owner, _): &(Option<u64>, _)| *owner == wanted;
        let own = self.idle.iter().rposition(of(Some(owner)));
        let found = own.or_else(|| self.idle.iter().rposition(of(None)));
        let found = found.or_else(|| if self.made >= most { self.idle.len().checked_sub(1) } else { None })?;
        Some(self.idle.remove(found).1)
    }
}

impl<'s> Pool<'s> {
    pub(super) fn new(engine: &'s dyn Engine, workers: usize) -> Self {
        let most = workers.max(1);
        let places = bounded(most);
        (0..most).for_each(|_| places.0.send(()).expect("there is room for every worker"));
        Self { engine, places, sessions: Mutex::default(), most }
    }

    /// Takes a session for that connection, in the order of requests; `stop` ends the wait.
    ///
    /// # Errors
    /// The engine's, if it cannot make a session; [`ErrorKind::Interrupted`] after `stop`.
    pub(super) fn take(&self, owner: u64, stop: impl Fn() -> bool) -> Result<PooledSession<'_>> {
        loop {
            match self.places.1.recv_timeout(TICK) {
                Ok(()) => break,
                Err(RecvTimeoutError::Timeout) if !stop() => {}
                Err(_) => return Err(EngineError::new(ErrorKind::Interrupted, "the server is closing")),
            }
        }
        let picked = {
            let mut sessions = lock(&self.sessions);
            let picked = sessions.pick(owner, self.most);
            // Counted before it is made: two that make one at the same time must not be one too many.
            sessions.made += usize::from(picked.is_none());
            picked
        };
        let mut pooled = PooledSession { places: &self.places.0, sessions: &self.sessions, owner, session: picked };
        if pooled.session.is_none() {
            pooled.session = Some(self.engine.session().inspect_err(|_| lock(&self.sessions).made -= 1)?);
        }
        Ok(pooled)
    }

    /// Closes the unused sessions; others are made when needed.
    pub(super) fn close_idle(&self) {
        let closed = {
            let mut sessions = lock(&self.sessions);
            let idle = std::mem::take(&mut sessions.idle);
            sessions.made -= idle.len();
            idle
        };
        // Closing may take a while, so the lock is released first.
        drop(closed);
    }

    /// Makes the session of a closed connection available to any other.
    pub(super) fn release(&self, owner: u64) {
        lock(&self.sessions).idle.iter_mut().filter(|(of, _)| *of == Some(owner)).for_each(|(of, _)| *of = None);
    }
}

/// Session of the pool that a transaction has. It returns to the pool when dropped; one that was given up makes room for a new one.
pub(super) struct PooledSession<'p> {
    places: &'p Sender<()>,
    sessions: &'p Mutex<Sessions>,
    owner: u64,
    session: Option<Box<dyn Session>>,
}

impl PooledSession<'_> {
    pub(super) fn session(&mut self) -> &mut dyn Session {
        self.session.as_deref_mut().expect("a session is there until it is given up")
    }

    /// Closes the session, since its state is unknown. This undoes its open transaction.
    pub(super) fn give_up(mut self) {
        self.close();
    }

    fn close(&mut self) {
        if self.session.take().is_some() {
            lock(self.sessions).made -= 1;
        }
    }
}

impl Drop for PooledSession<'_> {
    fn drop(&mut self) {
        // Outside a transaction this does nothing; a session that cannot even do that is of no use.
        if self.session.as_mut().is_some_and(|session| session.rollback().is_err()) {
            self.close();
        }
        if let Some(session) = self.session.take() {
            lock(self.sessions).idle.push((Some(self.owner), session));
        }
        // There is room: this place was taken out before.
        let _ = self.places.try_send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::NullEngine;

    fn made(pool: &Pool<'_>) -> usize {
        lock(&pool.sessions).made
    }

    #[test]
    fn a_connection_keeps_its_session_and_no_more_are_made_than_needed() {
        let pool = Pool::new(&NullEngine, 3);
        for _ in 0..5 {
            for owner in [1, 2] {
                drop(pool.take(owner, || false).unwrap());
            }
        }
        assert_eq!(made(&pool), 2, "one for each of two connections");
        let both = [pool.take(1, || false).unwrap(), pool.take(2, || false).unwrap()];
        drop(both);
        drop(pool.take(3, || false).unwrap());
        drop(pool.take(4, || false).unwrap());
        assert_eq!(made(&pool), 3, "the fourth takes another's, since no more may be made");
        pool.take(4, || false).unwrap().give_up();
        assert_eq!(made(&pool), 2);
        pool.release(1);
        pool.release(2);
        drop(pool.take(9, || false).unwrap());
        assert_eq!(made(&pool), 2, "what is nobody's is taken before another is made");
        let pooled = pool.take(1, || false).unwrap();
        pool.close_idle();
        assert_eq!(made(&pool), 1, "what somebody uses stays");
        drop(pooled);
        drop(pool.take(1, || false).unwrap());
        assert_eq!(made(&pool), 1);
    }

    #[test]
    fn who_finds_no_session_free_waits_or_is_told_that_the_server_closes() {
        let pool = Pool::new(&NullEngine, 1);
        let pooled = pool.take(1, || false).unwrap();
        let refused = pool.take(2, || true).err().expect("there is no session");
        assert_eq!(refused.kind(), ErrorKind::Interrupted);
        drop(pooled);
        assert!(pool.take(2, || true).is_ok());
    }
}
