//! Several addresses, and connections that fail: a proxy in front of a private server makes faults at chosen moments.

use crate::server;
use crate::tpce::loaded;
use bourse_engine::Engine as _;
use bourse_engine_postgres::{PostgresEngine, open};
use bourse_testkit::proxy::{FaultRule, Proxy, ProxyFault, ProxyProtocol};
use bourse_testkit::{each_has_acted, each_transaction_is_there_once, few_faults, many_faults, sessions_go_on};
use bourse_tpce::testkit::stays_consistent_through_faults;

/// Errors that the proxy raises for a statement and a commit.
const CONFLICTS: [ProxyFault; 2] = [
    ProxyFault::Raise { code: "40001", message: "restart transaction: written too late" },
    ProxyFault::Raise { code: "40001", message: "restart transaction: the serializable read has moved" },
];

/// Socket of the private server, which is started if needed.
fn socket(owner: &PostgresEngine) -> std::path::PathBuf {
    owner.session().unwrap();
    owner.location().folder().unwrap().parent().unwrap().join(".s.PGSQL.5432")
}

fn proxies(owner: &PostgresEngine, rules: [&[FaultRule]; 2]) -> [Proxy; 2] {
    rules.map(|rules| Proxy::start(ProxyProtocol::Postgres, socket(owner), rules))
}

fn through(proxies: &[Proxy], options: &str) -> PostgresEngine {
    let addresses: Vec<String> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port())).collect();
    open(&format!("postgres://postgres@{}/bourse?{options}", addresses.join(","))).unwrap()
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
    each_transaction_is_there_once(&engine, &owner, &proxies, rules, "40001");
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
    let Some(owner) = server(test, "max_connections=20") else { return };
    let proxies = proxies(&owner, [&[], &[]]);
    let refused = |engine: &PostgresEngine, users| {
        assert_eq!(engine.expect_sessions(users), None);
        engine.session().map(|_| ()).unwrap_err().message().to_owned()
    };
    let one = through(&proxies[..1], "");
    let words = refused(&one, 18);
    assert!(
        words.contains("18 sessions are too many for the server: its max_connections is 20, of which 3 are"),
        "{words}"
    );
    assert!(words.contains("fewer users, or a larger limit"), "{words}");
    // Each of two has its half.
    let both = through(&proxies, "");
    both.expect_sessions(18);
    both.session().unwrap();
    assert!(refused(&both, 40).contains("20 sessions are too many"));
    let mut session = owner.session().unwrap();
    session.execute_text("CREATE ROLE ann LOGIN CONNECTION LIMIT 3", &[]).unwrap();
    let target = format!("postgres://ann@/bourse?socket={}", socket(&owner).parent().unwrap().display());
    let words = refused(&open(&target).unwrap(), 4);
    assert!(words.contains("its CONNECTION LIMIT of the user is 3"), "{words}");
}
