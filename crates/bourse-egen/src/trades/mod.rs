//! The initial trades of a load unit and everything that follows from them: history, settlements, holdings, brokers.
//!
//! | file | EGen's class | what |
//! |---|---|---|
//! | `simulation.rs` | `CTradeGen` | who orders what when, and in which order the trades complete |
//! | `holdings.rs` | `CHoldingsTable` | the lots each account holds, and how a trade changes them |
//! | `accounts.rs` | | what is the same in all trades of an account, computed once |
//! | `rows.rs` | `CTradeGen` | rows from completed trades, and what is left of a load unit at its end |
//! | `lines.rs` | | the same as ready lines of the flat files |

mod accounts;
mod holdings;
mod lines;
mod queue;
mod rows;
mod simulation;

pub use holdings::{Change, Changes};
pub(crate) use lines::SecurityNames;
pub(crate) use rows::TradeRows;
pub use simulation::{Completed, Simulation};
