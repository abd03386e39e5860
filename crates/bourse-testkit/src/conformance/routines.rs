//! Stored routines of a server, for sessions that call them.

use super::{ADD_CHARGE, FIRST_CHARGE, READ_CHARGE, SET_CHARGE, amount, load_small, read, set, small};
use bourse_engine::RoutineStep::{Change, ChangeOne, Each, Into, Rows, Text as Words, Values};
use bourse_engine::{
    Access, Engine, EngineError, ErrorKind, Isolation, Params, Result, Routine, RowExt as _, Session, Sql, Value,
};
use bourse_schema::{Amount, Date, Field as _, Text, Timestamp};

type RoutineName = Text<3>;

static CHARGES: Sql = Sql::new("SELECT ch_c_tier, ch_chrg FROM charge WHERE ch_tt_id = ?1 ORDER BY ch_c_tier");
static RAISE: Sql = Sql::new("UPDATE charge SET ch_chrg = ch_chrg + ?2 WHERE ch_tt_id = ?1");

/// Routine that passes every kind of value there and back and uses every kind of step.
static ALL_KINDS: Routine = Routine::new(
    "bourse_kit_all",
    &[
        ("p_name", RoutineName::TYPE),
        ("p_by", Amount::TYPE),
        ("p_day", Date::TYPE),
        ("p_at", Timestamp::TYPE),
        ("p_flag", bool::TYPE),
        ("p_number", i64::TYPE),
    ],
    &[("v_changed", i64::TYPE), ("v_sum", Amount::TYPE), ("v_one", Amount::TYPE)],
    &[
        Change(&RAISE, &["p_name", "p_by"], "v_changed"),
        Rows(0, &CHARGES, &["p_name"]),
        Words("{set} v_sum = 0;"),
        Each(
            "item",
            &CHARGES,
            &["p_name"],
            &[
                // There is none of the second tier under that name, so that nothing of the first may be left.
                Words("IF item.ch_c_tier = 2 THEN"),
                Into(&READ_CHARGE, &["'XXX'", "item.ch_c_tier"], &["v_one"]),
                Words("ELSE"),
                Into(&READ_CHARGE, &["p_name", "item.ch_c_tier"], &["v_one"]),
                Words("END IF; {set} v_sum = v_sum + COALESCE(v_one, 0);"),
                ChangeOne(&SET_CHARGE, &["p_name", "item.ch_c_tier", "item.ch_chrg + 1"]),
            ],
        ),
        Rows(1, &CHARGES, &["'XXX'"]),
        Values(2, &["v_changed", "v_sum", "p_name", "p_day", "p_at", "p_flag", "p_number", "NULL"]),
    ],
);

static SET_ONE: Routine = Routine::new(
    "bourse_kit_set",
    &[("p_name", RoutineName::TYPE), ("p_tier", u8::TYPE), ("p_to", Amount::TYPE)],
    &[],
    &[ChangeOne(&SET_CHARGE, &["p_name", "p_tier", "p_to"]), Rows(0, &READ_CHARGE, &["p_name", "p_tier"])],
);

static ADD_ONE: Routine = Routine::new(
    "bourse_kit_add",
    &[("p_name", RoutineName::TYPE), ("p_tier", u8::TYPE), ("p_to", Amount::TYPE)],
    &[],
    &[ChangeOne(&ADD_CHARGE, &["p_name", "p_tier", "p_to"])],
);

static ROUTINES: &[&Routine] = &[&ALL_KINDS, &SET_ONE, &ADD_ONE];

/// Another version of the routine `bourse_kit_set`: same name, different text.
static SET_LATER: Routine =
    Routine::new("bourse_kit_set", &[("p_tier", u8::TYPE)], &[], &[Values(0, &["p_tier", "'later'"])]);
static LATER: &[&Routine] = &[&SET_LATER];

/// Routine whose name is taken by one that Bourse did not create.
static IS_TAKEN: Routine = Routine::new("bourse_kit_taken", &[("p_tier", u8::TYPE)], &[], &[Values(0, &["p_tier"])]);
static TAKEN: &[&Routine] = &[&IS_TAKEN];

/// Checks that sessions of the engine call routines, replace a stored one whose text differs, and leave one that Bourse did not
/// create alone. `taken` is the statement that creates such a routine, called `bourse_kit_taken`, with one small integer
/// parameter.
pub fn routines_conformance(engine: &dyn Engine, taken: &str) {
    values_and_sets(engine);
    failures(engine);
    conflicts(engine);
    versions(engine);
    many_at_once(engine);
    somebody_elses(engine, taken);
}

fn session(engine: &dyn Engine) -> Box<dyn Session> {
    let mut session = small(engine);
    assert!(!session.has_routines());
    session.install(ROUTINES).unwrap();
    assert!(session.has_routines(), "the target asks for routines");
    session
}

fn values_and_sets(engine: &dyn Engine) {
    let mut session = session(engine);
    let at = Timestamp::at(Date::from_ymd(2026, 3, 4), 3_723_004);
    for first in [0, 103] {
        let number = 1 << 40;
        let params = ["TMB".into(), amount(3), at.date().into(), at.into(), true.into(), Value::Int(number)];
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        session.install(ROUTINES).unwrap();
        let before = session.round_trips().unwrap();
        let (mut charges, mut last) = (Vec::new(), 0);
        session
            .call(&ALL_KINDS, Params::of(&params), &mut |set, row| {
                last = set;
                match set {
                    0 => charges.push((row.get::<u8>(0)?, row.get::<Amount>(1)?.units())),
                    2 => {
                        assert_eq!((row.get::<i64>(0)?, row.columns()), (3, 8));
                        // Sum of the first and the third tier.
                        assert_eq!(row.get::<Amount>(1)?.units(), 2 * (FIRST_CHARGE + 3 + first));
                        assert_eq!(row.get::<RoutineName>(2)?.as_str(), "TMB");
                        assert_eq!((row.get::<Date>(3)?, row.get::<Timestamp>(4)?), (at.date(), at));
                        assert_eq!((row.get::<bool>(5)?, row.get::<i64>(6)?), (true, number));
                        assert_eq!(row.value(7), Value::Null);
                    }
                    other => panic!("set {other} has no rows"),
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(charges, [1, 2, 3].map(|tier| (tier, FIRST_CHARGE + 3 + first)));
        assert_eq!(last, 2);
        if first > 0 {
            assert_eq!(session.round_trips().unwrap() - before, 1);
        }
        session.commit().unwrap();
    }
    assert_eq!(read(&mut *session, "TMB", 2).unwrap(), FIRST_CHARGE + 206);
    assert_eq!(read(&mut *session, "TMS", 2).unwrap(), FIRST_CHARGE);
}

fn failures(engine: &dyn Engine) {
    let mut session = session(engine);
    let mut call = |routine: &'static Routine, tier: u8, each: Result<()>| {
        session.begin(Isolation::ReadCommitted, Access::Write).unwrap();
        set(&mut *session, "TMS", 1, 7).unwrap();
        let params = ["TMB".into(), tier.into(), amount(5)];
        let done = session.call(routine, Params::of(&params), &mut |_, _| each.clone());
        session.rollback().unwrap();
        assert_eq!(read(&mut *session, "TMS", 1).unwrap(), FIRST_CHARGE, "nothing stays");
        done.unwrap_err()
    };
    let none = call(&SET_ONE, 9, Ok(()));
    assert_eq!((none.kind(), none.statement()), (ErrorKind::Other, Some("bourse_kit_set")), "{none}");
    assert!(none.message().contains("expected a change of 1 row"), "{none}");
    let twice = call(&ADD_ONE, 1, Ok(()));
    assert_eq!(twice.kind(), ErrorKind::Duplicate, "{twice}");
    let stopped = call(&SET_ONE, 1, Err(EngineError::new(ErrorKind::Interrupted, "enough")));
    assert_eq!((stopped.kind(), stopped.message()), (ErrorKind::Interrupted, "enough"));
}

/// Conflict within a routine: reported as a conflict, and nothing more runs before the rollback.
fn conflicts(engine: &dyn Engine) {
    let mut first = session(engine);
    let mut second = engine.session().unwrap();
    second.install(ROUTINES).unwrap();
    let params = ["TMB".into(), 1.into(), amount(5)];
    let set_one = |session: &mut dyn Session| session.call(&SET_ONE, Params::of(&params), &mut |_, _| Ok(()));
    // Changed by another one since the snapshot, and changed by another one that is not finished.
    for is_finished in [true, false] {
        second.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        read(&mut *second, "TMS", 1).unwrap();
        first.begin(Isolation::ReadCommitted, Access::Write).unwrap();
        set_one(&mut *first).unwrap();
        if is_finished {
            first.commit().unwrap();
        }
        let refused = set_one(&mut *second).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert_eq!(set_one(&mut *second).unwrap_err().kind(), ErrorKind::Conflict);
        second.rollback().unwrap();
        first.rollback().unwrap();
        second.begin(Isolation::Serializable, Access::Write).unwrap();
        set_one(&mut *second).unwrap();
        second.commit().unwrap();
    }
}

fn versions(engine: &dyn Engine) {
    let mut session = session(engine);
    session.install(LATER).unwrap();
    let mut said = Vec::new();
    session
        .call(LATER[0], Params::of(&[2.into()]), &mut |_, row| {
            said.push((row.get::<u8>(0)?, row.get::<Text<9>>(1)?.as_str().to_owned()));
            Ok(())
        })
        .unwrap();
    assert_eq!(said, [(2, "later".to_owned())]);
    drop(session);
    // Installed routines stay, are not foreign to Bourse, and do not prevent a load.
    assert_eq!(engine.foreign().unwrap(), None);
    load_small(engine);
    let mut session = self::session(engine);
    let params = ["TMB".into(), 1.into(), amount(5)];
    session.call(&SET_ONE, Params::of(&params), &mut |_, _| Ok(())).unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 5);
}

fn many_at_once(engine: &dyn Engine) {
    // The other version is there, so that all of them have something to do.
    engine.session().unwrap().install(LATER).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut session = engine.session().unwrap();
                session.install(ROUTINES).unwrap();
                let params = ["TMS".into(), 1.into(), amount(FIRST_CHARGE)];
                session.call(&SET_ONE, Params::of(&params), &mut |_, _| Ok(())).unwrap();
            });
        }
    });
}

fn somebody_elses(engine: &dyn Engine, taken: &str) {
    let mut session = session(engine);
    session.execute_text(taken, &[]).unwrap();
    let refused = session.install(TAKEN).unwrap_err();
    assert!(refused.to_string().contains("bourse_kit_taken") || refused.kind() == ErrorKind::Refused, "{refused}");
    let foreign = engine.foreign().unwrap().expect("a routine that bourse did not make");
    assert!(foreign.contains("bourse_kit_taken") && !foreign.contains("bourse_kit_set"), "{foreign}");
}
