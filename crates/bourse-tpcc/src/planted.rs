//! Bugs that can be planted in the workload (`bourse_oltp::planted`), and their statements.

use crate::requests::Request;
use crate::transactions::{SELECT_NEXT_ORDER, SELECT_PAYER, customer_of};
use bourse_engine::{Result, RowExt as _, Session, SessionExt as _, Sql};
use bourse_oltp::planted::BrokenPart::{Data, Work};
use bourse_oltp::planted::{Bug, is};
use bourse_schema::Balance;

/// All of them.
#[rustfmt::skip]
pub static BUGS: &[Bug] = &[
    Bug::new("WarehouseNotPaid", Data, "Payment does not add the amount to the warehouse (1 of 20)").one_in(20),
    Bug::new("DistrictNotPaid", Data, "Payment does not add the amount to the district (1 of 20)").one_in(20),
    Bug::new("BadCreditIgnored", Data, "Payment does not note the payment of a customer with bad credit"),
    Bug::new("PayerReadEarly", Data, "Payment subtracts from the balance that it read before its transaction began"),
    Bug::new("FirstNamesake", Data, "of customers with one name the first is taken, not the one in the middle"),
    Bug::new("OrderNumberReadEarly", Data, "New-Order takes the number that it read before its transaction began"),
    Bug::new("NoSuchItemCommitted", Data, "New-Order commits what it has entered before the item that does not exist"),
    Bug::new("LineOfOnePiece", Data, "New-Order charges one piece of each line"),
    Bug::new("StockNotTaken", Data, "New-Order does not take the pieces out of stock"),
    Bug::new("StockRefilledWithHundred", Data, "New-Order refills low stock with 100 pieces instead of 91"),
    Bug::new("RemoteOrderLocal", Data, "New-Order marks an order that another warehouse supplies as local"),
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

/// Number that a transaction with a bug reads before it begins: the payer's balance in cents, or the next order.
pub(crate) fn read_early(db: &mut dyn Session, request: &Request) -> Result<Option<i64>> {
    match request {
        Request::Payment { of, customer, .. } if is("PayerReadEarly") => {
            let key = [of.w_id.into(), of.d_id.into(), customer_of(db, *of, customer)?.into()];
            db.first(&SELECT_PAYER, &key, |row| Ok(row.get::<Balance>(0)?.units()))
        }
        Request::NewOrder { district, .. } if is("OrderNumberReadEarly") => {
            db.first(&SELECT_NEXT_ORDER, &[district.w_id.into(), district.d_id.into()], |row| row.get(0))
        }
        _ => Ok(None),
    }
}
