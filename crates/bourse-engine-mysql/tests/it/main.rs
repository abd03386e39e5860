//! MariaDB and MySQL through the engine interface.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
#[cfg(unix)]
mod faulty;
mod foreign;
mod loads;
mod local;
mod private;
mod products;
mod targets;
#[cfg(all(unix, feature = "tls"))]
mod tls;
mod tpce;

use bourse_engine_mysql::{Flavour, MysqlEngine, installed, open};

/// A private MariaDB small enough for tests; `None`, with the test's name printed, if none is installed.
fn server(test: &str, query: &str) -> Option<MysqlEngine> {
    flavoured(test, Flavour::Mariadb, query)
}

fn flavoured(test: &str, flavour: Flavour, query: &str) -> Option<MysqlEngine> {
    let scheme = match flavour {
        Flavour::Mariadb => "mariadb+private",
        Flavour::Mysql => "mysql+private",
        Flavour::Tidb => "tidb+private",
        Flavour::Vitess => "vitess+private",
    };
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let small = match flavour {
        Flavour::Mariadb | Flavour::Mysql => "innodb_buffer_pool=64MiB&log_file=64MiB&",
        Flavour::Tidb | Flavour::Vitess => "",
    };
    let engine = open(&format!("{scheme}:?{memory}{small}{query}")).unwrap();
    match installed(flavour, engine.target().options.server.as_deref()) {
        Ok(_) => Some(engine),
        Err(why) => {
            bourse_testkit::skipped(test, why);
            None
        }
    }
}
