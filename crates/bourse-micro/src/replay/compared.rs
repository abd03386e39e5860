//! Results of a replay compared with those recorded.

use super::again::{self, MakeDigest, RowsAgain, ShownRow};
use super::determined::Keys;
use super::differing::DifferingTables;
use super::order::Order;
use super::recording::{DAMAGE, Recording};
use super::shape::short;
use super::statement::RecordedStatement;
use super::steps::{Action, Step};
use super::user::{stored_digest, value_digest};
use bourse_driver::Nanos;
use bourse_engine::{ErrorKind, Result, Sql, Value, locked, one_line, shortened};
use bourse_engine_sqlite::StoredValue;
use bourse_record::{Check, CheckStatus, grouped};
use bourse_trace::digest::RowsDigest;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Number of statements with differences that the evidence of a check names.
const NAMED: usize = 4;

/// Number of rows of a result that are shown.
const SHOWN: usize = 3;

/// Characters of a statement that differs, of its values, and of its rows.
const WIDEST: usize = 200;

/// Bytes of a blob that is shown whole.
const SHORT_BLOB: usize = 16;

/// Part of a recording, 1 by this, that an engine may refuse without the replay being void.
const REFUSABLE: u64 = 10;

/// Addition to what was refused, if the recorded database has no table.
const EMPTY_COPY: &str = "; the copy of the database in the recording is empty";

/// Functions that a connection answers from its own writes.
const CONNECTIONS: [&str; 2] = ["changes", "last_insert_rowid"];

/// Reasons that a result is undetermined.
const NO_ERRORS: &str = "an extension records no errors";
const VAGUE: &str = "its rows depend on more than the data";
const MASKED: &str = "masks keep equality and order alone";
const ONE_WRITER: &str = "with writers=one another connection than the program's answers it";
const FURTHER: &str = "the recorded number has rows that triggers, foreign keys or a virtual table changed too";

/// State that the users of a round share.
#[derive(Debug)]
pub(super) struct RoundState {
    pub(super) order: Order,
    /// Number of users that have not ended.
    pub(super) users: AtomicUsize,
    /// Begin of the replay at a pace.
    pub(super) begun: OnceLock<Nanos>,
    /// Whether values are compared, and not numbers of rows alone.
    pub(super) compares_values: bool,
    /// Digests of recorded rows by value, for engines other than SQLite.
    pub(super) expected: Option<RowsAgain>,
    /// Tables whose contents differ because of refused writes.
    pub(super) lacking: DifferingTables,
    /// Tables and columns whose values differ because of a clock or random numbers.
    pub(super) clocks: DifferingTables,
    /// Tables whose rows may be others because a clock, random numbers or writes of other connections decided what was written.
    pub(super) decided: DifferingTables,
    pub(super) keys: Keys,
    /// Columns with a collation of their own, whose values masks do not keep as equal; `None` if no values are masked.
    pub(super) collated: Option<BTreeSet<String>>,
    /// Whether the target has one connection that writes, beside those that read.
    pub(super) has_one_writer: bool,
    /// Statements in the engine's own words, by their numbers, where these are others.
    pub(super) translated: BTreeMap<usize, Vec<&'static Sql>>,
    /// Whether the recorded database was copied, and has no table.
    pub(super) is_empty_copy: bool,
    /// Objects of the recorded database that the engine refused.
    pub(super) left_out: Vec<String>,
    /// Versions of SQLite that recorded and that replays, if they differ.
    pub(super) other_version: Option<String>,
    /// Settings of the program that the target has with other values, in words.
    pub(super) other_settings: Option<String>,
    /// Whether one of these versions adds doubles up otherwise than the other.
    pub(super) adds_otherwise: bool,
    /// The first query with other rows: its step's number, and the rows found.
    first: Mutex<Option<(usize, Vec<ShownRow>)>>,
    /// Whether each statement is left out, because the engine has refused it.
    is_left_out: Vec<AtomicBool>,
    executed: AtomicU64,
    /// Number of executions that returned rows, and of those whose number of changed rows is undetermined.
    read: AtomicU64,
    findings: Mutex<[Findings; 4]>,
    /// Numbers of undetermined results by their reasons.
    reasons: Mutex<BTreeMap<String, u64>>,
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
    pub(super) fn of(recording: &Recording) -> Self {
        Self {
            order: Order::of(recording.units.len()),
            users: AtomicUsize::new(0),
            begun: OnceLock::new(),
            compares_values: !recording.is_masked,
            expected: None,
            lacking: DifferingTables::default(),
            clocks: DifferingTables::default(),
            decided: DifferingTables::default(),
            keys: Keys::default(),
            collated: None,
            has_one_writer: false,
            translated: BTreeMap::new(),
            is_empty_copy: false,
            left_out: Vec::new(),
            other_version: None,
            other_settings: None,
            adds_otherwise: false,
            first: Mutex::default(),
            is_left_out: recording.statements.iter().map(|_| AtomicBool::new(false)).collect(),
            executed: AtomicU64::new(0),
            read: AtomicU64::new(0),
            findings: Mutex::default(),
            reasons: Mutex::default(),
        }
    }

    /// Whether the step is left out, since the engine has refused its statement before, or its cause is elsewhere; counts it.
    pub(super) fn is_left_out(&self, recording: &Recording, step: &Step) -> bool {
        if let Some(cause) = step.cause_elsewhere {
            self.executed.fetch_add(1, Ordering::Relaxed);
            self.undecided(recording, step, format_args!("not executed: {cause}"));
            return true;
        }
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

    /// Function that makes the digests of rows: by value on other engines than SQLite.
    pub(super) fn digest(&self) -> MakeDigest {
        if self.expected.is_some() { value_digest } else { stored_digest }
    }

    /// Digest of the step's recorded rows; `None` if it is not known.
    pub(super) fn recorded(&self, step: &Step) -> Option<RowsDigest> {
        self.expected.as_ref().map_or(Some(step.rows), |again| again.by_value[step.number])
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
        self.lacking.reached(step.until_ns, &recording.statements);
        // Before, since `RETURNING` returns what it wrote.
        self.clocks.executed(step.statement, &recording.statements);
        let comparison = self.compare_alone(recording, step, found);
        if comparison == Comparison::Different
            && let Some(tables) = self.lacking.concerned(statement)
        {
            self.lacking.missed(step.statement, &recording.statements);
            self.add(Group::Following, step, || format!("{}: {tables} lacks writes", short(&statement.text)));
            return Comparison::Same;
        }
        self.lacking.executed(step.statement, &recording.statements);
        let decided = || {
            let masks = if self.collated.is_some() { "masks, " } else { "" };
            let tables = self.decided.concerned(statement)?;
            Some(format!(
                "rows of {tables}: {masks}a clock, random numbers or another connection's writes decided them"
            ))
        };
        let is_copy =
            !statement.reads && !recording.units[step.unit].surely_writes && statement.names.contains("select");
        let beside = is_copy.then(|| self.beside(recording, step)).flatten();
        let masked = self.is_beyond_masks(statement).then(|| MASKED.to_owned());
        if comparison == Comparison::Different
            && let Some(why) = masked.or_else(decided).or(beside.map(str::to_owned))
        {
            self.decided.missed(step.statement, &recording.statements);
            self.read.fetch_add(u64::from(!statement.is_query), Ordering::Relaxed);
            return self.undecided(recording, step, why);
        }
        let has_effect = step.changes > 0 || !matches!(found, Ok(Found::Changes(0) | Found::Nothing));
        if !statement.reads && has_effect && (beside.is_some() || self.is_decided_by_clock(statement)) {
            self.decided.missed(step.statement, &recording.statements);
        }
        self.decided.executed(step.statement, &recording.statements);
        comparison
    }

    /// Whether masked values decide otherwise than those of the program which rows a statement returns or changes.
    fn is_beyond_masks(&self, statement: &RecordedStatement) -> bool {
        let is_collated = |columns: &BTreeSet<String>| !columns.is_disjoint(&statement.conditions);
        self.collated.as_ref().is_some_and(|columns| statement.is_beyond_masks || is_collated(columns))
    }

    /// Whether a clock, random numbers or masks decide which rows a statement returns or changes.
    fn is_decided_by_clock(&self, statement: &RecordedStatement) -> bool {
        // A clock outside the values that it fills, in a statement with a condition.
        (statement.clock_columns.is_none() && !statement.conditions.is_empty())
            || self.clocks.deciding(statement).is_some()
            || self.is_beyond_masks(statement)
    }

    fn undecided(&self, recording: &Recording, step: &Step, why: impl fmt::Display) -> Comparison {
        let text = &recording.statements[step.statement].text;
        *locked(&self.reasons).entry(why.to_string()).or_default() += 1;
        self.add(Group::Undecided, step, || format!("{}: {why}", short(text)));
        Comparison::Same
    }

    /// Notes that it is not known whether the recording has the changes of a step that was executed.
    fn uncertain(&self, recording: &Recording, step: &Step, why: impl fmt::Display) -> Comparison {
        self.lacking.missed(step.statement, &recording.statements);
        self.undecided(recording, step, why)
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
            Err(error) if recording.lacks_errors => {
                self.undecided(recording, step, format_args!("{}; {NO_ERRORS}", error.message()))
            }
            Err(error) if error.code() == Some("SQLITE_CONSTRAINT_FOREIGNKEY") => {
                self.compared_by_clock(recording, step)
            }
            Err(_) => Comparison::Different,
            Ok(_) if step.code == 1 && recording.sets_limits => {
                self.uncertain(recording, step, "an error in the recording, maybe of a limit that the program set")
            }
            Ok(_) if step.code != 0 => Comparison::Different,
            Ok(Found::Rows(rows)) => self.compare_rows(recording, step, *rows),
            Ok(Found::Changes(changes)) if statement.changes_rows && *changes != step.changes => match step.changes {
                0 if recording.lacks_errors => self.uncertain(recording, step, NO_ERRORS),
                _ if statement.has_clock => {
                    self.decided.missed(step.statement, &recording.statements);
                    self.undecided(recording, step, VAGUE)
                }
                _ if statement.is_vague => self.uncertain(recording, step, VAGUE),
                recorded if *changes < recorded && self.lacking.changes_further(statement) => {
                    self.read.fetch_add(1, Ordering::Relaxed);
                    self.undecided(recording, step, FURTHER)
                }
                _ => self.compared_by_clock(recording, step),
            },
            Ok(Found::Changes(_) | Found::Nothing) => Comparison::Same,
        }
    }

    /// A difference, undetermined if a clock or random numbers decide the number of rows that the statement returns or changes.
    fn compared_by_clock(&self, recording: &Recording, step: &Step) -> Comparison {
        match self.clocks.deciding(&recording.statements[step.statement]) {
            Some(places) => self.undecided(
                recording,
                step,
                format_args!("its rows depend on {places}: values of a clock or random numbers"),
            ),
            None => Comparison::Different,
        }
    }

    /// Reason that a step may have read the state before or after writes beside it; `None` if no table that it reads was written.
    fn beside(&self, recording: &Recording, step: &Step) -> Option<&'static str> {
        let statement = &recording.statements[step.statement];
        let reads_from = |beside: &BTreeSet<usize>| {
            !beside.is_empty() && self.lacking.reads_from(statement, beside, &recording.statements)
        };
        if reads_from(&step.beside) {
            Some("the program wrote while it read the rows")
        } else {
            let written = recording.written_beside(&recording.units[step.unit]);
            reads_from(&written).then_some("another connection wrote meanwhile")
        }
    }

    fn compare_rows(&self, recording: &Recording, step: &Step, found: RowsDigest) -> Comparison {
        let statement = &recording.statements[step.statement];
        self.read.fetch_add(1, Ordering::Relaxed);
        let is_as_many = found.rows == step.rows.rows;
        let known = self.recorded(step);
        let (recorded, is_known) = (known.unwrap_or(found), known.is_some());
        let are_same = is_as_many && (found.unordered == recorded.unordered || !self.compares_values);
        let is_in_order = !statement.is_ordered || found.ordered == recorded.ordered || !self.compares_values;
        if are_same && is_in_order && (is_known || !self.compares_values) {
            return Comparison::Same;
        }
        let choice = self.keys.choice(statement);
        let of_clock = || self.clocks.concerned(statement).filter(|_| is_as_many);
        let undecided = if let Some(why) = self.beside(recording, step) {
            why
        } else if statement.is_vague || choice.is_within {
            VAGUE
        } else if self.has_one_writer && CONNECTIONS.iter().any(|it| statement.names.contains(*it)) {
            ONE_WRITER
        } else if let Some(places) = of_clock() {
            return self.undecided(recording, step, format_args!("{places}: values of a clock or random numbers"));
        } else if are_same && !is_known {
            "SQLite does not return the recorded rows again"
        } else if are_same && !choice.is_total {
            "the same rows in another order, which ORDER BY allows if its terms tie"
        } else if !step.is_complete && (step.rows.rows == 0 || (is_as_many && !choice.is_total)) {
            "the program did not read all rows"
        } else if recording.lacks_errors && found.rows > step.rows.rows {
            NO_ERRORS
        } else if is_as_many && !choice.is_total && choice.is_limited(step) {
            "LIMIT among rows whose order may tie"
        } else {
            return self.compared_by_clock(recording, step);
        };
        self.undecided(recording, step, undecided)
    }

    /// Whether a difference may be one of the last digits of a sum, if the rows have doubles.
    pub(super) fn may_be_of_digits(&self, recording: &Recording, step: &Step, found: &Result<Found>) -> bool {
        let is_as_many = matches!(found, Ok(Found::Rows(found)) if found.rows == step.rows.rows);
        self.adds_otherwise && is_as_many && recording.statements[step.statement].has_sum
    }

    /// Counts a difference that may be one of the last digits of a sum.
    pub(super) fn differs_in_digits(&self, recording: &Recording, step: &Step) {
        self.undecided(recording, step, "sums of doubles, which SQLite adds up otherwise from 3.43 on");
    }

    /// Notes a difference; `rows` are those found.
    pub(super) fn differs(&self, recording: &Recording, step: &Step, found: &Result<Found>, rows: Vec<ShownRow>) {
        let shown = rows.iter().take(SHOWN).map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        let first = if rows.len() > SHOWN { "first rows " } else { "" };
        let shown = format!("{first}{}", shortened(&shown, WIDEST));
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
                Err(error) => {
                    let option = match error.code() {
                        Some("SQLITE_CONSTRAINT_FOREIGNKEY") => Some("foreign_keys"),
                        Some("SQLITE_CONSTRAINT_CHECK") => Some("checks"),
                        _ => None,
                    };
                    let hint = |option| format!(", which `{option}=off` in the target does not enforce");
                    error.message().to_owned() + &option.map(hint).unwrap_or_default()
                }
                Ok(Found::Rows(found)) if found.rows == 0 => counted(0),
                // Masked rows have no digest.
                Ok(Found::Rows(found)) if found.rows != step.rows.rows => format!("{}: {shown}", counted(found.rows)),
                Ok(Found::Rows(found)) if found.unordered == step.rows.unordered => format!("another order: {shown}"),
                Ok(Found::Rows(_)) => format!("others: {shown}"),
                Ok(Found::Changes(changes)) => changed(*changes),
                Ok(Found::Nothing) => "no error".to_owned(),
            };
            let values = match &step.values[..] {
                [] => String::new(),
                values => format!(" with {}", in_parentheses(values.iter().map(StoredValue::borrowed))),
            };
            let text = one_line(&statement.text);
            let [text, values] = [&text, &values].map(|it| shortened(it, WIDEST));
            format!("{text}{values}: recorded {recorded}, found {found}")
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
        let mut parts: Vec<String> = self.undetermined().into_iter().collect();
        if refused > 0 {
            let empty = if self.is_empty_copy { EMPTY_COPY } else { "" };
            parts.push(format!("{} of {all} executions were refused or left out{empty}", grouped(refused)));
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
        // What ended a trace comes first: a screen may shorten the rest.
        let others = self.other_settings.clone().into_iter().chain(self.other_version.clone());
        damaged.chain(parts).chain(masked).chain(others).collect()
    }

    /// Whether more than half of the results with rows are undetermined, so that those compared do not show that all are right.
    fn is_shown(&self) -> bool {
        let further = locked(&self.reasons).get(FURTHER).copied().unwrap_or(0);
        (self.count(Group::Undecided) - further) * 2 <= self.read.load(Ordering::Relaxed) - further
    }

    /// Number of undetermined results, in words, with the reasons.
    fn undetermined(&self) -> Option<String> {
        let reasons = locked(&self.reasons).clone();
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let words: Vec<String> = reasons.iter().map(|(why, count)| format!("{} × {why}", grouped(*count))).collect();
        let [undecided, read] = [self.count(Group::Undecided), self.read.load(Ordering::Relaxed)].map(grouped);
        let shown = if self.is_shown() { "" } else { "whether results are right is not shown: " };
        (!words.is_empty()).then(|| format!("{shown}{undecided} of {read} undetermined ({})", words.join(", ")))
    }

    /// Reason that the replay says nothing of the recording: too much of it was refused.
    pub(super) fn void(&self) -> Option<String> {
        let [refused, following] = [Group::Refused, Group::Following].map(|group| self.count(group));
        let all = self.all();
        let part = if refused == all { "nothing was replayed" } else { "a part was not replayed" };
        let why = match (refused, following) {
            (0, _) => format!("{} of {} results differ on tables that lack writes", grouped(following), grouped(all)),
            (_, 0) => format!("the engine refused {} of {} executions", grouped(refused), grouped(all)),
            _ => format!(
                "the engine refused {} of {} executions, and {} differ because of that",
                grouped(refused),
                grouped(all),
                grouped(following)
            ),
        };
        ((refused + following) * REFUSABLE > all).then(|| {
            let empty = if self.is_empty_copy && refused > 0 { EMPTY_COPY } else { "" };
            format!("{part}: {why}{empty}")
        })
    }

    /// The first query with other rows by its number, with the first row that differs, if SQLite returns the recorded ones again.
    fn first_difference(&self, recording: &Recording) -> Option<(usize, String)> {
        let (number, found) = locked(&self.first).take()?;
        let step = recording.users.iter().flatten().find(|step| step.number == number)?;
        let again = again::execute(recording, Some((number, self.digest())));
        let Some(recorded) = again.ok().and_then(|again| again.last) else {
            // Those found are still shown.
            return (!found.is_empty()).then(|| (step.statement, "; the recorded rows are not known".to_owned()));
        };
        let [recorded, found] = match recording.statements[step.statement].is_ordered && recorded.len() == found.len() {
            true => {
                let (recorded, found) = recorded.iter().zip(&found).find(|(recorded, found)| recorded.0 != found.0)?;
                [Some(recorded), Some(found)]
            }
            false => [first_beside(&recorded, &found), first_beside(&found, &recorded)],
        };
        if recorded.is_none() && found.is_none() {
            return None;
        }
        let [recorded, found] = [recorded, found].map(|row| row.map_or("no row", |(_, text)| text));
        let words = format!("; the first difference: recorded {recorded}, found {found}");
        Some((step.statement, words))
    }

    /// Checks of a round.
    pub(super) fn checks(&self, recording: &Recording) -> Vec<Check> {
        let difference = self.first_difference(recording);
        let all_executions = self.all();
        let missing = if self.void().is_some() { CheckStatus::Failed } else { CheckStatus::NotApplicable };
        let undetermined = self.undetermined().filter(|_| !self.is_shown());
        let findings = locked(&self.findings);
        let check = |name: &str, condition: &str, group: Group, otherwise: CheckStatus| {
            let mut found: Vec<_> = findings[group as usize].iter().collect();
            let all: u64 = found.iter().map(|(_, (count, _))| count).sum();
            let mut words = vec![format!("{} of {} executions", grouped(all), grouped(all_executions))];
            // What was not replayed is named whole.
            let named = if matches!(group, Group::Refused) { found.len() } else { NAMED };
            if found.len() > named {
                words[0].push_str(&format!("; the first {named} of {} statements", grouped(found.len() as u64)));
            }
            let row = |number: &usize| match &difference {
                Some((first, row)) if first == number && matches!(group, Group::Different) => row,
                _ => "",
            };
            found.sort_by_key(|(number, _)| row(number).is_empty());
            let named = found.iter().take(named);
            words.extend(named.map(|(number, (count, words))| format!("{} × {words}{}", grouped(*count), row(number))));
            let status = if found.is_empty() { CheckStatus::Passed } else { otherwise };
            // A check that was not made is told in one line.
            let between = if status == CheckStatus::Failed { "\n" } else { "; " };
            Check::new(name, condition, "the recording", status, words.join(between))
        };
        let compared = match self.compares_values {
            true => "each execution returns the rows, changes the number of rows, or fails, as recorded",
            false => {
                "each execution returns or changes as many rows, or fails, as recorded; values are not compared, since they are \
                      masked"
            }
        };
        let undecided = "no execution differs that the recording does not determine: rows in another order, beside a writer, by a \
                         clock, by LIMIT alone, read in part, an error of the program's own state, or one that an extension does not \
                         record; of half of the results at most, or the check of results is not made";
        let following = "no execution differs on a table that lacks writes, since the engine refused them, the recording has no \
                         values for them, or objects of the database were left out";
        let mut checks = vec![
            match &undetermined {
                Some(why) if findings[Group::Different as usize].is_empty() => Check::new(
                    "results",
                    compared,
                    "the recording",
                    CheckStatus::NotApplicable,
                    format!("not run: {why}"),
                ),
                _ => check("results", compared, Group::Different, CheckStatus::Failed),
            },
            check("undetermined results", undecided, Group::Undecided, CheckStatus::NotApplicable),
            check(
                "refused statements",
                "the engine refuses no statement; a tenth of the executions at most, or the check fails",
                Group::Refused,
                missing,
            ),
        ];
        if !findings[Group::Following as usize].is_empty() {
            checks.push(check("results after refusals", following, Group::Following, missing));
        }
        checks
    }
}

/// The first row that is not among others, or more often than there.
fn first_beside<'r>(rows: &'r [ShownRow], others: &[ShownRow]) -> Option<&'r ShownRow> {
    let mut left: HashMap<u64, usize> = HashMap::new();
    others.iter().for_each(|other| *left.entry(other.0).or_default() += 1);
    rows.iter().find(|row| match left.get_mut(&row.0) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    })
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
        // With a point, as a double differs from a whole number.
        Value::Real(number) => format!("{number:?}"),
        Value::Blob(bytes) if bytes.len() <= SHORT_BLOB => {
            format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        other => other.to_string(),
    });
    format!("({})", written.collect::<Vec<_>>().join(", "))
}
