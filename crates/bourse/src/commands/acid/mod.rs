//! `bourse WORKLOAD acid`: tests of atomicity, consistency, isolation and durability, of any workload that has them.

mod site;

pub(crate) use site::FileSite;

use crate::args::{AcidOptions, DurabilityClass, OutputArgs};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::engine_failure;
use crate::output::{PublishedDocument, ResultFolder};
use crate::plan::show::{LOADED, Steps, files};
use crate::progress::ProgressStep;
use crate::provenance::provenance;
use crate::{engines, interrupt};
use bourse_acid::acknowledged::Acknowledgement;
use bourse_acid::{AcidSubject, AcidWorkload, Site, TestConfig, TestSpec, run_tests};
use bourse_driver::SECOND;
use bourse_engine::Engine;
use bourse_record::acid::{AcidFile, AcidTest, AcidVerdict};
use bourse_record::{OperationIsolation, Warning};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tests of a target whose database is ready.
pub(crate) struct Examination<'e> {
    pub(crate) target: &'e str,
    pub(crate) engine: &'e dyn Engine,
    /// Name of the workload, as the command line has it.
    pub(crate) name: &'static str,
    pub(crate) workload: &'e dyn AcidWorkload,
    /// The selected tests, as [`selected`] returns them.
    pub(crate) only: &'e [String],
    pub(crate) options: &'e AcidOptions,
    pub(crate) output: &'e OutputArgs,
    /// Description of the database.
    pub(crate) database: String,
    /// Isolation that transactions demand and get.
    pub(crate) isolation: Vec<OperationIsolation>,
    /// Notice of the workload; `None` is that of the brokerage.
    pub(crate) notice: Option<&'static str>,
    /// Folder of the generator's input data, if it is not the built-in.
    pub(crate) flat_in: Option<&'e Path>,
    pub(crate) interrupted: &'e AtomicBool,
}

impl Examination<'_> {
    /// Runs the tests, writes the evidence, prints the verdicts.
    pub(crate) fn run(self, folder: &ResultFolder) -> Result<()> {
        let Self { target, engine, workload, options, interrupted, .. } = self;
        let described = engine.description().map_err(|error| engine_failure(target, &error))?;
        let class = options.demand.map_or(described.durability, DurabilityClass::durability);
        let class_reason = match options.demand {
            Some(_) => {
                format!("demanded; its settings promise {}: {}", described.durability, described.durability_reason)
            }
            None => described.durability_reason.clone(),
        };
        let site = FileSite::of(self.name, target, self.flat_in)?;
        let subject = AcidSubject {
            engine,
            workload,
            class,
            // A demanded class has no exceptions, unlike the class of the settings.
            may_lose: described.may_lose.filter(|_| options.demand.is_none()),
            class_reason: &class_reason,
            site: site.as_ref().map(|site| site as &dyn Site),
            config: TestConfig { seed: options.seed, repeats: options.repeats, patience: options.patience },
            interrupted,
        };
        let warnings = described.warnings.iter().map(Warning::of_engine).collect();
        let engine_found = bourse_driver::described(described);
        let mut file = AcidFile {
            warnings,
            notice: self.notice.map(str::to_owned),
            isolation: self.isolation,
            ..AcidFile::new(provenance(options.seed), engine_found, self.database)
        };
        let wanted = |id: &str| is_wanted(id, self.only);
        let step = ProgressStep::waiting(format!("examining {target}"));
        let tests = run_tests(&subject, &wanted, &mut |test: &AcidTest| {
            step.say(format!("{} {}", test.id, test.verdict.name()));
        });
        step.done();
        file.tests =
            tests.map_err(|error| Failure::new(Exit::of(error.kind()), format!("cannot test {target}: {error}")))?;
        file.interrupted = interrupted.load(Ordering::Relaxed);
        drop(site);
        PublishedDocument { document: &file, sheet: bourse_report::acid(&file) }.put(folder, self.output)?;
        verdict(&file)
    }
}

/// Whether a test is among the selected ones: names, or properties; none selects all.
fn is_wanted(id: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| id == name || (name.len() == 1 && id.starts_with(name.as_str())))
}

/// Approximate time of a test, in nanoseconds: of isolation that of its pairs of transactions, of durability that of its crashes.
fn test_ns(id: &str, options: &AcidOptions) -> u64 {
    const PAIR_NS: u64 = SECOND / 10;
    match id.as_bytes().first() {
        Some(b'I') => 2 * u64::from(options.repeats) * PAIR_NS,
        Some(b'D') => 3 * SECOND,
        _ => SECOND / 3,
    }
}

/// Plan of the command `name`, on a database of that description with about so many rows.
pub(crate) fn steps<'n>(
    name: &'n str,
    target: &str,
    (database, rows): (&str, u64),
    tests: &[TestSpec],
    only: &[String],
    (options, output): (&AcidOptions, &OutputArgs),
) -> Steps<'n> {
    let tests: Vec<&str> = tests.iter().map(|test| test.id).filter(|id| is_wanted(id, only)).collect();
    let tests_ns: u64 = tests.iter().map(|id| test_ns(id, options)).sum();
    let about_ns = engines::loading_ns(target, rows).saturating_add(tests_ns);
    let steps = vec![format!("{target}: {database}, {LOADED}"), format!("{target}: tests {}", tests.join(", "))];
    let mut writes = vec![format!("{}/<time>-acid/: acid.json, acid.html", output.directory.display())];
    let left = if name.starts_with("tpce") { "trades" } else { "rows" };
    writes.extend(files([(target, format!("{LOADED}; the tests leave {left} in it"))]));
    Steps { name, steps, seed: Some(options.seed), about_ns, writes }
}

fn verdict(file: &AcidFile) -> Result<()> {
    let failed: Vec<_> =
        file.tests.iter().filter(|test| test.verdict == AcidVerdict::Failed).map(|test| test.id.as_str()).collect();
    if !failed.is_empty() {
        return Err(Failure::new(Exit::Check, format!("{} of {} tests failed", failed.len(), file.tests.len()))
            .detail("failed", failed.join(", ")));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("the tests run until then are reported"));
    }
    Ok(())
}

/// The selected tests, each by its name or a property's letter; empty for all.
pub(crate) fn selected(only: &[String], tests: &[TestSpec]) -> Result<Vec<String>> {
    let names: Vec<String> = only.iter().map(|name| name.trim().to_ascii_uppercase()).collect();
    for name in &names {
        let is_known = |id: &str| id == name || (name.len() == 1 && id.starts_with(name.as_str()));
        if !tests.iter().any(|spec| is_known(spec.id)) {
            let known: Vec<_> = tests.iter().map(|spec| spec.id).collect();
            return Err(Failure::usage(format!("unknown test '{name}' in --only"))
                .hint(format!("tests: {}; or A, C, I, D for all of a property", known.join(", "))));
        }
    }
    Ok(names)
}

/// Works on a database and reports each acknowledged transaction on stdout, until this process is killed.
pub(crate) fn load(target: &str, engine: &dyn Engine, workload: &dyn AcidWorkload, seed: u64) -> Result<()> {
    let tell = |it: Acknowledgement| {
        // One write for a line, so that the end of this process cannot leave two lines mixed.
        let mut stdout = std::io::stdout().lock();
        let told = stdout.write_all(format!("{it}\n").as_bytes()).and_then(|()| stdout.flush());
        if told.is_err() {
            // The parent is gone.
            std::process::exit(Exit::Target as i32);
        }
    };
    let never = AtomicBool::new(false);
    workload
        .load(engine, seed, &never, Arc::new(tell))
        .map_err(|why| Failure::new(Exit::Target, format!("cannot start the load on {target}: {why}")))
}
