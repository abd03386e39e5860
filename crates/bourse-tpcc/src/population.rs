//! Rows of a database: the same for the same size, on any number of threads.

use crate::draw::{DISTRICTS, Draw, LOADED, LOADED_NAME, Scale, last_name};
use crate::tables::{
    Customer, CustomerData, District, History, Id, Item, NewOrder, OrderLine, Orders, Stock, Warehouse,
};
use bourse_oltp::load::LoadError;
use bourse_schema::{Balance, Batch, Decimal, Rows, TaxRate, Text};
use std::sync::mpsc::sync_channel;

/// Parts that the items, and the stock of a warehouse, are made in.
const SLICES: i64 = 10;
/// Parts of a warehouse: its own row with its districts, its stock, the customers and orders of each district.
const PARTS: i64 = 1 + SLICES + DISTRICTS;
/// First payment of each customer, in cents.
const FIRST_PAYMENT: i64 = 1_000;

/// Rows that are made together, from random numbers of their own: a batch for each table.
type Chunk = Vec<Box<dyn Batch>>;

/// Makes the rows of a database on so many threads and passes them to `each` in batches, in an order that does not depend on
/// their number.
///
/// # Errors
/// The first error of `each`, which ends the generation.
pub fn generate(
    scale: Scale,
    threads: usize,
    each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let chunks = SLICES + PARTS * scale.warehouses;
    std::thread::scope(|scope| {
        let threads = threads as i64;
        let makers: Vec<_> = (0..threads)
            .map(|first| {
                let (sender, made) = sync_channel::<Chunk>(1);
                let mut own = (first..chunks).step_by(threads.unsigned_abs() as usize);
                // It ends when the receiver is gone.
                scope.spawn(move || own.try_for_each(|number| sender.send(chunk(scale, number))));
                made
            })
            .collect();
        // In turn, as the numbers are dealt out.
        let made = makers.iter().cycle().map_while(|maker| maker.recv().ok());
        made.take(chunks.unsigned_abs() as usize).flatten().try_for_each(|batch| each(&*batch))
    })
}

fn chunk(scale: Scale, number: i64) -> Chunk {
    let draw = &mut Draw::new(0x79CC_0000 + number.unsigned_abs());
    let slice = |number: i64| scale.items() * number / SLICES + 1..=scale.items() * (number + 1) / SLICES;
    if number < SLICES {
        return vec![Box::new(Rows(slice(number).map(|i_id| item(i_id, draw)).collect()))];
    }
    let (warehouse, part) = ((number - SLICES) / PARTS + 1, (number - SLICES) % PARTS);
    match part - 1 {
        -1 => {
            let districts = (1..=DISTRICTS).map(|d_id| district(scale, warehouse, d_id, draw)).collect();
            vec![Box::new(Rows(vec![self::warehouse(scale, warehouse, draw)])), Box::new(Rows(districts))]
        }
        part if part < SLICES => vec![Box::new(Rows(slice(part).map(|i_id| stock(warehouse, i_id, draw)).collect()))],
        part => of_district(scale, warehouse, part - SLICES + 1, draw),
    }
}

fn item(i_id: i64, draw: &mut Draw) -> Item {
    Item {
        i_id: Id(i_id),
        i_im_id: draw.between(1, 10_000) as i32,
        i_name: draw.text(14, 24),
        i_price: Decimal::from_units(draw.between(100, 10_000)),
        i_data: draw.data(),
    }
}

/// A tax rate or discount in whole hundredths of a percent, up to a percentage.
fn rate(percent: i64, draw: &mut Draw) -> TaxRate {
    TaxRate::from_units(10 * draw.between(0, 100 * percent))
}

/// Sum of the first payments of so many customers.
const fn paid(customers: i64) -> Balance {
    Balance::from_units(FIRST_PAYMENT * customers)
}

fn warehouse(scale: Scale, w_id: i64, draw: &mut Draw) -> Warehouse {
    Warehouse {
        w_id: Id(w_id),
        w_name: draw.text(6, 10),
        w_street_1: draw.text(10, 20),
        w_street_2: draw.text(10, 20),
        w_city: draw.text(10, 20),
        w_state: draw.state(),
        w_zip: draw.zip(),
        w_tax: rate(20, draw),
        w_ytd: paid(scale.customers * DISTRICTS),
    }
}

fn district(scale: Scale, w_id: i64, d_id: i64, draw: &mut Draw) -> District {
    District {
        d_id: Id(d_id),
        d_w_id: Id(w_id),
        d_name: draw.text(6, 10),
        d_street_1: draw.text(10, 20),
        d_street_2: draw.text(10, 20),
        d_city: draw.text(10, 20),
        d_state: draw.state(),
        d_zip: draw.zip(),
        d_tax: rate(20, draw),
        d_ytd: paid(scale.customers),
        d_next_o_id: scale.customers + 1,
    }
}

fn stock(w_id: i64, i_id: i64, draw: &mut Draw) -> Stock {
    Stock {
        s_i_id: Id(i_id),
        s_w_id: Id(w_id),
        s_quantity: draw.between(10, 100) as i32,
        s_dist_01: draw.text(24, 24),
        s_dist_02: draw.text(24, 24),
        s_dist_03: draw.text(24, 24),
        s_dist_04: draw.text(24, 24),
        s_dist_05: draw.text(24, 24),
        s_dist_06: draw.text(24, 24),
        s_dist_07: draw.text(24, 24),
        s_dist_08: draw.text(24, 24),
        s_dist_09: draw.text(24, 24),
        s_dist_10: draw.text(24, 24),
        s_ytd: 0,
        s_order_cnt: 0,
        s_remote_cnt: 0,
        s_data: draw.data(),
    }
}

/// Customers of a district with their first payments and orders.
fn of_district(scale: Scale, w_id: i64, d_id: i64, draw: &mut Draw) -> Chunk {
    let (mut orders, mut new, mut lines) = (vec![], vec![], vec![]);
    let customers: Vec<_> = (1..=scale.customers).map(|c_id| customer(scale, [w_id, d_id, c_id], draw)).collect();
    let history = (1..=scale.customers).map(|c_id| first_payment([w_id, d_id, c_id], draw)).collect();
    for (o_id, c_id) in (1..).zip(draw.permutation(scale.customers)) {
        let (is_delivered, o_ol_cnt) = (o_id <= scale.delivered(), draw.small(5, 15));
        orders.push(Orders {
            o_id: Id(o_id),
            o_d_id: Id(d_id),
            o_w_id: Id(w_id),
            o_c_id: Id(c_id),
            o_entry_d: LOADED,
            o_carrier_id: is_delivered.then(|| draw.small(1, 10)),
            o_ol_cnt,
            o_all_local: 1,
        });
        if !is_delivered {
            new.push(NewOrder { no_o_id: Id(o_id), no_d_id: Id(d_id), no_w_id: Id(w_id) });
        }
        lines.extend((1..=o_ol_cnt).map(|ol_number| OrderLine {
            ol_o_id: Id(o_id),
            ol_d_id: Id(d_id),
            ol_w_id: Id(w_id),
            ol_number,
            ol_i_id: Id(draw.between(1, scale.items())),
            ol_supply_w_id: Id(w_id),
            ol_delivery_d: is_delivered.then_some(LOADED),
            ol_quantity: 5,
            ol_amount: Decimal::from_units(if is_delivered { 0 } else { draw.between(1, 999_999) }),
            ol_dist_info: draw.text(24, 24),
        }));
    }
    vec![
        Box::new(Rows(customers)),
        Box::new(Rows::<History>(history)),
        Box::new(Rows(orders)),
        Box::new(Rows(new)),
        Box::new(Rows(lines)),
    ]
}

fn customer(scale: Scale, [w_id, d_id, c_id]: [i64; 3], draw: &mut Draw) -> Customer {
    // Each name is there; the others have some names more often than others.
    let name = match c_id {
        c_id if c_id <= scale.names() => c_id - 1,
        _ => draw.non_uniform(LOADED_NAME, 0, scale.names() - 1),
    };
    Customer {
        c_id: Id(c_id),
        c_d_id: Id(d_id),
        c_w_id: Id(w_id),
        c_first: draw.text(8, 16),
        c_middle: Text::cut("OE"),
        c_last: last_name(name),
        c_street_1: draw.text(10, 20),
        c_street_2: draw.text(10, 20),
        c_city: draw.text(10, 20),
        c_state: draw.state(),
        c_zip: draw.zip(),
        c_phone: draw.digits(),
        c_since: LOADED,
        c_credit: Text::cut(if draw.percent(10) { BAD_CREDIT } else { "GC" }),
        c_credit_lim: Balance::from_units(5_000_000),
        c_discount: rate(50, draw),
        c_balance: Balance::from_units(-FIRST_PAYMENT),
        c_ytd_payment: Balance::from_units(FIRST_PAYMENT),
        c_payment_cnt: 1,
        c_delivery_cnt: 0,
        c_data: CustomerData(draw.long_text(300, 500)),
    }
}

/// Credit of one customer in ten, whose payments are noted in their data.
pub const BAD_CREDIT: &str = "BC";

fn first_payment([w_id, d_id, c_id]: [i64; 3], draw: &mut Draw) -> History {
    History {
        h_c_id: Id(c_id),
        h_c_d_id: Id(d_id),
        h_c_w_id: Id(w_id),
        h_number: 1,
        h_d_id: Id(d_id),
        h_w_id: Id(w_id),
        h_date: LOADED,
        h_amount: Decimal::from_units(FIRST_PAYMENT),
        h_data: draw.text(12, 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale { warehouses: 2, customers: 30 };

    fn rows(threads: usize) -> Vec<(&'static str, usize, String)> {
        let mut rows: Vec<(&str, usize, String)> = Vec::new();
        generate(SCALE, threads, &mut |batch| {
            let mut last = String::new();
            batch.with_row(batch.len() - 1, &mut |values| last = format!("{values:?}"));
            rows.push((batch.table().name, batch.len(), last));
            Ok(())
        })
        .unwrap();
        rows
    }

    #[test]
    fn tables_have_the_published_proportions_on_any_number_of_threads() {
        let made = rows(1);
        assert!([2, 3, 64].iter().all(|threads| rows(*threads) == made));
        let of = |table: &str| made.iter().filter(|it| it.0 == table).map(|it| it.1).sum::<usize>();
        let tables = ["warehouse", "district", "customer", "history", "item", "stock", "orders", "new_order"];
        assert_eq!(tables.map(of), [2, 20, 600, 600, 1_000, 2_000, 600, 180]);
        assert!(of("order_line").abs_diff(6_000) < 300, "{}", of("order_line"));
    }

    #[test]
    fn an_error_of_the_writer_ends_the_generation() {
        let mut batches = 0;
        let stopped = generate(Scale { warehouses: 9_000, ..SCALE }, 4, &mut |_| {
            batches += 1;
            Err(LoadError::Stopped)
        });
        assert!(matches!(stopped, Err(LoadError::Stopped)));
        assert_eq!(batches, 1);
    }
}
