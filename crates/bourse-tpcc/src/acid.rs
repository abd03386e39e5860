//! Tests of atomicity, isolation and durability: which transactions halt where, and which meet.
//!
//! Those that meet do so on one row of `warehouse`, `district`, `customer`, `stock` or `new_order`. Customer 7 has good or bad
//! credit, as the generator drew it; both are charged.

use crate::draw::DISTRICTS;
use crate::requests::{DistrictId, OrderedItem, Request, Selection};
use crate::workload::scale;
use bourse_oltp::Size;
use bourse_oltp::acid::{
    AcidTests, AcknowledgedKind, COMMIT, Described, HaltPlace, HaltPoint, Halting, Meeting, TestSpec, TestWork,
};
use bourse_record::acid::Property::{Atomicity, Isolation};
use bourse_schema::{Date, Decimal, Timestamp};

/// Time of every transaction.
const AT: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);

const fn after(name: &'static str, statement: &'static str) -> HaltPoint {
    HaltPoint { name, place: HaltPlace::After(statement) }
}

const NUMBER_READ: HaltPoint = after("after the district's next order was read", "SELECT d_next_o_id, d_tax");
const ORDER_WRITTEN: HaltPoint = after("after the order was written", "INSERT INTO new_order");
const DISTRICT_PAID: HaltPoint = after("after warehouse and district were paid", "UPDATE district SET d_ytd");
const BALANCE_READ: HaltPoint = after("after the balance was read", "SELECT c_balance, c_ytd_payment");
const STOCK_READ: HaltPoint = after("after a stock was read", "SELECT s_quantity");
const ORDER_READ: HaltPoint = after("after the last order was read", "SELECT o_id, o_entry_d");
const OLDEST_READ: HaltPoint = after("after the first district's oldest order was read", "SELECT no_o_id");
const CARRIER_WRITTEN: HaltPoint = after("after the first order got its carrier", "UPDATE orders SET o_carrier_id");

const fn spec(id: &'static str, title: &'static str, source: &'static str, demanded: &'static str) -> TestSpec {
    let property = if id.as_bytes()[0] == b'A' { Atomicity } else { Isolation };
    TestSpec { id, property, title, source, demanded }
}

const ONE_ORDER: &str = "outputs and rows are those of the committed transactions, one after the other";
const NOTHING: &str = "no row of them in any table, and the same transaction succeeds afterwards";

#[rustfmt::skip]
pub(crate) const TESTS: AcidTests<Request> = AcidTests {
    tests: &[
        (spec("A1", "transactions that are committed", "TPC-C, clause 3.2.2.1",
            "the rows that the transaction changes are changed, and no other"), TestWork::Alone(committed)),
        (spec("A2", "New-Order that is rolled back as designed", "TPC-C, clause 3.2.2.2",
            "no row of it in any table"), TestWork::Alone(|of| vec![order(of, district(1, 1), 7, &[1, 2, scale(of).items() + 1])])),
        (spec("A3", "transactions that give up amid their changes", "TPC-C, clause 3.2.2.2", NOTHING), TestWork::GivesUp(halting)),
        (spec("A4", "clients that vanish amid their transactions", "follows from TPC-C, clause 3.2", NOTHING), TestWork::Vanishes(halting)),
        (spec("I1", "lost updates of a customer: Payment beside Payment", "TPC-C, clause 3.4.2.3", ONE_ORDER),
            TestWork::Meet(|of, turn| payments(of, turn, BALANCE_READ))),
        (spec("I2", "dirty writes of a warehouse: Payment beside two Payments of other districts", "TPC-C, clause 3.4.2.4", ONE_ORDER),
            TestWork::Meet(three_payments)),
        (spec("I3", "numbers given twice: New-Order beside two New-Orders of the same district", "TPC-C, clause 3.4.2.3", ONE_ORDER),
            TestWork::Meet(three_orders)),
        (spec("I4", "lost updates of a stock: New-Order beside New-Order of another district", "TPC-C, clause 3.4.1, P1", ONE_ORDER),
            TestWork::Meet(same_stock)),
        (spec("I5", "dirty reads of a customer: Order-Status beside Payment", "TPC-C, clause 3.4.1, P1", ONE_ORDER),
            TestWork::Meet(|of, turn| beside(of, turn, pays(district(1, number(turn)), 7, 900), COMMIT))),
        (spec("I6", "dirty reads of an order: Order-Status beside New-Order", "TPC-C, clauses 3.4.2.1 and 3.4.2.2", ONE_ORDER),
            TestWork::Meet(|of, turn| beside(of, turn, order(of, district(1, number(turn)), 7, &[3, 4, 5]), COMMIT))),
        (spec("I7", "orders read in part: Order-Status beside Delivery and New-Order of the same customer", "TPC-C, clause 3.4.1, P2 and P3", ONE_ORDER),
            TestWork::Meet(read_in_part)),
        (spec("I8", "orders delivered twice: Delivery beside Delivery", "TPC-C, clause 3.4.2.6", ONE_ORDER),
            TestWork::Meet(deliveries)),
        (spec("I9", "Order-Status and Payment beside Delivery of their warehouse", "TPC-C, clause 3.4.2.5", ONE_ORDER),
            TestWork::Meet(beside_delivery)),
    ],
    books: ["C13", "TPC-C, clause 3.3"],
    crashes: "TPC-C, clause 3.5",
    acknowledged: &[
        AcknowledgedKind { word: "payment", transactions: "Payments", things: ["payments", "payments"],
            statement: "INSERT INTO history (", keys: 4, rows: "SELECT h_c_w_id, h_c_d_id, h_c_id, h_number FROM history" },
        AcknowledgedKind { word: "order", transactions: "New-Orders", things: ["orders", "orders"],
            statement: "INSERT INTO orders (", keys: 3, rows: "SELECT o_w_id, o_d_id, o_id FROM orders" },
    ],
};

const fn district(w_id: i64, d_id: i64) -> DistrictId {
    DistrictId { w_id, d_id }
}

/// District of a repetition.
fn number(turn: u32) -> i64 {
    i64::from(turn) % DISTRICTS + 1
}

/// A New-Order of these items. The second comes from another warehouse if there is one.
fn order(of: &Size, district: DistrictId, c_id: i64, items: &[i64]) -> Described<Request> {
    let warehouses = scale(of).warehouses;
    let item = |(at, i_id): (usize, &i64)| {
        let supply_w_id = if at == 1 { district.w_id % warehouses + 1 } else { district.w_id };
        OrderedItem { i_id: *i_id, supply_w_id, quantity: at as u8 + 3 }
    };
    let items = items.iter().enumerate().map(item).collect();
    let words = format!("New-Order of customer {c_id} of district {}", district.d_id);
    (words, Request::NewOrder { district, c_id, items, at: AT })
}

fn pays(district: DistrictId, c_id: i64, cents: i64) -> Described<Request> {
    let amount = Decimal::from_units(cents);
    let customer = Selection::Number(c_id);
    let words = format!("Payment of {amount} by customer {c_id} of district {}", district.d_id);
    (words, Request::Payment { district, of: district, customer, amount, at: AT })
}

fn status(district: DistrictId, c_id: i64) -> Described<Request> {
    let words = format!("Order-Status of customer {c_id} of district {}", district.d_id);
    (words, Request::OrderStatus { district, customer: Selection::Number(c_id) })
}

fn delivery(w_id: i64, carrier: u8) -> Described<Request> {
    (format!("Delivery of warehouse {w_id} by carrier {carrier}"), Request::Delivery { w_id, carrier, at: AT })
}

fn committed(of: &Size) -> Vec<Described<Request>> {
    vec![pays(district(1, 1), 7, 12_345), order(of, district(1, 2), 7, &[1, 2, 3, 4, 5]), delivery(1, 3)]
}

fn halting(of: &Size) -> Vec<Halting<Request>> {
    let order = || order(of, district(1, 3), 8, &[1, 2, 3, 4, 5]);
    vec![
        (pays(district(1, 3), 8, 54_321), DISTRICT_PAID),
        (pays(district(1, 3), 8, 54_321), COMMIT),
        (order(), ORDER_WRITTEN),
        (order(), COMMIT),
        (delivery(1, 4), CARRIER_WRITTEN),
        (delivery(1, 4), COMMIT),
    ]
}

/// Payments of one customer.
fn payments(_: &Size, turn: u32, halts: HaltPoint) -> Meeting<Request> {
    let at = district(1, number(turn));
    let label = format!("customer 7 of district {}", at.d_id);
    Meeting { label, first: pays(at, 7, 10_000), halts, others: vec![pays(at, 7, 2_500)] }
}

fn three_payments(_: &Size, turn: u32) -> Meeting<Request> {
    let [first, second, third] = [0, 1, 2].map(|more| district(1, number(turn + more)));
    let others = vec![pays(second, 8, 200), pays(third, 9, 300)];
    Meeting { label: "warehouse 1".to_owned(), first: pays(first, 7, 100), halts: COMMIT, others }
}

fn three_orders(of: &Size, turn: u32) -> Meeting<Request> {
    let at = district(1, number(turn));
    let others = vec![order(of, at, 8, &[4, 5]), order(of, at, 9, &[6, 7])];
    let label = format!("district {}", at.d_id);
    Meeting { label, first: order(of, at, 7, &[1, 2, 3]), halts: NUMBER_READ, others }
}

fn same_stock(of: &Size, turn: u32) -> Meeting<Request> {
    let item = i64::from(turn) % 20 + 10;
    let [first, second] = [0, 1].map(|more| district(1, number(turn + more)));
    let others = vec![order(of, second, 8, &[item])];
    Meeting { label: format!("stock of item {item}"), first: order(of, first, 7, &[item]), halts: STOCK_READ, others }
}

/// A customer's Order-Status beside another transaction.
fn beside(_: &Size, turn: u32, first: Described<Request>, halts: HaltPoint) -> Meeting<Request> {
    let at = district(1, number(turn));
    Meeting { label: format!("customer 7 of district {}", at.d_id), first, halts, others: vec![status(at, 7)] }
}

fn read_in_part(of: &Size, turn: u32) -> Meeting<Request> {
    let at = district(1, number(turn));
    let others = vec![delivery(1, 5), order(of, at, 7, &[8, 9])];
    Meeting { label: format!("customer 7 of district {}", at.d_id), first: status(at, 7), halts: ORDER_READ, others }
}

fn deliveries(_: &Size, turn: u32) -> Meeting<Request> {
    let halts = if turn.is_multiple_of(2) { OLDEST_READ } else { COMMIT };
    Meeting { label: "warehouse 1".to_owned(), first: delivery(1, 6), halts, others: vec![delivery(1, 7)] }
}

fn beside_delivery(_: &Size, turn: u32) -> Meeting<Request> {
    let at = district(1, number(turn));
    let others = vec![status(at, 7), pays(at, 7, 700)];
    Meeting { label: "warehouse 1".to_owned(), first: delivery(1, 8), halts: COMMIT, others }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::STATEMENTS;
    use crate::{Tpcc, size_of};
    use bourse_engine::one_line;
    use bourse_oltp::mix::Transactions as _;

    #[test]
    fn each_point_is_behind_one_statement() {
        for point in [
            NUMBER_READ, ORDER_WRITTEN, DISTRICT_PAID, BALANCE_READ, STOCK_READ, ORDER_READ, OLDEST_READ,
            CARRIER_WRITTEN,
        ] {
            let HaltPlace::After(part) = point.place else { unreachable!("these are behind statements") };
            let found = STATEMENTS.iter().filter(|sql| one_line(sql.text()).contains(part)).count();
            assert_eq!(found, 1, "{point:?}");
        }
    }

    #[test]
    fn each_case_has_rows_of_the_smallest_database() {
        let of = size_of(2, 30);
        for (spec, work) in Tpcc::acid().expect("it has tests").tests {
            let cases = match work {
                TestWork::Alone(cases) => cases(&of).len(),
                TestWork::GivesUp(cases) | TestWork::Vanishes(cases) => cases(&of).len(),
                TestWork::Meet(meeting) => (0..20).map(|turn| meeting(&of, turn).others.len()).min().unwrap_or(0),
            };
            assert!(cases > 0, "{}", spec.id);
        }
        assert!(scale(&of).items() >= 30, "items up to 30 are ordered");
    }
}
