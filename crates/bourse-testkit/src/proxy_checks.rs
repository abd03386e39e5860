//! Guarantees that must hold for a database reached through proxies that make faults.

use crate::proxy::{FaultMoment, FaultRule, Proxy, ProxyFault};
use bourse_engine::{
    Access, Connection, Engine, ErrorKind, Isolation, Params, Result, RowExt as _, Session, SessionExt as _, Sql,
};
use std::collections::{BTreeMap, BTreeSet};

static ADD: Sql = Sql::new("UPDATE hot SET v = v + 1 WHERE k = ?1");
static NOTE: Sql = Sql::new("INSERT INTO done VALUES (?1, ?2)");
static DONE: Sql = Sql::new("SELECT id, count(*) FROM done GROUP BY id");
static SUM: Sql = Sql::new("SELECT v FROM hot");

/// Number of rows that all users change.
const HOT: i64 = 5;

/// Upper limit of attempts at a transaction.
const MAX_ATTEMPTS: u32 = 100;

/// Outcomes of transactions as their users saw them.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// Transactions whose commit was acknowledged.
    pub acknowledged: BTreeSet<i64>,
    /// Transactions whose commit may or may not have happened: the answer was lost.
    pub in_doubt: BTreeSet<i64>,
    /// Number of attempts repeated.
    pub retried: u64,
}

/// Runs numbered transactions of `users` users through `engine`, which may fail on the way, and checks the database through
/// `owner`, without faults. No acknowledged transaction may be missing, none may be there twice, and of the others only those
/// in doubt may be present. Returns the outcomes, and the transactions in doubt that are present.
pub fn nothing_acknowledged_is_lost(
    engine: &dyn Engine,
    owner: &dyn Engine,
    users: i64,
    each: i64,
) -> (Outcomes, BTreeSet<i64>) {
    let mut session = owner.session().unwrap();
    for sql in [
        "CREATE TABLE hot (k BIGINT PRIMARY KEY, v BIGINT NOT NULL)",
        "CREATE TABLE done (id BIGINT NOT NULL, k BIGINT NOT NULL)",
    ] {
        session.execute_text(sql, &[]).unwrap();
    }
    for k in 0..HOT {
        session.execute_text(&format!("INSERT INTO hot VALUES ({k}, 0)"), &[]).unwrap();
    }
    let user = |number: i64| {
        let mut outcomes = Outcomes::default();
        let mut connection = engine.connect().unwrap();
        for id in number * each..(number + 1) * each {
            perform(&mut connection, id, &mut outcomes);
        }
        outcomes
    };
    let outcomes = std::thread::scope(|scope| {
        let users: Vec<_> = (0..users).map(|number| scope.spawn(move || user(number))).collect();
        users.into_iter().map(|user| user.join().unwrap()).fold(Outcomes::default(), |mut all, one| {
            all.acknowledged.extend(one.acknowledged);
            all.in_doubt.extend(one.in_doubt);
            all.retried += one.retried;
            all
        })
    });
    let done: BTreeMap<i64, i64> =
        session.all(&DONE, &[], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().into_iter().collect();
    assert!(done.values().all(|times| *times == 1), "a transaction was made twice: {done:?}");
    let done: BTreeSet<i64> = done.into_keys().collect();
    let lost: Vec<_> = outcomes.acknowledged.difference(&done).collect();
    assert!(lost.is_empty(), "acknowledged and not there: {lost:?}");
    let found: BTreeSet<i64> = done.difference(&outcomes.acknowledged).copied().collect();
    assert!(
        found.is_subset(&outcomes.in_doubt),
        "there, and outcomes to have failed: {found:?}, in doubt {:?}",
        outcomes.in_doubt
    );
    assert_eq!(
        outcomes.acknowledged.len() + outcomes.in_doubt.len(),
        usize::try_from(users * each).unwrap(),
        "{outcomes:?}"
    );
    let sum: i64 = session.all(&SUM, &[], |row| row.get::<i64>(0)).unwrap().into_iter().sum();
    assert_eq!(sum, i64::try_from(done.len()).unwrap(), "half of a transaction was made");
    (outcomes, found)
}

/// Runs one transaction, again after a conflict.
fn perform(connection: &mut Connection, id: i64, outcomes: &mut Outcomes) {
    let session = connection.sql().unwrap();
    for _ in 0..MAX_ATTEMPTS {
        match attempt(session, id) {
            Ok(()) => {
                outcomes.acknowledged.insert(id);
                return;
            }
            Err(e) if e.kind() == ErrorKind::Conflict => {
                session.rollback().unwrap();
                outcomes.retried += 1;
            }
            Err(e) if e.kind() == ErrorKind::InDoubt => {
                session.rollback().unwrap();
                outcomes.in_doubt.insert(id);
                return;
            }
            Err(e) => panic!("transaction {id}: {e}"),
        }
    }
    panic!("transaction {id} met {MAX_ATTEMPTS} conflicts");
}

fn attempt(session: &mut dyn Session, id: i64) -> Result<()> {
    let k = id % HOT;
    session.begin(Isolation::ReadCommitted, Access::Write)?;
    assert_eq!(session.execute(&ADD, Params::of(&[k.into()]))?, 1);
    session.execute(&NOTE, Params::of(&[id.into(), k.into()]))?;
    session.commit()
}

/// Rules with faults of every kind; `conflicts` are the errors raised at a statement and at a commit.
pub fn many_faults(conflicts: [ProxyFault; 2]) -> [FaultRule; 8] {
    let [at_statement, at_commit] = conflicts;
    [
        FaultRule { moment: FaultMoment::Connect, every: 4, most: 5, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Begin, every: 43, most: 10, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Statement, every: 61, most: 20, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Statement, every: 53, most: 20, act: ProxyFault::CutAfter },
        FaultRule { moment: FaultMoment::Statement, every: 29, most: 20, act: at_statement },
        FaultRule { moment: FaultMoment::Commit, every: 19, most: 10, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Commit, every: 17, most: 10, act: ProxyFault::CutAfter },
        FaultRule { moment: FaultMoment::Commit, every: 13, most: 10, act: at_commit },
    ]
}

/// Rules that hit so few moments that a whole run survives them.
pub fn few_faults(conflicts: [ProxyFault; 2]) -> [FaultRule; 5] {
    let [at_statement, at_commit] = conflicts;
    [
        FaultRule { moment: FaultMoment::Statement, every: 499, most: 20, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Statement, every: 997, most: 20, act: at_statement },
        FaultRule { moment: FaultMoment::Commit, every: 211, most: 5, act: ProxyFault::CutAfter },
        FaultRule { moment: FaultMoment::Commit, every: 173, most: 5, act: ProxyFault::CutBefore },
        FaultRule { moment: FaultMoment::Commit, every: 101, most: 20, act: at_commit },
    ]
}

/// Whether each rule has acted twice at one of two proxies with the same rules.
pub fn each_has_acted(proxies: &[Proxy; 2]) -> bool {
    let [first, second] = [proxies[0].acted(), proxies[1].acted()];
    first.iter().zip(second).all(|(at_first, at_second)| at_first + at_second >= 2)
}

/// [`nothing_acknowledged_is_lost`] through two proxies: each of their rules acts, the conflict named `code` is counted by that
/// name, and the engine's description names both addresses.
pub fn each_transaction_is_there_once(
    engine: &dyn Engine,
    owner: &dyn Engine,
    proxies: &[Proxy; 2],
    rules: [&[FaultRule]; 2],
    code: &str,
) {
    let (outcomes, found) = nothing_acknowledged_is_lost(engine, owner, 4, 120);
    for (proxy, rules) in proxies.iter().zip(rules) {
        let acted = proxy.acted();
        assert!(acted.iter().all(|times| *times > 0), "a rule never acted: {acted:?} of {rules:?}");
    }
    // A commit that the server never saw is in doubt like one whose answer was lost: of the first none is there.
    assert!(!found.is_empty() && found.len() < outcomes.in_doubt.len(), "{found:?} of {:?}", outcomes.in_doubt);
    assert!(outcomes.retried > 20, "{outcomes:?}");
    let conflicts = engine.conflicts();
    let count = |name: &str| conflicts.iter().find(|kind| kind.name.contains(name)).map_or(0, |kind| kind.count);
    assert!(count("node lost") > 0 && count(code) > 0, "{conflicts:?}");
    let described = engine.description().unwrap();
    let nodes = described.settings.iter().find(|setting| setting.name == "nodes").unwrap();
    assert!(proxies.iter().all(|proxy| nodes.value.contains(&proxy.port().to_string())), "{nodes:?}");
}

/// Checks that sessions through two proxies continue at the address that is left, and that connecting fails if none is.
/// `through` opens the engine with these options.
pub fn sessions_go_on<E: Engine>(proxies: &[Proxy; 2], through: impl Fn(&str) -> E) {
    for options in ["spread=on", "spread=off"] {
        let engine = through(options);
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
        for proxy in proxies {
            proxy.set_down(false);
        }
        for session in &mut sessions {
            let _ = session.execute_text("SELECT 1", &[]);
            session.execute_text("SELECT 1", &[]).unwrap();
        }
    }
}
