//! Tables whose contents a replay may lack, since a write was refused or left out: what differs in them follows from that.

use super::recording::RecordedStatement;
use super::shape::Shape;
use bourse_engine::locked;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Trigger of a schema.
#[derive(Debug)]
struct Trigger {
    /// Table or view whose changes fire it.
    fired_by: String,
    /// Tables that it reads or changes.
    uses: BTreeSet<String>,
    /// Tables that it changes, and the first one if it can refuse a change.
    changes: BTreeSet<String>,
}

/// Table with foreign keys.
#[derive(Debug)]
struct Child {
    table: String,
    parents: BTreeSet<String>,
    /// Whether changes of a parent change it.
    follows: bool,
}

/// Tables that lack writes, in the course of a round.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    /// Tables and views of the schema.
    known: BTreeSet<String>,
    /// Tables that views read.
    views: BTreeMap<String, BTreeSet<String>>,
    triggers: Vec<Trigger>,
    children: Vec<Child>,
    tables: Mutex<BTreeSet<String>>,
    /// Whether each statement writes to another table what depends on one that lacks something.
    spreads: Vec<AtomicBool>,
}

impl Lacking {
    /// State at the beginning of a round, with the `CREATE` statements of the schema; `lacks` are tables that lack writes already.
    pub(super) fn of<'s>(
        schema: impl Iterator<Item = &'s str>,
        lacks: BTreeSet<String>,
        statements: &[RecordedStatement],
    ) -> Self {
        let shapes: Vec<_> = schema.map(Shape::of).collect();
        let mut this = Self { known: shapes.iter().filter_map(|it| it.target.clone()).collect(), ..Self::default() };
        for shape in shapes {
            // Columns may have the names of tables.
            let uses = || shape.names.intersection(&this.known).cloned().collect();
            match (shape.fired_by.clone(), shape.target.clone()) {
                (Some(fired_by), _) => {
                    let uses = uses();
                    this.triggers.push(Trigger { changes: lost_without(&shape), fired_by, uses });
                }
                (None, Some(view)) if shape.makes_view => {
                    let uses = uses();
                    this.views.insert(view, uses);
                }
                (None, Some(table)) if !shape.parents.is_empty() => {
                    this.children.push(Child { table, parents: shape.parents, follows: shape.has_side_changes });
                }
                _ => {}
            }
        }
        this.spreads = statements.iter().map(|_| AtomicBool::new(false)).collect();
        this.lose(lacks, statements);
        this
    }

    /// Tables and views that a statement names, with the tables that the views read.
    fn named(&self, statement: &RecordedStatement) -> BTreeSet<String> {
        let mut named: BTreeSet<String> = statement.names.intersection(&self.known).cloned().collect();
        closed(&mut named, |named| named.iter().filter_map(|name| self.views.get(name)).flatten().cloned().collect());
        named
    }

    /// Tables that a statement may change, by triggers and by actions of foreign keys too.
    fn written(&self, statement: &RecordedStatement) -> BTreeSet<String> {
        let mut written = match &statement.target {
            _ if statement.reads => return BTreeSet::new(),
            Some(target) => BTreeSet::from([target.clone()]),
            None => statement.names.intersection(&self.known).cloned().collect(),
        };
        closed(&mut written, |written| {
            let fired = self.triggers.iter().filter(|it| written.contains(&it.fired_by)).flat_map(|it| &it.changes);
            let following = self.children.iter().filter(|it| it.follows && !it.parents.is_disjoint(written));
            fired.chain(following.map(|it| &it.table)).cloned().collect()
        });
        written
    }

    /// Tables that a statement's execution adds to those that lack writes.
    fn spread(&self, statement: &RecordedStatement, lacking: &BTreeSet<String>) -> BTreeSet<String> {
        let mut written = self.written(statement);
        if self.named(statement).is_disjoint(lacking) {
            let fired = self.triggers.iter().filter(|it| written.contains(&it.fired_by));
            let depending =
                fired.filter(|it| !it.uses.iter().all(|name| *name == it.fired_by || !lacking.contains(name)));
            written = depending.flat_map(|it| it.changes.iter().cloned()).collect();
        }
        &written - lacking
    }

    fn lose(&self, tables: BTreeSet<String>, statements: &[RecordedStatement]) {
        let mut lacking = locked(&self.tables);
        let known = lacking.len();
        lacking.extend(tables);
        if lacking.len() == known {
            return;
        }
        for (statement, spreads) in statements.iter().zip(&self.spreads).filter(|(statement, _)| !statement.reads) {
            spreads.store(!self.spread(statement, &lacking).is_empty(), Ordering::Relaxed);
        }
    }

    /// Notes that a statement was refused, or had another effect than in the recording.
    pub(super) fn missed(&self, number: usize, statements: &[RecordedStatement]) {
        self.lose(self.written(&statements[number]), statements);
    }

    /// Notes that a statement was executed.
    pub(super) fn executed(&self, number: usize, statements: &[RecordedStatement]) {
        if self.spreads.get(number).is_some_and(|it| it.load(Ordering::Relaxed)) {
            let spread = self.spread(&statements[number], &locked(&self.tables));
            self.lose(spread, statements);
        }
    }

    /// Tables that lack writes, of those on which the result of a statement depends: those that it names, and of a write
    /// also those that it changes, that its triggers use, and that foreign keys relate to what it changes.
    pub(super) fn concerned(&self, statement: &RecordedStatement) -> Option<String> {
        let (mut used, written) = (self.named(statement), self.written(statement));
        let fired = self.triggers.iter().filter(|it| written.contains(&it.fired_by)).flat_map(|it| &it.uses);
        used.extend(fired.cloned());
        for Child { table, parents, .. } in &self.children {
            if written.contains(table) {
                used.extend(parents.iter().cloned());
            }
            if !parents.is_disjoint(&written) {
                used.insert(table.clone());
            }
        }
        used.extend(written);
        let lacking = locked(&self.tables);
        let found: Vec<_> = used.intersection(&lacking).map(String::as_str).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }
}

/// Adds to names those that follow from them, until no more do.
fn closed(names: &mut BTreeSet<String>, following: impl Fn(&BTreeSet<String>) -> Vec<String>) {
    let mut known = 0;
    while std::mem::replace(&mut known, names.len()) < names.len() {
        names.extend(following(names));
    }
}

/// Tables that lack changes where the trigger that a statement makes is left out: those that it changes, and the table that fires
/// it if it can refuse a change.
pub(super) fn lost_without(trigger: &Shape) -> BTreeSet<String> {
    let refusing = trigger.fired_by.clone().filter(|_| trigger.names.contains("raise"));
    trigger.changed_by_trigger.iter().cloned().chain(refusing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trigger that is left out takes nothing from the table that fires it, nor from those that refer to that one.
    #[test]
    fn a_trigger_that_is_left_out_concerns_what_it_writes_alone() {
        let trigger = "CREATE TRIGGER t AFTER INSERT ON p BEGIN INSERT INTO lg VALUES (new.id); END";
        let schema = ["CREATE TABLE p(id)", "CREATE TABLE k(a REFERENCES p(id))", "CREATE TABLE lg(x)", trigger];
        let statements =
            ["INSERT INTO p VALUES (1)", "INSERT INTO k VALUES (9)", "SELECT x FROM lg", "SELECT id FROM p"];
        let statements = statements.map(statement);
        let lost = lost_without(&Shape::of(trigger));
        assert_eq!(lost, BTreeSet::from(["lg".to_owned()]));
        let lacking = Lacking::of(schema.into_iter(), lost, &statements);
        (0..statements.len()).for_each(|number| lacking.executed(number, &statements));
        let concerned = statements.each_ref().map(|it| lacking.concerned(it));
        assert_eq!(concerned, [Some("lg".to_owned()), None, Some("lg".to_owned()), None]);
        let refusing = "CREATE TRIGGER t BEFORE INSERT ON p WHEN own(new.id) BEGIN SELECT RAISE(ABORT, 'no'); END";
        assert_eq!(lost_without(&Shape::of(refusing)), BTreeSet::from(["p".to_owned()]));
    }

    fn statement(sql: &str) -> RecordedStatement {
        RecordedStatement::of(sql, sql.starts_with("SELECT"))
    }

    #[test]
    fn what_follows_from_a_missed_write_is_found_by_views_triggers_keys_and_queries() {
        let schema = [
            "CREATE TABLE parent(id INTEGER PRIMARY KEY)",
            "CREATE TABLE child(id, p REFERENCES parent(id))",
            "CREATE TABLE log(text)",
            "CREATE TABLE sums(n, log)",
            "CREATE TABLE other(a)",
            "CREATE VIEW families AS SELECT * FROM parent JOIN child ON p = parent.id",
            "CREATE TRIGGER t AFTER INSERT ON parent BEGIN INSERT INTO log VALUES (new.id); END",
        ];
        let statements = [
            "INSERT INTO parent VALUES (own(?))",
            "SELECT count(*) FROM families",
            "SELECT text FROM log",
            "INSERT INTO child VALUES (?, ?)",
            "SELECT id FROM child",
            "SELECT a FROM other, sums",
            "INSERT INTO sums SELECT count(*) FROM parent",
            "INSERT INTO other VALUES (?)",
        ]
        .map(statement);
        let lacking = Lacking::of(schema.into_iter(), BTreeSet::new(), &statements);
        let concerned = || statements.iter().map(|it| lacking.concerned(it).unwrap_or_default()).collect::<Vec<_>>();
        assert!(concerned().iter().all(String::is_empty));
        lacking.missed(0, &statements);
        // A child is refused without its parent; until then its own table has all.
        let expected = ["log, parent", "parent", "log", "parent", "", "", "parent", ""];
        assert_eq!(concerned(), expected);
        (0..statements.len()).for_each(|number| lacking.executed(number, &statements));
        assert_eq!(concerned()[4..6], ["", "sums"], "counts of the parents went into sums");
        lacking.missed(3, &statements);
        assert_eq!(concerned()[4], "child", "a row was refused, because its parent is missing");
    }
}
