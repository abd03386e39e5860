use crate::{flavoured, server};
use bourse_engine_mysql::Flavour;
use bourse_testkit::conformance;

#[test]
fn mariadb() {
    // Sessions of one thread wait for each other in vain, so patience is short.
    if let Some(engine) = server("conforms::mariadb", "lock_timeout=1s") {
        conformance(&engine);
    }
}

#[test]
fn mysql() {
    if let Some(engine) = flavoured("conforms::mysql", Flavour::Mysql, "lock_timeout=1s") {
        conformance(&engine);
    }
}
