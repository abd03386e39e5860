//! Tables whose contents differ from the recorded ones for a known cause, which spreads from one to another: writes that were
//! refused or left out, or clocks and random numbers. What differs in them follows from that.

use super::shape::Shape;
use super::statement::RecordedStatement;
use super::tokens::{clock_columns, condition_names, has_clock, is_beyond_masks, read_names};
use bourse_engine::locked;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Name of what clocks and random numbers are read from, as if it were a table.
const CLOCK: &str = "the clock";

/// Trigger of a schema; so acts a default that is a clock.
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

/// Tables, and columns as `table.column`, that differ for one cause, in the course of a round.
#[derive(Debug, Default)]
pub(super) struct DifferingTables {
    /// Tables and views of the schema.
    known: BTreeSet<String>,
    /// Tables that views read.
    views: BTreeMap<String, BTreeSet<String>>,
    /// Columns of clocks that decide the rows of views, as conditions.
    view_conditions: BTreeMap<String, BTreeSet<String>>,
    triggers: Vec<Trigger>,
    children: Vec<Child>,
    /// Virtual tables, and tables with a new name, which may read or change any other.
    virtuals: BTreeSet<String>,
    /// Columns that clocks and random numbers fill, by tables, if these are followed.
    columns: BTreeMap<String, BTreeSet<String>>,
    /// Tables that differ from a moment on, in nanoseconds since the first execution of the recording began.
    later: Vec<(u64, String)>,
    /// Number of these whose moment was reached.
    reached: AtomicUsize,
    tables: Mutex<BTreeSet<String>>,
    /// Whether each statement writes to another table what depends on one that differs.
    spreads: Vec<AtomicBool>,
}

impl DifferingTables {
    /// Tables and columns that clocks and random numbers fill, with the `CREATE` statements of the schema.
    pub(super) fn of_clocks(schema: &[&str], statements: &[RecordedStatement]) -> Self {
        Self::of(schema, BTreeSet::from([CLOCK.to_owned()]), Vec::new(), statements)
    }

    /// Tables that differ in a round, with the `CREATE` statements of the schema: `differ` from its beginning, `later` from a moment on.
    pub(super) fn of(
        schema: &[&str],
        differ: BTreeSet<String>,
        later: Vec<(u64, String)>,
        statements: &[RecordedStatement],
    ) -> Self {
        let shapes: Vec<_> = schema.iter().map(|sql| Shape::of(sql)).collect();
        let known = shapes.iter().filter_map(|it| it.target.clone()).collect();
        let mut this = Self { known, later, ..Self::default() };
        let follows_clocks = differ.contains(CLOCK);
        if follows_clocks {
            for (table, columns) in
                statements.iter().filter_map(|it| Some((it.target.as_ref()?, it.clock_columns.as_ref()?)))
            {
                this.columns.entry(table.clone()).or_default().extend(columns.iter().cloned());
            }
            for (sql, shape) in schema.iter().zip(&shapes).filter(|(sql, _)| has_clock(sql)) {
                let Some((table, columns)) = shape.target.clone().zip(clock_columns(sql)) else { continue };
                this.columns.entry(table.clone()).or_default().extend(columns.iter().cloned());
                let changes = columns.iter().map(|column| format!("{table}.{column}")).collect();
                this.triggers.push(Trigger { fired_by: table, uses: BTreeSet::from([CLOCK.to_owned()]), changes });
            }
        }
        for (shape, sql) in shapes.into_iter().zip(schema) {
            // Columns may have the names of tables.
            let uses = || {
                let mut uses = this.among(&shape.names, &read_names(sql), shape.has_star);
                uses.extend((follows_clocks && has_clock(sql)).then(|| CLOCK.to_owned()));
                uses
            };
            match (shape.fired_by.clone(), shape.target.clone()) {
                (Some(fired_by), _) => {
                    let uses = uses();
                    this.triggers.push(Trigger { changes: lost_without(&shape), fired_by, uses });
                }
                (None, Some(view)) if shape.makes_view => {
                    let uses = uses();
                    let conditions = this.columns_among(&shape.names, &condition_names(sql));
                    this.view_conditions.insert(view.clone(), conditions);
                    this.views.insert(view, uses);
                }
                (None, Some(table)) if !shape.parents.is_empty() => {
                    this.children.push(Child { table, parents: shape.parents, follows: shape.has_side_changes });
                }
                // A renamed table has triggers and children of its old name.
                (None, Some(table)) if shape.has_to || shape.names.contains("virtual") => {
                    this.virtuals.insert(table);
                }
                _ => {}
            }
        }
        this.spreads = statements.iter().map(|_| AtomicBool::new(false)).collect();
        this.add(differ, statements);
        this
    }

    /// Tables and views among names, and the followed columns of these that are read.
    fn among(&self, names: &BTreeSet<String>, read: &BTreeSet<String>, has_star: bool) -> BTreeSet<String> {
        let mut among: BTreeSet<String> = names.intersection(&self.known).cloned().collect();
        for (table, columns) in &self.columns {
            if names.contains(table) {
                let read = columns.iter().filter(|column| has_star || read.contains(*column));
                among.extend(read.map(|column| format!("{table}.{column}")));
            }
        }
        among
    }

    /// Followed columns of tables by their names.
    fn columns_among(&self, tables: &BTreeSet<String>, names: &BTreeSet<String>) -> BTreeSet<String> {
        let of = |(table, columns): (&String, &BTreeSet<String>)| -> Vec<String> {
            columns.intersection(names).map(|column| format!("{table}.{column}")).collect()
        };
        self.columns.iter().filter(|(table, _)| tables.contains(*table)).flat_map(of).collect()
    }

    /// Tables and columns that differ and decide the number of rows that a statement returns or changes: columns in its conditions and in those of views,
    /// tables of which no column is known, and keys that foreign keys refer to.
    pub(super) fn deciding(&self, statement: &RecordedStatement) -> Option<String> {
        let mut tables = statement.names.clone();
        closed(&mut tables, |tables| {
            tables.iter().filter_map(|name| self.views.get(name)).flatten().cloned().collect()
        });
        let mut used = self.columns_among(&tables, &statement.conditions);
        used.extend(tables.iter().filter_map(|name| self.view_conditions.get(name)).flatten().cloned());
        if !statement.conditions.is_empty() {
            used.extend(tables.intersection(&self.known).cloned());
        }
        let written = self.written(statement);
        let parents = self.children.iter().filter(|it| written.contains(&it.table)).flat_map(|it| &it.parents);
        for (parent, columns) in parents.filter_map(|it| self.columns.get_key_value(it)) {
            used.extend(columns.iter().map(|column| format!("{parent}.{column}")));
        }
        let differing = locked(&self.tables);
        let found: Vec<_> = used.intersection(&differing).map(String::as_str).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    /// Tables and views that a statement names, with what the views read, and the followed columns.
    fn named(&self, statement: &RecordedStatement) -> BTreeSet<String> {
        let mut named = self.among(&statement.names, &statement.read, statement.has_star);
        closed(&mut named, |named| named.iter().filter_map(|name| self.views.get(name)).flatten().cloned().collect());
        named.extend(statement.clock_columns.is_none().then(|| CLOCK.to_owned()));
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

    /// Whether a statement may change rows besides its own: by a trigger, the action of a foreign key, or a virtual table.
    pub(super) fn changes_further(&self, statement: &RecordedStatement) -> bool {
        let written = self.written(statement);
        self.triggers.iter().any(|it| written.contains(&it.fired_by))
            || self.children.iter().any(|it| it.follows && !it.parents.is_disjoint(&written))
            || !written.is_disjoint(&self.virtuals)
    }

    /// Tables that a statement's execution adds to those that differ.
    fn spread(&self, statement: &RecordedStatement, differing: &BTreeSet<String>) -> BTreeSet<String> {
        let mut written = self.written(statement);
        if self.named(statement).is_disjoint(differing) {
            let fired = self.triggers.iter().filter(|it| written.contains(&it.fired_by));
            let depending =
                fired.filter(|it| !it.uses.iter().all(|name| *name == it.fired_by || !differing.contains(name)));
            written = depending.flat_map(|it| it.changes.iter().cloned()).collect();
            if let (Some(table), Some(columns), false) =
                (&statement.target, &statement.clock_columns, self.columns.is_empty())
            {
                written.extend(columns.iter().map(|column| format!("{table}.{column}")));
            }
        }
        &written - differing
    }

    fn add(&self, tables: BTreeSet<String>, statements: &[RecordedStatement]) {
        let mut differing = locked(&self.tables);
        let known = differing.len();
        differing.extend(tables);
        if differing.len() == known {
            return;
        }
        for (statement, spreads) in statements.iter().zip(&self.spreads).filter(|(statement, _)| !statement.reads) {
            spreads.store(!self.spread(statement, &differing).is_empty(), Ordering::Relaxed);
        }
    }

    /// Notes that a statement was refused, or had another effect than in the recording.
    pub(super) fn missed(&self, number: usize, statements: &[RecordedStatement]) {
        self.add(self.written(&statements[number]), statements);
    }

    /// Notes that a statement was executed.
    pub(super) fn executed(&self, number: usize, statements: &[RecordedStatement]) {
        // What it spreads to may fire a trigger that spreads it on.
        while self.spreads.get(number).is_some_and(|it| it.load(Ordering::Relaxed)) {
            let spread = self.spread(&statements[number], &locked(&self.tables));
            self.add(spread, statements);
        }
    }

    /// Notes that a moment of the recording was reached.
    pub(super) fn reached(&self, at_ns: u64, statements: &[RecordedStatement]) {
        let reached = self.later.partition_point(|(from_ns, _)| *from_ns <= at_ns);
        if self.reached.load(Ordering::Relaxed) < reached {
            self.add(self.later[..reached].iter().map(|(_, table)| table.clone()).collect(), statements);
            self.reached.fetch_max(reached, Ordering::Relaxed);
        }
    }

    /// Whether a query may read a table that one of the statements with these numbers writes.
    pub(super) fn reads_from(
        &self,
        query: &RecordedStatement,
        writers: &BTreeSet<usize>,
        statements: &[RecordedStatement],
    ) -> bool {
        let read = self.named(query);
        let is_known = !read.is_empty() && read.is_disjoint(&self.virtuals);
        !is_known || writers.iter().any(|number| !self.written(&statements[*number]).is_disjoint(&read))
    }

    /// Tables that differ, of those on which the result of a statement depends: those that it names, and of a write
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
        let differing = locked(&self.tables);
        let found: Vec<_> = used.intersection(&differing).map(String::as_str).collect();
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

/// Views, and tables that triggers fill, whose rows masked values decide otherwise than those of the program; `collated` are the columns with
/// a collation.
pub(super) fn decided_by_masks(schema: &[&str], collated: &BTreeSet<String>) -> BTreeSet<String> {
    let is_beyond = |sql: &&&str| is_beyond_masks(sql) || !collated.is_disjoint(&condition_names(sql));
    let of = |shape: Shape| -> BTreeSet<String> {
        if shape.makes_view { shape.target.into_iter().collect() } else { shape.changed_by_trigger }
    };
    schema.iter().filter(is_beyond).flat_map(|sql| of(Shape::of(sql))).collect()
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
        let differing = DifferingTables::of(&schema, lost, Vec::new(), &statements);
        (0..statements.len()).for_each(|number| differing.executed(number, &statements));
        let concerned = statements.each_ref().map(|it| differing.concerned(it));
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
        let differing = DifferingTables::of(&schema, BTreeSet::new(), Vec::new(), &statements);
        let concerned = || statements.iter().map(|it| differing.concerned(it).unwrap_or_default()).collect::<Vec<_>>();
        assert!(concerned().iter().all(String::is_empty));
        differing.missed(0, &statements);
        // A child is refused without its parent; until then its own table has all.
        let expected = ["log, parent", "parent", "log", "parent", "", "", "parent", ""];
        assert_eq!(concerned(), expected);
        (0..statements.len()).for_each(|number| differing.executed(number, &statements));
        assert_eq!(concerned()[4..6], ["", "sums"], "counts of the parents went into sums");
        differing.missed(3, &statements);
        assert_eq!(concerned()[4], "child", "a row was refused, because its parent is missing");
    }

    /// One default that is a clock once kept every value of a recording from being compared.
    #[test]
    fn a_clock_concerns_the_columns_that_it_fills_and_what_is_made_of_them() {
        let schema = [
            "CREATE TABLE log(m, at DEFAULT CURRENT_TIMESTAMP)",
            "CREATE TABLE item(id, name, changed)",
            "CREATE TABLE days(day)",
            "CREATE VIEW recent AS SELECT at FROM log",
            "CREATE TRIGGER t AFTER UPDATE ON item BEGIN INSERT INTO days VALUES (new.changed); END",
        ];
        let statements = [
            "INSERT INTO log(m) VALUES (?)",
            "UPDATE item SET changed = datetime('now'), name = ? WHERE id = ?",
            "SELECT m FROM log",
            "SELECT * FROM log",
            "SELECT at FROM recent",
            "SELECT name FROM item",
            "SELECT i.changed FROM item i",
            "SELECT day FROM days",
            "INSERT INTO item(name) SELECT at FROM log",
        ]
        .map(statement);
        let differing = DifferingTables::of_clocks(&schema, &statements);
        let concerned =
            || statements[2..8].iter().map(|it| differing.concerned(it).unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(concerned(), [""; 6]);
        (0..2).for_each(|number| differing.executed(number, &statements));
        let expected = ["", "log.at", "log.at", "", "item.changed", "days"];
        assert_eq!(concerned(), expected);
        (0..2).for_each(|number| differing.executed(number, &statements));
        assert_eq!(concerned(), expected, "a second time");
        differing.executed(8, &statements);
        assert_eq!(concerned()[3], "item");
    }

    /// A refused write to a table of an attached database once concerned that of the same name.
    #[test]
    fn tables_of_other_databases_are_others() {
        let statements = ["INSERT INTO z.t VALUES (1)", "SELECT a FROM t", "SELECT a FROM z.t"].map(statement);
        let differing = DifferingTables::of(
            &["CREATE TABLE t(a)", "CREATE TABLE z.t(a)"],
            BTreeSet::new(),
            Vec::new(),
            &statements,
        );
        differing.missed(0, &statements);
        assert_eq!(
            statements.each_ref().map(|it| differing.concerned(it)),
            [Some("z.t".to_owned()), None, Some("z.t".to_owned())]
        );
    }

    #[test]
    fn a_table_lacks_what_was_not_recorded_from_that_moment_on() {
        let statements = ["SELECT a FROM t"].map(statement);
        let differing =
            DifferingTables::of(&["CREATE TABLE t(a)"], BTreeSet::new(), vec![(5, "t".to_owned())], &statements);
        differing.reached(4, &statements);
        assert_eq!(differing.concerned(&statements[0]), None);
        differing.reached(5, &statements);
        assert_eq!(differing.concerned(&statements[0]).as_deref(), Some("t"));
    }
}
