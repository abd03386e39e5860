//! `bourse compare`: two stored runs, or two targets run in turn: size and certainty of the difference, and whether it is
//! beyond a tolerance.

use super::report;
use super::runs::run_files;
use crate::args::{CompareArgs, CompareFormat, GivenOptions, Inconclusive};
use crate::execute::{self, verdict::verdict};
use crate::failure::{Exit, Failure, Result};
use crate::output::{ResultFolder, StoredFiles, files, line_width, print, print_report, store, write_new};
use crate::plan::{self, Plan, show::show};
use crate::progress::note;
use bourse_record::{Gate, Provenance, RunFile};
use bourse_report::{CsvText, DrawComparison as _, comparison_screen, data_csv};
use bourse_stats::{LEVEL, signed_rank};
use bourse_verdict::comparison::{
    CasePair, ComparedCases, Incomparable, RunNoise, StoredPairs, TOLERANCE, stored_pairs,
};
use bourse_verdict::likeness::Likeness;
use bourse_verdict::units::printable;
use std::path::{Path, PathBuf};

/// Hint for sides that cannot be compared with each other.
const TWO_OF_A_KIND: &str = "give two runs (folders or run.json files) or two targets (ENGINE:PLACE)";

/// Options that apply to stored runs, by their ids: those that decide, and those of the output. All others are of runs to be made.
const OF_STORED: [&str; 9] =
    ["fail_above", "noise", "baseline", "inconclusive", "instructions", "format", "json", "verbose", "directory"];

/// Compares, prints, and fails if the second is certainly slower by more than the tolerance.
pub(crate) fn run(arguments: &CompareArgs) -> Result<()> {
    let is_stored = |run: &String| Path::new(run).exists();
    let sides = || std::iter::once(&arguments.base).chain(&arguments.head);
    if let Some(name) = sides().find(|name| !is_stored(name) && !name.contains(':')) {
        return Err(
            Failure::usage(format!("there is no file or folder '{name}', and it is no target")).hint(TWO_OF_A_KIND)
        );
    }
    if sides().all(is_stored) {
        only_of_stored(&arguments.given)?;
    }
    let ComparedResults { compared, runs, results } = match (&arguments.base, &arguments.head) {
        (head, None) => {
            let Some(folder) = arguments.baseline.as_deref().filter(|_| is_stored(head)) else {
                return Err(Failure::usage("--baseline with one run compares a stored run with earlier ones")
                    .detail("not found", head.clone())
                    .hint("give a run's folder or its run.json; targets are compared in turn: bourse compare A B"));
            };
            let head = report::read(Path::new(head))?;
            let earlier = earlier(folder)?;
            let NewestRun { run, unlike } = NewestRun::before(&head, &earlier);
            let Some(base) = run.cloned() else {
                let what = format!("no earlier run of the same case in {}", folder.display());
                return without_baseline(arguments, what, &unlike);
            };
            first_of(&unlike).iter().for_each(|why| note(&format!("left out: {why}")));
            note(&format!("A is the run of {}", base.provenance.started_at));
            let noise = earlier_than(&base, earlier);
            of_stored(arguments, base, head, noise)?
        }
        (base, Some(head)) if is_stored(base) && is_stored(head) => {
            let [base, head] = report::read_both([base, head].map(Path::new))?;
            let noise = noise(arguments, &base)?;
            of_stored(arguments, base, head, noise)?
        }
        (base, Some(head)) if !is_stored(base) && !is_stored(head) => {
            if arguments.noise.is_some() || arguments.baseline.is_some() {
                return Err(Failure::usage("--noise and --baseline can only be used with stored runs")
                    .hint("targets are run in turn, and their rounds tell the noise"));
            }
            let plan = plan::compare::plan(arguments)?;
            if arguments.fail_above.is_some() && plan.instructions.is_none() {
                warn_of_few_rounds(&plan);
            }
            if arguments.settings.run.execution.plan.dry_run {
                return print(&show(&plan, true));
            }
            measured(arguments, &plan)?
        }
        _ => {
            return Err(Failure::usage("cannot compare a stored run with a target").hint(TWO_OF_A_KIND));
        }
    };
    let runs: Vec<(&str, &Provenance)> = runs.iter().map(|(name, of)| (*name, of)).collect();
    let format = arguments.format();
    let written = results.map(|results| results.written(&compared.html(&runs)));
    let page = written.as_ref().and_then(|it| it.as_ref().ok()).map(|page| page.display().to_string());
    if let Some(page) = page.as_ref().filter(|_| format != CompareFormat::Text) {
        note(&format!("compared: {page}"));
    }
    print(&match format {
        // The whole report of a run that both took turns in has its comparison.
        CompareFormat::Text if arguments.settings.run.output.verbose => match &written {
            Some(_) => page.map(|page| format!("report: {}\n", printable(&page))).unwrap_or_default(),
            None => compared.text(&runs, line_width()),
        },
        CompareFormat::Text => comparison_screen(&compared, &runs, line_width(), page.as_deref()),
        CompareFormat::Markdown => compared.markdown(),
        CompareFormat::Html => compared.html(&runs),
        CompareFormat::Csv => compared.tables().iter().map(|it| data_csv(it, CsvText::Guarded)).collect(),
        CompareFormat::Json => format!("{:#}\n", serde_json::json!(compared)),
    })?;
    // A comparison that cannot be written is still printed.
    written.transpose()?;
    if arguments.fail_above.is_none() {
        return Ok(());
    }
    match compared.gate() {
        Gate::Passed => Ok(()),
        Gate::Failed => {
            let what = if arguments.instructions.instructions { "more instructions" } else { "slower by more" };
            let failure = Failure::new(Exit::Regression, format!("{what} than --fail-above tolerates"));
            Err(failure.detail("found", compared.with(Gate::Failed).join("\n")))
        }
        // A gate without a decision is not passed.
        Gate::Undecided if arguments.inconclusive == Inconclusive::Pass => Ok(()),
        Gate::Undecided => Err(Failure::new(Exit::Inconclusive, "--fail-above could not be decided")
            .detail("found", compared.with(Gate::Undecided).join("\n"))
            .hint("--inconclusive pass makes this exit code 0")),
    }
}

/// Result of a run that has no earlier one: the first of a baseline decides nothing.
fn without_baseline(arguments: &CompareArgs, what: String, unlike: &[String]) -> Result<()> {
    let failure = Failure::new(Exit::Inconclusive, what).hint(
        "a case is the same if workload, target, machine and all that it ran with are; `bourse compare A B` compares \
         others too",
    );
    let failure = match unlike.is_empty() {
        true => failure,
        false => failure.detail("not alike", first_of(unlike).join("\n")),
    };
    if arguments.fail_above.is_some() && arguments.inconclusive == Inconclusive::Fail {
        return Err(failure.hint("--inconclusive pass makes this exit code 0"));
    }
    note(&failure.line());
    Ok(())
}

/// Says that a gate on so few rounds will not decide anything.
fn warn_of_few_rounds(plan: &Plan) {
    let fewest = signed_rank::fewest(LEVEL);
    if plan.blocks.iter().any(|block| block.rounds < fewest) {
        note(&format!("--fail-above will decide nothing: an interval needs --rounds {fewest} or more"));
    }
}

/// Noise estimated from the runs before `base`.
fn earlier_than(base: &RunFile, earlier: Vec<RunFile>) -> RunNoise {
    RunNoise::Runs { earlier, machine: Box::new(base.provenance.machine.clone()) }
}

/// The newest run that is comparable with another.
struct NewestRun<'r> {
    /// The run, if there is one.
    run: Option<&'r RunFile>,
    /// Newer runs of the same workload on the same target, each with its differences.
    unlike: Vec<String>,
}

impl<'r> NewestRun<'r> {
    /// Finds the newest run that began before `head` and has a case like one of its cases.
    fn before(head: &RunFile, runs: &'r [RunFile]) -> Self {
        let began = |run: &RunFile| run.provenance.started_at.parse::<jiff::Timestamp>().ok();
        let before = began(head);
        let mut earlier: Vec<_> = runs.iter().filter(|run| began(run).is_some() && began(run) < before).collect();
        earlier.sort_by_key(|run| std::cmp::Reverse(began(run)));
        let mut unlike = Vec::new();
        for run in earlier {
            match fewest_differences(run, head) {
                Some(none) if none.is_empty() => return Self { run: Some(run), unlike },
                Some(some) => unlike.push(format!("the run of {}: {}", run.provenance.started_at, some.join("; "))),
                None => {}
            }
        }
        Self { run: None, unlike }
    }
}

/// The first few differences, and the number of the rest.
fn first_of(all: &[String]) -> Vec<String> {
    const MAX_SHOWN: usize = 3;
    let more = all.len().saturating_sub(MAX_SHOWN);
    all.iter().take(MAX_SHOWN).cloned().chain((more > 0).then(|| format!("{more} older ones"))).collect()
}

/// Differences between the most alike cases of two runs, a sentence each; `None` if no workload and target is in both.
fn fewest_differences(one: &RunFile, other: &RunFile) -> Option<Vec<String>> {
    let of = |run: &RunFile| -> Vec<Likeness> {
        run.cases.iter().map(|case| Likeness::of(case, &run.provenance.machine)).collect()
    };
    let (all, others) = (of(one), of(other));
    let pairs = all.iter().flat_map(|it| others.iter().map(move |other| (it, other)));
    let same = pairs.filter(|(it, other)| it.is_same_work(other));
    same.map(|(it, other)| it.differences(other)).min_by_key(Vec::len)
}

/// Refuses the typed options that stored runs cannot follow.
fn only_of_stored(given: &GivenOptions) -> Result<()> {
    let others = given.typed_of("compare", |id| !OF_STORED.contains(&id));
    match others.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("{others} cannot be used with stored runs: nothing is run"))),
    }
}

/// Two stored runs.
fn of_stored(arguments: &CompareArgs, base: RunFile, head: RunFile, noise: RunNoise) -> Result<ComparedResults> {
    let runs = vec![("A", base.provenance.clone()), ("B", head.provenance.clone())];
    let stored = stored_pairs(base, head).map_err(|why| refused(&why))?;
    let compared = match arguments.instructions.instructions {
        true => {
            let StoredPairs { pairs, notes, missing } = stored;
            ComparedCases { missing, ..ComparedCases::by_instructions(&pairs, notes, arguments.tolerance()) }
        }
        false => ComparedCases::of_stored(stored, arguments.tolerance(), &noise),
    };
    Ok(ComparedResults { compared, runs, results: None })
}

/// Noise between stored runs, as stated or as estimated from earlier runs.
fn noise(arguments: &CompareArgs, base: &RunFile) -> Result<RunNoise> {
    match (&arguments.noise, &arguments.baseline) {
        (Some(part), _) => Ok(RunNoise::Stated(*part)),
        (None, Some(folder)) => Ok(earlier_than(base, earlier(folder)?)),
        (None, None) => Ok(RunNoise::Unknown),
    }
}

fn earlier(folder: &Path) -> Result<Vec<RunFile>> {
    run_files(folder).map(Iterator::collect).map_err(|error| {
        Failure::usage(format!("cannot read --baseline {}: {error}", folder.display()))
            .hint("expected a folder of runs, as bourse-runs")
    })
}

/// Failure of runs that cannot be compared, with the exit code of the reason.
pub(crate) fn refused(why: &Incomparable) -> Failure {
    let failure = |exit| Failure::new(exit, why.to_string());
    match why {
        Incomparable::NothingInCommon => failure(Exit::Usage).hint("compare runs of the same cases"),
        Incomparable::ChecksFailed { failed, .. } => failure(Exit::Check).detail("failed", failed.clone()),
        Incomparable::Interrupted { .. } => failure(Exit::Inconclusive)
            .hint("its last round was cut short: run it again; `bourse report RUN1 RUN2` shows both side by side"),
        Incomparable::Void { .. } => failure(Exit::Target),
        Incomparable::Units { .. } => failure(Exit::Usage)
            .hint("compare runs of the same workload; `bourse report RUN1 RUN2` shows others side by side"),
    }
}

impl CompareArgs {
    /// Fraction by which B may be slower, from 0 to 1.
    pub(crate) fn tolerance(&self) -> f64 {
        self.fail_above.unwrap_or(TOLERANCE)
    }

    /// Output format; `--json` works here as in every command.
    fn format(&self) -> CompareFormat {
        if self.settings.run.output.json { CompareFormat::Json } else { self.format }
    }
}

/// Results of a comparison.
struct ComparedResults {
    compared: ComparedCases,
    /// The runs that the figures are of, by name.
    runs: Vec<(&'static str, Provenance)>,
    /// Results of the run in which both took turns.
    results: Option<Results>,
}

/// Result folder, and whether the run's files were stored in it.
struct Results {
    folder: ResultFolder,
    stored: Result<()>,
}

impl Results {
    /// Writes the page of the comparison next to the run's files, and returns its path.
    fn written(self, page: &str) -> Result<PathBuf> {
        self.stored?;
        let path = self.folder.path().join(files::COMPARISON);
        write_new(&path, page.as_bytes())?;
        Ok(path)
    }
}

/// Runs on both targets in turn, and stores the run with its comparison.
fn measured(arguments: &CompareArgs, plan: &Plan) -> Result<ComparedResults> {
    let output = &arguments.settings.run.output;
    let folder = ResultFolder::new(&output.directory, &plan.name)?;
    let (mut file, outcome) = execute::run(plan, &arguments.settings.run.execution, &folder)?.measured()?;
    let ended = verdict(&file, plan, outcome);
    let compared = match (&ended, file.cases.as_slice()) {
        (Ok(()), [base, head]) => {
            let pair = CasePair { base: base.clone(), head: head.clone(), in_turn: true };
            let notes = file.warnings.iter().map(ToString::to_string).collect();
            // The rounds took turns, so their own scatter is the noise.
            Some(match arguments.until_decided {
                true => ComparedCases::at_look(pair, notes, arguments.tolerance()),
                false if plan.instructions.is_some() => {
                    ComparedCases::by_instructions(&[pair], notes, arguments.tolerance())
                }
                false => ComparedCases::of(&[pair], notes, arguments.tolerance(), &RunNoise::Unknown),
            })
        }
        _ => None,
    };
    file.comparison = compared.as_ref().and_then(ComparedCases::stored);
    let is_text = arguments.format() == CompareFormat::Text;
    if is_text && output.verbose {
        print_report(&file, true, None)?;
    }
    let stored = store(&file, folder.path()).map(|StoredFiles { json, page }| {
        // The last line of a brief comparison names its page, in the same folder.
        if !is_text || output.verbose || compared.is_none() {
            note(&format!("run file: {}\nreport:   {}", json.display(), page.display()));
        }
    });
    if let Err(failure) = ended {
        if let Err(unwritten) = &stored {
            note(&unwritten.line());
        }
        return Err(failure);
    }
    let compared = compared.ok_or_else(|| Failure::new(Exit::Target, "only one of the two targets was measured"))?;
    let runs = vec![("A and B in turn", file.provenance)];
    Ok(ComparedResults { compared, runs, results: Some(Results { folder, stored }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory as _;

    /// Every option is one for stored runs or is refused with them; a name that no option has would refuse none.
    #[test]
    fn options_of_stored_runs_are_options_of_the_command() {
        let command = Arguments::command();
        let compare = command.find_subcommand("compare").expect("the command exists");
        let ids: Vec<&str> = compare.get_arguments().map(|it| it.get_id().as_str()).collect();
        for id in OF_STORED {
            assert!(ids.contains(&id), "{id} of {ids:?}");
        }
        assert!(ids.len() > 3 * OF_STORED.len(), "{ids:?}");
    }

    #[test]
    fn the_exit_codes_are_those_of_the_gate() {
        let of = |gate: Gate| i32::from(gate.exit_code());
        assert_eq!((of(Gate::Failed), of(Gate::Undecided)), (Exit::Regression as i32, Exit::Inconclusive as i32));
        assert_eq!(of(Gate::Passed), 0);
    }
}
