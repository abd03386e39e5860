//! libSQL, SQLite's fork: a shared library of its C source, which `BOURSE_LIBSQL` names. No distribution has one.

use crate::tpce::RUN;
use crate::{file, library, target};
use bourse_engine_sqlite_lib::open;
use bourse_testkit::{conformance, records_conformance};
use bourse_tpce::testkit::{run_and_check, transactions_are_alike};
use std::path::{Path, PathBuf};

fn libsql(test: &str) -> Option<PathBuf> {
    library("BOURSE_LIBSQL", "liblibsql.so", test)
}

#[test]
fn libsql_conforms() {
    let Some(library) = libsql("libsql::libsql_conforms") else { return };
    for query in ["journal=wal&sync=normal", "journal=delete&sync=off", "writers=one&sync=off"] {
        conformance(&file(tempfile::tempdir().unwrap().path(), &library, query));
    }
    for query in ["", "memory=memdb", "memory=shared"] {
        conformance(&open(&target(Path::new(":memory:"), &library, query)).unwrap());
    }
    let engine = open(&target(Path::new(":memory:"), &library, "")).unwrap();
    assert_eq!(records_conformance(&engine), ["keys can be hashed"]);
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| Box::new(open(&target(path, &library, "")).unwrap()));
}

#[test]
fn the_workload_runs_on_libsql() {
    let Some(library) = libsql("libsql::the_workload_runs_on_libsql") else { return };
    let folder = tempfile::tempdir().unwrap();
    run_and_check(&file(folder.path(), &library, "journal=wal&sync=off"), RUN, |_| {});
}

#[test]
fn transactions_are_alike_on_libsql() {
    let Some(library) = libsql("libsql::transactions_are_alike_on_libsql") else { return };
    let folder = tempfile::tempdir().unwrap();
    transactions_are_alike(&file(folder.path(), &library, "journal=delete&sync=off"), 400);
}
