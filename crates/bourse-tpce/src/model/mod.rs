//! TPC-E's twelve transactions on plain collections.
//!
//! The oracle of verification. Written from the specification and not from the SQL of
//! [`transactions`](crate::transactions), of which only the output types are shared: if the two differ, one of them is
//! wrong, and the specification decides which. The code is as plain as possible; its speed is irrelevant.
//!
//! | module | contents |
//! |---|---|
//! | `store` | the rows of a table by key, and which of them have been changed |
//! | `tables` | all 33 tables |
//! | `market` | the tables, with the indexes that the transactions search |
//! | `transactions` | the twelve transactions |
//! | [`Model`] | the whole as a subject of verification |

mod arithmetic;
mod market;
mod store;
mod subject;
mod tables;
mod transactions;

pub use subject::Model;
