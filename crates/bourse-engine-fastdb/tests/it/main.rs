//! FastDB through the seam. Tests that need the library run when `BOURSE_FASTDB` names it, and say so otherwise.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod targets;
