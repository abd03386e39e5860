//! The plan of `bourse bisect`: each step is an ordinary plan of two commits whose rounds take turns.

use super::show::Steps;
use super::{CaseBlock, InstructionPlan, Plan, PlannedCase, compare, nanoseconds};
use crate::args::{BisectArgs, CompareArgs};
use crate::failure::{Failure, Result};
use crate::output::files;
use bourse_driver::SECOND;
use bourse_record::BisectedCommit;
use bourse_stats::bisect::Bisection;
use bourse_stats::signed_rank::{fewest, level_of_each};
use std::path::Path;

/// Placeholder of the folder of a commit.
const TREE: &str = "{tree}";
/// Rounds beyond the fewest that an interval needs, so that one disturbed round does not widen it to all of them.
const MORE_ROUNDS: u32 = 4;

/// Measure by which a commit has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// The figure of rounds in turn.
    Speed,
    /// Counts of instructions.
    Instructions,
    /// Plans of statements.
    Plans,
}

/// The plan of a search.
pub(crate) struct BisectPlan<'a> {
    pub(crate) arguments: &'a BisectArgs,
    work: CompareArgs,
    pub(crate) by: DecidedBy,
    /// Most intervals of the search.
    pub(crate) most_intervals: usize,
    /// Level of each interval, so that all hold together.
    pub(crate) level: f64,
    rounds: u32,
    seed: u64,
}

impl<'a> BisectPlan<'a> {
    /// The search among so many commits.
    pub(crate) fn new(arguments: &'a BisectArgs, commits: usize) -> Result<Self> {
        let work = compare::counted(&arguments.work, "bisect")?;
        let run = &work.settings.run;
        let by = match (run.execution.statements, work.instructions.instructions) {
            (true, true) => {
                return Err(Failure::usage(
                    "--plans and --instructions cannot be used together with bisect: one decides",
                ));
            }
            (true, false) => DecidedBy::Plans,
            (false, true) => DecidedBy::Instructions,
            (false, false) => DecidedBy::Speed,
        };
        if !std::iter::once(&arguments.target).chain(&work.set).any(|it| it.contains(TREE)) {
            return Err(Failure::usage(format!("neither --target nor -s has {TREE}: each commit would be the same"))
                .hint("for instance --target 'sqlite+lib:{tree}/x.db?library={tree}/libsqlite3.so'"));
        }
        let most_intervals = Bisection::most_intervals(commits);
        let level = level_of_each(most_intervals);
        let needed = if by == DecidedBy::Speed { fewest(level) } else { 1 };
        let rounds = run.rounds.unwrap_or(if needed > 1 { needed + MORE_ROUNDS } else { 1 });
        if rounds < needed {
            return Err(Failure::usage(format!(
                "--rounds {rounds} are too few: {most_intervals} intervals that hold together need {needed}"
            ))
            .hint("--instructions decides without them"));
        }
        let seed = run.execution.seed.unwrap_or_else(super::drawn_seed);
        Ok(Self { arguments, work, by, most_intervals, level, rounds, seed })
    }

    /// Refuses a workload that cannot be, before a commit is built, unless the commits have a part of it.
    pub(crate) fn check(&self, ends: [&BisectedCommit; 2]) -> Result<()> {
        match self.work.set.iter().any(|it| it.contains(TREE)) {
            true => Ok(()),
            false => self.pair(0, ends.map(|commit| (commit, Path::new(TREE)))).map(drop),
        }
    }

    /// Rounds of two commits in turn, each built in its folder, with random numbers of their own.
    pub(crate) fn pair(&self, nth: usize, sides: [(&BisectedCommit, &Path); 2]) -> Result<Plan> {
        let mut cases: Vec<PlannedCase> = Vec::new();
        for (commit, tree) in sides {
            let of_tree = |text: &String| text.replace(TREE, &tree.display().to_string());
            let mut work = self.work.clone();
            work.set.iter_mut().for_each(|it| *it = of_tree(it));
            let found = compare::cases(&work, vec![of_tree(&self.arguments.target)])?;
            cases.extend(found.into_iter().map(|case| PlannedCase { label: commit.words(), ..case }));
        }
        let run = &self.work.settings.run;
        let instructions = InstructionPlan::of(self.work.instructions, run.memory, &cases)?;
        let plan = Plan::of("bisect", CaseBlock { cases, rounds: self.rounds }, &run.execution, &run.output);
        let seed = self.seed.wrapping_add((nth as u64) << 20);
        Plan { seed, calibrate: nth == 0, instructions, memory: run.memory, ..plan }.checked()
    }

    /// The search for a person.
    pub(crate) fn steps(&self, commits: usize, ends: [&BisectedCommit; 2]) -> Steps<'static> {
        let BisectArgs { work, build, target, .. } = self.arguments;
        let [good, bad] = ends.map(BisectedCommit::words);
        let built: Vec<_> = build.iter().map(|it| it.to_string_lossy()).collect();
        let built = if built.is_empty() { "nothing".to_owned() } else { format!("`{}`", built.join(" ")) };
        let decides = match self.by {
            DecidedBy::Speed => format!(
                "decided by speed: {} intervals at most, each at {:.2} %, which hold together at 95 %",
                self.most_intervals,
                100.0 * self.level
            ),
            DecidedBy::Instructions => "decided by instructions, counted twice on each side".to_owned(),
            DecidedBy::Plans => "decided by plans of statements".to_owned(),
        };
        let workload =
            work.of.trace.as_ref().map_or(work.of.workload.clone(), |it| format!("replay of {}", it.display()));
        let tests = self.most_intervals - 2;
        let rounds = self.rounds;
        let steps = vec![
            format!(
                "{good} and {bad}: checked out in folders of their own and built by {built}; {workload} on {target}, {rounds} rounds in turn: do they differ?"
            ),
            format!(
                "at most {tests} of the {commits} commits between, each against {good} in the same way; what cannot be built is skipped"
            ),
            "the commit found against the one before it".to_owned(),
            decides,
        ];
        let run = &self.work.settings.run;
        let round_ns = [run.duration, run.warmup].into_iter().flatten().map(nanoseconds).sum::<u64>() + SECOND / 2;
        let about_ns = round_ns.saturating_mul(2 * u64::from(rounds)).saturating_mul(self.most_intervals as u64);
        let folder = run.output.directory.display();
        let writes = vec![format!("{folder}/<time>-bisect/: {}", files::OF_RUN.join(", "))];
        Steps { name: "bisect", steps, seed: Some(self.seed), about_ns, writes }
    }
}
