//! A bug on purpose, to show that [`verify`](super::verify()) finds one. Only in builds with the feature `planted-bug`.

use bourse_engine::{Access, EachRow, EngineError, Isolation, Session, Sql, Value};
use bourse_schema::Dialect;

/// A session that settles one trade with a cent too much.
pub struct PlantedBug {
    inner: Box<dyn Session>,
    /// Settlements still to be written before the wrong one.
    settlements: u64,
}

impl std::fmt::Debug for PlantedBug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlantedBug").field("settlements", &self.settlements).finish_non_exhaustive()
    }
}

impl PlantedBug {
    /// The settlement after so many is wrong.
    pub fn after(settlements: u64, inner: Box<dyn Session>) -> Self {
        Self { inner, settlements }
    }
}

impl Session for PlantedBug {
    fn dialect(&self) -> &'static Dialect {
        self.inner.dialect()
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        self.inner.begin(isolation, access)
    }
    fn query(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.inner.query(sql, params, each)
    }
    fn execute(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, EngineError> {
        let mut params = params.to_vec();
        if sql.text().trim_start().starts_with("INSERT INTO settlement") {
            if self.settlements == 0
                && let Some(Value::Decimal { units, .. }) =
                    params.iter_mut().rev().find(|value| matches!(value, Value::Decimal { .. }))
            {
                *units += 1;
            }
            // The one after the last that counts is far away.
            self.settlements = self.settlements.wrapping_sub(1);
        }
        self.inner.execute(sql, &params)
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        self.inner.commit()
    }
    fn rollback(&mut self) -> Result<(), EngineError> {
        self.inner.rollback()
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.inner.query_text(sql, params, each)
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, EngineError> {
        self.inner.execute_text(sql, params)
    }
}
