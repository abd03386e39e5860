//! Participants of a round: users with their sessions, emulators, and their threads.

use crate::memory::{MemoryUse, SessionMemory};
use crate::open_files::SessionFiles;
use crate::reconcile::Recording;
use crate::statements::StatementMeter;
use crate::{Background, Clock, Fault, RoundControl, RoundPlan, UserSpec, Workload};
use bourse_engine::{Connection, Engine, ErrorKind, Setting};
use bourse_record::Recorder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Users with their sessions, and emulators, before the clock starts.
pub(super) struct Participants<'w> {
    pub(super) user_specs: Vec<(UserSpec<'w>, Connection, Recording)>,
    /// Settings of each user's session, if they are read again after the round.
    pub(super) settings: Vec<Vec<Setting>>,
    pub(super) background: Vec<Background<'w>>,
    /// Remarks of the engine about the number of sessions.
    pub(super) notes: Vec<String>,
    pub(super) memory: SessionMemory,
    /// Whether a schedule makes each operation due.
    pub(super) by_schedule: Vec<bool>,
}

/// Opens a session for each user, and creates its recorder.
pub(super) fn connect_all<'w>(
    engine: &dyn Engine,
    workload: &mut dyn Workload<'w>,
    plan: &RoundPlan,
    interrupt: &AtomicBool,
) -> Result<Participants<'w>, Fault> {
    let users = workload.users();
    let background = workload.background();
    let specs: Arc<[_]> = workload.operations().into();
    for UserSpec { name, schedule, .. } in &users {
        schedule.check().map_err(|error| Fault::Schedule { user: name.clone(), error })?;
    }
    let notes = engine.expect_sessions(users.len() + workload.sessions_elsewhere()).into_iter().collect();
    let mut memory = SessionMemory { before: MemoryUse::now(engine), ..SessionMemory::default() };
    let mut files = SessionFiles::of(users.len());
    let is_by_schedule = |operation| users.iter().any(|it| it.schedule.has_moments() && it.user.performs(operation));
    let by_schedule = (0..specs.len()).map(is_by_schedule).collect();
    let mut user_specs = Vec::with_capacity(users.len());
    let mut settings = Vec::with_capacity(users.len());
    for mut user_spec in users {
        if interrupt.load(Ordering::Relaxed) {
            return Err(Fault::Interrupted);
        }
        let mut session = engine.connect().map_err(|error| Fault::connect(&user_spec.name, &error))?;
        files.made()?;
        // If all statements are Bourse's, one session is representative of all. Read before any is prepared: SQLite
        // executes some pragmas then.
        let is_read = user_specs.is_empty() || user_spec.user.may_change_settings();
        settings.push(if is_read { session.settings() } else { Vec::new() });
        user_spec.user.prepare(&mut session).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => Fault::Interrupted,
            ErrorKind::ConnectionLost | ErrorKind::InDoubt => {
                Fault::Connect { user: user_spec.name.clone(), error: error.to_string() }
            }
            _ => Fault::Prepare { user: user_spec.name.clone(), error: error.to_string() },
        })?;
        let recorder = Recorder::new(specs.clone(), |operation| user_spec.user.performs(operation));
        let mut recording = Recording::new(recorder);
        if plan.statements {
            (session, recording.statements) = StatementMeter::of(session);
        }
        user_specs.push((user_spec, session, recording));
    }
    memory.seated = MemoryUse::now(engine);
    Ok(Participants { user_specs, settings, background, notes, memory, by_schedule })
}

/// Threads started for a round, and the fault of one that could not be started.
pub(super) struct StartedThreads {
    pub(super) of: usize,
    pub(super) started: usize,
    pub(super) refused: Option<Fault>,
}

impl StartedThreads {
    /// Starts a thread, unless the system refused an earlier one.
    pub(super) fn spawn<'scope>(
        &mut self,
        scope: &'scope thread::Scope<'scope, '_>,
        name: &str,
        work: impl FnOnce() + Send + 'scope,
    ) {
        if self.refused.is_some() {
            return;
        }
        match thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work) {
            Ok(_) => self.started += 1,
            Err(error) => {
                let (number, of) = (self.started + 1, self.of);
                self.refused = Some(Fault::Thread { number, of, error: error.to_string() });
            }
        }
    }
}

/// Runs a thread's work; its fault or panic ends the round and is reported.
pub(super) fn guard(control: &RoundControl, clock: &dyn Clock, name: &str, work: impl FnOnce() -> Result<(), Fault>) {
    // The recorder a panic leaves behind is still whole: a sample is taken after its operation, never within.
    let fault = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => fault,
        Err(payload) => {
            let message = payload
                .downcast_ref::<&str>()
                .map(|words| (*words).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "without words".to_owned());
            Fault::Panicked { thread: name.to_owned(), message }
        }
    };
    control.fail(clock.now(), fault);
}
