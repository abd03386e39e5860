//! `bourse compare`: two stored runs, or two targets run in turn: how large the difference is, how sure, and whether it is
//! beyond a tolerance.

use crate::args::{Compare, CompareFormat, Run, Said};
use crate::failure::{Exit, Failure};
use crate::output::{print, print_report, store};
use crate::report;
use crate::tpce::run::{measure, verdict};
use bourse_report::comparison::{Compared, Incomparable, Pair, TOLERANCE, stored_pairs, unlike};
use std::path::Path;
use std::time::Duration;

/// Rounds on each of two targets, unless told otherwise: fewer give no interval worth its name.
const ROUNDS: u32 = 7;
/// How long a round waits for a quiet machine, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

/// Compares, prints, and fails if the second is surely slower by more than what is tolerated.
pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let stored = [&arguments.base, &arguments.head].map(|run| Path::new(run).exists());
    let (pairs, notes) = match stored {
        [true, true] => {
            let (base, head) = (report::read(Path::new(&arguments.base))?, report::read(Path::new(&arguments.head))?);
            stored_pairs(base, head).map_err(|why| refused(&why))?
        }
        [false, false] => measured_pairs(arguments)?,
        _ => {
            return Err(Failure::usage("a stored run and a target cannot be compared")
                .hint("name two runs (folders, or run.json files) or two targets (URLs)"));
        }
    };
    let compared = Compared::of(&pairs, notes, arguments.fail_above.unwrap_or(TOLERANCE));
    print(&match arguments.format() {
        CompareFormat::Text => compared.text(),
        CompareFormat::Markdown => compared.markdown(),
        CompareFormat::Json => format!("{:#}\n", serde_json::json!(compared)),
    })?;
    let Some(tolerance) = arguments.fail_above else { return Ok(()) };
    let slower = compared.slower();
    if !slower.is_empty() {
        return Err(Failure::new(Exit::Regression, format!("slower by more than {:.1} %", 100.0 * tolerance))
            .detail("found", slower.join("\n")));
    }
    // A gate that could not be looked at is not passed.
    let without = compared.without_result();
    if without.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Target, "--fail-above cannot be judged: a comparison has no result")
        .detail("found", without.join("\n")))
}

/// Runs that cannot be compared, with the exit code that says why.
fn refused(why: &Incomparable) -> Failure {
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

fn measured_pairs(arguments: &Compare) -> Result<(Vec<Pair>, Vec<String>), Failure> {
    let mut settings = arguments.settings.clone();
    if !settings.sweep.is_empty() || settings.find_max {
        return Err(Failure::usage(
            "two targets are compared at one setting: --sweep and --find-max have no place here",
        ));
    }
    settings.rounds.get_or_insert(ROUNDS);
    settings.wait_quiet.get_or_insert(PATIENCE);
    let run = Run {
        targets: vec![arguments.base.clone(), arguments.head.clone()],
        settings,
        part: None,
        token: arguments.token.clone(),
        said: Said::default(),
    };
    let (file, outcome) = measure("compare", &run)?;
    store(&file, &run.settings.output)?;
    if arguments.format() == CompareFormat::Text {
        print_report(&file)?;
    }
    outcome?;
    verdict(&file, run.settings.require_steady)?;
    let notes: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
    let mut cases = file.cases.into_iter();
    let (Some(base), Some(head)) = (cases.next(), cases.next()) else {
        return Err(Failure::new(Exit::Target, "not both targets were measured"));
    };
    let pair = Pair { base, head, in_turn: true };
    let notes = notes.into_iter().chain(unlike(&pair)).collect();
    Ok((vec![pair], notes))
}
