//! Routines: stored procedures of a server, declared once and rendered in the server's own language.
//!
//! A routine consists of the same [`Sql`] that a session would send one by one, with the little control flow that both
//! PL/pgSQL and SQL/PSM have. The differences between the two are the data of a [`Language`].

use crate::{Dialect, Sql, split_parameters};
use bourse_schema::ColumnType;

/// A stored procedure: its parameters, its variables and its steps.
///
/// Results are sets of rows, numbered from 0. A set produced in a loop may arrive in pieces, and engines do not agree
/// on the number of a later piece, so that no set may follow it.
///
/// Parameters are named `p_…` and variables `v_…`, since no column is.
#[derive(Debug)]
pub struct Routine {
    name: Sql,
    params: &'static [(&'static str, ColumnType)],
    variables: &'static [(&'static str, ColumnType)],
    steps: &'static [RoutineStep],
}

/// A step of a [`Routine`]. Values for a statement's parameters are expressions: names of parameters, variables, columns of a
/// loop's row, or constants.
#[derive(Debug)]
pub enum RoutineStep {
    /// Control flow and assignments in the syntax common to both languages; `{set}` precedes an assignment.
    Text(&'static str),
    /// Rows of a query, returned as the set of that number.
    Rows(usize, &'static Sql, &'static [&'static str]),
    /// Values returned as the one row of the set of that number.
    Values(usize, &'static [&'static str]),
    /// Columns of a query's one row, stored in variables; NULL if the query has no row.
    Into(&'static Sql, &'static [&'static str], &'static [&'static str]),
    /// A change of one row: the routine fails if the number of rows is another.
    ChangeOne(&'static Sql, &'static [&'static str]),
    /// A change of any number of rows; the number is stored in a variable.
    Change(&'static Sql, &'static [&'static str], &'static str),
    /// Steps if a query has a row: cheaper than a [loop](RoutineStep::Each) over none.
    IfAny(&'static Sql, &'static [&'static str], &'static [RoutineStep]),
    /// Steps for each row of a query, under the row's name. Changes made by the steps do not affect the query.
    Each(&'static str, &'static Sql, &'static [&'static str], &'static [RoutineStep]),
}

/// Syntax of a server's routines: the differences between languages, with holes `{…}` to be filled.
#[derive(Debug)]
pub struct Language {
    /// Dialect of the statements.
    pub dialect: &'static Dialect,
    /// The type of a parameter.
    pub parameter: fn(ColumnType) -> String,
    /// Prefix of an assignment.
    pub set: &'static str,
    /// Returns the rows of the query `{sql}` as set `{number}`.
    pub rows: &'static str,
    /// Clears `{variable}` before a query's row is stored in it; empty if the server does so for a query without a row.
    pub clear: &'static str,
    /// Begins a loop over the rows of `{sql}` under the name `{row}`.
    pub each: &'static str,
    /// Ends the loop.
    pub end_each: &'static str,
    /// Declares the row variable `{row}` of a loop; empty if the loop declares it.
    pub declare_row: &'static str,
    /// Stores the row count of the last change in `{variable}`.
    pub count: &'static str,
    /// Fails unless the last change affected one row.
    pub check_one: &'static str,
}

impl Routine {
    /// A routine of that name, with parameters, variables and steps.
    pub const fn new(
        name: &'static str,
        params: &'static [(&'static str, ColumnType)],
        variables: &'static [(&'static str, ColumnType)],
        steps: &'static [RoutineStep],
    ) -> Self {
        Self { name: Sql::new(name), params, variables, steps }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name.text()
    }

    /// Number of parameters.
    pub const fn params(&self) -> usize {
        self.params.len()
    }

    /// The name as a statement, for errors about a call's result and for the [slot](Sql::slot) of the prepared call.
    pub const fn sql(&self) -> &Sql {
        &self.name
    }

    /// Declarations of the parameters, separated by commas.
    pub fn parameters(&self, language: &Language) -> String {
        let declared = self.params.iter().map(|(name, domain)| format!("{name} {}", (language.parameter)(*domain)));
        declared.collect::<Vec<_>>().join(", ")
    }

    /// Declarations of the variables, each preceded by `before`.
    pub fn declarations(&self, before: &str, language: &Language) -> String {
        let physical = language.dialect.physical;
        let mut text: String =
            self.variables.iter().map(|(name, domain)| format!("{before}{name} {};\n", physical(*domain))).collect();
        let mut rows = Vec::new();
        loop_rows(self.steps, &mut rows);
        if !language.declare_row.is_empty() {
            text.extend(rows.iter().map(|row| format!("{before}{};\n", language.declare_row.replace("{row}", row))));
        }
        text
    }

    /// Text of the steps.
    pub fn body(&self, language: &Language) -> String {
        let mut text = String::new();
        write_steps(&mut text, self.steps, language);
        text
    }

    /// Statements of all steps.
    pub fn statements(&self) -> Vec<&'static Sql> {
        let mut found = Vec::new();
        gather(self.steps, &mut found);
        found
    }
}

/// Digest of a routine's text (FNV-1a): identifies the version that a server has.
pub fn version_of(text: &str) -> String {
    // FNV-1a with 64 bits.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

fn loop_rows(steps: &'static [RoutineStep], found: &mut Vec<&'static str>) {
    for step in steps {
        match step {
            RoutineStep::Each(row, _, _, steps) => {
                if !found.contains(row) {
                    found.push(row);
                }
                loop_rows(steps, found);
            }
            RoutineStep::IfAny(_, _, steps) => loop_rows(steps, found),
            _ => {}
        }
    }
}

fn gather(steps: &'static [RoutineStep], found: &mut Vec<&'static Sql>) {
    for step in steps {
        match step {
            RoutineStep::Text(_) | RoutineStep::Values(..) => {}
            RoutineStep::Rows(_, sql, _)
            | RoutineStep::Into(sql, _, _)
            | RoutineStep::ChangeOne(sql, _)
            | RoutineStep::Change(sql, _, _) => found.push(sql),
            RoutineStep::Each(_, sql, _, steps) | RoutineStep::IfAny(sql, _, steps) => {
                found.push(sql);
                gather(steps, found);
            }
        }
    }
}

fn write_steps(out: &mut String, steps: &[RoutineStep], language: &Language) {
    for step in steps {
        out.push_str(&step_text(step, language));
        out.push('\n');
    }
}

fn step_text(step: &RoutineStep, language: &Language) -> String {
    let query =
        |number: &usize, sql: &str| language.rows.replace("{number}", &number.to_string()).replace("{sql}", sql);
    match step {
        RoutineStep::Text(text) => text.replace("{set}", language.set),
        RoutineStep::Rows(number, sql, values) => query(number, &with_values(sql, values, language)),
        RoutineStep::Values(number, values) => query(number, &format!("SELECT {}", values.join(", "))),
        RoutineStep::Into(sql, values, variables) => {
            let clear: String = variables.iter().map(|it| language.clear.replace("{variable}", it)).collect();
            format!("{clear}{} INTO {};", with_values(sql, values, language), variables.join(", "))
        }
        RoutineStep::ChangeOne(sql, values) => {
            let text = with_values(sql, values, language);
            // An INSERT of VALUES adds its row or fails.
            let check = if text.starts_with("INSERT") { "" } else { language.check_one };
            format!("{text}; {check}")
        }
        RoutineStep::Change(sql, values, variable) => {
            format!("{}; {}", with_values(sql, values, language), language.count.replace("{variable}", variable))
        }
        RoutineStep::IfAny(sql, values, steps) => {
            let mut text = format!("IF EXISTS ({}) THEN\n", with_values(sql, values, language));
            write_steps(&mut text, steps, language);
            text.push_str("END IF;");
            text
        }
        RoutineStep::Each(row, sql, values, steps) => {
            let begin = language.each.replace("{row}", row).replace("{sql}", &with_values(sql, values, language));
            let mut text = format!("{begin}\n");
            write_steps(&mut text, steps, language);
            text.push_str(language.end_each);
            text
        }
    }
}

/// Text of a statement with its parameters replaced by expressions.
///
/// # Panics
/// If there are fewer values than the statement has parameters: a routine is declared once, and a test renders each.
fn with_values(sql: &Sql, values: &[&str], language: &Language) -> String {
    let (pieces, order) = split_parameters(language.dialect.fill(sql.text()).trim());
    let mut text = pieces[0].clone();
    for (piece, number) in pieces[1..].iter().zip(order) {
        text.push_str(values[number]);
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    static HELD: Sql = Sql::new("SELECT qty FROM held WHERE id = ?1 LIMIT ?2");
    static ADD: Sql = Sql::new("UPDATE held SET qty = qty + ?2 WHERE id = ?1");
    static NOTE: Sql = Sql::new("INSERT INTO noted VALUES (?1)");
    static LANGUAGE: Language = Language {
        dialect: &Dialect::STANDARD,
        parameter: |_| "INT".to_owned(),
        set: "SET",
        rows: "{sql};",
        clear: "SET {variable} = NULL; ",
        each: "FOR {row} IN ({sql}) DO",
        end_each: "END FOR;",
        declare_row: "ROW {row}",
        count: "SET {variable} = ROW_COUNT();",
        check_one: "CHECK;",
    };
    static ROUTINE: Routine = Routine::new(
        "move",
        &[("p_id", ColumnType::Ident), ("p_by", ColumnType::Integer)],
        &[("v_qty", ColumnType::Integer)],
        &[
            RoutineStep::Into(&HELD, &["p_id", "1"], &["v_qty"]),
            RoutineStep::Text("IF v_qty > 0 THEN {set} v_qty = 0; END IF;"),
            RoutineStep::Each(
                "item",
                &HELD,
                &["p_id", "20"],
                &[RoutineStep::ChangeOne(&ADD, &["item.qty", "p_by"]), RoutineStep::ChangeOne(&NOTE, &["p_id"])],
            ),
            RoutineStep::IfAny(&HELD, &["p_id", "1"], &[RoutineStep::Change(&ADD, &["p_id", "-p_by"], "v_qty")]),
            RoutineStep::Rows(0, &HELD, &["p_id", "20"]),
            RoutineStep::Values(1, &["v_qty", "p_id"]),
        ],
    );

    #[test]
    fn a_routine_is_written_in_the_words_of_its_language() {
        assert_eq!(ROUTINE.parameters(&LANGUAGE), "p_id INT, p_by INT");
        assert_eq!(ROUTINE.declarations("DECLARE ", &LANGUAGE), "DECLARE v_qty INTEGER;\nDECLARE ROW item;\n");
        let expected = [
            "SET v_qty = NULL; SELECT qty FROM held WHERE id = p_id LIMIT 1 INTO v_qty;",
            "IF v_qty > 0 THEN SET v_qty = 0; END IF;",
            "FOR item IN (SELECT qty FROM held WHERE id = p_id LIMIT 20) DO",
            "UPDATE held SET qty = qty + p_by WHERE id = item.qty; CHECK;",
            "INSERT INTO noted VALUES (p_id); ",
            "END FOR;",
            "IF EXISTS (SELECT qty FROM held WHERE id = p_id LIMIT 1) THEN",
            "UPDATE held SET qty = qty + -p_by WHERE id = p_id; SET v_qty = ROW_COUNT();",
            "END IF;",
            "SELECT qty FROM held WHERE id = p_id LIMIT 20;",
            "SELECT v_qty, p_id;",
            "",
        ];
        assert_eq!(ROUTINE.body(&LANGUAGE).split('\n').collect::<Vec<_>>(), expected);
        assert_eq!(ROUTINE.statements().len(), 7);
        assert_eq!((ROUTINE.name(), ROUTINE.params()), ("move", 2));
    }

    #[test]
    fn another_text_is_another_version() {
        assert_eq!(version_of(""), "cbf29ce484222325");
        assert_eq!(version_of("a"), "af63dc4c8601ec8c");
    }
}
