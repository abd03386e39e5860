//! The plan as `--dry-run` prints it: cases, order, duration, files to be written.

use super::about::{MORE, about_ns, longest};
use super::{CaseBlock, OnFailure, Plan, PlannedCase, RoundProcess};
use crate::engines;
use crate::failure::lines;
use crate::output::wrapped;
use bourse_driver::SECOND;
use std::collections::BTreeSet;

/// Most cases, and most engines left out, that a plan lists one by one unless all are requested: more would leave a screen.
const LISTED: [usize; 2] = [8, 3];

/// The plan for a person; `whole` with each case on its own, however many there are.
pub(crate) fn show(plan: &Plan, whole: bool) -> String {
    let mut text = format!("plan of {}\n", plan.name);
    let mut number = 0;
    let lists_cases = whole || plan.cases().count() <= LISTED[0];
    for block in &plan.blocks {
        if lists_cases {
            text.push('\n');
            for case in &block.cases {
                number += 1;
                text.push_str(&format!("{number:>3}. {}\n     {}\n", case.label, what(case)));
            }
        } else {
            text.push_str(if number == 0 { "\n" } else { "" });
            number += block.cases.len();
            text.push_str(&format!("{:>3}. {}\n", number + 1 - block.cases.len().max(1), together(block)));
        }
        text.push_str(&format!("     {}\n", order(block, number)));
    }
    let listed = if lists_cases { plan.left_out.len() } else { plan.left_out.len().min(LISTED[1]) };
    if !plan.left_out.is_empty() {
        text.push_str("\nleft out\n");
    }
    for engine in &plan.left_out[..listed] {
        text.push_str(&format!("     {engine}\n"));
    }
    if !lists_cases {
        let more = match plan.left_out.len() - listed {
            0 => String::new(),
            more => format!("{more} more that are left out, "),
        };
        text.push_str(&format!("     -v lists {more}each case and each file\n"));
    }
    text.push_str(&format!("\nseed     {}\n", plan.seed));
    if let Some(processes) = processes(plan) {
        text.push_str(&format!("process  {processes}\n"));
    }
    if plan.calibrate {
        text.push_str("before   calibration of harness overhead and machine noise, about 1 s\n");
    }
    if let Some(limit) = plan.wait_quiet_ns {
        let (limit, waits) = (time(limit), super::VAIN_WAITS);
        text.push_str(&format!(
            "wait     up to {limit} before each round for background load to drop; no more after {waits} waits in vain\n"
        ));
    }
    let budgets = || plan.blocks.iter().map(|block| plan.budget(block));
    let repeats: u32 = budgets().map(|budget| budget.most()).sum();
    if repeats > 0 {
        let (rounds, of) = match budgets().all(|budget| budget.is_of_pairs()) {
            true => (repeats / 2, "pairs of rounds"),
            false => (repeats, "rounds"),
        };
        text.push_str(&format!("repeat   up to {rounds} {of} that other processes or the host disturb\n"));
    }
    if let Some(comparing) = plan.compares.as_ref().filter(|it| !it.looks.is_empty()) {
        let looks: Vec<String> = comparing.looks.iter().map(u32::to_string).collect();
        text.push_str(&format!("looks    after {} rounds of each, until it is decided\n", looks.join(", ")));
    }
    if let Some(it) = &plan.instructions {
        text.push_str(&format!("count    instructions of each case after its rounds, twice, by {}\n", it.counted_by));
    }
    if plan.require_steady {
        text.push_str("steady   exit code 5 unless every round reaches steady state\n");
    }
    let failing = match plan.on_failure {
        OnFailure::EndRun => "a failed round ends the run; what was measured is reported",
        OnFailure::LeaveOutCase => "a failed round ends its case; the other cases continue",
    };
    text.push_str(&format!("failure  {failing}\n"));
    let time = match (plan.at_most_ns, lists_cases) {
        (None, _) => duration(plan),
        (Some(_), true) => format!("{}; {}", super::about::in_minutes(plan), duration(plan)),
        (Some(_), false) => format!("{}; {}", super::about::in_minutes(plan), counted(plan)),
    };
    closed(text, &time, &writes(plan, lists_cases))
}

/// The cases of a block in a line: their workload, and the engine of each, with its target where that is not a file.
fn together(block: &CaseBlock) -> String {
    let name = |case: &PlannedCase| {
        let is_file = engines::location(&case.target).is_ok_and(|location| location.file().is_some());
        let name = if is_file { case.target.split(':').next().unwrap_or_default() } else { &case.target };
        let not_run = if case.not_run.is_some() { " (not run)" } else { "" };
        format!("{name}{not_run}")
    };
    let names: Vec<String> = block.cases.iter().map(name).collect();
    let workload = block.cases.first().map_or("", |case| case.job.noun());
    match names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        true => {
            let is_here = block.cases.iter().all(|case| case.rounds_in == RoundProcess::ThisProcess);
            format!("{workload} on {}{}", names.join(", "), if is_here { ", in this process" } else { "" })
        }
        // Cases of one engine, with different settings.
        false => format!("{workload}, {}", block.cases.iter().map(|case| &*case.label).collect::<Vec<_>>().join(", ")),
    }
}

/// A plan's text with its last lines: the duration, and the files that will be written.
fn closed(mut text: String, duration: &str, writes: &[String]) -> String {
    text.push_str(&format!("time     {duration}\n"));
    for line in writes {
        text.push_str(&format!("writes   {line}\n"));
    }
    wrapped(&lines(&text, ""))
}

/// Step that loads the database that a command needs.
pub(crate) const LOADED: &str = "loaded if it does not exist";

/// [`LOADED`], or the step that replaces an existing database.
pub(crate) fn loaded(reload: bool) -> &'static str {
    if reload { "loaded anew" } else { LOADED }
}

/// Plan of a command that runs no rounds.
pub(crate) struct Steps<'c> {
    /// The command.
    pub(crate) name: &'c str,
    /// Descriptions of the steps, in order.
    pub(crate) steps: Vec<String>,
    /// Seed, of a command that has one.
    pub(crate) seed: Option<u64>,
    /// Approximate duration, in nanoseconds; 0 if it is unknown.
    pub(crate) about_ns: u64,
    /// Files that will be written.
    pub(crate) writes: Vec<String>,
}

impl Steps<'_> {
    /// The plan for a person.
    pub(crate) fn show(&self) -> String {
        let mut text = format!("plan of {}\n\n", self.name);
        for (at, step) in self.steps.iter().enumerate() {
            text.push_str(&format!("{:>3}. {step}\n", at + 1));
        }
        text.push('\n');
        if let Some(seed) = self.seed {
            text.push_str(&format!("seed     {seed}\n"));
        }
        let lasts = match self.about_ns {
            0 => "unknown".to_owned(),
            ns => format!("about {}", time(ns.next_multiple_of(SECOND))),
        };
        closed(text, &lasts, &self.writes)
    }

    /// Announcement of the duration; `None` for a short plan.
    pub(crate) fn announced(&self) -> Option<String> {
        let steps = if self.steps.len() == 1 { "step" } else { "steps" };
        let lasting = super::about::lasting(self.about_ns, &jiff::Zoned::now())?;
        Some(format!("{}: {} {steps}, {lasting}", self.name, self.steps.len()))
    }
}

/// The files of these targets, each with what is done to it.
pub(crate) fn files<'t>(targets: impl IntoIterator<Item = (&'t str, String)>) -> Vec<String> {
    let named = targets.into_iter().filter_map(|(target, done)| {
        let location = engines::location(target).ok()?;
        Some(format!("{}: {done}", location.file()?.display()))
    });
    named.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Line about the processes that rounds run in, if one does not run in this process; a case that does is marked itself.
fn processes(plan: &Plan) -> Option<&'static str> {
    let is_in = |process| plan.cases().any(|case| case.rounds_in == process);
    is_in(RoundProcess::Child).then(|| match is_in(RoundProcess::ThisProcess) {
        false => "each round in a process of its own",
        true => "each round in a process of its own, except those of cases marked \"in this process\"",
    })
}

/// Description of a case: its workload, target and process.
fn what(case: &PlannedCase) -> String {
    if let Some(why) = &case.not_run {
        return format!("{}: not run: {why}", case.job.workload());
    }
    let mut words = case.job.words(&case.target);
    if case.subject != case.target || !case.label.contains(&case.target) {
        words.push_str(&format!(" on {}", case.subject));
    }
    words.push_str(match case.rounds_in {
        RoundProcess::ThisProcess => ", in this process",
        RoundProcess::Child => "",
    });
    words
}

fn order(block: &CaseBlock, last: usize) -> String {
    let rounds = if block.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", block.rounds) };
    let first = last + 1 - block.cases.len().max(1);
    match block.cases.len() {
        0 | 1 => rounds,
        2 => format!("{rounds} of each, cases {first} and {last} in turn, in an order drawn for each round"),
        _ => format!("{rounds} of each, cases {first} to {last} in turn, in an order drawn for each round"),
    }
}

/// Number of cases and rounds that are run.
pub(crate) fn counted(plan: &Plan) -> String {
    let number = |count: u64, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    let cases = plan.run_cases().count() as u64;
    let searched = if plan.run_cases().any(|case| case.job.search().is_some()) { "a search, then " } else { "" };
    format!("{}, {searched}{}", number(cases, "case"), number(plan.rounds().into(), "round"))
}

/// A length of time in whole minutes, rounded up.
pub(crate) fn minutes(ns: u64) -> String {
    format!("{} min", ns.div_ceil(60_000_000_000))
}

/// Approximate duration, as far as it is known.
fn duration(plan: &Plan) -> String {
    let (mut rounds, mut timed_ns, mut untimed) = (0_u64, 0_u64, 0_u64);
    // The longest that a round may take whose work ends it, if each has such a limit.
    let mut longest_ns = Some(0);
    for block in &plan.blocks {
        for case in block.run_cases() {
            rounds += u64::from(block.rounds);
            match case.job.lasts_ns() {
                Some(ns) => timed_ns = timed_ns.saturating_add(ns.saturating_mul(block.rounds.into())),
                None => {
                    untimed += u64::from(block.rounds);
                    longest_ns = longest_ns.zip(case.job.at_most_ns()).map(|(longest, ns)| ns.max(longest));
                }
            }
        }
    }
    let mut words = vec![if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") }];
    if timed_ns > 0 {
        let ends_sooner = plan.cases().any(|case| case.job.may_end_sooner());
        let at_most = if ends_sooner { "at most " } else { "" };
        words.push(format!("{at_most}{} of warm-up and measuring", time(timed_ns)));
    }
    if untimed > 0 {
        let longest = longest_ns.map(|ns| format!(", at most {} each", time(ns))).unwrap_or_default();
        let which = if untimed == rounds { "each".to_owned() } else { format!("{untimed} of the rounds") };
        words.push(format!("{which} until its work is done{longest}"));
    }
    if plan.cases().any(|case| case.job.search().is_some()) {
        words.push("about a dozen short rounds of each search first".to_owned());
    }
    let more = if untimed > 0 { format!(", {MORE}") } else { String::new() };
    let (about, longest) = (time(about_ns(plan).next_multiple_of(SECOND)), longest(plan));
    format!("{}, plus loading, checks and waiting: about {about}{more}{longest}", words.join(", "))
}

/// Files that will be written.
fn writes(plan: &Plan, lists_files: bool) -> Vec<String> {
    let mut lines = vec![format!("{}/<time>-{}/: {}", plan.output.display(), plan.name, plan.files.join(", "))];
    if let Some(scratch) = &plan.scratch {
        // The number in it is this process's; a run will have another.
        let parent = scratch.parent().unwrap_or(scratch);
        lines.push(format!("databases in a folder below {}, removed after the run", parent.display()));
        return lines;
    }
    let files = files(plan.run_cases().map(|case| (&*case.target, case.job.databases())));
    match lists_files {
        true => lines.extend(files),
        false => lines.push(format!("{} databases in files", files.len())),
    }
    lines
}

/// A length of time in a readable unit.
pub(super) fn time(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{} s", (seconds * 10.0).round() / 10.0),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let said = [1_500_000_000, 45_000_000_000, 560_000_000_000, 7_380_000_000_000].map(time);
        assert_eq!(said, ["1.5 s", "45 s", "9 min 20 s", "2 h 3 min"]);
    }
}
