//! Routines in MariaDB's SQL/PSM: procedures of the database, each with Bourse's mark and its version in its comment.
//!
//! A procedure returns a result for each of its sets, in order.

use crate::dialect::DIALECT;
use crate::error::error;
use crate::link::Link;
use crate::ownership::MARK;
use bourse_engine::{EngineError, Language, Result, Routine, version_of};
use mysql::prelude::Queryable as _;

static PSM: Language = Language {
    dialect: &DIALECT,
    parameter: DIALECT.physical,
    set: "SET",
    rows: "{sql};",
    clear: "SET {variable} = NULL; ",
    each: "FOR {row} IN ({sql}) DO",
    end_each: "END FOR;",
    declare_row: "",
    count: "SET {variable} = ROW_COUNT();",
    check_one: "IF ROW_COUNT() <> 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'expected a change of 1 row'; END IF;",
};

/// Code of the error for a procedure that already exists.
const ALREADY_THERE: u16 = 1304;

/// Number of attempts, since several sessions may create them concurrently.
const MAX_ATTEMPTS: u32 = 5;

/// Refuses a server that has no such procedures.
pub(crate) fn refuse_without(connection: &mut Link) -> Result<()> {
    let version: Option<String> = connection.query_first("SELECT version()").map_err(|e| error(&e))?;
    refuse_version(&version.unwrap_or_default())
}

fn refuse_version(version: &str) -> Result<()> {
    if version.contains("MariaDB") {
        return Ok(());
    }
    Err(EngineError::unsupported(format!(
        "`procedures=on` needs MariaDB, in whose language the procedures are written; the server has version {version}: leave \
         the option out"
    )))
}

/// Statement that creates a routine, without its first word `CREATE`, and the routine's version.
fn created(routine: &Routine) -> (String, String) {
    let head = format!("PROCEDURE {}({})", routine.name(), routine.parameters(&PSM));
    let body = format!("BEGIN\n{}{}END", routine.declarations("DECLARE ", &PSM), routine.body(&PSM));
    let version = version_of(&format!("{head}{body}"));
    (format!("{head} SQL SECURITY INVOKER COMMENT '{MARK}, version {version}'\n{body}"), version)
}

/// Statement that calls a routine.
pub(crate) fn call(routine: &Routine) -> String {
    let params: Vec<_> = (1..=routine.params()).map(|number| format!("?{number}")).collect();
    format!("CALL {}({})", routine.name(), params.join(", "))
}

/// Procedures with Bourse's mark: name and version.
fn installed(connection: &mut Link) -> Result<Vec<(String, String)>> {
    let before = format!("{MARK}, version ");
    let sql = format!(
        "SELECT routine_name, CAST(routine_comment AS CHAR) FROM information_schema.routines
          WHERE routine_schema = database() AND routine_type = 'PROCEDURE' AND routine_comment LIKE '{before}%'"
    );
    let found: Vec<(String, String)> = connection.query(&sql).map_err(|e| error(&e).with_statement(&sql))?;
    Ok(found.into_iter().map(|(name, comment)| (name, comment[before.len()..].to_owned())).collect())
}

/// Creates the routines whose present version the server does not have.
pub(crate) fn install(connection: &mut Link, routines: &[&Routine]) -> Result<()> {
    let wanted: Vec<_> = routines.iter().map(|routine| (routine.name(), created(routine))).collect();
    for _ in 0..MAX_ATTEMPTS {
        let there = installed(connection)?;
        let version = |name: &str| there.iter().find(|(it, _)| it == name).map(|(_, version)| version);
        let mut is_alone = true;
        for (name, (text, wanted)) in &wanted {
            let or_replace = match version(name) {
                Some(version) if version == wanted => continue,
                Some(_) => "OR REPLACE ",
                // Not to be replaced: it may be another session's, which has the same, or somebody's.
                None => "",
            };
            match connection.query_drop(format!("CREATE {or_replace}{text}")) {
                Ok(()) => {}
                Err(mysql::Error::MySqlError(e)) if e.code == ALREADY_THERE => is_alone = false,
                Err(e) => {
                    let what = "`procedures=on` makes procedures in the database, which the account has to be allowed";
                    return Err(error(&e).during(what).with_statement(name));
                }
            }
        }
        if is_alone {
            return Ok(());
        }
    }
    Err(EngineError::refused(
        "procedures of these names are in the database already, and bourse did not make them; they are left as they are: name \
         another database, or leave `procedures` out",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::{RoutineStep, Sql};
    use bourse_schema::ColumnType;

    static ADD: Sql = Sql::new("UPDATE held SET qty = qty + ?2 WHERE id = ?1");
    static MOVE: Routine = Routine::new(
        "move",
        &[("p_id", ColumnType::Ident), ("p_is_new", ColumnType::Bool)],
        &[("v_qty", ColumnType::Integer)],
        &[RoutineStep::Change(&ADD, &["p_id", "1"], "v_qty"), RoutineStep::Values(0, &["v_qty"])],
    );

    #[test]
    fn a_server_without_such_procedures_is_refused() {
        assert!(refuse_version("10.11.19-MariaDB-0+deb12u1").is_ok());
        for version in ["8.0.36", "8.0.11-TiDB-v7.5.1", "8.0.30-Vitess"] {
            let refused = refuse_version(version).expect_err(version);
            assert!(refused.message().contains("`procedures=on` needs MariaDB") && refused.message().contains(version));
        }
    }

    #[test]
    fn a_routine_is_a_procedure_with_a_result_for_each_set() {
        let (text, version) = created(&MOVE);
        let expected = format!(
            "PROCEDURE move(p_id BIGINT, p_is_new TINYINT(1)) SQL SECURITY INVOKER COMMENT 'made by bourse, version {version}'
BEGIN
DECLARE v_qty INT;
UPDATE held SET qty = qty + 1 WHERE id = p_id; SET v_qty = ROW_COUNT();
SELECT v_qty;
END"
        );
        assert_eq!(text, expected);
        assert_eq!(call(&MOVE), "CALL move(?1, ?2)");
    }
}
