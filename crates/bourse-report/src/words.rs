//! Text from outside made fit for where it is shown: for documents of other crates that look like ours.

pub use crate::text::{code, escaped, markdown_row};
pub use crate::units::command_line;
