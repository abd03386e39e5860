//! Results of a replay compared with those recorded.

use super::again::{self, RowsAgain, ShownRow};
use super::lacking::Lacking;
use super::order::Order;
use super::recording::{Action, DAMAGE, Recording, Step};
use super::shape::short;
use bourse_driver::Nanos;
use bourse_engine::{ErrorKind, Result, Sql, Value, locked, shortened};
use bourse_record::{Check, CheckStatus, grouped};
use bourse_trace::digest::RowsDigest;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Number of statements with differences that the evidence of a check names.
const NAMED: usize = 4;

/// Number of rows of a result that are shown.
const SHOWN: usize = 3;

/// Part of a recording, 1 by this, that an engine may refuse without the replay being void.
const REFUSABLE: u64 = 10;

/// State that the users of a round share.
#[derive(Debug)]
pub(super) struct RoundState {
    pub(super) order: Order,
    /// Begin of the replay at a pace.
    pub(super) begun: OnceLock<Nanos>,
    /// Whether values are compared, and not numbers of rows alone.
    pub(super) compares_values: bool,
    /// Whether numbers of changed rows are compared.
    pub(super) compares_changes: bool,
    /// Digests of recorded rows by value, for engines other than SQLite.
    pub(super) expected: Option<RowsAgain>,
    /// Tables whose contents differ because of refused writes.
    pub(super) lacking: Lacking,
    /// Statements in the engine's own words, by their numbers, where these are others.
    pub(super) translated: BTreeMap<usize, Vec<&'static Sql>>,
    /// Objects of the recorded database that the engine refused.
    pub(super) left_out: Vec<String>,
    /// Versions of SQLite that recorded and that replays, if they differ.
    pub(super) other_version: Option<String>,
    /// The first query with other rows: its step's number, and the rows found.
    first: Mutex<Option<(usize, Vec<ShownRow>)>>,
    /// Whether each statement is left out, because the engine has refused it.
    is_left_out: Vec<AtomicBool>,
    executed: AtomicU64,
    findings: Mutex<[Findings; 4]>,
}

/// Statements with something found, by their numbers: executions, and the first in words.
type Findings = BTreeMap<usize, (u64, String)>;

/// Groups of findings.
#[derive(Debug, Clone, Copy)]
enum Group {
    Refused,
    Different,
    Undecided,
    /// Different on tables that lack refused writes.
    Following,
}

/// Result of an execution.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    Rows(RowsDigest),
    Changes(u64),
    Nothing,
}

/// Result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Result as recorded, refused by the engine, undecided, or a consequence of refusals: the latter three are counted.
    Same,
    Different,
    /// The engine failed.
    Lost,
}

impl RoundState {
    pub(super) fn of(recording: &Recording, compares_values: bool, compares_changes: bool) -> Self {
        Self {
            order: Order::of(recording.units.len()),
            begun: OnceLock::new(),
            compares_values,
            compares_changes,
            expected: None,
            lacking: Lacking::default(),
            translated: BTreeMap::new(),
            left_out: Vec::new(),
            other_version: None,
            first: Mutex::default(),
            is_left_out: recording.statements.iter().map(|_| AtomicBool::new(false)).collect(),
            executed: AtomicU64::new(0),
            findings: Mutex::default(),
        }
    }

    /// Whether the step is left out, since the engine has refused its statement before; counts it.
    pub(super) fn is_left_out(&self, step: &Step) -> bool {
        let is_left_out = self.is_refused(step);
        if is_left_out {
            self.add(Group::Refused, step, String::new);
        }
        is_left_out
    }

    /// Whether the engine has refused the step's statement.
    pub(super) fn is_refused(&self, step: &Step) -> bool {
        self.is_left_out[step.statement].load(Ordering::Relaxed)
    }

    /// Whether the step's statement has differed before.
    pub(super) fn has_differed(&self, step: &Step) -> bool {
        locked(&self.findings)[Group::Different as usize].contains_key(&step.statement)
    }

    fn add(&self, group: Group, step: &Step, words: impl FnOnce() -> String) {
        let mut findings = locked(&self.findings);
        findings[group as usize].entry(step.statement).or_insert_with(|| (0, words())).0 += 1;
    }

    /// Compares the result of a step with the recorded one, and follows what refused writes have changed.
    pub(super) fn compare(&self, recording: &Recording, step: &Step, found: &Result<Found>) -> Comparison {
        let statement = &recording.statements[step.statement];
        let comparison = self.compare_alone(recording, step, found);
        if comparison == Comparison::Different
            && let Some(tables) = self.lacking.concerned(statement)
        {
            self.lacking.missed(step.statement, &recording.statements);
            self.add(Group::Following, step, || format!("{}: {tables} lacks writes", short(&statement.text)));
            return Comparison::Same;
        }
        self.lacking.executed(step.statement, &recording.statements);
        comparison
    }

    /// Compares the result of a step with the recorded one, whatever went before.
    fn compare_alone(&self, recording: &Recording, step: &Step, found: &Result<Found>) -> Comparison {
        use ErrorKind::{Conflict, ConnectionLost, Denied, Full, InDoubt, Interrupted, Other, Refused, Unsupported};
        self.executed.fetch_add(1, Ordering::Relaxed);
        let statement = &recording.statements[step.statement];
        match found {
            Err(error) if matches!(error.kind(), Conflict | ConnectionLost | Full | InDoubt | Interrupted) => {
                Comparison::Lost
            }
            Err(_) if step.code != 0 => Comparison::Same,
            Err(error)
                if matches!(error.kind(), Denied | Other | Refused | Unsupported) && step.action == Action::Execute =>
            {
                self.is_left_out[step.statement].store(true, Ordering::Relaxed);
                self.lacking.missed(step.statement, &recording.statements);
                self.add(Group::Refused, step, || format!("{}: {}", short(&statement.text), error.message()));
                Comparison::Same
            }
            Err(error) if recording.lacks_errors && step.changes == 0 && step.rows.rows == 0 => {
                let message = error.message();
                self.add(Group::Undecided, step, || {
                    format!("{}: {message}; an extension records no errors", short(&statement.text))
                });
                Comparison::Same
            }
            Err(_) => Comparison::Different,
            Ok(_) if step.code != 0 => Comparison::Different,
            Ok(Found::Rows(rows)) => self.compare_rows(recording, step, *rows),
            Ok(Found::Changes(changes))
                if self.compares_changes && statement.changes_rows && *changes != step.changes =>
            {
                Comparison::Different
            }
            Ok(Found::Changes(_) | Found::Nothing) => Comparison::Same,
        }
    }

    fn compare_rows(&self, recording: &Recording, step: &Step, found: RowsDigest) -> Comparison {
        let (statement, unit) = (&recording.statements[step.statement], &recording.units[step.unit]);
        let is_as_many = found.rows == step.rows.rows;
        let (recorded, is_known) = match &self.expected {
            Some(again) => (again.by_value[step.number].unwrap_or(found), again.by_value[step.number].is_some()),
            None => (step.rows, true),
        };
        let are_same = is_as_many && (found.unordered == recorded.unordered || !self.compares_values);
        let undecided = match (are_same, statement.is_ordered) {
            (true, _) if self.compares_values && !is_known => "SQLite does not return the recorded rows again",
            (true, true) if self.compares_values && found.ordered != recorded.ordered => {
                "the same rows in another order, which ORDER BY allows if its terms tie"
            }
            (true, _) => return Comparison::Same,
            _ if unit.is_beside_writer => "another connection wrote meanwhile",
            _ if !step.is_complete => "the program did not read all rows",
            _ if statement.is_vague => "its rows depend on more than the data",
            _ => return Comparison::Different,
        };
        self.add(Group::Undecided, step, || format!("{}: {undecided}", short(&statement.text)));
        Comparison::Same
    }

    /// Notes a difference; `rows` are those found.
    pub(super) fn differs(&self, recording: &Recording, step: &Step, found: &Result<Found>, rows: Vec<ShownRow>) {
        let shown = rows.iter().take(SHOWN).map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        if matches!(found, Ok(Found::Rows(_))) {
            locked(&self.first).get_or_insert((step.number, rows));
        }
        self.add(Group::Different, step, || {
            let statement = &recording.statements[step.statement];
            let recorded = match (step.code, found) {
                (0, Ok(Found::Changes(_))) => changed(step.changes),
                (0, _) if statement.is_query => counted(step.rows.rows),
                (0, _) => "no error".to_owned(),
                (code, _) => format!("SQLite's error {code}"),
            };
            let found = match found {
                Err(error) => error.message().to_owned(),
                Ok(Found::Rows(found)) if found.rows == step.rows.rows => format!("others: {shown}"),
                Ok(Found::Rows(found)) => format!("{}: {shown}", counted(found.rows)),
                Ok(Found::Changes(changes)) => changed(*changes),
                Ok(Found::Nothing) => "no error".to_owned(),
            };
            let values = in_parentheses(step.values.iter().map(bourse_engine_sqlite::StoredValue::borrowed));
            format!("{} with {values}: recorded {recorded}, found {found}", statement.text)
        });
    }

    fn count(&self, group: Group) -> u64 {
        locked(&self.findings)[group as usize].values().map(|(count, _)| count).sum()
    }

    /// Executions, with those that were left out since the engine had refused their statement.
    fn all(&self) -> u64 {
        let first_of_each = locked(&self.findings)[Group::Refused as usize].len() as u64;
        self.executed.load(Ordering::Relaxed) + self.count(Group::Refused) - first_of_each
    }

    /// Parts of the recording that were not performed or not compared, in words.
    pub(super) fn missing(&self, recording: &Recording) -> Vec<String> {
        let [refused, following] = [Group::Refused, Group::Following].map(|group| self.count(group));
        let all = grouped(self.all());
        let mut parts = Vec::new();
        if refused > 0 {
            parts.push(format!("{} of {all} executions were refused or left out", grouped(refused)));
        }
        if following > 0 {
            parts.push(format!("{} of {all} results differ on tables that lack refused writes", grouped(following)));
        }
        if let [first, others @ ..] = &self.left_out[..] {
            let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
            parts.push(format!("the database without {first}{more}"));
        }
        if let Some((name, count)) = recording.other_databases.iter().max_by_key(|(_, count)| **count) {
            let more = match recording.other_databases.len() {
                1 => String::new(),
                all => format!(", and {} more", all - 1),
            };
            let (database, count) = (&recording.database, grouped(*count));
            parts.push(format!("of the databases only {database}, not {name} ({count} executions){more}"));
        }
        let damaged = recording.facts.iter().filter(|fact| fact.name == DAMAGE);
        let masked = recording.is_masked.then(|| "values are masked: numbers of rows were compared".to_owned());
        let damaged = damaged.map(|fact| format!("{DAMAGE}: {}", fact.value));
        parts.into_iter().chain(masked).chain(damaged).chain(self.other_version.clone()).collect()
    }

    /// Reason that the replay says nothing of the recording: too much of it was refused.
    pub(super) fn void(&self) -> Option<String> {
        let [refused, following] = [Group::Refused, Group::Following].map(|group| self.count(group));
        let all = self.all();
        let part = if refused == all { "nothing was replayed" } else { "a part was not replayed" };
        let differ = match following {
            0 => String::new(),
            _ => format!(", and {} differ because of that", grouped(following)),
        };
        ((refused + following) * REFUSABLE > all)
            .then(|| format!("{part}: the engine refused {} of {} executions{differ}", grouped(refused), grouped(all)))
    }

    /// The first row in which a query's rows differ from the recorded ones, if SQLite returns these again.
    fn first_difference(&self, recording: &Recording) -> Option<String> {
        let (number, mut found) = locked(&self.first).take()?;
        // Without the recorded rows those found are still shown.
        let mut recorded = again::execute(recording, Some(number)).ok()?.last?;
        recorded.retain(|row| {
            let same = found.iter().position(|other| other.0 == row.0);
            same.map(|at| found.swap_remove(at)).is_none()
        });
        let first = |rows: &[ShownRow]| rows.first().map_or_else(|| "no row".to_owned(), |(_, text)| text.clone());
        Some(format!("the first difference: recorded {}, found {}", first(&recorded), first(&found)))
    }

    /// Checks of a round.
    pub(super) fn checks(&self, recording: &Recording) -> Vec<Check> {
        let difference = self.first_difference(recording);
        let (all_executions, is_void) = (self.all(), self.void().is_some());
        let findings = locked(&self.findings);
        let check = |name: &str, condition: &str, group: Group, otherwise: CheckStatus| {
            let found = &findings[group as usize];
            let all: u64 = found.values().map(|(count, _)| count).sum();
            let mut words = vec![format!("{} of {} executions", grouped(all), grouped(all_executions))];
            // What was not replayed is named whole.
            let named = if matches!(group, Group::Refused) { found.len() } else { NAMED };
            if found.len() > named {
                words.push(format!("the first {named} of {} statements", grouped(found.len() as u64)));
            }
            words.extend(difference.clone().filter(|_| matches!(group, Group::Different)));
            words.extend(found.values().take(named).map(|(count, first)| format!("{} × {first}", grouped(*count))));
            let status = if found.is_empty() { CheckStatus::Passed } else { otherwise };
            Check::new(name, condition, "the recording", status, words.join("; "))
        };
        let compared = match self.compares_values {
            true => "each execution returns the rows, changes the number of rows, or fails, as recorded",
            false => {
                "each execution returns or changes as many rows, or fails, as recorded; values are not compared, since a \
                      clock or a random number is among those written, or they are masked"
            }
        };
        let undecided = "no execution differs that the recording does not determine: rows in another order, beside a writer, by a \
                         clock, by LIMIT alone, read in part, or an error that an extension does not record";
        let following = "no execution differs on a table that lacks writes, since the engine refused them, the recording has no \
                         values for them, or objects of the database were left out";
        let mut checks = vec![
            check("results", compared, Group::Different, CheckStatus::Failed),
            check("undetermined results", undecided, Group::Undecided, CheckStatus::NotApplicable),
            check(
                "refused statements",
                "the engine refuses no statement; a tenth of the executions at most, or the check fails",
                Group::Refused,
                if is_void { CheckStatus::Failed } else { CheckStatus::NotApplicable },
            ),
        ];
        if !findings[Group::Following as usize].is_empty() {
            checks.push(check("results after refusals", following, Group::Following, CheckStatus::NotApplicable));
        }
        checks
    }
}

fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(rows)) }
}

fn changed(rows: u64) -> String {
    format!("{} changed", counted(rows))
}

/// Values as a person would write them, of long ones the start.
pub(super) fn in_parentheses<'v>(values: impl Iterator<Item = Value<'v>>) -> String {
    let written = values.map(|value| match value {
        Value::Text(text) => format!("'{}'", shortened(text, 40)),
        other => other.to_string(),
    });
    format!("({})", written.collect::<Vec<_>>().join(", "))
}
