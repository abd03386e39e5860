//! Messages of a build without the view, the Cargo feature `live`.

use super::follow::Follower;
use crate::failure::{Failure, Result};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// There is nothing to put back.
pub(crate) const fn restore() {}

/// Refuses the view.
pub(crate) fn check() -> Result<()> {
    Err(missing())
}

fn missing() -> Failure {
    Failure::usage("--live is not in this build")
        .hint("archives and wheels have it; from the sources it is the feature `live`: cargo build --release --features live")
        .hint("`bourse watch` in another terminal prints a line a second, and with --page serves a page; --metrics ADDR serves \
               the figures")
}

/// No view is shown: lines are printed instead.
pub(crate) const fn watched(_: &mut Follower, _: &AtomicBool) -> Option<io::Result<bool>> {
    None
}

/// The view of a run: there is none.
pub(crate) enum RunView {}

impl RunView {
    pub(crate) fn of_run(_: &Path) -> Result<Self> {
        Err(missing())
    }
}
