use crate::server;
use bourse_testkit::conformance;

#[test]
fn postgres() {
    // Sessions of one thread wait for each other in vain, so patience is short.
    if let Some(engine) = server("conforms::postgres", "lock_timeout=1s") {
        conformance(&engine);
    }
}
