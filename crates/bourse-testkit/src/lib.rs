//! What tests of several crates share: the engines' conformance tests, and engines that misbehave on purpose.
//!
//! - [`conformance()`] runs everything the seam promises against one engine; each engine's tests call it.
//! - [`Stalling`], [`Failing`] and [`Dropping`] wrap any engine and spoil some of its statements.

pub mod conformance;
mod misbehave;

pub use conformance::conformance;
pub use misbehave::{Dropping, Failing, Fault, Stalling};
