//! Transactions at several nodes: the first to commit wins, and what is not guaranteed does not hold.

use crate::cluster;
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, Result, RowExt as _, Session, Sql};
use bourse_engine_mysql::cluster::{ClusterEngine, ClusterProduct};

static ADD: Sql = Sql::new("UPDATE account SET balance = balance + ?2 WHERE id = ?1");
static READ: Sql = Sql::new("SELECT balance FROM account WHERE id = ?1");
static TAKE: Sql = Sql::new("UPDATE account SET balance = balance - 100 WHERE id = ?1");

/// Balance of the account; `None` if the node does not have it.
fn found(session: &mut dyn Session, id: i64) -> Result<Option<i64>> {
    let mut found = None;
    session.query(&READ, Params::of(&[id.into()]), &mut |row| {
        found = Some(row.get(0)?);
        Ok(())
    })?;
    Ok(found)
}

fn balance(session: &mut dyn Session, id: i64) -> Result<i64> {
    Ok(found(session, id)?.unwrap())
}

fn make(engine: &ClusterEngine) {
    let mut session = engine.session().unwrap();
    for sql in [
        "CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)",
        "INSERT INTO account VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
    ] {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    }
}

#[test]
fn galera() {
    the_first_to_commit_wins_and_nothing_is_lost("conflicts::galera", ClusterProduct::Galera);
}

#[test]
fn group() {
    the_first_to_commit_wins_and_nothing_is_lost("conflicts::group", ClusterProduct::Group);
}

fn the_first_to_commit_wins_and_nothing_is_lost(test: &str, product: ClusterProduct) {
    let Some(engine) = cluster(test, product, "nodes=2&lock_timeout=5s") else { return };
    make(&engine);
    one_of_two_is_told(&engine);
    a_rollback_is_one(&engine);
    hot_rows(&engine);
    skewed(&engine);
}

/// First committer wins: the other gets a conflict at its next statement or at its commit, and a later commit does nothing.
fn one_of_two_is_told(engine: &ClusterEngine) {
    let mut sessions = [0, 1].map(|node| engine.session_at(node).unwrap());
    for session in &mut sessions {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    }
    assert_eq!(sessions[0].execute(&ADD, Params::of(&[1.into(), 1.into()])).unwrap(), 1);
    assert_eq!(sessions[1].execute(&ADD, Params::of(&[1.into(), 10.into()])).unwrap(), 1);
    sessions[0].commit().unwrap();
    // By now the other's node has applied it.
    assert_eq!(balance(&mut *engine.session_at(1).unwrap(), 1).unwrap(), 1);
    if engine.target().product == ClusterProduct::Galera {
        let told = balance(&mut *sessions[1], 1).unwrap_err();
        assert_eq!((told.kind(), told.code()), (ErrorKind::Conflict, Some("1213")), "{told}");
    }
    let told = sessions[1].commit().unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Conflict, "an empty commit would have been reported: {told}");
    assert_eq!(balance(&mut *sessions[1], 1).unwrap(), 1);
}

/// Rollback that meets the other's commit: it succeeds, since the caller wanted nothing else.
fn a_rollback_is_one(engine: &ClusterEngine) {
    let before = balance(&mut *engine.session_at(0).unwrap(), 3).unwrap();
    let mut sessions = [0, 1].map(|node| engine.session_at(node).unwrap());
    for (session, by) in sessions.iter_mut().zip([1_i64, 10]) {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        session.execute(&ADD, Params::of(&[3.into(), by.into()])).unwrap();
    }
    sessions[0].commit().unwrap();
    // By now the other's node has applied it.
    assert_eq!(balance(&mut *engine.session_at(1).unwrap(), 3).unwrap(), before + 1);
    sessions[1].rollback().unwrap();
    sessions[1].begin(Isolation::RepeatableRead, Access::Write).unwrap();
    sessions[1].execute(&ADD, Params::of(&[3.into(), 100.into()])).unwrap();
    sessions[1].commit().unwrap();
    assert_eq!(balance(&mut *sessions[0], 3).unwrap(), before + 101);
}

/// Contention: users at both nodes change few rows, and the result is exactly that of the acknowledged commits.
fn hot_rows(engine: &ClusterEngine) {
    const EACH: i64 = 150;
    let before: i64 = (1..=4).map(|id| balance(&mut *engine.session().unwrap(), id).unwrap()).sum();
    let user = |node: usize| {
        let mut session = engine.session_at(node).unwrap();
        let (mut committed, mut conflicts) = (0, 0);
        for n in 0..EACH {
            let id = 1 + (n * 7 + node as i64) % 4;
            let attempt = (|| {
                session.begin(Isolation::RepeatableRead, Access::Write)?;
                balance(&mut *session, id)?;
                session.execute(&ADD, Params::of(&[id.into(), 1.into()]))?;
                session.commit()
            })();
            match attempt {
                Ok(()) => committed += 1,
                Err(e) if e.kind() == ErrorKind::Conflict => conflicts += 1,
                Err(e) => panic!("{e}"),
            }
            session.rollback().unwrap();
        }
        (committed, conflicts)
    };
    let told: u64 = engine.conflicts().iter().map(|kind| kind.count).sum();
    let users: Vec<(i64, u64)> = std::thread::scope(|scope| {
        let users: Vec<_> = [0, 1, 0, 1].into_iter().map(|node| scope.spawn(move || user(node))).collect();
        users.into_iter().map(|user| user.join().unwrap()).collect()
    });
    let (committed, conflicts) = users.iter().fold((0, 0), |sum, user| (sum.0 + user.0, sum.1 + user.1));
    for node in 0..2 {
        let mut session = engine.session_at(node).unwrap();
        let after: i64 = (1..=4).map(|id| balance(&mut *session, id).unwrap()).sum();
        assert_eq!(after - before, committed, "n{}: {conflicts} conflicts", node + 1);
    }
    assert!(conflicts > 0, "{committed} committed without a conflict");
    let counted: u64 = engine.conflicts().iter().map(|kind| kind.count).sum();
    assert_eq!(counted - told, conflicts);
}

/// Write skew: two transactions at two nodes each read both rows and clear one if the sum allows it; run one after the other,
/// only one would. Both succeed sometimes, which shows that serializable isolation is not given between nodes.
fn skewed(engine: &ClusterEngine) {
    const TRIES: u32 = 200;
    let mut sessions = [0, 1].map(|node| engine.session_at(node).unwrap());
    for _ in 0..TRIES {
        for id in [1, 2] {
            let reset = 50 - balance(&mut *sessions[0], id).unwrap();
            sessions[0].execute(&ADD, Params::of(&[id.into(), reset.into()])).unwrap();
        }
        let [first, second] = &mut sessions;
        let takes = |session: &mut dyn Session, id: i64| -> Result<()> {
            session.begin(Isolation::Serializable, Access::Write)?;
            let sum = balance(session, 1)? + balance(session, 2)?;
            assert_eq!(sum, 100);
            session.execute(&TAKE, Params::of(&[id.into()])).map(drop)
        };
        let done = takes(&mut **first, 1).and_then(|()| takes(&mut **second, 2)).and_then(|()| {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| second.commit());
                first.commit()?;
                other.join().unwrap()
            })
        });
        for session in &mut sessions {
            session.rollback().unwrap();
        }
        if done.is_ok() {
            let sum = balance(&mut *sessions[0], 1).unwrap() + balance(&mut *sessions[0], 2).unwrap();
            assert_eq!(sum, -100);
            return;
        }
    }
    panic!("{TRIES} tries without a write skew: is serializable given after all?");
}

/// Loss of causality with `causal=off`: a node does not see a commit at another one immediately.
fn without_causal_reads_a_commit_at_another_node_is_missed(test: &str, product: ClusterProduct) {
    const TRIES: i64 = 2_000;
    let Some(engine) = cluster(test, product, "nodes=2&causal=off") else { return };
    make(&engine);
    let [mut writer, mut reader] = [0, 1].map(|node| engine.session_at(node).unwrap());
    let mut before = 0;
    let missed = (1..=TRIES).find(|_| {
        writer.execute(&ADD, Params::of(&[1.into(), 1.into()])).unwrap();
        before += 1;
        // Where the table itself or its row has not come over yet, that is missed too.
        found(&mut *reader, 1).map_or(true, |seen| seen.is_none_or(|seen| seen < before))
    });
    assert!(missed.is_some(), "each of {TRIES} commits was seen at once: is the wait off?");
}

#[test]
fn missed_in_galera() {
    without_causal_reads_a_commit_at_another_node_is_missed("conflicts::missed_in_galera", ClusterProduct::Galera);
}

#[test]
fn missed_in_a_group() {
    without_causal_reads_a_commit_at_another_node_is_missed("conflicts::missed_in_a_group", ClusterProduct::Group);
}
