//! A case with the rounds it has had.

use super::RoundOutcome;
use crate::failure::{Failure, Result};
use crate::plan::{Job, PlannedCase};
use bourse_engine::Hosting;
use bourse_record::{Case, CheckStatus, Conditions, Durability, Engine, Round, Search, Workload};

/// Fitness of a case's last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastRound {
    /// The round counts.
    Fit,
    /// Others disturbed it.
    Disturbed,
    /// The host stalled so long that no operation ended in it.
    NothingEnded,
    /// No round, or a failed one, or one that is void for another reason.
    Unsound,
}

/// A case that is being run.
pub(crate) struct CaseRun {
    /// The planned case.
    pub(crate) planned: PlannedCase,
    /// The job, which a search changes.
    pub(crate) job: Job,
    /// The case of the document, once a round was run.
    pub(crate) case: Option<Case>,
    /// Whether each round ran to its end.
    whole: Vec<bool>,
    /// Failure of the case.
    pub(crate) failure: Option<Failure>,
    /// The search that found its rate.
    pub(super) search: Option<Search>,
}

impl CaseRun {
    pub(super) fn new(planned: PlannedCase) -> Self {
        let job = planned.job.clone();
        Self { planned, job, case: None, whole: Vec::new(), failure: None, search: None }
    }

    /// Its name in reports.
    pub(crate) fn label(&self) -> &str {
        &self.planned.label
    }

    /// Whether further rounds of it are run.
    pub(super) fn has_more_rounds(&self) -> bool {
        self.planned.not_run.is_none() && self.failure.is_none()
    }

    /// Records a failure.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Whether the case's last stored round reports that failure already.
    pub(super) fn ended_with(&self, failure: &Failure) -> bool {
        self.failure.as_ref() == Some(failure)
    }

    /// Removes its rounds, to be replaced by others.
    pub(super) fn clear(&mut self) {
        (self.case, self.whole) = (None, Vec::new());
    }

    /// Stores a round.
    ///
    /// # Errors
    /// The failure that the round ended with.
    pub(super) fn keep(&mut self, outcome: RoundOutcome, offset_s: f64) -> Result<()> {
        let RoundOutcome { mut round, engine, workload, conditions, interrupted, failure, .. } = outcome;
        round.offset_s = offset_s;
        let first = self.case.as_ref().map(|case| &case.engine);
        if let Some(change) = first.and_then(|first| first.changed_setting(&engine))
            && !self.has_servers_of_its_own()
        {
            round.make_void(format!("a setting changed between two rounds: {change}"));
        }
        let case = self.described(engine.clone(), workload, conditions);
        // Commits that were not synced in one round are not known to be durable in the others.
        if engine.durability == Durability::Unknown {
            (case.engine.durability, case.engine.durability_reason) = (engine.durability, engine.durability_reason);
        }
        case.rounds.push(round);
        self.whole.push(failure.is_none() && !interrupted);
        match failure {
            Some(failure) => {
                self.failure = Some(failure.clone());
                Err(failure)
            }
            None => Ok(()),
        }
    }

    /// Whether Bourse starts its server, anew for each round and in another folder.
    fn has_servers_of_its_own(&self) -> bool {
        let engine = crate::engines::open(&self.planned.target);
        engine.is_ok_and(|engine| matches!(engine.hosting(), Hosting::OwnedServer(_)))
    }

    /// The case of the document, made of a round's descriptions if there is none yet.
    pub(super) fn described(&mut self, engine: Engine, workload: Workload, conditions: Conditions) -> &mut Case {
        self.case.get_or_insert_with(|| Case {
            label: self.planned.label.clone(),
            engine,
            workload,
            conditions,
            varied: self.planned.varied.clone(),
            search: None,
            origin: None,
            rounds: Vec::new(),
            set_aside: Vec::new(),
            earlier: None,
            instructions: None,
        })
    }

    /// Makes the last round that was set aside count again.
    pub(super) fn take_back(&mut self) {
        if let Some(case) = &mut self.case
            && let Some(round) = case.set_aside.pop()
        {
            case.rounds.push(round);
            self.whole.push(true);
        }
    }

    /// Whether it has no round yet that counts.
    pub(super) fn has_no_round(&self) -> bool {
        self.rounds().is_empty()
    }

    /// Fitness of the last round. A round that failed, or has a failed check, is never repeated.
    pub(super) fn last_round(&self) -> LastRound {
        let (Some(case), Some(true)) = (&self.case, self.whole.last()) else { return LastRound::Unsound };
        let Some(round) = case.rounds.last() else { return LastRound::Unsound };
        let nothing_ended = !round.operations.is_empty() && round.headline_valid(&case.workload) == 0;
        let is_sound = round.failed() == 0 && round.checks.iter().all(|check| check.status != CheckStatus::Failed);
        match round.void {
            _ if !is_sound => LastRound::Unsound,
            Some(_) if nothing_ended => LastRound::NothingEnded,
            Some(_) => LastRound::Unsound,
            None if round.is_disturbed() => LastRound::Disturbed,
            None => LastRound::Fit,
        }
    }

    /// Sets the last round aside: another takes its place.
    pub(super) fn set_last_aside(&mut self) {
        if let Some(case) = &mut self.case
            && let Some(round) = case.rounds.pop()
        {
            case.set_aside.push(round);
            self.whole.pop();
        }
    }

    /// Every round.
    pub(crate) fn rounds(&self) -> &[Round] {
        self.case.as_ref().map_or(&[], |case| &case.rounds)
    }

    /// Its rounds that ran to their end.
    pub(crate) fn whole_rounds(&self) -> impl Iterator<Item = &Round> {
        self.rounds().iter().zip(&self.whole).filter(|(_, whole)| **whole).map(|(round, _)| round)
    }

    /// The case of the document, if a round of it was run.
    pub(super) fn finished(self) -> Option<Case> {
        let mut case = self.case?;
        case.search = self.search;
        Some(case)
    }
}
