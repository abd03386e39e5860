use bourse_engine_mysql::{FlushLog, FlushMethod, OPTIONS, Options, Place, Scope, Target, TargetError};
use std::time::Duration;

#[track_caller]
fn refused(target: &str, expected: &str) {
    let message = Target::parse(target).expect_err(target).to_string();
    assert!(message.contains(expected), "{target}: {message}");
}

#[track_caller]
fn check(target: &str, place: Place, options: Options) {
    let target = Target::parse(target).unwrap();
    assert_eq!((target.place, target.options), (place, options), "{}", target.text);
}

fn running(host: &str, port: u16, user: &str, database: &str) -> Place {
    Place::Running { host: host.to_owned(), port, user: user.to_owned(), database: database.to_owned() }
}

#[test]
fn a_target_is_a_server_and_its_settings() {
    check("mysql://ann@db.example:3307/tpce", running("db.example", 3_307, "ann", "tpce"), Options::DEFAULT);
    check("mariadb://localhost/x", running("localhost", 3_306, "root", "x"), Options::DEFAULT);
    check("mariadb://ann%40home@[::1]:3310/x", running("::1", 3_310, "ann@home", "x"), Options::DEFAULT);
    check(
        "mysql://ann@/x?socket=/run/s.sock&lock_timeout=2s&foreign_keys=off",
        running("127.0.0.1", 3_306, "ann", "x"),
        Options {
            socket: Some("/run/s.sock".into()),
            lock_timeout: Duration::from_secs(2),
            foreign_keys: false,
            ..Options::DEFAULT
        },
    );
    check(
        "mariadb+private:?ram=on&flush_log=2&innodb_buffer_pool=2GiB&log_file=64MiB",
        Place::Private { directory: None },
        Options {
            ram: true,
            flush_log: FlushLog::WrittenAtCommit,
            buffer_pool_bytes: 2 << 30,
            log_file_bytes: 64 << 20,
            ..Options::DEFAULT
        },
    );
    check(
        "mysql+private:/big%20disk?server=/opt/mysqld&flush_method=fsync",
        Place::Private { directory: Some("/big disk".into()) },
        Options { server: Some("/opt/mysqld".into()), flush_method: Some(FlushMethod::Fsync), ..Options::DEFAULT },
    );
}

#[test]
fn every_setting_is_read_as_it_is_shown() {
    for option in OPTIONS {
        let shown = option.shown(&Options::DEFAULT);
        let start = if option.scope == Scope::Private { "mariadb+private:" } else { "mariadb://u@h/d" };
        if !shown.is_empty() {
            let target = Target::parse(&format!("{start}?{}={shown}", option.name)).unwrap();
            assert_eq!(target.options, Options::DEFAULT, "{}", option.name);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_is_known() {
    refused("postgres://u@h/d", "not a MariaDB or MySQL target");
    refused("mysql:x", "no `//`");
    refused("mysql://u@h", "names no database");
    refused("mysql://u@h/", "names no database");
    refused("mysql://u@h:x/d", "a port that is no number");
    refused("mysql://u@h/a`b", "one of");
    refused("mariadb+private:?buffer_pool=1GiB", "did you mean `innodb_buffer_pool`?");
    refused("mariadb+private:?colour=red", "known options:\n  lock_timeout (a time");
    refused("mariadb+private:?flush_log=3", "`3` is no value of option `flush_log`: wanted 0, 1, 2");
    refused("mariadb+private:?innodb_buffer_pool=1KiB", "(out of range)");
    refused("mariadb+private:?lock_timeout=500ms", "whole seconds");
    refused("mariadb+private:?ram=on&ram=off", "given twice");
    refused("mariadb+private:?ram", "`key=value`");
    refused("mariadb+private:/disk?ram=on", "either in memory or in that folder");
    refused("mariadb+private:?socket=/s", "we start it");
    refused("mysql://u@h/d?flush_log=2", "the server's own configuration");
    refused("mariadb+private:/a%zz", "`%25`");
}

#[test]
fn a_password_in_a_target_is_refused_and_not_repeated() {
    for target in ["mysql://ann:secret@h/d", "mysql://ann:se@cret@h/d", "mysql://ann@h/d?password=secret"] {
        let refused = Target::parse(target).unwrap_err();
        assert_eq!(refused, TargetError::Password, "{target}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}
