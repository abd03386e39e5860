//! Statements of a case over all its rounds, and hints that follow from the engine's own counters.

use crate::units::{self, counted};
use bourse_record::{Round, StatementFigures};
use serde::Serialize;

/// Statements of rounds, each with its calls of all rounds, the most time first.
pub fn statements(rounds: &[Round]) -> Vec<StatementFigures> {
    let mut all: Vec<StatementFigures> = Vec::new();
    for of in rounds.iter().flat_map(|round| &round.statements) {
        match all.iter_mut().find(|known| (&known.operation, &known.statement) == (&of.operation, &of.statement)) {
            // A histogram that cannot be read leaves the sum as it is.
            Some(known) => known.add(of).unwrap_or_default(),
            None => all.push(of.clone()),
        }
    }
    all.sort_by(|a, b| b.total_ns().total_cmp(&a.total_ns()));
    all
}

/// Whether the operation has the statement, or its beginning, as its name, as in a replay: then it says nothing more. Parameters have
/// numbers in one of them.
///
/// ```
/// use bourse_record::{Counts, StatementFigures};
/// let of = |operation: &str| StatementFigures {
///     operation: operation.to_owned(),
///     statement: "SELECT a,\n b FROM t WHERE c = ?1".to_owned(),
///     failed: 0,
///     rows: 0,
///     service: Counts::new().distribution(),
///     plan: Vec::new(),
///     work: None,
/// };
/// use bourse_verdict::view::is_named_by_statement;
/// assert!(is_named_by_statement(&of("SELECT a, b FROM t WHERE c = ?")) && is_named_by_statement(&of("SELECT a, b FR…")));
/// assert!(!is_named_by_statement(&of("by_user")));
/// ```
pub fn is_named_by_statement(of: &StatementFigures) -> bool {
    let letters =
        |text: &str| text.chars().filter(|it| !it.is_whitespace() && !it.is_ascii_digit()).collect::<String>();
    letters(&of.statement).starts_with(&letters(of.operation.trim_end_matches('…')))
}

/// Plans of two cases whose statements were timed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ComparedPlans {
    /// Statements whose plans differ, in the base and in the head, the one with the most time in the head first.
    pub changed: Vec<[StatementFigures; 2]>,
    /// Number of statements that have a plan in both.
    pub compared: usize,
}

impl ComparedPlans {
    /// Compares the plans of two cases. A statement is that of the same operation with the same text, or, where its text was
    /// changed, the only other one of the operation on each side.
    pub fn of(base: &[Round], head: &[Round]) -> Self {
        let [base, head] = [base, head].map(|rounds| {
            let planned = statements(rounds).into_iter().filter(|of| !of.plan.is_empty());
            planned.collect::<Vec<_>>()
        });
        let pairs: Vec<_> =
            head.iter().filter_map(|of| Some([counterpart(of, &head, &base)?.clone(), of.clone()])).collect();
        let compared = pairs.len();
        let differ = |[base, head]: &[StatementFigures; 2]| steps(&base.plan) != steps(&head.plan);
        Self { changed: pairs.into_iter().filter(differ).collect(), compared }
    }
}

/// Statement of the other side that does what a statement of `own` does.
fn counterpart<'s>(
    of: &StatementFigures,
    own: &[StatementFigures],
    other: &'s [StatementFigures],
) -> Option<&'s StatementFigures> {
    let same = |one: &StatementFigures, other: &StatementFigures| {
        (&one.operation, &one.statement) == (&other.operation, &other.statement)
    };
    let is_alone = |it: &&StatementFigures, others: &[StatementFigures]| {
        it.operation == of.operation && !others.iter().any(|other| same(it, other))
    };
    let mut changed = other.iter().filter(|it| is_alone(it, own));
    let is_only = own.iter().filter(|it| is_alone(it, other)).count() == 1;
    other.iter().find(|it| same(it, of)).or_else(|| changed.next().filter(|_| is_only && changed.next().is_none()))
}

/// Steps of a plan in the words of SQLite since version 3.36, which took away words: older versions say the same plan with them. Words that
/// later versions added are taken away too.
fn steps(plan: &[String]) -> Vec<String> {
    const TAKEN_AWAY: [(&str, &str); 3] = [("SCAN TABLE ", "SCAN "), ("SEARCH TABLE ", "SEARCH "), ("EXECUTE ", "")];
    let step = |line: &String| {
        let mut words = TAKEN_AWAY.iter().fold(line.clone(), |line, (old, new)| line.replace(old, new));
        words.truncate(words.strip_suffix(" LEFT-JOIN").unwrap_or(&words).len());
        // An older version does not say how many terms are sorted.
        if let Some((before, _)) =
            words.split_once("USE TEMP B-TREE FOR LAST ").filter(|(_, it)| it.ends_with("OF ORDER BY"))
        {
            words = format!("{before}USE TEMP B-TREE FOR RIGHT PART OF ORDER BY");
        }
        // A table with another name is called by that alone.
        if let Some((before, name)) = words.split_once(" AS ")
            && let Some((verb, _)) = before.split_once(' ')
        {
            words = format!("{verb} {name}");
        }
        // Its number was taken away and came back.
        if words.contains("SUBQUERY") {
            words.truncate(words.trim_end_matches(|it: char| it.is_ascii_digit() || it == ' ').len());
        }
        words
    };
    plan.iter().map(step).collect()
}

/// Facts about a statement that an index, or another statement, might change: from the engine's counters alone.
///
/// ```
/// use bourse_record::{Counts, StatementFigures, StatementWork};
/// let mut times = Counts::new();
/// times.record_many(9_000_000, 20);
/// let figures = StatementFigures {
///     operation: "orders".to_owned(),
///     statement: "SELECT * FROM orders WHERE user_id = ?1".to_owned(),
///     failed: 0,
///     rows: 60,
///     service: times.distribution(),
///     plan: vec!["SCAN orders".to_owned()],
///     work: Some(StatementWork { scanned_rows: 1_999_980, ..StatementWork::default() }),
/// };
/// let hints = bourse_verdict::view::hints(&figures);
/// assert_eq!(hints, ["scans whole tables: 100,000 rows a call for a result of 3"]);
/// let mut once = Counts::new();
/// once.record_many(9_000_000, 1);
/// let hints = bourse_verdict::view::hints(&StatementFigures { service: once.distribution(), rows: 1, ..figures });
/// assert_eq!(hints, ["scans whole tables: 1,999,981 rows in its one call for a result of 1"]);
/// ```
pub fn hints(of: &StatementFigures) -> Vec<String> {
    let (Some(work), calls) = (of.work, of.calls()) else { return Vec::new() };
    if calls == 0 {
        return Vec::new();
    }
    let each = |all: u64| units::number(all as f64 / calls as f64);
    let [in_each, a_call] = if calls == 1 { ["in its one call"; 2] } else { ["in each call", "a call"] };
    // A few rows are scanned as fast as found.
    let scans = (work.scanned_rows >= 10 * calls).then(|| {
        let rows = units::count((of.rows as f64 / calls as f64).round() as u64);
        // The first row of a scan is not stepped over.
        let scanned = units::count((work.scanned_rows as f64 / calls as f64).round() as u64 + 1);
        format!("scans whole tables: {scanned} rows {a_call} for a result of {rows}")
    });
    let indexes = (work.automatic_index_rows > 0).then(|| {
        let rows = each(work.automatic_index_rows);
        format!("makes an index of {rows} rows {in_each}: the database has none that fits")
    });
    let sorts = (work.sorts > 0).then(|| {
        let how_often = match work.sorts == calls {
            true => in_each.to_owned(),
            false => format!("{} in {}", counted(work.sorts, "time", "times"), counted(calls, "call", "calls")),
        };
        format!("sorts {how_often}: no index has the order")
    });
    [scans, indexes, sorts].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::Counts;

    #[test]
    fn a_statement_that_was_rewritten_is_compared_with_its_operations_other_one() {
        let of = |operation: &str, statement: &str| StatementFigures {
            operation: operation.to_owned(),
            statement: statement.to_owned(),
            failed: 0,
            rows: 0,
            service: Counts::new().distribution(),
            plan: vec!["SCAN t".to_owned()],
            work: None,
        };
        let base = [of("look", "a"), of("both", "b"), of("both", "c"), of("two", "d"), of("two", "e")];
        let head = [of("look", "x"), of("both", "b"), of("both", "y"), of("two", "z"), of("two", "w"), of("new", "a")];
        let found = head.each_ref().map(|it| counterpart(it, &head, &base).map(|it| &*it.statement));
        assert_eq!(found, [Some("a"), Some("b"), Some("c"), None, None, None]);
    }

    #[test]
    fn words_that_versions_of_sqlite_took_away_are_no_difference() {
        for (old, new) in [
            ("SCAN TABLE t AS q", "SCAN q"),
            ("SEARCH TABLE t USING COVERING INDEX ta (a=?)", "SEARCH t USING COVERING INDEX ta (a=?)"),
            ("SEARCH TABLE u AS w USING PRIMARY KEY (x=?)", "SEARCH w USING PRIMARY KEY (x=?)"),
            ("SEARCH TABLE u AS w USING INDEX ub (b=?)", "SEARCH w USING INDEX ub (b=?) LEFT-JOIN"),
            ("SCAN TABLE u", "SCAN u LEFT-JOIN"),
            ("USE TEMP B-TREE FOR RIGHT PART OF ORDER BY", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"),
            ("USE TEMP B-TREE FOR RIGHT PART OF ORDER BY", "USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY"),
            ("EXECUTE CORRELATED SCALAR SUBQUERY 1", "CORRELATED SCALAR SUBQUERY"),
        ] {
            assert_eq!(steps(&[old.to_owned()]), steps(&[new.to_owned()]));
        }
        let sorts = ["USE TEMP B-TREE FOR ORDER BY", "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"];
        assert_ne!(steps(&[sorts[0].to_owned()]), steps(&[sorts[1].to_owned()]), "a whole sort and a part");
        assert_ne!(steps(&["SCAN TABLE t".to_owned()]), steps(&["SEARCH t USING INDEX ta (a=?)".to_owned()]));
    }
}
