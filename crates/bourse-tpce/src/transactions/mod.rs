//! The twelve transactions (Clause 3.3), each in a file of its own: its harness above, its frames in order, each statement
//! above the one function that uses it.
//!
//! The harness decides which frame runs when, computes the values between frames and checks what they give
//! ([`Status`]); a frame only reads and writes the database. [`perform()`] runs any of them, and runs it again while other
//! transactions are in the way. A transaction's output has everything it found, so that two engines can be
//! compared; an intended roll-back is a status, not an error.
//!
//! | file | contents |
//! |---|---|
//! | [`perform`](mod@perform) | a request of any kind, retried on conflicts |
//! | [`context`] | surroundings of a transaction: the time, trade numbers, the market |
//! | [`kind`] | the twelve kinds, their isolation and statements |
//! | [`status`] | the harness's verdict |
//! | [`rates`], [`trades`] | rows that several transactions read alike |
//! | `order_rows` | the rows of a new order |
//! | `positions` | changes of holdings by a trade |
//! | `routines` | frames as routines of the server, where a session has them |
//! | the rest | one transaction each |

pub mod broker_volume;
pub mod context;
pub mod customer_position;
pub mod data_maintenance;
mod error;
pub mod kind;
pub mod market_feed;
pub mod market_watch;
pub(crate) mod order_rows;
pub mod perform;
mod positions;
pub mod rates;
mod routines;
mod rows;
pub mod security_detail;
pub mod status;
pub mod trade_cleanup;
pub mod trade_lookup;
pub mod trade_order;
pub mod trade_result;
pub mod trade_status;
pub mod trade_update;
pub mod trades;

pub use context::{Context, Retry, SendToMarket, TradeIds};
pub use error::{FrameError, TxnError};
pub use kind::Transaction;
pub use perform::{Output, Request, TransactionResult, perform};
pub use status::Status;
