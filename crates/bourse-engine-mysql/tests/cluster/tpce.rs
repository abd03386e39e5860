//! TPC-E on a private cluster: sessions at all nodes in turn, and the same transactions compared with other engines.

use crate::long_cluster;
use bourse_engine::{Engine as _, RowExt as _};
use bourse_engine_mysql::cluster::ClusterProduct;
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

fn runs_over_all_nodes_and_reconciles(test: &str, product: ClusterProduct) {
    if let Some(engine) = long_cluster(test, product, "lock_timeout=5s") {
        run_and_check(&engine, RunSize { transactions: 720, results: 20, sessions: 3 }, |_| {});
        transactions_are_alike(&engine, 400);
    }
}

#[test]
fn galera() {
    runs_over_all_nodes_and_reconciles("tpce::galera", ClusterProduct::Galera);
}

#[test]
fn group() {
    runs_over_all_nodes_and_reconciles("tpce::group", ClusterProduct::Group);
}

#[test]
fn transactions_by_routines_are_alike_over_all_nodes() {
    let name = "tpce::transactions_by_routines_are_alike_over_all_nodes";
    if let Some(engine) = long_cluster(name, ClusterProduct::Galera, "lock_timeout=5s&procedures=on") {
        run_and_check(&engine, RunSize { transactions: 360, results: 10, sessions: 3 }, |session| {
            // The first transaction installs them.
            assert!(!session.has_routines());
        });
        transactions_are_alike(&engine, 400);
        let mut session = engine.session().unwrap();
        let mut kept = 0;
        let found = "SELECT count(*) FROM information_schema.routines WHERE routine_name LIKE 'bourse%'";
        session.query_text(found, &[], &mut |row| row.get(0).map(|count: i64| kept = count)).unwrap();
        assert_eq!(kept, 18);
    }
}
