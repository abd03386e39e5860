//! The twelve transactions (Clause 3.3), each according to the specification's text.

mod broker_volume;
mod customer_position;
mod data_maintenance;
mod market_feed;
mod market_watch;
mod security_detail;
mod trade_cleanup;
mod trade_lookup;
mod trade_order;
mod trade_result;
mod trade_status;
mod trade_update;

use bourse_schema::StatusId;

/// Status with that code.
fn status(code: &str) -> StatusId {
    StatusId::cut(code)
}
