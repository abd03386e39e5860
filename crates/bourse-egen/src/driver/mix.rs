//! The deck from which the customers' transactions are dealt (EGen `CCETxnMixGenerator`).
//!
//! Every round of the deck deals each transaction exactly as often as its level says, so that a mix of 890 cards is
//! exact in every round and not only on average. Trade-Result and Market-Feed follow from Trade-Order and are not
//! dealt.

use super::config::ConfigError;
use crate::Rng;

/// Transactions that customers request, in the order in which the deck is first laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the transactions are documented at their inputs")]
pub enum CustomerTransaction {
    TradeStatus,
    MarketWatch,
    SecurityDetail,
    CustomerPosition,
    TradeOrder,
    TradeLookup,
    TradeUpdate,
    BrokerVolume,
}

/// Number of cards of each transaction in the deck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is named for its transaction")]
pub struct Mix {
    pub broker_volume: u32,
    pub customer_position: u32,
    pub market_watch: u32,
    pub security_detail: u32,
    pub trade_lookup: u32,
    /// Cards of Trade-Order; also the number of orders among which one intended roll-back is drawn.
    pub trade_order: u32,
    pub trade_status: u32,
    pub trade_update: u32,
}

impl Default for Mix {
    /// The specification's mix: 890 cards, which with the market's 111 make 1001.
    fn default() -> Self {
        Self {
            broker_volume: 49,
            customer_position: 130,
            market_watch: 180,
            security_detail: 140,
            trade_lookup: 80,
            trade_order: 101,
            trade_status: 190,
            trade_update: 20,
        }
    }
}

impl Mix {
    /// A mix without any card, to be filled with the desired transactions.
    pub const NONE: Self = Self {
        broker_volume: 0,
        customer_position: 0,
        market_watch: 0,
        security_detail: 0,
        trade_lookup: 0,
        trade_order: 0,
        trade_status: 0,
        trade_update: 0,
    };

    /// Maximum number of cards of a deck.
    const MAX_CARDS: u64 = 1_000_000;

    /// Levels in the order in which the deck is laid out.
    pub fn levels(&self) -> [(CustomerTransaction, u32); 8] {
        use CustomerTransaction as T;
        [
            (T::TradeStatus, self.trade_status),
            (T::MarketWatch, self.market_watch),
            (T::SecurityDetail, self.security_detail),
            (T::CustomerPosition, self.customer_position),
            (T::TradeOrder, self.trade_order),
            (T::TradeLookup, self.trade_lookup),
            (T::TradeUpdate, self.trade_update),
            (T::BrokerVolume, self.broker_volume),
        ]
    }

    /// Refuses a deck without cards, or with too many.
    ///
    /// # Errors
    /// [`ConfigError::EmptyMix`] or [`ConfigError::LargeMix`].
    pub fn check(&self) -> Result<(), ConfigError> {
        match self.levels().iter().map(|&(_, level)| u64::from(level)).sum() {
            0 => Err(ConfigError::EmptyMix),
            total if total > Self::MAX_CARDS => Err(ConfigError::LargeMix { total, limit: Self::MAX_CARDS }),
            _ => Ok(()),
        }
    }
}

/// The deck, shuffled while it is dealt.
///
/// ```
/// use bourse_egen::driver::mix::{CustomerTransaction, Deck, Mix};
/// let mut deck = Deck::new(&Mix::default(), 1).unwrap();
/// let orders = (0..890).filter(|_| deck.deal() == CustomerTransaction::TradeOrder).count();
/// assert_eq!(orders, 101); // exactly, in every round of 890 cards
/// ```
#[derive(Debug, Clone)]
pub struct Deck {
    cards: Vec<CustomerTransaction>,
    next: usize,
    rng: Rng,
}

impl Deck {
    /// The deck of that mix, shuffled with that seed.
    ///
    /// # Errors
    /// Those of [`Mix::check`].
    pub fn new(mix: &Mix, seed: u64) -> Result<Self, ConfigError> {
        mix.check()?;
        let cards = mix.levels().into_iter().flat_map(|(kind, level)| std::iter::repeat_n(kind, level as usize));
        Ok(Self { cards: cards.collect(), next: 0, rng: Rng::new(seed) })
    }

    /// Deals the next card.
    ///
    /// After the last card the deck is dealt again in the order that the shuffle left, not in its first order; the last
    /// card of a round leaves no choice and draws no random number.
    pub fn deal(&mut self) -> CustomerTransaction {
        let drawn = self.rng.range(self.next as i64, self.cards.len() as i64 - 1) as usize;
        let card = self.cards[drawn];
        self.cards.swap(drawn, self.next);
        self.next = (self.next + 1) % self.cards.len();
        card
    }

    /// The state of the mix's random numbers.
    pub fn rng_state(&self) -> u64 {
        self.rng.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_round_deals_the_mix_to_the_card() {
        let mix = Mix::default();
        for seed in [0, 1, u64::MAX] {
            let mut deck = Deck::new(&mix, seed).unwrap();
            for _ in 0..3 {
                let mut dealt = HashMap::new();
                (0..890).for_each(|_| *dealt.entry(deck.deal()).or_insert(0) += 1);
                assert_eq!(dealt, HashMap::from(mix.levels()), "seed {seed}");
            }
        }
    }

    #[test]
    fn one_kind_of_card_leaves_no_choice_but_draws() {
        let mut deck = Deck::new(&Mix { trade_order: 3, ..Mix::NONE }, 7).unwrap();
        assert!((0..6).all(|_| deck.deal() == CustomerTransaction::TradeOrder));
        assert_eq!(deck.rng_state(), Rng::at(7, 4).state());
    }

    #[test]
    fn a_deck_needs_cards() {
        assert_eq!(Mix::NONE.check(), Err(ConfigError::EmptyMix));
        let large = Mix { trade_order: u32::MAX, trade_status: u32::MAX, ..Mix::NONE };
        assert_eq!(large.check(), Err(ConfigError::LargeMix { total: 8_589_934_590, limit: 1_000_000 }));
        assert_eq!(Deck::new(&Mix::NONE, 1).err(), Some(ConfigError::EmptyMix));
    }
}
