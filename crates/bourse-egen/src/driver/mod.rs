//! Who asks for transactions: the customer emulator, the market exchange emulator and data maintenance.
//!
//! All three are values that draw their next request when asked: no clock, no thread. The driver around them paces the
//! customers, tells the market what time it is, and calls the maintenance once a minute.
//!
//! | module | EGen's name | what |
//! |---|---|---|
//! | [`customer`] | `CE` | the mix and every input of the eight transactions customers ask for |
//! | [`market`] | `MEE` | executes orders after their delay, prints the ticker tape |
//! | [`maintenance`] | `DM` | Data-Maintenance's rotation over twelve tables, Trade-Cleanup |
//! | [`mix`] | `CCETxnMixGenerator` | the deck from which the customers' transactions are dealt |
//! | [`tunables`] | `TDriverCETxnSettings` | every knob of the customers, its default, what is valid |
//! | [`seeds`] | | the seeds each emulator derives from the time of day and its number |
//! | [`config`] | | the database the emulators ask about, and what is valid |

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
