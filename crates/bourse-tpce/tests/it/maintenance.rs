//! Data-Maintenance: each of its twelve corrections, made twice.

use crate::world::{CUSTOMER, MORNING, UNTAXED, World};
use bourse_egen::txn::DataMaintenance;
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Text};
use bourse_tpce::transactions::Output;

const COMPANY: CompanyId = CompanyId(4_300_000_001);

fn ask(table_name: &'static str) -> DataMaintenance {
    DataMaintenance {
        table_name,
        acct_id: AccountId(0),
        c_id: CustomerId(0),
        co_id: CompanyId(0),
        day_of_month: 0,
        vol_incr: 0,
        symbol: Text::EMPTY,
        tx_id: Text::EMPTY,
    }
}

/// Makes a correction twice and compares a query's results before, between and after, and the number of changed rows.
#[track_caller]
fn check(request: DataMaintenance, changed: u64, query: &str, expected: [&str; 3]) {
    let mut world = World::new();
    assert_eq!(world.rows(query), [expected[0]], "before");
    for after in &expected[1..] {
        let Output::DataMaintenance(output) = world.run(request.clone()) else { unreachable!() };
        assert_eq!((output.status.code(), output.changed), (0, changed));
        assert_eq!(world.rows(query), [*after]);
    }
    world.assert_consistent();
}

#[test]
fn account_permission() {
    let acls = "SELECT group_concat(ap_acl) FROM (SELECT ap_acl FROM account_permission ORDER BY ap_tax_id)";
    let request = DataMaintenance { acct_id: UNTAXED, ..ask("ACCOUNT_PERMISSION") };
    check(request, 1, acls, ["0000,0011", "0000,1111", "0000,0011"]);
}

#[test]
fn address() {
    let line2 = |id: i64| format!("SELECT ad_line2 FROM address WHERE ad_id = {id}");
    let customer = DataMaintenance { c_id: CUSTOMER, ..ask("ADDRESS") };
    check(customer, 1, &line2(3), ["", "Apt. 10C", "Apt. 22"]);
    let company = DataMaintenance { co_id: COMPANY, ..ask("ADDRESS") };
    check(company, 1, &line2(2), ["", "Apt. 10C", "Apt. 22"]);
}

#[test]
fn company() {
    let request = DataMaintenance { co_id: COMPANY, ..ask("COMPANY") };
    check(request, 1, "SELECT co_sp_rate FROM company WHERE co_id = 4300000001", ["AA", "ABA", "AAA"]);
}

#[test]
fn customer() {
    let request = DataMaintenance { c_id: CUSTOMER, ..ask("CUSTOMER") };
    let expected = ["ada@mindspring.com", "ada@earthlink.com", "ada@mindspring.com"];
    check(request, 1, "SELECT c_email_2 FROM customer WHERE c_id = 4300000001", expected);
}

#[test]
fn customer_taxrate() {
    let mut world = World::new();
    world.change("INSERT INTO taxrate SELECT 'US2', tx_name, tx_rate FROM taxrate WHERE tx_id = 'US1'");
    let taxes = "SELECT cx_tx_id FROM customer_taxrate WHERE cx_c_id = 4300000001 ORDER BY cx_tx_id";
    for expected in ["US1", "US2"] {
        world.run(DataMaintenance { c_id: CUSTOMER, ..ask("CUSTOMER_TAXRATE") });
        assert_eq!(world.rows(taxes), ["DV1", expected]);
    }
}

#[test]
fn daily_market() {
    // The 5th of each month: one of the 25 days.
    let request = DataMaintenance { symbol: Text::cut("ACME"), day_of_month: 5, vol_incr: -3, ..ask("DAILY_MARKET") };
    let volumes = "SELECT sum(dm_vol) FROM daily_market WHERE dm_s_symb = 'ACME'";
    check(request.clone(), 1, volumes, ["25300", "25297", "25294"]);
    let day = Date::from_ymd(2000, 1, 5).days();
    check(
        request,
        1,
        &format!("SELECT dm_vol FROM daily_market WHERE dm_s_symb = 'ACME' AND dm_date = {day}"),
        ["1002", "999", "996"],
    );
}

#[test]
fn exchange() {
    assert_eq!(MORNING.to_string(), "2026-01-05 10:00:00.000");
    let expected = ["Old", "Old LAST UPDATED 2026-01-05 10:00:01", "Old LAST UPDATED 2026-01-05 10:00:02"];
    check(ask("EXCHANGE"), 1, "SELECT ex_desc FROM exchange", expected);
}

#[test]
fn financial() {
    let request = DataMaintenance { co_id: COMPANY, ..ask("FINANCIAL") };
    let starts = "SELECT count(*) FROM financial WHERE strftime('%d', fi_qtr_start_date * 86400, 'unixepoch') = '02'";
    let mut world = World::new();
    for expected in ["20", "0", "20"] {
        let Output::DataMaintenance(output) = world.run(request.clone()) else { unreachable!() };
        assert_eq!(output.changed, 20);
        assert_eq!(world.rows(starts), [expected]);
    }
}

#[test]
fn news_item() {
    let start = Date::from_ymd(2000, 1, 3).days();
    let [before, between, after] = [0, 1, 2].map(|days| {
        let ms = i64::from(start + days) * 86_400_000 + 1_000;
        format!("{ms} {ms}")
    });
    let request = DataMaintenance { co_id: COMPANY, ..ask("NEWS_ITEM") };
    check(request, 2, "SELECT min(ni_dts), max(ni_dts) FROM news_item", [&before, &between, &after]);
}

#[test]
fn security() {
    let start = Date::from_ymd(2000, 1, 3).days();
    let [before, between, after] = [0, 1, 2].map(|days| (start + days).to_string());
    let request = DataMaintenance { symbol: Text::cut("BOLT"), ..ask("SECURITY") };
    let query = "SELECT s_exch_date FROM security WHERE s_symb = 'BOLT'";
    check(request, 1, query, [&before, &between, &after]);
}

#[test]
fn taxrate() {
    let request = DataMaintenance { tx_id: Text::cut("DV1"), ..ask("TAXRATE") };
    let expected = ["Division Tax of Div", "Division tax of Div", "Division Tax of Div"];
    check(request, 1, "SELECT tx_name FROM taxrate WHERE tx_id = 'DV1'", expected);
}

#[test]
fn watch_item() {
    // Two items: the first is in the middle. ACME gives way to BOLT, the next that is not on the list.
    let request = DataMaintenance { c_id: CUSTOMER, ..ask("WATCH_ITEM") };
    let items = "SELECT group_concat(wi_s_symb) FROM watch_item WHERE wi_wl_id = 1";
    let mut world = World::new();
    assert_eq!(world.rows(items), ["ACME,CORE"]);
    world.run(request.clone());
    assert_eq!(world.rows(items), ["BOLT,CORE"]);
    // Behind BOLT there is only CORE, which is on the list.
    let Output::DataMaintenance(output) = world.run(request) else { unreachable!() };
    assert_eq!(output.changed, 0);
    assert_eq!(world.rows(items), ["BOLT,CORE"]);
}
