//! Context of all rounds of a run: clock, interruption, input data, and the results that are stored if a call never returns.

use super::lost::{self, ForcedEnd};
use crate::failure::Result;
use crate::interrupt;
use bourse_driver::RealClock;
use bourse_egen::Inputs;
use bourse_record::{Case, RunFile};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Context of all rounds of a run.
pub(crate) struct RunContext {
    /// The only clock.
    pub(crate) clock: RealClock,
    /// Whether the run was interrupted.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Time in the round at which the interruption was first seen, in seconds.
    pub(super) interrupted_at_s: Cell<Option<f64>>,
    /// Input data for generators, by the folder it was read from.
    inputs: RefCell<BTreeMap<Option<PathBuf>, Rc<Inputs>>>,
    /// Time after the measurement interval until a running call counts as lost, in nanoseconds.
    pub(super) call_limit_ns: u64,
    /// Way in which this process ends then.
    pub(super) ending: ForcedEnd,
    /// Results measured before, in this process.
    pub(super) kept: RefCell<Option<RunFile>>,
}

impl RunContext {
    /// Context of the rounds of a command, whose files go into that folder.
    pub(super) fn of_command(folder: &Path, call_limit_ns: u64) -> Result<Self> {
        Self::with(RealClock::start(), call_limit_ns, ForcedEnd::Files(folder.to_owned()))
    }

    /// Context of a child process that runs one round on a target.
    pub(super) fn of_round(target: &str, call_limit_ns: u64) -> Result<Self> {
        let clock = RealClock::start();
        // Processes without a limit sample no round.
        if call_limit_ns != u64::MAX {
            lost::watch_sampling(target.to_owned(), clock.clone(), call_limit_ns);
        }
        Self::with(clock, call_limit_ns, ForcedEnd::Answer)
    }

    fn with(clock: RealClock, call_limit_ns: u64, ending: ForcedEnd) -> Result<Self> {
        let (interrupted, inputs, kept) = (interrupt::flag()?, RefCell::default(), RefCell::default());
        Ok(Self { clock, interrupted, interrupted_at_s: Cell::new(None), inputs, call_limit_ns, ending, kept })
    }

    /// Stores a case as it is now, next to those stored before: the results to write if a call never returns.
    pub(super) fn keep(&self, begun: &RunFile, case: &Case) {
        let mut kept = self.kept.borrow_mut();
        let kept = kept.get_or_insert_with(|| begun.clone());
        match kept.cases.iter_mut().find(|known| known.label == case.label) {
            Some(known) => known.clone_from(case),
            None => kept.cases.push(case.clone()),
        }
    }

    /// Whether the run was interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The official input files of a folder, or the built-in data; each is read once.
    pub(crate) fn inputs(&self, folder: Option<&Path>) -> Result<Rc<Inputs>> {
        let folder = folder.map(Path::to_owned);
        if let Some(known) = self.inputs.borrow().get(&folder) {
            return Ok(Rc::clone(known));
        }
        let read = Rc::new(crate::inputs::inputs(folder.as_deref())?);
        self.inputs.borrow_mut().insert(folder, Rc::clone(&read));
        Ok(read)
    }
}
