//! MariaDB Galera and MySQL Group Replication through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod causal;
mod cluster;
mod conflicts;
mod group;
mod killed;
mod snapshot;
mod targets;
mod tpce;

use bourse_engine_mysql::cluster::{ClusterEngine, ClusterProduct, installed, open};

/// Private cluster small enough for tests; `None` if it is unavailable, with the test's name printed.
fn cluster(test: &str, product: ClusterProduct, query: &str) -> Option<ClusterEngine> {
    let scheme = scheme(product);
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let engine = open(&format!("{scheme}:?{memory}innodb_buffer_pool=64MiB&log_file=64MiB&{query}")).unwrap();
    match installed(product, &engine.target().options) {
        Ok(_) => Some(engine),
        Err(why) => {
            bourse_testkit::skipped(test, why);
            None
        }
    }
}

/// Scheme of private clusters.
fn scheme(product: ClusterProduct) -> &'static str {
    match product {
        ClusterProduct::Galera => "mariadb+galera",
        ClusterProduct::Group => "mysql+group",
    }
}

/// Private cluster for a test that takes half a minute, skipped unless `BOURSE_LONG_TESTS` is set.
fn long_cluster(test: &str, product: ClusterProduct, query: &str) -> Option<ClusterEngine> {
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        bourse_testkit::skipped(test, "`cargo xtask full` runs it");
        return None;
    }
    cluster(test, product, query)
}
