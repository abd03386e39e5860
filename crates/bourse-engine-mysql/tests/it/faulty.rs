//! Several addresses, and connections that fail: a proxy in front of a private server makes faults at chosen moments.

use crate::server;
use crate::tpce::loaded;
use bourse_engine::{Access, Engine as _, Isolation};
use bourse_engine_mysql::{Launch, MysqlEngine, open};
use bourse_testkit::proxy::{FaultMoment, FaultRule, Proxy, ProxyFault, ProxyProtocol};
use bourse_testkit::server::{begin_load, names};
use bourse_testkit::{each_has_acted, each_transaction_is_there_once, few_faults, many_faults, sessions_go_on};
use bourse_tpce::testkit::{RunSize, run_and_check, run_loaded_and_check, stays_consistent_through_faults};

/// Errors that the proxy raises for a statement and a commit.
const CONFLICTS: [ProxyFault; 2] = [
    ProxyFault::Raise { code: "1213", message: "Deadlock found when trying to get lock" },
    ProxyFault::Raise { code: "9007", message: "Write conflict, txnStartTS=1 [try again later]" },
];

/// Socket of the private server, which is started if needed.
fn socket(owner: &MysqlEngine) -> std::path::PathBuf {
    owner.session().unwrap();
    owner.location().folder().unwrap().parent().unwrap().join("s")
}

fn proxies(owner: &MysqlEngine, rules: [&[FaultRule]; 2]) -> [Proxy; 2] {
    rules.map(|rules| Proxy::start(ProxyProtocol::Mysql, socket(owner), rules))
}

fn through(proxies: &[Proxy], options: &str) -> MysqlEngine {
    let addresses: Vec<String> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port())).collect();
    open(&format!("mariadb://root@{}/bourse?{options}", addresses.join(","))).unwrap()
}

#[test]
fn what_was_acknowledged_is_there_once_whatever_fails() {
    let test = "faulty::what_was_acknowledged_is_there_once_whatever_fails";
    let Some(owner) = server(test, "lock_timeout=5s") else { return };
    let many = many_faults(CONFLICTS);
    // The other address fails less often.
    let rules = [&many[..], &many[2..]];
    let proxies = proxies(&owner, rules);
    let engine = through(&proxies, "lock_timeout=5s");
    each_transaction_is_there_once(&engine, &owner, &proxies, rules, "9007");
}

#[test]
fn the_books_are_kept_while_connections_fail() {
    let test = "faulty::the_books_are_kept_while_connections_fail";
    let Some((_copy, owner)) = loaded(test, "lock_timeout=5s") else { return };
    let few = few_faults(CONFLICTS);
    let proxies = proxies(&owner, [&few, &few]);
    let engine = through(&proxies, "lock_timeout=5s");
    let met = stays_consistent_through_faults(&engine, &owner, &|| each_has_acted(&proxies));
    assert!(met.retried > 0 && met.in_doubt > 0 && met.lost > 0, "{met:?}: {:?}", proxies.map(|it| it.acted()));
}

#[test]
fn sessions_go_on_at_the_address_that_is_left() {
    let test = "faulty::sessions_go_on_at_the_address_that_is_left";
    let Some(owner) = server(test, "") else { return };
    let proxies = proxies(&owner, [&[], &[]]);
    sessions_go_on(&proxies, |options| through(&proxies, options));
}

#[test]
fn more_users_than_the_servers_take_are_refused_before_the_first() {
    let test = "faulty::more_users_than_the_servers_take_are_refused_before_the_first";
    let Some(owner) = server(test, "") else { return };
    owner.set_launch(Launch { arguments: vec!["--max-connections=12".to_owned()], ..Launch::default() });
    let proxies = proxies(&owner, [&[], &[]]);
    let refused = |engine: &MysqlEngine, users| {
        assert_eq!(engine.expect_sessions(users), None);
        engine.session().map(|_| ()).unwrap_err().message().to_owned()
    };
    let words = refused(&through(&proxies[..1], ""), 13);
    assert!(
        words.contains("13 sessions are too many for the server: its max_connections is 12, of which 0 are"),
        "{words}"
    );
    assert!(words.contains("fewer users, or a larger limit"), "{words}");
    let both = through(&proxies, "");
    both.expect_sessions(13);
    both.session().unwrap();
    assert!(refused(&both, 30).contains("15 sessions are too many"));
    assert!(refused(&owner, 40).contains("its max_connections is 12"));
    let mut session = owner.session().unwrap();
    session.execute_text("CREATE USER ann@localhost WITH MAX_USER_CONNECTIONS 3", &[]).unwrap();
    session.execute_text("GRANT ALL ON bourse.* TO ann@localhost", &[]).unwrap();
    let target = format!("mariadb://ann@/bourse?socket={}", socket(&owner).display());
    let words = refused(&open(&target).unwrap(), 4);
    assert!(words.contains("its max_user_connections is 3"), "{words}");
}

/// Requests that a default TiDB refuses, with its codes.
const REFUSED_BY_TIDB: [FaultRule; 3] = [
    refused(
        FaultMoment::Serializable,
        "8048",
        "The isolation level 'SERIALIZABLE' is not supported. Set tidb_skip_isolation_level_check=1 to skip this error",
    ),
    refused(FaultMoment::SeveralStatements, "8130", "client has multi-statement capability disabled"),
    refused(FaultMoment::ReadOnly, "1235", "function READ ONLY has only noop implementation in tidb now"),
];

const fn refused(moment: FaultMoment, code: &'static str, message: &'static str) -> FaultRule {
    FaultRule { moment, every: 1, most: u64::MAX, act: ProxyFault::Raise { code, message } }
}

#[test]
fn tidb_is_asked_for_nothing_that_it_refuses() {
    let test = "faulty::tidb_is_asked_for_nothing_that_it_refuses";
    let Some(owner) = server(test, "lock_timeout=5s") else { return };
    // Refused they are, where the server does not say that it is TiDB.
    let [asked, _] = proxies(&owner, [&REFUSED_BY_TIDB, &[]]);
    let mut session = through(std::slice::from_ref(&asked), "").session().unwrap();
    for (isolation, access, code) in [
        (Isolation::Serializable, Access::Write, "8048"),
        (Isolation::RepeatableRead, Access::Write, "8130"),
        (Isolation::ReadCommitted, Access::Read, "8130"),
    ] {
        assert_eq!(session.begin(isolation, access).unwrap_err().code(), Some(code));
    }
    drop((session, owner));

    let Some(owner) = server(test, "lock_timeout=5s") else { return };
    let version = "--version=8.0.11-TiDB-v7.5.1".to_owned();
    owner.set_launch(Launch { arguments: vec![version], ..Launch::default() });
    for several in [false, true] {
        let proxies = proxies(&owner, [&REFUSED_BY_TIDB, &REFUSED_BY_TIDB]);
        let proxies = if several { &proxies[..] } else { &proxies[..1] };
        let engine = through(proxies, "lock_timeout=5s");
        let described = engine.description().unwrap();
        assert!(described.warnings.iter().any(|it| it.starts_with("TiDB refuses serializable")), "{described:?}");
        let levels = engine.capabilities().sql.unwrap().isolation;
        assert_eq!(levels, [Isolation::ReadCommitted, Isolation::RepeatableRead], "what a report says it provides");
        let run = RunSize { transactions: 360, results: 5, sessions: 1 };
        if several {
            // Each address has the rows of the first run.
            run_loaded_and_check(&engine, run, |_| ());
            begin_load(&engine, &["NEW"]).finish().unwrap();
            assert_eq!(names(&engine), ["NEW"]);
        } else {
            run_and_check(&engine, run, |_| ());
        }
        for proxy in proxies {
            assert_eq!(proxy.acted(), [0, 0, 0], "asked for what it refuses");
        }
    }
}
