//! The customer emulator (EGen `CCE`): deals the next transaction of the mix and draws its input.
//!
//! | module | what |
//! |---|---|
//! | `queries` | Broker-Volume, Customer-Position, Market-Watch, Security-Detail, Trade-Status |
//! | `trades` | Trade-Lookup and Trade-Update: which initial trades are asked for |
//! | `order` | Trade-Order |

mod order;
mod queries;
mod trades;

use super::config::{ConfigError, Database, Partition};
use super::mix::{CustomerTransaction, Deck};
use super::tunables::Tunables;
use super::world::World;
use crate::txn::CustomerRequest;
use crate::{Inputs, Rng};

/// What a customer emulator asks about, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerConfig {
    /// The database.
    pub database: Database,
    /// The customers it mostly speaks for; all alike if none.
    pub partition: Option<Partition>,
    /// The knobs.
    pub tunables: Tunables,
    /// Where the random numbers begin that choose Trade-Order's account and security.
    pub holdings_seed: u64,
}

impl CustomerConfig {
    /// The reference's start of the numbers that choose Trade-Order's account and security.
    pub const HOLDINGS_SEED: u64 = 37_039_940;

    /// Asks about that database as the specification says.
    ///
    /// Like the reference this starts the choice of Trade-Order's account and security at
    /// [`HOLDINGS_SEED`](Self::HOLDINGS_SEED) whatever the emulator's own seeds, so that every emulator of a run walks the
    /// same choices. To give each its own [`holdings_seed`](Self::holdings_seed) departs from the reference, and is
    /// needed where many users share a process and a start: they would order in lockstep.
    pub fn of(database: Database) -> Self {
        Self { database, partition: None, tunables: Tunables::default(), holdings_seed: Self::HOLDINGS_SEED }
    }

    /// Refuses what the emulator cannot work with.
    ///
    /// # Errors
    /// The first [`ConfigError`] of database, partition and knobs.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.database.check()?;
        if let Some(partition) = &self.partition {
            partition.check(&self.database)?;
        }
        self.tunables.check()
    }
}

/// A source of customers' requests without end, the same for the same seeds.
#[derive(Debug, Clone)]
pub struct CustomerEmulator<'i> {
    world: World<'i>,
    tunables: Tunables,
    deck: Deck,
    rng: Rng,
    holdings: Rng,
}

impl<'i> CustomerEmulator<'i> {
    /// An emulator whose mix is dealt by `mix_seed` and whose inputs are drawn from `input_seed` on.
    ///
    /// # Errors
    /// Those of [`CustomerConfig::check`].
    pub fn new(
        inputs: &'i Inputs,
        config: &CustomerConfig,
        mix_seed: u64,
        input_seed: u64,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            world: World::new(inputs, config.database, config.partition),
            tunables: config.tunables,
            deck: Deck::new(&config.tunables.mix, mix_seed)?,
            rng: Rng::new(input_seed),
            holdings: Rng::new(config.holdings_seed),
        })
    }

    /// The next request.
    #[expect(clippy::should_implement_trait, reason = "customers never stop asking: there is no None to return")]
    pub fn next(&mut self) -> CustomerRequest {
        use CustomerTransaction as T;
        match self.deck.deal() {
            T::TradeStatus => CustomerRequest::TradeStatus(self.trade_status()),
            T::MarketWatch => CustomerRequest::MarketWatch(self.market_watch()),
            T::SecurityDetail => CustomerRequest::SecurityDetail(self.security_detail()),
            T::CustomerPosition => CustomerRequest::CustomerPosition(self.customer_position()),
            T::TradeOrder => CustomerRequest::TradeOrder(self.trade_order()),
            T::TradeLookup => CustomerRequest::TradeLookup(self.trade_lookup()),
            T::TradeUpdate => CustomerRequest::TradeUpdate(self.trade_update()),
            T::BrokerVolume => CustomerRequest::BrokerVolume(self.broker_volume()),
        }
    }

    /// The state of the mix's random numbers.
    pub fn mix_rng_state(&self) -> u64 {
        self.deck.rng_state()
    }

    /// The state of the inputs' random numbers.
    pub fn input_rng_state(&self) -> u64 {
        self.rng.state()
    }
}

/// Which of several alternatives a percentage falls to; the last takes what the others leave.
fn alternative(percentage: i64, parts: &[u32]) -> usize {
    let mut upto = 0;
    let hit = parts.iter().position(|&part| {
        upto += i64::from(part);
        percentage <= upto
    });
    hit.unwrap_or(parts.len() - 1)
}
