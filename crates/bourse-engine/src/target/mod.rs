//! Targets: `SCHEME:PLACE?option=value&…`, read and checked before anything is opened.
//!
//! An engine declares its options once, as a table of [`OptionSpec`]s in a [`Grammar`]; those of the common kinds by
//! [`option_spec!`](crate::option_spec). Parsing, help, documents and the list that an error shows all read this table.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

mod error;
mod grammar;
mod kinds;
mod percent;
mod server;
mod values;

pub use error::{ExpectedValue, TargetError};
pub use grammar::{Grammar, OptionHelp, OptionSpec, ParsedTarget, Scheme, SplitTarget};
pub use percent::{escape, unescape};
pub use server::{NamedParts, ServerForms, ServerPlace};
pub use values::{
    parse_bytes, parse_number, parse_path, parse_seconds, parse_switch, parse_time, show_bytes, show_path,
    show_seconds, show_switch, show_time,
};
