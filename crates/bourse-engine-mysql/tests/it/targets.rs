use bourse_engine::target::NamedParts;
use bourse_engine_mysql::{FlushLog, FlushMethod, GRAMMAR, MysqlOptions, MysqlTarget, ServerPlace};
use bourse_server::CommonServerOptions;
use std::time::Duration;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let message = MysqlTarget::parse(target).expect_err(target).to_string();
    assert!(message.contains(expected), "{target}: {message}");
}

#[track_caller]
fn check(target: &str, place: ServerPlace, options: MysqlOptions) {
    let mut target = MysqlTarget::parse(target).unwrap();
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
    check("mysql://ann@db.example:3307/tpce", running("db.example", 3_307, "ann", "tpce"), MysqlOptions::DEFAULT);
    check("mariadb://localhost/x", running("localhost", 3_306, "root", "x"), MysqlOptions::DEFAULT);
    check("mariadb://ann%40home@[::1]:3310/x", running("::1", 3_310, "ann@home", "x"), MysqlOptions::DEFAULT);
    check(
        "mysql://ann@/x?socket=/run/s.sock&lock_timeout=2s&foreign_keys=off",
        running("127.0.0.1", 3_306, "ann", "x"),
        MysqlOptions {
            socket: Some("/run/s.sock".into()),
            lock_timeout: Duration::from_secs(2),
            foreign_keys: false,
            ..MysqlOptions::DEFAULT
        },
    );
    check(
        "mariadb+private:?ram=on&flush_log=2&innodb_buffer_pool=2GiB&log_file=64MiB",
        ServerPlace::Private { directory: None },
        MysqlOptions {
            common: CommonServerOptions { ram: true, ..CommonServerOptions::DEFAULT },
            flush_log: FlushLog::WrittenAtCommit,
            buffer_pool_bytes: 2 << 30,
            log_file_bytes: 64 << 20,
            ..MysqlOptions::DEFAULT
        },
    );
    check(
        "mysql+private:/big%20disk?server=/opt/mysqld&flush_method=fsync",
        ServerPlace::Private { directory: Some("/big disk".into()) },
        MysqlOptions {
            server: Some("/opt/mysqld".into()),
            flush_method: Some(FlushMethod::Fsync),
            ..MysqlOptions::DEFAULT
        },
    );
}

#[test]
fn every_option_is_read_as_it_is_shown() {
    bourse_testkit::every_option_is_read_as_it_is_shown(
        &GRAMMAR,
        &MysqlOptions::DEFAULT,
        |scheme| if scheme.name.ends_with("+private") { ":" } else { "://u@h/d" },
        |text| MysqlTarget::parse(text).map(|target| target.options),
    );
}

#[test]
fn an_invalid_target_is_refused_with_what_was_expected() {
    refused("postgres://u@h/d", "invalid MariaDB and MySQL target 'postgres://u@h/d': expected mysql://USER@");
    refused("mysql://u@h/a`b", "one of the characters");
    refused("mariadb+private:?buffer_pool=1GiB", "did you mean 'innodb_buffer_pool'?");
    refused("mariadb+private:?colour=red", "known options:\n  lock_timeout (a time");
    refused("mariadb+private:?flush_log=3", "invalid value '3' for 'flush_log': expected 0, 1, 2");
    refused("mariadb+private:?innodb_buffer_pool=1KiB", "out of range; expected bytes");
    refused("mariadb+private:?lock_timeout=500ms", "whole seconds");
    refused("mariadb+private:?ram=on&ram=off", "given twice");
    refused("mariadb+private:?ram", "expected OPTION=VALUE");
    refused("mariadb+private:/disk?ram=on", "either in memory or in that folder");
    refused("mariadb+private:?socket=/s", "we start the server");
    refused("mysql://u@h/d?flush_log=2", "the server's own configuration");
    refused("mariadb+private:/a%zz", "'%25'");
    refused("mysql://ann@a,b/d?socket=/s", "socket");
    refused("mysql://ann@a,b:x/d", "not a number");
    refused("mysql://ann@h/d?ram&pwd=secret", "must not contain a password");
}
