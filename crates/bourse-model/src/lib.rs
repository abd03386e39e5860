//! TPC-E's twelve transactions on plain collections.
//!
//! Written from the specification and not from the SQL of `bourse-tpce`, whose output types alone it shares: where the two
//! differ one of them is wrong, and looking at the specification says which. It is as plain as it can be made; its speed
//! is of no account.
//!
//! | module | what |
//! |---|---|
//! | `store` | the rows of a table by key, and which of them have been changed |
//! | `tables` | all 33 |
//! | `market` | the tables with the orders that the transactions look things up in |
//! | `transactions` | the twelve |
//! | [`Model`] | it all as a subject of verification |

mod arithmetic;
mod market;
mod model;
mod store;
mod tables;
mod transactions;

pub use model::Model;
