use crate::{Access, Dialect, EachRow, EngineError, Isolation, Records, Session, Sql, Value};

/// A key engine's session: transactions and records, no SQL.
///
/// ```
/// # use bourse_engine::{EngineError, KeySession, Records, Session};
/// # fn connect(mine: impl Records + 'static) -> Result<Box<dyn Session>, EngineError> {
/// Ok(Box::new(KeySession(mine))) // the body of the engine's `connect`
/// # }
/// ```
#[derive(Debug)]
pub struct KeySession<R>(pub R);

fn no_sql(sql: &str) -> EngineError {
    EngineError::unsupported("this engine has records by key and knows no SQL").with_statement(sql)
}

impl<R: Records> Session for KeySession<R> {
    /// Of no consequence: no statement gets anywhere.
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }
    fn begin(&mut self, _: Isolation, access: Access) -> Result<(), EngineError> {
        self.0.begin(access)
    }
    fn query(&mut self, sql: &'static Sql, _: &[Value<'_>], _: &mut EachRow<'_>) -> Result<(), EngineError> {
        Err(no_sql(sql.text()))
    }
    fn execute(&mut self, sql: &'static Sql, _: &[Value<'_>]) -> Result<u64, EngineError> {
        Err(no_sql(sql.text()))
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        self.0.commit()
    }
    fn rollback(&mut self) -> Result<(), EngineError> {
        self.0.rollback()
    }
    fn query_text(&mut self, sql: &str, _: &[Value<'_>], _: &mut EachRow<'_>) -> Result<(), EngineError> {
        Err(no_sql(sql))
    }
    fn execute_text(&mut self, sql: &str, _: &[Value<'_>]) -> Result<u64, EngineError> {
        Err(no_sql(sql))
    }
    fn records(&mut self) -> Option<&mut dyn Records> {
        Some(&mut self.0)
    }
}
