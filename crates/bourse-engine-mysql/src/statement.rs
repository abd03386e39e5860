//! Statements in the server's notation, with a `?` for each parameter, in the order of the text.

use bourse_engine::{EngineError, ErrorKind, Result, Value, split_parameters};
use bourse_schema::Dialect;

/// Text of a statement between its parameters, and the index of the caller's value for each parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedStatement {
    /// Pieces of text, one more than the parameters.
    pieces: Vec<String>,
    /// Index of the caller's value for each parameter, from 0: `?2, ?1, ?2` is 1, 0, 1.
    order: Vec<usize>,
}

/// Digits after the point of each parameter that is a decimal.
///
/// The protocol carries decimals as text, and the server compares and adds text as binary floating point: with its scale
/// declared a decimal stays exact.
pub(crate) type Scales = Vec<Option<u8>>;

impl RenderedStatement {
    /// Parses a statement with parameters `?1`, `?2`, … or plain `?`, and the dialect's holes.
    pub(crate) fn of(text: &str, dialect: &Dialect) -> Self {
        let (pieces, order) = split_parameters(dialect.fill(text).trim());
        Self { pieces, order }
    }

    /// Text for the server, with the types of decimals declared.
    pub(crate) fn sql(&self, scales: &[Option<u8>]) -> String {
        let mut sql = self.pieces[0].clone();
        for (at, piece) in self.pieces[1..].iter().enumerate() {
            match scales.get(at).copied().flatten() {
                Some(scale) => sql.push_str(&format!("CAST(? AS DECIMAL(38,{scale}))")),
                None => sql.push('?'),
            }
            sql.push_str(piece);
        }
        sql
    }

    /// Text in which `write` appends each parameter, given the index of the caller's value.
    pub(crate) fn inlined(&self, mut write: impl FnMut(&mut String, usize)) -> String {
        let mut sql = self.pieces[0].clone();
        for (piece, number) in self.pieces[1..].iter().zip(&self.order) {
            write(&mut sql, *number);
            sql.push_str(piece);
        }
        sql
    }

    /// Text that contains the values, for the protocol without parameters.
    ///
    /// # Errors
    /// An error if the statement names more or fewer values than `params` has.
    pub(crate) fn literal(&self, params: &[Value<'_>]) -> Result<String> {
        self.check_count(params)?;
        Ok(self.inlined(|sql, number| crate::value::write_literal(sql, params[number])))
    }

    /// Scales of the decimals among these values, in the statement's order.
    pub(crate) fn scales(&self, params: &[Value<'_>]) -> Scales {
        let scale = |&number: &usize| match params.get(number) {
            Some(Value::Decimal { scale, .. }) => Some(*scale),
            _ => None,
        };
        self.order.iter().map(scale).collect()
    }

    /// Whether a text made with `scales` is exact for these values too.
    pub(crate) fn is_exact(&self, scales: &[Option<u8>], params: &[Value<'_>]) -> bool {
        self.order.iter().zip(scales).all(|(&number, declared)| match params.get(number) {
            Some(Value::Decimal { scale, .. }) => declared.is_some_and(|declared| declared >= *scale),
            // NULL is NULL in every type; a value of another kind must not be forced into a decimal.
            Some(Value::Null) => true,
            _ => declared.is_none(),
        })
    }

    /// Values in the statement's order.
    ///
    /// # Errors
    /// An error if the statement names more or fewer values than `params` has.
    pub(crate) fn arrange(&self, params: &[Value<'_>]) -> Result<Vec<mysql::Value>> {
        self.check_count(params)?;
        Ok(self.order.iter().map(|&number| crate::value::to_server(params[number])).collect())
    }

    fn check_count(&self, params: &[Value<'_>]) -> Result<()> {
        let wanted = self.order.iter().max().map_or(0, |most| most + 1);
        if wanted == params.len() {
            return Ok(());
        }
        let message = format!("the statement has {wanted} parameters, {} were given", params.len());
        Err(EngineError::new(ErrorKind::Other, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECT;

    #[track_caller]
    fn check(text: &str, sql: &str, order: &[usize]) {
        let rendered = RenderedStatement::of(text, &DIALECT);
        assert_eq!(rendered.sql(&[]), sql);
        assert_eq!(rendered.order, order, "{text}");
    }

    #[test]
    fn numbered_parameters_are_put_in_the_order_of_the_text() {
        check("SELECT 1", "SELECT 1", &[]);
        check("UPDATE t SET a = ?2 WHERE k = ?1", "UPDATE t SET a = ? WHERE k = ?", &[1, 0]);
        check("WHERE a <= ?4 AND b >= ?4 AND c = ?1", "WHERE a <= ? AND b >= ? AND c = ?", &[3, 3, 0]);
        check("VALUES (?10, ?1, ?11)", "VALUES (?, ?, ?)", &[9, 0, 10]);
        check("VALUES (?, ?, ?)", "VALUES (?, ?, ?)", &[0, 1, 2]);
        check("SELECT a FROM t {for_update}", "SELECT a FROM t FOR UPDATE", &[]);
    }

    #[test]
    fn a_question_mark_in_a_text_is_no_parameter() {
        check("SELECT '?1', 'it''s ?', ?1", "SELECT '?1', 'it''s ?', ?", &[0]);
        check("SELECT \"a?\", `b?` -- why?\n, ?1 /* ?2 */", "SELECT \"a?\", `b?` -- why?\n, ? /* ?2 */", &[0]);
        check("SELECT 'open ?1", "SELECT 'open ?1", &[]);
        check("SELECT 'é?', ?2, ?1", "SELECT 'é?', ?, ?", &[1, 0]);
    }

    #[test]
    fn decimals_are_declared() {
        let rendered = RenderedStatement::of("SET a = a + ?2 WHERE b = ?1 AND c = ?2", &DIALECT);
        let params = [Value::Int(1), Value::Decimal { units: 5, scale: 2 }];
        let scales = rendered.scales(&params);
        assert_eq!(
            rendered.sql(&scales),
            "SET a = a + CAST(? AS DECIMAL(38,2)) WHERE b = ? AND c = CAST(? AS DECIMAL(38,2))"
        );
        assert!(rendered.is_exact(&scales, &params));
        assert!(rendered.is_exact(&scales, &[Value::Null, Value::Null]));
        assert!(!rendered.is_exact(&scales, &[Value::Int(1), Value::Decimal { units: 5, scale: 5 }]));
        assert!(!rendered.is_exact(&scales, &[Value::Int(1), Value::Int(5)]));
    }

    #[test]
    fn values_that_are_missing_are_told() {
        let rendered = RenderedStatement::of("SELECT ?1, ?3", &DIALECT);
        let refused = rendered.arrange(&[Value::Int(1)]).unwrap_err();
        assert_eq!(refused.message(), "the statement has 3 parameters, 1 were given");
    }

    #[test]
    fn values_stand_in_a_text_where_their_parameters_did() {
        let rendered = RenderedStatement::of("SET a = ?2, b = '?' WHERE c = ?1 OR d = ?2", &DIALECT);
        let text = rendered.literal(&[Value::Text("it's"), Value::Decimal { units: 5, scale: 2 }]).unwrap();
        assert_eq!(text, "SET a = 0.05, b = '?' WHERE c = 'it''s' OR d = 0.05");
        assert!(rendered.literal(&[]).is_err());
    }
}
