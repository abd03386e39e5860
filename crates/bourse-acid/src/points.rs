//! The points where transactions halt, each named by the one statement it is behind.

use crate::pausable_session::{Place, Point};

/// Trade-Result has read the trade and what the account holds of its security.
pub(crate) const RESULT_FRAME_1: Point =
    Point { name: "after frame 1", place: Place::After("LEFT JOIN holding_summary ON hs_ca_id = t_ca_id") };
/// Trade-Result or Trade-Order has done everything and not committed.
pub(crate) const COMMIT: Point = Point { name: "before the commit", place: Place::Commit };
/// Trade-Order has read the security's last price.
pub(crate) const ORDER_PRICE: Point = Point {
    name: "in frame 3, after LT_PRICE was read",
    place: Place::After("FROM security CROSS JOIN company CROSS JOIN last_trade"),
};
/// Trade-Order has written the trade, and not its history.
pub(crate) const ORDER_WRITTEN: Point =
    Point { name: "in frame 4, after the trade was written", place: Place::After("INSERT INTO trade (") };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pausable_session::plain;
    use bourse_tpce::transactions::Transaction;
    use bourse_tpce::transactions::kind::shared_statements;

    #[test]
    fn each_point_is_behind_one_statement() {
        for (transaction, point) in [
            (Transaction::TradeResult, RESULT_FRAME_1),
            (Transaction::TradeOrder, ORDER_PRICE),
            (Transaction::TradeOrder, ORDER_WRITTEN),
        ] {
            let Place::After(part) = point.place else { unreachable!("these are behind statements") };
            let all = transaction.statements().iter().copied().chain(shared_statements());
            assert_eq!(all.filter(|sql| plain(sql.text()).contains(part)).count(), 1, "{point:?}");
        }
    }
}
