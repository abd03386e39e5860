//! Bugs that can be planted in the workload (`bourse_oltp::planted`), and their statements.

use crate::requests::Request;
use crate::transactions::{SELECT_PAYER, customer_of};
use bourse_engine::{EngineError, RowExt as _, Session, SessionExt as _, Sql};
use bourse_oltp::planted::BrokenPart::{Data, Work};
use bourse_oltp::planted::Bug;
use bourse_schema::Balance;

/// All of them.
#[rustfmt::skip]
pub static BUGS: &[Bug] = &[
    Bug::new("DistrictNotPaid", Data, "Payment does not add the amount to the district (1 of 20)").one_in(20),
    Bug::new("BadCreditIgnored", Data, "Payment does not note the payment of a customer with bad credit"),
    Bug::new("PayerReadEarly", Data, "Payment subtracts from the balance that it read before its transaction began"),
    Bug::new("FirstNamesake", Data, "of customers with one name the first is taken, not the one in the middle"),
    Bug::new("NoSuchItemCommitted", Data, "New-Order commits what it has entered before the item that does not exist"),
    Bug::new("StockRefilledWithHundred", Data, "New-Order refills low stock with 100 pieces instead of 91"),
    Bug::new("RemoteNotCounted", Data, "New-Order does not count supplies for another warehouse"),
    Bug::new("NewestDelivered", Data, "Delivery takes the newest order of a district, not the oldest"),
    Bug::new("LinesNotDelivered", Data, "Delivery does not date the lines of the order"),
    Bug::new("DeliveryNotCharged", Data, "Delivery does not add the price to the customer's balance"),
    Bug::new("FirstOrderShown", Work, "Order-Status returns the customer's first order"),
    Bug::new("LowStockTwice", Work, "Stock-Level counts an item for each of its lines"),
    Bug::new("MixWithoutStockLevel", Work, "users never draw a Stock-Level"),
];

pub(crate) static SELECT_FIRST_ORDER: Sql = Sql::new(
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders
      WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_c_id = ?3 ORDER BY o_id LIMIT 1",
);
pub(crate) static SELECT_NEWEST: Sql = Sql::new(
    "SELECT no_o_id FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2 ORDER BY no_o_id DESC LIMIT 1 {for_update}",
);
pub(crate) static COUNT_LOW_LINES: Sql = Sql::new(
    "SELECT count(s_i_id)
       FROM order_line INNER JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
      WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id >= ?3 AND ol_o_id < ?4 AND s_quantity < ?5",
);

/// Balance in cents of the customer who pays.
pub(crate) fn balance_before(db: &mut dyn Session, request: &Request) -> Result<Option<i64>, EngineError> {
    let Request::Payment { of, customer, .. } = request else { return Ok(None) };
    let c_id = customer_of(db, *of, customer)?;
    db.first(&SELECT_PAYER, &[of.w_id.into(), of.d_id.into(), c_id.into()], |row| Ok(row.get::<Balance>(0)?.units()))
}
