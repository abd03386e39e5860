//! Properties that follow from an identifier alone, without a table: a person's name, a customer's number of accounts,
//! the securities in an account's basket.
//!
//! Each property has its own sequence of random numbers, entered at the identifier: "jump there, then draw". A few
//! depend on the input files too and are methods of [`Inputs`](crate::Inputs).

mod account;
mod address;
mod customer;
mod person;
mod security;

pub use account::{Basket, TaxStatus, basket_size, broker_of, permission_people, tax_status};
pub use address::address_of;
pub use customer::{CustomerPicker, accounts_of, scrambled_inverse, tier};
pub use person::{Gender, Person};

use crate::Rng;

/// Random sequence of a property, entered at a key: the next draw belongs to the key.
fn by_key(seed: u64, key: i64) -> Rng {
    Rng::at(seed, key as u64)
}
