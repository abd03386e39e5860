//! The customer emulator (EGen `CCE`): deals the next transaction of the mix and draws its input.
//!
//! | module | contents |
//! |---|---|
//! | `queries` | Broker-Volume, Customer-Position, Market-Watch, Security-Detail, Trade-Status |
//! | `trades` | Trade-Lookup and Trade-Update: choice of initial trades |
//! | `order` | Trade-Order |

mod order;
mod queries;
mod trades;

use super::config::{ConfigError, Database, Partition};
use super::mix::{CustomerTransaction, Deck};
use super::tunables::Tunables;
use super::world::EmulatedDatabase;
use crate::txn::CustomerRequest;
use crate::{Inputs, Rng};

/// Configuration of a customer emulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerConfig {
    /// The database.
    pub database: Database,
    /// Customers that it mostly draws requests for; all equally if `None`.
    pub partition: Option<Partition>,
    /// Parameters of the inputs.
    pub tunables: Tunables,
    /// Seed of the random numbers that choose Trade-Order's account and security.
    pub holdings_seed: u64,
}

impl CustomerConfig {
    /// Seed of Trade-Order's account and security in the reference.
    pub const HOLDINGS_SEED: u64 = 37_039_940;

    /// Configuration for a database with the specification's parameters.
    ///
    /// Like the reference this starts the choice of Trade-Order's account and security at
    /// [`HOLDINGS_SEED`](Self::HOLDINGS_SEED) whatever the emulator's own seeds, so that every emulator of a run makes
    /// the same choices. An individual [`holdings_seed`](Self::holdings_seed) departs from the reference, and is needed
    /// if many users share a process and a start: otherwise they would order in lockstep.
    pub fn of(database: Database) -> Self {
        Self { database, partition: None, tunables: Tunables::default(), holdings_seed: Self::HOLDINGS_SEED }
    }

    /// Refuses an invalid configuration.
    ///
    /// # Errors
    /// The first [`ConfigError`] of database, partition and parameters.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.database.check()?;
        if let Some(partition) = &self.partition {
            partition.check(&self.database)?;
        }
        self.tunables.check()
    }
}

/// An endless source of customers' requests, equal for equal seeds.
///
/// ```
/// use bourse_egen::Inputs;
/// use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database};
/// let inputs = Inputs::builtin();
/// let config = CustomerConfig::of(Database::of(1_000, 500, 10));
/// let [mut one, mut other] = [(); 2].map(|()| CustomerEmulator::new(&inputs, &config, 1, 2).unwrap());
/// assert!((0..100).all(|_| one.next() == other.next()));
/// assert_eq!(one.input_rng_state(), other.input_rng_state());
/// ```
#[derive(Debug, Clone)]
pub struct CustomerEmulator<'i> {
    world: EmulatedDatabase<'i>,
    tunables: Tunables,
    deck: Deck,
    rng: Rng,
    holdings: Rng,
}

impl<'i> CustomerEmulator<'i> {
    /// An emulator whose mix is dealt with `mix_seed` and whose inputs are drawn with `input_seed`.
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
            world: EmulatedDatabase::new(inputs, config.database, config.partition),
            tunables: config.tunables,
            deck: Deck::new(&config.tunables.mix, mix_seed)?,
            rng: Rng::new(input_seed),
            holdings: Rng::new(config.holdings_seed),
        })
    }

    /// Draws the next request.
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

/// Index of the alternative that a percentage falls to; the last alternative takes the rest.
fn alternative(percentage: i64, parts: &[u32]) -> usize {
    let mut upto = 0;
    let hit = parts.iter().position(|&part| {
        upto += i64::from(part);
        percentage <= upto
    });
    hit.unwrap_or(parts.len() - 1)
}
