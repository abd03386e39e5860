//! Comparison of tables, indexes and constraints with the declared ones.

use super::CheckResult;
use crate::load::Constraints;
use crate::workload::Workload;
use bourse_engine::{EngineError, ErrorKind, Result, RowExt as _, Session, SessionExt as _, one_line};
use bourse_schema::{Catalog, SchemaObject, declared};
use std::collections::BTreeMap;
use std::fmt;

/// Difference between a database's schema and the declared one, in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaDifference {
    /// `table`, `index`, `column`, `foreign key` or `checks`, or the engine's name of an undeclared kind.
    pub kind: String,
    /// Name of its table.
    pub table: String,
    /// Name of the object.
    pub name: String,
    /// The difference.
    pub change: SchemaChange,
}

/// Kind of a schema difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaChange {
    /// Declared, but absent.
    Missing,
    /// Present, but not declared.
    Extra,
    /// Declared otherwise than found.
    Differs {
        /// The declared form.
        declared: String,
        /// The form found.
        found: String,
    },
}

impl fmt::Display for SchemaDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, table, name, change } = self;
        f.write_str(kind)?;
        if name != kind {
            write!(f, " {name}")?;
        }
        if name != table {
            write!(f, " of {table}")?;
        }
        match change {
            SchemaChange::Missing => write!(f, " is missing"),
            SchemaChange::Extra => write!(f, " is not declared"),
            SchemaChange::Differs { declared, found } => {
                write!(f, " is `{}` instead of `{}`", one_line(found), one_line(declared))
            }
        }
    }
}

/// Compares the schema with the declared one; `None` if no query for the dialect's catalog is known.
///
/// # Errors
/// The engine's.
pub fn differences(
    db: &mut dyn Session,
    workload: &dyn Workload,
    constraints: Constraints,
) -> Result<Option<Vec<SchemaDifference>>> {
    let dialect = db.dialect();
    let full = constraints == Constraints::Full;
    let (Catalog::Statements(query) | Catalog::Parts(query)) = dialect.catalog else { return Ok(None) };
    let Some(declared) = declared(workload.tables(), dialect, full) else { return Ok(None) };
    let found = db.text_rows(query, |row| {
        Ok(SchemaObject { kind: row.get(0)?, table: row.get(1)?, name: row.get(2)?, definition: row.get(3)? })
    })?;
    if let Some(query) = dialect.visible_keys {
        let visible = db.text_value::<i64>(query)?.unwrap_or(0);
        refuse_hidden(&found, visible as usize)?;
    }
    Ok(Some(compare(&declared, &found)))
}

/// Refuses a catalog that shows fewer primary keys than tables have: other constraints would seem to be missing.
fn refuse_hidden(found: &[SchemaObject], visible_keys: usize) -> Result<()> {
    let all = found.iter().filter(|object| object.kind == "index" && object.name == "PRIMARY").count();
    if visible_keys >= all {
        return Ok(());
    }
    let hidden = all - visible_keys;
    let message = format!(
        "the server shows this account no constraints of {hidden} of {all} tables, so the schema cannot be checked; GRANT \
         REFERENCES on the database gives the right"
    );
    Err(EngineError::new(ErrorKind::Denied, message))
}

/// Whether two definitions differ at most in white space: engines may store a statement reformatted.
fn is_alike(one: &str, other: &str) -> bool {
    let form = |text: &str| {
        let words: Vec<_> = text.split_whitespace().collect();
        words.join(" ").replace("( ", "(").replace(" )", ")")
    };
    one == other || form(one) == form(other)
}

fn compare(declared: &[SchemaObject], found: &[SchemaObject]) -> Vec<SchemaDifference> {
    fn by_name(objects: &[SchemaObject]) -> BTreeMap<(&str, &str, &str), &SchemaObject> {
        objects.iter().map(|it| ((it.kind.as_str(), it.table.as_str(), it.name.as_str()), it)).collect()
    }
    let (wanted, there) = (by_name(declared), by_name(found));
    let difference = |it: &SchemaObject, change| SchemaDifference {
        kind: it.kind.clone(),
        table: it.table.clone(),
        name: it.name.clone(),
        change,
    };
    let mut differences = Vec::new();
    for (key, object) in &wanted {
        match there.get(key) {
            None => differences.push(difference(object, SchemaChange::Missing)),
            Some(other) if !is_alike(&other.definition, &object.definition) => {
                let (declared, found) = (object.definition.clone(), other.definition.clone());
                differences.push(difference(object, SchemaChange::Differs { declared, found }));
            }
            Some(_) => {}
        }
    }
    // An engine that needs an index for a foreign key makes one, on just its columns.
    let serves_a_key = |object: &SchemaObject| {
        object.kind == "index"
            && wanted.contains_key(&("foreign key", object.table.as_str(), object.definition.as_str()))
    };
    let extra = there.iter().filter(|(key, object)| !wanted.contains_key(*key) && !serves_a_key(object));
    differences.extend(extra.map(|(_, object)| difference(object, SchemaChange::Extra)));
    differences
}

/// [`differences`] as a check.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn check(db: &mut dyn Session, workload: &dyn Workload, constraints: Constraints) -> Result<CheckResult> {
    const WORDS: &str = "tables, columns, indexes and constraints are those that are declared, and there are no others";
    let source = workload.source_of_schema();
    Ok(match differences(db, workload, constraints)? {
        None => CheckResult::not_run("schema", source, WORDS, "no query for this engine's catalog is known"),
        Some(found) => {
            CheckResult::of_offences("schema", source, WORDS, found.iter().map(ToString::to_string).collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_schema::{Catalog, Dialect, SQLITE, tables};

    fn index(name: &str, definition: &str) -> SchemaObject {
        let (kind, table) = ("index".to_owned(), "trade".to_owned());
        SchemaObject { kind, table, name: name.to_owned(), definition: definition.to_owned() }
    }

    #[test]
    fn a_dropped_an_added_and_a_changed_index_are_named() {
        let wanted = declared(tables::all(), &SQLITE, true).expect("its catalog is known");
        assert_eq!(compare(&wanted, &wanted), []);
        let mut found = wanted.clone();
        found.retain(|object| object.name != "trade_by_account");
        let changed = found.iter_mut().find(|object| object.name == "trade_by_security").expect("it is declared");
        changed.definition = "CREATE INDEX trade_by_security ON trade (t_s_symb)".to_owned();
        found.push(index("extra", "CREATE INDEX extra ON trade (t_exec_name)"));
        let shown: Vec<_> = compare(&wanted, &found).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "index trade_by_account of trade is missing",
                "index trade_by_security of trade is `CREATE INDEX trade_by_security ON trade (t_s_symb)` instead of \
                 `CREATE INDEX trade_by_security ON trade (t_s_symb, t_dts)`",
                "index extra of trade is not declared"
            ]
        );
    }

    #[test]
    fn a_statement_kept_with_other_white_space_is_the_same() {
        let wanted = declared(tables::all(), &SQLITE, true).expect("its catalog is known");
        let mut found = wanted.clone();
        let change = |it: &mut SchemaObject, from: &str, to: &str| it.definition = it.definition.replace(from, to);
        found.iter_mut().for_each(|it| change(it, "\n", " "));
        found.iter_mut().for_each(|it| change(it, "(  ", "("));
        assert_eq!(compare(&wanted, &found), []);
        found.iter_mut().for_each(|it| change(it, "t_qty > 0", "t_qty > 1"));
        assert_eq!(compare(&wanted, &found).len(), 1);
    }

    /// An account that may only read was once told that all checks are missing, and to load the database anew.
    #[test]
    fn constraints_that_the_account_may_not_see_are_not_missing() {
        let parts = Dialect { catalog: Catalog::Parts(""), ..Dialect::STANDARD };
        let wanted = declared(tables::all(), &parts, true).expect("its catalog is known");
        refuse_hidden(&wanted, 33).expect("every table shows its key");
        let hidden = refuse_hidden(&wanted, 0).expect_err("no table shows its key");
        assert_eq!(hidden.kind(), ErrorKind::Denied);
        assert!(hidden.message().contains("no constraints of 33 of 33 tables") && hidden.message().contains("GRANT"));
    }

    #[test]
    fn an_index_that_serves_a_foreign_key_is_the_engines_own() {
        let parts = Dialect { catalog: Catalog::Parts(""), ..Dialect::STANDARD };
        let mut found = declared(tables::all(), &parts, true).expect("its catalog is known");
        found.push(index("t_st_id", "t_st_id"));
        let wanted = |constraints| declared(tables::all(), &parts, constraints).expect("its catalog is known");
        assert_eq!(compare(&wanted(true), &found), []);
        let names: Vec<_> = compare(&wanted(false), &found).into_iter().map(|it| (it.kind, it.name)).collect();
        assert!(names.contains(&("index".to_owned(), "t_st_id".to_owned())), "{names:?}");
    }
}
