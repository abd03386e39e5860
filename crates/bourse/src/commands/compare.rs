//! `bourse compare`: two stored runs, or two targets run in turn: how large the difference is, how sure, and whether it is
//! beyond a tolerance.

use crate::args::{Compare, CompareFormat, Inconclusive};
use crate::execute::{self, verdict::verdict};
use crate::failure::{Exit, Failure};
use crate::history::run_files;
use crate::output::{ResultFolder, Stored, files, print, print_report, store, write_whole};
use crate::plan::{self, Plan, show::show};
use crate::progress::note;
use crate::report;
use bourse_record::{Provenance, RunFile};
use bourse_report::CsvText;
use bourse_report::comparison::{Compared, Incomparable, Noise, Pair, TOLERANCE, is_alike, stored_pairs, unlike};
use std::path::Path;

/// Compares, prints, and fails if the second is surely slower by more than what is tolerated.
pub(crate) fn run(arguments: &Compare) -> Result<(), Failure> {
    let is_stored = |run: &String| Path::new(run).exists();
    let Sides { pairs, notes, noise, runs, results } = match (&arguments.base, &arguments.head) {
        (head, None) => {
            let Some(folder) = arguments.baseline.as_deref().filter(|_| is_stored(head)) else {
                return Err(Failure::usage("--baseline with one run compares a stored run with earlier ones")
                    .detail("not found", head.clone())
                    .hint("give a run's folder or its run.json; targets are compared in turn: bourse compare A B"));
            };
            let head = report::read(Path::new(head))?;
            let earlier = earlier(folder)?;
            let base = newest_before(&head, &earlier).cloned().ok_or_else(|| {
                Failure::usage(format!("no earlier run of the same case in {}", folder.display()))
                    .hint("a case is the same if workload, unit and target are; `bourse runs ls` lists them")
            })?;
            note(&format!("A is the run of {}", base.provenance.started_at));
            of_stored(arguments, base, head, Noise::Runs(earlier))?
        }
        (base, Some(head)) if is_stored(base) && is_stored(head) => {
            let (base, head) = (report::read(Path::new(base))?, report::read(Path::new(head))?);
            of_stored(arguments, base, head, noise(arguments)?)?
        }
        (base, Some(head)) if !is_stored(base) && !is_stored(head) => {
            if arguments.noise.is_some() || arguments.baseline.is_some() {
                return Err(Failure::usage("--noise and --baseline can only be used with stored runs")
                    .hint("targets are run in turn, and their rounds tell the noise"));
            }
            let plan = plan::compare::plan(arguments)?;
            if arguments.settings.execution.dry_run {
                return print(&show(&plan));
            }
            measured(arguments, &plan)?
        }
        _ => {
            return Err(Failure::usage("cannot compare a stored run with a target")
                .hint("give two runs (folders or run.json files) or two targets (URLs)"));
        }
    };
    let compared = Compared::of(&pairs, notes, arguments.fail_above.unwrap_or(TOLERANCE), &noise);
    let runs: Vec<(&str, &Provenance)> = runs.iter().map(|(name, of)| (*name, of)).collect();
    let written = results.map(|results| results.written(&compared.html(&runs)));
    print(&match arguments.format() {
        CompareFormat::Text => compared.text(),
        CompareFormat::Markdown => compared.markdown(),
        CompareFormat::Html => compared.html(&runs),
        CompareFormat::Csv => compared.csv(CsvText::Guarded),
        CompareFormat::Json => format!("{:#}\n", serde_json::json!(compared)),
    })?;
    // What cannot be written is printed all the same.
    written.transpose()?;
    let Some(tolerance) = arguments.fail_above else { return Ok(()) };
    let slower = compared.slower();
    if !slower.is_empty() {
        return Err(Failure::new(Exit::Regression, format!("slower by more than {:.1} %", 100.0 * tolerance))
            .detail("found", slower.join("\n")));
    }
    // A gate that nothing can be decided by is not passed.
    let undecided = compared.undecided();
    if undecided.is_empty() || arguments.inconclusive == Inconclusive::Pass {
        return Ok(());
    }
    Err(Failure::new(Exit::Inconclusive, "cannot evaluate --fail-above")
        .detail("found", undecided.join("\n"))
        .hint("--inconclusive pass makes this exit code 0"))
}

/// The newest of the runs that began before this one and has a case of it.
fn newest_before<'r>(head: &RunFile, runs: &'r [RunFile]) -> Option<&'r RunFile> {
    let began = |run: &RunFile| run.provenance.started_at.parse::<jiff::Timestamp>().ok();
    let before = began(head)?;
    let has_case = |run: &RunFile| run.cases.iter().any(|case| head.cases.iter().any(|other| is_alike(case, other)));
    let earlier = runs.iter().filter(|run| began(run).is_some_and(|it| it < before) && has_case(run));
    earlier.max_by_key(|run| began(run))
}

/// Two stored runs.
fn of_stored(arguments: &Compare, base: RunFile, head: RunFile, noise: Noise) -> Result<Sides, Failure> {
    if arguments.settings.execution.dry_run {
        return Err(Failure::usage("--dry-run cannot be used with stored runs: nothing is run"));
    }
    let runs = vec![("A", base.provenance.clone()), ("B", head.provenance.clone())];
    let (pairs, notes) = stored_pairs(base, head).map_err(|why| refused(&why))?;
    Ok(Sides { pairs, notes, noise, runs, results: None })
}

/// What is said of the noise between stored runs.
fn noise(arguments: &Compare) -> Result<Noise, Failure> {
    match (&arguments.noise, &arguments.baseline) {
        (Some(part), _) => Ok(Noise::Stated(*part)),
        (None, Some(folder)) => Ok(Noise::Runs(earlier(folder)?)),
        (None, None) => Ok(Noise::Unknown),
    }
}

fn earlier(folder: &Path) -> Result<Vec<RunFile>, Failure> {
    run_files(folder).map_err(|error| {
        Failure::usage(format!("cannot read --baseline {}: {error}", folder.display()))
            .hint("expected a folder of runs, as bourse-runs")
    })
}

/// Runs that cannot be compared, with the exit code that says why.
pub(crate) fn refused(why: &Incomparable) -> Failure {
    let failure = |exit| Failure::new(exit, why.to_string());
    match why {
        Incomparable::NothingInCommon => failure(Exit::Usage).hint("compare runs of the same cases"),
        Incomparable::ChecksFailed { failed, .. } => failure(Exit::Check).detail("failed", failed.clone()),
        Incomparable::Void { .. } => failure(Exit::Target),
        Incomparable::Units { .. } => failure(Exit::Usage),
    }
}

impl Compare {
    /// How to print: `--json` is understood here as everywhere.
    fn format(&self) -> CompareFormat {
        if self.settings.output.json { CompareFormat::Json } else { self.format }
    }
}

/// What is compared.
struct Sides {
    pairs: Vec<Pair>,
    /// What makes a difference one of something else, in words.
    notes: Vec<String>,
    /// What is said of the noise between them.
    noise: Noise,
    /// The runs that the figures are of, by name.
    runs: Vec<(&'static str, Provenance)>,
    /// Results of the run in which both took turns.
    results: Option<Results>,
}

/// Where results go, and whether the run's files are there.
struct Results {
    folder: ResultFolder,
    stored: Result<(), Failure>,
}

impl Results {
    /// Writes the page of the comparison beside the run's files.
    fn written(self, page: &str) -> Result<(), Failure> {
        self.stored?;
        let path = self.folder.path().join(files::COMPARISON);
        write_whole(&path, page.as_bytes())?;
        note(&format!("compared: {}", path.display()));
        Ok(())
    }
}

/// Runs on both targets in turn.
fn measured(arguments: &Compare, plan: &Plan) -> Result<Sides, Failure> {
    let output = &arguments.settings.output;
    let folder = ResultFolder::new(&output.directory, &plan.name)?;
    let (file, outcome) = execute::run(plan, &arguments.settings.execution, &folder)?.measured()?;
    if arguments.format() == CompareFormat::Text && output.verbose {
        print_report(&file, true, None)?;
    }
    let stored = store(&file, folder.path()).map(|Stored { json, page }| {
        note(&format!("run file: {}\nreport:   {}", json.display(), page.display()));
    });
    if let Err(failure) = outcome.and_then(|()| verdict(&file, plan)) {
        if let Err(unwritten) = &stored {
            note(&unwritten.line());
        }
        return Err(failure);
    }
    let notes: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
    let mut cases = file.cases.into_iter();
    let (Some(base), Some(head)) = (cases.next(), cases.next()) else {
        return Err(Failure::new(Exit::Target, "only one of the two targets was measured"));
    };
    let pair = Pair { base, head, in_turn: true };
    let notes = notes.into_iter().chain(unlike(&pair)).collect();
    let runs = vec![("A and B in turn", file.provenance)];
    // They took turns: their rounds tell it.
    let noise = Noise::Unknown;
    Ok(Sides { pairs: vec![pair], notes, noise, runs, results: Some(Results { folder, stored }) })
}
