//! Tables whose contents a replay may lack, since a write was refused or left out: what differs in them follows from that.

use super::recording::RecordedStatement;
use super::shape::Shape;
use bourse_engine::locked;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Object of a schema that relates tables.
#[derive(Debug, PartialEq, Eq)]
enum Relation {
    /// View of this name: reading it reads the tables.
    View(String),
    /// Trigger: writing one of the tables may write the others.
    Trigger,
    /// Foreign keys: writing one of the tables may read or change the others.
    Keys,
}

/// Tables that lack writes, in the course of a round.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    /// Tables and views of the schema.
    known: BTreeSet<String>,
    relations: Vec<(Relation, BTreeSet<String>)>,
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
        for Shape { names, target, mut parents, makes_view, .. } in shapes {
            let names = names.intersection(&this.known).cloned().collect();
            let relation = match target {
                Some(name) if !parents.is_empty() => {
                    parents.insert(name);
                    (Relation::Keys, parents)
                }
                Some(name) if makes_view => (Relation::View(name), names),
                // Columns may have the names of tables.
                Some(_) => continue,
                None => (Relation::Trigger, names),
            };
            this.relations.push(relation);
        }
        this.spreads = statements.iter().map(|_| AtomicBool::new(false)).collect();
        this.lose(lacks, statements);
        this
    }

    /// Names that are reached from others by some relations.
    fn reached(&self, from: &BTreeSet<String>, by: impl Fn(&Relation) -> bool) -> BTreeSet<String> {
        let mut reached: BTreeSet<String> = from.intersection(&self.known).cloned().collect();
        loop {
            let known = reached.len();
            for (relation, names) in self.relations.iter().filter(|(relation, _)| by(relation)) {
                let leads = match relation {
                    Relation::View(name) => reached.contains(name),
                    Relation::Trigger | Relation::Keys => !reached.is_disjoint(names),
                };
                if leads {
                    reached.extend(names.iter().cloned());
                }
            }
            if reached.len() == known {
                return reached;
            }
        }
    }

    /// Tables that a statement may change.
    fn written(&self, statement: &RecordedStatement) -> BTreeSet<String> {
        let target = statement.target.clone().map(|name| BTreeSet::from([name]));
        match &target {
            _ if statement.reads => BTreeSet::new(),
            Some(target) => self.reached(target, |it| *it == Relation::Trigger),
            None => self.reached(&statement.names, |it| *it == Relation::Trigger),
        }
    }

    fn lose(&self, tables: BTreeSet<String>, statements: &[RecordedStatement]) {
        let mut lacking = locked(&self.tables);
        let known = lacking.len();
        lacking.extend(tables);
        if lacking.len() == known {
            return;
        }
        for (statement, spreads) in statements.iter().zip(&self.spreads).filter(|(statement, _)| !statement.reads) {
            let used = self.reached(&statement.names, |it| *it != Relation::Keys);
            let does = !used.is_disjoint(&lacking) && !self.written(statement).is_subset(&lacking);
            spreads.store(does, Ordering::Relaxed);
        }
    }

    /// Notes that a statement was refused, or had another effect than in the recording.
    pub(super) fn missed(&self, number: usize, statements: &[RecordedStatement]) {
        self.lose(self.written(&statements[number]), statements);
    }

    /// Notes that a statement was executed.
    pub(super) fn executed(&self, number: usize, statements: &[RecordedStatement]) {
        if self.spreads.get(number).is_some_and(|it| it.load(Ordering::Relaxed)) {
            self.missed(number, statements);
        }
    }

    /// Tables that lack writes, of those that a statement reads or writes.
    pub(super) fn concerned(&self, statement: &RecordedStatement) -> Option<String> {
        let lacking = locked(&self.tables);
        let used = self.reached(&statement.names, |it| !statement.reads || matches!(it, Relation::View(_)));
        let found: Vec<_> = used.intersection(&lacking).map(String::as_str).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let expected = ["log, parent", "parent", "log", "log, parent", "", "", "log, parent", ""];
        assert_eq!(concerned(), expected);
        (0..statements.len()).for_each(|number| lacking.executed(number, &statements));
        assert_eq!(concerned()[4..6], ["", "sums"], "counts of the parents went into sums");
        lacking.missed(3, &statements);
        assert_eq!(concerned()[4], "child", "a row was refused, because its parent is missing");
    }
}
