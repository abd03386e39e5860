use std::collections::VecDeque;

use bourse_schema::{Quantity, TradeId};

use crate::Money;
use crate::price::Seconds;

/// A lot of one security in one account; negative if it is owed.
///
/// Its size is sixteen bytes, since tens of thousands of lists of lots are visited in random order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HoldingLot {
    pub(super) time: Seconds,
    /// Trade that made the lot, counted from the load unit's first.
    trade: u32,
    price_cents: u16,
    quantity: i16,
}

impl HoldingLot {
    /// The lot of an order. A load unit has fewer than 2^32 trades, and no price or quantity is greater than 3,000.
    pub(super) fn new(trade: u32, quantity: Quantity, price: Money, time: Seconds) -> Self {
        Self { time, trade, price_cents: price.cents() as u16, quantity: quantity as i16 }
    }

    pub(super) fn trade(&self) -> u32 {
        self.trade
    }

    pub(super) fn quantity(&self) -> Quantity {
        Quantity::from(self.quantity)
    }

    pub(super) fn price(&self) -> Money {
        Money::from_cents(i64::from(self.price_cents))
    }
}

/// Change of one lot by a trade: a row of HOLDING_HISTORY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldingChange {
    /// Trade that made the lot.
    pub lot: TradeId,
    /// Quantity before the trade.
    pub before: Quantity,
    /// Quantity after the trade.
    pub after: Quantity,
}

/// Maximum number of lots that a trade changes: the largest order is eight times the smallest lot.
const MAX_CHANGED_LOTS: usize = 8;

/// Changes by a trade to the lots of its account and security.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    changes: [HoldingChange; MAX_CHANGED_LOTS],
    len: u8,
    /// Purchase value of the closed shares.
    pub bought: Money,
    /// Sale value of the closed shares.
    pub sold: Money,
}

impl Changes {
    const NONE: Self = Self {
        changes: [HoldingChange { lot: TradeId(0), before: 0, after: 0 }; MAX_CHANGED_LOTS],
        len: 0,
        bought: Money::ZERO,
        sold: Money::ZERO,
    };

    /// Changes in the order they were made.
    pub fn changes(&self) -> &[HoldingChange] {
        &self.changes[..usize::from(self.len)]
    }

    fn push(&mut self, change: HoldingChange) {
        self.changes[usize::from(self.len)] = change;
        self.len += 1;
    }
}

/// Buys (positive quantity) or sells (negative) against opposite lots, the newest first if `lifo`; the rest becomes a
/// new lot. `first` is the identifier from which lots' trades are counted.
pub(super) fn trade(lots: &mut VecDeque<HoldingLot>, order: HoldingLot, lifo: bool, first: TradeId) -> Changes {
    let mut changes = Changes::NONE;
    let id = |lot: &HoldingLot| TradeId(first.0 + i64::from(lot.trade));
    let sign = order.quantity().signum();
    let mut need = order.quantity().abs();
    while need > 0 {
        let Some(lot) = (if lifo { lots.back_mut() } else { lots.front_mut() }) else { break };
        let held = lot.quantity() * -sign;
        if held <= 0 {
            break;
        }
        let closed = held.min(need);
        let before = lot.quantity();
        let after = before + sign * closed;
        lot.quantity = after as i16;
        changes.push(HoldingChange { lot: id(lot), before, after });
        let (now, then) = (order.price() * i64::from(closed), lot.price() * i64::from(closed));
        let (bought, sold) = if sign > 0 { (now, then) } else { (then, now) };
        changes.bought += bought;
        changes.sold += sold;
        need -= closed;
        if after == 0 {
            if lifo {
                lots.pop_back()
            } else {
                lots.pop_front()
            };
        }
    }
    if need > 0 {
        let left = HoldingLot { quantity: (sign * need) as i16, ..order };
        lots.push_back(left);
        changes.push(HoldingChange { lot: id(&left), before: 0, after: left.quantity() });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(trade: u32, quantity: Quantity, cents: i64) -> HoldingLot {
        HoldingLot::new(trade, quantity, Money::from_cents(cents), 0.0)
    }

    /// Checks the quantities that remain, the changes' lots, and the purchase and sale values.
    fn check(held: &[HoldingLot], order: HoldingLot, lifo: bool, left: &[i32], lots: &[i64], money: (i64, i64)) {
        let mut list: VecDeque<HoldingLot> = held.iter().copied().collect();
        let changes = trade(&mut list, order, lifo, TradeId(0));
        assert_eq!(list.iter().map(HoldingLot::quantity).collect::<Vec<_>>(), left);
        assert_eq!(changes.changes().iter().map(|change| change.lot.0).collect::<Vec<_>>(), lots);
        assert_eq!((changes.bought.cents(), changes.sold.cents()), money);
    }

    #[test]
    fn first_in_first_out_and_last_in_first_out() {
        let held = [lot(1, 100, 2_000), lot(2, 200, 2_100)];
        check(&held, lot(3, -100, 2_500), false, &[200], &[1], (200_000, 250_000));
        check(&held, lot(3, -100, 2_500), true, &[100, 100], &[2], (210_000, 250_000));
    }

    #[test]
    fn selling_more_than_is_held_goes_short() {
        let held = [lot(1, 100, 2_000)];
        check(&held, lot(2, -400, 2_500), false, &[-300], &[1, 2], (200_000, 250_000));
    }

    #[test]
    fn buying_covers_what_is_owed() {
        let owed = [lot(1, -100, 2_500), lot(2, -400, 2_600)];
        check(&owed, lot(3, 200, 2_000), false, &[-300], &[1, 2], (400_000, 510_000));
    }

    #[test]
    fn lots_of_the_same_sign_pile_up() {
        check(&[lot(1, 100, 2_000)], lot(2, 800, 2_500), true, &[100, 800], &[2], (0, 0));
    }
}
