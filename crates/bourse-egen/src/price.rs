//! Prices of the emulated market (EGen `CMEESecurity`): every security rises from 20 to 30 dollars and falls back
//! within a quarter of an hour, periodically; only the phase differs.

use crate::{Money, Rng, TradeType};

/// Lowest price.
const LOW: Money = Money::from_cents(2_000);
/// Highest price.
const HIGH: Money = Money::from_cents(3_000);
/// Period of the wave in seconds.
const PERIOD_S: f64 = 900.0;
/// Period of the wave in milliseconds.
const PERIOD_MS: i64 = 900_000;

/// Seconds after the base time.
pub type Seconds = f64;

/// Prices of all securities over time.
///
/// ```
/// use bourse_egen::price::{Direction, PriceCurve};
/// let curve = PriceCurve::after(0);
/// assert_eq!(curve.price(0, 0.0).cents(), 2_564);
/// assert_eq!(curve.direction(0, 0.0), Direction::Up);
/// assert_eq!(curve.price(0, 900.0), curve.price(0, 0.0)); // a quarter of an hour later
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceCurve {
    /// Trading time that passed before time zero, in seconds.
    elapsed: i64,
}

/// Direction of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards 30 dollars.
    Up,
    /// Towards 20 dollars.
    Down,
}

impl PriceCurve {
    /// The curve after a number of seconds of trading: 0 while initial trades are made, their total time afterwards.
    pub const fn after(seconds: i64) -> Self {
        Self { elapsed: seconds }
    }

    /// Phase of a security's wave, in seconds.
    #[inline]
    pub fn phase(self, security: i64) -> Seconds {
        ((self.elapsed * 1_000 + security * 556_237 + 253_791) % PERIOD_MS) as f64 / 1_000.0
    }

    /// Price of a security (by index) at a time.
    #[inline]
    pub fn price(self, security: i64, time: Seconds) -> Money {
        // Divided, truncated and multiplied in just this order: a floating remainder gives other cents.
        let periods = (time + self.phase(security)) / PERIOD_S;
        let into = (periods - periods.trunc()) * PERIOD_S;
        let half = PERIOD_S / 2.0;
        let position = if into < half { into / half } else { (PERIOD_S - into) / half };
        LOW + Money::from_cents(1_000).times(position)
    }

    /// Direction of a security's price at a time.
    pub fn direction(self, security: i64, time: Seconds) -> Direction {
        let whole = (time + self.phase(security)) as i64;
        if whole % 900 < 450 { Direction::Up } else { Direction::Down }
    }

    /// Time at which a limit order placed at `time` reaches the market: about a second later if the limit is met
    /// already (one draw), else when the price will have reached it (no draw).
    pub fn submission(self, security: i64, time: Seconds, limit: Money, kind: TradeType, rng: &mut Rng) -> Seconds {
        let price = self.price(security, time);
        let delay = if in_the_money(kind, price, limit) {
            rng.stepped(0.5, 1.5, 0.001)
        } else {
            travel(price, limit, self.direction(security, time))
        };
        time + delay
    }

    /// Time and price of completion of a trade at the market (one draw). The last second imitates the way back; the
    /// price is the one before it.
    pub fn completion(self, security: i64, submitted: Seconds, rng: &mut Rng) -> (Seconds, Money) {
        let delay = completion_delay(rng);
        let price = self.price(security, submitted + delay);
        ((submitted + delay) + 1.0, price)
    }
}

/// Draws the seconds that the market takes to complete a trade: a mean of one, five at most.
pub(crate) fn completion_delay(rng: &mut Rng) -> Seconds {
    rng.negative_exponential_ns(1.0).min(5.0)
}

/// Whether an order of that kind and limit can be executed at a price. In the reference, Stop-Loss orders wait for a
/// fall as Limit-Buy orders do.
pub fn in_the_money(kind: TradeType, price: Money, limit: Money) -> bool {
    match kind {
        TradeType::LimitBuy | TradeType::StopLoss => price <= limit,
        TradeType::LimitSell => price >= limit,
        TradeType::MarketBuy | TradeType::MarketSell => true,
    }
}

/// Seconds until a price that moves in `direction` reaches another.
pub fn travel(from: Money, to: Money, direction: Direction) -> Seconds {
    let way = match (to > from, direction) {
        (true, Direction::Up) => to - from,
        (true, Direction::Down) => (from - LOW) + (to - LOW),
        (false, Direction::Up) => (HIGH - from) + (HIGH - to),
        (false, Direction::Down) => from - to,
    };
    way.dollars() * 45.0
}
