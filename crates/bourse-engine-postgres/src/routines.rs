//! Routines in PL/pgSQL: stored in the schema `public`, each with Bourse's mark and its version in its comment.
//!
//! A function returns one table, whose rows have the number of a set and a row of it as one value: the output of
//! `record_send`, with the types and the bytes of a result's row.

use crate::dialect::DIALECT;
use crate::ownership::{MARK, quoted};
use crate::products::PRODUCTS;
use crate::wire::WireConnection;
use bourse_engine::{EngineError, Language, Result, Routine, version_of};
use bourse_schema::ColumnType;
use bourse_server::client::Product;

static PLPGSQL: Language = Language {
    dialect: &DIALECT,
    // A parameter has no collation of its own, and takes that of the column it is compared with.
    parameter: |domain| match domain {
        ColumnType::Text(_) => "TEXT".to_owned(),
        other => (DIALECT.physical)(other),
    },
    set: "",
    rows: "RETURN QUERY SELECT {number}::SMALLINT, record_send(one_row) FROM ({sql}) AS one_row;",
    clear: "",
    each: "FOR {row} IN ({sql}) LOOP",
    end_each: "END LOOP;",
    declare_row: "{row} RECORD",
    count: "GET DIAGNOSTICS {variable} = ROW_COUNT;",
    check_one: "GET DIAGNOSTICS changed = ROW_COUNT; \
                IF changed <> 1 THEN RAISE EXCEPTION 'expected a change of 1 row, found %', changed; END IF;",
};

/// Refuses a server that is known to lack such functions.
pub(crate) fn refuse_without(connection: &mut WireConnection) -> Result<()> {
    refuse_version(&connection.names("SELECT version()")?.concat())
}

fn refuse_version(version: &str) -> Result<()> {
    match Product::of(PRODUCTS, version) {
        Some(product) if !product.facts.plpgsql => Err(EngineError::unsupported(format!(
            "`procedures=on` needs functions in PL/pgSQL as PostgreSQL has them, and the server is {}: leave the option out",
            product.name
        ))),
        _ => Ok(()),
    }
}

/// Statement that creates a routine, and the routine's version.
fn created(routine: &Routine) -> (String, String) {
    let text = format!(
        "CREATE FUNCTION {}({}) RETURNS TABLE (set_number SMALLINT, fields BYTEA) LANGUAGE plpgsql AS $bourse$\n\
         DECLARE\nchanged BIGINT;\n{}BEGIN\n{}END $bourse$",
        quoted(routine.name()),
        routine.parameters(&PLPGSQL),
        routine.declarations("", &PLPGSQL),
        routine.body(&PLPGSQL),
    );
    let version = version_of(&text);
    (text, version)
}

/// Statement that calls a routine.
pub(crate) fn call(routine: &Routine) -> String {
    let params: Vec<_> = (1..=routine.params()).map(|number| format!("${number}")).collect();
    format!("SELECT set_number, fields FROM {}({})", quoted(routine.name()), params.join(", "))
}

/// Functions with Bourse's mark: name with types, name, version.
fn installed(connection: &mut WireConnection) -> Result<Vec<[String; 3]>> {
    let rows = connection.ask(&format!(
        "SELECT p.oid::regprocedure, p.proname, substr(obj_description(p.oid, 'pg_proc'), {})
           FROM pg_proc p
          WHERE p.pronamespace = 'public'::regnamespace AND obj_description(p.oid, 'pg_proc') LIKE '{MARK}, version %'",
        format!("{MARK}, version ").len() + 1
    ))?;
    let texts = rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>());
    Ok(texts.filter_map(|row| row.try_into().ok()).collect())
}

/// Creates the routines whose present version the server does not have.
pub(crate) fn install(connection: &mut WireConnection, routines: &[&Routine]) -> Result<()> {
    let wanted: Vec<_> = routines.iter().map(|routine| (routine.name(), created(routine))).collect();
    let has =
        |there: &[[String; 3]], name: &str, version: &str| there.iter().any(|it| it[1] == name && it[2] == version);
    let there = installed(connection)?;
    if wanted.iter().all(|(name, (_, version))| has(&there, name, version)) {
        return Ok(());
    }
    // One session makes them, and others wait for it.
    connection.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")?;
    let done = connection.run("SELECT pg_advisory_xact_lock(hashtext('bourse-routines'))").and_then(|()| {
        let there = installed(connection)?;
        for (name, (text, version)) in wanted.iter().filter(|(name, (_, version))| !has(&there, name, version)) {
            for old in there.iter().filter(|it| it[1] == *name) {
                connection.run(&format!("DROP FUNCTION {}", old[0]))?;
            }
            let name = quoted(name);
            connection.run(&format!("{text}; COMMENT ON FUNCTION {name} IS '{MARK}, version {version}'"))?;
        }
        Ok(())
    });
    match done {
        Ok(()) => connection.end("COMMIT").map(drop),
        Err(e) => {
            // The first error is the one to report.
            let _ = connection.end("ROLLBACK");
            let what = "`procedures=on` makes functions in the schema public, which the account has to be allowed";
            Err(e.during(what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::{RoutineStep, Sql};

    static HELD: Sql = Sql::new("SELECT qty FROM held WHERE id = ?1");
    static ADD: Sql = Sql::new("UPDATE held SET qty = qty + ?2 WHERE id = ?1");
    static MOVE: Routine = Routine::new(
        "move",
        &[("p_id", ColumnType::Ident), ("p_name", ColumnType::Text(9))],
        &[("v_qty", ColumnType::Integer)],
        &[
            RoutineStep::Into(&HELD, &["p_id"], &["v_qty"]),
            RoutineStep::Each("item", &HELD, &["v_qty"], &[RoutineStep::Change(&ADD, &["item.qty", "1"], "v_qty")]),
            RoutineStep::Rows(0, &HELD, &["p_id"]),
        ],
    );

    #[test]
    fn a_server_without_such_functions_is_refused() {
        for version in ["PostgreSQL 15.18 (Debian)", "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu"] {
            assert!(refuse_version(version).is_ok(), "{version}");
        }
        let refused = refuse_version("CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu)").expect_err("it has none");
        assert!(refused.message().contains("the server is CockroachDB: leave the option out"), "{refused}");
    }

    #[test]
    fn a_routine_is_a_function_that_returns_numbered_sets() {
        let (text, version) = created(&MOVE);
        let expected = "CREATE FUNCTION \"move\"(p_id BIGINT, p_name TEXT) RETURNS TABLE (set_number SMALLINT, fields BYTEA) LANGUAGE plpgsql AS $bourse$
DECLARE
changed BIGINT;
v_qty INTEGER;
item RECORD;
BEGIN
SELECT qty FROM held WHERE id = p_id INTO v_qty;
FOR item IN (SELECT qty FROM held WHERE id = v_qty) LOOP
UPDATE held SET qty = qty + 1 WHERE id = item.qty; GET DIAGNOSTICS v_qty = ROW_COUNT;
END LOOP;
RETURN QUERY SELECT 0::SMALLINT, record_send(one_row) FROM (SELECT qty FROM held WHERE id = p_id) AS one_row;
END $bourse$";
        assert_eq!(text, expected);
        assert_eq!(version.len(), 16);
        assert_eq!(call(&MOVE), "SELECT set_number, fields FROM \"move\"($1, $2)");
    }
}
