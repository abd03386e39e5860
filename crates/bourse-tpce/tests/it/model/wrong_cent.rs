//! A session with a planted fault.

use bourse_engine::{Params, Result, Session, Sql, Value, forward_session};

/// A session that settles one trade with a cent too much.
pub(crate) struct WrongCent {
    inner: Box<dyn Session>,
    /// Settlements before the wrong one.
    settlements: u64,
}

impl WrongCent {
    /// A session that alters the settlement after `settlements` others.
    pub(crate) fn after(settlements: u64, inner: Box<dyn Session>) -> Self {
        Self { inner, settlements }
    }
}

impl Session for WrongCent {
    forward_session!(inner: dialect, begin, query, commit, rollback, query_text, execute_text);
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        let mut params: Vec<_> = params.iter().collect();
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
        self.inner.execute(sql, Params::of(&params))
    }
}
