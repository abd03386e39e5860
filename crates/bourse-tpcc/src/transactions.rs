//! The five transactions: each statement above the function that uses it.
//!
//! Statements that lock a row come before those that read others, and the items of an order are taken in the order of their
//! numbers: two transactions seldom wait for each other in a circle.

use crate::draw::{DISTRICTS, ORIGINAL};
use crate::population::BAD_CREDIT;
use crate::requests::{DistrictId, OrderedItem, Request, Selection};
use crate::tables::DATA;
use bourse_engine::{
    Access, EngineError, ErrorKind, Isolation, Params, Result, Row, RowExt as _, Session, SessionExt as _, Sql, Value,
};
use bourse_oltp::planted;
use bourse_schema::{Balance, Decimal, TaxRate, Timestamp};
use serde::{Deserialize, Serialize};

/// A line of an order as it was entered. Money is in cents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnteredLine {
    /// Name of the item.
    pub i_name: String,
    /// Price of the item.
    pub i_price: i64,
    /// Stock that is left.
    pub s_quantity: i64,
    /// Whether both the item and its stock are marked as originals.
    pub is_original: bool,
    /// Price of the line.
    pub ol_amount: i64,
}

/// A line of an order as it is. Money is in cents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusLine {
    /// The item.
    pub ol_i_id: i64,
    /// The warehouse that supplies it.
    pub ol_supply_w_id: i64,
    /// Quantity.
    pub ol_quantity: i64,
    /// Price of the line.
    pub ol_amount: i64,
    /// Time of the delivery.
    pub ol_delivery_d: Option<Timestamp>,
}

/// Output of a transaction. Money is in cents, rates are in hundred-thousandths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output {
    /// New-Order: the order was entered.
    Entered {
        /// Number of the order.
        o_id: i64,
        /// Last name and credit of the customer.
        customer: [String; 2],
        /// Discount of the customer, tax rates of warehouse and district.
        rates: [i64; 3],
        /// The lines, in the order of the input.
        lines: Vec<EnteredLine>,
        /// Price with discount and taxes.
        total: i64,
    },
    /// New-Order: an item does not exist, and the order was rolled back.
    NoSuchItem {
        /// Number that the order would have had.
        o_id: i64,
        /// Last name and credit of the customer.
        customer: [String; 2],
    },
    /// Payment.
    Paid {
        /// Number of the customer.
        c_id: i64,
        /// Names and addresses of warehouse, district and customer, and the customer's telephone number and credit.
        texts: Vec<String>,
        /// Since when the customer is one.
        c_since: Timestamp,
        /// Limit of the customer's credit, discount, and new balance.
        numbers: [i64; 3],
        /// First 200 characters of the data of a customer with bad credit.
        data: Option<String>,
    },
    /// Order-Status.
    Status {
        /// Number of the customer.
        c_id: i64,
        /// First, middle and last name of the customer.
        names: [String; 3],
        /// Balance of the customer.
        c_balance: i64,
        /// Number of the last order.
        o_id: i64,
        /// Time of the last order.
        o_entry_d: Timestamp,
        /// Carrier of the last order, if it was delivered.
        o_carrier_id: Option<i64>,
        /// Lines of the last order.
        lines: Vec<StatusLine>,
    },
    /// Delivery: the order that was delivered in each district, if there was one.
    Delivered(Vec<Option<i64>>),
    /// Stock-Level: items whose stock is low.
    LowStock(i64),
}

/// Isolation that a transaction demands, by its place in [`NAMES`](crate::requests::NAMES).
///
/// All but Stock-Level must be serializable. On snapshots they are (Fekete and others, Making Snapshot Isolation Serializable, 2005),
/// and the queries for rows that are then changed lock them.
pub const fn demands(kind: usize) -> (Isolation, Access) {
    match kind {
        2 => (Isolation::RepeatableRead, Access::Read),
        4 => (Isolation::ReadCommitted, Access::Read),
        _ => (Isolation::RepeatableRead, Access::Write),
    }
}

/// Performs a transaction once.
///
/// # Errors
/// The engine's; and if a row is missing that each database has.
pub fn perform(db: &mut dyn Session, request: &Request) -> Result<Output> {
    let early = planted!([PayerReadEarly, OrderNumberReadEarly]: crate::planted::read_early(db, request)?; None);
    let (isolation, access) = demands(request.kind());
    db.begin(isolation, access)?;
    let output = match request {
        Request::NewOrder { district, c_id, items, at } => new_order(db, *district, *c_id, (items, *at), early),
        Request::Payment { district, of, customer, amount, at } => {
            payment(db, *district, (*of, customer), *amount, *at, early)
        }
        Request::OrderStatus { district, customer } => order_status(db, *district, customer),
        Request::Delivery { w_id, carrier, at } => (1..=DISTRICTS)
            .map(|d_id| deliver(db, [*w_id, d_id], *carrier, *at))
            .collect::<Result<_, _>>()
            .map(Output::Delivered),
        Request::StockLevel { district, threshold } => stock_level(db, *district, *threshold),
    }?;
    if matches!(output, Output::NoSuchItem { .. }) && !planted!(NoSuchItemCommitted) {
        db.rollback()?;
    } else {
        db.commit()?;
    }
    Ok(output)
}

/// The first row of a query that finds one in each database.
fn row<T>(
    db: &mut dyn Session,
    sql: &'static Sql,
    params: &[Value<'_>],
    read: impl FnMut(&dyn Row) -> Result<T>,
) -> Result<T> {
    db.first(sql, params, read)?.ok_or_else(|| missing(sql))
}

/// Changes one row.
fn change(db: &mut dyn Session, sql: &'static Sql, params: &[Value<'_>]) -> Result<()> {
    if db.execute(sql, Params::of(params))? == 0 { Err(missing(sql)) } else { Ok(()) }
}

fn missing(sql: &'static Sql) -> EngineError {
    EngineError::new(ErrorKind::Other, "a row is missing that each database has").with_statement(sql.text())
}

fn cents(row: &dyn Row, at: usize) -> Result<i64> {
    Ok(row.get::<Balance>(at)?.units())
}

fn rate(row: &dyn Row, at: usize) -> Result<i64> {
    Ok(row.get::<TaxRate>(at)?.units())
}

const fn money(cents: i64) -> Value<'static> {
    Value::Decimal { units: cents, scale: 2 }
}

static SELECT_WAREHOUSE_TAX: Sql = Sql::new("SELECT w_tax FROM warehouse WHERE w_id = ?1");
pub(crate) static SELECT_NEXT_ORDER: Sql =
    Sql::new("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ?1 AND d_id = ?2 {for_update}");
static UPDATE_NEXT_ORDER: Sql = Sql::new("UPDATE district SET d_next_o_id = ?3 WHERE d_w_id = ?1 AND d_id = ?2");
static SELECT_BUYER: Sql =
    Sql::new("SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3");
static INSERT_ORDER: Sql = Sql::new(
    "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
     VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6, ?7)",
);
static INSERT_NEW_ORDER: Sql = Sql::new("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?1, ?2, ?3)");

fn new_order(
    db: &mut dyn Session,
    DistrictId { w_id, d_id }: DistrictId,
    c_id: i64,
    (items, at): (&[OrderedItem], Timestamp),
    early: Option<i64>,
) -> Result<Output> {
    let (warehouse, district) = (w_id.into(), d_id.into());
    let w_tax = row(db, &SELECT_WAREHOUSE_TAX, &[warehouse], |row| rate(row, 0))?;
    let next = &[warehouse, district];
    let (o_id, d_tax): (i64, i64) = row(db, &SELECT_NEXT_ORDER, next, |row| Ok((row.get(0)?, rate(row, 1)?)))?;
    let o_id = early.unwrap_or(o_id);
    change(db, &UPDATE_NEXT_ORDER, &[warehouse, district, (o_id + 1).into()])?;
    let (c_discount, customer) = row(db, &SELECT_BUYER, &[warehouse, district, c_id.into()], |row| {
        Ok((rate(row, 0)?, [row.get(1)?, row.get(2)?]))
    })?;
    let order = [w_id, d_id, o_id];
    let key = order.map(Value::from);
    let is_local = planted!(RemoteOrderLocal: true; items.iter().all(|item| item.supply_w_id == w_id));
    let more = [c_id.into(), at.into(), (items.len() as i64).into(), i64::from(is_local).into()];
    db.execute(&INSERT_ORDER, Params::of(&key).then(&more))?;
    db.execute(&INSERT_NEW_ORDER, Params::of(&key))?;
    let mut numbered: Vec<(usize, OrderedItem)> = items.iter().copied().enumerate().collect();
    numbered.sort_by_key(|(_, item)| (item.i_id, item.supply_w_id));
    let mut lines = Vec::with_capacity(items.len());
    for (number, item) in numbered {
        let Some(line) = enter_line(db, order, number + 1, item)? else {
            return Ok(Output::NoSuchItem { o_id, customer });
        };
        lines.push((number, line));
    }
    lines.sort_by_key(|(number, _)| *number);
    let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    let sum: i64 = lines.iter().map(|line| line.ol_amount).sum();
    let rates = [c_discount, w_tax, d_tax];
    Ok(Output::Entered { o_id, customer, rates, lines, total: total(sum, rates) })
}

/// Price with discount and taxes, rounded to cents.
const fn total(sum: i64, [discount, w_tax, d_tax]: [i64; 3]) -> i64 {
    const ONE: i64 = 100_000;
    let exact = sum as i128 * (ONE - discount) as i128 * (ONE + w_tax + d_tax) as i128;
    let one = ONE as i128 * ONE as i128;
    ((exact + one / 2) / one) as i64
}

static SELECT_ITEM: Sql = Sql::new("SELECT i_price, i_name, i_data FROM item WHERE i_id = ?1");
/// Stock with the text for each district.
static SELECT_STOCK: [Sql; DISTRICTS as usize] = {
    macro_rules! of_districts {
        ($($number:literal)+) => {[$(Sql::new(concat!(
            "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_data, s_dist_", $number,
            " FROM stock WHERE s_w_id = ?1 AND s_i_id = ?2 {for_update}"
        ))),+]};
    }
    of_districts!("01" "02" "03" "04" "05" "06" "07" "08" "09" "10")
};
static UPDATE_STOCK: Sql = Sql::new(
    "UPDATE stock SET s_quantity = ?3, s_ytd = ?4, s_order_cnt = ?5, s_remote_cnt = ?6 WHERE s_w_id = ?1 AND s_i_id = ?2",
);
static INSERT_LINE: Sql = Sql::new(
    "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity,
            ol_amount, ol_dist_info)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?8, ?9)",
);

/// Enters a line of an order; `None` if the item does not exist.
fn enter_line(
    db: &mut dyn Session,
    order: [i64; 3],
    number: usize,
    OrderedItem { i_id, supply_w_id, quantity }: OrderedItem,
) -> Result<Option<EnteredLine>> {
    let found =
        db.first(&SELECT_ITEM, &[i_id.into()], |row| Ok((cents(row, 0)?, row.get(1)?, row.get::<String>(2)?)))?;
    let Some((i_price, i_name, i_data)) = found else { return Ok(None) };
    let [w_id, d_id, _] = order;
    let stock = [supply_w_id.into(), i_id.into()];
    let select = &SELECT_STOCK[(d_id - 1).rem_euclid(DISTRICTS) as usize];
    let (counts, s_data, s_dist): ([i64; 4], String, String) = row(db, select, &stock, |row| {
        Ok(([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?], row.get(4)?, row.get(5)?))
    })?;
    let [before, s_ytd, s_order_cnt, s_remote_cnt] = counts;
    let is_remote = supply_w_id != w_id && !planted!(RemoteNotCounted);
    let refill = planted!(StockRefilledWithHundred: 100; 91);
    let left = planted!(StockNotTaken: before; before - i64::from(quantity));
    let s_quantity = if left >= 10 { left } else { left + refill };
    let counts = [s_quantity, s_ytd + i64::from(quantity), s_order_cnt + 1, s_remote_cnt + i64::from(is_remote)];
    db.execute(&UPDATE_STOCK, Params::of(&stock).then(&counts.map(Value::from)))?;
    let ol_amount = planted!(LineOfOnePiece: i_price; i64::from(quantity) * i_price);
    let values = [
        (number as i64).into(),
        i_id.into(),
        supply_w_id.into(),
        quantity.into(),
        money(ol_amount),
        s_dist.as_str().into(),
    ];
    db.execute(&INSERT_LINE, Params::of(&order.map(Value::from)).then(&values))?;
    let is_original = i_data.contains(ORIGINAL) && s_data.contains(ORIGINAL);
    Ok(Some(EnteredLine { i_name, i_price, s_quantity, is_original, ol_amount }))
}

static UPDATE_WAREHOUSE: Sql = Sql::new("UPDATE warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1");
static SELECT_WAREHOUSE: Sql =
    Sql::new("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?1");
static UPDATE_DISTRICT: Sql = Sql::new("UPDATE district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2");
static SELECT_DISTRICT: Sql = Sql::new(
    "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ?1 AND d_id = ?2",
);
pub(crate) static SELECT_PAYER: Sql = Sql::new(
    "SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit_lim, c_discount, c_since, c_data, c_first, c_middle, c_last,
            c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit
       FROM customer
      WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3 {for_update}",
);
static UPDATE_PAYER: Sql = Sql::new(
    "UPDATE customer SET c_balance = ?4, c_ytd_payment = ?5, c_payment_cnt = ?6
      WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3",
);
static UPDATE_DATA: Sql = Sql::new("UPDATE customer SET c_data = ?4 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3");
static INSERT_HISTORY: Sql = Sql::new(
    "INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_number, h_w_id, h_d_id, h_date, h_amount, h_data)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
);

fn payment(
    db: &mut dyn Session,
    DistrictId { w_id, d_id }: DistrictId,
    (of, customer): (DistrictId, &Selection),
    amount: Decimal<6, 2>,
    at: Timestamp,
    early: Option<i64>,
) -> Result<Output> {
    let (warehouse, district) = (w_id.into(), d_id.into());
    let mut texts: Vec<String> = Vec::with_capacity(22);
    let mut add = |row: &dyn Row| (0..6).try_for_each(|at| row.get(at).map(|text| texts.push(text)));
    if !planted!(WarehouseNotPaid) {
        change(db, &UPDATE_WAREHOUSE, &[warehouse, amount.into()])?;
    }
    row(db, &SELECT_WAREHOUSE, &[warehouse], &mut add)?;
    if !planted!(DistrictNotPaid) {
        change(db, &UPDATE_DISTRICT, &[warehouse, district, amount.into()])?;
    }
    row(db, &SELECT_DISTRICT, &[warehouse, district], &mut add)?;
    let c_id = customer_of(db, of, customer)?;
    let key = [of.w_id.into(), of.d_id.into(), c_id.into()];
    let (c_data, [balance, paid, count, limit, discount], c_since) = row(db, &SELECT_PAYER, &key, |row| {
        texts.extend((7..17).map(|at| row.get(at)).collect::<Result<Vec<String>, _>>()?);
        let numbers = [cents(row, 0)?, cents(row, 1)?, row.get(2)?, cents(row, 3)?, rate(row, 4)?];
        Ok((row.get::<String>(6)?, numbers, row.get::<Timestamp>(5)?))
    })?;
    let amount_cents = amount.units();
    let balance = early.unwrap_or(balance) - amount_cents;
    let h_number = Value::Int(count + 1);
    let changed = [money(balance), money(paid + amount_cents), h_number];
    db.execute(&UPDATE_PAYER, Params::of(&key).then(&changed))?;
    let has_bad_credit = texts.last().is_some_and(|credit| credit == BAD_CREDIT);
    let data = if has_bad_credit && !planted!(BadCreditIgnored) {
        let mut data = format!("{c_id} {} {} {d_id} {w_id} {amount} | {c_data}", of.d_id, of.w_id);
        data.truncate(DATA);
        change(db, &UPDATE_DATA, &[key[0], key[1], key[2], data.as_str().into()])?;
        data.truncate(200);
        Some(data)
    } else {
        None
    };
    let h_data = format!("{}    {}", texts[0], texts[6]);
    let values = [h_number, warehouse, district, at.into(), amount.into(), h_data.as_str().into()];
    db.execute(&INSERT_HISTORY, Params::of(&key).then(&values))?;
    Ok(Output::Paid { c_id, texts, c_since, numbers: [limit, discount, balance], data })
}

static SELECT_NAMESAKES: Sql =
    Sql::new("SELECT c_first, c_id FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_last = ?3");

/// Number of a customer.
pub(crate) fn customer_of(db: &mut dyn Session, of: DistrictId, customer: &Selection) -> Result<i64> {
    match customer {
        Selection::Number(c_id) => Ok(*c_id),
        Selection::LastName(name) => {
            let params = [of.w_id.into(), of.d_id.into(), name.into()];
            let mut found: Vec<(String, i64)> =
                db.all(&SELECT_NAMESAKES, &params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            // Not by the engine: each has an order of letters of its own.
            found.sort_unstable();
            let middle = planted!(FirstNamesake: 0; found.len().div_ceil(2).saturating_sub(1));
            found.get(middle).map(|(_, c_id)| *c_id).ok_or_else(|| missing(&SELECT_NAMESAKES))
        }
    }
}

static SELECT_CUSTOMER: Sql = Sql::new(
    "SELECT c_first, c_middle, c_last, c_balance FROM customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3",
);
static SELECT_LAST_ORDER: Sql = Sql::new(
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders
      WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_c_id = ?3
      ORDER BY o_id DESC LIMIT 1",
);
static SELECT_LINES: Sql = Sql::new(
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
      WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3
      ORDER BY ol_number",
);

fn order_status(db: &mut dyn Session, district: DistrictId, customer: &Selection) -> Result<Output> {
    let c_id = customer_of(db, district, customer)?;
    let [warehouse, d_id] = [district.w_id.into(), district.d_id.into()];
    let key = [warehouse, d_id, c_id.into()];
    let (names, c_balance) =
        row(db, &SELECT_CUSTOMER, &key, |row| Ok(([row.get(0)?, row.get(1)?, row.get(2)?], cents(row, 3)?)))?;
    let select = planted!(FirstOrderShown: &crate::planted::SELECT_FIRST_ORDER; &SELECT_LAST_ORDER);
    let (o_id, o_entry_d, o_carrier_id): (i64, _, _) =
        row(db, select, &key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let lines = db.all(&SELECT_LINES, &[warehouse, d_id, o_id.into()], |row| {
        Ok(StatusLine {
            ol_i_id: row.get(0)?,
            ol_supply_w_id: row.get(1)?,
            ol_quantity: row.get(2)?,
            ol_amount: cents(row, 3)?,
            ol_delivery_d: row.get(4)?,
        })
    })?;
    Ok(Output::Status { c_id, names, c_balance, o_id, o_entry_d, o_carrier_id, lines })
}

static SELECT_OLDEST: Sql =
    Sql::new("SELECT no_o_id FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2 ORDER BY no_o_id LIMIT 1 {for_update}");
static DELETE_NEW_ORDER: Sql = Sql::new("DELETE FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2 AND no_o_id = ?3");
static SELECT_BUYER_OF: Sql = Sql::new("SELECT o_c_id FROM orders WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3");
static UPDATE_CARRIER: Sql =
    Sql::new("UPDATE orders SET o_carrier_id = ?4 WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3");
static UPDATE_LINES: Sql =
    Sql::new("UPDATE order_line SET ol_delivery_d = ?4 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3");
static SUM_LINES: Sql =
    Sql::new("SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3");
static UPDATE_BUYER: Sql = Sql::new(
    "UPDATE customer SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3",
);

/// Delivers the oldest new order of a district, if there is one.
fn deliver(db: &mut dyn Session, [w_id, d_id]: [i64; 2], carrier: u8, at: Timestamp) -> Result<Option<i64>> {
    let (warehouse, district) = (w_id.into(), d_id.into());
    let select = planted!(NewestDelivered: &crate::planted::SELECT_NEWEST; &SELECT_OLDEST);
    let found = db.first(select, &[warehouse, district], |row| row.get::<i64>(0))?;
    let Some(o_id) = found else { return Ok(None) };
    let order = [warehouse, district, o_id.into()];
    if db.execute(&DELETE_NEW_ORDER, Params::of(&order))? == 0 {
        let why = "another delivery has taken the order";
        return Err(EngineError::new(ErrorKind::Conflict, why).with_statement(DELETE_NEW_ORDER.text()));
    }
    let c_id: i64 = row(db, &SELECT_BUYER_OF, &order, |row| row.get(0))?;
    db.execute(&UPDATE_CARRIER, Params::of(&order).then(&[carrier.into()]))?;
    if !planted!(LinesNotDelivered) {
        db.execute(&UPDATE_LINES, Params::of(&order).then(&[at.into()]))?;
    }
    let amount = row(db, &SUM_LINES, &order, |row| cents(row, 0))?;
    if !planted!(DeliveryNotCharged) {
        change(db, &UPDATE_BUYER, &[warehouse, district, c_id.into(), money(amount)])?;
    }
    Ok(Some(o_id))
}

static SELECT_NEXT: Sql = Sql::new("SELECT d_next_o_id FROM district WHERE d_w_id = ?1 AND d_id = ?2");
static COUNT_LOW: Sql = Sql::new(
    "SELECT count(DISTINCT s_i_id)
       FROM order_line INNER JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
      WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id >= ?3 AND ol_o_id < ?4 AND s_quantity < ?5",
);

fn stock_level(db: &mut dyn Session, DistrictId { w_id, d_id }: DistrictId, threshold: u8) -> Result<Output> {
    let next: i64 = row(db, &SELECT_NEXT, &[w_id.into(), d_id.into()], |row| row.get(0))?;
    let count = planted!(LowStockTwice: &crate::planted::COUNT_LOW_LINES; &COUNT_LOW);
    let params = [w_id.into(), d_id.into(), (next - 20).into(), next.into(), threshold.into()];
    Ok(Output::LowStock(row(db, count, &params, |row| row.get(0))?))
}

/// All statements but those that differ in the district's text alone.
pub static STATEMENTS: &[&Sql] = &[
    &SELECT_WAREHOUSE_TAX, &SELECT_NEXT_ORDER, &UPDATE_NEXT_ORDER, &SELECT_BUYER, &INSERT_ORDER, &INSERT_NEW_ORDER,
    &SELECT_ITEM, &SELECT_STOCK[0], &UPDATE_STOCK, &INSERT_LINE, &UPDATE_WAREHOUSE, &SELECT_WAREHOUSE,
    &UPDATE_DISTRICT, &SELECT_DISTRICT, &SELECT_PAYER, &UPDATE_PAYER, &UPDATE_DATA, &INSERT_HISTORY, &SELECT_NAMESAKES,
    &SELECT_CUSTOMER, &SELECT_LAST_ORDER, &SELECT_LINES, &SELECT_OLDEST, &DELETE_NEW_ORDER, &SELECT_BUYER_OF,
    &UPDATE_CARRIER, &UPDATE_LINES, &SUM_LINES, &UPDATE_BUYER, &SELECT_NEXT, &COUNT_LOW,
];
