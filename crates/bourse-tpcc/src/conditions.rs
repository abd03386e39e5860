//! Conditions that a database meets at any time, and the growth that runs cause.

use bourse_oltp::check::Check;
use bourse_oltp::check::ledger::{Growth, GrowthAmount, Growths, Query, TotalUnit};

/// A condition of the specification: its clause, name, statement and query.
macro_rules! conditions {
    ($($clause:literal $name:literal: $words:literal, $sql:expr;)+) => {
        &[$(Check { name: $name, source: concat!("TPC-C, clause 3.3.2.", $clause), words: $words, sql: $sql }),+]
    };
}

/// Lines of delivered orders by customer, to be joined to customers.
macro_rules! delivered {
    () => {
        "LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered
                      FROM orders INNER JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                     WHERE ol_delivery_d IS NOT NULL
                     GROUP BY o_w_id, o_d_id, o_c_id) AS goods
                ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
    };
}

/// The twelve conditions. In the eleventh, which as published holds of a database as it was loaded, `c_delivery_cnt` counts the
/// deliveries since.
pub(crate) const CONDITIONS: &[Check] = conditions! {
    "1" "C1 warehouses and districts": "a warehouse has taken as much as its districts together",
        "SELECT w_id, w_ytd, sum(d_ytd) FROM warehouse INNER JOIN district ON d_w_id = w_id
          GROUP BY w_id, w_ytd HAVING w_ytd <> sum(d_ytd)";
    "2" "C2 next orders": "the number of a district's next order follows that of its last order, which is its last new order too",
        "SELECT d_w_id, d_id, d_next_o_id, last_order, last_new
           FROM district
                LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last_order FROM orders GROUP BY o_w_id, o_d_id) AS ordered
                ON o_w_id = d_w_id AND o_d_id = d_id
                LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last_new FROM new_order GROUP BY no_w_id, no_d_id) AS waiting
                ON no_w_id = d_w_id AND no_d_id = d_id
          WHERE last_order IS NULL OR d_next_o_id - 1 <> last_order OR d_next_o_id - 1 <> last_new";
    "3" "C3 new orders": "numbers of a district's new orders have no gap",
        "SELECT no_w_id, no_d_id, min(no_o_id), max(no_o_id), count(*) FROM new_order
          GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)";
    "4" "C4 lines of districts": "a district has as many order lines as its orders count together",
        "SELECT o_w_id, o_d_id, counted, there
           FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS counted FROM orders GROUP BY o_w_id, o_d_id) AS ordered
                LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS there FROM order_line GROUP BY ol_w_id, ol_d_id) AS filled
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id
          WHERE there IS NULL OR counted <> there";
    "5" "C5 carriers": "an order has no carrier exactly if it is a new order",
        "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id
           FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
          WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)";
    "6" "C6 lines of orders": "an order has as many lines as it counts",
        "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, count(ol_number)
           FROM orders LEFT JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
          GROUP BY o_w_id, o_d_id, o_id, o_ol_cnt HAVING o_ol_cnt <> count(ol_number)";
    "7" "C7 dates of delivery": "an order line has no date of delivery exactly if its order has no carrier",
        "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id
           FROM order_line INNER JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
          WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)";
    "8" "C8 payments to warehouses": "a warehouse has taken what was paid to it",
        "SELECT w_id, w_ytd, sum(h_amount) FROM warehouse LEFT JOIN history ON h_w_id = w_id
          GROUP BY w_id, w_ytd HAVING w_ytd <> coalesce(sum(h_amount), 0)";
    "9" "C9 payments to districts": "a district has taken what was paid to it",
        "SELECT d_w_id, d_id, d_ytd, sum(h_amount) FROM district LEFT JOIN history ON h_w_id = d_w_id AND h_d_id = d_id
          GROUP BY d_w_id, d_id, d_ytd HAVING d_ytd <> coalesce(sum(h_amount), 0)";
    "10" "C10 balances": "a customer's balance is the price of what was delivered, less what was paid",
        concat!("SELECT c_w_id, c_d_id, c_id, c_balance, delivered, paid FROM customer ", delivered!(),
            " LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history
                          GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS payments
                ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
          WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)");
    "11" "C11 deliveries": "each order of a district is new, was delivered when it was loaded, or its delivery was counted",
        "SELECT d_w_id, d_id, ordered, waiting, deliveries
           FROM district
                LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS ordered FROM orders GROUP BY o_w_id, o_d_id) AS a
                ON o_w_id = d_w_id AND o_d_id = d_id
                LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS waiting FROM new_order GROUP BY no_w_id, no_d_id) AS b
                ON no_w_id = d_w_id AND no_d_id = d_id
                LEFT JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS deliveries FROM customer GROUP BY c_w_id, c_d_id) AS c
                ON c_w_id = d_w_id AND c_d_id = d_id
          WHERE coalesce(ordered, 0) - coalesce(waiting, 0) <> {delivered} + coalesce(deliveries, 0)";
    "12" "C12 deliveries of customers": "a customer's balance and payments together are the price of what was delivered",
        concat!("SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, delivered FROM customer ", delivered!(),
            " WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0)");
};

/// Places of the ledger's amounts.
pub(crate) const ORDERS: usize = 1;
pub(crate) const PAYMENTS: usize = 2;
pub(crate) const DELIVERIES: usize = 3;

use GrowthAmount::{Acknowledged, Total};
use TotalUnit::{Cents, Whole};

/// Growth of a total: its name, which is the check's too, what it must have grown by, and that in words.
const fn growth(name: &'static str, by: GrowthAmount, words: &'static str) -> Growth {
    Growth { name, words, total: name, by }
}

#[rustfmt::skip]
pub(crate) static GROWTHS: Growths = Growths {
    amounts: &["transactions", "orders", "payments, cents", "deliveries"],
    before_and_after: &[
        Query { sql: "SELECT sum(w_ytd) FROM warehouse", totals: &[("payments to warehouses, cents", Cents)] },
        Query { sql: "SELECT sum(d_next_o_id), sum(d_ytd) FROM district", totals: &[("order numbers", Whole), ("payments to districts, cents", Cents)] },
        Query { sql: "SELECT count(*), sum(o_ol_cnt) FROM orders", totals: &[("orders", Whole), ("lines counted", Whole)] },
        Query { sql: "SELECT count(*), sum(ol_quantity) FROM order_line", totals: &[("order lines", Whole), ("pieces ordered", Whole)] },
        Query { sql: "SELECT sum(s_order_cnt), sum(s_ytd) FROM stock", totals: &[("supplies", Whole), ("pieces supplied", Whole)] },
        Query { sql: "SELECT sum(c_delivery_cnt), sum(c_payment_cnt), sum(c_ytd_payment) FROM customer",
            totals: &[("deliveries", Whole), ("payments counted", Whole), ("payments of customers, cents", Cents)] },
        Query { sql: "SELECT count(*) FROM history", totals: &[("payments", Whole)] },
    ],
    after: &[],
    growths: &[
        growth("orders", Acknowledged(ORDERS), "orders has grown by the orders that were entered"),
        growth("order numbers", Acknowledged(ORDERS), "districts have given as many numbers as orders were entered"),
        growth("order lines", Total("lines counted"), "order_line has grown by the lines that the orders count"),
        growth("supplies", Total("order lines"), "stock has supplied each line that was entered"),
        growth("pieces supplied", Total("pieces ordered"), "stock has supplied as many pieces as were ordered"),
        growth("payments to warehouses, cents", Acknowledged(PAYMENTS), "warehouses have taken what was paid"),
        growth("payments to districts, cents", Acknowledged(PAYMENTS), "districts have taken what was paid"),
        growth("payments of customers, cents", Acknowledged(PAYMENTS), "customers have paid what was paid"),
        growth("payments", Total("payments counted"), "history has grown by the payments that customers count"),
        growth("deliveries", Acknowledged(DELIVERIES), "customers have got as many orders as were delivered"),
    ],
};
