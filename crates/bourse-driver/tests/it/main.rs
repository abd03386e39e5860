//! The driver's promises, on engines that stall, fail and vanish on purpose.

mod latency;
mod reconcile;
mod rounds;
mod users;
