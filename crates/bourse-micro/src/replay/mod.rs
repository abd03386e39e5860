//! `replay`: what a program did with SQLite, as `bourse record` recorded it, on the data that it had.
//!
//! | module | contents |
//! |---|---|
//! | `recording` | traces read, for one database |
//! | `statement` | a recorded statement |
//! | `steps` | what each user executes, and in which order |
//! | `settings` | settings that the program made, and that are the target's |
//! | `shape` | facts of a statement that its words show |
//! | `tokens` | a statement as tokens |
//! | `determined` | rows that a query's words and keys determine |
//! | `again` | rows that SQLite returns again |
//! | `order` | order of transactions between users |
//! | `data` | the recorded database, or a person's own, loaded |
//! | `translated` | its schema for other engines |
//! | `user` | the user that executes its steps |
//! | `compared` | results compared with those recorded |
//! | `differing` | tables that differ, since writes were refused or a clock filled them |

mod again;
mod compared;
pub(crate) mod data;
mod determined;
mod differing;
mod order;
mod recording;
mod settings;
pub(crate) mod shape;
mod statement;
mod steps;
mod tokens;
mod translated;
mod user;

use crate::options::{OptionError, OptionKind, WorkloadOptions, option};
use crate::round::not_synced;
use crate::sql::FILE;
use crate::workload::{MicroError, PlannedWorkload, RoundExtent, RoundSettings, WorkloadSpec, named};
use bourse_driver::{Background, Clock, Emulator, MS, Nanos, OperationSpec, RoundControl, SECOND, Schedule, UserSpec};
use bourse_engine::{Capabilities, Engine, Sql, locked};
use bourse_record::{Arrivals, Check, NameValue, Round, Warning};
use compared::RoundState;
use determined::Keys;
use differing::{DifferingTables, decided_by_masks};
use recording::Recording;
pub use settings::ChangedSetting;
pub(crate) use settings::set_by_pragma;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokens::collated_columns;
use translated::with_assigned_key;
use user::Replayer;

/// Name of the table or view that a statement makes, in lower case; with its database's in front unless that is `main` or `temp`.
pub fn declared_name(sql: &str) -> Option<String> {
    let shape = shape::Shape::of(sql);
    shape.target.filter(|_| shape.first_word == "create")
}

/// Option with the speed, relative to the recording's.
pub const PACE: &str = "pace";

/// Option with the recorded database to be replayed.
const DATABASE: &str = "database";

/// Beginning of the name of an operation whose statements the engine refused.
const REFUSED: &str = "refused: ";

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "replay",
    summary: "executes what a program did with SQLite, as `bourse record` recorded it",
    tables: "those of the recorded database, with its rows",
    needs: "SQL, of which each engine executes what its dialect has",
    options: &[
        option!(FILE => OptionKind::Text("a folder that `bourse record` made, or the trace of one process"), "trace",
            "recording, as in `bourse replay TRACE TARGET…`"),
        option!(PACE => OptionKind::Text("max, or a number above 0"), "max",
            "speed: 1 is the recording's, 2 twice as fast; response times count from when an execution was due; max is as \
             fast as possible in the recorded order"),
        option!(DATABASE => OptionKind::Text("a path or the end of one, memory, or most"), recording::MOST,
            "database that is replayed, if several were recorded; most is the one with most executions"),
    ],
    extent: RoundExtent::Work,
    plan,
};

/// A recording to be replayed.
struct Replay {
    recording: Arc<Recording>,
    pace: Option<f64>,
    /// State of the present round.
    state: Mutex<Arc<RoundState>>,
}

fn plan(options: &WorkloadOptions) -> Result<Box<dyn PlannedWorkload>, OptionError> {
    /// The recording read last: a round is planned several times.
    static READ: Mutex<Option<([String; 2], Arc<Recording>)>> = Mutex::new(None);
    let pace = match options.text(PACE) {
        "max" => None,
        text => Some(text.parse().ok().filter(|pace| *pace > 0.0 && f64::is_finite(*pace)).ok_or_else(|| {
            options.refuse(format!("invalid value '{text}' for 'pace': expected max, or a number above 0"))
        })?),
    };
    let wanted = [FILE, DATABASE].map(|name| options.text(name).to_owned());
    let mut read = locked(&READ);
    let recording = match &*read {
        Some((known, recording)) if *known == wanted => Arc::clone(recording),
        _ => {
            let recording = Arc::new(Recording::read(Path::new(&wanted[0]), &wanted[1])?);
            Arc::clone(&read.insert((wanted, recording)).1)
        }
    };
    let state = Mutex::new(Arc::new(RoundState::of(&recording)));
    Ok(Box::new(Replay { recording, pace, state }))
}

/// Interrupts statements that go on long after the end of the interval, or an interruption: a recording may have some without end.
fn end_statements(engine: &dyn Engine, users: &AtomicUsize, clock: &dyn Clock, control: &RoundControl) {
    const GRACE_NS: Nanos = SECOND;
    const POLL_INTERVAL_NS: Nanos = 20 * MS;
    while users.load(Ordering::Relaxed) > 0 && !control.ended(clock.now()) {
        let now = clock.now();
        if let Ok(sql) = engine.sql()
            && control.draining(now.saturating_sub(GRACE_NS))
        {
            sql.interrupt_statements();
        }
        clock.nap_until(now + POLL_INTERVAL_NS);
    }
}

impl PlannedWorkload for Replay {
    fn operations(&self) -> Vec<OperationSpec> {
        self.recording.operations.iter().map(|name| OperationSpec::new(name)).collect()
    }
    fn headline(&self) -> Option<usize> {
        None
    }
    fn unit(&self) -> &'static str {
        "statements/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        if capabilities.sql.is_some() { Vec::new() } else { vec!["it needs SQL".to_owned()] }
    }
    fn is_confined(&self) -> bool {
        true
    }
    fn contents(&self) -> Option<String> {
        Some(self.recording.contents.clone())
    }
    fn threads(&self) -> usize {
        self.recording.users.len()
    }
    fn expected_ns(&self) -> Option<Nanos> {
        let Recording { lasted_ns, statements, .. } = &*self.recording;
        // Without a pace, no time passes between statements.
        let executed_ns = statements.iter().map(|it| it.duration_ns).fold(0, u64::saturating_add);
        Some(self.pace.map_or((*lasted_ns).min(executed_ns), |pace| (*lasted_ns as f64 / pace) as Nanos))
    }
    fn executions(&self) -> Option<Vec<u64>> {
        let mut executions = vec![0; self.recording.operations.len()];
        for step in self.recording.users.iter().flatten() {
            executions[self.recording.statements[step.statement].operation] += 1;
        }
        Some(executions)
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        let sql = engine.sql().map_err(MicroError::engine("making the tables"))?;
        let encoding = self.recording.encoding.as_deref();
        let (data, mut facts) = data::load(engine, self.recording.copy.as_deref(), encoding)?;
        let mut state = RoundState::of(&self.recording);
        if !data::is_sqlite(sql.dialect()) {
            state.expected = Some(again::execute(&self.recording, None)?);
            let makes = self.recording.statements.iter().enumerate().filter(|(_, it)| it.declares);
            let own = makes.filter_map(|(at, it)| Some((at, with_assigned_key(&it.text, sql.dialect())?)));
            // They live as long as the process, as all statements do.
            let leaked = |parts: Vec<String>| -> Vec<&'static Sql> {
                parts.into_iter().map(|part| &*Box::leak(Box::new(Sql::new(part.leak())))).collect()
            };
            state.translated = own.map(|(at, parts)| (at, leaked(parts))).collect();
        }
        let statements = &self.recording.statements;
        let declared = statements.iter().filter(|it| it.declares).map(|it| it.text.as_str());
        let copy = data.schema.iter().map(String::as_str);
        let schema: Vec<&str> = copy.clone().chain(declared).collect();
        state.keys = Keys::of(copy, statements);
        state.lacking = DifferingTables::of(&schema, data.lacks, self.recording.lacks.clone(), statements);
        state.clocks = DifferingTables::of_clocks(&schema, statements);
        state.collated =
            self.recording.is_masked.then(|| schema.iter().flat_map(|sql| collated_columns(sql)).collect());
        let decided = state.collated.as_ref().map(|collated| decided_by_masks(&schema, collated)).unwrap_or_default();
        state.decided = DifferingTables::of(&schema, decided, Vec::new(), statements);
        state.is_empty_copy = self.recording.copy.is_some() && data.schema.is_empty();
        state.left_out = data.left_out;
        let recorded = self.recording.versions.iter().cloned().collect::<Vec<_>>().join(", ");
        if data::is_sqlite(sql.dialect()) {
            let bourse_engine::Description { version, settings, .. } =
                engine.description().map_err(MicroError::engine("reading the version"))?;
            state.has_one_writer = settings.iter().any(|it| it.name == "writers" && it.value == "one");
            state.other_settings = settings::other_than(&settings, &self.recording.settings);
            let words = format!("SQLite {version}, recorded with {recorded}, whose plans and times may be others");
            let adds_exactly = |version: &str| {
                let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
                (parts.next(), parts.next()) >= (Some(3), Some(43))
            };
            state.adds_otherwise = self.recording.versions.iter().any(|it| adds_exactly(it) != adds_exactly(&version));
            state.other_version = (recorded != version).then_some(words);
        }
        facts.push(named("recorded with", format!("SQLite {recorded}")));
        *locked(&self.state) = Arc::new(state);
        facts.extend(self.recording.facts.iter().cloned());
        let left_out = self.recording.left_out.iter();
        facts.extend(left_out.map(|(what, times)| named("left out", format!("{times} × {what}"))));
        Ok(facts)
    }
    fn users<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<UserSpec<'s>> {
        let state = match setting.is_real {
            true => Arc::clone(&locked(&self.state)),
            false => Arc::new(RoundState::of(&self.recording)),
        };
        let user = |(number, steps): (usize, &'s Vec<steps::Step>)| {
            let user = Replayer::new(setting, &self.recording, steps, self.pace, Arc::clone(&state));
            let schedule = if self.pace.is_some() { Schedule::Arrivals } else { Schedule::Closed };
            UserSpec { schedule, ..UserSpec::new(format!("connection {}", number + 1), user) }
        };
        self.recording.users.iter().enumerate().map(user).collect()
    }
    fn background<'s>(&'s self, setting: &RoundSettings<'s>) -> Vec<Background<'s>> {
        let (engine, state) = (setting.engine, Arc::clone(&locked(&self.state)));
        let run: Emulator<'s> = Box::new(move |clock, control| end_statements(engine, &state.users, clock, control));
        if setting.is_real { vec![Background { name: "end of statements".to_owned(), run }] } else { Vec::new() }
    }
    fn finish(&self, setting: &RoundSettings<'_>, round: &mut Round) {
        round.warnings.extend(not_synced(setting, round, self.threads()));
        let parts = locked(&self.state).missing(&self.recording);
        if !parts.is_empty() {
            round.warnings.push(Warning::ReplayedInPart { parts });
        }
        if let Some(pace) = self.pace {
            let state = locked(&self.state);
            // A shorter --for ends before the rest is due.
            let until_ns = (round.measured_s * pace * 1e9) as u64;
            let is_due = |step: &&steps::Step| step.due_ns <= until_ns && !state.is_refused(step);
            let due = self.recording.users.iter().flatten().filter(is_due).count() as u64;
            let started = round.operations.iter().map(|it| it.samples).sum();
            round.operations.iter_mut().for_each(|it| it.by_schedule = true);
            let (due, unstarted) = (due.max(started), due.saturating_sub(started));
            let behind_ns = (until_ns.saturating_sub(self.recording.lasted_ns) as f64 / pace) as Nanos;
            round.arrivals = Some(Arrivals { due, started, unstarted, behind_ns, ..Arrivals::default() });
        }
        let state = locked(&self.state);
        if let Some(why) = state.void().filter(|_| setting.is_real) {
            round.make_void(why);
        }
        // What did not run is marked, and stands behind what ran.
        let of_steps = |is_refused: bool| -> BTreeSet<usize> {
            let steps = self.recording.users.iter().flatten().filter(|step| state.is_refused(step) == is_refused);
            steps.map(|step| self.recording.statements[step.statement].operation).collect()
        };
        let refused = &of_steps(true) - &of_steps(false);
        for at in &refused {
            round.operations[*at].name.insert_str(0, REFUSED);
        }
        round.operations.sort_by_key(|it| it.name.starts_with(REFUSED));
        drop(state);
        // The statements may have made tables. An error here follows one that the round has reported.
        let adopted =
            setting.engine.session().and_then(|mut session| bourse_engine::Inventory::adopt(session.as_mut()));
        drop(adopted);
    }
    fn check(&self, _: &RoundSettings<'_>) -> Result<Vec<Check>, MicroError> {
        Ok(locked(&self.state).checks(&self.recording))
    }
}
