//! `bourse faults`: reactions of engines to failing reads, writes and syncs.

mod child;
mod files;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod server;
mod work;

pub(crate) use work::work;

use crate::args::FaultsArgs;
use crate::failure::{Exit, Failure, Result};
use crate::output::{PublishedDocument, ResultFolder, print};
use crate::plan::show::Steps;
use crate::progress::{ProgressStep, note};
use crate::provenance::provenance;
use crate::work_folder::WorkFolder;
use crate::{engines, interrupt};
use bourse_acid::faults::{CallFault, FAULTS, not_tried, rows};
use bourse_crash::preload::{ControlFile, ProcessFiles, copy_folder};
use bourse_driver::SECOND;
use bourse_engine::Hosting;
use bourse_record::faults::{FaultRow, FaultsFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Targets tried if none is named; the installed servers are added to them.
const TARGETS: [&str; 6] = [
    "sqlite:?journal=wal&sync=full",
    "sqlite:?journal=wal&sync=normal",
    "sqlite:?journal=delete&sync=full",
    "sqlite:?journal=wal&sync=full&mmap=64MiB",
    "lmdb:?sync=full&map_size=16MiB",
    "redb:?durability=immediate",
];
const SERVERS: [&str; 2] = [
    "mariadb+private:?log_file=8MiB&innodb_buffer_pool=16MiB",
    "postgres+private:?shared_buffers=1MiB&max_connections=10",
];

/// Conditions common to the trials of all targets.
struct TrialConditions {
    /// Folder for the databases.
    folder: Option<PathBuf>,
    transactions: u64,
    seed: u64,
    patience: Duration,
    interrupted: Arc<AtomicBool>,
}

/// Tries the faults on every target, writes the evidence, prints the table.
pub(crate) fn run(arguments: &FaultsArgs) -> Result<()> {
    if arguments.times == 0 || arguments.transactions == 0 {
        return Err(Failure::usage("invalid value '0': expected 1 or more trials and transactions")
            .hint("give --times and --transactions of 1 or more"));
    }
    let faults = wanted(&arguments.only)?;
    let targets = match &arguments.targets[..] {
        [] => default_targets(),
        named => named.to_vec(),
    };
    // Everything is checked before anything is made.
    for target in &targets {
        let (scheme, options) = parted(target)?;
        engines::open(&placed(scheme, Path::new("x"), options))?;
    }
    let plan = steps(arguments, &targets, faults.len());
    if arguments.plan.dry_run {
        return print(&plan.show());
    }
    plan.announced().iter().for_each(|words| note(words));
    let conditions = TrialConditions {
        folder: arguments.folder.clone(),
        transactions: arguments.transactions,
        seed: arguments.seed,
        patience: arguments.patience,
        interrupted: interrupt::flag()?,
    };
    let folder = ResultFolder::new(&arguments.output.directory, "faults")?;
    let mut file = FaultsFile::new(provenance(arguments.seed), arguments.transactions);
    for target in &targets {
        if !conditions.interrupted.load(Ordering::Relaxed) {
            file.rows.extend(tried(target, &faults, arguments.times, &conditions)?);
        }
    }
    file.interrupted = conditions.interrupted.load(Ordering::Relaxed);
    publish(&file, &folder, arguments)?;
    let untried = file.untried().iter().map(|row| (&*row.target, &*row.not_tried));
    super::judged([file.violated(), file.rows.len()], file.interrupted, "faults", untried, CAN_BE_TRIED)
}

const CAN_BE_TRIED: &str = "targets that faults can be injected into: sqlite:, duckdb:, lmdb:, redb:, rocksdb:, mariadb+private:, postgres+private:";

/// Plan of the command.
fn steps(arguments: &FaultsArgs, targets: &[String], faults: usize) -> Steps<'static> {
    /// Time of a trial with the default number of transactions: of an engine in process, and of a server that is started.
    const TRIAL_NS: [u64; 2] = [SECOND / 10, SECOND];
    let FaultsArgs { times, transactions, seed, .. } = *arguments;
    let (mut all, mut about_ns) = (Vec::new(), 0_u64);
    for target in targets {
        let trial_ns = TRIAL_NS[usize::from(engines::starts_s(target) > 0)];
        let trials = u64::from(times).saturating_mul(faults as u64);
        about_ns = about_ns.saturating_add(trials.saturating_mul(trial_ns));
        all.push(format!(
            "{target}: {trials} trials of {faults} {}, {transactions} transactions in each",
            if faults == 1 { "fault" } else { "faults" }
        ));
    }
    let folder = arguments.output.directory.display();
    let writes = vec![
        format!("{folder}/<time>-faults/: faults.json, faults.html"),
        "databases in a folder that is removed after the trials".to_owned(),
    ];
    Steps { name: "faults", steps: all, seed: Some(seed), about_ns, writes }
}

/// The faults of these names; all without any.
fn wanted(names: &[String]) -> Result<Vec<&'static CallFault>> {
    let known = || FAULTS.iter().map(|fault| fault.name).collect::<Vec<_>>().join(", ");
    let unknown = |name: &str| !FAULTS.iter().any(|fault| fault.name == name);
    if let Some(name) = names.iter().find(|name| unknown(name)) {
        return Err(Failure::usage(format!(
            "unknown fault '{name}'{}",
            bourse_engine::did_you_mean(name, FAULTS.iter().map(|fault| fault.name))
        ))
        .hint(format!("faults: {}", known())));
    }
    static ALL: [CallFault; FAULTS.len()] = FAULTS;
    let is_wanted = |fault: &&CallFault| names.is_empty() || names.iter().any(|name| name == fault.name);
    Ok(ALL.iter().filter(is_wanted).collect())
}

fn default_targets() -> Vec<String> {
    let is_here = |target: &&str| {
        let here = engines::is_here(target);
        if let Err(why) = &here {
            note(&format!("{}: skipped: {why}", target.split('?').next().unwrap_or(target).trim_end_matches(':')));
        }
        here.is_ok()
    };
    TARGETS.into_iter().chain(SERVERS).filter(is_here).map(str::to_owned).collect()
}

/// A target's scheme and options. It has no path: the databases are made for the trials and removed.
pub(crate) fn parted(target: &str) -> Result<(&str, &str)> {
    let (place, options) = target.split_once('?').unwrap_or((target, ""));
    match place.split_once(':') {
        Some((scheme, "")) => Ok((scheme, options)),
        Some((scheme, place)) => {
            Err(Failure::usage(format!("invalid target '{target}': it names the place '{place}'"))
                .hint(format!("new databases are made, and removed afterwards: write {scheme}:?{options}")))
        }
        None => Err(Failure::usage(format!("invalid target '{target}': expected ENGINE:?OPTION=VALUE"))
            .hint("for instance sqlite:?journal=wal")),
    }
}

/// The target at a place.
fn placed(scheme: &str, path: &Path, options: &str) -> String {
    // Characters with another meaning in a URL are percent-encoded.
    let place: String = path
        .display()
        .to_string()
        .chars()
        .map(|letter| match letter {
            '%' | '?' | '#' => format!("%{:02X}", u32::from(letter)),
            other => other.to_string(),
        })
        .collect();
    let options = if options.is_empty() { String::new() } else { format!("?{options}") };
    format!("{scheme}:{place}{options}")
}

/// The rows of one target.
fn tried(
    target: &str,
    faults: &[&'static CallFault],
    times: u32,
    conditions: &TrialConditions,
) -> Result<Vec<FaultRow>> {
    let (scheme, options) = parted(target)?;
    if let Err(why) = bourse_crash::preload::library() {
        return Ok(not_tried(target, faults, why));
    }
    let failed = |error: bourse_acid::AcidError| {
        Failure::new(Exit::of(error.kind()), format!("cannot inject faults on {target}: {error}"))
    };
    let step = ProgressStep::waiting(format!("injecting faults on {target}"));
    let can_be_tried = engines::takes_faults(target);
    let engine = engines::open(&placed(scheme, Path::new("x"), options))?;
    let mut noted = |fault: &str| step.say(format!("trying faults on {target}: {fault}"));
    let (seed, interrupted) = (conditions.seed, &*conditions.interrupted);
    let found = match engine.hosting() {
        #[cfg(any(feature = "mysql", feature = "postgres"))]
        Hosting::OwnedServer(_) if can_be_tried => {
            let bed = server::ServerBed::new(target, conditions)?;
            rows(&bed, faults, times, seed, interrupted, &mut noted)
        }
        Hosting::InProcess if can_be_tried => {
            let bed = files::FileBed::new(target, scheme, options, conditions)?;
            rows(&bed, faults, times, seed, interrupted, &mut noted)
        }
        Hosting::InProcess | Hosting::OwnedServer(_) => {
            Ok(not_tried(target, faults, "Bourse cannot inject faults into this engine's file operations"))
        }
        Hosting::External => Ok(not_tried(target, faults, "Bourse did not start this server")),
    };
    step.done();
    found.map_err(failed)
}

/// A folder for databases, removed with all its contents.
fn work_folder(below: &Path) -> Result<WorkFolder> {
    let failed = |error: std::io::Error| {
        Failure::usage("cannot make the folder for databases")
            .detail("folder", below.display().to_string())
            .detail("cause", error.to_string())
    };
    std::fs::create_dir_all(below).map_err(failed)?;
    // The preloaded library compares paths without links.
    let below = below.canonicalize().map_err(failed)?;
    WorkFolder::new("bourse-faults-", &below).map_err(failed)
}

/// Copies the database from the folder `base` to `files` and to its image anew, and makes the settings of a trial.
fn renewed(folder: &WorkFolder, files: PathBuf) -> io::Result<(ProcessFiles, ControlFile)> {
    let place = |name: &str| folder.path().join(name);
    let (control, image) = (place("control"), place("image"));
    for copy in [&files, &image] {
        copy_folder(&place("base"), copy)?;
    }
    let made = ControlFile::create(&control)?;
    Ok((ProcessFiles { control, files, image: Some(image), recording: None }, made))
}

fn publish(file: &FaultsFile, folder: &ResultFolder, arguments: &FaultsArgs) -> Result<()> {
    PublishedDocument { document: file, sheet: bourse_report::faults(file) }.put(folder, &arguments.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_options_and_no_place() {
        assert_eq!(parted("sqlite:?journal=wal").expect("a target"), ("sqlite", "journal=wal"));
        assert_eq!(parted("redb:").expect("a target"), ("redb", ""));
        assert!(parted("sqlite:x.db?journal=wal").is_err() && parted("x").is_err());
        for target in TARGETS.into_iter().chain(SERVERS) {
            let (scheme, options) = parted(target).expect("a target");
            let place = if scheme.contains("private") { Path::new("") } else { Path::new("a b/%?#") };
            engines::open(&placed(scheme, place, options)).expect("can be opened");
        }
    }
}
