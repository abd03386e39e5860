//! Automatic seeds at five times of day for five emulators.

use bourse_egen::driver::Seeds;

use crate::driver::timestamp;
use crate::golden::{int, records, state, text};

#[test]
fn automatic_seeds() {
    let Some(records) = records("automatic_seeds", "driver/auto-seeds.jsonl") else { return };
    assert_eq!(records.len(), 25);
    for record in records {
        let unique_id = u32::try_from(int(&record["unique_id"])).expect("32 bits");
        let Seeds { first, second } = Seeds::automatic(timestamp(text(&record["local_time"])), unique_id);
        for (key, seed) in [
            ("ce_txn_mix_seed", first),
            ("ce_txn_input_seed", second),
            ("mee_ticker_tape_seed", first),
            ("mee_trading_floor_seed", second),
            ("dm_seed", first),
        ] {
            assert_eq!(seed, state(&record[key]), "{key} of {record}");
        }
    }
}
