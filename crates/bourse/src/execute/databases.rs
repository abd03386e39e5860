//! Databases of transactional workloads: each opened and loaded once, copied, and put back before a round.

use super::RunContext;
use super::keeper::Keeper;
use super::system::SystemUnderTest;
use crate::engines;
use crate::failure::Result;
use crate::interrupt::interrupted_unmeasured;
use crate::oltp::database::{ReadyDatabase, engine_failure};
use crate::plan::Job;
use crate::progress::{ProgressStep, note};
use crate::spent::{self, SpentPart};
use bourse_engine::server_wait::is_interrupted;
use bourse_engine::{ErrorKind, Location, Snapshot};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

/// A target that was opened, with its database.
pub(super) struct PreparedDatabase {
    target: String,
    /// System that runs its transactions.
    pub(super) system: SystemUnderTest,
    /// Content of the database.
    pub(super) ready: ReadyDatabase,
    /// The requested size.
    size: String,
    /// Place of the rows: databases with one place are one database.
    place: String,
}

/// A database that is ready.
#[derive(Clone, Copy)]
pub(super) enum DatabaseRef {
    /// Index of a database in this process.
    Here(usize),
    /// Index of a database in a process of its own.
    Apart(usize),
}

/// A database in the care of a process of its own.
struct KeeperDatabase {
    target: String,
    size: String,
    place: String,
    keeper: Rc<Keeper>,
}

/// A copy of a database, or why there is none.
enum CopyOrReason {
    Copy(StoredCopy),
    Cannot(String),
}

/// A copy of a database.
struct StoredCopy {
    target: String,
    /// Whether the database outlives the run.
    is_in_files: bool,
    taken: CopyHolder,
}

/// Holder of a copy.
enum CopyHolder {
    Here(Box<dyn Snapshot>),
    Apart(Rc<Keeper>, String),
}

/// All databases of a run.
#[derive(Default)]
pub(crate) struct Databases {
    prepared: Vec<PreparedDatabase>,
    /// Databases of engines whose library would stay in this process.
    apart: Vec<KeeperDatabase>,
    copies: BTreeMap<String, CopyOrReason>,
    /// Cases at each place.
    cases: BTreeMap<String, u32>,
    /// Whether files are put back after the run.
    puts_back: bool,
}

impl Databases {
    /// Databases of a run; files are put back at its end unless they are removed then.
    pub(super) fn of_run(puts_back: bool) -> Self {
        Self { puts_back, ..Self::default() }
    }

    /// The database of a target for rounds in other processes: prepared here, or by a process of its own if its library
    /// would stay in this process.
    pub(super) fn prepared(&mut self, target: &str, job: &Job, context: &RunContext) -> Result<DatabaseRef> {
        if !engines::stays_loaded(target) {
            return self.ready(target, job, context).map(DatabaseRef::Here);
        }
        let size = job.database_key();
        if let Some(at) = self.apart.iter().position(|it| it.target == target && it.size == size) {
            return Ok(DatabaseRef::Apart(at));
        }
        let place = self.place(target, &engines::location(target)?);
        let step = ProgressStep::waiting(format!("preparing {target} in a process of its own"));
        let spending = spent::on(SpentPart::Rounds);
        let keeper = Keeper::start(target, job, &context.interrupted);
        drop(spending);
        step.end(&keeper);
        self.apart.push(KeeperDatabase { target: target.to_owned(), size, place, keeper: Rc::new(keeper?) });
        Ok(DatabaseRef::Apart(self.apart.len() - 1))
    }

    /// Opens the database of a target in this process, and loads it unless it is loaded; returns its index.
    pub(super) fn ready(&mut self, target: &str, job: &Job, context: &RunContext) -> Result<usize> {
        let size = job.database_key();
        if let Some(at) = self.prepared.iter().position(|it| it.target == target && it.size == size) {
            return Ok(at);
        }
        let (system, ready) = job.rounds().open(target, context)?;
        let place = self.place(target, &system.engine().location());
        self.prepared.push(PreparedDatabase { target: target.to_owned(), system, ready, size, place });
        Ok(self.prepared.len() - 1)
    }

    /// Place of a target: files are one database whatever the settings; a database in a process is one engine's own.
    fn place(&self, target: &str, location: &Location) -> String {
        match location.file() {
            Some(path) => path.display().to_string(),
            None => format!("{target} {}", self.prepared.len()),
        }
    }

    /// Counts a case that runs on a database.
    pub(super) fn join(&mut self, at: DatabaseRef) {
        let place = self.place_of(at).to_owned();
        *self.cases.entry(place).or_default() += 1;
    }

    fn place_of(&self, at: DatabaseRef) -> &str {
        match at {
            DatabaseRef::Here(at) => &self.prepared[at].place,
            DatabaseRef::Apart(at) => &self.apart[at].place,
        }
    }

    /// A database that is ready in this process.
    pub(super) fn at(&self, at: usize) -> &PreparedDatabase {
        &self.prepared[at]
    }

    /// Makes a database ready for a round, and returns its history as text. If other rounds run on it, of its case or of
    /// another that shares it, each finds it as the first did; and so does the next run, if it is in files.
    pub(super) fn begin(&mut self, at: DatabaseRef, others: bool) -> Result<String> {
        let history = match at {
            DatabaseRef::Here(at) => self.prepared[at].ready.history.clone(),
            DatabaseRef::Apart(at) => self.apart[at].keeper.history.clone(),
        };
        let place = self.place_of(at).to_owned();
        let others = others || self.cases.get(&place).is_some_and(|cases| *cases > 1);
        let outlives = self.puts_back && self.location(at)?.file().is_some();
        if !others && !outlives {
            return Ok(history);
        }
        let left_as_it_is = |why: &str| match others {
            true => format!("{history}; further rounds begin with the database as this one leaves it: {why}"),
            false => format!("{history}; not restored after the run: {why}"),
        };
        match at {
            DatabaseRef::Here(at) => match &self.prepared[at].system {
                SystemUnderTest::Server(remote) => {
                    remote.begin_alike();
                    return Ok(history);
                }
                SystemUnderTest::Coordinated(_) => {
                    return Ok(left_as_it_is("several drivers have it open"));
                }
                // The model begins each round alike by itself.
                SystemUnderTest::Model(_) => return Ok(history),
                SystemUnderTest::InProcess(_) => {}
            },
            DatabaseRef::Apart(_) => {}
        }
        match self.copies.get(&place) {
            Some(CopyOrReason::Copy(copy)) => {
                let took = copy.restore(SpentPart::Restore)?;
                let how = copy.method();
                Ok(format!("restored in {took:.1} s to the state before the first round: {history} ({how})"))
            }
            Some(CopyOrReason::Cannot(why)) => Ok(format!("as the round before left it: {why}")),
            None => {
                let begin = Instant::now();
                let (kept, words) = match self.keep(at, others)? {
                    Ok(copy) => {
                        let took = seconds(begin);
                        check_going_on()?;
                        // The first round begins from the copy too: otherwise a freshly loaded file is laid out differently
                        // in the system's cache than a restored one, and a run on it was a tenth faster.
                        let back = copy.restore(SpentPart::Restore)?;
                        check_going_on()?;
                        let further = if others { " for further rounds" } else { "" };
                        let when = match (others, outlives) {
                            (true, false) => "as before each round",
                            (true, true) => "as before each round and after the run",
                            (false, _) => "as after the run",
                        };
                        let words = format!(
                            "{history}; snapshot{further} taken in {took:.1} s and put back in {back:.1} s, {when}"
                        );
                        (CopyOrReason::Copy(copy), words)
                    }
                    Err(why) => {
                        let words = left_as_it_is(&why);
                        if outlives {
                            note(&format!("{}: not restored after the run: {why}", self.target(at)));
                        }
                        (CopyOrReason::Cannot(why), words)
                    }
                };
                self.copies.insert(place, kept);
                Ok(words)
            }
        }
    }

    fn target(&self, at: DatabaseRef) -> &str {
        match at {
            DatabaseRef::Here(at) => &self.prepared[at].target,
            DatabaseRef::Apart(at) => &self.apart[at].target,
        }
    }

    fn location(&self, at: DatabaseRef) -> Result<Location> {
        match at {
            DatabaseRef::Here(at) => Ok(self.prepared[at].system.engine().location()),
            DatabaseRef::Apart(at) => engines::location(&self.apart[at].target),
        }
    }

    /// A copy for further rounds, if there are `others`, and for the end of the run; or the reason why there can be none.
    fn keep(&self, at: DatabaseRef, others: bool) -> Result<Result<StoredCopy, String>> {
        let target = self.target(at);
        let is_in_files = self.location(at)?.file().is_some();
        let step = ProgressStep::waiting(format!("taking a snapshot of {target}"));
        let _spending = spent::on(SpentPart::Copy);
        let taken = match at {
            DatabaseRef::Here(at) => self.prepared[at].copy(others).map(|taken| taken.map(CopyHolder::Here)),
            DatabaseRef::Apart(at) => {
                let keeper = &self.apart[at].keeper;
                keeper.copy().map(|taken| taken.map(|how| CopyHolder::Apart(Rc::clone(keeper), how)))
            }
        };
        step.done();
        Ok(taken?.map(|taken| StoredCopy { target: target.to_owned(), is_in_files, taken }))
    }

    /// Puts files back, so that the next run finds them as this one did; files that are removed with the run are left.
    pub(super) fn put_back(&self) -> Result<()> {
        for kept in self.copies.values().filter(|_| self.puts_back) {
            if let CopyOrReason::Copy(copy) = kept
                && copy.is_in_files
            {
                copy.restore(SpentPart::PutBack)?;
            }
        }
        Ok(())
    }
}

impl PreparedDatabase {
    /// Takes a copy of the database, or returns the reason why there can be none. Another program that has it open is a
    /// failure only if rounds `need` the copy.
    pub(super) fn copy(&self, need: bool) -> Result<Result<Box<dyn Snapshot>, String>> {
        let rules_out_copy = |kind| match kind {
            ErrorKind::Unsupported | ErrorKind::Full | ErrorKind::Denied => true,
            kind => kind == ErrorKind::Conflict && !need,
        };
        match self.system.engine().snapshot() {
            Ok(copy) => Ok(Ok(copy)),
            Err(error) if rules_out_copy(error.kind()) => Ok(Err(error.message().to_owned())),
            Err(error) => Err(engine_failure(&self.target, &error)),
        }
    }
}

impl StoredCopy {
    /// Description of the way the copy was made.
    fn method(&self) -> &str {
        match &self.taken {
            CopyHolder::Here(copy) => copy.method(),
            CopyHolder::Apart(_, how) => how,
        }
    }

    /// Puts the database back, as that part of the time; returns the duration in seconds.
    fn restore(&self, part: SpentPart) -> Result<f64> {
        let _spending = spent::on(part);
        let step = ProgressStep::waiting(format!("restoring {}", self.target));
        let begin = Instant::now();
        let restored = match &self.taken {
            CopyHolder::Here(copy) => copy.restore().map_err(|error| engine_failure(&self.target, &error)),
            CopyHolder::Apart(keeper, _) => keeper.restore(),
        };
        step.done();
        restored.map(|()| seconds(begin))
    }
}

/// Fails after an interruption: no round begins then, and the database of one that has not begun is as it was.
fn check_going_on() -> Result<()> {
    if is_interrupted() { Err(interrupted_unmeasured()) } else { Ok(()) }
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}
