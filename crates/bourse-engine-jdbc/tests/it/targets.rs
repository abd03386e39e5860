//! Targets that are refused, with their messages.

use crate::{folder, has};
use bourse_engine::{Engine as _, ErrorKind};
use bourse_engine_jdbc::open;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let told = open(target).expect_err(target).to_string();
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_wrong_target_is_refused_with_what_was_expected() {
    refused("jdbc+h2:", "expected jdbc+h2:PATH");
    refused("jdbc+h2:x?heap=1MiB", "invalid value '1MiB' for 'heap'");
    refused("jdbc+h2:x?heap=much", "invalid value 'much' for 'heap': expected bytes");
    refused("jdbc+h2:x?write_delay=1s", "invalid value '1s' for 'write_delay'");
    refused("jdbc+hsqldb:x?lock_timeout=1s", "'lock_timeout' cannot be used with HSQLDB");
    refused("jdbc+derby:x?write_delay=0ms", "syncs its log at each commit");
    refused("jdbc+h2:x;y", "cannot hold a semicolon");
    refused("jdbc+h2:x?jars=y", "did you mean 'jar'?");
}

/// Missing jars are reported before anything is made.
#[test]
fn what_is_missing_is_told() {
    let folder = folder();
    let path = folder.path().join("x");
    let engine = open(&format!("jdbc+h2:{}?jar=/no/such.jar", path.display())).unwrap();
    let told = engine.session().err().unwrap();
    assert_eq!(told.kind(), ErrorKind::Unsupported);
    assert!(told.message().contains("/no/such.jar") && told.message().contains("BOURSE_JDBC_H2_JAR"), "{told}");
    assert!(!path.exists());
}

/// The jar of another database, which lacks this one's driver, is reported.
#[test]
fn a_wrong_jar_is_told() {
    if !has("jdbc+h2", "targets::a_wrong_jar_is_told") {
        return;
    }
    let folder = folder();
    let jar = folder.path().join("notes.jar");
    std::fs::write(&jar, "dear diary").unwrap();
    let engine = open(&format!("jdbc+h2::memory:?jar={}", jar.display())).unwrap();
    let told = engine.session().err().unwrap();
    assert_eq!(told.kind(), ErrorKind::Unsupported);
    assert!(told.message().contains("the jars have no driver of H2 (java.lang.ClassNotFoundException"), "{told}");
}
