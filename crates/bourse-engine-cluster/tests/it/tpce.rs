//! TPC-E on a private cluster: sessions at all nodes in turn, and the same transactions compared with other engines.

use crate::long_cluster;
use bourse_engine_cluster::Product;
use bourse_tpce_testkit::{Run, run_and_check, transactions_are_alike};

fn runs_over_all_nodes_and_reconciles(test: &str, product: Product) {
    if let Some(engine) = long_cluster(test, product, "lock_timeout=5s") {
        run_and_check(&engine, Run { requests: 600, results: 20, sessions: 3 }, |_| {});
        transactions_are_alike(&engine, 400);
    }
}

#[test]
fn galera() {
    runs_over_all_nodes_and_reconciles("tpce::galera", Product::Galera);
}

#[test]
fn group() {
    runs_over_all_nodes_and_reconciles("tpce::group", Product::Group);
}
