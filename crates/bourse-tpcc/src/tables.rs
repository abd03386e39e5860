//! The nine tables.

use bourse_schema::{Balance, ColumnType, Decimal, Field, Table, TableRow as _, TaxRate, Text, Timestamp, Value};
use std::sync::LazyLock;

/// Number of a warehouse, district, customer, item or order, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub i64);

impl Field for Id {
    const TYPE: ColumnType = ColumnType::Ident;

    fn write_flat(&self, out: &mut Vec<u8>) {
        self.0.write_flat(out);
    }

    fn value(&self) -> Value<'_> {
        Value::Int(self.0)
    }
}

/// Most characters of a customer's data.
pub const DATA: usize = 500;

/// Data of a customer: 300 to 500 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerData(pub String);

impl Field for CustomerData {
    const TYPE: ColumnType = ColumnType::Text(DATA);

    fn write_flat(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }

    fn value(&self) -> Value<'_> {
        Value::Text(&self.0)
    }
}

bourse_schema::table! {
    /// Warehouses of the supplier.
    pub struct Warehouse = "warehouse", file "warehouse", Broker Scaling, rows PerLoadUnit(1, 0), key(w_id) {
        w_id: Id,
        w_name: Text<10>,
        w_street_1: Text<20>,
        w_street_2: Text<20>,
        w_city: Text<20>,
        w_state: Text<2>,
        w_zip: Text<9>,
        w_tax: TaxRate,
        w_ytd: Balance,
    }
}

bourse_schema::table! {
    /// Sales districts, ten of each warehouse, with the number of their next order.
    pub struct District = "district", file "district", Broker Scaling, rows PerLoadUnit(10, 0), key(d_w_id, d_id) {
        d_id: Id | check "d_id BETWEEN 1 AND 10",
        d_w_id: Id => Warehouse,
        d_name: Text<10>,
        d_street_1: Text<20>,
        d_street_2: Text<20>,
        d_city: Text<20>,
        d_state: Text<2>,
        d_zip: Text<9>,
        d_tax: TaxRate,
        d_ytd: Balance,
        d_next_o_id: i64,
    }
}

bourse_schema::table! {
    /// Customers, 3,000 of each district.
    pub struct Customer = "customer", file "customer", Customer Scaling, rows PerLoadUnit(30_000, 0), key(c_w_id, c_d_id, c_id) {
        c_id: Id,
        c_d_id: Id,
        c_w_id: Id,
        c_first: Text<16>,
        c_middle: Text<2>,
        c_last: Text<16>,
        c_street_1: Text<20>,
        c_street_2: Text<20>,
        c_city: Text<20>,
        c_state: Text<2>,
        c_zip: Text<9>,
        c_phone: Text<16>,
        c_since: Timestamp,
        c_credit: Text<2> | check "c_credit IN ('GC', 'BC')",
        c_credit_lim: Balance,
        c_discount: TaxRate,
        c_balance: Balance,
        c_ytd_payment: Balance,
        c_payment_cnt: i32,
        c_delivery_cnt: i32,
        c_data: CustomerData,
    }
    foreign(c_w_id, c_d_id) => District;
    index "customer_by_name" (c_w_id, c_d_id, c_last, c_first) for "Payment, Order-Status";
}

bourse_schema::table! {
    /// Payments of customers. The published table has no key; `h_number` counts a customer's payments.
    pub struct History = "history", file "history", Customer Growing, rows PerLoadUnit(30_000, 0), key(h_c_w_id, h_c_d_id, h_c_id, h_number) {
        h_c_id: Id,
        h_c_d_id: Id,
        h_c_w_id: Id,
        h_number: i32,
        h_d_id: Id,
        h_w_id: Id,
        h_date: Timestamp,
        h_amount: Decimal<6, 2>,
        h_data: Text<24>,
    }
    foreign(h_c_w_id, h_c_d_id, h_c_id) => Customer;
    foreign(h_w_id, h_d_id) => District;
}

bourse_schema::table! {
    /// Items that the supplier sells, the same in each warehouse.
    pub struct Item = "item", file "item", Market Fixed, rows Fixed(100_000), key(i_id) {
        i_id: Id,
        i_im_id: i32,
        i_name: Text<24>,
        i_price: Decimal<5, 2>,
        i_data: Text<50>,
    }
}

bourse_schema::table! {
    /// Stock of each item in each warehouse.
    pub struct Stock = "stock", file "stock", Market Scaling, rows PerLoadUnit(100_000, 0), key(s_w_id, s_i_id) {
        s_i_id: Id => Item,
        s_w_id: Id => Warehouse,
        s_quantity: i32 | check "s_quantity >= 0",
        s_dist_01: Text<24>, s_dist_02: Text<24>, s_dist_03: Text<24>, s_dist_04: Text<24>, s_dist_05: Text<24>,
        s_dist_06: Text<24>, s_dist_07: Text<24>, s_dist_08: Text<24>, s_dist_09: Text<24>, s_dist_10: Text<24>,
        s_ytd: i64,
        s_order_cnt: i32,
        s_remote_cnt: i32,
        s_data: Text<50>,
    }
}

bourse_schema::table! {
    /// Orders of customers.
    pub struct Orders = "orders", file "orders", Customer Growing, rows PerLoadUnit(30_000, 0), key(o_w_id, o_d_id, o_id) {
        o_id: Id,
        o_d_id: Id,
        o_w_id: Id,
        o_c_id: Id,
        o_entry_d: Timestamp,
        o_carrier_id: Option<u8>,
        o_ol_cnt: u8,
        o_all_local: u8 | check "o_all_local IN (0, 1)",
    }
    foreign(o_w_id, o_d_id, o_c_id) => Customer;
    index "orders_by_customer" (o_w_id, o_d_id, o_c_id, o_id) for "Order-Status";
}

bourse_schema::table! {
    /// Orders that were not delivered yet.
    pub struct NewOrder = "new_order", file "new_order", Customer Growing, rows PerLoadUnit(9_000, 0), key(no_w_id, no_d_id, no_o_id) {
        no_o_id: Id,
        no_d_id: Id,
        no_w_id: Id,
    }
    foreign(no_w_id, no_d_id, no_o_id) => Orders;
}

bourse_schema::table! {
    /// Lines of orders, 5 to 15 each.
    pub struct OrderLine = "order_line", file "order_line", Customer Growing, rows AboutPerLoadUnit(300_000), key(ol_w_id, ol_d_id, ol_o_id, ol_number) {
        ol_o_id: Id,
        ol_d_id: Id,
        ol_w_id: Id,
        ol_number: u8,
        ol_i_id: Id,
        ol_supply_w_id: Id,
        ol_delivery_d: Option<Timestamp>,
        ol_quantity: u8,
        ol_amount: Decimal<6, 2>,
        ol_dist_info: Text<24>,
    }
    foreign(ol_w_id, ol_d_id, ol_o_id) => Orders;
    foreign(ol_supply_w_id, ol_i_id) => Stock;
}

/// All nine, in the order of the specification.
pub fn all() -> &'static [&'static Table] {
    static ALL: LazyLock<[&'static Table; 9]> = LazyLock::new(|| {
        [
            Warehouse::table(),
            District::table(),
            Customer::table(),
            History::table(),
            NewOrder::table(),
            Orders::table(),
            OrderLine::table(),
            Item::table(),
            Stock::table(),
        ]
    });
    &*ALL
}
