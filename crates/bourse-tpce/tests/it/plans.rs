//! Query plans of SQLite for each statement: by key, without sorting, whatever the size of the database.

use crate::loaded::{Copy, fresh, path};
use bourse_engine::{Engine, Sql};
use bourse_schema::SQLITE;
use bourse_tpce::transactions::Transaction;
use bourse_tpce::transactions::kind::{routine_statements, shared_statements};

/// Steps that are neither a search by key nor an insertion, each with the reason why it is allowed.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("SELECT ex_id, ex_desc", "SCAN exchange", "all four exchanges are wanted"),
    ("SELECT tr_t_id, ?1, 'SBMT'", "SCAN trade_request", "Trade-Cleanup empties the table"),
    ("SELECT tr_t_id, ?1, 'CNCL'", "SCAN trade_request", "Trade-Cleanup empties the table"),
    ("DELETE FROM trade_request", "SCAN trade_request", "Trade-Cleanup empties the table"),
    ("SELECT t_id, t_s_symb, t_qty, st_name", "SCAN latest", "the ten trades just found"),
    ("SELECT (SELECT cr_rate", "SCAN CONSTANT ROW", "there is no table"),
    ("SELECT b_name, sum", "USE TEMP B-TREE FOR GROUP BY", "at most forty names"),
    ("SELECT b_name, sum", "USE TEMP B-TREE FOR ORDER BY", "at most forty sums, an order no index has"),
    ("SELECT ca_id, ca_bal", "USE TEMP B-TREE FOR ORDER BY", "at most ten sums, an order no index has"),
    ("SELECT t_id, t_s_symb, t_qty, st_name", "USE TEMP B-TREE FOR ORDER BY", "at most thirty rows of ten trades"),
];

fn statements() -> Vec<&'static Sql> {
    let own = Transaction::ALL.iter().flat_map(|kind| kind.statements().iter().copied());
    own.chain(shared_statements()).collect()
}

/// Beginnings of steps that only describe the structure of other steps.
const STRUCTURE: &[&str] = &[
    "CO-ROUTINE",
    "CORRELATED SCALAR SUBQUERY",
    "SCALAR SUBQUERY",
    "COMPOUND QUERY",
    "LEFT-MOST SUBQUERY",
    "UNION ALL",
    "LIST SUBQUERY",
    "USING ROWID SEARCH ON TABLE trade_request FOR IN-OPERATOR",
];

/// Whether a step finds its rows by a key or index, or accesses none.
fn is_fine(step: &str) -> bool {
    let step = step.trim_start();
    let by_key = step.starts_with("SEARCH") && step.contains('(');
    // The largest key is the last leaf of the table's tree.
    by_key || step == "SEARCH trade" || STRUCTURE.iter().any(|word| step.starts_with(word))
}

#[test]
fn every_statement_finds_its_rows_by_key() {
    check(&fresh());
}

/// Both builds plan alike, since both store the statistics of `ANALYZE`.
#[test]
fn the_lean_build_plans_likewise() {
    let _copy = Copy::new("plans-lean.db");
    let target = format!("sqlite-lean:{}", path("plans-lean.db").display());
    check(&bourse_engine_sqlite_lean::open(&target).expect("a valid target"));
}

#[track_caller]
fn check(engine: &dyn Engine) {
    let mut session = engine.session().expect("connects");
    let mut bad = Vec::new();
    let mut needed = vec![false; ALLOWED.len()];
    for sql in statements() {
        let text = sql.render(&SQLITE).split_whitespace().collect::<Vec<_>>().join(" ");
        for step in session.plan(&text).expect("has a plan") {
            let excuse =
                ALLOWED.iter().position(|(of, allowed, _)| text.contains(of) && step.trim_start().ends_with(allowed));
            match excuse {
                _ if is_fine(&step) => {}
                Some(which) => needed[which] = true,
                None => bad.push(format!("{step}\n    {text}")),
            }
        }
    }
    assert!(bad.is_empty(), "steps that need a reason:\n{}", bad.join("\n"));
    let idle: Vec<_> = ALLOWED.iter().zip(needed).filter(|(_, needed)| !needed).map(|(allowed, _)| allowed).collect();
    assert!(idle.is_empty(), "excuses that nothing needs: {idle:?}");
}

#[test]
fn no_statement_is_left_out_of_the_lists() {
    let written = |folder: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/transactions").join(folder);
        let files = std::fs::read_dir(folder).expect("the sources are there").map(|entry| entry.expect("an entry"));
        let sources = files.filter(|entry| entry.path().is_file());
        let text = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).expect("readable");
        sources.map(|entry| text(entry).matches(": Sql =").count()).sum::<usize>()
    };
    assert_eq!(statements().len(), written(""));
    // Engines with routines look at the plans of these.
    assert_eq!(routine_statements().count(), written("routines"));
}
