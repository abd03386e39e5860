//! Steps of a recording's users: what each executes, in the order that the traces fix.

use super::recording::{RecordedConnection, Recording};
use super::shape::short;
use super::statement::{Control, RecordedStatement, Statements};
use crate::workload::named;
use bourse_engine_sqlite::StoredValue;
use bourse_record::grouped;
use bourse_trace::TraceValue;
use bourse_trace::digest::RowsDigest;
use std::collections::BTreeSet;
use std::ops::Range;

/// Effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Executes the statement.
    Execute,
    /// Begins a transaction, then executes the statement if `with_statement`.
    Begin { writes: bool, with_statement: bool },
    /// Commits, after the statement if `with_statement`.
    Commit { with_statement: bool },
    /// Rolls back.
    Rollback,
}

/// One execution.
#[derive(Debug)]
pub(super) struct Step {
    /// Place among the steps of all users, one user's after another's.
    pub(super) number: usize,
    pub(super) action: Action,
    pub(super) statement: usize,
    pub(super) values: Vec<StoredValue>,
    /// Begin, in nanoseconds since the first one's.
    pub(super) due_ns: u64,
    /// End, likewise.
    pub(super) until_ns: u64,
    /// Recorded rows; `changes`, `code` and `is_complete` are recorded too.
    pub(super) rows: RowsDigest,
    pub(super) changes: u64,
    pub(super) code: u64,
    pub(super) is_complete: bool,
    /// Reason that the step is not executed.
    pub(super) cause_elsewhere: Option<&'static str>,
    pub(super) unit: usize,
    pub(super) begins_unit: bool,
    pub(super) ends_unit: bool,
    /// Whether its connection was opened since the user's step before.
    pub(super) opens: bool,
    /// Numbers of the statements of its connection that write, or whose writes are undone, while it reads.
    pub(super) beside: BTreeSet<usize>,
}

/// A transaction, or a statement outside one, with what has to end before it begins: all that had ended in the recording, and
/// of writing transactions all that ended before this one does. SQLite writes one after another, so this is their order.
#[derive(Debug, Default)]
pub(super) struct Unit {
    begin_ns: u64,
    /// Begin of the state that it reads: its own, or that of a statement which the program still had open.
    reads_from_ns: u64,
    /// Begin of its last step, before which others do not see its writes.
    last_ns: u64,
    end_ns: u64,
    pub(super) writes: bool,
    /// Whether it surely changes what other connections see.
    pub(super) surely_writes: bool,
    /// Place among all units by their ends.
    pub(super) rank: usize,
    /// Number of units, by their ends, that have to end before.
    pub(super) after: usize,
    /// Number of writing units that have to end before.
    pub(super) after_writers: usize,
    /// User whose connection it is on.
    user: usize,
    /// Places among the recording's [`Writer`]s of those that may have written while it reads, of its own user too.
    beside: Range<usize>,
}

/// A transaction, or a statement outside one, that writes.
#[derive(Debug)]
pub(super) struct Writer {
    user: usize,
    begin_ns: u64,
    /// Numbers of its statements that write.
    statements: BTreeSet<usize>,
}

impl Recording {
    /// Gives connections to users, one after another where they did not overlap, and orders their transactions.
    pub(super) fn lay_out(&mut self, mut connections: Vec<RecordedConnection>, statements: &mut Statements) {
        connections.sort_by_key(|it| it.from_ns);
        statements.mark_temporary();
        let first = connections.iter().flat_map(|it| it.executed.first()).map(|(begin, ..)| *begin).min().unwrap_or(0);
        // For each user the end of its last connection.
        let mut free: Vec<u64> = Vec::new();
        for mut connection in connections {
            connection.executed.sort_by_key(|(begin, ..)| *begin);
            let user = free.iter().position(|to| *to <= connection.from_ns).unwrap_or(free.len());
            if user == free.len() {
                free.push(0);
                self.users.push(Vec::new());
            }
            free[user] = connection.to_ns;
            let mut steps = std::mem::take(&mut self.users[user]);
            let opened_at = steps.len();
            self.add_steps(connection, first, statements, &mut steps);
            if let Some(step) = steps.get_mut(opened_at) {
                step.opens = opened_at > 0;
            }
            self.users[user] = steps;
        }
        self.users.retain(|steps| !steps.is_empty());
        self.users.iter_mut().flatten().enumerate().for_each(|(number, step)| step.number = number);
        self.order(&statements.all);
        self.lacks.iter_mut().for_each(|(at_ns, _)| *at_ns = at_ns.saturating_sub(first));
        self.lacks.sort();
        // The first write makes the database, in the encoding chosen by then.
        let mut steps: Vec<&Step> = self.users.iter().flatten().collect();
        steps.sort_by_key(|step| step.due_ns);
        let statements_before = steps.iter().map(|step| &statements.all[step.statement]).take_while(|it| it.reads);
        let chosen = statements_before.filter(|it| it.chooses_encoding).last();
        self.encoding = chosen.map(|it| it.text.clone());
        let last = self.units.iter().map(|it| it.end_ns).max().unwrap_or(0);
        let executions = self.users.iter().map(Vec::len).sum::<usize>() as u64;
        self.lasted_ns = last.saturating_sub(first).max(1);
        let seconds = self.lasted_ns as f64 / 1e9;
        self.facts.push(named("recorded executions", grouped(executions)));
        self.facts.push(named("recorded for", format!("{seconds:.3} s")));
    }

    fn add_steps(
        &mut self,
        connection: RecordedConnection,
        first: u64,
        statements: &mut Statements,
        steps: &mut Vec<Step>,
    ) {
        /// Codes of executions that another connection, or the program, ended: busy, locked, interrupted.
        const OF_OTHERS: [u64; 3] = [5, 6, 9];
        /// Code of a statement that a rollback ended.
        const ABORTED: u64 = 4;
        /// Code of a commit that leaves a deferred foreign key broken, and its transaction open.
        const CONSTRAINT: u64 = 19;
        let (mut is_open, mut begun, first_unit) = (false, 0, self.units.len());
        // Steps that have not ended, and the begin of the state that they and the transaction read.
        let (mut unended, mut reads_from_ns): (Vec<usize>, u64) = (Vec::new(), 0);
        for (begin_ns, end_ns, statement, executed) in connection.executed {
            if let Some(setting) = &statements.all[statement].setting {
                let what = format!("{}, which {} sets", short(&statements.all[statement].text), setting.place());
                *self.left_out.entry(what).or_default() += 1;
                if self.settings.last() != Some(setting) {
                    self.settings.push(setting.clone());
                }
                continue;
            }
            let control = statements.all[statement].control;
            let [before, after] = [executed.autocommit_before, executed.autocommit_after];
            let code = executed.code & 0xFF;
            // An error that ended the transaction; one that is aborted was open while another statement ended it.
            let is_over = is_open && ![0, ABORTED].contains(&code) && after;
            if OF_OTHERS.contains(&code) || (control.is_some() && ![0, CONSTRAINT].contains(&code)) {
                self.leave_out("that ended with a lock conflict, an interruption, or a transaction unchanged", 1);
                if is_over {
                    steps.push(Step::rollback(self.units.len() - 1, begin_ns.saturating_sub(first), statements));
                    is_open = false;
                }
                continue;
            }
            // SQLite checkpoints before the first read or write of a transaction alone, and a replay may begin it with its lock.
            if is_open && statements.all[statement].checkpoints {
                self.leave_out("of a checkpoint within a transaction", 1);
                continue;
            }
            if let Some(what) = executed.unbindable() {
                self.leave_out(&format!("with a {what}"), 1);
                self.lacks.extend(statements.all[statement].changed_table().map(|table| (begin_ns, table)));
                continue;
            }
            let values = executed.values.into_iter().filter_map(stored).collect();
            let action = match control {
                Some(Control::Begin) => Action::Begin { writes: false, with_statement: false },
                Some(Control::Savepoint) if before && !is_open => Action::Begin { writes: false, with_statement: true },
                Some(Control::Commit) => Action::Commit { with_statement: false },
                Some(Control::Release) if after => Action::Commit { with_statement: true },
                Some(Control::Rollback) => Action::Rollback,
                _ => Action::Execute,
            };
            let begins_unit = !is_open;
            let due_ns = begin_ns.saturating_sub(first);
            unended.retain(|at| steps[*at].until_ns > due_ns);
            let surely_writes = !statements.all[statement].reads && !statements.all[statement].may_change_nothing;
            // While it writes, no other connection has written since the state that it reads.
            if (unended.is_empty() && begins_unit) || (surely_writes && executed.code == 0) {
                reads_from_ns = begin_ns;
            }
            match action {
                Action::Begin { .. } => is_open = true,
                Action::Commit { .. } | Action::Rollback if !is_open => {
                    self.leave_out("that ends a transaction which began before the recording", 1);
                    continue;
                }
                Action::Commit { .. } | Action::Rollback => is_open = executed.code != 0,
                Action::Execute => {}
            }
            if begins_unit {
                begun = steps.len();
                self.units.push(Unit { begin_ns, reads_from_ns, ..Unit::default() });
            }
            let unit = self.units.len() - 1;
            self.units[unit].last_ns = begin_ns;
            self.units[unit].end_ns = self.units[unit].end_ns.max(end_ns);
            self.units[unit].writes |= !statements.all[statement].reads;
            self.units[unit].surely_writes |= surely_writes;
            let mut beside = BTreeSet::new();
            if !unended.is_empty() {
                let reads = |number: usize| statements.all[number].reads;
                let from = if is_over || statements.all[statement].undoes { begun } else { steps.len() };
                let done = steps[from..].iter().map(|it| it.statement).chain([statement]);
                let changing: Vec<usize> = done.filter(|it| !reads(*it)).collect();
                for at in &unended {
                    match reads(steps[*at].statement) {
                        true => steps[*at].beside.extend(&changing),
                        false => drop(beside.insert(steps[*at].statement)),
                    }
                }
            }
            unended.push(steps.len());
            steps.push(Step {
                number: 0,
                action,
                statement,
                values,
                due_ns,
                until_ns: end_ns.saturating_sub(first),
                rows: executed.rows,
                changes: executed.changes,
                code: executed.code,
                is_complete: executed.is_complete,
                cause_elsewhere: statements.all[statement].cause_elsewhere(executed.code),
                unit,
                begins_unit,
                ends_unit: !is_open,
                opens: false,
                beside,
            });
            if let Some(Step { action: Action::Begin { writes, .. }, .. }) = steps.get_mut(begun) {
                *writes = self.units[unit].writes;
            }
            if is_over {
                steps.push(Step::rollback(unit, begin_ns.saturating_sub(first), statements));
                is_open = false;
            }
        }
        // A connection that is closed ends its transaction.
        if is_open && let Some(last) = steps.last() {
            steps.push(Step::rollback(last.unit, last.due_ns, statements));
        }
        // A statement may be read while others of its connection begin and end.
        for number in (first_unit..self.units.len().saturating_sub(1)).rev() {
            self.units[number].end_ns = self.units[number].end_ns.min(self.units[number + 1].end_ns);
        }
    }

    /// Finds what has to end before each unit, and what writes at the same time.
    fn order(&mut self, statements: &[RecordedStatement]) {
        let mut by_end: Vec<usize> = (0..self.units.len()).collect();
        by_end.sort_by_key(|unit| self.units[*unit].end_ns);
        let ends: Vec<u64> = by_end.iter().map(|unit| self.units[*unit].end_ns).collect();
        let writers: Vec<usize> = by_end.iter().copied().filter(|unit| self.units[*unit].writes).collect();
        // SQLite has one writer at a time: a transaction that began before the last writer's end waited for its lock.
        for pair in writers.windows(2) {
            let (end_ns, unit) = (self.units[pair[0]].end_ns, &mut self.units[pair[1]]);
            unit.begin_ns = unit.begin_ns.max(end_ns.min(unit.last_ns));
        }
        let writer_ends: Vec<u64> = writers.iter().map(|unit| self.units[*unit].end_ns).collect();
        // The first begin of a writer and of those that end after it.
        let mut writer_begins: Vec<u64> = writers.iter().map(|unit| self.units[*unit].begin_ns).collect();
        for at in (1..writer_begins.len()).rev() {
            writer_begins[at - 1] = writer_begins[at - 1].min(writer_begins[at]);
        }
        let mut written = vec![BTreeSet::new(); self.units.len()];
        for (user, steps) in self.users.iter().enumerate() {
            for step in steps {
                self.units[step.unit].user = user;
                written[step.unit].extend(Some(step.statement).filter(|it| !statements[*it].reads));
            }
        }
        let writer = |unit: &usize| {
            let Unit { user, begin_ns, .. } = self.units[*unit];
            Writer { user, begin_ns, statements: std::mem::take(&mut written[*unit]) }
        };
        self.writers = writers.iter().map(writer).collect();
        let mut writers_before = 0;
        for (rank, number) in by_end.into_iter().enumerate() {
            let Unit { begin_ns, reads_from_ns, end_ns, .. } = self.units[number];
            let ended = writer_ends.partition_point(|end| *end <= reads_from_ns);
            let open = writer_begins.partition_point(|begin| *begin < end_ns);
            let unit = &mut self.units[number];
            unit.rank = rank;
            // Of two that end at once neither waits for the other, and none for itself.
            unit.after = ends.partition_point(|end| *end <= begin_ns).min(rank);
            if unit.writes {
                unit.after_writers = writers_before;
                writers_before += 1;
            }
            if !unit.surely_writes {
                unit.beside = ended..open.max(ended);
            }
        }
    }

    /// Numbers of the statements by which other connections wrote while a unit read, so that it may have seen the state before or
    /// after them.
    pub(super) fn written_beside(&self, unit: &Unit) -> BTreeSet<usize> {
        let others = self.writers[unit.beside.clone()].iter();
        let others = others.filter(|it| it.begin_ns < unit.end_ns && it.user != unit.user);
        others.flat_map(|it| it.statements.iter().copied()).collect()
    }
}

impl Step {
    /// Rollback that the recording has no statement for.
    fn rollback(unit: usize, due_ns: u64, statements: &mut Statements) -> Self {
        Self {
            number: 0,
            action: Action::Rollback,
            statement: statements.number("ROLLBACK", true),
            values: Vec::new(),
            due_ns,
            until_ns: due_ns,
            rows: RowsDigest::default(),
            changes: 0,
            code: 0,
            is_complete: true,
            cause_elsewhere: None,
            unit,
            begins_unit: false,
            ends_unit: true,
            opens: false,
            beside: BTreeSet::new(),
        }
    }
}

/// Whether a step is a commit that failed in the recording, and that the transaction went on after. A session's commit ends it.
pub(super) fn goes_on(steps: &[Step], at: usize) -> bool {
    matches!(steps[at].action, Action::Commit { .. })
        && steps.get(at + 1).is_some_and(|it| it.unit == steps[at].unit && it.action != Action::Rollback)
}

/// Steps of a transaction before one of its steps, without those that failed in the recording or are not executed: what makes it anew.
pub(super) fn steps_before(steps: &[Step], at: usize) -> impl Iterator<Item = &Step> {
    let first = (0..at).rev().find(|it| steps[*it].begins_unit).unwrap_or(at);
    steps[first..at].iter().filter(|it| it.code == 0 && it.cause_elsewhere.is_none())
}

/// A value that another process can bind; `None` for others.
fn stored(value: TraceValue) -> Option<StoredValue> {
    Some(match value {
        TraceValue::Null => StoredValue::Null,
        TraceValue::Int(number) => StoredValue::Int(number),
        TraceValue::Real(number) => StoredValue::Real(number),
        TraceValue::Text(bytes) => StoredValue::Text(String::from_utf8(bytes).ok()?),
        TraceValue::Blob(bytes) => StoredValue::Blob(bytes),
        TraceValue::Zeros(length) => StoredValue::Blob(vec![0; usize::try_from(length).ok()?]),
        TraceValue::Unknown | TraceValue::Pointer(_) => return None,
    })
}
