//! A user's databases on a server: no command changes any of them. A private server plays the user's.

use crate::{output, text};
use bourse_engine::{Engine as _, Session};
use bourse_engine_mysql::{Flavour, MysqlEngine, installed, open};
use bourse_testkit::ServerDump;
use std::path::Path;

/// A stand-in for a user's server; `None` if none is installed: then the test is reported as skipped.
fn server(test: &str, flavour: Flavour) -> Option<MysqlEngine> {
    if let Err(why) = installed(flavour, None) {
        bourse_testkit::skipped(test, why);
        return None;
    }
    let memory = if Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    Some(
        open(&format!("{}+private:?{memory}innodb_buffer_pool=64MiB&log_file=64MiB", flavour.name()))
            .expect("a target"),
    )
}

fn run(session: &mut dyn Session, statements: &[&str]) {
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Tables with rows, and every other kind of object of a database.
const DIARY: &[&str] = &[
    "CREATE DATABASE diary CHARACTER SET utf8mb4",
    "CREATE TABLE diary.days (day DATE PRIMARY KEY, words TEXT NOT NULL)",
    "CREATE TABLE diary.trade (t_id BIGINT PRIMARY KEY)",
    "INSERT INTO diary.days VALUES ('2026-01-01', 'dear diary'), ('2026-01-02', 'again')",
    "INSERT INTO diary.trade VALUES (1), (2)",
    "CREATE VIEW diary.first_day AS SELECT min(day) AS day FROM diary.days",
    "CREATE PROCEDURE diary.forget () DELETE FROM diary.days",
    "CREATE TRIGGER diary.twice BEFORE INSERT ON diary.trade FOR EACH ROW SET @mine = 1",
    "CREATE EVENT diary.yearly ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DO DELETE FROM diary.days",
    // Like the databases that loading into `fresh` and `other` uses.
    "CREATE DATABASE fresh_bourse_old",
    "CREATE TABLE fresh_bourse_old.days (day DATE PRIMARY KEY)",
    "CREATE DATABASE other_bourse_loading",
];

/// Every command that takes a database, with the target in place of `T`.
const COMMANDS: &[&str] = &[
    "tpce load T --days 1",
    "tpce load T --days 1 --reload",
    "tpce run T --days 1 --for 1s --warmup 0s",
    "tpce run T --days 1 --for 1s --warmup 0s --reload",
    "tpce run T --days 1 --for 1s --warmup 0s --rounds 2",
    "tpce check T",
    "tpce verify T sqlite::memory: --days 1 -n 5",
    "tpce acid T --repeats 1",
    "tpce serve T --days 1 --listen 127.0.0.1:0",
    "micro run point-read T --for 1s --rounds 1 --set rows=100",
    "micro run sql T --for 1s --rounds 1 -s file=example",
    "micro run client-mix T --for 1s --rounds 1",
    "compare T sqlite::memory: --days 1 --for 1s --warmup 0s --rounds 1",
    "crash T",
];

#[test]
fn no_command_changes_what_is_not_ours() {
    for flavour in [Flavour::Mariadb, Flavour::Mysql] {
        let Some(server) = server("foreign_server::no_command_changes_what_is_not_ours", flavour) else { continue };
        let mut session = server.session().expect("the server starts");
        run(&mut *session, DIARY);
        let data = server.location().folder().expect("its files are here");
        let socket = data.parent().expect("its folder").join("s");
        let target = |database: &str| {
            format!("{}://root@localhost/{database}?socket={}&lock_timeout=1s", flavour.name(), socket.display())
        };
        let before = ServerDump::of(&mut *session);
        assert_eq!(before.names(), ["bourse", "diary", "fresh_bourse_old", "other_bourse_loading"]);
        let folder = tempfile::tempdir().expect("there is room for a folder");
        for (database, words) in [
            ("diary", "table `days`"),
            ("fresh", "database `fresh_bourse_old` holds what bourse did not make: table `days`"),
            ("other", "database `other_bourse_loading` is there"),
        ] {
            for command in COMMANDS {
                let target = target(database);
                let arguments: Vec<&str> =
                    command.split(' ').map(|word| if word == "T" { target.as_str() } else { word }).collect();
                let ended = output(folder.path(), &arguments);
                let said = text(&ended.stderr);
                assert_eq!(ended.status.code(), Some(1), "{command} on {database}: {said}");
                // A missing database is not checked, nor anything read that is not needed.
                let reads_more = !["tpce check", "crash"].iter().any(|name| command.starts_with(name));
                if database == "diary" || reads_more {
                    let is_kept = said.contains("nothing was changed")
                        || said.contains("left as it is")
                        || said.contains("leaves the database as it is");
                    assert!(said.contains(words) && is_kept, "{command} on {database} does not say {words:?}: {said}");
                }
                assert_eq!(ServerDump::of(&mut *session), before, "{command} has changed something beside {database}");
            }
        }
        // A database of Bourse with a foreign table in it.
        let ours = target("ours");
        let micro = ["micro", "run", "point-read", ours.as_str(), "--for", "1s", "--rounds", "1", "--set", "rows=100"];
        let ended = output(folder.path(), &micro);
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        run(&mut *session, &["CREATE TABLE ours.days (day DATE PRIMARY KEY)"]);
        let before = ServerDump::of(&mut *session);
        let ended = output(folder.path(), &micro);
        assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains("table `days`"), "{}", text(&ended.stderr));
        assert_eq!(ServerDump::of(&mut *session), before);
    }
}

/// Regression: a database that a microbenchmark had made at a server was refused with the server's own words for a missing table.
#[test]
fn a_database_of_another_command_is_refused_by_its_name() {
    let test = "foreign_server::a_database_of_another_command_is_refused_by_its_name";
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let check = |target: &str, removes: &str| {
        let made = output(folder.path(), &["micro", "run", "commit", target, "--rounds", "1", "--count", "20"]);
        assert_eq!(made.status.code(), Some(0), "{target}: {}", text(&made.stderr));
        for command in ["load", "check", "run"] {
            let refused = output(folder.path(), &["tpce", command, target]);
            let said = text(&refused.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
            let words = format!("another command of Bourse made it, with table counters: {removes} removes it");
            assert!(refused.status.code() == Some(1) && said.contains(&words), "{command} {target}: {said}");
            assert!(said.contains(&format!("cannot use {target}")), "{said}");
        }
    };
    check("sqlite:m.db", "`bourse data rm`");
    let dropped = "DROP DATABASE in the server's own client";
    if let Some(server) = server(test, Flavour::Mariadb) {
        drop(server.session().expect("the server starts"));
        let data = server.location().folder().expect("its files are here");
        let socket = data.parent().expect("its folder").join("s");
        check(&format!("mariadb://root@localhost/m?socket={}", socket.display()), dropped);
    }
    match bourse_engine_postgres::installed(None) {
        Err(why) => bourse_testkit::skipped(test, why),
        Ok(_) => {
            let memory = if Path::new("/dev/shm").is_dir() { "?ram=on" } else { "" };
            let server = bourse_engine_postgres::open(&format!("postgres+private:{memory}")).expect("a target");
            drop(server.session().expect("the server starts"));
            let data = server.location().folder().expect("its files are here");
            let socket = data.parent().expect("its folder").display().to_string();
            check(&format!("postgres://postgres@localhost/m?socket={socket}"), dropped);
        }
    }
}
