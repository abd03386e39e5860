//! `bourse quick`: every engine that runs in this process, in short rounds: the brokerage workload, and the classic ones that
//! are quoted most.

use crate::args::{Arguments, Command, Micro, Quick, Tpce};
use crate::engines::ENGINES;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::publish;
use crate::progress::note;
use crate::tpce::DATA_FOLDER;
use crate::{micro, tpce};
use bourse_record::RunFile;
use clap::Parser as _;
use std::sync::atomic::Ordering;

/// Runs everything, puts it into one run, prints the report.
pub(crate) fn run(arguments: &Quick) -> Result<(), Failure> {
    let classic = named(&arguments.workloads)?;
    let interrupted = interrupt::flag()?;
    let is_interrupted = || interrupted.load(Ordering::Relaxed);
    let seed = arguments.seed.unwrap_or_else(|| jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000);
    let (milliseconds, rounds) = (arguments.duration.as_millis(), arguments.rounds.to_string());
    let common = ["--rounds", &rounds, "--seed", &seed.to_string()].map(str::to_owned);

    let days = arguments.days;
    let file = format!("sqlite:{DATA_FOLDER}/tpce-c1000-d{days}.db");
    let mut words = ["bourse", "tpce", "run", &file, "sqlite::memory:", "--warmup", "5s", "--check", "quick"]
        .map(str::to_owned)
        .to_vec();
    words.extend([format!("--days={days}"), format!("--for={milliseconds}ms")]);
    words.extend(common.clone());
    let Command::Tpce(Tpce::Run(brokerage)) = parsed(words)?.command else {
        unreachable!("`tpce run` was what we wrote")
    };
    let (mut whole, mut outcome) = crate::tpce::run::measure("quick", &brokerage)?;
    for workload in classic {
        if is_interrupted() || outcome.is_err() {
            break;
        }
        let targets = targets();
        note(&format!("{workload} on {}", targets.join(", ")));
        let mut words = ["bourse", "micro", "run", workload].map(str::to_owned).to_vec();
        words.extend(targets);
        words.push(format!("--for={}ms", milliseconds.div_ceil(5)));
        words.extend(common.clone());
        let Command::Micro(Micro::Run(classic)) = parsed(words)?.command else {
            unreachable!("`micro run` was what we wrote")
        };
        match crate::micro::run::measure(&classic) {
            Ok((part, ended)) => {
                join(&mut whole, part);
                outcome = ended;
            }
            // What was measured before is not lost with it.
            Err(failure) => outcome = Err(failure),
        }
    }
    whole.interrupted |= is_interrupted();
    whole.provenance.seed = seed;
    publish(&whole, &arguments.output)?;
    outcome?;
    tpce::run::verdict(&whole, false)?;
    // The classic workloads' own rules, where every check has passed.
    micro::run::verdict(&whole)
}

/// The classic workloads of those names, all known.
fn named(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    // What runs a file of statements needs the file.
    let known = || bourse_micro::WORKLOADS.iter().map(|spec| spec.name).filter(|name| *name != "sql");
    let find = |name: &String| {
        known().find(|known| known == name).ok_or_else(|| {
            Failure::usage(format!("--workloads {name}: no classic workload that runs by itself is called so"))
                .hint(format!("workloads: {}", known().collect::<Vec<_>>().join(", ")))
        })
    };
    names.iter().map(find).collect()
}

/// The arguments that words of our own stand for.
fn parsed(words: Vec<String>) -> Result<Arguments, Failure> {
    // The environment has its say here as everywhere, and may be wrong.
    Arguments::try_parse_from(words).map_err(|refused| Failure::usage(refused.to_string().trim().to_owned()))
}

/// Where the classic workloads run: every engine in this process that is here.
fn targets() -> Vec<String> {
    let mut targets = Vec::new();
    for kind in ENGINES.iter().filter(|kind| kind.version().is_ok()) {
        match kind.scheme {
            "sqlite" => targets.extend([format!("sqlite:{DATA_FOLDER}/quick.db"), "sqlite::memory:".to_owned()]),
            // What this build saves is processor time, which a disk would hide.
            "sqlite-lean" => targets.push("sqlite-lean::memory:".to_owned()),
            "redb" => targets.extend([format!("redb:{DATA_FOLDER}/quick.redb"), "redb::memory:".to_owned()]),
            "fastdb" => targets.push(format!("fastdb:{DATA_FOLDER}/quick-fastdb")),
            // Servers are no part of a quick look, and the null engine is part of every report already.
            _ => {}
        }
    }
    targets
}

/// Adds a run's cases to another's; labels say which workload they are of.
fn join(whole: &mut RunFile, part: RunFile) {
    for mut case in part.cases {
        case.label = format!("{}, {}", case.workload.name, case.label);
        whole.cases.push(case);
    }
    for warning in part.warnings {
        if !whole.warnings.contains(&warning) {
            whole.warnings.push(warning);
        }
    }
    whole.interrupted |= part.interrupted;
}
