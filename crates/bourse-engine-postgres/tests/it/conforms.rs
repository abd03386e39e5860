use crate::server;
use bourse_testkit::conformance;

#[test]
fn with_a_pipeline() {
    if let Some(engine) = server("conforms::with_a_pipeline", "lock_timeout=1s&pipeline=on") {
        conformance(&engine);
    }
}

#[test]
fn postgres() {
    // Sessions of one thread wait for each other in vain, so patience is short.
    if let Some(engine) = server("conforms::postgres", "lock_timeout=1s") {
        conformance(&engine);
    }
}
