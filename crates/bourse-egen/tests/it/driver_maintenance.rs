//! Trade-Cleanup and a hundred turns of Data-Maintenance against two streams of the reference.

use bourse_egen::TradeStatusId;
use bourse_egen::driver::{Database, MaintenanceEmulator};
use serde_json::json;

use crate::golden::{int, records, state};
use crate::inputs::official;

fn check(stream: &str, database: Database, seed: u64) {
    let test = format!("maintenance {stream}");
    let Some(records) = records(&test, &format!("driver/dm-{stream}.jsonl")) else { return };
    let Some(inputs) = official(&test) else { return };
    let mut maintenance = MaintenanceEmulator::new(&inputs, database, seed).expect("a valid database");
    let (cleanup, turns) = records.split_first().expect("Trade-Cleanup comes first");
    let expected = json!({
        "start_trade_id": maintenance.trade_cleanup().start_trade_id.0,
        "st_canceled_id": TradeStatusId::Canceled.id().as_str(),
        "st_pending_id": TradeStatusId::Pending.id().as_str(),
        "st_submitted_id": TradeStatusId::Submitted.id().as_str(),
    });
    assert_eq!(cleanup["input"], expected);
    assert_eq!(turns.len(), 100);
    for record in turns {
        let n = int(&record["n"]);
        let input = maintenance.next();
        let input = json!({
            "acct_id": input.acct_id.0,
            "c_id": input.c_id.0,
            "co_id": input.co_id.0,
            "day_of_month": input.day_of_month,
            "vol_incr": input.vol_incr,
            "symbol": input.symbol.as_str(),
            "table_name": input.table_name,
            "tx_id": input.tx_id.as_str(),
        });
        assert_eq!(input, record["input"], "turn {n}");
        assert_eq!(maintenance.rng_state(), state(&record["seed_after"]), "turn {n}");
    }
}

#[test]
fn maintenance_of_one_day() {
    check("c5000-f500-itd1", Database::of(5_000, 500, 1), 44_444);
}

#[test]
fn maintenance_of_three_hundred_days() {
    check("c5000-f500-itd300", Database::of(5_000, 500, 300), 33_333);
}
