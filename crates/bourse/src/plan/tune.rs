//! The plan of `bourse tune`: the settings that are raced, the stages of the race, and the time that all of it takes.
//!
//! Each stage is an ordinary plan whose cases take turns; what a stage finds decides which cases the next one has.

use super::show::{Steps, time};
use super::sweep::{Sweep, with_option};
use super::{CaseBlock, OnFailure, Plan, PlannedCase, about, compare, nanoseconds};
use crate::args::{CompareArgs, InstructionArgs, MemoryArgs, TuneArgs};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::output::files;
use bourse_driver::SECOND;
use bourse_stats::race::{RaceStage, stages};
use bourse_stats::signed_rank::{fewest, level_of_each};
use std::time::Duration;

/// Default time of the whole search.
const BUDGET_NS: u64 = 15 * 60 * SECOND;
/// Settings in the last stage of a race.
const FINALISTS: usize = 6;
/// Most settings that are joined.
const JOINED: usize = 4;
/// Most rounds of the proof.
const MOST_ROUNDS: u32 = 64;
/// Disk states of the crash test of a target in this process and of a server, each of which starts one.
const STATES: [u64; 2] = [1_000, 100];

/// A change of one option, with what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The option.
    pub(crate) option: String,
    /// Its value, with further options that it needs: `busy&begin=deferred`.
    value: String,
}

impl Change {
    /// The option and those that it needs, each with its value.
    fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        let (value, others) = self.value.split_once('&').unwrap_or((&self.value, ""));
        let others = others.split('&').filter_map(|it| it.split_once('='));
        std::iter::once((self.option.as_str(), value)).chain(others)
    }

    /// Whether both set one option.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.options().any(|(name, _)| other.options().any(|(it, _)| it == name))
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.option, self.value)
    }
}

/// Stages and rounds of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TuneSchedule {
    /// Stages of the race.
    pub(crate) stages: Vec<RaceStage>,
    /// Most settings that are joined, no two of one option.
    pub(crate) joined: usize,
    /// Rounds of each case of the proof.
    pub(crate) proof_rounds: u32,
}

impl TuneSchedule {
    /// A schedule for so many settings of so many options, whose first stage has `unit` rounds.
    fn new(settings: usize, options: usize, unit: u32, proof_rounds: u32) -> Self {
        Self { stages: stages(settings, FINALISTS, unit), joined: options.min(JOINED), proof_rounds }
    }

    /// Rounds of a case while settings are taken away: those of the last stage.
    pub(crate) fn elimination_rounds(&self) -> u32 {
        self.stages.last().map_or(1, |stage| stage.rounds)
    }

    /// Cases that are prepared and rounds that are run, each at most: of the race with its first round of the defaults, and of
    /// the proof.
    fn extent(&self) -> [(u64, u64); 2] {
        let mut race = (1, 1);
        let mut add = |cases: u64, rounds: u32| race = (race.0 + cases, race.1 + cases * u64::from(rounds));
        self.stages.iter().for_each(|stage| add(stage.settings as u64 + 1, stage.rounds));
        // All and all but each, with one fewer every time.
        (2..=self.joined as u64).for_each(|lines| add(lines + 1, self.elimination_rounds()));
        let proof = 2 + if self.joined > 1 { self.joined as u64 } else { 0 };
        [race, (proof, proof * u64::from(self.proof_rounds))]
    }
}

/// Times of a search, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TuneTimes {
    /// Preparing a case.
    once: u64,
    /// A round.
    round: u64,
    /// The crash test.
    crash: u64,
}

impl TuneTimes {
    fn of_race(self, schedule: &TuneSchedule) -> u64 {
        let [(cases, rounds), _] = schedule.extent();
        self.once.saturating_mul(cases).saturating_add(self.round.saturating_mul(rounds))
    }

    fn of_all(self, schedule: &TuneSchedule) -> u64 {
        let [_, (cases, rounds)] = schedule.extent();
        let proof = self.once.saturating_mul(cases).saturating_add(self.round.saturating_mul(rounds));
        self.of_race(schedule).saturating_add(proof).saturating_add(self.crash).saturating_add(SECOND)
    }
}

/// The schedule that fits into a budget: about half of it for the race, the rest for the proof. The error is the least time.
fn schedule(settings: usize, options: usize, times: TuneTimes, budget_ns: u64) -> Result<TuneSchedule, u64> {
    let least_rounds = least_rounds(options.min(JOINED));
    let of = |unit, rounds| TuneSchedule::new(settings, options, unit, rounds);
    let least_ns = times.of_all(&of(1, least_rounds));
    if least_ns > budget_ns {
        return Err(least_ns);
    }
    let fits = |unit: &u32| {
        let schedule = of(*unit, least_rounds);
        times.of_race(&schedule) <= budget_ns / 2 && times.of_all(&schedule) <= budget_ns
    };
    let unit = (2..=MOST_ROUNDS).take_while(fits).last().unwrap_or(1);
    let rounds = (least_rounds..=MOST_ROUNDS).take_while(|rounds| times.of_all(&of(unit, *rounds)) <= budget_ns).last();
    Ok(of(unit, rounds.unwrap_or(least_rounds)))
}

/// Fewest rounds of the proof in which each of so many lines has an interval.
pub(crate) fn least_rounds(lines: usize) -> u32 {
    fewest(level_of_each(lines))
}

/// The plan of a search.
pub(crate) struct TunePlan<'a> {
    pub(crate) arguments: &'a TuneArgs,
    /// Arguments of each case.
    work: CompareArgs,
    /// The target as it is.
    pub(crate) base: PlannedCase,
    /// The settings that are raced.
    pub(crate) settings: Vec<(Change, PlannedCase)>,
    /// Settings that the target or the workload refuses, with the reason.
    pub(crate) left_out: Vec<String>,
    /// Stages and rounds.
    pub(crate) schedule: TuneSchedule,
    /// Time that all may take, in nanoseconds.
    pub(crate) budget_ns: u64,
    /// Disk states of the crash test.
    pub(crate) states: u64,
    times: TuneTimes,
    seed: u64,
}

/// The plan of `bourse tune`.
pub(crate) fn plan(arguments: &TuneArgs) -> Result<TunePlan<'_>> {
    let settings = &arguments.work.settings;
    if settings.run.find_max || settings.until_steady.is_some() || settings.latency {
        return Err(Failure::usage(
            "--find-max, --until-steady and --latency cannot be used with tune: all rounds last alike",
        ));
    }
    if settings.run.memory != MemoryArgs::default() {
        return Err(Failure::usage("--cache and --memory cannot be used with tune"));
    }
    let work = compare::work(&arguments.work, None, InstructionArgs::default());
    let base = case(&work, &arguments.target, &[])?;
    let mut raced: Vec<(Change, PlannedCase)> = Vec::new();
    let mut left_out = Vec::new();
    for change in changes(arguments)? {
        match case(&work, &arguments.target, &[&change]) {
            Ok(case) => raced.push((change, case)),
            Err(failure) => left_out.push(format!("{change}: {}", failure.line())),
        }
    }
    let mut options: Vec<&str> = raced.iter().map(|(change, _)| change.option.as_str()).collect();
    options.dedup();
    if raced.is_empty() {
        let why = format!("{} has no setting to race", arguments.target);
        let failure = Failure::usage(why)
            .hint("--sweep OPTION=A,B names some; `bourse engines ENGINE` lists an engine's options");
        return Err(left_out.iter().fold(failure, |failure, why| failure.detail("left out", why)));
    }
    let all = || std::iter::once(&base).chain(raced.iter().map(|(_, case)| case));
    let round = all().map(about::round_ns).max().unwrap_or(0);
    let once = all().map(about::alone_ns).max().unwrap_or(0).saturating_sub(round);
    let states = arguments.states.unwrap_or(STATES[usize::from(engines::starts_s(&arguments.target) > 0)]);
    let times = TuneTimes { once, round, crash: engines::states_ns(&arguments.target, states, 0) };
    let asked_ns = arguments.budget.map(nanoseconds);
    let schedule = |budget_ns| schedule(raced.len(), options.len(), times, budget_ns);
    let (schedule, budget_ns) = match (schedule(asked_ns.unwrap_or(BUDGET_NS)), asked_ns) {
        (Ok(schedule), _) => (schedule, asked_ns.unwrap_or(BUDGET_NS)),
        (Err(least_ns), None) => {
            (schedule(least_ns).unwrap_or_else(|_| TuneSchedule::new(raced.len(), options.len(), 1, 8)), least_ns)
        }
        (Err(least_ns), Some(asked_ns)) => {
            let least = time(least_ns.next_multiple_of(SECOND));
            // A shorter --for would cut a recording.
            let shorter = match arguments.work.trace {
                Some(_) => "a round replays all of the recording, so that only a shorter one has shorter rounds",
                None => "a shorter --for has shorter rounds",
            };
            let hint = format!(
                "--budget {}m; or --sweep OPTION=A,B races fewer settings, --states N tries fewer power losses, and {shorter}",
                least_ns.div_ceil(60 * SECOND)
            );
            return Err(Failure::usage(format!(
                "--budget {} is too short: this search takes {least} at least",
                time(asked_ns)
            ))
            .hint(hint));
        }
    };
    let seed = settings.run.execution.seed.unwrap_or_else(super::drawn_seed);
    Ok(TunePlan { arguments, work, base, settings: raced, left_out, schedule, budget_ns, states, times, seed })
}

/// The changes that are raced: those of --sweep, or the engine's own of options that the target does not name.
fn changes(arguments: &TuneArgs) -> Result<Vec<Change>> {
    let swept = &arguments.work.settings.run.sweep;
    let is_named = |name: &str| {
        let options = arguments.target.split_once('?').map_or("", |(_, options)| options);
        options.split('&').any(|option| option.split('=').next() == Some(name))
    };
    let own: Vec<String> = engines::tunes(&arguments.target).iter().map(|text| (*text).to_owned()).collect();
    let of = |sweep: Sweep| sweep.values.into_iter().map(move |value| Change { option: sweep.name.clone(), value });
    let changes = Sweep::parse_all(if swept.is_empty() { &own } else { swept })?.into_iter().flat_map(of);
    Ok(changes.filter(|it| !swept.is_empty() || !it.options().any(|(name, _)| is_named(name))).collect())
}

/// The case of a target with these changes.
fn case(work: &CompareArgs, target: &str, changes: &[&Change]) -> Result<PlannedCase> {
    let options = changes.iter().flat_map(|it| it.options());
    let changed = options.fold(target.to_owned(), |target, (name, value)| with_option(&target, name, value));
    let mut cases = compare::cases(work, vec![changed])?;
    cases.pop().ok_or_else(|| Failure::usage(format!("{target} has no case")))
}

impl TunePlan<'_> {
    /// The case of the target with these changes; a failure if they exclude each other.
    pub(crate) fn case(&self, changes: &[&Change]) -> Result<PlannedCase> {
        case(&self.work, &self.arguments.target, changes)
    }

    /// Rounds of cases that take turns, with random numbers that no other stage has. A case that fails is left out of the race.
    pub(crate) fn rounds(&self, stage: u32, cases: Vec<PlannedCase>, rounds: u32) -> Result<Plan> {
        let run = &self.arguments.work.settings.run;
        let plan = Plan::of("tune", CaseBlock { cases, rounds }, &run.execution, &run.output);
        let seed = self.seed.wrapping_add(u64::from(stage) << 20);
        Plan { seed, calibrate: false, repeats_disturbed: false, on_failure: OnFailure::LeaveOutCase, ..plan }.checked()
    }

    /// Rounds of the proof. Disturbed ones are repeated within the time that is left.
    pub(crate) fn proof(&self, stage: u32, cases: Vec<PlannedCase>, rounds: u32, spent: Duration) -> Result<Plan> {
        let repeats_disturbed = !self.arguments.work.settings.run.execution.no_repeat;
        let at_most_ns = Some(self.budget_ns.saturating_sub(nanoseconds(spent)));
        let plan = self.rounds(stage, cases, rounds)?;
        Ok(Plan { calibrate: true, repeats_disturbed, at_most_ns, on_failure: OnFailure::EndRun, ..plan })
    }

    /// Rounds of a proof of so many cases with so many lines: those of the schedule, or as many as fit into the rest of the budget
    /// by the times until now.
    pub(crate) fn proof_rounds(&self, cases: usize, lines: usize, spent: Duration, rounds_run: u64) -> u32 {
        let left_ns = self.budget_ns.saturating_sub(nanoseconds(spent)).saturating_sub(self.times.once * cases as u64);
        let round_ns = (nanoseconds(spent) / rounds_run.max(1)).max(1).saturating_mul(cases as u64);
        u32::try_from(left_ns / round_ns).unwrap_or(u32::MAX).clamp(least_rounds(lines), self.schedule.proof_rounds)
    }

    /// The search for a person.
    pub(crate) fn steps(&self) -> Steps<'static> {
        let TuneSchedule { stages, joined, proof_rounds } = &self.schedule;
        let mut steps = vec![format!("{}: one round, which tells its durability class", self.base.label)];
        for (nth, stage) in stages.iter().enumerate() {
            let which = if nth == 0 { "settings" } else { "best settings" };
            let rounds = if stage.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", stage.rounds) };
            steps.push(format!("{} {which} against the target as it is, {rounds} of each in turn", stage.settings));
        }
        let raced: Vec<String> = self.settings.iter().map(|(change, _)| change.to_string()).collect();
        steps.push(format!(
            "settings of a lower class, without effect, or that fail leave the race of: {}",
            raced.join(", ")
        ));
        if *joined > 1 {
            let rounds = self.schedule.elimination_rounds();
            steps.push(format!(
                "the best value of up to {joined} options together, and without each, {rounds} rounds in turn; anew without the one that \
                 is missed least, until each is missed"
            ));
        }
        steps.push(format!("about {} states that power losses may leave of the best", self.states));
        steps.push(format!(
            "proof: the best, the target as it is, and the best without each line, {proof_rounds} rounds in turn"
        ));
        steps.extend(self.left_out.iter().map(|why| format!("not raced: {why}")));
        let folder = self.arguments.work.settings.run.output.directory.display();
        let writes = vec![format!("{folder}/<time>-tune/: {}", files::OF_RUN.join(", "))];
        Steps { name: "tune", steps, seed: Some(self.seed), about_ns: self.times.of_all(&self.schedule), writes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: TuneTimes = TuneTimes { once: 0, round: SECOND, crash: 40 * SECOND };

    #[test]
    fn a_schedule_keeps_within_its_budget_or_names_the_least() {
        let least = schedule(21, 9, TIMES, SECOND).unwrap_err();
        assert!((100..300).contains(&(least / SECOND)), "{least}");
        let mut before = 0;
        for budget_ns in [least, 2 * least, 5 * least, 20 * least] {
            let found = schedule(21, 9, TIMES, budget_ns).unwrap();
            let ns = TIMES.of_all(&found);
            assert!(ns <= budget_ns && ns > before && ns >= budget_ns / 3, "{budget_ns}: {found:?}");
            assert!(found.proof_rounds >= least_rounds(found.joined));
            before = ns;
        }
    }

    #[test]
    fn a_change_brings_the_options_that_it_needs() {
        let change = |option: &str, value: &str| Change { option: option.to_owned(), value: value.to_owned() };
        let wal = change("journal", "wal&sync=normal");
        assert_eq!(wal.options().collect::<Vec<_>>(), [("journal", "wal"), ("sync", "normal")]);
        assert!(wal.meets(&change("sync", "off")) && !wal.meets(&change("cache", "256MiB")));
    }

    #[test]
    fn a_race_of_one_option_joins_nothing() {
        let one = schedule(2, 1, TIMES, 100 * SECOND).unwrap();
        assert_eq!((one.joined, one.stages.len(), one.extent()[1].0), (1, 1, 2));
    }
}
