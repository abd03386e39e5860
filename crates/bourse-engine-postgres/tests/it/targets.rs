use bourse_engine::target::NamedParts;
use bourse_engine_postgres::{
    GRAMMAR, PlanCache, PostgresOptions, PostgresTarget, ServerPlace, SynchronousCommit, WalSyncMethod,
};
use bourse_server::CommonServerOptions;
use std::time::Duration;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let message = PostgresTarget::parse(target).expect_err(target).to_string();
    assert!(message.contains(expected), "{target}: {message}");
}

#[track_caller]
fn check(target: &str, place: ServerPlace, options: PostgresOptions) {
    let mut target = PostgresTarget::parse(target).unwrap();
    assert_eq!(target.others, []);
    // What is named is the reading of servers' places, and tested there.
    if let ServerPlace::Running { named, .. } = &mut target.place {
        *named = NamedParts::default();
    }
    assert_eq!((target.place, target.options), (place, options), "{}", target.text);
}

fn running(host: &str, port: u16, user: &str, database: &str) -> ServerPlace {
    let [host, user, database] = [host, user, database].map(str::to_owned);
    ServerPlace::Running { host, port, user, database, named: NamedParts::default() }
}

#[test]
fn a_target_is_a_server_and_its_settings() {
    check("postgres://ann@db.example:5433/tpce", running("db.example", 5_433, "ann", "tpce"), PostgresOptions::DEFAULT);
    check("postgres://localhost/x", running("localhost", 5_432, "postgres", "x"), PostgresOptions::DEFAULT);
    check("postgres://ann%40home@[::1]:5440/x", running("::1", 5_440, "ann@home", "x"), PostgresOptions::DEFAULT);
    check(
        "postgres://ann@/x?socket=/run/postgresql&lock_timeout=2s&synchronous_commit=off&plan_cache=generic",
        running("127.0.0.1", 5_432, "ann", "x"),
        PostgresOptions {
            socket: Some("/run/postgresql".into()),
            lock_timeout: Duration::from_secs(2),
            synchronous_commit: Some(SynchronousCommit::Off),
            plan_cache: PlanCache::Generic,
            ..PostgresOptions::DEFAULT
        },
    );
    check(
        "postgres+private:?ram=on&fsync=off&shared_buffers=2GiB&max_wal_size=64MiB",
        ServerPlace::Private { directory: None },
        PostgresOptions {
            common: CommonServerOptions { ram: true, ..CommonServerOptions::DEFAULT },
            fsync: false,
            shared_buffers_bytes: 2 << 30,
            max_wal_bytes: 64 << 20,
            ..PostgresOptions::DEFAULT
        },
    );
    check(
        "postgres+private:/big%20disk?server=/opt/pg/bin/postgres&wal_sync_method=open_datasync",
        ServerPlace::Private { directory: Some("/big disk".into()) },
        PostgresOptions {
            server: Some("/opt/pg/bin/postgres".into()),
            wal_sync_method: Some(WalSyncMethod::OpenDatasync),
            ..PostgresOptions::DEFAULT
        },
    );
}

#[test]
fn every_option_is_read_as_it_is_shown() {
    bourse_testkit::every_option_is_read_as_it_is_shown(
        &GRAMMAR,
        &PostgresOptions::DEFAULT,
        |scheme| if scheme.name.ends_with("+private") { ":" } else { "://u@h/d" },
        |text| PostgresTarget::parse(text).map(|target| target.options),
    );
}

#[test]
fn an_invalid_target_is_refused_with_what_was_expected() {
    refused("mysql://u@h/d", "invalid PostgreSQL target 'mysql://u@h/d': expected postgres://USER@");
    refused("postgres://u@h/a'b", "one of the characters");
    refused("postgres+private:?shared_bufers=1GiB", "did you mean 'shared_buffers'?");
    refused("postgres+private:?colour=red", "known options:\n  lock_timeout (a time");
    refused("postgres+private:?synchronous_commit=maybe", "expected on, local, remote_write, remote_apply, off");
    refused("postgres+private:?shared_buffers=1KiB", "out of range; expected bytes");
    refused("postgres+private:?max_connections=5", "out of range; expected a number");
    refused("postgres+private:?lock_timeout=500ms", "whole seconds");
    refused("postgres+private:?ram=on&ram=off", "given twice");
    refused("postgres+private:/disk?ram=on", "either in memory or in that folder");
    refused("postgres+private:?socket=/s", "we start the server");
    refused("postgres://u@h/d?fsync=off", "the server's own configuration");
    refused("postgres+private:/a%zz", "'%25'");
    refused("postgres://ann@a,b/d?socket=/s", "socket");
    refused("postgres://ann@a,b:x/d", "not a number");
    refused("postgres://ann@h/d?ram&sslpassword=secret", "must not contain a password");
}
