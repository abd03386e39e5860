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
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let target = format!("mysql+private:?{memory}innodb_buffer_pool=64MiB&log_file=64MiB&lock_timeout=1s");
    if let Some(engine) = flavoured("conforms::mysql", Flavour::Mysql, &target) {
        conformance(&engine);
    }
}
