//! Session of a user that continues at another node when its node is lost.

use crate::client::nodes::{NodeConnector, Nodes};
use bourse_engine::{
    Access, Dialect, EachFound, EachRow, EngineError, ErrorKind, Isolation, Params, Result, Routine, Runs, Session,
    Setting, Sql, TransactionState, Value,
};
use std::sync::Arc;

/// A session of a database with several nodes.
pub struct NodeSession<C: NodeConnector> {
    dialect: &'static Dialect,
    nodes: Arc<Nodes<C>>,
    /// Node assigned to the session.
    home: usize,
    /// Node that the session is connected to.
    at: usize,
    /// Session at that node; `None` after the node was lost, until the next transaction.
    session: Option<C::Session>,
    /// State of its transaction, which has failed if its node was lost, and with it all its changes.
    state: TransactionState,
    /// Round trips of earlier sessions.
    round_trips: u64,
    /// Routines that every session installs at its server.
    routines: Option<&'static [&'static Routine]>,
}

impl<C: NodeConnector> NodeSession<C> {
    /// Opens a session at the next node in turn.
    ///
    /// # Errors
    /// The client's or the server's.
    pub fn new(dialect: &'static Dialect, nodes: Arc<Nodes<C>>) -> Result<Self> {
        let home = nodes.next_home();
        Self::at(dialect, nodes, home)
    }

    /// Opens a session at that node, counted from 0.
    ///
    /// # Errors
    /// The client's or the server's.
    pub fn at(dialect: &'static Dialect, nodes: Arc<Nodes<C>>, home: usize) -> Result<Self> {
        let mut this = Self {
            dialect,
            nodes,
            home,
            at: home,
            session: None,
            state: TransactionState::Idle,
            round_trips: 0,
            routines: None,
        };
        this.session()?;
        Ok(this)
    }

    /// Present session; opens one at its node, or at the next node that can be reached.
    fn session(&mut self) -> Result<&mut C::Session> {
        if self.session.is_none() {
            let (at, mut session) = self.nodes.reach(self.at, |connector| connector.session(self.nodes.database()))?;
            if let Some(routines) = self.routines {
                session.install(routines)?;
            }
            self.at = at;
            self.session = Some(session);
        }
        Ok(self.session.as_mut().expect("made just before"))
    }

    /// Returns to the assigned node, between transactions, once that is reachable again.
    fn return_to_assigned_node(&mut self) {
        if self.at != self.home && self.nodes.is_up(self.home) {
            self.at = self.home;
            self.end_session();
        }
    }

    fn end_session(&mut self) {
        let ended = self.session.take();
        self.round_trips += ended.and_then(|session| session.round_trips()).unwrap_or(0);
    }

    /// Marks the node as lost; the next one is tried first.
    fn forget(&mut self) {
        self.nodes.set_up(self.at, false);
        self.end_session();
        self.at = (self.at + 1) % self.nodes.len();
    }

    fn lost(&self, kind: ErrorKind, what: &str, e: EngineError) -> EngineError {
        let e = if e.code().is_none() { e.with_code("node lost") } else { e };
        e.with_kind(kind).during(format_args!("node {} was lost {what}", self.nodes.name(self.at)))
    }

    /// Converts an error of a statement by its effect on the transaction, and counts it.
    fn counted_error(&mut self, e: EngineError) -> EngineError {
        match (e.kind(), self.state) {
            (ErrorKind::ConnectionLost, TransactionState::Open) => {
                let told = self.lost(ErrorKind::Conflict, "in a transaction, of which nothing was committed", e);
                self.nodes.count_lost();
                self.state = TransactionState::Failed(told.kind());
                self.forget();
                told
            }
            (ErrorKind::ConnectionLost, _) => {
                let told = self.lost(ErrorKind::InDoubt, "in a statement outside a transaction", e);
                self.forget();
                told
            }
            (ErrorKind::Conflict, _) => {
                self.nodes.count(&e);
                e
            }
            (ErrorKind::Interrupted, TransactionState::Open) if self.nodes.kinds().interrupted => {
                // Some statements are told so that their transaction has to make way for another node's commit.
                self.nodes.count(&e);
                e.with_kind(ErrorKind::Conflict)
            }
            _ => e,
        }
    }

    fn run<T>(&mut self, act: impl FnOnce(&mut C::Session) -> Result<T>) -> Result<T> {
        if matches!(self.state, TransactionState::Failed(_)) {
            return Err(self.refusal());
        }
        let done = self.session().and_then(act);
        done.map_err(|e| self.counted_error(e))
    }

    fn refusal(&self) -> EngineError {
        EngineError::new(ErrorKind::Conflict, "the transaction has lost its node and has to be rolled back")
    }
}

impl<C: NodeConnector> Session for NodeSession<C> {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Begins a transaction. A node lost here has cost nothing yet, so the next node is tried immediately.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.state.refuse_open()?;
        self.return_to_assigned_node();
        let isolation = self.nodes.given(isolation);
        let mut left = self.nodes.len();
        loop {
            match self.session()?.begin(isolation, access) {
                Ok(()) => {
                    self.state = TransactionState::Open;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::ConnectionLost && left > 0 => {
                    left -= 1;
                    self.forget();
                }
                Err(e) if e.kind() == ErrorKind::ConnectionLost => return Err(e),
                Err(e) => return Err(self.counted_error(e)),
            }
        }
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        if self.nodes.len() > 1 {
            // A session that goes on at another node has that one's.
            return Ok(Vec::new());
        }
        self.run(C::Session::settings)
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        self.run(|session| session.prepare(sql, params))
    }

    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.run(|session| session.query(sql, params, each))
    }

    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.run(|session| session.execute(sql, params))
    }

    fn change_one(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.run(|session| session.change_one(sql, params))
    }

    fn install(&mut self, routines: &'static [&'static Routine]) -> Result<()> {
        self.routines = Some(routines);
        let Some(session) = self.session.as_mut().filter(|_| self.state == TransactionState::Idle) else {
            return Ok(());
        };
        match session.install(routines) {
            // The next transaction's session installs them at its node.
            Err(e) if e.kind() == ErrorKind::ConnectionLost => {
                self.forget();
                Ok(())
            }
            installed => installed,
        }
    }

    fn has_routines(&self) -> bool {
        self.session.as_ref().is_some_and(C::Session::has_routines)
    }

    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        self.run(|session| session.call(routine, params, each))
    }

    fn round_trips(&self) -> Option<u64> {
        let now = self.session.as_ref().and_then(C::Session::round_trips);
        Some(self.round_trips + now.unwrap_or(0))
    }

    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        self.run(|session| session.run_each(sql, runs, each))
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle => Ok(()),
            TransactionState::Failed(_) => Err(self.refusal()),
            TransactionState::Open => match self.session()?.commit() {
                Err(e) if e.kind() == ErrorKind::ConnectionLost => {
                    let told = self.lost(ErrorKind::InDoubt, "while it committed; its outcome is unknown", e);
                    self.forget();
                    Err(told)
                }
                done => done.map_err(|e| self.counted_error(e)),
            },
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Failed(_) => Ok(()),
            TransactionState::Open => match self.session()?.rollback() {
                Err(e) if e.kind() == ErrorKind::ConnectionLost => {
                    // The loss of its connection has undone it.
                    self.forget();
                    Ok(())
                }
                Err(e) if e.kind() == ErrorKind::Conflict => {
                    // The server has undone it before, for another node's commit, and says so now.
                    self.nodes.count(&e);
                    self.session()?.execute_text("ROLLBACK", &[]).map(drop)
                }
                done => done,
            },
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        self.run(|session| session.plan(sql))
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.run(|session| session.query_text(sql, params, each))
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.run(|session| session.execute_text(sql, params))
    }
}
