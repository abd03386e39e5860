//! The plan of `bourse suite run`: the cases of a published experiment.

use super::brokerage::{Brokerage, WORKLOAD};
use super::{CaseBlock, ClassicRound, Drivers, Job, MixRound, OnFailure, Plan, PlannedCase, RoundProcess, targets};
use crate::args::{ALL_GIVEN, CheckDepth, ConstraintsArg, DatabaseArgs, SuiteRun, numbers};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::mixed::{self, MixWorkload};
use crate::output::files;
use bourse_verdict::suite::plan::SuiteCase;
use bourse_verdict::suite::{CellPlan, Suite};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default limit of a round's wait for a quiet machine at full scale.
const QUIET_LIMIT: Duration = Duration::from_secs(5);

/// A suite's plan.
pub(crate) struct SuitePlan<'s> {
    /// The plan: the cases of `cells`, in their order.
    pub(crate) plan: Plan,
    /// Cells that each case fills.
    pub(crate) cells: CellPlan<'s>,
    /// Each target's URL by its name in the suite, or the reason why it cannot be used.
    pub(crate) urls: BTreeMap<String, Result<String, String>>,
}

/// The plan of `bourse suite run`.
pub(crate) fn plan<'s>(suite: &'s Suite, arguments: &SuiteRun) -> Result<SuitePlan<'s>> {
    let cap_s = arguments.cap.map(|cap| cap.as_secs_f64());
    if cap_s == Some(0.0) {
        return Err(Failure::usage("invalid value for --cap: expected more than 0").hint("for instance --cap 10s"));
    }
    let cells = CellPlan::new(suite, arguments.scale, cap_s, &arguments.only)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let scratch = scratch(&arguments.data, &suite.name);
    let mut urls = BTreeMap::new();
    for name in cells.cases.iter().map(|case| &case.target) {
        urls.entry(name.clone()).or_insert_with(|| url(suite, name, &scratch));
    }
    let mut cases = Vec::with_capacity(cells.cases.len());
    for (at, case) in cells.cases.iter().enumerate() {
        cases.push(planned(&cells, at, case, &urls[&case.target])?);
    }
    let block = CaseBlock { cases, rounds: arguments.rounds.unwrap_or(suite.rounds) };
    let how = &arguments.execution;
    let plan = Plan {
        // A trial at a reduced scale does not wait.
        wait_quiet_ns: how.wait_quiet_ns((arguments.scale >= 1.0).then_some(QUIET_LIMIT)),
        on_failure: OnFailure::LeaveOutCase,
        files: files::OF_SUITE.map(str::to_owned).into(),
        scratch: Some(scratch),
        left_out: Vec::new(),
        ..Plan::of(format!("suite-{}", suite.name), block, how, &arguments.output)
    };
    Ok(SuitePlan { plan: plan.checked()?, cells, urls })
}

/// The folder for a suite's databases below `parent`.
fn scratch(parent: &Path, name: &str) -> PathBuf {
    parent.join(format!("suite-{name}-{}", std::process::id()))
}

/// A target's URL with its placeholders filled in, or the reason why it cannot be used on this machine.
fn url(suite: &Suite, name: &str, data: &Path) -> Result<String, String> {
    let target = &suite.targets[name];
    let hinted = |why: String| match &target.hint {
        Some(hint) => format!("{why} ({hint})"),
        None => why,
    };
    let url = filled(&target.url, data).map_err(hinted)?;
    engines::is_here(&url).map_err(hinted)?;
    engines::open(&url).map_err(|failure| hinted(failure.line()))?;
    Ok(url)
}

/// A URL with its placeholders filled in, or the reason why they cannot be.
fn filled(url: &str, data: &Path) -> Result<String, String> {
    let mut url = url.replace("{data}", &bourse_engine::path_in_target(data));
    while let Some(start) = url.find("{env:") {
        let end = url[start..].find('}').map_or(url.len(), |end| start + end);
        let name = url[start + 5..end].to_owned();
        let value = std::env::var(&name).map_err(|_| format!("the variable {name} is not set"))?;
        url.replace_range(start..=end.min(url.len() - 1), &value);
    }
    Ok(url)
}

fn planned(cells: &CellPlan<'_>, at: usize, case: &SuiteCase, url: &Result<String, String>) -> Result<PlannedCase> {
    let mut not_run = url.as_ref().err().cloned();
    let target = url.clone().unwrap_or_default();
    let job = if case.workload == WORKLOAD {
        let served = cells.suite.targets[&case.target].served;
        Job::from(brokerage(case, served)?)
    } else if let Some(mixed) = mixed::find(&case.workload) {
        Job::from(mix(mixed, case)?)
    } else {
        let job = classic(case);
        job.case().map_err(|failure| failure.hint("the scale may be too small for this suite's counts"))?;
        if not_run.is_none() {
            let lacking = targets::lacking(&target, &job)?;
            not_run = (!lacking.is_empty()).then(|| lacking.join("; "));
        }
        Job::from(job)
    };
    let planned = PlannedCase::new(label(cells, at), target, job, RoundProcess::Child);
    Ok(PlannedCase { subject: case.target.clone(), not_run, ..planned })
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn classic(case: &SuiteCase) -> ClassicRound {
    ClassicRound {
        workload: case.workload.clone(),
        options: case.options.clone(),
        warm_up_ns: nanoseconds(case.warm_up_s.unwrap_or(0.5)),
        measure_ns: Some(nanoseconds(case.seconds.unwrap_or(case.cap_s))),
        count: case.count,
        ..ClassicRound::default()
    }
}

fn brokerage(case: &SuiteCase, served: bool) -> Result<Brokerage> {
    let mut database = DatabaseArgs::of_days(10);
    let mut users = None;
    for (name, value) in &case.options {
        let refused = |why: String| Failure::usage(format!("invalid value '{value}' for '{name}': {why}"));
        match name.as_str() {
            "customers" => database.customers = numbers::customers(value).map_err(refused)?,
            "days" => database.days = numbers::days(value).map_err(refused)?,
            "scale_factor" => database.scale_factor = numbers::scale_factor(value).map_err(refused)?,
            "users" => users = Some(numbers::threads(value).map_err(refused)?),
            other => {
                return Err(Failure::usage(format!("unknown option '{other}' for the brokerage workload of a suite"))
                    .hint("options: customers, days, scale_factor, users"));
            }
        }
    }
    let job = Brokerage::on(database)?;
    Ok(Brokerage {
        users: users.unwrap_or(job.users),
        warm_up_ns: nanoseconds(case.warm_up_s.unwrap_or(5.0)),
        measure_ns: nanoseconds(case.seconds.unwrap_or(case.cap_s).min(case.cap_s)),
        check: CheckDepth::Quick,
        served,
        ..job
    })
}

fn mix(mixed: &dyn MixWorkload, case: &SuiteCase) -> Result<MixRound> {
    let mut job = MixRound {
        workload: case.workload.clone(),
        size: mixed.usual()[0],
        constraints: ConstraintsArg::Keys,
        set: ALL_GIVEN.clone(),
        reload: false,
        users: 1,
        open_loop: None,
        terminals: false,
        search: None,
        warm_up_ns: nanoseconds(case.warm_up_s.unwrap_or(2.0)),
        measure_ns: nanoseconds(case.seconds.unwrap_or(case.cap_s).min(case.cap_s)),
        check: CheckDepth::Quick,
        drivers: Drivers::ALONE,
    };
    for (name, value) in &case.options {
        let refused = |why: String| Failure::usage(format!("invalid value '{value}' for '{name}': {why}"));
        match name.as_str() {
            "size" => {
                // A small scale may leave no whole step of the size.
                let step = mixed.smallest().0.first().map_or(1, |size| size.unsigned_abs());
                job.size = numbers::counted(value).map_err(refused)?.next_multiple_of(step);
            }
            "users" => job.users = numbers::threads(value).map_err(refused)?,
            other => {
                let why = format!("unknown option '{other}' for {} in a suite", case.workload);
                return Err(Failure::usage(why).hint("options: size, users"));
            }
        }
    }
    mixed.workload().check_size(&mixed.size(job.size)).map_err(Failure::usage)?;
    Ok(job)
}

/// The cells that a case fills: `1a/2/private`.
fn label(cells: &CellPlan<'_>, case: usize) -> String {
    let filled = cells.cells.iter().filter(|cell| cell.case == case).map(|cell| {
        let table = &cells.suite.tables[cell.table];
        format!("{}/{}/{}", table.id, table.rows[cell.row].id, table.columns[cell.column].id)
    });
    filled.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_or_missed_by_name() {
        let whole = filled("sqlite:{data}/x.db?journal=wal", Path::new("a?b%"));
        assert_eq!(whole.as_deref(), Ok("sqlite:a%3Fb%25/x.db?journal=wal"));
        let missed = filled("fastdb:{data}/x?library={env:BOURSE_NOWHERE_SET}&size=1GiB", Path::new("d"));
        assert_eq!(missed, Err("the variable BOURSE_NOWHERE_SET is not set".to_owned()));
    }
}
