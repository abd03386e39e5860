//! The five transactions on plain collections, by the published description: what the statements of
//! [`transactions`](crate::transactions) are compared with.

use crate::requests::{DistrictId, OrderedItem, Request, Selection};
use crate::tables::{Customer, District, History, Id, Item, NewOrder, OrderLine, Orders, Stock, Warehouse};
use crate::transactions::{EnteredLine, Output, StatusLine};
use bourse_oltp::verify::ReferenceTables;
use bourse_schema::{Decimal, TableRow, Text, Timestamp};

/// Performs a transaction; its output, or `None` if a row is missing that each database has.
pub fn perform(tables: &mut ReferenceTables, request: &Request) -> Option<Output> {
    match request {
        Request::NewOrder { district, c_id, items, at } => new_order(tables, *district, *c_id, items, *at),
        Request::Payment { district, of, customer, amount, at } => {
            let c_id = number_of(tables, *of, customer)?;
            payment(tables, *district, [of.w_id, of.d_id, c_id], *amount, *at)
        }
        Request::OrderStatus { district, customer } => order_status(tables, *district, customer),
        Request::Delivery { w_id, carrier, at } => {
            let delivered = (1..=10).map(|d_id| {
                let oldest = tables.last_numbers::<NewOrder>(&[*w_id, d_id]).next();
                let Some(o_id) = oldest else { return Some(None) };
                deliver(tables, [*w_id, d_id, o_id], *carrier, *at).map(Some)
            });
            Some(Output::Delivered(delivered.collect::<Option<_>>()?))
        }
        Request::StockLevel { district: DistrictId { w_id, d_id }, threshold } => {
            let next = tables.number::<District>(&[*w_id, *d_id], "d_next_o_id")?;
            let mut items = Vec::new();
            for o_id in next - 20..next {
                let order = [*w_id, *d_id, o_id];
                items.extend(
                    tables
                        .last_numbers::<OrderLine>(&order)
                        .filter_map(|line| tables.number::<OrderLine>(&[*w_id, *d_id, o_id, line], "ol_i_id")),
                );
            }
            items.sort_unstable();
            items.dedup();
            let is_low = |item: &&i64| {
                tables.number::<Stock>(&[*w_id, **item], "s_quantity").is_some_and(|left| left < (*threshold).into())
            };
            Some(Output::LowStock(items.iter().filter(is_low).count() as i64))
        }
    }
}

fn texts<R: TableRow, const N: usize>(
    tables: &ReferenceTables,
    key: &[i64],
    columns: [&str; N],
) -> Option<[String; N]> {
    let found = columns.iter().map(|column| tables.text::<R>(key, column).map(str::to_owned));
    found.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Adds to a number of a row.
fn add<R: TableRow>(tables: &mut ReferenceTables, key: &[i64], column: &str, more: i64) -> Option<i64> {
    let sum = tables.number::<R>(key, column)? + more;
    tables.set::<R>(key, column, sum).then_some(sum)
}

fn number_of(tables: &ReferenceTables, DistrictId { w_id, d_id }: DistrictId, customer: &Selection) -> Option<i64> {
    let name = match customer {
        Selection::Number(number) => return Some(*number),
        Selection::LastName(name) => name.as_str(),
    };
    let of_name = |c_id: &i64| tables.text::<Customer>(&[w_id, d_id, *c_id], "c_last") == Some(name);
    let mut found: Vec<_> = tables.last_numbers::<Customer>(&[w_id, d_id]).filter(of_name).collect();
    found.sort_by_key(|c_id| tables.text::<Customer>(&[w_id, d_id, *c_id], "c_first"));
    found.get(found.len().div_ceil(2).checked_sub(1)?).copied()
}

fn new_order(
    tables: &mut ReferenceTables,
    DistrictId { w_id, d_id }: DistrictId,
    c_id: i64,
    items: &[OrderedItem],
    at: Timestamp,
) -> Option<Output> {
    let (district, buyer) = ([w_id, d_id], [w_id, d_id, c_id]);
    let customer = texts::<Customer, 2>(tables, &buyer, ["c_last", "c_credit"])?;
    let o_id = tables.number::<District>(&district, "d_next_o_id")?;
    if items.iter().any(|item| tables.number::<Item>(&[item.i_id], "i_price").is_none()) {
        return Some(Output::NoSuchItem { o_id, customer });
    }
    let rates = [
        tables.number::<Customer>(&buyer, "c_discount")?,
        tables.number::<Warehouse>(&[w_id], "w_tax")?,
        tables.number::<District>(&district, "d_tax")?,
    ];
    add::<District>(tables, &district, "d_next_o_id", 1)?;
    tables.insert(&Orders {
        o_id: Id(o_id),
        o_d_id: Id(d_id),
        o_w_id: Id(w_id),
        o_c_id: Id(c_id),
        o_entry_d: at,
        o_carrier_id: None,
        o_ol_cnt: u8::try_from(items.len()).ok()?,
        o_all_local: u8::from(!items.iter().any(|item| item.supply_w_id != w_id)),
    });
    tables.insert(&NewOrder { no_o_id: Id(o_id), no_d_id: Id(d_id), no_w_id: Id(w_id) });
    let mut lines = Vec::new();
    for (ol_number, OrderedItem { i_id, supply_w_id, quantity }) in (1..).zip(items) {
        let (stock, pieces) = ([*supply_w_id, *i_id], i64::from(*quantity));
        let i_price = tables.number::<Item>(&[*i_id], "i_price")?;
        let there = tables.number::<Stock>(&stock, "s_quantity")?;
        let refill = if there < pieces + 10 { 91 } else { 0 };
        let s_quantity = add::<Stock>(tables, &stock, "s_quantity", refill - pieces)?;
        add::<Stock>(tables, &stock, "s_ytd", pieces)?;
        add::<Stock>(tables, &stock, "s_order_cnt", 1)?;
        if *supply_w_id != w_id {
            add::<Stock>(tables, &stock, "s_remote_cnt", 1)?;
        }
        let info = tables.text::<Stock>(&stock, &format!("s_dist_{d_id:02}")).map(Text::cut)?;
        tables.insert(&OrderLine {
            ol_o_id: Id(o_id),
            ol_d_id: Id(d_id),
            ol_w_id: Id(w_id),
            ol_number,
            ol_i_id: Id(*i_id),
            ol_supply_w_id: Id(*supply_w_id),
            ol_delivery_d: None,
            ol_quantity: *quantity,
            ol_amount: Decimal::from_units(i_price * pieces),
            ol_dist_info: info,
        });
        let marked = [tables.text::<Item>(&[*i_id], "i_data")?, tables.text::<Stock>(&stock, "s_data")?];
        let is_original = marked.iter().all(|data| data.contains("ORIGINAL"));
        let [i_name] = texts::<Item, 1>(tables, &[*i_id], ["i_name"])?;
        lines.push(EnteredLine { i_name, i_price, s_quantity, is_original, ol_amount: i_price * pieces });
    }
    let [discount, taxes] = [i128::from(100_000 - rates[0]), i128::from(100_000 + rates[1] + rates[2])];
    let sum = lines.iter().map(|line| i128::from(line.ol_amount)).sum::<i128>();
    let total = i64::try_from((sum * discount * taxes + 5_000_000_000) / 10_000_000_000).ok()?;
    Some(Output::Entered { o_id, customer, rates, lines, total })
}

fn payment(
    tables: &mut ReferenceTables,
    DistrictId { w_id, d_id }: DistrictId,
    payer: [i64; 3],
    amount: Decimal<6, 2>,
    at: Timestamp,
) -> Option<Output> {
    let cents = amount.units();
    add::<Warehouse>(tables, &[w_id], "w_ytd", cents)?;
    add::<District>(tables, &[w_id, d_id], "d_ytd", cents)?;
    let balance = add::<Customer>(tables, &payer, "c_balance", -cents)?;
    add::<Customer>(tables, &payer, "c_ytd_payment", cents)?;
    let h_number = add::<Customer>(tables, &payer, "c_payment_cnt", 1)?;
    let [c_w_id, c_d_id, c_id] = payer;
    let of_warehouse = ["w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip"];
    let of_district = ["d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip"];
    let of_customer = [
        "c_first", "c_middle", "c_last", "c_street_1", "c_street_2", "c_city", "c_state", "c_zip", "c_phone",
        "c_credit",
    ];
    let mut all = texts::<Warehouse, 6>(tables, &[w_id], of_warehouse)?.to_vec();
    all.extend(texts::<District, 6>(tables, &[w_id, d_id], of_district)?);
    all.extend(texts::<Customer, 10>(tables, &payer, of_customer)?);
    tables.insert(&History {
        h_c_id: Id(c_id),
        h_c_d_id: Id(c_d_id),
        h_c_w_id: Id(c_w_id),
        h_number: i32::try_from(h_number).ok()?,
        h_d_id: Id(d_id),
        h_w_id: Id(w_id),
        h_date: at,
        h_amount: amount,
        h_data: Text::cut(&[&all[0], "    ", &all[6]].concat()),
    });
    let mut data = None;
    if all[21] == "BC" {
        let noted = [c_id, c_d_id, c_w_id, d_id, w_id].map(|id| id.to_string()).join(" ");
        let old = tables.text::<Customer>(&payer, "c_data")?;
        let new: String = format!("{noted} {amount} | {old}").chars().take(500).collect();
        tables.set_text::<Customer>(&payer, "c_data", &new);
        data = Some(new.chars().take(200).collect());
    }
    let [limit, discount] = ["c_credit_lim", "c_discount"].map(|column| tables.number::<Customer>(&payer, column));
    let c_since = Timestamp::from_millis(tables.number::<Customer>(&payer, "c_since")?);
    Some(Output::Paid { c_id, texts: all, c_since, numbers: [limit?, discount?, balance], data })
}

fn order_status(tables: &ReferenceTables, district: DistrictId, customer: &Selection) -> Option<Output> {
    let (DistrictId { w_id, d_id }, c_id) = (district, number_of(tables, district, customer)?);
    let key = [w_id, d_id, c_id];
    let mut newest_first = tables.last_numbers::<Orders>(&[w_id, d_id]).rev();
    let o_id = newest_first.find(|o_id| tables.number::<Orders>(&[w_id, d_id, *o_id], "o_c_id") == Some(c_id))?;
    let order = [w_id, d_id, o_id];
    let line = |number| {
        let number = |column| tables.number::<OrderLine>(&[w_id, d_id, o_id, number], column);
        Some(StatusLine {
            ol_i_id: number("ol_i_id")?,
            ol_supply_w_id: number("ol_supply_w_id")?,
            ol_quantity: number("ol_quantity")?,
            ol_amount: number("ol_amount")?,
            ol_delivery_d: number("ol_delivery_d").map(Timestamp::from_millis),
        })
    };
    Some(Output::Status {
        c_id,
        names: texts::<Customer, 3>(tables, &key, ["c_first", "c_middle", "c_last"])?,
        c_balance: tables.number::<Customer>(&key, "c_balance")?,
        o_id,
        o_entry_d: Timestamp::from_millis(tables.number::<Orders>(&order, "o_entry_d")?),
        o_carrier_id: tables.number::<Orders>(&order, "o_carrier_id"),
        lines: tables.last_numbers::<OrderLine>(&order).map(line).collect::<Option<_>>()?,
    })
}

fn deliver(tables: &mut ReferenceTables, order: [i64; 3], carrier: u8, at: Timestamp) -> Option<i64> {
    let [w_id, d_id, o_id] = order;
    tables.remove::<NewOrder>(&order);
    tables.set::<Orders>(&order, "o_carrier_id", carrier.into());
    let mut sum = 0;
    for number in tables.last_numbers::<OrderLine>(&order).collect::<Vec<_>>() {
        let line = [w_id, d_id, o_id, number];
        tables.set::<OrderLine>(&line, "ol_delivery_d", at.millis());
        sum += tables.number::<OrderLine>(&line, "ol_amount")?;
    }
    let buyer = [w_id, d_id, tables.number::<Orders>(&order, "o_c_id")?];
    add::<Customer>(tables, &buyer, "c_balance", sum)?;
    add::<Customer>(tables, &buyer, "c_delivery_cnt", 1)?;
    Some(o_id)
}
