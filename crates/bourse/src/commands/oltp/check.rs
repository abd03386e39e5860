//! `bourse WORKLOAD check`: the conditions that a database must meet, each with its text and its offences.

use crate::args::TpceCheck;
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::{engine_failure, find_database};
use crate::output::{print, wrapped};
use crate::plan::show::Steps;
use crate::progress::{ProgressStep, note};
use crate::{engines, hold, interrupt};
use bourse_engine::Location;
use bourse_oltp::Workload;
use bourse_oltp::check::{CheckResult, Depth, check_all};
use serde_json::json;
use std::fmt::Write as _;

/// Approximate time of all checks for each byte of a database file, in nanoseconds.
const CHECKED_NS: u64 = 25;

/// Runs every check and prints its result.
pub(crate) fn check(workload: &dyn Workload, arguments: &TpceCheck) -> Result<()> {
    let target = arguments.target.as_str();
    let engine = engines::open(target)?;
    engines::needs_sql(target, engine.as_ref(), workload.name())?;
    if arguments.plan.dry_run {
        let steps = vec![format!("{target}: every check of the database that is there, which is only read")];
        let name = &format!("{} check", workload.name());
        // What a server has only a session could tell.
        let files = Some(&engine).filter(|engine| matches!(engine.location(), Location::Files(_)));
        let bytes = files.and_then(|engine| engine.footprint().ok()).map_or(0, |sizes| sizes.data_bytes);
        let about_ns = bytes.saturating_mul(CHECKED_NS);
        return print(&Steps { name, steps, seed: None, about_ns, writes: Vec::new() }.show());
    }
    let failed = |error| engine_failure(target, &error);
    // The first signal ends it between two checks, and the copy that is read.
    interrupt::flag()?;
    let _held = hold::for_reading([target])?;
    let reading = engine.for_reading().map_err(failed)?;
    if let Some(copied) = reading.as_ref().and_then(|reading| reading.copied.as_deref()) {
        note(&format!("{target}: {copied}"));
    }
    // Nothing is made, changed or removed in the database's folder.
    let engine = reading.as_ref().map_or(engine.as_ref(), |reading| reading.engine.as_ref());
    let database = find_database(target, engine, workload)?;
    let step = ProgressStep::waiting(format!("checking {target}"));
    let mut progress = |checked: &CheckResult| step.say(checked.name.clone());
    let checked = check_all(engine, workload, &database.fingerprint, Depth::Full, &mut progress);
    step.done();
    let checked = checked.map_err(failed)?;
    reading.as_ref().map_or(Ok(()), |reading| (reading.unchanged)()).map_err(failed)?;
    print(&if arguments.json {
        as_json(target, &checked)
    } else {
        wrapped(&text_of_checks(&checked, arguments.verbose))
    })?;
    let broken = checked.iter().filter(|checked| !checked.passed()).count();
    if broken == 0 {
        return Ok(());
    }
    Err(Failure::new(Exit::Check, format!("{broken} of {} checks failed on {target}", checked.len())))
}

/// Checks that failed or were not run, and those that passed if `all`, with their numbers below.
fn text_of_checks(checked: &[CheckResult], all: bool) -> String {
    let mut text = String::new();
    for check in checked.iter().filter(|check| all || check.not_run.is_some() || !check.passed()) {
        let verdict = match (&check.not_run, check.passed()) {
            (Some(_), _) => "not run",
            (None, true) => "passed",
            (None, false) => "FAILED",
        };
        writeln!(text, "{verdict}  {}: {} ({})", check.name, check.words, check.source).expect("a String takes all");
        if let Some(why) = &check.not_run {
            writeln!(text, "        {why}").expect("a String takes all");
        }
        if !check.passed() {
            writeln!(text, "        offences: {}", check.offences).expect("a String takes all");
            for row in &check.evidence {
                writeln!(text, "        {row}").expect("a String takes all");
            }
            if !check.sql.is_empty() {
                writeln!(text, "        query: {}", check.sql).expect("a String takes all");
            }
        }
    }
    let failed = checked.iter().filter(|check| !check.passed()).count();
    let not_run = checked.iter().filter(|check| check.not_run.is_some()).count();
    let passed = checked.len() - failed - not_run;
    let left_out = if not_run == 0 { String::new() } else { format!(", {not_run} not run") };
    let more = if all { "" } else { "; -v lists each with its condition" };
    writeln!(text, "{passed} checks passed, {failed} failed{left_out}{more}").expect("a String takes all");
    text
}

fn as_json(target: &str, checked: &[CheckResult]) -> String {
    let checks: Vec<_> = checked
        .iter()
        .map(|check| {
            json!({
                "name": check.name, "source": check.source, "words": check.words, "sql": check.sql,
                "passed": check.passed(), "not_run": check.not_run, "offences": check.offences, "evidence": check.evidence,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "target": target, "checks": checks }))
}
