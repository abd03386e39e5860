//! The points where transactions halt, each identified by the one statement before it.

pub(crate) use bourse_oltp::acid::COMMIT;
use bourse_oltp::acid::{HaltPlace, HaltPoint};

/// Point after Trade-Result has read the trade and the account's holding of its security.
pub(crate) const RESULT_FRAME_1: HaltPoint =
    HaltPoint { name: "after frame 1", place: HaltPlace::After("LEFT JOIN holding_summary ON hs_ca_id = t_ca_id") };
/// Point after Trade-Order has read the security's last price.
pub(crate) const ORDER_PRICE: HaltPoint = HaltPoint {
    name: "in frame 3, after LT_PRICE was read",
    place: HaltPlace::After("FROM security CROSS JOIN company CROSS JOIN last_trade"),
};
/// Point after Trade-Order has written the trade, and before its history.
pub(crate) const ORDER_WRITTEN: HaltPoint =
    HaltPoint { name: "in frame 4, after the trade was written", place: HaltPlace::After("INSERT INTO trade (") };

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::one_line;
    use bourse_tpce::transactions::Transaction;
    use bourse_tpce::transactions::kind::shared_statements;

    #[test]
    fn each_point_is_behind_one_statement() {
        for (transaction, point) in [
            (Transaction::TradeResult, RESULT_FRAME_1),
            (Transaction::TradeOrder, ORDER_PRICE),
            (Transaction::TradeOrder, ORDER_WRITTEN),
        ] {
            let HaltPlace::After(part) = point.place else { unreachable!("these are behind statements") };
            let all = transaction.statements().iter().copied().chain(shared_statements());
            assert_eq!(all.filter(|sql| one_line(sql.text()).contains(part)).count(), 1, "{point:?}");
        }
    }
}
