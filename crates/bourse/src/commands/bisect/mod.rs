//! `bourse bisect`: the first commit that changed speed, instructions or plans. Each commit is checked out and built in a folder
//! of its own, so that the person's checkout stays as it is.

mod git;

use crate::args::BisectArgs;
use crate::execute::{self, verdict::verdict};
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{ResultFolder, print, publish};
use crate::outside::output_of;
use crate::plan::bisect::{BisectPlan, DecidedBy};
use crate::progress::{BriefTime, ProgressStep, finding, note};
use crate::work_folder::WorkFolder;
use bourse_record::{BisectOutcome, BisectStep, BisectedCommit, BisectedRatio, Interval, RunFile};
use bourse_stats::bisect::{Bisection, Cut};
use bourse_stats::signed_rank::ratio_of_pairs_at;
use bourse_verdict::comparison::{CasePair, ComparedCases, RunNoise, TOLERANCE};
use git::Repository;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Searches and reports; a failure if nothing was found.
pub(crate) fn run(arguments: &BisectArgs) -> Result<()> {
    let repository = Repository::here()?;
    let commits = repository.commits(&arguments.good, &arguments.bad)?;
    let last = commits.len() - 1;
    let plan = BisectPlan::new(arguments, last)?;
    plan.check([&commits[0], &commits[last]])?;
    let steps = plan.steps(last, [&commits[0], &commits[last]]);
    let run = &arguments.work.of.settings.run;
    if run.execution.plan.dry_run {
        return print(&steps.show());
    }
    steps.announced().iter().for_each(|words| note(words));
    let folder = ResultFolder::new(&run.output.directory, "bisect")?;
    let trees = WorkFolder::new("bourse-bisect-", &std::env::temp_dir())
        .map_err(|error| Failure::usage("cannot make the folder for commits").detail("cause", error.to_string()))?;
    let mut search =
        CommitSearch { plan: &plan, repository, folder: &folder, trees: &trees, commits, measured: 0, last: None };
    let brief = (!run.output.verbose).then(BriefTime::begin);
    let found = search.search(last)?;
    drop(brief);
    let is_found = found.first.len() == 1;
    let mut file = search.last.take().ok_or_else(|| Failure::new(Exit::Target, "nothing was measured"))?;
    let failure = match found.first.len() {
        0 => Failure::new(Exit::Inconclusive, "no difference between the ends shown").hint(match plan.by {
            DecidedBy::Plans => "with equal plans the speed may differ: leave out --plans, or give --instructions",
            _ => {
                "more --rounds or a longer --for show smaller differences; --instructions shows some that time does not"
            }
        }),
        several => Failure::new(Exit::Inconclusive, format!("one of {several} commits is the first that changed"))
            .hint("those between were skipped or not decided: more --rounds, or --instructions"),
    };
    file.bisection = Some(found);
    publish(&file, &folder, &run.output)?;
    if is_found { Ok(()) } else { Err(failure) }
}

/// A search under way.
struct CommitSearch<'s> {
    plan: &'s BisectPlan<'s>,
    repository: Repository,
    folder: &'s ResultFolder,
    trees: &'s WorkFolder,
    /// The commits, the good one first.
    commits: Vec<BisectedCommit>,
    /// Comparisons until now.
    measured: usize,
    /// Document of the last comparison.
    last: Option<RunFile>,
}

/// Difference of one commit from another.
enum Difference {
    Ratio {
        ratio: f64,
        interval: Interval,
    },
    /// Statements with another plan.
    Plans {
        changed: usize,
        compared: usize,
    },
}

impl Difference {
    fn ratio(&self) -> Option<BisectedRatio> {
        let Self::Ratio { ratio, interval } = self else { return None };
        Some(BisectedRatio {
            ratio: *ratio,
            interval: Some([interval.low, interval.high]),
            level: Some(interval.level),
        })
    }

    /// Whether the commit has changed; `None` if neither is shown.
    fn has_changed(&self, cut: Option<Cut>) -> Option<bool> {
        match self {
            Self::Ratio { interval, .. } => cut?.has_changed(interval),
            Self::Plans { changed, .. } => Some(*changed > 0),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Ratio { .. } => String::new(),
            Self::Plans { changed, compared } => format!("{changed} of {compared} plans differ"),
        }
    }
}

impl CommitSearch<'_> {
    /// Searches among commits 1 to `last`.
    fn search(&mut self, last: usize) -> Result<bourse_record::Bisection> {
        // Without its ends there is no search.
        let end = |mut failure: Failure| {
            if failure.exit == Exit::Usage {
                failure.exit = Exit::Target;
            }
            failure
        };
        let good = self.built(0).map_err(end)?;
        let bad = self.built(last).map_err(end)?;
        let ends = self.difference([(0, &good), (last, &bad)])?;
        remove(&bad);
        let cut = match &ends {
            Difference::Ratio { interval, .. } => Cut::of(interval),
            Difference::Plans { .. } => None,
        };
        let do_differ = match ends {
            Difference::Ratio { .. } => cut.is_some(),
            Difference::Plans { changed, .. } => changed > 0,
        };
        let mut found = bourse_record::Bisection {
            decided_by: self.decided_by(),
            commits: last,
            most_intervals: self.plan.most_intervals,
            cut: cut.map(Cut::ratio),
            steps: vec![self.step(last, &ends, do_differ.then_some(true))],
            first: Vec::new(),
            change: None,
        };
        if !do_differ {
            return Ok(found);
        }
        let mut search = Bisection::new(last);
        while let Some(at) = search.to_decide() {
            finding(&format!("{} of {last} commits are left", search.candidates().count()));
            let tried = self.built(at).and_then(|tree| {
                let difference = self.difference([(0, &good), (at, &tree)]);
                remove(&tree);
                difference
            });
            let step = match tried {
                Ok(difference) => self.step(at, &difference, difference.has_changed(cut)),
                Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
                Err(failure) => BisectStep {
                    commit: self.commits[at].clone(),
                    outcome: BisectOutcome::Skipped,
                    ratio: None,
                    why: failure.line(),
                },
            };
            finding(&format!("{}: {}", step.commit.words(), step.outcome.name()));
            let outcome = step.outcome;
            found.steps.push(step);
            match outcome {
                BisectOutcome::AsBefore => search.decide(at, false),
                BisectOutcome::Changed => search.decide(at, true),
                BisectOutcome::Skipped => search.leave_out(at),
                BisectOutcome::Undecided => break,
            }
        }
        found.first = search.candidates().map(|at| self.commits[at].clone()).collect();
        let before = if search.low() == 0 { good } else { self.built(search.low())? };
        let after = self.built(search.high())?;
        found.change = self.difference([(search.low(), &before), (search.high(), &after)])?.ratio();
        Ok(found)
    }

    /// Name of what decides.
    fn decided_by(&self) -> String {
        let unit = || self.last.as_ref()?.cases.first().map(|case| case.workload.figure_unit().to_owned());
        match self.plan.by {
            DecidedBy::Speed => unit().unwrap_or_default(),
            DecidedBy::Instructions => "instructions/op".to_owned(),
            DecidedBy::Plans => "plans".to_owned(),
        }
    }

    fn step(&self, at: usize, difference: &Difference, has_changed: Option<bool>) -> BisectStep {
        let outcome = match has_changed {
            Some(true) => BisectOutcome::Changed,
            Some(false) => BisectOutcome::AsBefore,
            None => BisectOutcome::Undecided,
        };
        BisectStep { commit: self.commits[at].clone(), outcome, ratio: difference.ratio(), why: difference.why() }
    }

    /// Folder with a commit, built. Each has a folder of its own: a library that was loaded must not change. Names have the same
    /// length, as engines copy the names of their files as they work.
    fn built(&self, at: usize) -> Result<PathBuf> {
        let commit = &self.commits[at];
        let mut tree = self.trees.path().join(format!("{at:05}"));
        if tree.exists() {
            tree = self.trees.path().join(format!("{at:04}b"));
        }
        self.repository.check_out(commit, &tree)?;
        if let Some((program, arguments)) = self.plan.arguments.build.split_first() {
            let step = ProgressStep::waiting(format!("building {}", commit.words()));
            let built = output_of(Command::new(program).args(arguments).current_dir(&tree));
            step.end(&built);
            built?;
        }
        Ok(tree)
    }

    /// Difference of the second commit from the first, of rounds in turn.
    fn difference(&mut self, sides: [(usize, &Path); 2]) -> Result<Difference> {
        let plan = self.plan.pair(self.measured, sides.map(|(at, tree)| (&self.commits[at], tree)))?;
        self.measured += 1;
        let (mut file, outcome) =
            execute::run(&plan, &self.plan.arguments.work.of.settings.run.execution, self.folder)?.measured()?;
        if file.interrupted {
            return Err(interrupt::interrupted("the commit was not found"));
        }
        verdict(&file, &plan, outcome)?;
        let [base, head] = file.cases.as_slice() else {
            return Err(Failure::new(Exit::Target, "only one of the two commits was measured"));
        };
        let pair = CasePair { base: base.clone(), head: head.clone(), in_turn: true };
        let notes = file.warnings.iter().map(ToString::to_string).collect();
        let compared = match self.plan.by {
            DecidedBy::Instructions => ComparedCases::by_instructions(&[pair], notes, TOLERANCE),
            _ => ComparedCases::of(&[pair], notes, TOLERANCE, &RunNoise::Unknown),
        };
        let difference = match (self.plan.by, compared.comparisons.first()) {
            (DecidedBy::Plans, Some(it)) if it.plans.compared > 0 => {
                Some(Difference::Plans { changed: it.plans.changed.len(), compared: it.plans.compared })
            }
            (DecidedBy::Instructions, Some(it)) => {
                it.result().and_then(|it| Some(Difference::Ratio { ratio: it.ratio, interval: it.interval? }))
            }
            (DecidedBy::Speed, _) => {
                let figures = |at: usize| {
                    let case = &file.cases[at];
                    case.rounds.iter().map(move |round| round.figure(&case.workload))
                };
                let pairs: Vec<(f64, f64)> = figures(0).zip(figures(1)).collect();
                let ratio = ratio_of_pairs_at(&pairs, self.plan.level);
                ratio.and_then(|it| Some(Difference::Ratio { ratio: it.value, interval: it.interval? }))
            }
            _ => None,
        };
        file.comparison = compared.stored();
        self.last = Some(file);
        difference.ok_or_else(|| {
            let missing = match self.plan.by {
                DecidedBy::Plans => "no statement of an operation has a plan in both",
                _ => "one of them has no figure",
            };
            Failure::new(Exit::Target, format!("the two commits cannot be compared: {missing}"))
        })
    }
}

/// Removes the folder of a commit. What stays goes with the folder of all.
fn remove(tree: &Path) {
    let _ = std::fs::remove_dir_all(tree);
}
