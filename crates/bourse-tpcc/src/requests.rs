//! Inputs of transactions, as the published mix and its distributions have them.

use crate::draw::{CUSTOMER, DISTRICTS, Draw, ITEM, LOADED, NAME, Scale, last_name};
use bourse_oltp::mix::place;
use bourse_oltp::planted;
use bourse_schema::{Decimal, Text, Timestamp};
use serde::{Deserialize, Serialize};

/// A district of a warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistrictId {
    /// The warehouse.
    pub w_id: i64,
    /// The district, 1 to 10.
    pub d_id: i64,
}

/// Selection of a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Selection {
    /// The customer of a number.
    Number(i64),
    /// The customer of a last name: of several the one in the middle, by first name.
    LastName(Text<16>),
}

/// An item that is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedItem {
    /// The item.
    pub i_id: i64,
    /// The warehouse that supplies it.
    pub supply_w_id: i64,
    /// Quantity, 1 to 10.
    pub quantity: u8,
}

/// Input of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Enters an order. One in a hundred ends with an item that does not exist, and is rolled back.
    NewOrder {
        /// District of the customer.
        district: DistrictId,
        /// The customer.
        c_id: i64,
        /// 5 to 15 items.
        items: Vec<OrderedItem>,
        /// Time of the order.
        at: Timestamp,
    },
    /// Records a customer's payment.
    Payment {
        /// District that is paid.
        district: DistrictId,
        /// District of the customer.
        of: DistrictId,
        /// The customer.
        customer: Selection,
        /// Amount.
        amount: Decimal<6, 2>,
        /// Time of the payment.
        at: Timestamp,
    },
    /// Reads a customer's last order.
    OrderStatus {
        /// District of the customer.
        district: DistrictId,
        /// The customer.
        customer: Selection,
    },
    /// Delivers the oldest new order of each district.
    Delivery {
        /// The warehouse.
        w_id: i64,
        /// The carrier, 1 to 10.
        carrier: u8,
        /// Time of the delivery.
        at: Timestamp,
    },
    /// Counts the items of a district's last twenty orders whose stock is low.
    StockLevel {
        /// The district.
        district: DistrictId,
        /// Quantity below which stock is low, 10 to 20.
        threshold: u8,
    },
}

/// Names of the transactions, in the order of the published mix.
pub const NAMES: [&str; 5] = ["New-Order", "Payment", "Order-Status", "Delivery", "Stock-Level"];

/// The published mix, in percent: the least share of the others, and the rest for new orders.
pub const SHARES: [f64; 5] = [45.0, 43.0, 4.0, 4.0, 4.0];

impl Request {
    /// Place of the transaction in [`NAMES`].
    pub const fn kind(&self) -> usize {
        match self {
            Self::NewOrder { .. } => 0,
            Self::Payment { .. } => 1,
            Self::OrderStatus { .. } => 2,
            Self::Delivery { .. } => 3,
            Self::StockLevel { .. } => 4,
        }
    }
}

/// Draws requests of one user, without end.
#[derive(Debug, Clone)]
pub struct Emulator {
    draw: Draw,
    scale: Scale,
    /// District where the user works. Most requests are for its warehouse.
    home: DistrictId,
    at: Timestamp,
}

impl Emulator {
    /// Creates the emulator of a seed for the user of that number, counted from 0. Users are shared out over the warehouses, and
    /// those of a warehouse over its districts.
    pub const fn new(scale: Scale, seed: u64, user: usize) -> Self {
        let user = user as i64;
        let home = DistrictId { w_id: user % scale.warehouses + 1, d_id: user / scale.warehouses % DISTRICTS + 1 };
        Self { draw: Draw::new(seed), scale, home, at: LOADED }
    }

    /// Any district of a warehouse.
    fn district(&mut self, w_id: i64) -> DistrictId {
        DistrictId { w_id, d_id: self.draw.between(1, DISTRICTS) }
    }

    /// A customer, in 60 of 100 cases by last name.
    fn customer(&mut self) -> Selection {
        if self.draw.percent(60) {
            Selection::LastName(last_name(self.draw.non_uniform(NAME, 0, self.scale.names() - 1)))
        } else {
            Selection::Number(self.draw.non_uniform(CUSTOMER, 1, self.scale.customers))
        }
    }

    /// Items of an order: one in a hundred comes from another warehouse.
    fn items(&mut self) -> Vec<OrderedItem> {
        let (home, warehouses) = (self.home.w_id, self.scale.warehouses);
        let count = self.draw.between(5, 15);
        let mut items: Vec<_> = (0..count)
            .map(|_| OrderedItem {
                i_id: self.draw.non_uniform(ITEM, 1, self.scale.items()),
                supply_w_id: if self.draw.percent(1) { self.draw.other(warehouses, home) } else { home },
                quantity: self.draw.small(1, 10),
            })
            .collect();
        if self.draw.percent(1)
            && let Some(last) = items.last_mut()
        {
            last.i_id = self.scale.items() + 1;
        }
        items
    }
}

impl Iterator for Emulator {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let kind = place(&SHARES, 100.0 * self.draw.unit());
        let kind = if planted!(MixWithoutStockLevel) { kind.min(3) } else { kind };
        self.at = Timestamp::from_millis(self.at.millis() + self.draw.between(1, 1_000));
        let at = self.at;
        let district = self.district(self.home.w_id);
        Some(match kind {
            0 => Request::NewOrder {
                district,
                c_id: self.draw.non_uniform(CUSTOMER, 1, self.scale.customers),
                items: self.items(),
                at,
            },
            1 => {
                // 15 of 100 customers pay at another warehouse than their own.
                let of = if self.draw.percent(15) && self.scale.warehouses > 1 {
                    let other = self.draw.other(self.scale.warehouses, self.home.w_id);
                    self.district(other)
                } else {
                    district
                };
                let amount = Decimal::from_units(self.draw.between(100, 500_000));
                Request::Payment { district, of, customer: self.customer(), amount, at }
            }
            2 => Request::OrderStatus { district, customer: self.customer() },
            3 => Request::Delivery { w_id: self.home.w_id, carrier: self.draw.small(1, 10), at },
            _ => Request::StockLevel { district: self.home, threshold: self.draw.small(10, 20) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale { warehouses: 4, customers: 3_000 };

    #[test]
    fn inputs_have_the_published_shares() {
        // Of each: the number of cases, and of those that the share is of.
        let mut shares = [("", 0.0, [0_u32; 2]); 9];
        let mut count = |at: usize, name: &'static str, share: f64, is: bool| {
            let (known, percent, [cases, all]) = &mut shares[at];
            (*known, *percent, *all) = (name, share, *all + 1);
            *cases += u32::from(is);
        };
        for request in Emulator::new(SCALE, 7, 1).take(200_000) {
            let kind = request.kind();
            NAMES.iter().enumerate().for_each(|(at, name)| count(at, name, SHARES[at], kind == at));
            match request {
                Request::NewOrder { items, district, .. } => {
                    assert!((5..=15).contains(&items.len()) && district.w_id == 2);
                    count(5, "rolled back", 1.0, items.iter().any(|it| it.i_id > SCALE.items()));
                    items.iter().for_each(|it| count(6, "remote lines", 1.0, it.supply_w_id != 2));
                }
                Request::Payment { district, of, customer, amount, .. } => {
                    count(7, "remote customers", 15.0, of.w_id != district.w_id);
                    count(8, "by name", 60.0, matches!(customer, Selection::LastName(_)));
                    assert!((100..=500_000).contains(&amount.units()));
                }
                _ => {}
            }
        }
        for (name, share, [cases, all]) in shares {
            // Six standard deviations of so many draws.
            let deviation = (f64::from(all) * share / 100.0 * (1.0 - share / 100.0)).sqrt();
            let expected = f64::from(all) * share / 100.0;
            assert!((f64::from(cases) - expected).abs() < 6.0 * deviation, "{name}: {cases} of {all}, {share} %");
        }
    }

    #[test]
    fn users_are_shared_out_over_warehouses_and_districts() {
        let homes = (0..41).map(|user| Emulator::new(SCALE, 1, user).home);
        let homes: Vec<_> = homes.map(|home| (home.w_id, home.d_id)).collect();
        assert_eq!(homes[..6], [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2)]);
        assert_eq!((homes[39], homes[40]), ((4, 10), (1, 1)));
    }
}
