//! Databases of the brokerage workload: each opened and loaded once, kept, and put back before a round.

use super::RunContext;
use super::system::SystemUnderTest;
use crate::args::Database;
use crate::failure::Failure;
use crate::plan::Brokerage;
use crate::progress::Step;
use crate::tpce::database::{Ready, engine_failure};
use bourse_engine::{ErrorKind, Snapshot};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

/// A target that was opened, with its database.
pub(super) struct PreparedDatabase {
    target: String,
    /// System that runs its transactions.
    pub(super) system: SystemUnderTest,
    /// Content of the database.
    pub(super) ready: Ready,
    /// The size that was asked for.
    size: Size,
    /// Where its rows are: databases of one place are one database.
    place: String,
}

/// The size of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    customers: u64,
    days: u32,
    scale_factor: u32,
}

impl Size {
    fn of(database: &Database) -> Self {
        let &Database { customers, days, scale_factor, .. } = database;
        Self { customers, days, scale_factor }
    }
}

/// A copy of a database, or why there is none.
enum Kept {
    Copy(Box<dyn Snapshot>),
    Cannot(String),
}

/// All databases of a run.
#[derive(Default)]
pub(crate) struct Databases {
    prepared: Vec<PreparedDatabase>,
    copies: BTreeMap<String, Kept>,
    /// Cases at each place.
    cases: BTreeMap<String, u32>,
}

impl Databases {
    /// The database of a target, opened and loaded unless it is already: its place among all.
    pub(super) fn ready(&mut self, target: &str, job: &Brokerage, context: &RunContext) -> Result<usize, Failure> {
        let size = Size::of(&job.database);
        if let Some(at) = self.prepared.iter().position(|it| it.target == target && it.size == size) {
            return Ok(at);
        }
        let inputs = context.inputs(job.database.flat_in.as_deref())?;
        let system = SystemUnderTest::open(target, job)?;
        let ready = system.ready(target, job, &inputs, &context.clock, &context.interrupted)?;
        // Files are one database whatever the settings; what lives in a process is one engine's own.
        let place = match system.engine().location().file() {
            Some(path) => path.display().to_string(),
            None => format!("{target} {}", self.prepared.len()),
        };
        self.prepared.push(PreparedDatabase { target: target.to_owned(), system, ready, size, place });
        Ok(self.prepared.len() - 1)
    }

    /// Counts a case that runs on a database.
    pub(super) fn join(&mut self, at: usize) {
        *self.cases.entry(self.prepared[at].place.clone()).or_default() += 1;
    }

    /// A database that is ready.
    pub(super) fn at(&self, at: usize) -> &PreparedDatabase {
        &self.prepared[at]
    }

    /// Makes a database ready for a round, and says in words what it is. If other rounds run on it, of its case or of another
    /// that shares it, each finds it as the first did.
    pub(super) fn begin(&mut self, at: usize, others: bool) -> Result<String, Failure> {
        let database = &self.prepared[at];
        let history = database.ready.history.clone();
        if !others && self.cases.get(&database.place).is_none_or(|cases| *cases <= 1) {
            return Ok(history);
        }
        if let SystemUnderTest::Server(remote) = &database.system {
            remote.begin_alike();
            return Ok(history);
        }
        if let SystemUnderTest::Coordinated(_) = &database.system {
            return Ok(format!(
                "{history}; further rounds begin with the database as this one leaves it: several drivers have it open"
            ));
        }
        match self.copies.get(&database.place) {
            Some(Kept::Copy(copy)) => {
                let took = database.restore(&**copy)?;
                let how = copy.how();
                Ok(format!("restored in {took:.1} s to the state before the first round: {history} ({how})"))
            }
            Some(Kept::Cannot(why)) => Ok(format!("as the round before left it: {why}")),
            None => {
                let (kept, mut words) = database.keep(&history)?;
                // The first round begins from the copy too: a file just loaded lies in the system's memory otherwise than one
                // that was put back, and a run on it was a tenth faster.
                if let Kept::Copy(copy) = &kept {
                    let took = database.restore(&**copy)?;
                    let _ = write!(words, " and put back in {took:.1} s, as before each round");
                }
                self.copies.insert(database.place.clone(), kept);
                Ok(words)
            }
        }
    }
}

impl Databases {
    /// Puts databases back whose copies were kept, so that the next run finds them as this one did.
    pub(super) fn put_back(&mut self) -> Result<(), Failure> {
        for database in self.prepared.iter().filter(|it| it.system.engine().location().file().is_some()) {
            let Some(Kept::Copy(copy)) = self.copies.get(&database.place) else { continue };
            database.restore(&**copy)?;
        }
        Ok(())
    }
}

impl PreparedDatabase {
    /// Puts the database back; how long it took, in seconds.
    fn restore(&self, copy: &dyn Snapshot) -> Result<f64, Failure> {
        let step = Step::waiting(format!("restoring {}", self.target));
        let begin = Instant::now();
        let restored = copy.restore();
        step.done();
        restored.map_err(|error| engine_failure(&self.target, &error))?;
        Ok(seconds(begin))
    }

    /// A copy for the rounds to come, and what to say of it.
    fn keep(&self, history: &str) -> Result<(Kept, String), Failure> {
        let step = Step::waiting(format!("taking a snapshot of {}", self.target));
        let begin = Instant::now();
        let taken = self.system.engine().snapshot();
        step.done();
        match taken {
            Ok(copy) => {
                let words = format!("{history}; snapshot for further rounds taken in {:.1} s", seconds(begin));
                Ok((Kept::Copy(copy), words))
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Full) => {
                let why = error.message().to_owned();
                let words = format!("{history}; further rounds begin with the database as this one leaves it: {why}");
                Ok((Kept::Cannot(why), words))
            }
            Err(error) => Err(engine_failure(&self.target, &error)),
        }
    }
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}
