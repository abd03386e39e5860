//! Initial trades of a load unit and all that follows from them: history, settlements, holdings, brokers.
//!
//! | file | EGen's class | contents |
//! |---|---|---|
//! | `simulation.rs` | `CTradeGen` | the orders with their times, and the order in which trades complete |
//! | `holdings.rs` | `CHoldingsTable` | the lots of each account, and their changes by a trade |
//! | `accounts.rs` | | data common to all trades of an account, computed once |
//! | `rows.rs` | `CTradeGen` | rows from completed trades, and the final state of a load unit |
//! | `lines.rs` | | such rows as lines of the flat files |

mod accounts;
mod holdings;
mod lines;
mod queue;
mod rows;
mod simulation;

pub use holdings::{Changes, HoldingChange};
pub(crate) use lines::SecurityNames;
pub(crate) use rows::TradeRows;
pub use simulation::{CompletedTrade, Simulation};
