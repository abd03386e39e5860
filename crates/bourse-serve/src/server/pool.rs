//! Sessions that transactions take in turn.

use crate::wire::TICK;
use bourse_engine::{Engine, EngineError, ErrorKind, Session};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

/// So many sessions as there are workers; each is made when it is needed first.
pub(super) struct Pool<'s> {
    engine: &'s dyn Engine,
    free: (Sender<Place>, Receiver<Place>),
}

/// A worker's place: with its session, or before it was made or after it was given up.
type Place = Option<Box<dyn Session>>;

impl<'s> Pool<'s> {
    pub(super) fn new(engine: &'s dyn Engine, workers: usize) -> Self {
        let free = bounded(workers.max(1));
        (0..workers.max(1)).for_each(|_| free.0.send(None).expect("there is room for every worker"));
        Self { engine, free }
    }

    /// The next free session, in the order of asking; `stop` ends the wait.
    ///
    /// # Errors
    /// The engine's, if it makes no session; [`ErrorKind::Interrupted`] after `stop`.
    pub(super) fn take(&self, stop: impl Fn() -> bool) -> Result<Lent<'_>, EngineError> {
        let place = loop {
            match self.free.1.recv_timeout(TICK) {
                Ok(place) => break place,
                Err(RecvTimeoutError::Timeout) if !stop() => {}
                Err(_) => return Err(EngineError::new(ErrorKind::Interrupted, "the server is closing")),
            }
        };
        let mut lent = Lent { back: &self.free.0, session: place };
        if lent.session.is_none() {
            lent.session = Some(self.engine.connect()?);
        }
        Ok(lent)
    }
}

/// A session that goes back to the pool, or if it was given up leaves its place to a new one.
pub(super) struct Lent<'p> {
    back: &'p Sender<Place>,
    session: Place,
}

impl Lent<'_> {
    pub(super) fn session(&mut self) -> &mut dyn Session {
        self.session.as_deref_mut().expect("a session is there until it is given up")
    }

    /// Closes the session: it is not known what state it is in. Whatever transaction was open is undone by that.
    pub(super) fn give_up(mut self) {
        self.session = None;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // Outside a transaction this does nothing; a session that cannot even do that is of no use.
        let session = self.session.take().and_then(|mut session| session.rollback().is_ok().then_some(session));
        let _ = self.back.try_send(session);
    }
}
