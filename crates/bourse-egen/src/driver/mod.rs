//! Emulators that request transactions: customers, market exchange and data maintenance.
//!
//! All three are values that draw their next request on demand: no clock, no thread. The driver around them paces the
//! customers, passes the time to the market, and calls the maintenance once a minute.
//!
//! | module | EGen's name | contents |
//! |---|---|---|
//! | [`customer`] | `CE` | the mix and every input of the customers' eight transactions |
//! | [`market`] | `MEE` | executes orders after their delay, prints the ticker tape |
//! | [`maintenance`] | `DM` | Data-Maintenance's rotation over twelve tables, Trade-Cleanup |
//! | [`mix`] | `CCETxnMixGenerator` | the deck from which the customers' transactions are dealt |
//! | [`tunables`] | `TDriverCETxnSettings` | parameters of the customers' inputs, their defaults and checks |
//! | [`seeds`] | | the seeds each emulator derives from the time of day and its number |
//! | [`config`] | | the database that requests are drawn for, and its checks |

pub mod config;
pub mod customer;
pub mod maintenance;
pub mod market;
pub mod mix;
pub mod seeds;
pub mod tunables;
mod world;

pub use config::{ConfigError, Database, Partition};
pub use customer::{CustomerConfig, CustomerEmulator};
pub use maintenance::MaintenanceEmulator;
pub use market::{MarketConfig, MarketExchange, UnknownSymbol};
pub use mix::{CustomerTransaction, Mix};
pub use seeds::Seeds;
pub use tunables::Tunables;
