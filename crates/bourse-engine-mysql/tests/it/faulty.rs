//! Several addresses, and connections that fail: a proxy in front of a private server makes faults at chosen moments.

use crate::server;
use bourse_engine::{Engine as _, ErrorKind};
use bourse_engine_mysql::{Launch, MysqlEngine, open};
use bourse_testkit::nothing_acknowledged_is_lost;
use bourse_testkit::proxy::{Act, Moment, Proxy, Rule, Speaks};
use bourse_tpce_testkit::keeps_the_books_through_faults;

/// Of every kind some, on the way to one of two addresses; the other one fails less often.
const RULES: &[Rule] = &[
    Rule { moment: Moment::Connect, every: 4, most: 5, act: Act::CutBefore },
    Rule { moment: Moment::Begin, every: 43, most: 10, act: Act::CutBefore },
    Rule { moment: Moment::Statement, every: 61, most: 20, act: Act::CutBefore },
    Rule { moment: Moment::Statement, every: 53, most: 20, act: Act::CutAfter },
    Rule {
        moment: Moment::Statement,
        every: 29,
        most: 20,
        act: Act::Raise { code: "1213", message: "Deadlock found when trying to get lock" },
    },
    Rule { moment: Moment::Commit, every: 19, most: 10, act: Act::CutBefore },
    Rule { moment: Moment::Commit, every: 17, most: 10, act: Act::CutAfter },
    Rule {
        moment: Moment::Commit,
        every: 13,
        most: 10,
        act: Act::Raise { code: "9007", message: "Write conflict, txnStartTS=1 [try again later]" },
    },
];

/// Faults at few of many moments, so that a run goes on.
const FEW: &[Rule] = &[
    Rule { moment: Moment::Statement, every: 2_011, most: 20, act: Act::CutBefore },
    Rule {
        moment: Moment::Statement,
        every: 997,
        most: 20,
        act: Act::Raise { code: "1213", message: "Deadlock found when trying to get lock" },
    },
    Rule { moment: Moment::Commit, every: 211, most: 5, act: Act::CutAfter },
    Rule { moment: Moment::Commit, every: 173, most: 5, act: Act::CutBefore },
    Rule {
        moment: Moment::Commit,
        every: 101,
        most: 20,
        act: Act::Raise { code: "9007", message: "Write conflict, txnStartTS=1 [try again later]" },
    },
];

/// The private server's socket; it is started for it.
fn socket(owner: &MysqlEngine) -> std::path::PathBuf {
    owner.session().unwrap();
    owner.location().folder().unwrap().parent().unwrap().join("s")
}

fn proxies(owner: &MysqlEngine, rules: [&[Rule]; 2]) -> [Proxy; 2] {
    rules.map(|rules| Proxy::start(Speaks::Mysql, socket(owner), rules))
}

fn through(proxies: &[Proxy], options: &str) -> MysqlEngine {
    let addresses: Vec<String> = proxies.iter().map(|proxy| format!("127.0.0.1:{}", proxy.port())).collect();
    open(&format!("mariadb://root@{}/bourse?{options}", addresses.join(","))).unwrap()
}

#[test]
fn what_was_acknowledged_is_there_once_whatever_fails() {
    let test = "faulty::what_was_acknowledged_is_there_once_whatever_fails";
    let Some(owner) = server(test, "lock_timeout=5s") else { return };
    let proxies = proxies(&owner, [RULES, &RULES[2..]]);
    let engine = through(&proxies, "lock_timeout=5s");
    let (told, found) = nothing_acknowledged_is_lost(&engine, &owner, 4, 120);
    for (proxy, rules) in proxies.iter().zip([RULES, &RULES[2..]]) {
        let acted = proxy.acted();
        assert!(acted.iter().all(|times| *times > 0), "a rule never acted: {acted:?} of {rules:?}");
    }
    // A commit that the server never saw is in doubt like one whose answer was lost: of the first none is there.
    assert!(!found.is_empty() && found.len() < told.in_doubt.len(), "{found:?} of {:?}", told.in_doubt);
    assert!(told.retried > 20, "{told:?}");
    let conflicts = engine.conflicts();
    let count = |name: &str| conflicts.iter().find(|kind| kind.name.contains(name)).map_or(0, |kind| kind.count);
    assert!(count("node lost") > 0 && count("9007") > 0, "{conflicts:?}");
    let described = engine.description().unwrap();
    let nodes = described.settings.iter().find(|setting| setting.name == "nodes").unwrap();
    assert!(proxies.iter().all(|proxy| nodes.value.contains(&proxy.port().to_string())), "{nodes:?}");
}

#[test]
fn the_books_are_kept_while_connections_fail() {
    let test = "faulty::the_books_are_kept_while_connections_fail";
    let Some(owner) = server(test, "lock_timeout=5s") else { return };
    let proxies = proxies(&owner, [FEW, FEW]);
    let met = keeps_the_books_through_faults(&through(&proxies, "lock_timeout=5s"), &owner);
    assert!(met.retried > 0 && met.in_doubt > 0 && met.lost > 0, "{met:?}: {:?}", proxies.map(|it| it.acted()));
}

#[test]
fn sessions_go_on_at_the_address_that_is_left() {
    let test = "faulty::sessions_go_on_at_the_address_that_is_left";
    let Some(owner) = server(test, "") else { return };
    let proxies = proxies(&owner, [&[], &[]]);
    for options in ["spread=on", "spread=off"] {
        let engine = through(&proxies, options);
        let mut sessions = [(); 4].map(|()| engine.session().unwrap());
        proxies[0].set_down(true);
        for session in &mut sessions {
            // A statement outside a transaction may have been made; the next one goes to the other address.
            if let Err(e) = session.execute_text("SELECT 1", &[]) {
                assert_eq!(e.kind(), ErrorKind::InDoubt, "{e}");
            }
            session.execute_text("SELECT 1", &[]).unwrap();
        }
        proxies[1].set_down(true);
        let lost = engine.session().map(|_| ()).unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::ConnectionLost, "{lost}");
        assert!(lost.message().contains("no node can be reached"), "{lost}");
        for proxy in &proxies {
            proxy.set_down(false);
        }
        for session in &mut sessions {
            let _ = session.execute_text("SELECT 1", &[]);
            session.execute_text("SELECT 1", &[]).unwrap();
        }
    }
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
