//! `bourse quick`: the picture of a machine.

use crate::args::Quick;
use crate::failure::Failure;
use crate::plan::{
    Plan, quick,
    show::{counted, minutes},
};
use crate::progress::note;

/// Runs the brokerage workload and the classic ones that are quoted most on every engine that is here.
pub(crate) fn run(arguments: &Quick) -> Result<(), Failure> {
    let plan = quick::plan(arguments)?;
    if !arguments.execution.dry_run {
        note(&announced(&plan, &jiff::Zoned::now()));
    }
    super::run(&plan, &arguments.execution, &arguments.output)
}

/// What is going to be run, how long it takes, and when it ends.
fn announced(plan: &Plan, now: &jiff::Zoned) -> String {
    let about_ns = quick::about_ns(plan);
    let end = now.checked_add(std::time::Duration::from_nanos(about_ns)).unwrap_or_else(|_| now.clone());
    let longest = match plan.repeats_at_most_ns {
        Some(more) if plan.repeats_disturbed && more > 0 => {
            format!("; at most {} if other processes disturb rounds", minutes(about_ns + more))
        }
        _ => String::new(),
    };
    format!("quick: {}, about {}, until about {}{longest}", counted(plan), minutes(about_ns), end.strftime("%H:%M"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::Parser as _;

    #[test]
    fn one_total_is_announced_and_keeps_within_six_minutes() {
        let crate::args::Command::Quick(arguments) = Arguments::parse_from(["bourse", "quick"]).command else {
            panic!("another command")
        };
        let plan = quick::plan(&arguments).unwrap();
        let about_ns = quick::about_ns(&plan);
        assert!(about_ns < 6 * 60_000_000_000, "{about_ns} ns");
        let now = "2026-11-22T10:00:30+00:00[UTC]".parse().unwrap();
        let said = announced(&plan, &now);
        let cases = plan.cases().filter(|case| case.not_run.is_none()).count();
        assert!(said.starts_with(&format!("quick: {cases} cases, ")) && said.contains(" rounds, about "), "{said}");
        assert!(
            said.contains(" min, until about 10:0")
                && said.ends_with("at most 6 min if other processes disturb rounds"),
            "{said}"
        );
    }
}
