//! `bourse tune`: the settings of a target that make a workload fastest. A race selects them, power losses test them, and rounds
//! that nothing was selected by prove them.

use crate::args::{DurabilityClass, TuneArgs};
use crate::execute::{self, CaseRun, ExecutedPlan, verdict::verdict};
use crate::failure::{Exit, Failure, Result};
use crate::output::{ResultFolder, print, publish};
use crate::plan::tune::{Change, TunePlan, plan};
use crate::plan::{Plan, PlannedCase};
use crate::progress::{ProgressStep, note};
use crate::{engines, interrupt, outside};
use bourse_record::crash::CrashFile;
use bourse_record::{
    CheckStatus, Document as _, Durability, Engine, NameValue, RacedSetting, Round, RunFile, TunedCrash, TunedLine,
    Tuning, median,
};
use bourse_stats::race::best;
use bourse_verdict::comparison::{CasePair, ComparedCases, RunNoise, TOLERANCE};
use bourse_verdict::tuning::{LineGain, line_gains, no_base};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Races, crashes, proves, and reports.
pub(crate) fn run(arguments: &TuneArgs) -> Result<()> {
    let plan = plan(arguments)?;
    let (steps, run) = (plan.steps(), &arguments.work.settings.run);
    if run.execution.plan.dry_run {
        return print(&steps.show());
    }
    steps.announced().iter().for_each(|words| note(words));
    let folder = ResultFolder::new(&run.output.directory, "tune")?;
    let (file, outcome) = Race::begin(&plan, &folder)?.answered()?;
    publish(&file, &folder, &run.output)?;
    outcome
}

/// A race and what it found.
struct Race<'p> {
    plan: &'p TunePlan<'p>,
    folder: &'p ResultFolder,
    began: Instant,
    /// Number of the plan that is run.
    stage: u32,
    rounds_run: u64,
    /// Description of the target as it is.
    base: Engine,
    found: Tuning,
    /// The last stage with rounds, in which the target as it is was run; before the race only if it had no figure.
    last: Option<RunFile>,
}

impl<'p> Race<'p> {
    /// Runs the target as it is once; a failure if its class is below the promise.
    fn begin(plan: &'p TunePlan<'p>, folder: &'p ResultFolder) -> Result<Self> {
        let began = Instant::now();
        let first = execute(plan, folder, &plan.rounds(0, vec![plan.base.clone()], 1)?)?;
        fail_if_interrupted()?;
        let case = first.cases.first().and_then(|it| it.case.as_ref().filter(|_| it.failure.is_none()));
        let base = case.map(|case| case.engine.clone());
        let Some(base) = base else {
            return Err(first
                .measured()
                .and_then(|(_, outcome)| outcome)
                .err()
                .unwrap_or_else(|| Failure::new(Exit::Target, "nothing was measured")));
        };
        let promise = plan.arguments.promise.map_or(base.durability, DurabilityClass::durability);
        if base.durability < promise {
            return Err(Failure::usage(format!(
                "{} does not keep --promise {promise}: it is {}",
                base.target, base.durability
            ))
            .detail("cause", &base.durability_reason)
            .hint("give a target that keeps the promise, or a lower --promise"));
        }
        let raced = |(change, _): &(Change, PlannedCase)| RacedSetting {
            change: change.to_string(),
            stage: 0,
            ratios: Vec::new(),
            out: None,
        };
        let found = Tuning {
            promise,
            race: plan.settings.iter().map(raced).collect(),
            elimination: Vec::new(),
            lines: Vec::new(),
            statements: Vec::new(),
            target: None,
            unshown: Vec::new(),
            crashes: Vec::new(),
            left_out: plan.left_out.clone(),
        };
        // Without a figure of the target as it is there is nothing to race against.
        let last = Some(first.file()).filter(|file| no_base(file, &found).is_some());
        Ok(Self { plan, folder, began, stage: 0, rounds_run: 1, base, found, last })
    }

    /// The run's document and its outcome; of a search that was interrupted as far as it came.
    fn answered(mut self) -> Result<(RunFile, Result<()>)> {
        let answered = self.select().and_then(|selected| self.proven(selected));
        let (mut file, outcome) = match (answered, self.last) {
            (Err(failure), Some(file)) if failure.exit == Exit::Interrupted => {
                let why = interrupted().hint("the race until then is in the page, and selects no setting");
                (RunFile { interrupted: true, ..file }, Err(why))
            }
            (answered, _) => answered?,
        };
        file.tuning = Some(self.found);
        Ok((file, outcome))
    }

    /// Keeps the document of rounds, unless there are none; an interruption ends the search.
    fn stays(&mut self, ran: ExecutedPlan) -> Result<()> {
        let file = ran.file();
        if !file.cases.is_empty() {
            self.last = Some(file);
        }
        fail_if_interrupted()
    }

    /// Runs cases in turn, with random numbers of their own.
    fn ran(&mut self, cases: Vec<PlannedCase>, rounds: u32) -> Result<ExecutedPlan> {
        self.stage += 1;
        self.rounds_run += cases.len() as u64 * u64::from(rounds);
        execute(self.plan, self.folder, &self.plan.rounds(self.stage, cases, rounds)?)
    }

    /// Races the settings, and joins those that won; the settings to prove, the most promising first. None if the target as it is had
    /// no figure.
    fn select(&mut self) -> Result<Vec<Vec<&'p Change>>> {
        let plan = self.plan;
        if self.last.is_some() {
            return Ok(Vec::new());
        }
        let mut alive: Vec<usize> = (0..plan.settings.len()).collect();
        for (nth, stage) in plan.schedule.stages.iter().enumerate() {
            alive = self.best_of(&alive, stage.settings);
            note(&format!("stage {} of {}: {} settings", nth + 1, plan.schedule.stages.len(), alive.len()));
            let raced = alive.iter().map(|at| plan.settings[*at].1.clone());
            let cases: Vec<PlannedCase> = std::iter::once(plan.base.clone()).chain(raced).collect();
            let ran = self.ran(cases, stage.rounds)?;
            for (at, case) in alive.iter().zip(&ran.cases[1..]) {
                // A case may have no round yet where the search is interrupted.
                let out = if is_interrupted()? { None } else { self.reason_out(case) };
                let setting = &mut self.found.race[*at];
                (setting.stage, setting.out) = (nth as u32 + 1, out);
                setting.ratios.extend(ratios(&ran.cases[0], case));
            }
            alive.retain(|at| self.found.race[*at].out.is_none());
            self.stays(ran)?;
        }
        let is_faster = |at: &usize| median(&self.found.race[*at].ratios).is_some_and(|it| it > 1.0);
        let order: Vec<usize> = self.best_of(&alive, alive.len()).into_iter().filter(is_faster).collect();
        let mut joined: Vec<&Change> = Vec::new();
        for (change, _) in order.iter().map(|at| &plan.settings[*at]) {
            let with: Vec<&Change> = joined.iter().copied().chain([change]).collect();
            let is_new = !joined.iter().any(|it| it.meets(change));
            if is_new && with.len() <= plan.schedule.joined.max(1) && plan.case(&with).is_ok() {
                joined = with;
            }
        }
        let singles = order.iter().map(|at| vec![&plan.settings[*at].0]);
        let together = if joined.len() > 1 { Some(self.without_useless(&joined)?) } else { None };
        Ok(together.flatten().into_iter().chain(singles).collect())
    }

    /// The best of these settings, best first.
    fn best_of(&self, alive: &[usize], places: usize) -> Vec<usize> {
        let ratios: Vec<Vec<f64>> = alive.iter().map(|at| self.found.race[*at].ratios.clone()).collect();
        match ratios.iter().all(Vec::is_empty) {
            true => alive.to_vec(),
            false => best(&ratios, places).into_iter().map(|at| alive[at]).collect(),
        }
    }

    /// The settings without those that bring nothing; `None` if all together break the promise or fail. One is taken away at a
    /// time and the others are judged anew, so that of two which stand in for each other one stays.
    fn without_useless(&mut self, joined: &[&'p Change]) -> Result<Option<Vec<&'p Change>>> {
        let mut lines = joined.to_vec();
        loop {
            let cases = [vec![self.plan.case(&lines)?], self.without_each(&lines)?].concat();
            note(&format!("{} settings together, and without each", lines.len()));
            let ran = self.ran(cases, self.plan.schedule.elimination_rounds())?;
            fail_if_interrupted()?;
            if self.reason_out(&ran.cases[0]).is_some() {
                return Ok(None);
            }
            let without: Vec<Vec<f64>> = ran.cases[1..].iter().map(|it| ratios(&ran.cases[0], it)).collect();
            let is_useless = |at: &usize| median(&without[*at]).is_some_and(|it| it >= 1.0);
            let least = best(&without, 1).into_iter().find(is_useless);
            let of = |(change, ratios): (&&Change, &Vec<f64>)| RacedSetting {
                change: change.to_string(),
                stage: self.stage,
                ratios: ratios.clone(),
                out: None,
            };
            let mut judged: Vec<RacedSetting> = lines.iter().zip(&without).map(of).collect();
            if let Some(least) = least {
                lines.remove(least);
                self.found.elimination.push(judged.remove(least));
            }
            if least.is_none() || lines.len() == 1 {
                self.found.elimination.extend(judged);
                return Ok(Some(lines));
            }
        }
    }

    /// Cases with all of these settings but one each.
    fn without_each(&self, lines: &[&Change]) -> Result<Vec<PlannedCase>> {
        let without = |out: usize| -> Vec<&Change> {
            lines.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, change)| *change).collect()
        };
        (0..lines.len()).map(|out| self.plan.case(&without(out))).collect()
    }

    /// Reason that a case is out of the race, whatever its figures.
    fn reason_out(&self, run: &CaseRun) -> Option<String> {
        if let Some(failure) = &run.failure {
            return Some(format!("failed: {}", failure.line()));
        }
        let Some(case) = &run.case else { return Some("nothing was measured".to_owned()) };
        let Engine { durability, durability_reason, settings, .. } = &case.engine;
        let is_sound = |round: &Round| {
            round.void.is_none()
                && round.failed() == 0
                && round.checks.iter().all(|it| it.status != CheckStatus::Failed)
        };
        match () {
            () if *durability < self.found.promise => Some(format!("{durability}: {durability_reason}")),
            () if *settings == self.base.settings => Some("no effect: the settings read back are the same".to_owned()),
            () if !case.rounds.iter().all(is_sound) => Some("a round failed, or has no figure".to_owned()),
            () => None,
        }
    }

    /// Proves the first of the selected settings that power losses do not break: the run's document and its outcome.
    /// Without any the document is that of the race's last stage.
    fn proven(&mut self, selected: Vec<Vec<&'p Change>>) -> Result<(RunFile, Result<()>)> {
        let mut lines = Vec::new();
        for candidate in selected {
            let crash = self.crashed(&self.plan.case(&candidate)?.target)?;
            let is_kept = crash.broken == 0;
            self.found.crashes.push(crash);
            if is_kept {
                lines = candidate;
                break;
            }
        }
        if lines.is_empty() {
            let file = self.last.take().ok_or_else(|| Failure::new(Exit::Target, "nothing was raced"))?;
            let outcome = match no_base(&file, &self.found) {
                Some(_) => verdict(&file, &self.plan.rounds(0, vec![self.plan.base.clone()], 1)?, Ok(())),
                None => Ok(()),
            };
            return Ok((file, outcome));
        }
        let winner = self.plan.case(&lines)?;
        let without = if lines.len() > 1 { self.without_each(&lines)? } else { vec![self.plan.base.clone()] };
        let label = |(change, case): (&&Change, &PlannedCase)| TunedLine {
            change: change.to_string(),
            without: case.label.clone(),
        };
        self.found.lines = lines.iter().zip(&without).map(label).collect();
        let mut cases = vec![self.plan.base.clone(), winner];
        cases.extend(without.into_iter().filter(|_| lines.len() > 1));
        let rounds = self.plan.proof_rounds(cases.len(), lines.len(), self.began.elapsed(), self.rounds_run);
        note(&format!("proof: {rounds} rounds of {} cases", cases.len()));
        let proof = self.plan.proof(self.stage + 1, cases, rounds, self.began.elapsed())?;
        let ran = execute(self.plan, self.folder, &proof)?;
        if is_interrupted()? {
            self.stays(ran)?;
            return Err(interrupted());
        }
        let out = ran.cases.get(1).and_then(|winner| self.reason_out(winner));
        let (mut file, outcome) = ran.measured()?;
        let mut outcome = verdict(&file, &proof, outcome);
        if let Some(why) = out {
            let failure =
                Failure::new(Exit::Target, "the selected settings cannot be recommended").detail("cause", why);
            outcome = outcome.and(Err(failure));
        }
        if let (Ok(()), [base, winner, without @ ..]) = (&outcome, file.cases.as_slice()) {
            let pair = CasePair { base: base.clone(), head: winner.clone(), in_turn: true };
            let notes = file.warnings.iter().map(ToString::to_string).collect();
            file.comparison = ComparedCases::of(&[pair], notes, TOLERANCE, &RunNoise::Unknown).stored();
            let shown: Vec<bool> = line_gains(&file, &self.found).iter().map(LineGain::is_shown).collect();
            let is_apart = shown.contains(&true) && shown.contains(&false);
            // A line's settings are those that are others without it.
            let lacks = |it: &NameValue| {
                shown.iter().zip(without).any(|(shown, case)| !shown && !case.engine.settings.contains(it))
            };
            let changed = winner.engine.settings.iter().filter(|it| !base.engine.settings.contains(it));
            for it in changed {
                let statement = engines::statement(&self.plan.base.target, &it.name, &it.value);
                let list = if is_apart && lacks(it) { &mut self.found.unshown } else { &mut self.found.statements };
                list.extend(statement);
            }
            if is_apart {
                let lines = lines.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(line, _)| *line);
                self.found.target = Some(self.plan.case(&lines.collect::<Vec<_>>())?.target);
            }
        }
        Ok((file, outcome))
    }

    /// Enumerates states that power losses may leave of a target, in a process of its own.
    fn crashed(&self, target: &str) -> Result<TunedCrash> {
        // It makes small databases of its own.
        let (place, options) = target.split_once('?').unwrap_or((target, ""));
        let target = format!("{}:?{options}", place.split(':').next().unwrap_or_default());
        let none = |why: String| TunedCrash { target: target.clone(), states: 0, broken: 0, not_tried: why };
        if self.found.promise == Durability::Volatile {
            return Ok(none("a volatile database promises nothing".to_owned()));
        }
        let step = ProgressStep::waiting(format!("power losses of {target}"));
        let (states, folder) = (self.plan.states.to_string(), self.folder.path().join("crash"));
        let program =
            std::env::current_exe().map_err(|error| Failure::usage(format!("cannot find this program: {error}")))?;
        let mut command = Command::new(program);
        command.args(["crash", &target, "--only", "states", "--states", &states, "--faults", "0", "--json", "-o"]);
        let output = outside::run(command.arg(&folder));
        step.done();
        fail_if_interrupted()?;
        let output = output?;
        let Ok(file) = CrashFile::parse(&output.stdout, Path::new("crash.json")) else {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Ok(none(said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no document").to_owned()));
        };
        let rows = || file.states.iter().flat_map(|states| &states.rows);
        let recovered = |row: &bourse_record::crash::StatesRow| row.recovery.as_ref().map_or(0, |it| it.broken);
        let broken = rows().map(|row| row.broken.saturating_add(recovered(row))).sum();
        let states = file.states.as_ref().map_or(0, |it| it.states);
        if broken == 0 {
            // Its evidence is that nothing was found.
            let _ = std::fs::remove_dir_all(&folder);
        }
        Ok(TunedCrash { target, states, broken, not_tried: String::new() })
    }
}

/// Carries out a plan, up to an interruption.
fn execute(of: &TunePlan<'_>, folder: &ResultFolder, plan: &Plan) -> Result<ExecutedPlan> {
    let mut executed = execute::run(plan, &of.arguments.work.settings.run.execution, folder)?;
    let outcome = std::mem::replace(&mut executed.outcome, Ok(()));
    if !is_interrupted()? {
        outcome?;
    }
    Ok(executed)
}

fn is_interrupted() -> Result<bool> {
    Ok(interrupt::flag()?.load(Ordering::Relaxed))
}

fn interrupted() -> Failure {
    interrupt::interrupted("the search was not finished, so there is no answer")
}

fn fail_if_interrupted() -> Result<()> {
    if is_interrupted()? { Err(interrupted()) } else { Ok(()) }
}

/// Ratios of a case's figures to those of another in the same rounds.
fn ratios(base: &CaseRun, head: &CaseRun) -> Vec<f64> {
    let figures = |run: &CaseRun| -> Vec<f64> {
        run.case.iter().flat_map(|case| case.rounds.iter().map(|round| round.figure(&case.workload))).collect()
    };
    let pairs = figures(base).into_iter().zip(figures(head));
    pairs.filter(|(one, other)| *one > 0.0 && other.is_finite()).map(|(one, other)| other / one).collect()
}
