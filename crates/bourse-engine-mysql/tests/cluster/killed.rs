//! A node is killed and joins again in the middle of a run: nothing that was acknowledged is lost.

use crate::long_cluster;
use bourse_driver::{Clock as _, RealClock, RoundPlan, SECOND};
use bourse_egen::Inputs;
use bourse_engine::{Engine as _, RowExt as _, Session};
use bourse_engine_mysql::cluster::{ClusterEngine, ClusterProduct};
use bourse_record::{CheckStatus, Outcome};
use bourse_tpce::check::reconciliation::RESULTS;
use bourse_tpce::testkit::load_small;
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{RunOptions, run, verify};
use std::sync::atomic::AtomicBool;

#[test]
fn galera() {
    nothing_acknowledged_is_lost("killed::galera", ClusterProduct::Galera);
}

#[test]
fn group() {
    nothing_acknowledged_is_lost("killed::group", ClusterProduct::Group);
}

fn nothing_acknowledged_is_lost(test: &str, product: ClusterProduct) {
    let Some(engine) = long_cluster(test, product, "flush_log=2&lock_timeout=5s") else { return };
    let inputs = Inputs::builtin();
    let part = load_small(&engine, &inputs);
    let plan = RoundPlan { warm_up_ns: SECOND, measure_ns: 24 * SECOND, ..RoundPlan::default() };
    // More users than nodes, so that each node has some.
    let options = RunOptions { users: 5, market_users: 3, plan, ..RunOptions::new(part) };
    let clock = RealClock::start();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            clock.sleep_until(clock.now() + 5 * SECOND);
            engine.kill_node(1).unwrap();
            clock.sleep_until(clock.now() + 4 * SECOND);
            engine.restart_node(1).unwrap();
        });
        run(&engine, &inputs, &options, &clock, &AtomicBool::new(false), &mut |_| {}).unwrap()
    });
    assert!(ran.fault.is_none(), "{:?}", ran.fault);
    assert!(engine.node_process(1).is_some(), "the node is there again");

    // Transactions of that node were repeated at others; a commit that was under way is in doubt.
    let lost = ran.round.conflicts.iter().find(|kind| kind.name == "node lost").map_or(0, |kind| kind.count);
    let operations = ran.round.operations.iter();
    let failed: u64 =
        operations.flat_map(|it| &it.outcomes).filter(|it| it.outcome == Outcome::Failed).map(|it| it.count).sum();
    let in_doubt: u64 = Transaction::ALL.iter().map(|kind| ran.counted.ledger.entry(*kind as usize).in_doubt).sum();
    // If all its sessions were just beginning a transaction, none noticed the loss.
    let is_noticed = engine.counters().unwrap().is_empty();
    assert!(lost + in_doubt > 0 || is_noticed, "the node had sessions: {:?}", ran.round.conflicts);
    let outcomes =
        ran.round.operations.iter().flat_map(|it| it.outcomes.iter().map(move |outcome| (&it.name, outcome)));
    let failures: Vec<_> = outcomes.filter(|(_, it)| it.outcome == Outcome::Failed).collect();
    assert!(failed <= in_doubt, "{failed} failed, {in_doubt} in doubt: {failures:?}");
    assert!(ran.acknowledged.sure(RESULTS) > 50, "{:?}", ran.acknowledged);

    let mut checks = ran.round.checks.clone();
    checks.extend(verify(&engine, part, Some(&ran), &clock, &mut |_| {}).unwrap());
    let bad: Vec<_> = checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let contents = [0, 1, 2].map(|node| checksums(&engine, node));
    assert_eq!(contents[0].len(), 33);
    assert_eq!(contents[0], contents[1], "n1 and n2");
    assert_eq!(contents[0], contents[2], "n1 and n3");
}

/// The server's own checksum of each table, at a node.
fn checksums(engine: &ClusterEngine, node: usize) -> Vec<(String, i64)> {
    let mut session = engine.session_at(node).unwrap();
    let mut tables: Vec<String> = Vec::new();
    let named = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY 1";
    let each = |session: &mut dyn Session, sql: &str, row: &mut bourse_engine::EachRow<'_>| {
        session.query_text(sql, &[], row).unwrap();
    };
    each(&mut *session, named, &mut |row| {
        tables.push(row.get(0)?);
        Ok(())
    });
    let tables: Vec<String> = tables.into_iter().filter(|table| !table.contains("bourse")).collect();
    let mut sums = Vec::new();
    let quoted: Vec<String> = tables.iter().map(|table| format!("`{table}`")).collect();
    each(&mut *session, &format!("CHECKSUM TABLE {}", quoted.join(", ")), &mut |row| {
        sums.push((row.get::<String>(0)?, row.get::<i64>(1)?));
        Ok(())
    });
    sums
}
