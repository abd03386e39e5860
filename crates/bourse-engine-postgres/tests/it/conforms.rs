use crate::server;
use bourse_testkit::server::refuses_to_commit_what_has_ended;
use bourse_testkit::{conformance, records_conformance, routines_conformance};

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

#[test]
fn records() {
    for pipeline in ["off", "on"] {
        if let Some(engine) = server("conforms::records", &format!("lock_timeout=1s&pipeline={pipeline}")) {
            assert_eq!(records_conformance(&engine), ["keys can be hashed"], "pipeline={pipeline}");
        }
    }
}

#[test]
fn with_routines() {
    for pipeline in ["off", "on"] {
        let options = format!("lock_timeout=1s&procedures=on&pipeline={pipeline}");
        if let Some(engine) = server("conforms::with_routines", &options) {
            routines_conformance(
                &engine,
                "CREATE FUNCTION bourse_kit_taken(p_tier SMALLINT) RETURNS INT LANGUAGE sql AS 'SELECT 1'",
            );
        }
    }
}

/// A server answers such a commit as if it had made something durable.
#[test]
fn a_transaction_that_a_statement_has_ended_is_not_committed() {
    let test = "conforms::a_transaction_that_a_statement_has_ended_is_not_committed";
    for query in ["", "pipeline=on"] {
        let Some(engine) = server(test, query) else { return };
        refuses_to_commit_what_has_ended(&engine);
    }
}
