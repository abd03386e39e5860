//! The plan of `bourse isolation`: the workload `history` on each target, at each level that it distinguishes.

use super::classic::ClassicArgs;
use super::{CaseBlock, OnFailure, Plan, quick, targets};
use crate::args::IsolationArgs;
use crate::engines;
use crate::failure::Result;
use bourse_engine::{Hosting, Interface, Isolation};
use std::slice;
use std::time::Duration;

/// The plan of `bourse isolation`.
pub(crate) fn plan(arguments: &IsolationArgs) -> Result<Plan> {
    let mut set = arguments.set.clone();
    if let Some(folder) = &arguments.history {
        set.push(format!("history={}", folder.display()));
    }
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    // Installed servers are looked for only where they are asked for.
    let here = arguments.all.then(|| quick::targets_here(true, "isolation"));
    for target in arguments.targets.iter().cloned().chain(here.into_iter().flatten()) {
        let levels: Vec<&str> = levels(arguments, &target)?.into_iter().map(Isolation::name).collect();
        let is_owned = matches!(engines::open(&target)?.hosting(), Hosting::OwnedServer(_));
        let mut set = set.clone();
        set.extend(arguments.faults.then(|| "faults=on".to_owned()));
        let processes = arguments.processes.or((arguments.faults && !is_owned).then_some(PROCESSES));
        set.extend(processes.map(|processes| format!("processes={processes}")));
        // A server takes seconds to be there again.
        let longer = (arguments.faults && is_owned && arguments.count.is_none()).then_some(WITH_RESTARTS);
        let asked = ClassicArgs {
            workload: "history",
            set: &set,
            sweep: &[format!("level={}", levels.join(","))],
            threads: Some(arguments.users),
            count: arguments.count,
            duration: arguments.duration.or(longer),
            warmup: arguments.warmup,
            ..ClassicArgs::default()
        };
        let lacking = if arguments.all { targets::lacking(&target, &asked.job()?)? } else { Vec::new() };
        match lacking.as_slice() {
            [] => cases.extend(asked.cases(slice::from_ref(&target))?),
            lacking => left_out.push(format!("{target}: {}", lacking.join("; "))),
        }
    }
    let block = CaseBlock { cases, rounds: arguments.rounds };
    let mut plan = Plan::of("isolation", block, &arguments.execution, &arguments.output);
    plan.left_out = left_out;
    if arguments.all {
        plan.on_failure = OnFailure::LeaveOutCase;
    }
    plan.checked()
}

/// Processes that share a database of files, of which one is killed.
const PROCESSES: u32 = 3;
/// Measurement interval in which a server is killed and started again.
const WITH_RESTARTS: Duration = Duration::from_secs(10);

/// Requested levels, or those that the target distinguishes: of several with one promise the strictest.
fn levels(arguments: &IsolationArgs, target: &str) -> Result<Vec<Isolation>> {
    if !arguments.level.is_empty() {
        return Ok(arguments.level.clone());
    }
    let engine = engines::open(target)?;
    if matches!(engine.interface(), Interface::Keys(_)) {
        return Ok(vec![Isolation::Serializable]);
    }
    let capabilities = engine.capabilities();
    let promise = |level| capabilities.guarantee(level);
    let is_last =
        |at: usize| Isolation::ALL.iter().skip(at + 1).all(|later| promise(*later) != promise(Isolation::ALL[at]));
    Ok((0..Isolation::ALL.len()).filter(|at| is_last(*at)).map(|at| Isolation::ALL[at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::Guarantee;

    /// The page has a row for each target; what it says of one that this build has is what the engine says.
    #[test]
    fn the_promises_on_the_page_are_those_of_the_engines() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/engines.md")).unwrap();
        let table = page.split("| engine | target | read committed |").nth(1).unwrap();
        let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        let mut compared = 0;
        for row in &rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            // The library of an engine may be missing.
            let Ok(engine) = engines::open(cells[1].split(' ').next().unwrap()) else { continue };
            let capabilities = engine.capabilities();
            for (cell, level) in cells[2..5].iter().zip(Isolation::ALL).filter(|(cell, _)| **cell != "not run") {
                let promised = cell.split(": ").next();
                assert_eq!(promised, Some(Guarantee::name(capabilities.guarantee(level))), "{row}");
                compared += 1;
            }
        }
        assert!(rows.len() > 20 && compared > 30, "{compared} cells of {} rows", rows.len());
    }
}
