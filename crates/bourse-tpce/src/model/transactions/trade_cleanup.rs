//! Trade-Cleanup (Clause 3.3.12).

use super::status;
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_cleanup::TradeCleanupOutput;
use bourse_egen::txn::TradeCleanup;
use bourse_schema::{Timestamp, TradeId};

impl Market {
    pub(crate) fn trade_cleanup(&mut self, input: &TradeCleanup, now: Timestamp) -> TradeCleanupOutput {
        let pending: Vec<TradeId> = self.tables.trade_request.all().map(|row| row.tr_t_id).collect();
        for &id in &pending {
            self.add_history(id, now, status("SBMT"));
            self.move_trade(id, now, status("CNCL"));
            self.add_history(id, now, status("CNCL"));
            self.tables.trade_request.remove(&(id,));
        }
        let from_start = self.tables.trade.range((input.start_trade_id,)..);
        let submitted: Vec<TradeId> = from_start.filter(|row| row.t_st_id == "SBMT").map(|row| row.t_id).collect();
        for &id in &submitted {
            self.move_trade(id, now, status("CNCL"));
            self.add_history(id, now, status("CNCL"));
        }
        TradeCleanupOutput {
            status: Status::SUCCESS,
            pending_canceled: pending.len() as u64,
            submitted_canceled: submitted.len() as u64,
        }
    }
}
