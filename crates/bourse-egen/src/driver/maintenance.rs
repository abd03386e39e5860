//! Data maintenance (Clauses 3.3.11 and 3.3.12; EGen `CDM`): changes to tables that no customer's transaction touches.

use super::config::{ConfigError, Database};
use super::world::EmulatedDatabase;
use crate::txn::{DataMaintenance, TradeCleanup};
use crate::{Inputs, Rng};
use bourse_schema::{AccountId, CompanyId, CustomerId, Symbol, TaxId};

/// Tables in the order of their turns.
pub const TABLES: [&str; 12] = [
    "ACCOUNT_PERMISSION", "ADDRESS", "COMPANY", "CUSTOMER", "CUSTOMER_TAXRATE", "DAILY_MARKET", "EXCHANGE",
    "FINANCIAL", "NEWS_ITEM", "SECURITY", "TAXRATE", "WATCH_ITEM",
];

/// An endless source of Data-Maintenance's inputs, one table after the other, equal for equal seeds.
#[derive(Debug, Clone)]
pub struct MaintenanceEmulator<'i> {
    world: EmulatedDatabase<'i>,
    rng: Rng,
    turn: usize,
}

impl<'i> MaintenanceEmulator<'i> {
    /// An emulator whose inputs are drawn with `seed`, starting with the first table.
    ///
    /// # Errors
    /// Those of [`Database::check`].
    pub fn new(inputs: &'i Inputs, database: Database, seed: u64) -> Result<Self, ConfigError> {
        database.check()?;
        Ok(Self { world: EmulatedDatabase::new(inputs, database, None), rng: Rng::new(seed), turn: 0 })
    }

    /// Draws the next table's input. The specification requires one every sixty seconds.
    #[expect(clippy::should_implement_trait, reason = "maintenance never ends: there is no None to return")]
    pub fn next(&mut self) -> DataMaintenance {
        let (rng, world) = (&mut self.rng, &self.world);
        let table_name = TABLES[self.turn];
        self.turn = (self.turn + 1) % TABLES.len();
        let mut input = DataMaintenance {
            table_name,
            acct_id: AccountId(0),
            c_id: CustomerId(0),
            co_id: CompanyId(0),
            day_of_month: 0,
            vol_incr: 0,
            symbol: Symbol::EMPTY,
            tx_id: TaxId::EMPTY,
        };
        match table_name {
            "ACCOUNT_PERMISSION" => input.acct_id = world.trading_account(rng),
            "ADDRESS" if rng.percent(67) => input.c_id = world.any_customer(rng),
            "ADDRESS" | "COMPANY" | "FINANCIAL" | "NEWS_ITEM" => input.co_id = world.any_company(rng),
            "CUSTOMER" | "CUSTOMER_TAXRATE" | "WATCH_ITEM" => input.c_id = world.any_customer(rng),
            "DAILY_MARKET" => {
                input.symbol = world.any_symbol(rng);
                input.day_of_month = rng.range(1, 31) as i32;
                input.vol_incr = match rng.range(-2, 3) as i32 {
                    0 => -3,
                    increment => increment,
                };
            }
            "SECURITY" => input.symbol = world.any_symbol(rng),
            "TAXRATE" => {
                let taxes = &world.inputs.division_taxes;
                let bucket = taxes.bucket(rng.below(taxes.buckets() as u64) as usize + 1);
                input.tx_id = bucket[rng.below(bucket.len() as u64) as usize].row.tx_id;
            }
            // EXCHANGE: all of it is changed, nothing is drawn.
            _ => {}
        }
        input
    }

    /// Input of Trade-Cleanup, which cancels the trades that an earlier run left unfinished; run it before measuring.
    pub fn trade_cleanup(&self) -> TradeCleanup {
        TradeCleanup { start_trade_id: self.world.database.first_free_trade() }
    }

    /// The state of the random numbers.
    pub fn rng_state(&self) -> u64 {
        self.rng.state()
    }
}
