//! Engines and sessions that wrap others and change a part of their behaviour.

use crate::{
    Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, Footprint, ForReading, Hold, Hosting,
    Interface, IoCounts, Loader, Location, NodeLosses, OwnThreads, Result, Session, SideDatabase, Snapshot, SqlEngine,
};

/// An engine that wraps another and changes its sessions; everything else is passed through. An engine without SQL is
/// passed through unchanged.
pub trait Wrapper: Send + Sync {
    /// The engine below.
    fn inner(&self) -> &dyn Engine;

    /// A session over one of the engine below.
    fn wrap(&self, session: Box<dyn Session>) -> Box<dyn Session>;

    /// Whether copies of the database can be made, if the engine below can make them.
    fn keeps_copies(&self) -> bool {
        true
    }
}

impl<W: Wrapper> Engine for W {
    fn description(&self) -> Result<Description> {
        self.inner().description()
    }
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }
    fn interface(&self) -> Interface<'_> {
        match self.inner().interface() {
            Interface::Sql(_) => Interface::Sql(self),
            keys @ Interface::Keys(_) => keys,
        }
    }
    fn location(&self) -> Location {
        self.inner().location()
    }
    fn hosting(&self) -> Hosting<'_> {
        self.inner().hosting()
    }
    fn exists(&self) -> Result<bool> {
        self.inner().exists()
    }
    fn footprint(&self) -> Result<Footprint> {
        self.inner().footprint()
    }
    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.inner().expect_sessions(sessions)
    }
    fn foreign(&self) -> Result<Option<String>> {
        self.inner().foreign()
    }
    fn for_reading(&self) -> Result<Option<ForReading>> {
        self.inner().for_reading()
    }
    fn for_inspection(&self) -> Result<Option<ForReading>> {
        self.inner().for_inspection()
    }
    fn leftovers(&self) -> Result<Option<String>> {
        self.inner().leftovers()
    }
    fn hold(&self, holder: &str) -> Result<Hold> {
        self.inner().hold(holder)
    }
    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        if !self.keeps_copies() {
            return Err(EngineError::unsupported("this engine keeps no copies of its database"));
        }
        self.inner().snapshot()
    }
    fn side_database(&self, name: &str) -> Result<SideDatabase> {
        self.inner().side_database(name)
    }
    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        self.inner().integrity_check()
    }
    fn conflicts(&self) -> Vec<Conflicts> {
        self.inner().conflicts()
    }
    fn node_losses(&self) -> Vec<NodeLosses> {
        self.inner().node_losses()
    }
    fn counters(&self) -> Result<Vec<Counter>> {
        self.inner().counters()
    }
    fn own_threads(&self) -> Vec<OwnThreads> {
        self.inner().own_threads()
    }
    fn io_counts(&self) -> Result<Option<IoCounts>> {
        self.inner().io_counts()
    }
}

impl<W: Wrapper> SqlEngine for W {
    fn dialect(&self) -> &'static Dialect {
        self.inner().sql().expect("this is the interface of a SQL engine alone").dialect()
    }
    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(self.wrap(self.inner().session()?))
    }
    fn confine(&self) {
        self.inner().sql().expect("this is the interface of a SQL engine alone").confine();
    }
    fn interrupt_statements(&self) {
        self.inner().sql().expect("this is the interface of a SQL engine alone").interrupt_statements();
    }
    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        self.inner().sql()?.new_loader()
    }
}

/// Forwards methods of a [`Session`] to the session in a field.
///
/// Methods not named have the trait's default body. The defaults for many statements or rows call the other methods, so
/// that a session which changes `query` or `execute` changes those too.
///
/// ```
/// use bourse_engine::{EachRow, EngineError, Params, Session, Sql, forward_session};
///
/// struct Counting { inner: Box<dyn Session>, changes: u64 }
///
/// impl Session for Counting {
///     forward_session!(inner: dialect, begin, query, commit, rollback, query_text, execute_text);
///     fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64, EngineError> {
///         self.changes += 1;
///         self.inner.execute(sql, params)
///     }
/// }
/// ```
#[macro_export]
macro_rules! forward_session {
    (@ dialect $inner:ident) => {
        fn dialect(&self) -> &'static $crate::Dialect {
            self.$inner.dialect()
        }
    };
    (@ begin $inner:ident) => {
        fn begin(&mut self, isolation: $crate::Isolation, access: $crate::Access) -> $crate::Result<()> {
            self.$inner.begin(isolation, access)
        }
    };
    (@ query $inner:ident) => {
        fn query(
            &mut self,
            sql: &'static $crate::Sql,
            params: $crate::Params<'_>,
            each: &mut $crate::EachRow<'_>,
        ) -> $crate::Result<()> {
            self.$inner.query(sql, params, each)
        }
    };
    (@ commit $inner:ident) => {
        fn commit(&mut self) -> $crate::Result<()> {
            self.$inner.commit()
        }
    };
    (@ rollback $inner:ident) => {
        fn rollback(&mut self) -> $crate::Result<()> {
            self.$inner.rollback()
        }
    };
    (@ install $inner:ident) => {
        fn install(&mut self, routines: &'static [&'static $crate::Routine]) -> $crate::Result<()> {
            self.$inner.install(routines)
        }
    };
    (@ has_routines $inner:ident) => {
        fn has_routines(&self) -> bool {
            self.$inner.has_routines()
        }
    };
    (@ plan $inner:ident) => {
        fn plan(&mut self, sql: &str) -> $crate::Result<Vec<String>> {
            self.$inner.plan(sql)
        }
    };
    (@ query_text $inner:ident) => {
        fn query_text(
            &mut self,
            sql: &str,
            params: &[$crate::Value<'_>],
            each: &mut $crate::EachRow<'_>,
        ) -> $crate::Result<()> {
            self.$inner.query_text(sql, params, each)
        }
    };
    (@ execute_text $inner:ident) => {
        fn execute_text(&mut self, sql: &str, params: &[$crate::Value<'_>]) -> $crate::Result<u64> {
            self.$inner.execute_text(sql, params)
        }
    };
    ($inner:ident: $($method:ident),+ $(,)?) => {
        $($crate::forward_session!(@ $method $inner);)+
    };
}
