//! The customers' requests, every field and both random states after each, against five streams of the reference.

use bourse_egen::TradeStatusId;
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database, Partition};
use bourse_egen::txn::{CustomerRequest, TradeLookup, TradeUpdate};
use serde_json::{Value, json};

use crate::driver::number;
use crate::golden::{int, records, state};
use crate::inputs::official;

/// Request in the form of the golden files.
fn recorded(request: &CustomerRequest) -> (&'static str, Value) {
    let time = |time: Option<bourse_schema::Timestamp>| time.map(|time| time.to_string());
    let day = |date: bourse_schema::Date| format!("{date} 00:00:00.000");
    let ids = |trades: &[bourse_schema::TradeId]| trades.iter().map(|id| id.0).collect::<Vec<_>>();
    match request {
        CustomerRequest::BrokerVolume(input) => {
            let brokers: Vec<_> = input.broker_list.iter().map(|name| name.as_str()).collect();
            let input = json!({ "broker_list": brokers, "sector_name": input.sector_name.as_str() });
            ("BROKER_VOLUME", input)
        }
        CustomerRequest::CustomerPosition(input) => {
            let input = json!({
                "acct_id_idx": input.acct_id_idx,
                "cust_id": input.cust_id.0,
                "get_history": input.get_history,
                "tax_id": input.tax_id.as_str(),
            });
            ("CUSTOMER_POSITION", input)
        }
        CustomerRequest::MarketWatch(input) => {
            let input = json!({
                "acct_id": input.acct_id.0,
                "c_id": input.c_id.0,
                "starting_co_id": input.starting_co_id.0,
                "ending_co_id": input.ending_co_id.0,
                "start_day": day(input.start_day),
                "industry_name": input.industry_name.as_str(),
            });
            ("MARKET_WATCH", input)
        }
        CustomerRequest::SecurityDetail(input) => {
            let input = json!({
                "max_rows_to_return": input.max_rows_to_return,
                "access_lob_flag": input.access_lob_flag,
                "start_day": day(input.start_day),
                "symbol": input.symbol.as_str(),
            });
            ("SECURITY_DETAIL", input)
        }
        CustomerRequest::TradeLookup(input) => {
            let TradeLookup { frame_to_execute, trade_id, acct_id, max_acct_id, max_trades, .. } = input;
            let input = json!({
                "frame_to_execute": frame_to_execute,
                "trade_id": ids(trade_id),
                "acct_id": acct_id.0,
                "max_acct_id": max_acct_id.0,
                "max_trades": max_trades,
                "start_trade_dts": time(input.start_trade_dts),
                "end_trade_dts": time(input.end_trade_dts),
                "symbol": input.symbol.as_str(),
            });
            ("TRADE_LOOKUP", input)
        }
        CustomerRequest::TradeOrder(input) => {
            let input = json!({
                "requested_price": number(input.requested_price),
                "acct_id": input.acct_id.0,
                "is_lifo": i32::from(input.is_lifo),
                "roll_it_back": i32::from(input.roll_it_back),
                "trade_qty": input.trade_qty,
                "type_is_margin": i32::from(input.type_is_margin),
                "co_name": input.co_name.as_str(),
                "exec_f_name": input.exec_f_name.as_str(),
                "exec_l_name": input.exec_l_name.as_str(),
                "exec_tax_id": input.exec_tax_id.as_str(),
                "issue": input.issue.as_str(),
                "st_pending_id": TradeStatusId::Pending.id().as_str(),
                "st_submitted_id": TradeStatusId::Submitted.id().as_str(),
                "symbol": input.symbol.as_str(),
                "trade_type_id": input.trade_type.id(),
                "trade_type_enum": input.trade_type as i32,
                "executor_is_account_owner": input.executor_is_account_owner,
            });
            ("TRADE_ORDER", input)
        }
        CustomerRequest::TradeStatus(input) => ("TRADE_STATUS", json!({ "acct_id": input.acct_id.0 })),
        CustomerRequest::TradeUpdate(input) => {
            let TradeUpdate { frame_to_execute, trade_id, acct_id, max_acct_id, max_trades, max_updates, .. } = input;
            let input = json!({
                "frame_to_execute": frame_to_execute,
                "trade_id": ids(trade_id),
                "acct_id": acct_id.0,
                "max_acct_id": max_acct_id.0,
                "max_trades": max_trades,
                "max_updates": max_updates,
                "start_trade_dts": time(input.start_trade_dts),
                "end_trade_dts": time(input.end_trade_dts),
                "symbol": input.symbol.as_str(),
            });
            ("TRADE_UPDATE", input)
        }
    }
}

fn check(stream: &str, config: &CustomerConfig, [mix_seed, input_seed]: [u64; 2], expected: usize) {
    let test = format!("customers {stream}");
    let Some(records) = records(&test, &format!("driver/ce-{stream}.jsonl")) else { return };
    let Some(inputs) = official(&test) else { return };
    let mut customers = CustomerEmulator::new(&inputs, config, mix_seed, input_seed).expect("a valid configuration");
    assert_eq!(records.len(), expected);
    for record in records {
        let n = int(&record["n"]);
        let (txn, input) = recorded(&customers.next());
        assert_eq!(txn, record["txn"], "transaction {n}");
        assert_eq!(input, record["input"], "{txn}, transaction {n}");
        assert_eq!(customers.mix_rng_state(), state(&record["mix_seed_after"]), "mix after transaction {n}");
        assert_eq!(customers.input_rng_state(), state(&record["input_seed_after"]), "{txn}, transaction {n}");
    }
}

#[test]
fn customers_of_one_day() {
    let config = CustomerConfig::of(Database::of(5_000, 500, 1));
    check("c5000-a5000-f500-itd1", &config, [1_000_001, 2_000_002], 2_000);
}

#[test]
fn customers_of_three_hundred_days() {
    let config = CustomerConfig::of(Database::of(5_000, 500, 300));
    check("c5000-a5000-f500-itd300", &config, [123_456_789, 987_654_321], 2_000);
}

#[test]
fn customers_with_ten_brokers() {
    let config = CustomerConfig::of(Database::of(1_000, 500, 1));
    check("c1000-a1000-f500-itd1", &config, [77, 78], 500);
}

#[test]
fn customers_with_more_than_five_thousand_companies() {
    let config = CustomerConfig::of(Database::of(12_000, 500, 300));
    check("c12000-a12000-f500-itd300", &config, [31_415_926_535, 27_182_818_284], 500);
}

#[test]
fn customers_with_a_partition() {
    let database = Database { configured_customers: 10_000, ..Database::default() };
    let partition = Some(Partition { first: 1_001, count: 2_000, percent: 50 });
    let config = CustomerConfig { partition, ..CustomerConfig::of(database) };
    check("c10000-a5000-f500-itd300-partition", &config, [4_242_424_242, 2_424_242_424], 500);
}
